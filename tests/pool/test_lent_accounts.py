"""Owners whom only a token vouches for: what is theirs on the access point is nobody else's."""

from __future__ import annotations

import io
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.runtime.process.lent_accounts import read_register
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams, load_tool
from pool_jobs import ask_queue, daemon_pid, log_text, run_tool, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]

OPEN = "ALLOW_WRITE = *\nALLOW_READ = *\nUID_DOMAIN = here\nNUM_CPUS = 3\n"
LINES = "executable = job.sh\nlog = log\noutput = out\nerror = err\nrequest_disk = 1MB\n"
SECRET = "a secret of alice's"


class Guest:
    """Somebody without an account on the machine, with a token and a folder elsewhere."""

    def __init__(self, pool: PersonalPool, user: str, folder: Path) -> None:
        self.pool, self.user, self.folder = pool, user, folder
        code, token, complaint = run_tool(pool, "condor_token_create", "-identity", user)
        assert code == 0, complaint
        tokens = folder / "tokens"
        tokens.mkdir(parents=True, mode=0o700)
        (tokens / "one").write_text(token)
        (tokens / "one").chmod(0o600)
        self._around = {
            "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS": "IDTOKENS",
            "_CONDOR_SEC_TOKEN_DIRECTORY": str(tokens),
        }

    @property
    def uid(self) -> int:
        """The uid that he is lent, once he has submitted anything."""
        text = Path(self.pool.folder, "spool", "lent_accounts").read_text()
        return read_register(text).uids[self.user]

    def run(self, tool: str, *words: str) -> str:
        """Run a tool as the guest; return what it said."""
        said = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        code = load_tool(tool)([tool, *words], {**self.pool.environment(), **self._around}, said)
        assert isinstance(said.stdout, io.StringIO)
        assert isinstance(said.stderr, io.StringIO)
        assert code == 0, said.stderr.getvalue()
        return said.stdout.getvalue()

    def submit(self, script: str, lines: str = "", *, spooled: bool = True) -> str:
        """Queue a job that runs a shell script; return its cluster's id."""
        (self.folder / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / "job.sh").chmod(0o755)
        text = f"initialdir = {self.folder}\n{LINES.replace('job.sh', str(self.folder / 'job.sh'))}"
        (self.folder / "job.sub").write_text(f"{text}{lines}\nqueue\n")
        words = ("-spool",) if spooled else ()
        said = self.run("condor_submit", "-terse", *words, str(self.folder / "job.sub"))
        return said.split(".")[0]

    def has_status(self, cluster: str, status: int) -> bool:
        """Whether a job has come to a status."""
        return ask_queue(self.pool, cluster, "JobStatus") == [[str(status)]]


def owners_below(folder: Path) -> set[tuple[int, int]]:
    """Return whose a folder and all in it are."""
    return {(each.lstat().st_uid, each.lstat().st_gid) for each in (folder, *folder.rglob("*"))}


def test_who_has_no_account_submits_and_fetches(tmp_path: Path) -> None:
    with personal_pool(tmp_path, OPEN) as pool:
        alice = Guest(pool, "ktalice@here", tmp_path / "alice")
        (alice.folder / "in").write_text("what goes in\n")
        job = alice.submit("id -un; cat in; echo made >result", "transfer_input_files = in\n")
        wait_until(lambda: alice.has_status(job, 4), 30, lambda: log_text(pool, "ShadowLog"))
        (spooled,) = Path(pool.folder, "spool").glob(f"{int(job) % 10000}/0/cluster{job}.*")
        assert owners_below(spooled) == {(alice.uid, alice.uid)}
        assert stat.S_IMODE(spooled.stat().st_mode) & 0o077 == 0
        alice.run("condor_transfer_data", job)
        assert (alice.folder / "out").read_text() == "nobody\nwhat goes in\n"
        assert (alice.folder / "result").read_text() == "made\n"
        assert "\n005 (" in (alice.folder / "log").read_text()
        told = f"there is no account 'ktalice' on this machine; it is lent the uid {alice.uid}"
        assert told in log_text(pool, "ShadowLog")


def test_files_of_who_has_no_account_are_transferred_also_on_the_access_point_s_own_host(
    tmp_path: Path,
) -> None:
    with personal_pool(tmp_path, f"{OPEN}FILESYSTEM_DOMAIN = here\n") as pool:
        alice = Guest(pool, "ktalice@here", tmp_path / "alice")
        lines = "should_transfer_files = if_needed\ntransfer_input_files = in\n"
        (alice.folder / "in").write_text("what goes in\n")
        job = alice.submit("id -un; cat in; echo made >result", lines)
        wait_until(
            lambda: alice.has_status(job, 4), 30, lambda: str(ask_queue(pool, job, "HoldReason"))
        )
        assert ask_queue(pool, job, "ShouldTransferFiles") == [["YES"]]
        alice.run("condor_transfer_data", job)
        assert (alice.folder / "out").read_text() == "nobody\nwhat goes in\n"
        assert (alice.folder / "result").read_text() == "made\n"


ATTACKS = {
    "input": "transfer_input_files = {theirs}/scratch/secret\n",
    "output": "transfer_output_files = mine\n"
    'transfer_output_remaps = "mine={theirs}/scratch/secret"\n',
    "log": "log = {theirs}/scratch/log\n",
    "stdout": "output = {theirs}/scratch/secret\n",
}


# Asks its shadow for what the submit file may not name.
STEAL = """python3 - <<'END'
import os, socket
host, port, cookie = open(os.environ["_CONDOR_CHIRP_CONFIG"]).read().split()
with socket.create_connection((host, int(port)), 5) as line:
    talk = line.makefile("rw", newline="\\n")
    for words in (
        f"cookie {{cookie}}", "open {theirs}/scratch/secret r 0", "unlink {theirs}/scratch/secret",
        "open {theirs}/scratch/put wct 511", "getdir {theirs}", "whoami 99",
    ):
        talk.write(words + "\\n")
        talk.flush()
        print(talk.readline().strip())
END"""


@pytest.fixture
def execute() -> Iterator[Path]:
    """A folder for sandboxes that no pool's folder is above, so that everybody may look into it."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-execute-", dir="/var/lib"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_who_has_no_account_reaches_nothing_of_jobs_that_run_as_nobody(
    tmp_path: Path, work: Path, execute: Path
) -> None:
    with personal_pool(tmp_path, f"{OPEN}EXECUTE = {execute}\n") as pool:
        alice = Guest(pool, "ktalice@here", tmp_path / "alice")
        mallory = Guest(pool, "ktmallory@here", work / "mallory")
        kept = alice.submit(f'echo "{SECRET}" >secret; while ! test -e go; do sleep 0.1; done')
        wait_until(lambda: any(execute.glob("dir_*/scratch/secret")), 30)
        (secret,) = execute.glob("dir_*/scratch/secret")
        theirs = str(secret.parent.parent)
        # What is not spooled is touched where it lies, by who may be no more than anybody else.
        mallory.folder.chmod(0o777)
        for lines in ATTACKS.values():
            script, text = "echo mine >mine; cat secret", lines.format(theirs=theirs)
            job = mallory.submit(script, text, spooled=False)
            wait_until(
                partial(mallory.has_status, job, 5), 30, partial(log_text, pool, "ShadowLog")
            )
            (row,) = ask_queue(pool, job, "HoldReason")
            assert "ermission denied" in row[0]
        job = mallory.submit(STEAL.format(theirs=theirs), "+WantIOProxy = true\n")
        wait_until(lambda: mallory.has_status(job, 4), 30, lambda: log_text(pool, "ShadowLog"))
        mallory.run("condor_transfer_data", job)
        said = (mallory.folder / "out").read_text().split()
        assert secret.stat().st_uid not in {alice.uid, mallory.uid}
        # What is asked for last is answered: the length of a name.
        assert said == ["0", "-2", "-2", "-2", "-2", str(len(str(mallory.uid)))]
        assert secret.read_text() == f"{SECRET}\n"
        names = {"_condor_stderr", "_condor_stdout", ".job.ad", ".machine.ad", "job.sh", "secret"}
        assert set(os.listdir(secret.parent)) <= names
        (secret.parent / "go").touch()
        wait_until(lambda: alice.has_status(kept, 4), 30)


def test_guests_of_two_domains_with_one_name_are_two_and_stay_who_they_are(tmp_path: Path) -> None:
    with personal_pool(tmp_path, OPEN) as pool:
        here = Guest(pool, "ktann@here", tmp_path / "here")
        elsewhere = Guest(pool, "ktann@elsewhere.org", tmp_path / "elsewhere")
        jobs = {}
        for guest in (here, elsewhere):
            jobs[guest] = guest.submit("echo kept >result")
            wait_until(partial(guest.has_status, jobs[guest], 4), 30)
        uids = here.uid, elsewhere.uid
        assert uids[0] != uids[1]
        for guest, uid in zip((here, elsewhere), uids, strict=True):
            (spooled,) = Path(pool.folder, "spool").glob(f"{jobs[guest]}/0/cluster*.subproc0")
            assert owners_below(spooled) == {(uid, uid)}
        register = Path(pool.folder, "spool", "lent_accounts")
        assert stat.S_IMODE(register.stat().st_mode) == 0o600
        # The program of one is another uid than the other's, also with a new schedd.
        schedd = daemon_pid(pool, "condor_schedd")
        os.kill(schedd, signal.SIGKILL)
        daemon_pid(pool, "condor_schedd", other_than=schedd)
        wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 30)
        for guest, uid in zip((here, elsewhere), uids, strict=True):
            local = guest.submit("id -u", "universe = scheduler\n")
            wait_until(partial(guest.has_status, local, 4), 30)
            guest.run("condor_transfer_data", local)
            assert (guest.folder / "out").read_text() == f"{uid}\n"


@pytest.mark.parametrize("universe", ["vanilla", "local", "scheduler"])
def test_a_job_of_somebody_who_can_be_lent_no_uid_is_held_with_the_reason(
    tmp_path: Path, work: Path, universe: str
) -> None:
    # One that could not be started waits before it is tried again.
    at_once = "SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 0\n"
    with personal_pool(tmp_path, OPEN + at_once) as pool:
        register = Path(pool.folder, "spool", "lent_accounts")
        register.write_text("2147483650 somebo")
        schedd = daemon_pid(pool, "condor_schedd")
        os.kill(schedd, signal.SIGKILL)
        schedd = daemon_pid(pool, "condor_schedd", other_than=schedd)
        wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 30)
        alice = Guest(pool, "ktalice@here", work / "alice")
        alice.folder.chmod(0o777)
        job = alice.submit("true", f"universe = {universe}\n", spooled=False)
        wait_until(lambda: alice.has_status(job, 5), 30, lambda: log_text(pool, "SchedLog"))
        (row,) = ask_queue(pool, job, "HoldReasonCode", "HoldReason")
        assert row[0] == "23"
        assert "no account 'ktalice' on this machine, and the register of lent uids is da" in row[1]
        register.unlink()
        os.kill(schedd, signal.SIGHUP)

        def runs() -> bool:
            run_tool(pool, "condor_release", job)
            return not ask_queue(pool, job, "JobStatus")

        wait_until(runs, 30, lambda: log_text(pool, "SchedLog"))
        assert alice.uid


@pytest.mark.parametrize("universe", ["local", "scheduler"])
def test_what_runs_on_the_access_point_runs_as_who_he_is_there(
    tmp_path: Path, universe: str
) -> None:
    with personal_pool(tmp_path, OPEN) as pool:
        alice = Guest(pool, "ktalice@here", tmp_path / "alice")
        job = alice.submit("id -u; id -G; : >made", f"universe = {universe}\n")
        wait_until(
            lambda: alice.has_status(job, 4), 30, lambda: str(ask_queue(pool, job, "HoldReason"))
        )
        alice.run("condor_transfer_data", job)
        assert (alice.folder / "out").read_text() == f"{alice.uid}\n" * 2
        assert (alice.folder / "made").exists()
        assert "\n005 (" in (alice.folder / "log").read_text()


@pytest.mark.parametrize("universe", ["local", "scheduler"])
def test_the_log_of_a_guest_of_another_domain_has_the_last_event_of_what_runs_here(
    tmp_path: Path, work: Path, universe: str
) -> None:
    """He is all of his name there, too: no second uid is lent to who has it in this domain."""
    with personal_pool(tmp_path, OPEN) as pool:
        ann = Guest(pool, "ktann@elsewhere.org", work / "ann")
        ann.folder.chmod(0o777)
        job = ann.submit("true", f"universe = {universe}\n", spooled=False)
        log = ann.folder / "log"
        wait_until(
            lambda: not ask_queue(pool, job, "JobStatus"), 30, lambda: log_text(pool, "SchedLog")
        )
        assert log.stat().st_uid == ann.uid
        # Where nobody else may write it.
        assert log.stat().st_mode & 0o022 == 0
        assert "\n005 (" in log.read_text()
        register = Path(pool.folder, "spool", "lent_accounts").read_text()
        assert list(read_register(register).uids) == [ann.user]
