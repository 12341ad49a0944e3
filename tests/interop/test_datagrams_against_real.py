"""UDP messages between the real daemons and ours, in both directions.

Known by: CLAIMTOBE and sealed datagrams; nothing at all.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.real_pool import RealPool, inside, peer_root, real_pool
from interop.test_security_pairings import our_collector
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.pool import make_query, query_ads
from kettle.config import Config
from kettle.runtime.clock import SystemClock
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop

OPEN = """\
SEC_DEFAULT_AUTHENTICATION_METHODS=CLAIMTOBE
ALLOW_DAEMON=*
ALLOW_ADVERTISE_STARTD=*
ALLOW_ADVERTISE_MASTER=*
COLLECTOR_DEBUG=D_COMMAND
"""
SECURE = "SEC_DEFAULT_AUTHENTICATION=REQUIRED\nSEC_DEFAULT_ENCRYPTION=REQUIRED\n"
# Its clients send no checksum, and are believed where nobody else hears them.
INTEGRITY = SECURE + "SEC_DEFAULT_INTEGRITY=REQUIRED\n"
LOOSE = "SEC_DEFAULT_AUTHENTICATION=OPTIONAL\nSEC_DEFAULT_ENCRYPTION=OPTIONAL\n"
NEVER = "".join(
    f"SEC_DEFAULT_{feature}=NEVER\n"
    for feature in ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY", "NEGOTIATION")
)
AD = 'MyType="Scheduler"\nName="by-datagram"\nMachine="x"\nMyAddress="<127.0.0.1:9>"\n'


def ads(address: Sinful, kind: str, settings: str) -> list[ClassAd]:
    connector = Connector(Config.from_text(settings + OPEN, subsystem="TOOL"))
    return query_ads(connector, address, Command.QUERY_SCHEDD_ADS, make_query(kind))


def by_udp(folder: Path) -> set[str]:
    """The commands that our collector took by UDP, as its log tells."""
    lines = (folder / "CollectorLog").read_text().splitlines()
    return {line.split("handler for ")[1].split()[0] for line in lines if line.endswith(" by UDP")}


@pytest.mark.parametrize(
    "settings",
    [SECURE, INTEGRITY, LOOSE, NEVER],
    ids=["secure", "integrity", "loose", "never"],
)
@pytest.mark.parametrize("size", [10, 30_000])
def test_the_real_condor_advertise_reaches_our_collector_by_udp(
    tmp_path: Path, settings: str, size: int
) -> None:
    root = peer_root()
    ad = root / "tmp" / f"ad-{os.getpid()}"
    ad.write_text(AD + f'Filling="{"x" * size}"\n')
    variables = dict(line.split("=", 1) for line in (settings + OPEN).splitlines())
    variables["UDP_LOOPBACK_FRAGMENT_SIZE"] = "1000"
    settled = ["CONDOR_CONFIG=/dev/null"]
    settled += [f"_CONDOR_{name}={value}" for name, value in variables.items()]
    with our_collector(tmp_path, settings + OPEN) as address:
        assert not address.no_udp
        words = ["condor_advertise", "-udp", "-pool", str(address), "UPDATE_SCHEDD_AD"]
        try:
            done = subprocess.run(
                [*inside(root), "env", *settled, *words, f"/tmp/{ad.name}"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            ad.unlink()
        assert done.returncode == 0, done.stderr
        deadline = time.monotonic() + 10
        while not (found := ads(address, "Scheduler", settings)):
            log = (tmp_path / "CollectorLog").read_text()
            assert time.monotonic() < deadline, log
            time.sleep(0.1)
        assert found[0].string("Name") == "by-datagram"
        assert "UPDATE_SCHEDD_AD" in by_udp(tmp_path)


REAL = """\
COLLECTOR_HOST={address}
DAEMON_LIST=MASTER,SCHEDD,STARTD
SEC_USE_FAMILY_SESSION=false
UPDATE_COLLECTOR_WITH_TCP=false
"""


def test_the_real_daemons_update_our_collector_by_udp(tmp_path: Path) -> None:
    peer_root()
    with our_collector(tmp_path, SECURE + OPEN) as address:
        extra = REAL.format(address=address.endpoint) + SECURE + OPEN
        with real_pool(f"kettle-udp-{os.getpid()}", extra) as real:
            deadline = time.monotonic() + 30
            wanted = {"UPDATE_STARTD_AD", "UPDATE_SCHEDD_AD", "UPDATE_MASTER_AD"}
            while not wanted <= by_udp(tmp_path):
                assert time.monotonic() < deadline, (by_udp(tmp_path), address)
                time.sleep(0.3)
            assert real.run("condor_status", "-af", "Name").strip()
        # What goes down says so, by UDP too.
        assert any(name.startswith("INVALIDATE_") for name in by_udp(tmp_path))


@pytest.fixture(scope="module")
def real() -> Iterator[RealPool]:
    extra = "DAEMON_LIST=MASTER,COLLECTOR,SCHEDD\n" + SECURE + OPEN
    with real_pool(f"kettle-udp-out-{os.getpid()}", extra) as pool:
        yield pool


@pytest.mark.parametrize("size", [10, 100_000])
def test_our_daemons_reach_the_real_collector_by_udp(real: RealPool, size: int) -> None:
    config = Config.from_text(SECURE + OPEN + "NETWORK_INTERFACE=127.0.0.1\n", subsystem="SCHEDD")
    name = f"ours-{size}"
    ad = ClassAd({"MyType": "Generic", "Name": name, "Filling": "x" * size})

    async def post() -> None:
        clock = SystemClock()
        identity = DaemonIdentity("SCHEDD", "ours", "ours", clock.now())
        network = SystemNetwork(config, identity, clock, Log(sink=print))
        await network.post(real.collector, Command.UPDATE_AD_GENERIC, Words(ad))
        await network.close()

    assert not real.collector.no_udp
    asyncio.run(post())
    deadline = time.monotonic() + 10
    words = ("condor_status", "-any", "-constraint", f'Name=?="{name}"', "-af", "Name")
    while not real.run(*words):
        assert time.monotonic() < deadline
        time.sleep(0.2)
