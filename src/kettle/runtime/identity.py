"""Who a daemon is: subsystem, names, start, version. The attributes that every daemon's ad has.

Facts only; the address comes from the network and the clock from the runtime when the
attributes are made. The peers' view: wire reference, Updates ("Sender adds").
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

import kettle

CONDOR_VERSION = f"$CondorVersion: 25.14.1 2026-10-16 BuildID: Kettle-{kettle.__version__} $"


def read_os_release(path: str = "/etc/os-release") -> Mapping[str, str]:
    """Return the facts of os-release; empty where there is none."""
    facts: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.strip().partition("=")
                facts[name] = value.strip("\"'")
    except OSError:
        pass
    return facts


def condor_platform() -> str:
    """Return the platform string that peers parse: architecture, distribution, version."""
    facts = read_os_release()
    system = f"{facts.get('ID', 'Linux').capitalize()}_{facts.get('VERSION_ID', '0')}"
    return f"$CondorPlatform: {platform.machine().upper()}-{system} $"


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
    platform: str = field(default_factory=condor_platform)

    def attributes(self, address: str, now: float) -> dict[str, object]:
        """Return the attributes common to all daemon ads, except MyType and the sequence."""
        return {
            "Name": self.name,
            "Machine": self.machine,
            "MyAddress": address,
            "CondorVersion": self.version,
            "CondorPlatform": self.platform,
            "DaemonStartTime": int(self.started_at),
            "DaemonLastReconfigTime": int(self.reconfigured_at or self.started_at),
            "MyCurrentTime": int(now),
        }


def host_name() -> str:
    """Return this host's full name without asking the network: what the kernel says."""
    return socket.gethostname() or "localhost"
