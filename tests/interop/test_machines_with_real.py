"""Pools of several machines, Kettle's and the real HTCondor's mixed, joined by tokens alone.

Known by: IDTOKENS between machines, FS on one; encrypted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

from interop.machines import Machine, network, slots_of, submit, tool, wait_for
from interop.real_machine import CENTRE, Real, make_real_token, real_on
from interop.real_pool import peer_root

pytestmark = pytest.mark.interop

MEMBER = """\
COLLECTOR_HOST={centre}:9618
DAEMON_LIST=MASTER, SCHEDD, STARTD
"""


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Machine, Real]]:
    """Our centre, and a machine with HTCondor that joined it for both."""
    peer_root()
    with network("joined") as made:
        centre = made.add("centre")
        centre.kettle("up", "--host")
        token = made.folder / "token"
        centre.kettle("token", "--for", "both", "--output", str(token))
        with real_on(made.add("real"), MEMBER.format(centre=centre.address)) as real:
            real.start(token)
            wait_for(lambda: "slot1@real" in slots_of(centre), 60, real.logs)
            yield centre, real


def test_our_jobs_run_on_a_real_machine_that_joined_with_our_token(
    joined: tuple[Machine, Real],
) -> None:
    centre, real = joined
    (centre.folder / "in.txt").write_text("brought along\n")
    jobs = submit(
        centre,
        "away",
        "executable = /bin/sh\narguments = \"-c 'cat in.txt; hostname > where'\"\n"
        "transfer_executable = false\ntransfer_input_files = in.txt\noutput = away.out\n"
        'requirements = Machine == "real"\nqueue\n',
    )
    wait_for(lambda: "005" in jobs.events(), 90, lambda: jobs.describe() + real.logs())
    assert (centre.folder / "away.out").read_text() == "brought along\n"
    assert (centre.folder / "where").read_text() == "real\n"
    said = tool(centre, "condor_status", "-af", "Machine", "AuthenticatedIdentity")
    assert "real both@members.centre" in said


def test_a_real_schedd_that_joined_is_negotiated_with_by_its_own_session(
    joined: tuple[Machine, Real],
) -> None:
    centre, real = joined
    user = real.folder / "user"
    (user / "job.sub").write_text(
        "executable=/bin/hostname\ntransfer_executable=false\noutput=job.out\nlog=job.log\n"
        'request_memory=16\nshould_transfer_files=yes\nrequirements = Machine == "centre"\nqueue\n'
    )
    real.tool("condor_submit", "job.sub", user="tester")
    log = user / "job.log"
    wait_for(
        lambda: log.exists() and "Normal termination (return value 0)" in log.read_text(),
        90,
        lambda: real.logs() + (centre.folder / "pool/log/NegotiatorLog").read_text()[-3000:],
    )
    assert (user / "job.out").read_text() == "centre\n"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_machines_that_vanish_and_return_cost_no_job_its_one_end() -> None:
    peer_root()
    with network("vanish") as made:
        centre, ours = made.add("centre"), made.add("ours")
        settings = made.folder / "settings"
        settings.write_text("TCP_KEEPALIVE_INTERVAL = 5\n")
        centre.kettle("up", "--host", "--config", str(settings))
        token = made.folder / "token"
        centre.kettle("token", "--for", "both", "--output", str(token))
        words = ("--join", centre.address, "--token-file", str(token))
        ours.kettle("up", *words, "--config", str(settings))
        extra = MEMBER.format(centre=centre.address).replace("SCHEDD, ", "")
        with real_on(made.add("real"), f"{extra}TCP_KEEPALIVE_INTERVAL=5\n") as real:
            real.start(token)
            both = {"slot1@real", "slot1@ours"}
            wait_for(lambda: both <= set(slots_of(centre)), 60, real.logs)
            jobs = submit(
                centre,
                "many",
                "executable = /bin/sh\narguments = \"-c 'sleep 3; hostname'\"\n"
                "output = $(Process)\ntransfer_executable = false\njob_lease_duration = 20\n"
                'request_disk = 1MB\nrequirements = Machine != "centre"\nqueue 100\n',
            )
            jobs.wait("001", 4, 60)
            for machine in (real.machine, ours):
                before = jobs.events().count("005")
                machine.cut_line()
                # Those that ran there begin again on the other machine.
                jobs.wait("024", 1, 120)
                jobs.wait("005", before + 10, 120)
                machine.mend_line()
                wait_for(lambda: both <= set(slots_of(centre)), 90, "it did not come back")
            jobs.wait("005", 100, 240)
            assert jobs.events().count("005") == 100
            ends = set(re.findall(r"^005 \((\d+\.\d+)", jobs.log.read_text(), re.MULTILINE))
            assert len(ends) == 100
            said = {(centre.folder / str(number)).read_text() for number in range(100)}
            assert said == {"ours\n", "real\n"}
            history = tool(centre, "condor_history", "-af", "ProcId").split()
            assert sorted(map(int, history)) == list(range(100))


@pytest.fixture(scope="module")
def entered() -> Iterator[tuple[Real, Machine, Machine]]:
    """A real centre, and two machines of ours that joined it: one for both, one walled."""
    peer_root()
    with network("entered") as made:
        machine = made.add("cm")
        extra = CENTRE.format(address=machine.address, host=machine.name)
        with real_on(machine, extra) as real:
            real.start()
            wait_for(lambda: _has_slot(real), 60, real.logs)
            token = made.folder / "token"
            make_real_token(real, token)
            both, walled = made.add("both"), made.add("walled")
            walled.build_wall()
            words = ("up", "--join", machine.address, "--token-file", str(token))
            both.kettle(*words, "--role", "both")
            walled.kettle(*words, "--behind-firewall")
            yield real, both, walled


def _has_slot(real: Real) -> bool:
    with suppress(AssertionError):
        return "slot1@cm" in real.tool("condor_status", "-af", "Name")
    return False


def test_our_execution_points_serve_a_real_pool_also_behind_a_wall(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, _, _ = entered
    user = real.folder / "user"
    (user / "job.sub").write_text(
        "executable=/bin/hostname\ntransfer_executable=false\noutput=$(where).out\nlog=job.log\n"
        "request_memory=16\nshould_transfer_files=yes\n"
        'requirements = Machine == "$(where)"\nqueue where in (both, walled)\n'
    )
    real.tool("condor_submit", "job.sub", user="tester")
    log = user / "job.log"
    wait_for(
        lambda: log.exists() and log.read_text().count("Normal termination (return value 0)") == 2,
        90,
        real.logs,
    )
    for name in ("both", "walled"):
        assert (user / f"{name}.out").read_text() == f"{name}\n"


def test_our_access_point_has_its_jobs_matched_by_a_real_negotiator(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, both, _ = entered
    jobs = submit(
        both,
        "home",
        "executable = /bin/hostname\ntransfer_executable = false\noutput = $(where).out\n"
        'requirements = Machine == "$(where)"\nqueue where in (cm walled)\n',
    )
    wait_for(lambda: jobs.events().count("005") == 2, 90, lambda: jobs.describe() + real.logs())
    for name in ("cm", "walled"):
        assert (both.folder / f"{name}.out").read_text() == f"{name}\n"


def test_what_keeps_us_out_of_a_real_pool_is_said_in_one_sentence(
    entered: tuple[Real, Machine, Machine],
) -> None:
    real, _, _ = entered
    network_of_both = entered[1]
    token = network_of_both.folder / "narrow"
    words = ("-identity", "member@pool", "-authz", "READ")
    token.write_text(real.tool("condor_token_create", *words))
    token.chmod(0o600)
    done = network_of_both.run(
        "kettle", "up", "--dir", "other", "--join", real.machine.address, "--token-file", str(token)
    )
    assert done.code == 1
    assert "it refuses ADVERTISE_MASTER, ADVERTISE_STARTD" in done.complaint
    assert done.complaint.count("\n") == 1
    assert not (network_of_both.folder / "other").exists()
