"""A pool of three machines: one that all others join, one that runs jobs, one behind a wall.

Known by: IDTOKENS between machines, FS on one; encrypted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from interop.machines import Machine, network, slots_of, submit, tool, wait_for
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop
shows = pytest.mark.shows


@dataclass
class Three:
    """The machines of the pool."""

    centre: Machine
    open: Machine
    walled: Machine


@pytest.fixture(scope="module")
def three() -> Iterator[Three]:
    with network("three") as made:
        centre, opened, walled = (made.add(name) for name in ("centre", "open", "walled"))
        settings = made.folder / "settings"
        # A line that is cut is noticed by the kernel's probes.
        settings.write_text("TCP_KEEPALIVE_INTERVAL = 5\n")
        centre.kettle("up", "--host", "--config", str(settings))
        walled.build_wall()
        token = made.folder / "token"
        centre.kettle("token", "--for", "execute", "--output", str(token))
        words = ("--join", centre.address, "--token-file", str(token), "--config", str(settings))
        opened.kettle("up", *words)
        walled.kettle("up", *words, "--behind-firewall")
        yield Three(centre, opened, walled)


def test_only_the_walled_machine_lets_nobody_in(three: Three) -> None:
    probe = (
        "import socket, sys\n"
        "try: socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2).close()\n"
        "except TimeoutError: print('silence')\n"
        "else: print('open')\n"
    )
    slots = slots_of(three.centre)
    for name, answer in (("open", "open\n"), ("walled", "silence\n")):
        address = Sinful.parse(slots[f"slot1@{name}"])
        words = (sys.executable, "-c", probe, address.host, str(address.port))
        assert three.centre.ok(*words) == answer


def test_members_are_known_by_their_token_alone(three: Three) -> None:
    words = ("-af", "Machine", "AuthenticatedIdentity", "AuthenticationMethod")
    said = tool(three.centre, "condor_status", *words).splitlines()
    assert "open execute@members.centre TOKEN" in said
    assert "walled execute@members.centre TOKEN" in said


def test_the_token_of_a_member_lets_it_do_nothing_but_its_part(three: Three) -> None:
    def may(level: str, daemon: str) -> bool:
        words = ("condor_ping", "-type", daemon, "-quiet", level)
        config = f"CONDOR_CONFIG={three.open.folder}/pool/condor_config"
        return three.open.run("env", config, *words).code == 0

    assert may("READ", "collector")
    assert may("ADVERTISE_STARTD", "collector")
    for level in ("WRITE", "DAEMON", "NEGOTIATOR", "ADMINISTRATOR", "ADVERTISE_SCHEDD"):
        assert not may(level, "collector"), level


def test_status_and_doctor_work_on_a_member(three: Three) -> None:
    for machine in (three.open, three.walled):
        said = machine.kettle("status")
        assert "slot1@open" in said
        assert "collector" in said
        assert "its daemons answer" in machine.kettle("doctor")
        done = machine.run("kettle", "why", "1.0")
        assert done.code == 1
        assert "has no schedd of its own" in done.complaint


def test_three_machines_are_one_pool(three: Three) -> None:
    slots = slots_of(three.centre)
    assert set(slots) == {"slot1@centre", "slot1@open", "slot1@walled"}
    assert three.open.address in slots["slot1@open"]
    assert "CCBID=" in slots["slot1@walled"]


@shows("R089")
def test_jobs_run_on_each_machine_and_their_output_comes_back(three: Three) -> None:
    (three.centre.folder / "in.txt").write_text("brought along\n")
    jobs = submit(
        three.centre,
        "each",
        "executable = /bin/sh\narguments = \"-c 'cat in.txt; hostname; echo more > $(where)'\"\n"
        "transfer_executable = false\ntransfer_input_files = in.txt\noutput = $(where).out\n"
        'requirements = Machine == "$(where)"\nqueue where in (centre, open, walled)\n',
    )
    jobs.wait("005", 3, 60)
    for name in ("centre", "open", "walled"):
        assert (three.centre.folder / f"{name}.out").read_text() == f"brought along\n{name}\n"
        assert (three.centre.folder / name).read_text() == "more\n"


def test_a_job_rides_out_a_line_that_is_cut_for_a_moment(three: Three) -> None:
    jobs = submit(
        three.centre,
        "moment",
        "executable = /bin/sh\narguments = \"-c 'sleep 8; hostname'\"\noutput = moment.out\n"
        'transfer_executable = false\nrequirements = Machine == "open"\nqueue\n',
    )
    jobs.wait("001", 1, 30)
    three.open.cut_line()
    time.sleep(12)
    three.open.mend_line()
    jobs.wait("005", 1, 90)
    assert jobs.events().count("001") == 1
    assert (three.centre.folder / "moment.out").read_text() == "open\n"


@pytest.mark.slow
def test_a_machine_that_vanishes_loses_its_job_to_another_and_comes_back(three: Three) -> None:
    jobs = submit(
        three.centre,
        "lease",
        "executable = /bin/sh\narguments = \"-c 'hostname; sleep 15'\"\noutput = lease.out\n"
        "transfer_executable = false\njob_lease_duration = 20\n"
        'rank = Machine == "open"\nrequirements = Machine != "centre"\nqueue\n',
    )
    jobs.wait("001", 1, 30)
    assert "open" in jobs.log.read_text()
    three.open.cut_line()
    # The pool goes on meanwhile.
    other = submit(
        three.centre, "other", "executable = /bin/true\ntransfer_executable = false\nqueue\n"
    )
    other.wait("005", 1, 60)
    jobs.wait("001", 2, 180)
    three.open.mend_line()
    jobs.wait("005", 1, 90)
    wait_for(lambda: "slot1@open" in slots_of(three.centre), 90, "the machine did not come back")
    again = submit(
        three.centre,
        "again",
        "executable = /bin/true\ntransfer_executable = false\n"
        'requirements = Machine == "open"\nqueue\n',
    )
    again.wait("005", 1, 90)


@pytest.mark.parametrize("name", ["open", "walled"])
def test_the_death_of_a_startd_is_one_clean_requeue(three: Three, name: str) -> None:
    jobs = submit(
        three.centre,
        f"dead-{name}",
        f"executable = /bin/sh\narguments = \"-c 'sleep 8; hostname'\"\noutput = dead-{name}.out\n"
        f'transfer_executable = false\nrequirements = Machine == "{name}"\nqueue\n',
    )
    jobs.wait("001", 1, 60)
    getattr(three, name).kill("condor_startd", "condor_starter")
    jobs.wait("005", 1, 90)
    told = [number for number in jobs.events() if number in ("001", "004", "022", "023", "024")]
    assert told == ["001", "022", "024", "004", "001"], jobs.describe()
    assert (three.centre.folder / f"dead-{name}.out").read_text() == f"{name}\n"


def test_a_walled_machine_is_where_it_was_when_the_collector_was_killed(three: Three) -> None:
    config = f"CONDOR_CONFIG={three.centre.folder}/pool/condor_config"

    def address() -> str:
        words = ("condor_status", "slot1@walled", "-af", "MyAddress")
        return three.centre.run("env", config, *words).said.strip()

    wait_for(lambda: "CCBID=" in address(), 60, "the walled machine did not come back")
    before = address()
    three.centre.kill("condor_collector")

    def answers() -> bool:
        return three.centre.run("env", config, "condor_vacate", "walled").code == 0

    wait_for(lambda: address() != "", 60, "the walled machine is not known again")
    wait_for(answers, 30, lambda: f"nobody answers at {address()}")
    assert address() == before
