"""Who a daemon is: subsystem, names, start, version. The attributes that every daemon's ad has.

Facts only; the address comes from the network and the clock from the runtime when the
attributes are made. The peers' view: wire notes, Updates ("Sender adds").
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from kettle.attributes.version import CONDOR_VERSION, condor_platform, parse_os_release
from kettle.wire.sinful import Sinful, render_address_v1


def this_platform() -> str:
    """Return the platform text of this machine."""
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            return condor_platform(parse_os_release(file.read()))
    except OSError:
        return condor_platform({})


@dataclass(slots=True)
class DaemonIdentity:
    """The names of one running daemon.

    `name` is the ad's Name (schedd: SCHEDD_NAME or the host), `machine` the full host name.
    """

    subsystem: str
    name: str
    machine: str
    started_at: float
    local_name: str | None = None
    reconfigured_at: float = 0.0
    pid: int = field(default_factory=os.getpid)
    version: str = CONDOR_VERSION
    platform: str = field(default_factory=this_platform)

    def attributes(self, address: str, now: float) -> dict[str, object]:
        """Return the attributes common to all daemon ads, except MyType and the sequence."""
        return {
            "Name": self.name,
            "Machine": self.machine,
            "MyAddress": address,
            "AddressV1": render_address_v1(Sinful.parse(address)),
            "CondorVersion": self.version,
            "CondorPlatform": self.platform,
            "DaemonStartTime": int(self.started_at),
            "DaemonLastReconfigTime": int(self.reconfigured_at or self.started_at),
            "MyCurrentTime": int(now),
        }
