"""What a hostile job leaves in its sandbox, or names in its submit file, harms its owner alone."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.records.event_log import read_events
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import daemon_pid, daemon_pids, run_tool, submit_as, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]

OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\nNUM_CPUS = 4\n"
DAEMONS = (
    "condor_master",
    "condor_collector",
    "condor_negotiator",
    "condor_schedd",
    "condor_startd",
)
SECRET = "the secret of the victim\n"
# What is to be brought home, and what is said of it where the job is held.
LINKED_FOLDER = "Transfer of symlinks to directories is not supported"
BROUGHT: dict[str, str | None] = {
    "linked": r"reading from file \S+/linked: \(errno (13\) Permission denied|2\) No such file)",
    "hard": r"reading from file \S+/hard: \(errno 2\) No such file or directory",
    "folder_of_links": LINKED_FOLDER,
    "endless": r"reading from file \S+/endless: \(errno 22\) Invalid argument",
    "inside": LINKED_FOLDER,
    "many/closed": r"reading from folder \S+/many/closed: \(errno 13\) Permission denied",
    # As in the reference: nothing, and a program of the owner's own.
    "inside/pipe": "",
    "many/shell": "",
    # A link or a file, as it was when the program was ended.
    "swapped": None,
}
# What a submit file may name, and why its job is held.
NAMED = {
    "log = {}/pipe": r"cannot open the event log \S+/pipe: No such device or address",
    "log = {}/link": r"cannot open the event log \S+/link: Permission denied",
    "output = {}/pipe": r"writing to file \S+/pipe: \(errno 6\) No such device or address",
    "output = {}/link": r"writing to file \S+/link: \(errno 13\) Permission denied",
    "input = {}/pipe": r"Failed to open '\S+/pipe' as standard input",
    "input = {}/link": r"reading from file \S+/link: \(errno 13\) Permission denied",
    "transfer_input_files = {}/link": r"reading from file \S+/link: \(errno 13\)",
    "transfer_input_files = {}/round": r"reading from file \S+/round: \(errno 40\)",
    "executable = {}/pipe": r"Failed to execute '\S+/pipe'",
}


def hostile(pool: PersonalPool, work: Path, secret: Path, brought: str) -> str:
    copy = work / "red_team_files.py"
    if not copy.exists():
        # Once: a job that was submitted before may be reading it.
        copy.write_text(Path(__file__).with_name("red_team_files.py").read_text())
        copy.chmod(0o644)
    daemons = ",".join(str(pid) for name in DAEMONS for pid in daemon_pids(pool, name))
    return (
        "executable = /usr/bin/env\n"
        f"arguments = python3 -I {copy} {secret} {daemons}\n"
        "transfer_executable = false\nshould_transfer_files = yes\noutput = out\nerror = err\n"
        f"transfer_output_files = {brought}\n+WantIOProxy = true\nmanifest = true\n"
        "request_memory = 100MB\nrequest_disk = 100MB\nqueue\n"
    )


@pytest.fixture
def secret(work: Path, make_account: Callable[[str], pwd.struct_passwd]) -> Path:
    """A file that nobody but its owner may read."""
    owner = make_account("v")
    (work / "secret").mkdir(mode=0o700)
    path = work / "secret" / "words"
    path.write_text(SECRET)
    path.chmod(0o600)
    for each in (path, path.parent):
        os.chown(each, owner.pw_uid, owner.pw_gid)
    return path


def pids_of(pool: PersonalPool) -> dict[str, int]:
    return {name: daemon_pid(pool, name) for name in DAEMONS}


def has_ended(log: Path) -> bool:
    """Whether a job has come to an end, or is held."""
    if not log.exists():
        return False
    return not {5, 9, 12}.isdisjoint(e.number for e in read_events(log.read_bytes(), year=2026))


def assert_nothing_of_others(work: Path, secret: Path) -> None:
    for folder, _, names in os.walk(work):
        for path in (Path(folder, name) for name in names):
            if path != secret and path.is_file() and not path.is_symlink():
                assert SECRET.encode() not in path.read_bytes(), path


def test_what_a_job_leaves_in_its_sandbox_brings_nothing_of_others_home(
    tmp_path: Path, work: Path, secret: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    mallory = make_account("m")
    with personal_pool(tmp_path, OPEN) as pool:
        before = pids_of(pool)
        logs = {
            brought: submit_as(
                pool, mallory, work / str(number), hostile(pool, work, secret, brought)
            )
            for number, brought in enumerate(BROUGHT)
        }
        for brought, log in logs.items():
            wait_until(lambda log=log: has_ended(log), 120)  # type: ignore[misc]
            said = log.read_text()
            wanted = BROUGHT[brought]
            if wanted is not None:
                assert ("\n012 (" in "\n" + said) == bool(wanted), (brought, said[-900:])
                assert re.search(wanted, said), (brought, said[-900:])
            assert (log.parent / "err").read_text() == ""
            assert (log.parent / "out").read_text() == "tried everything\n"
        assert_nothing_of_others(work, secret)
        assert secret.read_text() == SECRET
        home = Path(pool.folder) / "execute"
        wait_until(lambda: not list(home.glob("dir_*")), 60)
        assert pids_of(pool) == before


def test_what_a_submit_file_names_is_opened_as_its_owner_and_keeps_nobody_waiting(
    tmp_path: Path, work: Path, secret: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    mallory, alice = make_account("m"), make_account("a")
    for name, target in (("link", secret), ("round", Path("round"))):
        (work / name).symlink_to(target)
    os.mkfifo(work / "pipe")
    (work / "pipe").chmod(0o666)
    with personal_pool(tmp_path, OPEN) as pool:
        before = pids_of(pool)
        for number, line in enumerate(NAMED):
            text = (
                "executable = /bin/true\nshould_transfer_files = yes\n"
                f"transfer_executable = false\n{line.format(work)}\nbatch_name = m{number}\n"
                "request_memory = 10MB\nrequest_disk = 1MB\nqueue\n"
            )
            submit_as(pool, mallory, work / f"m{number}", text)
        # Nobody waits for a pipe that has no other end.
        good = submit_as(pool, alice, work / "alice", "executable = /bin/true\nqueue\n")
        wait_until(lambda: has_ended(good), 60)
        assert "\n005 (" in good.read_text()
        asked = ("condor_q", "-all", "-constraint", "JobStatus == 5", "-af", "JobBatchName")
        wait_until(lambda: run_tool(pool, *asked)[1].count("m") == len(NAMED), 60)
        reasons = run_tool(pool, *asked, "HoldReason")[1].splitlines()
        held = dict(each.split(" ", 1) for each in reasons if each.startswith("m"))
        for number, (line, wanted) in enumerate(NAMED.items()):
            assert re.search(wanted, held[f"m{number}"]), (line, held[f"m{number}"])
        assert pids_of(pool) == before
        assert secret.read_text() == SECRET
        assert_nothing_of_others(work, secret)


def test_a_pipe_among_unwanted_checkpoints_keeps_the_schedd_from_nobody(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    """The folder where they wait is their owner's, and its name can be guessed."""
    mallory, alice = make_account("m"), make_account("a")
    (work / "shelf").mkdir()
    (work / "shelf").chmod(0o777)
    script = "if [ -e state ]; then exit 0; fi; echo 1 > state; exit 85"
    text = (
        f"executable = /bin/sh\narguments = \"-c '{script}'\"\ntransfer_executable = false\n"
        "should_transfer_files = yes\ncheckpoint_exit_code = 85\n"
        f"transfer_checkpoint_files = state\ncheckpoint_destination = file://{work}/shelf\n"
        "request_memory = 10MB\nrequest_disk = 1MB\nqueue\n"
    )
    with personal_pool(tmp_path, OPEN) as pool:
        before = pids_of(pool)
        owners = Path(pool.folder) / "spool/checkpoint-cleanup" / mallory.pw_name
        first = submit_as(pool, mallory, work / "first", text)
        wait_until(lambda: has_ended(first) and owners.exists(), 60)
        (event, *_) = read_events(first.read_bytes(), year=2026)
        names = (f"{owners}/cluster{event.cluster + n}.proc0.subproc0" for n in range(1, 9))
        trap = " && ".join(f"mkdir {name} && mkfifo {name}/.job.ad" for name in names)
        subprocess.run(["/bin/sh", "-c", trap], user=mallory.pw_uid, cwd="/", check=True)
        second = submit_as(pool, mallory, work / "second", text)
        wait_until(lambda: has_ended(second), 60)
        (event, *_) = read_events(second.read_bytes(), year=2026)
        trapped = owners / f"cluster{event.cluster}.proc0.subproc0"
        # The ad has taken the pipe's place.
        wait_until((trapped / ".job.ad").is_file, 20)
        good = submit_as(pool, alice, work / "alice", "executable = /bin/true\nqueue\n")
        wait_until(lambda: has_ended(good), 60)
        assert pids_of(pool) == before
