"""`kettle trace` tells the life of real jobs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.records.job_trace import Step
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import daemon_pid, make_machine, run_tool, wait_until


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("trace"), "") as pool:
        yield pool


def submit(pool: PersonalPool, folder: Path, *lines: str) -> str:
    """Submit `/bin/sleep 1`; return the cluster."""
    (folder / "job.sub").write_text(
        "\n".join(
            ("executable = /bin/sleep", "arguments = 1", f"log = {folder}/log", *lines, "queue\n")
        )
    )
    code, said, complaint = run_tool(pool, "condor_submit", "-terse", str(folder / "job.sub"))
    assert code == 0, complaint
    return said.split(".")[0]


def trace(pool: PersonalPool, job: str) -> dict[str, object]:
    code, said, complaint = run_tool(pool, "kettle", "trace", job, "--json")
    assert code == 0, complaint
    facts: dict[str, object] = json.loads(said)
    return facts


def steps_of(facts: dict[str, object]) -> list[dict[str, object]]:
    steps = facts["steps"]
    assert isinstance(steps, list)
    return [step for step in steps if step["exact"]]


def test_one_id_follows_a_job_through_the_logs_of_all_daemons(
    pool: PersonalPool, work: Path
) -> None:
    cluster = submit(pool, work)
    run_tool(pool, "condor_wait", "-wait", "120", str(work / "log"))
    wait_until(
        lambda: steps_of(trace(pool, cluster))[-1]["step"] == Step.LEFT.word,
        10,
        lambda: str(trace(pool, cluster)),
    )
    steps = steps_of(trace(pool, cluster))
    words = [str(step["step"]) for step in steps]
    assert set(words) == {step.word for step in Step}
    assert {str(step["daemon"]) for step in steps} == {
        "schedd",
        "negotiator",
        "startd",
        "starter",
        "shadow",
    }
    order = ["submitted", "claimed", "handed-over", "activated", "executing", "exited", "ended"]
    assert [word for word in words if word in order] == order
    executing = next(step for step in steps if step["step"] == "executing")
    assert float(str(executing["took"])) > 0.5


def test_a_second_run_is_told_apart_from_the_first(pool: PersonalPool, work: Path) -> None:
    cluster = submit(pool, work, "max_retries = 1", "success_exit_code = 7")
    run_tool(pool, "condor_wait", "-wait", "120", str(work / "log"))
    wait_until(
        lambda: steps_of(trace(pool, cluster))[-1]["step"] == Step.LEFT.word,
        10,
        lambda: str(trace(pool, cluster)),
    )
    runs = [step["run"] for step in steps_of(trace(pool, cluster)) if step["step"] == "executing"]
    assert runs == [1, 2]


def test_the_steps_on_another_machine_are_fetched_from_there(
    tmp_path_factory: pytest.TempPathFactory, work: Path
) -> None:
    settings = "DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD\n"
    with personal_pool(tmp_path_factory.mktemp("far"), settings) as pool:
        machine = Path(tempfile.mkdtemp(prefix="kettle-machine-"))
        machine.chmod(0o755)
        point = subprocess.Popen(
            [sys.executable, "-P", "-m", "kettle.master", "-f"],
            env={**pool.environment(), "CONDOR_CONFIG": str(make_machine(pool, machine))},
            stdin=subprocess.DEVNULL,
        )
        try:
            cluster = submit(pool, work)
            run_tool(pool, "condor_wait", "-wait", "120", str(work / "log"))
            wait_until(
                lambda: steps_of(trace(pool, cluster))[-1]["step"] == Step.LEFT.word,
                10,
                lambda: str(trace(pool, cluster)),
            )
            words = {str(step["step"]) for step in steps_of(trace(pool, cluster))}
            assert words == {step.word for step in Step}
        finally:
            point.send_signal(signal.SIGQUIT)
            point.wait(60)
            shutil.rmtree(machine, ignore_errors=True)


@pytest.mark.parametrize(("tool", "status"), [("condor_rm", "removed"), ("condor_hold", "held")])
def test_a_job_whose_program_takes_its_time_to_leave_is_not_over(
    pool: PersonalPool, work: Path, tool: str, status: str
) -> None:
    (work / "slow.sub").write_text(
        "executable = /bin/sh\ntransfer_executable = false\njob_max_vacate_time = 600\n"
        f"arguments = \"-c 'trap : TERM; echo on >{work}/on; "
        f"while [ ! -e {work}/go ]; do sleep 0.1; done'\"\nrequest_disk = 1MB\nqueue\n"
    )
    said = run_tool(pool, "condor_submit", "-terse", str(work / "slow.sub"))[1]
    cluster = said.partition(".")[0]
    wait_until((work / "on").exists, 30)
    assert run_tool(pool, tool, cluster)[0] == 0
    wait_until(lambda: trace(pool, cluster)["status"] == f"being {status}", 20)
    facts = trace(pool, cluster)
    assert steps_of(facts)[-1]["step"] == Step.EXECUTING.word
    assert "so far" in run_tool(pool, "kettle", "trace", cluster)[1]
    (work / "go").touch()
    wait_until(lambda: trace(pool, cluster)["status"] == status, 30)
    assert "in all" in run_tool(pool, "kettle", "trace", cluster)[1]
    run_tool(pool, "condor_rm", cluster)


def test_a_job_that_is_not_there_is_one_clear_sentence(pool: PersonalPool) -> None:
    code, _, complaint = run_tool(pool, "kettle", "trace", "4711.0")
    assert code == 1
    assert "there is no job 4711.0" in complaint


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_the_past_of_a_job_is_told_while_its_schedd_does_not_answer(
    tmp_path_factory: pytest.TempPathFactory, work: Path, how: signal.Signals
) -> None:
    # Nobody starts it again while we look.
    settings = "MASTER_BACKOFF_CONSTANT = 600\n"
    with personal_pool(tmp_path_factory.mktemp("silent"), settings) as pool:
        cluster = submit(pool, work)
        run_tool(pool, "condor_wait", "-wait", "120", str(work / "log"))
        wait_until(lambda: run_tool(pool, "condor_history", "-af", "ClusterId")[1] != "", 20)
        schedd = daemon_pid(pool, "condor_schedd")
        os.kill(schedd, how)
        try:
            facts = trace(pool, cluster)
            assert [step["step"] for step in steps_of(facts)][:1] == ["submitted"]
            assert "the schedd does not answer" in str(facts["gaps"])
            code, _, complaint = run_tool(pool, "kettle", "trace", "4711.0")
            assert code == 1
            assert "the history here has no job 4711.0" in complaint
        finally:
            if how == signal.SIGSTOP:
                os.kill(schedd, signal.SIGCONT)
