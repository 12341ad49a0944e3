"""`kettle down` of a pool whose daemons were all killed at once: what their jobs left ends with it.

Jobs on slots, of the local and of the scheduler universe; the last two have no process of ours
that stays behind for them.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.pool.remains import Remains
from kettle.records.event_log import read_events
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams, load_tool
from pool_jobs import (
    EVERYBODY,
    is_noted,
    kill_at_once,
    programs_of,
    submit,
    submit_script,
    wait_until,
)

pytestmark = pytest.mark.timeout(180)

# What logs are told of jobs beside a real schedd, all of whose pool was killed and started again.
RECORDED = Path(__file__).parents[1] / "data" / "event_logs" / "beside"
CONFIG = "NUM_CPUS = 2\nUSE_PID_NAMESPACES = false\n"
UNIVERSES = ("vanilla", "local", "scheduler")
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"


def seconds(universe: str) -> str:
    """Return what the processes of a job sleep, as nobody else does."""
    return f"310.{os.getpid()}{UNIVERSES.index(universe)}"


def left() -> dict[str, list[int]]:
    """Return the living processes of the jobs."""
    found = {each: programs_of(f"sleep {seconds(each)}") for each in UNIVERSES}
    return {universe: pids for universe, pids in found.items() if pids}


def begin_jobs(pool: PersonalPool, work: Path) -> None:
    """Run a job of each universe with a process in its group and two in sessions of their own."""
    for universe in UNIVERSES:
        one = f"sleep {seconds(universe)}"
        # Without its environment nothing tells whose it was that a scheduler-universe job began.
        bare = f"(cd / && exec setsid env -i /bin/{one}) &\n" if universe != "scheduler" else ""
        script = f"timeout 300 {one} &\nsetsid {one} &\n{bare}wait\n"
        submit_script(pool, work / universe, script, f"universe = {universe}\n{SMALL}")
    begun = {"vanilla": 3, "local": 3, "scheduler": 2}
    wait_until(lambda: {key: len(pids) for key, pids in left().items()} == begun, 30)
    # Starters look once a second for who left the family, and has no environment to be known by.
    wait_until(lambda: are_noted(pool), 30)


def are_noted(pool: PersonalPool) -> bool:
    """Whether what is known by nothing else is known to the starters."""
    now, execute = left(), Path(pool.folder, "execute")
    local = Path(pool.folder, "spool", "local_univ_execute")
    return all(is_noted(pid, execute) for pid in now["vanilla"]) and all(
        is_noted(pid, local, grouped=False) for pid in now["local"]
    )


def down(pool: PersonalPool, *words: str) -> str:
    """Take the pool down; what is said."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    line = ["kettle", "down", "--dir", pool.folder, *words]
    assert load_tool("kettle")(line, os.environ, streams) == 0
    assert isinstance(streams.stdout, io.StringIO)
    return streams.stdout.getvalue()


@pytest.mark.parametrize("purge", [[], ["--purge"]], ids=["", "purge"])
def test_what_jobs_left_ends_with_the_pool(tmp_path: Path, work: Path, purge: list[str]) -> None:
    for universe in UNIVERSES:
        (work / universe).mkdir(mode=0o777)
        (work / universe).chmod(0o777)
    with personal_pool(tmp_path, CONFIG) as pool:
        begin_jobs(pool, work)
        kill_at_once(pool, *EVERYBODY)
        assert left()
        said = down(pool, *purge)
        assert left() == {}
        assert f"The pool in {pool.folder} was not up." in said
        assert "Processes that its jobs left when its daemons were killed: " in said
        assert Path(pool.folder).exists() is not bool(purge)
        if not purge:
            told = json.loads(down(pool, "--json"))
            assert told["left_behind"] == {"ended": 0, "staying": []}


def test_a_log_is_told_of_the_second_start_alone_as_by_the_reference(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        text = f"executable = /bin/sleep\narguments = 300\ntransfer_executable = false\n{SMALL}"
        jobs = {
            universe: submit(pool, work / universe, f"{text}universe = {universe}\nqueue\n")
            for universe in ("local", "scheduler")
        }
        for one in jobs.values():
            one.wait_for(1, 30)
        kill_at_once(pool, *EVERYBODY)
        wait_until(lambda: pool.master_pid() is None, 10)
        pool.start()
        for universe, one in jobs.items():
            one.wait_for(1, 60, each=2)
            recorded = read_events((RECORDED / f"killed_{universe[0]}.log").read_bytes())
            numbers = [event.number for event in one.events()]
            assert numbers == [event.number for event in recorded]


def test_nothing_is_ended_of_a_pool_that_has_come_up(tmp_path: Path, work: Path) -> None:
    (work / "scheduler").mkdir(mode=0o777)
    (work / "scheduler").chmod(0o777)
    with personal_pool(tmp_path, CONFIG) as pool:
        one = f"sleep {seconds('scheduler')}"
        text = f"universe = scheduler\n{SMALL}"
        submit_script(pool, work / "scheduler", f"exec {one}", text)
        wait_until(lambda: bool(left()), 30)
        # As where somebody brings it up while `kettle down` finds that it is not.
        assert pool.end_remains() == Remains()
        assert left()
