"""kill -9 of any one daemon while jobs run: nothing is lost, nothing runs twice at once."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool, processes_of
from pool_jobs import Witness, daemon_pid, daemon_pids, run_tool, title_of, wait_until

pytestmark = pytest.mark.slow

COUNT = 20
CONFIG = f"NUM_CPUS = {COUNT}\nMASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\n"


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that the account of jobs can reach."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-kill-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def kill(pool: PersonalPool, name: str) -> int:
    """Kill one daemon (the first, where there are several) and return its pid."""
    pids = daemon_pids(pool, name)
    assert pids, f"no process called {name}"
    os.kill(pids[0], signal.SIGKILL)
    return pids[0]


def assert_each_ended_once(witness: Witness) -> None:
    jobs = witness.jobs
    jobs.wait_for(5, 60)
    wait_until(lambda: len(jobs.history()) == COUNT, 15, lambda: str(sorted(jobs.history())))
    assert jobs.count_events(5) == dict.fromkeys(range(COUNT), 1)
    assert {proc: len(ads) for proc, ads in jobs.history().items()} == dict.fromkeys(
        range(COUNT), 1
    )
    assert witness.doubles() == []


def assert_each_started_once(witness: Witness) -> None:
    assert [witness.begun(proc) for proc in range(COUNT)] == [1] * COUNT
    assert witness.jobs.count_events(1) == dict.fromkeys(range(COUNT), 1)
    starts = {ads[0].integer("NumJobStarts") for ads in witness.jobs.history().values()}
    assert starts == {1}


@pytest.mark.shows("R081")
@pytest.mark.shows("R082")
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("condor_schedd",), id="schedd"),
        pytest.param(("condor_shadow",), id="shadow host"),
        pytest.param(("condor_schedd", "condor_shadow"), id="schedd and shadow host"),
        pytest.param(("condor_negotiator",), id="negotiator"),
        pytest.param(("condor_collector",), id="collector"),
    ],
)
def test_daemons_that_only_watch_may_die_without_a_second_start(
    names: tuple[str, ...], tmp_path: Path, work: Path
) -> None:
    """The reconnection is within the jobs' lease."""
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT)
        witness.wait_until_begun(COUNT)
        dead = [daemon_pids(pool, name)[0] for name in names]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in dead:
                os.kill(pid, number)
        for name, pid in zip(names, dead, strict=True):
            daemon_pid(pool, name, other_than=pid)
        witness.let_go()
        assert_each_ended_once(witness)
        assert_each_started_once(witness)


def test_a_schedd_that_comes_back_after_the_lease_has_each_job_run_again_once(
    tmp_path: Path, work: Path
) -> None:
    """The starters have ended the programs by then, or the schedd finds them and nothing is run."""
    lease, away = 20, 30
    with personal_pool(tmp_path, f"{CONFIG}STARTER_UPDATE_INTERVAL = 5\n") as pool:
        witness = Witness(pool, work, COUNT, f"job_lease_duration = {lease}\n")
        witness.wait_until_begun(COUNT)
        # The master cannot start another schedd before it goes on itself.
        master = daemon_pid(pool, "condor_master")
        os.kill(master, signal.SIGSTOP)
        kill(pool, "condor_schedd")
        wait_until(lambda: witness.alive() == 0, lease + away, lambda: str(witness.alive()))
        os.kill(master, signal.SIGCONT)
        witness.wait_until_begun(2 * COUNT)
        witness.let_go()
        assert_each_ended_once(witness)
        assert [witness.begun(proc) for proc in range(COUNT)] == [2] * COUNT
        assert witness.jobs.count_events(1) == dict.fromkeys(range(COUNT), 2)
        starts = {ads[0].integer("NumJobStarts") for ads in witness.jobs.history().values()}
        assert starts == {2}


def test_jobs_without_a_lease_do_not_run_twice_where_the_schedd_dies(
    tmp_path: Path, work: Path
) -> None:
    """Their starters end them as their shadows are gone, unless the next schedd is faster."""
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT, "+JobLeaseDuration = undefined\n")
        witness.wait_until_begun(COUNT)
        master = daemon_pid(pool, "condor_master")
        os.kill(master, signal.SIGSTOP)
        kill(pool, "condor_schedd")
        wait_until(lambda: witness.alive() == 0, 10, lambda: str(witness.alive()))
        os.kill(master, signal.SIGCONT)
        witness.wait_until_begun(2 * COUNT)
        dead = kill(pool, "condor_schedd")
        daemon_pid(pool, "condor_schedd", other_than=dead)
        witness.let_go()
        assert_each_ended_once(witness)


def test_a_job_that_is_held_and_released_while_it_leaves_starts_when_it_is_gone(
    tmp_path: Path, work: Path
) -> None:
    """A program takes its time to go, its user does not, and the schedd dies meanwhile."""
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, 4, "kill_sig = SIGCONT\njob_max_vacate_time = 4\n")
        witness.wait_until_begun(4)
        cluster = str(witness.jobs.cluster)
        assert run_tool(pool, "condor_hold", cluster)[0] == 0
        assert run_tool(pool, "condor_release", cluster)[0] == 0
        dead = kill(pool, "condor_schedd")
        daemon_pid(pool, "condor_schedd", other_than=dead)
        witness.wait_until_begun(8)
        witness.let_go()
        witness.jobs.wait_for(5, 60)
        assert witness.doubles() == []
        assert [witness.begun(proc) for proc in range(4)] == [2] * 4


def test_the_startd_s_death_is_one_clean_requeue_of_each_job(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT)
        witness.wait_until_begun(COUNT)
        kill(pool, "condor_startd")
        witness.wait_until_begun(2 * COUNT)
        witness.let_go()
        assert_each_ended_once(witness)
        assert [witness.begun(proc) for proc in range(COUNT)] == [2] * COUNT
        starts = {ads[0].integer("NumJobStarts") for ads in witness.jobs.history().values()}
        assert starts == {2}


def test_where_nobody_is_left_programs_die_and_their_jobs_wait_for_the_next_startd(
    tmp_path: Path, work: Path
) -> None:
    """Startd and starters are killed together, and a master that could see to it stands still."""
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT)
        witness.wait_until_begun(COUNT)
        master = daemon_pid(pool, "condor_master")
        os.kill(master, signal.SIGSTOP)
        # A starter that sees its startd gone ends its job and says so: none may run that long.
        both = [*daemon_pids(pool, "condor_starter"), *daemon_pids(pool, "condor_startd")]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in both:
                os.kill(pid, number)
        wait_until(lambda: witness.alive() == 0, 10, lambda: str(witness.alive()))
        # Every shadow has been refused, and takes that for no more than it is.
        log = Path(pool.log_folder, "ShadowLog")
        wait_until(lambda: log.read_text().count("Attempt 2 to reconnect failed") == COUNT, 30)
        assert witness.jobs.count_events(24) == {}
        assert [witness.begun(proc) for proc in range(COUNT)] == [1] * COUNT
        os.kill(master, signal.SIGCONT)
        witness.wait_until_begun(2 * COUNT)
        witness.let_go()
        assert_each_ended_once(witness)
        assert [witness.begun(proc) for proc in range(COUNT)] == [2] * COUNT


def test_a_killed_startd_leaves_no_slot_behind_that_nobody_has(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, 4)
        witness.wait_until_begun(4)
        dead = kill(pool, "condor_startd")
        assert run_tool(pool, "condor_rm", str(witness.jobs.cluster))[0] == 0
        daemon_pid(pool, "condor_startd", other_than=dead)

        def slots() -> list[str]:
            return run_tool(pool, "condor_status", "-af", "State")[1].split()

        wait_until(lambda: slots() == ["Unclaimed"], 10, lambda: str(slots()))


def test_a_starter_s_death_is_one_clean_requeue_of_its_job(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT)
        witness.wait_until_begun(COUNT)
        kill(pool, "condor_starter")
        witness.wait_until_begun(COUNT + 1)
        witness.let_go()
        assert_each_ended_once(witness)
        begun = sorted(witness.begun(proc) for proc in range(COUNT))
        assert begun == [1] * (COUNT - 1) + [2]
        again = [proc for proc in range(COUNT) if witness.begun(proc) == 2]
        history = witness.jobs.history()
        assert history[again[0]][0].integer("NumJobStarts") == 2


def test_a_starter_s_death_ends_a_program_that_threw_its_environment_away(
    tmp_path: Path, work: Path
) -> None:
    notes = work / "pids"
    script = work / "bare.sh"
    script.write_text(
        f'#!/bin/sh\nexec env -i /bin/sh -c "echo \\$\\$ >>{notes}; exec /bin/sleep 61"\n'
    )
    for path, mode in ((script, 0o755), (work, 0o777)):
        path.chmod(mode)
    description = work / "bare.sub"
    description.write_text(f"executable = {script}\ntransfer_executable = false\nqueue\n")

    def pids() -> list[int]:
        return [int(word) for word in notes.read_text().split()] if notes.exists() else []

    with personal_pool(tmp_path, CONFIG) as pool:
        code, _, complaint = run_tool(pool, "condor_submit", str(description))
        assert code == 0, complaint
        wait_until(lambda: len(pids()) == 1, 20)
        kill(pool, "condor_starter")
        wait_until(lambda: len(pids()) == 2, 30)
        assert not title_of(pids()[0])


def test_the_master_s_death_stops_everything_and_the_next_start_goes_on(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        witness = Witness(pool, work, COUNT)
        witness.wait_until_begun(COUNT)
        kill(pool, "condor_master")
        wait_until(
            lambda: processes_of(pool) == [],
            10,
            lambda: str([(pid, title_of(pid)) for pid in processes_of(pool)]),
        )
        pool.start()
        witness.let_go()
        assert_each_ended_once(witness)
