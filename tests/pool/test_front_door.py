"""The `kettle` command against a real pool, as a new user would use it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.pool.personal import PersonalPool
from kettle.runtime.process.liveness import is_zombie
from kettle.testing.pool_fixture import wait_until_gone
from kettle.tools.front import place, up, watch
from kettle.tools.front.batch import call_tool
from kettle.tools.front.progress import PATIENCE_SECONDS
from kettle.tools.kettle import main
from kettle.tools.programs import Streams
from pool_jobs import (
    ask_queue,
    daemon_pid,
    daemon_pids,
    programs_of,
    start_kettle,
    submit,
    wait_until,
)

HERE = Path(__file__).parent


def kettle(
    *words: str, environment: dict[str, str] | None = None, stdin: str = ""
) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO())
    code = main(["kettle", *words], environment or dict(os.environ), streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A pool for the whole module, in a folder that the account of jobs can reach."""
    top = Path(tempfile.mkdtemp(prefix="kettle-front-"))
    top.chmod(0o755)
    pool = top / "pool"
    code, said, complaint = kettle("up", "--dir", str(pool))
    assert code == 0, complaint
    assert "is up" in said
    yield pool
    PersonalPool(str(pool)).stop(how="fast")
    shutil.rmtree(top, ignore_errors=True)


def test_up_again_says_that_it_is_up(folder: Path) -> None:
    assert kettle("up", "--dir", str(folder)) == (0, f"The pool in {folder} is up.\n", "")


def test_up_with_another_configuration_names_kettle_down(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conf"
    other.write_text("NUM_CPUS = 3\n")
    code, _, complaint = kettle("up", "--dir", str(folder), "--config", str(other))
    assert code == 1
    assert "kettle down" in complaint


def test_up_with_a_taken_port_says_so_in_one_sentence_and_leaves_nothing_up(
    folder: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        asked = tmp_path / "port.conf"
        asked.write_text(f"COLLECTOR_HOST = 127.0.0.1:{port}\n")
        place = folder.parent / "taken"
        code, said, complaint = kettle("up", "--dir", str(place), "--config", str(asked))
    assert (code, said) == (1, "")
    assert complaint.count("\n") == 1
    assert complaint.count(f"cannot listen on 127.0.0.1 port {port}: Address already in use") == 1
    assert PersonalPool(str(place)).master_pid() is None


def test_up_whose_sandboxes_cannot_be_made_says_so_and_leaves_nothing_up(
    folder: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "execute.conf"
    # Nobody makes a folder there.
    asked.write_text("EXECUTE = /proc/nope\n")
    place = folder.parent / "unwritable"
    code, said, complaint = kettle("up", "--dir", str(place), "--config", str(asked))
    sentence = "EXECUTE, /proc/nope, cannot be written"
    hint = "DAEMON_LIST without STARTD makes a pool that has no machine of its own"
    wanted = f"kettle: no job can run here: {sentence} ({hint})\n"
    assert (code, said, complaint) == (1, "", wanted)
    assert PersonalPool(str(place)).master_pid() is None
    # A queue that is there already is wanted for itself, and so is one whose jobs run elsewhere.
    try:
        assert kettle("up", "--dir", str(place))[0] == 0
        assert kettle("down", "--dir", str(place))[0] == 0
        (place / "config.d" / "execute").write_text(asked.read_text())
        code, said, complaint = kettle("up", "--dir", str(place))
        assert (code, complaint) == (0, f"no job can run on this machine: {sentence}\n")
        assert said.startswith(f"The pool in {place} is up (")
    finally:
        kettle("down", "--dir", str(place), "--fast", "--purge")


def test_a_pool_whose_configuration_is_gone_is_stopped_and_brought_up_with_its_queue(
    tmp_path: Path,
) -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-lost-"))
    top.chmod(0o755)
    pool = PersonalPool(str(top / "p"))
    gone = f"the pool in {pool.folder} is up, and its condor_config is gone"
    hint = "kettle down, and kettle up with the options that it was made with"
    try:
        pool.make()
        pool.start()
        submit(pool, tmp_path / "jobs", "executable = /bin/true\nhold = true\nqueue 2\n")
        (top / "p/condor_config").unlink()
        for subcommand in ("status", "up"):
            code, said, complaint = kettle(subcommand, "--dir", pool.folder)
            assert (code, said, complaint) == (1, "", f"kettle: {gone} ({hint})\n")
        code, said, _ = kettle("down", "--dir", pool.folder)
        assert (code, said.splitlines()[0]) == (0, f"The pool in {pool.folder} is down.")
        code, said, complaint = kettle("up", "--dir", pool.folder)
        assert code == 0, complaint
        assert complaint == (
            f"the condor_config of the pool in {pool.folder} is gone, and is written anew: what it "
            "said beyond this command line is lost\n"
        )
        assert ask_queue(pool, "-all", "JobStatus") == [["5"], ["5"]]
    finally:
        pool.stop(how="fast")
        shutil.rmtree(top)


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("exit 3", "the pool does not come up: MasterLog: SCHEDD exited with status 3"),
        ("exec sleep 300", "the pool is not up in time, waiting for SCHEDD: no log says why"),
    ],
)
def test_up_says_which_daemon_it_waits_for_and_how_that_one_ends(
    folder: Path, tmp_path: Path, program: str, complaint: str
) -> None:
    odd = folder.parent / "odd_schedd"
    odd.write_text(f"#!/bin/sh\n{program}\n")
    odd.chmod(0o755)
    asked = tmp_path / "odd.conf"
    asked.write_text(f"SCHEDD = {odd}\n")
    place = folder.parent / "odd"
    code, said, heard = kettle("up", "--dir", str(place), "--config", str(asked))
    logs = f"(the logs are in {place}/log)"
    assert (code, said, heard) == (1, "", f"kettle: {complaint} {logs}\n")


def test_up_that_fails_in_a_pool_that_was_there_leaves_nothing_trying_and_the_pool_as_it_was(
    tmp_path: Path,
) -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-again-"))
    top.chmod(0o755)
    pool = PersonalPool(str(top / "p"))
    try:
        pool.make()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            (top / "p/config.d/port").write_text(f"COLLECTOR_HOST = 127.0.0.1:{port}\n")
            code, said, complaint = kettle("up", "--dir", pool.folder)
        assert (code, said) == (1, "")
        assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in complaint
        assert pool.master_pid() is None
        wait_until_gone(pool)
        assert pool.exists()
    finally:
        pool.stop(how="fast")
        shutil.rmtree(top)


def test_a_pool_that_refuses_who_starts_it_says_so_at_once_and_keeps_its_logs() -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-"))
    top.chmod(0o755)
    try:
        (top / "tokens").write_text(
            "SEC_DEFAULT_AUTHENTICATION_METHODS = IDTOKENS\n"
            f"SEC_TOKEN_POOL_SIGNING_KEY_FILE = {top}/none/POOL\n"
        )
        began = time.monotonic()
        code, said, complaint = kettle("up", "--dir", f"{top}/p", "--config", f"{top}/tokens")
        assert time.monotonic() - began < 25
        assert (code, said) == (1, "")
        assert "accepted no method (tried: IDTOKENS)" in complaint
        assert "MasterLog: No tokens can be signed" in complaint
        assert f"(the logs are in {top}/p/log)" in complaint
        assert (top / "p/log/MasterLog").exists()
        assert not PersonalPool(f"{top}/p").exists()
    finally:
        shutil.rmtree(top)


@pytest.mark.parametrize("below", ["", "/p"])
def test_a_file_is_no_folder_for_a_pool(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    code, said, complaint = kettle("up", "--dir", f"{tmp_path}/file{below}")
    hint = "choose another folder with --dir"
    assert (code, said, complaint) == (1, "", f"kettle: {tmp_path}/file is no folder ({hint})\n")


def test_up_with_a_broken_configuration_names_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.conf"
    broken.write_text("A = 1\nthis is not valid\n")
    code, _, complaint = kettle("up", "--dir", str(tmp_path / "p"), "--config", str(broken))
    assert code == 1
    assert f"{broken}, line 2" in complaint
    assert "this is not valid" in complaint
    assert not (tmp_path / "p").exists()


def test_up_names_the_given_file_that_names_a_daemon_that_there_is_not(
    folder: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.conf", tmp_path / "second.conf"
    first.write_text("A = 1\nB = 2\n")
    second.write_text("\nDAEMON_LIST = $(DAEMON_LIST) BOGUSD\n")
    given = ["--config", str(first), "--config", str(second)]
    code, _, complaint = kettle("up", "--dir", str(folder.parent / "bogus"), *given)
    assert code == 1
    assert f"{second}, line 2: DAEMON_LIST names BOGUSD" in complaint


def test_env_prints_lines_that_a_shell_takes(folder: Path) -> None:
    code, said, _ = kettle("env", "--dir", str(folder))
    assert code == 0
    assert f"export CONDOR_CONFIG={folder}/condor_config\n" in said
    # Those that choose a folder themselves choose the same.
    assert f"export KETTLE_DIR={folder}\n" in said


def test_run_gives_back_the_job_s_output_and_exit_code(folder: Path) -> None:
    where = ["--dir", str(folder)]
    assert kettle("run", *where, "--", "echo", "hello there")[:2] == (0, "hello there\n")
    assert kettle("run", *where, "--", "sh", "-c", "exit 7")[0] == 7
    code, out, err = kettle("run", *where, "--", "sh", "-c", "echo no >&2; kill -9 $$")
    assert (code, out, err) == (137, "", "no\n")


def test_run_passes_on_what_condor_submit_says_of_an_option(folder: Path) -> None:
    where = ["--dir", str(folder)]
    code, said, complaint = kettle("run", *where, "--set", "prioritty=3", "--", "echo", "done")
    assert (code, said) == (0, "done\n")
    assert "'prioritty = 3'" in complaint
    code, _, complaint = kettle("run", *where, "--set", "foo bar", "--", "echo", "done")
    assert code == 1
    assert "of the jobs' description: " in complaint
    assert "; ;" not in complaint


def test_run_says_why_a_job_that_fits_no_machine_waits_and_waits_on(folder: Path) -> None:
    process = start_kettle("run", "--dir", str(folder), "--memory", "900GB", "--", "true")
    assert process.stderr is not None
    began = time.monotonic()
    line = process.stderr.readline()
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert re.match(
        r"No job has begun yet\. Job \d+\.0: It is idle because no slot meets .*Mem", line
    )
    assert "It would match with RequestMemory <= " in line
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "have been removed" in rest


def test_run_makes_one_job_of_each_line(folder: Path) -> None:
    lines = "alpha\nbeta gamma\nit's\n\n"
    code, said, _ = kettle(
        "run", "--dir", str(folder), "--each-line", "-", "--", "echo", "<{}>", stdin=lines
    )
    assert code == 0
    assert sorted(said.splitlines()) == ["<alpha>", "<beta gamma>", "<it's>"]


def test_run_gives_the_command_every_line_as_it_is(folder: Path) -> None:
    lines = ["$(x)", "$$(Nope)", "# hash", "  blanks  ", ")", "back\\", "$ENV(HOME) $$", 'a"b']
    code, said, complaint = kettle(
        *("run", "--dir", str(folder), "--json", "--each-line", "-", "--"),
        *("sh", "-c", 'printf %s "$1"', "sh", "{}"),
        stdin="\n".join(lines) + "\n\n",
    )
    assert code == 0, complaint
    assert [row["output"] for row in json.loads(said)] == lines
    words = ("echo", "$$(date) $(x) $$")
    assert kettle("run", "--dir", str(folder), "--", *words) == (0, f"{words[-1]}\n", "")


def test_run_sends_files_of_any_name_along(folder: Path, tmp_path: Path) -> None:
    names = ["#1.txt", "$$(Nope).txt", "$(dollar).txt", "a b.txt", "com,ma.txt", "it's.txt"]
    for name in names:
        (tmp_path / name).write_text(name)
    code, said, complaint = kettle(
        "run", "--dir", str(folder), "--json", "--each-file", f"{tmp_path}/*.txt", "--", "cat", "{}"
    )
    assert code == 0, complaint
    assert [row["output"] for row in json.loads(said)] == names


def test_up_prints_lines_that_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(up, "_bring_up", lambda *_: False)
    place = tmp_path / "p with space"
    code, said, complaint = kettle("up", "--dir", str(place))
    assert code == 0, complaint
    assert f"""eval "$(kettle env --dir '{place}')"\n""" in said
    assert f"kettle down --dir '{place}'\n" in said


def test_run_sends_each_file_along(folder: Path, tmp_path: Path) -> None:
    for name, text in (("one.txt", "1\n2\n"), ("two.txt", "3\n")):
        (tmp_path / name).write_text(text)
    code, said, complaint = kettle(
        "run", "--dir", str(folder), "--json", "--each-file", f"{tmp_path}/*.txt", "--", "cat", "{}"
    )
    assert code == 0, complaint
    assert [row["output"] for row in json.loads(said)] == ["1\n2\n", "3\n"]


def test_run_fails_with_one_if_any_of_many_failed(folder: Path) -> None:
    code, _, complaint = kettle(
        "run", "--dir", str(folder), "--each-line", "-", "--", "sh", "-c", "exit {}", stdin="0\n3\n"
    )
    assert code == 1
    assert "ended with code 3" in complaint


def test_run_leaves_no_job_when_nobody_reads_what_it_shows(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("0\n300\n301\n")
    words = ("--each-line", str(tmp_path / "lines"), "--", "sh", "-c", "echo shown; sleep {}")
    with start_kettle("run", "--dir", str(folder), "--quiet", *words) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.wait(60) == 141
    environment = {**os.environ, "CONDOR_CONFIG": f"{folder}/condor_config"}
    asleep = ["-constraint", 'regexp("sleep", Arguments)', "-af", "Arguments"]
    # They leave the queue when what they run has ended.
    wait_until(lambda: call_tool("condor_q", asleep, environment) == (0, "", ""), 20)


def test_run_says_why_a_job_could_not_start(folder: Path) -> None:
    code, _, complaint = kettle("run", "--dir", str(folder), "--", "no-such-program-anywhere")
    assert code == 127
    assert "no-such-program-anywhere" in complaint
    code, _, complaint = kettle("run", "--dir", str(folder), "--", "./not-here")
    assert code == 1
    assert "not-here" in complaint


def test_status_shows_daemons_slots_and_queue(folder: Path) -> None:
    code, said, _ = kettle("status", "--dir", str(folder))
    assert code == 0
    assert "slot1@" in said
    facts = json.loads(kettle("status", "--dir", str(folder), "--json")[1])
    assert sorted(facts["daemons"]) == ["collector", "master", "negotiator", "schedd", "startd"]


def test_why_names_the_condition_that_no_slot_meets(folder: Path, tmp_path: Path) -> None:
    from kettle.tools.submitting.condor_submit import main as submit

    path = tmp_path / "job.sub"
    path.write_text("executable = /bin/true\nrequest_cpus = 4000\nqueue\n")
    environment = {**os.environ, "CONDOR_CONFIG": f"{folder}/condor_config"}
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert submit(["condor_submit", "-terse", str(path)], environment, streams) == 0
    job = streams.stdout.getvalue().split(" ")[0]  # type: ignore[attr-defined]
    code, said, _ = kettle("why", "--dir", str(folder), job)
    assert code == 0
    assert "no slot meets" in said
    assert "RequestCpus" in said


def test_why_of_a_job_that_never_was(folder: Path) -> None:
    code, _, complaint = kettle("why", "--dir", str(folder), "999999.0")
    assert code == 1
    assert "there is no job 999999.0" in complaint


def test_doctor_finds_nothing_that_keeps_jobs_from_running(folder: Path) -> None:
    code, said, _ = kettle("doctor", "--dir", str(folder), "--json")
    assert code == 0, said
    assert {row["check"]: row["state"] for row in json.loads(said)}["pool"] == "ok"


@contextlib.contextmanager
def setting(folder: Path, text: str) -> Iterator[None]:
    """A file of settings in the pool's own folder for them, for a while."""
    file = folder / "config.d" / "zz-test"
    file.write_text(text)
    try:
        yield
    finally:
        file.unlink()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("no assignment\n", 1, "neither an assignment nor a statement"),
        ("NEGOTIATOR_INTERVAL = often\n", 1, "NEGOTIATOR_INTERVAL"),
        ("NEGOTIATOR_INTERVALL = 5\n", 0, "did you mean NEGOTIATOR_INTERVAL?"),
        ("SPOOL = /no/such/place\n", 1, "mkdir -p /no/such/place"),
    ],
)
def test_doctor_finds_what_is_wrong_with_the_settings(
    folder: Path, text: str, code: int, said: str
) -> None:
    with setting(folder, text):
        found, page, _ = kettle("doctor", "--dir", str(folder))
    assert said in page
    assert found == code


def test_doctor_names_a_daemon_that_does_not_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "ANSWER_SECONDS", 0.5)
    pool = PersonalPool(str(folder))
    negotiator = daemon_pid(pool, "condor_negotiator")
    os.kill(negotiator, signal.SIGSTOP)
    try:
        code, page, _ = kettle("doctor", "--dir", str(folder))
    finally:
        os.kill(negotiator, signal.SIGCONT)
    assert code == 1
    assert "the negotiator does not answer" in page
    assert "condor_restart -daemon negotiator" in page


def test_status_and_watch_say_which_daemon_stands_still(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "select", SimpleNamespace(select=interrupt))
    schedd = daemon_pid(PersonalPool(str(folder)), "condor_schedd")
    os.kill(schedd, signal.SIGSTOP)
    try:
        code, page, _ = kettle("status", "--dir", str(folder))
        facts = json.loads(kettle("status", "--dir", str(folder), "--json")[1])
        watched = json.loads(kettle("watch", "--dir", str(folder), "--json")[1])
    finally:
        os.kill(schedd, signal.SIGCONT)
    assert code == 1
    assert watched["silent"] == facts["silent"]
    assert "does not answer" in page
    assert "queue: not known" in page
    assert list(facts["silent"]) == ["schedd"]
    assert len(facts["troubles"]) == 1
    assert facts["troubles"][0].startswith("the schedd ")
    assert kettle("status", "--dir", str(folder))[0] == 0


def test_why_says_that_the_pool_is_full_and_who_goes_first(folder: Path, tmp_path: Path) -> None:
    inside = {**os.environ, "CONDOR_CONFIG": str(folder / "condor_config")}

    def submit(name: str, *lines: str) -> str:
        file = tmp_path / name
        common = ["executable = /bin/sleep", "arguments = 300", "transfer_executable = false"]
        file.write_text("\n".join([*common, *lines, "queue", ""]))
        code, said, complaint = call_tool("condor_submit", ["-terse", str(file)], inside)
        assert code == 0, complaint
        return said.split(".")[0]

    def why(job: str) -> str:
        return kettle("why", "--dir", str(folder), job)[1].splitlines()[0]

    cpus = call_tool("condor_status", ["-af", "TotalSlotCpus"], inside)[1].split()[0]
    clusters = [submit("full", f"request_cpus = {cpus}")]
    try:
        clusters += [submit("waits"), submit("waits-longer", "priority = -1")]
        full = "1 of 1 slot would take it if nothing else ran there"
        wait_until(lambda: full in why(clusters[1]), 5, lambda: why(clusters[1]))
        assert "first (by priority, then age)" in why(clusters[2])
    finally:
        call_tool("condor_rm", clusters, inside)


def test_without_a_pool_the_error_says_what_to_do(tmp_path: Path) -> None:
    code, _, complaint = kettle("status", "--dir", str(tmp_path / "nothing"))
    assert code == 1
    assert "kettle up" in complaint


def test_down_and_purge_leave_nothing(tmp_path: Path) -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-purge-"))
    top.chmod(0o755)
    try:
        assert kettle("up", "--dir", str(top / "p"))[0] == 0
        code, said, _ = kettle("down", "--dir", str(top / "p"), "--purge", "--json")
        assert code == 0
        facts = json.loads(said)
        del facts["running_jobs"]
        assert facts.pop("left_behind") == {"ended": 0, "staying": []}
        assert facts == {"folder": str(top / "p"), "stopped": True, "purged": True, "left": {}}
        assert list(top.iterdir()) == []
    finally:
        shutil.rmtree(top)


def test_down_says_what_becomes_of_running_jobs(tmp_path: Path) -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-running-"))
    top.chmod(0o755)
    folder = ["--dir", str(top / "p")]
    inside = {**os.environ, "CONDOR_CONFIG": str(top / "p" / "condor_config")}

    def running() -> list[str]:
        words = ["-constraint", "JobStatus == 2", "-af", "ProcId", "NumJobStarts"]
        return call_tool("condor_q", words, inside)[1].splitlines()

    def show() -> str:
        return "; ".join(running())

    try:
        assert kettle("up", *folder)[0] == 0
        lines = ["executable = /bin/sleep", "arguments = 300", "transfer_executable = false"]
        (top / "job").write_text("\n".join([*lines, "queue 2", ""]))
        assert call_tool("condor_submit", [str(top / "job")], inside)[0] == 0
        wait_until(lambda: running() == ["0 1", "1 1"], 30, show)
        code, said, _ = kettle("down", *folder)
        assert code == 0
        again = "Running jobs stopped: 2 (1.0, 1.1). The next 'kettle up' starts them again."
        assert said.splitlines()[1:] == [again]
        # As it said.
        assert kettle("up", *folder)[0] == 0
        wait_until(lambda: running() == ["0 2", "1 2"], 30, show)
        code, said, _ = kettle("down", *folder, "--fast", "--purge", "--json")
        assert code == 0
        jobs = json.loads(said)["running_jobs"]
        assert jobs["stopped"] == ["1.0", "1.1"]
        assert (jobs["left_running"], jobs["restarted_by_next_up"]) == ([], False)
    finally:
        kettle("down", *folder, "--fast")
        shutil.rmtree(top)


def test_down_says_which_job_it_waits_for_and_why_what_is_wrong_with_a_log(tmp_path: Path) -> None:
    top = Path(tempfile.mkdtemp(prefix="kettle-stubborn-"))
    top.chmod(0o755)
    folder = ["--dir", str(top / "p")]
    inside = {**os.environ, "CONDOR_CONFIG": str(top / "p" / "condor_config")}
    work = top / "work"
    work.mkdir()
    work.chmod(0o777)
    (work / "stubborn").write_text("#!/bin/sh\ntrap '' TERM\n: >ready\nsleep 300\nsleep 300\n")
    (work / "stubborn").chmod(0o755)
    (work / "job").write_text(
        f"universe = scheduler\nexecutable = {work}/stubborn\ninitialdir = {work}\nqueue\n"
    )
    try:
        # Shorter than what a job beside the schedd has otherwise, and than what a stop takes.
        (top / "soon").write_text("SHUTDOWN_GRACEFUL_TIMEOUT = 7\n")
        assert kettle("up", *folder, "--config", str(top / "soon"))[0] == 0
        assert call_tool("condor_submit", [str(work / "job")], inside)[0] == 0
        wait_until((work / "ready").exists, 30)
        # Of a job that cannot run its log's trouble is known as well.
        (work / "idle").write_text(
            f"executable = /bin/true\nlog = {work}/log\nrequest_cpus = 4000\nqueue\n"
        )
        assert call_tool("condor_submit", [str(work / "idle")], inside)[0] == 0
        (work / "log").unlink()
        (work / "log").mkdir()
        trouble = f"cannot open the event log {work}/log: Is a directory (errno 21)."
        assert trouble in kettle("why", *folder, "2.0")[1]
        code, said, complaint = kettle("down", *folder)
        assert code == 0
        assert complaint.startswith("Waiting for running jobs to leave: 1 (1.0). ")
        assert "all of them after 7 s (SHUTDOWN_GRACEFUL_TIMEOUT)" in complaint
        assert said.splitlines()[1].startswith("Running jobs stopped: 1 (1.0).")
    finally:
        kettle("down", *folder, "--fast")
        shutil.rmtree(top)


def test_the_demonstration_measures_the_standard_library() -> None:
    code, said, complaint = kettle("demo", "--json")
    assert code == 0, complaint
    packages = {row["package"]: row for row in json.loads(said)["packages"]}
    assert packages["json"]["files"] == 5
    assert packages["json"]["lines"] > 1000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demonstration_that_is_ended_leaves_no_pool(
    folder: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(folder.parent))

    def pools() -> list[Path]:
        return list(folder.parent.glob("kettle-demo-*"))

    with start_kettle("demo", "--json") as running:
        wait_until(lambda: any((pool / "log/SchedLog").exists() for pool in pools()), 30)
        [pool] = pools()
        masters = daemon_pids(PersonalPool(str(pool)), "condor_master")
        assert len(masters) == 1
        running.send_signal(number)
        running.communicate(timeout=100)
    assert running.returncode == 130
    assert pools() == []
    wait_until(lambda: is_zombie(masters[0]), 20)


def test_ctrl_c_ends_a_command_that_does_not_want_to_end(folder: Path) -> None:
    notes = folder.parent / "notes"
    notes.mkdir(mode=0o777, exist_ok=True)
    notes.chmod(0o777)
    script = f"trap : TERM HUP INT; : >{notes}/ready; while :; do sleep 0.1; done"
    with start_kettle("run", "--dir", str(folder), "--", "sh", "-c", script) as running:
        wait_until((notes / "ready").exists, 30)
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=100)
    assert running.returncode == 130
    assert "have been removed" in complaint
    wait_until(lambda: not programs_of(f": >{notes}/ready"), 30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_as_it_begins_leaves_no_job(folder: Path, number: int) -> None:
    lines = folder.parent / "lines"
    lines.write_text("".join(f"{line}\n" for line in range(1000)))
    inside = place.pool_environment(str(folder), os.environ)

    def nothing_is_queued() -> bool:
        return "4711" not in call_tool("condor_q", ["-af", "Args", "Arguments"], inside)[1]

    kettle_run = ("run", "--dir", str(folder), "--each-line", str(lines), "--", "sleep", "4711")
    for tenths in range(1, 9, 2):
        with start_kettle(*kettle_run) as running:
            time.sleep(tenths / 10)
            running.send_signal(number)
            # As where a process and its group are told.
            time.sleep(0.002)
            running.send_signal(number)
            running.communicate(timeout=100)
        wait_until(nothing_is_queued, 30)
