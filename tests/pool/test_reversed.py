"""An execution point that nobody can connect to: everything goes through its broker (R089).

Its startd and its starters give the address of a forwarding host that forwards nothing, as a
firewall would leave them: what is dialed there is refused.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.client.connector import Connector
from kettle.config import load_config
from kettle.errors import NotConnected
from kettle.pool.personal import PersonalPool
from kettle.runtime.storage.files import SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful
from pool_jobs import WALLED, run_tool, submit, wait_until

shows = pytest.mark.shows
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("walled"), WALLED + "NUM_CPUS = 2\n") as started:
        yield started


def startd_of(pool: PersonalPool) -> Sinful:
    def said() -> str:
        return run_tool(pool, "condor_status", "-af", "MyAddress")[1]

    wait_until(lambda: "CCBID=" in said(), 20, said)
    return Sinful.parse(said().split()[0])


def is_refused(address: Sinful) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


@shows("R089")
def test_jobs_run_where_no_port_is_open(pool: PersonalPool, work: Path) -> None:
    startd = startd_of(pool)
    assert (startd.host, is_refused(startd)) == ("127.0.0.9", True)
    jobs = submit(pool, work, "executable = /bin/echo\narguments = reached\noutput = out\nqueue\n")
    jobs.wait_for(5, 30)
    assert (work / "out").read_text() == "reached\n"


@shows("R089")
def test_tools_reach_the_startd_through_its_broker(pool: PersonalPool) -> None:
    address = str(startd_of(pool))
    code, said, complaint = run_tool(pool, "condor_ping", "-address", address, "READ", "DAEMON")
    assert (code, complaint) == (0, ""), said
    assert said.count(" succeeded as ") == 2
    code, said, complaint = run_tool(pool, "condor_config_val", "-address", address, "NUM_CPUS")
    assert (code, said.strip(), complaint) == (0, "2", "")


@shows("R089")
def test_a_running_job_is_looked_at_and_vacated_through_the_broker(
    pool: PersonalPool, work: Path
) -> None:
    text = "executable = /bin/sh\narguments = \"-c 'echo here I am; sleep 300'\"\noutput = out\n"
    jobs = submit(pool, work, text + "queue\n")
    jobs.wait_for(1, 30)

    def tail() -> str:
        return run_tool(pool, "condor_tail", f"{jobs.cluster}.0")[1]

    wait_until(lambda: "here I am" in tail(), 20, tail)
    assert run_tool(pool, "condor_vacate_job", str(jobs.cluster))[0] == 0
    jobs.wait_for(4, 30)
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_for(9, 30)


def test_a_broker_that_does_not_know_the_daemon_is_told_at_once(pool: PersonalPool) -> None:
    startd = startd_of(pool)
    contact = re.sub(r"#\d+", "#99999", startd.parameter("CCBID") or "")
    config = load_config(SystemSources(), pool.environment(), subsystem="TOOL")
    # Who waited in vain would say something else.
    with pytest.raises(NotConnected, match="no daemon listens behind id 99999"):
        Connector(config).connect(startd.with_parameter("CCBID", contact), Command.DC_NOP)
