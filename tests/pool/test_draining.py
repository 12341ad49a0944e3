"""A machine that is drained by its administrator, and taken back into service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.errors import NotFoundError
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

CONFIG = "NUM_CPUS = 2\nMAXJOBRETIREMENTTIME = 3600\n"
SLEEPER = (
    "executable = /bin/sleep\narguments = 300\ntransfer_executable = false\n"
    "request_memory = 10MB\nrequest_disk = 1MB\n"
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("draining"), CONFIG) as pool:
        yield pool


def ask(pool: PersonalPool, *attributes: str) -> list[str]:
    """Return what the machine's own slot says."""
    words = ("-constraint", "PartitionableSlot", "-af:t", *attributes)
    said = run_tool(pool, "condor_status", *words)[1]
    return said.rstrip("\n").split("\t")


def test_a_drained_machine_runs_nothing_until_that_is_cancelled(
    pool: PersonalPool, work: Path
) -> None:
    wait_until(lambda: ask(pool, "State") != [""], 10)
    [machine] = ask(pool, "Machine")
    jobs = submit(pool, work, f"{SLEEPER}queue\n")
    jobs.wait_for(1, 20)
    words = ("condor_drain", "-fast", "-reason", "new disks", "-verbose", machine)
    code, said, complaint = run_tool(pool, *words)
    assert (code, complaint) == (0, "")
    [request] = [line.split()[-1] for line in said.splitlines() if "Request id" in line]
    jobs.wait_for(4, 20)
    wait_until(lambda: ask(pool, "State", "Activity") == ["Drained", "Idle"], 10)
    assert ask(pool, "DrainReason", "DrainingRequestId") == ["new disks", request]
    jobs.wait_for_status(1)
    code, _, complaint = run_tool(pool, "condor_drain", machine)
    assert code != 0
    assert "Draining already in progress" in complaint
    code, _, complaint = run_tool(pool, "condor_drain", "-cancel", "-request-id", "x", machine)
    assert code != 0
    assert "No matching draining request" in complaint
    assert jobs.count_events(1) == {0: 1}
    code, said, _ = run_tool(pool, "condor_drain", "-cancel", "-request-id", request, machine)
    assert (code, said) == (0, f"Sent request to cancel draining on slot1@{machine}\n")
    jobs.wait_for(1, 20, each=2)
    run_tool(pool, "condor_rm", "-all")
    jobs.wait_for(9, 20)


def test_jobs_that_the_drainer_wants_start_meanwhile(pool: PersonalPool, work: Path) -> None:
    [machine] = ask(pool, "Machine")
    first = submit(pool, work / "first", f"{SLEEPER}queue\n")
    first.wait_for(1, 20)
    code, _, complaint = run_tool(pool, "condor_drain", "-start", "IsBackfill == true", machine)
    assert (code, complaint) == (0, "")
    second = submit(pool, work / "second", f"{SLEEPER}+IsBackfill = true\nqueue\n")
    third = submit(pool, work / "third", f"{SLEEPER}queue\n")
    second.wait_for(1, 20)
    assert third.count_events(1) == {}
    run_tool(pool, "condor_rm", "-all")
    second.wait_for(9, 20)
    assert run_tool(pool, "condor_drain", "-cancel", machine)[0] == 0
    # The collector hears of it a moment later.
    wait_until(lambda: ask(pool, "State") != ["Drained"], 20)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "must specify one target machine"),
        (("-request-id", "1", "m"), "-request-id may only be used with -cancel"),
        (("-cancel", "-check", "true", "m"), "-check may not be used with -cancel"),
        (("-cancel", "-resume", "m"), "cannot use an -on-completion option with -cancel"),
        (("-resume", "-exit", "m"), "'-exit' conflicts with previous use of"),
        (("-check", "a b", "m"), "-check a b is no expression"),
        (("nowhere",), "nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused(
    pool: PersonalPool, words: tuple[str, ...], complaint: str
) -> None:
    code, _, why = run_tool(pool, "condor_drain", *words)
    assert code != 0
    assert complaint in why
    assert ask(pool, "State") != ["Drained"]


def test_a_startd_that_ends_once_drained_stays_off_until_it_is_turned_on(
    pool: PersonalPool,
) -> None:
    def stands() -> str:
        lines = run_tool(pool, "condor_who", "-quick")[1].splitlines()
        return next(line for line in lines if line.startswith("STARTD = "))

    log = Path(pool.folder, "log", "MasterLog")
    [machine] = ask(pool, "Machine")
    code, _, complaint = run_tool(pool, "condor_drain", "-exit-on-completion", machine)
    assert (code, complaint) == (0, "")
    wait_until(lambda: stands() == 'STARTD = "Hold"', 20)
    said = log.read_text(encoding="utf-8").splitlines()
    [ended] = [number for number, line in enumerate(said) if "The STARTD (pid " in line]
    assert said[ended].endswith("exited with status 99 (daemon will not restart automatically)")
    table = run_tool(pool, "condor_who", "-daemons")[1]
    assert " 99 (daemon will not restart automatically) " in table
    # What reads the configuration again turns nothing on.
    assert run_tool(pool, "condor_reconfig", "-daemon", "master")[0] == 0
    wait_until(lambda: "The configuration was read again." in log.read_text(encoding="utf-8"), 20)
    assert stands() == 'STARTD = "Hold"'
    assert not any("restarting STARTD" in line for line in said[ended:])
    with pytest.raises(NotFoundError, match=r"its startd is turned off \(condor_on -startd turns"):
        pool.start()
    assert run_tool(pool, "condor_on", "-startd")[0] == 0
    wait_until(lambda: stands() == 'STARTD = "Alive"', 20)
    wait_until(lambda: ask(pool, "State") == ["Unclaimed"], 20)
