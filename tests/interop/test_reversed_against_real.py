"""A real execution point that only its real broker reaches: our tools are called back by it.

Known by: CLAIMTOBE.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from interop.real_pool import RealPool, inside, peer_root, real_pool
from kettle.client import daemon
from kettle.client.pool import make_query, query_ads
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams
from kettle.tools.status import condor_status
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop

WALLED = """\
STARTD.CCB_ADDRESS=$(COLLECTOR_HOST)
STARTD.PRIVATE_NETWORK_NAME=behind-the-wall
STARTD.TCP_FORWARDING_HOST=127.0.0.9
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[RealPool]:
    with real_pool(f"kettle-walled-{os.getpid()}", WALLED) as started:
        yield started


def test_our_tools_reach_a_real_startd_through_its_broker(pool: RealPool) -> None:
    connector = pool.connector(methods="CLAIMTOBE")
    ads = query_ads(connector, pool.collector, Command.QUERY_STARTD_ADS, make_query("Machine"))
    address = Sinful.parse(ads[0].string("MyAddress") or "")
    assert address.ccb_contacts, address
    answer = daemon.ping(connector, address, Command.DC_NOP_READ)
    assert answer.allowed
    assert daemon.read_config_value(connector, address, "NUM_CPUS") == "4"
    # The real tool says the same of it.
    done = subprocess.run(
        pool.argv("condor_ping", "-address", str(address)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "succeeded" in done.stdout, done


OURS = """\
SEC_DEFAULT_AUTHENTICATION_METHODS = FS, IDTOKENS, CLAIMTOBE
ALLOW_READ = *
"""


def test_the_real_tools_reach_our_startd_through_our_broker(tmp_path: Path) -> None:
    root = peer_root()
    walled = WALLED.replace("=", " = ")
    with personal_pool(tmp_path, walled + OURS) as ours:
        out = StringIO()
        deadline = time.monotonic() + 20
        while "CCBID=" not in out.getvalue():
            assert time.monotonic() < deadline
            time.sleep(0.2)
            words = ["condor_status", "-af", "MyAddress"]
            condor_status.main(words, ours.environment(), Streams(StringIO(), out, out))
        address = next(word for word in out.getvalue().split() if "CCBID=" in word)
        client = ["CONDOR_CONFIG=/dev/null", "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS=CLAIMTOBE"]
        client += ["_CONDOR_NETWORK_INTERFACE=127.0.0.1", "_CONDOR_USE_SHARED_PORT=false"]
        done = subprocess.run(
            [*inside(root), "env", *client, "condor_ping", "-address", address, "READ"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "and CLAIMTOBE) succeeded" in done.stdout, done
