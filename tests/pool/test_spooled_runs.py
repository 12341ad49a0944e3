"""Spooled jobs that have more than one run: each begins where the last one was, and never torn."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.compat import htcondor2
from kettle.compat.htcondor2.process import PROCESS
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, daemon_pids, log_text, run_tool, wait_until

pytestmark = pytest.mark.timeout(120)

LINES = (
    "request_cpus = 1\nrequest_memory = 10MB\nrequest_disk = 1MB\nshould_transfer_files = yes\n"
    "transfer_input_files = state\noutput = out\nlog = log\n+JobMaxVacateTime = 1\n"
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("spooled"), "PERIODIC_EXPR_INTERVAL = 1\n") as pool:
        yield pool


def spool_script(pool: PersonalPool, work: Path, script: str, lines: str) -> str:
    """Queue a shell script whose input, the file `state`, is spooled; return its cluster."""
    (work / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
    (work / "job.sh").chmod(0o755)
    (work / "state").write_text("0\n")
    (work / "job.sub").write_text(f"executable = job.sh\n{LINES}{lines}\nqueue\n")
    before = Path.cwd()
    os.chdir(work)
    try:
        done = run_tool(pool, "condor_submit", "-terse", "-spool", "job.sub")
    finally:
        os.chdir(before)
    assert done[0] == 0, done
    return done[1].split(".")[0]


def wait_for_status(pool: PersonalPool, cluster: str, status: int) -> None:
    rows: list[list[str]] = []

    def has_it() -> bool:
        rows[:] = ask_queue(pool, cluster, "JobStatus", "HoldReason")
        return [row[0] for row in rows] == [str(status)]

    wait_until(has_it, 30, lambda: f"{rows}")


def fetch(pool: PersonalPool, cluster: str) -> None:
    done = run_tool(pool, "condor_transfer_data", cluster)
    assert done[0] == 0, done


COUNTING = "n=$(cat state); n=$((n + 1)); echo $n > state; echo part $n\n"
CHECKPOINTS = "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state\n"


def stop_once(work: Path, number: int) -> str:
    """What a script does in its run's `number`th part the first time: wait to be sent away."""
    return (
        f"if [ $n = {number} ] && [ ! -e {work}/stopped ]; then\n"
        f"  touch {work}/stopped; sleep 60\nfi\n"
    )


@pytest.mark.parametrize("how", ["condor_vacate_job", "condor_hold"])
def test_a_spooled_job_goes_on_from_its_checkpoint(
    pool: PersonalPool, work: Path, how: str
) -> None:
    script = f"{COUNTING}[ $n = 3 ] && exit 0\n{stop_once(work, 2)}exit 85"
    cluster = spool_script(pool, work, script, f"{CHECKPOINTS}transfer_output_files =\n")
    wait_until((work / "stopped").exists, 20)
    words = ("-fast", cluster) if how == "condor_vacate_job" else (cluster,)
    assert run_tool(pool, how, *words)[0] == 0
    if how == "condor_hold":
        wait_for_status(pool, cluster, 5)
        # Who looks meanwhile gets what the checkpoint has.
        fetch(pool, cluster)
        assert (work / "out").read_text() == "part 1\n"
        run_tool(pool, "condor_release", cluster)
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "out").read_text() == "part 1\npart 2\npart 3\n"
    log = (work / "log").read_text()
    assert log.count("\n001 (") == 2, log


def test_what_another_version_left_among_a_job_s_input_is_gone_on_from(
    pool: PersonalPool, work: Path
) -> None:
    """HTCondor keeps a checkpoint there: a part of it has taken the place of what was sent."""
    script = (
        f"{COUNTING}[ $n -gt 1 ] && [ $(cat more) != $((n - 1)) ] && echo torn\n"
        f"[ -e log ] && echo events\n[ $n = 3 ] && exit 0\n{stop_once(work, 2)}"
        "echo $n > more; exit 85"
    )
    lines = "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state, more\n"
    cluster = spool_script(pool, work, script, f"{lines}transfer_output_files =\n")
    wait_until((work / "stopped").exists, 20)
    assert run_tool(pool, "condor_hold", cluster)[0] == 0
    wait_for_status(pool, cluster, 5)
    (left,) = Path(pool.folder, "spool").glob(f"*/*/cluster{cluster}.proc0.subproc0.left")
    for path in left.iterdir():
        path.rename(left.with_suffix("") / path.name)
    left.rmdir()
    run_tool(pool, "condor_release", cluster)
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "out").read_text() == "part 1\npart 2\npart 3\n"


def test_what_a_spooled_job_left_as_it_was_sent_away_is_there_in_its_next_run(
    pool: PersonalPool, work: Path
) -> None:
    script = f"{COUNTING}{stop_once(work, 1)}"
    lines = "when_to_transfer_output = ON_EXIT_OR_EVICT\n"
    cluster = spool_script(pool, work, script, lines)
    wait_until((work / "stopped").exists, 20)
    assert run_tool(pool, "condor_vacate_job", cluster)[0] == 0
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "state").read_text() == "2\n"
    assert (work / "out").read_text() == "part 1\npart 2\n"


def test_a_checkpoint_that_is_cut_off_leaves_the_last_good_one_of_a_spooled_job(
    pool: PersonalPool, work: Path
) -> None:
    """Two files that belong together; the starter dies while the second one travels."""
    script = (
        f"{COUNTING}[ $n = 3 ] && exit 0\n"
        f"[ $n = 2 ] && [ ! -e {work}/stopped ] && {{\n"
        f"  truncate -s 600M big; touch {work}/stopped; echo $n > second; exit 85; }}\n"
        "[ $n = 2 ] && { cat second > twin; echo again $(cat twin); exit 0; }\n"
        "touch big; echo $n > second; exit 85"
    )
    lines = "checkpoint_exit_code = 85\ntransfer_checkpoint_files = state, big, second\n"
    cluster = spool_script(
        pool, work, script, f"{lines}transfer_output_files = twin\nrequest_disk = 1GB\n"
    )
    spool = Path(pool.folder) / "spool" / str(int(cluster) % 10_000)

    def is_half_there() -> bool:
        return any(path.stat().st_size > 1_000_000 for path in spool.rglob("*.left.tmp/big"))

    wait_until(is_half_there, 30)
    for starter in daemon_pids(pool, "condor_starter"):
        os.kill(starter, signal.SIGKILL)
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "out").read_text() == "part 1\npart 2\nagain 1\n"
    run_tool(pool, "condor_rm", cluster)
    wait_until(lambda: not spool.exists(), 30)


def test_output_that_is_called_like_the_job_s_log_does_not_take_its_place(
    pool: PersonalPool, work: Path
) -> None:
    script = "echo forged > log; echo more > more; echo out"
    cluster = spool_script(pool, work, script, "transfer_output_files = log, more\n")
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    events = [line[:3] for line in (work / "log").read_text().splitlines() if line[:3].isdecimal()]
    assert (events[0], events[-1]) == ("000", "005")
    assert ((work / "more").read_text(), (work / "out").read_text()) == ("more\n", "out\n")


def test_of_output_that_is_not_all_there_the_rest_comes(pool: PersonalPool, work: Path) -> None:
    """It may say why the job is held, and its next run begins with it."""
    script = f"{COUNTING}[ $n = 2 ] && touch missing; exit 0"
    lines = "transfer_output_files = state, missing\n"
    cluster = spool_script(pool, work, script, lines)
    wait_for_status(pool, cluster, 5)
    ((reason,),) = ask_queue(pool, cluster, "HoldReason")
    assert reason.startswith("Transfer output files failure at execution point"), reason
    run_tool(pool, "condor_transfer_data", cluster)
    assert (work / "out").read_text() == "part 1\n"
    text = (work / "log").read_text()
    events = [line[:3] for line in text.splitlines() if line[:3].isdecimal()]
    assert events[-2:] == ["004", "012"]
    assert events.count("040") == 4
    run_tool(pool, "condor_release", cluster)
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "state").read_text() == "2\n"


@pytest.fixture
def here(pool: PersonalPool) -> Iterator[None]:
    """Have this very process use the pool."""
    PROCESS.reload(pool.config_file, os.environ)
    yield
    PROCESS.reload(os.devnull, {})


@pytest.mark.usefixtures("here")
def test_files_are_not_spooled_for_a_job_that_runs(
    pool: PersonalPool, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spooled once more while it waits again, it has its new input, and all of its log."""
    monkeypatch.chdir(work)
    script = f"cat state; touch {work}/begun; while [ ! -e {work}/go ]; do sleep 0.1; done"
    (work / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
    (work / "job.sh").chmod(0o755)
    (work / "state").write_text("first\n")
    schedd = htcondor2.Schedd()
    submit = htcondor2.Submit(f"executable = job.sh\n{LINES}")
    result = schedd.submit(submit, spool=True)
    schedd.spool(result)
    cluster = str(result.cluster())
    wait_until((work / "begun").exists, 20)
    (work / "state").write_text("second\n")
    with pytest.raises(htcondor2.HTCondorException):
        schedd.spool(result)
    assert f"job {cluster}.0 is neither idle nor held" in log_text(pool, "SchedLog")
    assert run_tool(pool, "condor_hold", cluster)[0] == 0
    wait_for_status(pool, cluster, 5)
    spooled: list[None] = []

    def spool() -> bool:
        """Spool it as soon as its run is over."""
        with contextlib.suppress(htcondor2.HTCondorException):
            schedd.spool(result)
            spooled.append(None)
        return bool(spooled)

    wait_until(spool, 20)
    (work / "go").touch()
    run_tool(pool, "condor_release", cluster)
    wait_for_status(pool, cluster, 4)
    fetch(pool, cluster)
    assert (work / "out").read_text() == "second\n"
    events = [line[:3] for line in (work / "log").read_text().splitlines() if line[:3].isdecimal()]
    assert events[:2] == ["000", "040"]
    assert events.count("001") == 2
    assert events[-1] == "005"
