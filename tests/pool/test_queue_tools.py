"""The tools around the queue against a real pool and real jobs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, wait_until

_RUN = """
import sys
from kettle.tools.programs import run_program
sys.exit(run_program(sys.argv.pop(1)))
"""
_SCRIPT = "#!/bin/sh\necho one\necho two >&2\nwhile [ ! -e {stop} ]; do sleep 0.1; done\nexit 3\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("queue"), "") as pool:
        yield pool


def run(pool: PersonalPool, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a tool."""
    return subprocess.run(
        [sys.executable, "-c", _RUN, *words],
        cwd=work,
        env=pool.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_debug_says_how_tool_and_daemon_came_to_terms(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    config = "ALL_DEBUG = D_SECURITY\nDAEMON_LIST = MASTER COLLECTOR\n"
    with personal_pool(tmp_path_factory.mktemp("debug"), config) as pool:
        # Compat: the first words of these lines are the reference's; it says more of them.
        done = run(pool, tmp_path, "condor_status", "-any", "-debug")
        said = [line.split(" ", 2)[2] for line in done.stderr.splitlines()]
        assert said[0].startswith("SECMAN: command ")
        assert "Authentication was a Success." in said
        assert said[-1] == "SECMAN: startCommand succeeded."
        quiet = run(pool, tmp_path, "condor_status", "-any")
        assert (quiet.stdout, quiet.stderr) == (done.stdout, "")
        told = Path(pool.log_folder, "CollectorLog").read_text()
        assert "Authentication was a Success.\n" in told
        assert "DC_AUTHENTICATE: Success.\n" in told


def start_job(pool: PersonalPool, work: Path) -> str:
    """Submit a job that runs until `finish_job`; return its cluster once it runs."""
    (work / "job.sh").write_text(_SCRIPT.format(stop=work / "stop"))
    (work / "job.sh").chmod(0o755)
    (work / "job.sub").write_text(
        "executable = job.sh\noutput = out\nerror = err\nlog = log\nbatch_name = mine\nqueue\n"
    )
    done = run(pool, work, "condor_submit", "-terse", "job.sub")
    assert done.returncode == 0, done.stderr
    cluster = done.stdout.split(".")[0]
    wait_for_status(pool, cluster, "2")
    return cluster


def wait_for_status(pool: PersonalPool, cluster: str, status: str) -> None:
    wait_until(lambda: ask_queue(pool, cluster, "JobStatus") == [[status]], 30)


def test_a_running_job_is_shown_tailed_watched_and_becomes_history(
    pool: PersonalPool, work: Path
) -> None:
    cluster = start_job(pool, work)
    table = run(pool, work, "condor_q").stdout.split("\n")
    assert table[2].startswith("-- Schedd: ")
    assert " ".join(table[3].split()) == "OWNER BATCH_NAME SUBMITTED DONE RUN IDLE TOTAL JOB_IDS"
    assert table[4].split()[1] == "mine"
    assert table[4].split()[-1] == f"{cluster}.0"
    assert table[6].startswith("Total for query: 1 jobs; 0 completed, 0 removed, 0 idle, 1 running")
    assert f" {cluster}.0 " in run(pool, work, "condor_q", "-run").stdout
    found = json.loads(run(pool, work, "condor_q", "-json", "-attributes", "ClusterId").stdout)
    assert found == [{"ClusterId": int(cluster)}]
    counts = json.loads(run(pool, work, "condor_q", "-totals", "-json").stdout)
    assert [(ad["MyType"], ad["Jobs"], ad["Running"]) for ad in counts] == [("Summary", 1, 1)]
    assert run(pool, work, "condor_q", "-totals", "-af", "Jobs", "Held").stdout == "1 0\n\n"

    tail = run(pool, work, "condor_tail", f"{cluster}.0")
    assert (tail.returncode, tail.stdout) == (0, "one\n")
    error = run(pool, work, "condor_tail", "-stderr", f"{cluster}.0")
    assert (error.returncode, error.stderr) == (0, "two\n")

    (work / "stop").touch()
    watch = run(pool, work, "condor_watch_q", "-files", "log", "-exit", "all,done,4")
    assert watch.returncode == 4
    assert "Total: 1 jobs; 1 completed" in watch.stdout
    history = ("condor_history", cluster, "-af:j", "ExitCode", "JobStatus")
    wait_until(lambda: run_tool(pool, *history)[1] != "", 30)
    assert run(pool, work, *history).stdout == f"{cluster}.0 3 4\n"
    name = run(pool, work, "condor_status", "-schedd", "-af", "Name").stdout.strip()
    remote = run(pool, work, "condor_history", "-name", name, cluster, "-af", "ExitCode")
    assert remote.stdout == "3\n"


def test_histories_of_runs_and_daemons_are_asked_for_elsewhere(
    pool: PersonalPool, work: Path
) -> None:
    (work / "job.sub").write_text("executable = /bin/true\nqueue\n")
    done = run(pool, work, "condor_submit", "-terse", "job.sub")
    cluster = done.stdout.split(".")[0]
    name = run_tool(pool, "condor_status", "-schedd", "-af", "Name")[1].strip()
    ask = ("condor_history", "-name", name)
    runs = (*ask, "-epochs", cluster, "-af:j", "NumShadowStarts")
    wait_until(lambda: run_tool(pool, *runs)[1] == f"{cluster}.0 1\n", 30)
    # As the job was while it ran, whatever has become of it.
    same = "ShadowIpAddr =?= MyAddress"
    names = ("JobStatus", "RemoteHost", "LastRemoteHost", same, "HoldReason")
    while_it_ran = run_tool(pool, *ask, "-epochs", cluster, "-af", *names)[1].split()
    assert (while_it_ran[0], while_it_ran[2:]) == ("2", ["undefined", "true", "undefined"])
    assert while_it_ran[1].startswith("slot1_")
    kinds = (*ask, "-epochs", "-type", "spawn", cluster, "-af:j", "NumShadowStarts")
    assert run_tool(pool, *kinds)[1].startswith(f"{cluster}.0 ")
    # The schedd records itself when it begins.
    for words in (("-daemon",), (*ask[1:], "-daemon")):
        code, said, complaint = run_tool(pool, "condor_history", *words, "-af", "Name", "MyType")
        assert (code, said, complaint) == (0, f"{name} Scheduler\n", ""), words
    machine = run_tool(pool, "condor_status", "-af", "Machine")[1].split()[0]
    there = ("condor_history", "-startd", "-name", machine, cluster, "-af:j", "JobUniverse")
    wait_until(lambda: run_tool(pool, *there)[1] == f"{cluster}.0 5\n", 30)
    code, _, complaint = run_tool(pool, *ask, "-daemon:negotiator", "-af", "Name")
    assert code != 0
    assert "NEGOTIATOR_DAEMON_HISTORY undefined" in complaint


def test_condor_run_shows_what_the_command_wrote_and_ends_like_it(
    pool: PersonalPool, work: Path
) -> None:
    done = run(pool, work, "condor_run", "echo said; echo complained >&2; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, "said\n", "complained\n")


def test_condor_run_ends_with_0_for_a_command_that_a_signal_killed(
    pool: PersonalPool, work: Path
) -> None:
    done = run(pool, work, "condor_run", "echo said; kill -9 $$")
    expected = (0, "said\n", "Condor job killed by signal 9.\n")
    assert (done.returncode, done.stdout, done.stderr) == expected
    assert not list(work.glob(".condor_*"))


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("requirements", "news"), [("true", "Job executing"), ("false", "Job submitted")]
)
def test_condor_run_that_is_killed_takes_its_job_along(
    pool: PersonalPool, work: Path, name: str, requirements: str, news: str
) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", _RUN, "condor_run", "sleep 300"],
        cwd=work,
        # A job that was just being started when it was removed would leave files of its output.
        env={**pool.environment(), "CONDOR_REQUIREMENTS": requirements},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    log = work / f".condor_log.{started.pid}"

    def logged(words: str) -> bool:
        # The program takes its log away; what tells of the removal makes it again.
        try:
            return words in log.read_text()
        except FileNotFoundError:
            return False

    wait_until(lambda: logged(news), 20)
    script = f"{work}/.condor_run."
    # As a terminal does: condor_submit, which may not have said yet which job it is, gets it, too.
    os.killpg(started.pid, getattr(signal, name))
    said = started.communicate(timeout=100)
    assert (started.returncode, *said) == (255, "", f"Killed by {name}.\n")
    cmd = f'JobStatus =!= 3 && substr(Cmd, 0, {len(script)}) == "{script}"'
    assert run(pool, work, "condor_q", "-constraint", cmd, "-af", "Cmd").stdout == ""

    def left() -> list[str]:
        return [path.name for path in work.glob(".condor_*")]

    if requirements == "true":
        # What ran is told of by its shadow, when the program has gone.
        wait_until(lambda: logged("Job was aborted"), 20, lambda: str(left()))
        assert left() == [log.name]
    else:
        assert left() == []


def test_condor_run_waits_for_a_job_that_is_held(pool: PersonalPool, work: Path) -> None:
    """As HTCondor's does: whoever knows why it is held may release it."""
    words = ("-a", "on_exit_hold = NumJobStarts == 1", "-a", 'on_exit_hold_reason = "once"')
    started = subprocess.Popen(
        [sys.executable, "-c", _RUN, "condor_run", *words, "echo said; exit 3"],
        cwd=work,
        env=pool.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    script = f"{work}/.condor_run.{started.pid}"
    held = ("-constraint", f'JobStatus == 5 && Cmd == "{script}"')
    wait_until(lambda: bool(run(pool, work, "condor_q", *held, "-af", "Cmd").stdout), 30)
    assert run(pool, work, "condor_release", *held).returncode == 0
    said = started.communicate(timeout=100)
    assert (started.returncode, said[0]) == (3, "said\n")
    assert said[1] == "condor_run: the job is held: once\n"
    assert not list(work.glob(".condor_*"))


def test_condor_run_passes_on_what_condor_submit_warns_of(pool: PersonalPool, work: Path) -> None:
    done = run(pool, work, "condor_run", "-a", "requrements = true", "echo said")
    assert done.stdout == "said\n"
    assert done.stderr == (
        "WARNING: the line 'requrements = true' was unused by condor_submit. Is it a typo?\n"
    )


def test_spooled_input_that_the_job_left_alone_is_not_fetched(
    pool: PersonalPool, work: Path
) -> None:
    (work / "s.sh").write_text("#!/bin/sh\necho more >> changed.txt\necho made > made.txt\n")
    (work / "s.sh").chmod(0o755)
    inputs = ("kept.txt", "changed.txt")
    for name in inputs:
        (work / name).write_text("spooled\n")
    (work / "s.sub").write_text(
        f"executable = s.sh\ntransfer_input_files = {','.join(inputs)}\n"
        "should_transfer_files = yes\nqueue\n"
    )
    done = run(pool, work, "condor_submit", "-terse", "-spool", "s.sub")
    assert done.returncode == 0, done.stderr
    cluster = done.stdout.split(".")[0]
    wait_for_status(pool, cluster, "4")
    (work / "kept.txt").write_text("the user's own\n")
    fetched = run(pool, work, "condor_transfer_data", cluster)
    assert fetched.returncode == 0, fetched.stderr
    assert (work / "kept.txt").read_text() == "the user's own\n"
    assert (work / "changed.txt").read_text() == "spooled\nmore\n"
    assert (work / "made.txt").read_text() == "made\n"


def test_input_that_cannot_be_spooled_is_told_as_the_reference_tells_it(
    pool: PersonalPool, work: Path
) -> None:
    (work / "m.sub").write_text(
        "executable = /bin/true\ntransfer_executable = false\nshould_transfer_files = YES\n"
        "transfer_input_files = gone.txt\nqueue\n"
    )
    done = run(pool, work, "condor_submit", "-spool", "m.sub")
    assert done.returncode == 1
    blank, why, last = done.stderr.rstrip("\n").split("\n")[-3:]
    assert not blank
    assert why.startswith("DCSchedd::spoolJobFiles:7002:File transfer failed for target job ")
    assert ".0: SUBMIT at " in why
    assert last == "ERROR: Failed to spool job files."


def test_spooled_output_that_did_not_arrive_can_be_fetched_again(
    pool: PersonalPool, work: Path
) -> None:
    (work / "s.sub").write_text(
        "executable = /bin/sh\narguments = \"-c 'echo made > made.txt'\"\n"
        "should_transfer_files = yes\nqueue\n"
    )
    cluster = run(pool, work, "condor_submit", "-terse", "-spool", "s.sub").stdout.split(".")[0]
    wait_for_status(pool, cluster, "4")
    (work / "made.txt").mkdir()
    failed = run(pool, work, "condor_transfer_data", cluster)
    assert failed.returncode == 1
    assert "made.txt" in failed.stderr
    assert ask_queue(pool, cluster, "JobStatus", "StageOutFinish") == [["4", "undefined"]]
    (work / "made.txt").rmdir()
    assert run(pool, work, "condor_transfer_data", cluster).returncode == 0
    assert (work / "made.txt").read_text() == "made\n"
    wait_until(lambda: ask_queue(pool, cluster, "JobStatus") == [], 30)


def test_output_that_is_named_and_not_there_is_no_success(pool: PersonalPool, work: Path) -> None:
    (work / "s.sub").write_text(
        "executable = /bin/true\nshould_transfer_files = yes\nrequirements = false\n"
        "transfer_output_files = later.txt\nqueue\n"
    )
    cluster = run(pool, work, "condor_submit", "-terse", "-spool", "s.sub").stdout.split(".")[0]
    failed = run(pool, work, "condor_transfer_data", cluster)
    assert (failed.returncode, failed.stdout) == (1, "Fetching data files...\n")
    blank, why, last = failed.stderr.rstrip("\n").split("\n")
    assert not blank
    start = "DCSchedd::receiveJobSandbox:7003:File transfer failed for target job "
    assert why.startswith(f"{start}{cluster}.0: SCHEDD at ")
    assert "later.txt: (errno 2) No such file or directory" in why
    assert last == "ERROR: Failed to spool job files."
    times = ask_queue(pool, cluster, "StageOutStart", "StageOutFinish")
    assert times == [["undefined", "undefined"]]
    run(pool, work, "condor_rm", cluster)


def test_a_job_whose_stream_cannot_be_opened_never_began(pool: PersonalPool, work: Path) -> None:
    (work / "n.sub").write_text(
        "executable = /bin/true\nshould_transfer_files = yes\nlog = n.log\n"
        "stream_output = true\noutput = nodir/s\nqueue\n"
    )
    cluster = run(pool, work, "condor_submit", "-terse", "n.sub").stdout.split(".")[0]
    wait_for_status(pool, cluster, "5")
    assert ask_queue(pool, cluster, "HoldReasonCode", "HoldReasonSubCode") == [["9", "0"]]
    log = (work / "n.log").read_text()
    assert "unable to establish standard output stream" in log
    assert "\n001 (" not in log
    run(pool, work, "condor_rm", cluster)


def test_spooled_output_is_fetched(pool: PersonalPool, work: Path) -> None:
    (work / "s.sh").write_text("#!/bin/sh\necho made > made.txt\necho said\n")
    (work / "s.sh").chmod(0o755)
    (work / "s.sub").write_text(
        "executable = s.sh\noutput = s.out\nlog = s.log\nshould_transfer_files = yes\nqueue\n"
    )
    done = run(pool, work, "condor_submit", "-terse", "-spool", "s.sub")
    assert done.returncode == 0, done.stderr
    cluster = done.stdout.split(".")[0]
    wait_for_status(pool, cluster, "4")
    fetched = run(pool, work, "condor_transfer_data", cluster)
    assert (fetched.returncode, fetched.stdout) == (0, "Fetching data files...\n"), fetched.stderr
    assert (work / "s.out").read_text() == "said\n"
    assert (work / "made.txt").read_text() == "made\n"

    def is_gone() -> bool:
        return run(pool, work, "condor_q", cluster, "-af", "ClusterId").stdout == ""

    # The next periodic look is a minute away.
    wait_until(is_gone, 10)


def test_output_that_is_fetched_onto_itself_stays_whole(pool: PersonalPool, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "u.sub").write_text(
        "executable = /bin/sh\ntransfer_executable = false\nleave_in_queue = true\n"
        "arguments = \"-c 'head -c 3000000 /dev/zero > big; mkdir d; echo x > d/f; echo said'\"\n"
        "should_transfer_files = yes\noutput = sub/o\ntransfer_output_files = big, d\nqueue\n"
    )
    cluster = run(pool, work, "condor_submit", "-terse", "u.sub").stdout.split(".")[0]
    wait_for_status(pool, cluster, "4")
    fetched = run(pool, work, "condor_transfer_data", cluster)
    assert (fetched.returncode, fetched.stdout) == (0, "Fetching data files...\n"), fetched.stderr
    assert (work / "big").read_bytes() == bytes(3000000)
    assert sorted(path.name for path in work.iterdir()) == ["big", "d", "o", "sub", "u.sub"]
    # As the reference has it: under its last part.
    assert (work / "o").read_text() == (work / "sub" / "o").read_text() == "said\n"
    started = ask_queue(pool, cluster, "StageOutStart", "StageOutFinish")
    assert "undefined" not in started[0]
    run(pool, work, "condor_rm", cluster)


@pytest.mark.parametrize(
    "tool",
    [
        "condor_q",
        "condor_history",
        "condor_tail",
        "condor_transfer_data",
        "condor_watch_q",
        "condor_run",
        "condor_ssh_to_job",
    ],
)
def test_tools_say_their_usage_and_refuse_unknown_options(
    pool: PersonalPool, work: Path, tool: str
) -> None:
    usage = run(pool, work, tool, "-help")
    # As the reference's: it takes -help for a wrong command line.
    assert usage.returncode == (tool == "condor_run")
    assert "usage" in (usage.stdout + usage.stderr).lower()
    version = run(pool, work, tool, "-version")
    assert version.stdout.startswith("$CondorVersion: 25.14.1")
    wrong = run(pool, work, tool, "-no-such-option")
    assert wrong.returncode != 0
    assert wrong.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("condor_ssh_to_job", "99"), "Unable to fetch job ad; is it still in the queue?\n"),
        (("condor_ssh_to_job", "{held}"), 'The job is on hold: "wait (by user '),
        (("condor_tail", "{held}"), 'The job is on hold: "wait (by user '),
        (
            ("condor_ssh_to_job", "{idle}"),
            "Job {idle}.0 is not running.\n(Use -auto-retry to keep trying periodically.)\n",
        ),
        (("condor_tail", "{idle}"), "Job {idle}.0 is not running.\n"),
        (("condor_tail", "99"), "No such job: 99.0\n"),
        (("condor_tail", "{beside}"), "Job {beside}.0 does not support remote access.\n"),
        (("condor_vacate_job", "-fast", "{idle}.0"), "Job {idle}.0 not running to be fast-vacated"),
    ],
)
def test_a_job_that_cannot_be_reached_is_told_as_the_reference_tells_it(
    pool: PersonalPool, work: Path, words: tuple[str, ...], sentence: str
) -> None:
    jobs = {}
    for name, text in {
        "idle": "requirements = NoSuchAttribute\n",
        "held": "requirements = NoSuchAttribute\n",
        "beside": "universe = scheduler\n",
    }.items():
        (work / name).write_text(f"executable = /bin/sleep\narguments = 60\n{text}queue\n")
        code, said, _ = run_tool(pool, "condor_submit", "-terse", str(work / name))
        assert code == 0
        jobs[name] = said.partition(".")[0]
    assert run_tool(pool, "condor_hold", "-reason", "wait", jobs["held"])[0] == 0
    done = run(pool, work, *(word.format(**jobs) for word in words))
    assert done.returncode == 1
    assert done.stderr.lstrip("\n").startswith(sentence.format(**jobs))
    assert run_tool(pool, "condor_rm", *jobs.values())[0] == 0


def test_a_schedd_that_is_not_there_is_an_error(pool: PersonalPool, work: Path) -> None:
    done = run(pool, work, "condor_q", "-name", "nowhere@nowhere")
    assert done.returncode == 1
    assert done.stderr == "Error: Collector has no record of schedd/submitter\n"
