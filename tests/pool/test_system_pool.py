"""The pool of the whole machine: daemons as their own account, jobs as their owners (R086)."""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pool_jobs import daemon_pid, daemon_pids, programs_of, wait_until
from system_pools import SystemPool, system_pool
from test_file_modes import wrong_in

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]
shows = pytest.mark.shows
Make = Callable[[str], pwd.struct_passwd]
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"
DAEMONS = ("condor_collector", "condor_negotiator", "condor_schedd", "condor_startd")
# What belongs to whom, by the first pattern that matches the path below the pool's folder.
OWNERS = (
    (r"execute/dir_\d+(/.*)?", "submitter"),
    (r"(log|spool|execute|lock|run)", "daemons"),
    (r"log/master\.out", "root"),
    (r"log/ShadowLog", "any"),
    (r"execute/\.private_\d+(/\d)?", "any"),
    (r"(log|spool|lock|run)/.*", "daemons"),
    (r"(condor_config|(etc|config\.d|passwords\.d|tokens\.d)(/.*)?)", "root"),
)


def submit_by(
    machine: SystemPool, submitter: pwd.struct_passwd, folder: Path, text: str, *words: str
) -> Path:
    """Submit as somebody, from a folder of his; return the event log."""
    folder.mkdir()
    (folder / "job.sub").write_text(f"log = {folder}/log\ninitialdir = {folder}\n{SMALL}{text}")
    os.chown(folder, submitter.pw_uid, submitter.pw_gid)
    done = machine.call("condor_submit", *words, f"{folder}/job.sub", by=submitter.pw_uid)
    assert done.returncode == 0, done.stderr
    return folder / "log"


def await_event(log: Path, number: str) -> None:
    def seen() -> bool:
        return log.exists() and f"{number} (" in log.read_text()

    wait_until(seen, 20, lambda: log.read_text() if log.exists() else "no log")


def owner_of_process(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^Uid:\s+\d+\s+(\d+)", text, re.MULTILINE)
    assert found is not None
    return int(found[1])


def wrong_owners(folder: str, daemons: int, submitter: int) -> list[str]:
    accounts = {"daemons": daemons, "submitter": submitter, "root": 0}
    found = []
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            inside = os.path.relpath(path, folder)
            whose = next((w for pattern, w in OWNERS if re.fullmatch(pattern, inside)), None)
            uid = os.lstat(path).st_uid
            if whose is None or (whose != "any" and accounts[whose] != uid):
                found.append(f"{inside} is of {uid}, to be of {whose}")
    return found


@shows("R086")
@pytest.mark.parametrize("port", ["", "USE_SHARED_PORT = true\nSHARED_PORT_PORT = 0\n"])
def test_daemons_work_as_their_account_and_jobs_as_their_owner(
    work: Path, make_account: Make, port: str
) -> None:
    condor, alice = make_account("c"), make_account("a")
    with system_pool(condor, f"NUM_CPUS = 2\n{port}") as machine:
        for name in ("condor_master", *DAEMONS):
            assert owner_of_process(daemon_pid(machine.pool, name)) == condor.pw_uid, name
        text = "executable = /bin/sh\narguments = \"-c 'id -un; touch made'\"\noutput = out\n"
        files = (
            "transfer_executable = false\nshould_transfer_files = yes\nenvironment = TOKEN=sesame\n"
        )
        await_event(submit_by(machine, alice, work / "one", f"{text}{files}queue\n"), "005")
        assert (work / "one" / "out").read_text() == f"{alice.pw_name}\n"
        for name in ("out", "made", "log"):
            assert (work / "one" / name).stat().st_uid == alice.pw_uid, name
        sleeper = f"executable = /bin/sleep\narguments = 60\n{files}queue\n"
        await_event(submit_by(machine, alice, work / "two", sleeper), "001")
        assert wrong_in(machine.pool.folder, system=True) == []
        assert wrong_owners(machine.pool.folder, condor.pw_uid, alice.pw_uid) == []


def test_plugins_work_in_a_sandbox_that_is_closed_to_the_daemons(
    work: Path, make_account: Make
) -> None:
    condor, alice = make_account("c"), make_account("a")
    plugin = work / "own_plugin"
    plugin.write_text(
        "#!/bin/sh\n"
        "if [ $1 = -classad ]; then\n"
        '  echo PluginType = \\"FileTransfer\\"; echo SupportedMethods = \\"own\\"; exit 0\n'
        "fi\nid -un > $2\n"
    )
    plugin.chmod(0o755)
    (work / "given").write_text("given\n")
    (work / "put").mkdir(mode=0o777)
    (work / "put").chmod(0o777)
    with system_pool(condor) as machine:
        text = (
            "executable = /bin/sh\narguments = \"-c 'cat given theirs > made'\"\n"
            "transfer_executable = false\nshould_transfer_files = yes\n"
            f"transfer_input_files = file://{work}/given, own://x/theirs\n"
            f"transfer_plugins = own={plugin}\n"
            f'transfer_output_remaps = "made = file://{work}/put/made"\n'
            "transfer_output_files = made\nqueue\n"
        )
        await_event(submit_by(machine, alice, work / "one", text), "005")
        assert (work / "put" / "made").read_text() == f"given\n{alice.pw_name}\n"
        assert (work / "put" / "made").stat().st_uid == alice.pw_uid


def test_two_users_who_name_one_log_write_with_their_own_rights_and_no_mailer_is_root(
    work: Path, make_account: Make
) -> None:
    condor, alice, mallory = make_account("c"), make_account("a"), make_account("m")
    mailed = work / "mailed"
    mailed.mkdir()
    mailed.chmod(0o777)
    mailer = work / "mailer"
    # A shell whose real and effective ids differ takes the real ones.
    mailer.write_text(f'#!/bin/bash\n{{ id -ru; echo "$@"; }} > {mailed}/$$\n')
    mailer.chmod(0o755)
    held = "executable = /bin/true\nhold = true\nqueue\n"
    with system_pool(condor, f"MAIL = {mailer}\n") as machine:
        hers = submit_by(machine, alice, work / "one", held)
        await_event(hers, "000")
        before = hers.read_bytes()
        text = (
            f"executable = /bin/true\ntransfer_executable = false\nnotification = always\n"
            f"notify_user = -Sx=y@z, m@z\nlog = {hers}\nqueue\n"
        )
        submit_by(machine, mallory, work / "two", text)
        job = "JobStatus == 5 && NotifyUser =!= undefined"
        words = ("-constraint", job, "-af", "HoldReasonCode", "HoldReasonSubCode")
        wait_until(lambda: machine.call("condor_q", "-all", *words).stdout == "22 13\n", 30)
        wait_until(lambda: any(file.stat().st_size for file in mailed.iterdir()), 10)
        (mail,) = mailed.iterdir()
        uid, said = mail.read_text().splitlines()
        assert uid == str(condor.pw_uid)
        assert said.endswith(" m@z")
        assert "-Sx" not in said
        assert hers.read_bytes() == before


def test_others_may_read_the_history_but_no_environment_of_a_job(
    work: Path, make_account: Make
) -> None:
    condor, alice, bob = make_account("c"), make_account("a"), make_account("b")
    with system_pool(condor) as machine:
        text = "executable = /bin/true\nenvironment = TOKEN=sesame\nqueue\n"
        await_event(submit_by(machine, alice, work / "one", text), "005")
        reading = ("condor_history", "-af", "Owner", "JobStatus")
        wait_until(lambda: machine.call(*reading, by=bob.pw_uid).stdout != "", 20)
        assert machine.call(*reading, by=bob.pw_uid).stdout == f"{alice.pw_name} 4\n"
        for name in ("log/startd_history", "spool/history", "spool/epoch_history"):
            written = Path(machine.pool.folder, name).read_text()
            assert "GlobalJobId" in written, name
            for secret in ("sesame", "\nClaimId =", "\nCapability", "ClaimSession"):
                assert secret not in written, (name, secret)


@shows("R086")
@shows("R087")
def test_what_is_the_pool_s_is_closed_to_those_who_use_it(work: Path, make_account: Make) -> None:
    condor, alice, bob = make_account("c"), make_account("a"), make_account("b")
    with system_pool(condor) as machine:
        (work / "secret").write_text("the secret of alice\n")
        text = (
            "executable = /bin/sh\narguments = \"-c 'cp secret kept; sleep 60'\"\n"
            f"transfer_executable = false\ntransfer_input_files = {work}/secret\nqueue\n"
        )
        (work / "secret").chmod(0o600)
        os.chown(work / "secret", alice.pw_uid, alice.pw_gid)
        submit_by(machine, alice, work / "job", text, "-spool")
        # The log is in the spool until it is fetched.
        asking = ("condor_q", "-all", "-af", "JobStatus")
        wait_until(lambda: machine.call(*asking).stdout == "2\n", 20)
        execute = Path(machine.pool.folder, "execute")
        wait_until(lambda: any(execute.glob("dir_*")), 20)
        probe = (
            "find . -type f -readable ! -path './etc/*' ! -path './config.d/*' "
            "! -name '.*_address*' ! -name condor_config; "
            "find . -type d ! -executable; find . -writable ! -type l"
        )
        said = subprocess.run(
            ["/bin/sh", "-c", probe],
            cwd=machine.pool.folder,
            user=bob.pw_uid,
            group=bob.pw_gid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        found = {re.sub(r"\d+", "N", line) for line in said.stdout.splitlines()}
        # The first three are folders that nobody else enters.
        assert found >= {"./passwords.d", "./tokens.d", "./execute/dir_N"}, found
        closed = r"\./((passwords|tokens)\.d|execute/(dir|\.private)_N|spool/N/N/clusterN.*)"
        readable = {line for line in found if not re.fullmatch(closed, line)}
        assert readable <= {
            "./log/startd_history",
            "./spool/history",
            "./spool/epoch_history",
            "./spool/schedd_daemon_history",
            "./spool/.schedd_classad",
        }
        # To use it nobody needs more than that.
        shown = machine.call("kettle", "status", "--dir", machine.pool.folder, by=bob.pw_uid)
        assert shown.returncode == 0, shown.stderr
        asked = machine.call("condor_q", "-all", "-af", "Owner", by=bob.pw_uid)
        assert asked.stdout == f"{alice.pw_name}\n"
        words = ("kettle", "trace", "--dir", machine.pool.folder, "--width", "200", "1.0")
        traced = machine.call(*words, by=bob.pw_uid)
        assert traced.returncode == 0, traced.stderr
        [gap] = [line for line in traced.stdout.splitlines() if line.startswith("!")]
        assert gap.startswith(f"! the logs in {machine.pool.log_folder} are closed to you: ")
        refused = machine.call("condor_off", "-master", by=bob.pw_uid)
        assert daemon_pids(machine.pool, "condor_schedd"), refused.stderr
        for name in ("Owner", "OsUser", "User"):
            assert machine.call("condor_qedit", "1", name, '"root"', by=alice.pw_uid).returncode, (
                name
            )
        told = machine.call("condor_q", "-all", "-af", "Owner", "User").stdout.split()
        assert [word.partition("@")[0] for word in told] == [alice.pw_name] * 2
        # What is another account's leaves the spool with its job.
        assert machine.call("condor_rm", "1", by=alice.pw_uid).returncode == 0
        spooled = Path(machine.pool.folder, "spool", "1")
        wait_until(lambda: not spooled.exists(), 20, lambda: str(list(spooled.rglob("*"))))


@shows("R086")
@pytest.mark.parametrize("port", ["", "USE_SHARED_PORT = true\nSHARED_PORT_PORT = 0\n"])
def test_a_killed_daemon_and_a_new_start_lose_no_job_of_an_owner(
    work: Path, make_account: Make, port: str
) -> None:
    condor, alice = make_account("c"), make_account("a")
    with system_pool(condor, f"NUM_CPUS = 4\nMASTER_BACKOFF_CEILING = 1\n{port}") as machine:
        text = (
            "executable = /bin/sh\n"
            f"arguments = \"-c 'until [ -e {work}/go ]; do sleep 0.2; done'\"\n"
            "transfer_executable = false\nqueue 2\n"
        )
        log = submit_by(machine, alice, work / "job", text)
        await_event(log, "001")
        for name in DAEMONS:
            before = daemon_pid(machine.pool, name)
            os.kill(before, signal.SIGKILL)
            after = daemon_pid(machine.pool, name, other_than=before)
            assert owner_of_process(after) == condor.pw_uid, name
        machine.pool.stop()
        machine.up(again=True)
        (work / "go").touch()
        wait_until(lambda: log.read_text().count("\n005 (") == 2, 60, log.read_text)
        assert log.stat().st_uid == alice.pw_uid


def test_a_job_beside_the_schedd_of_another_account_hears_every_signal_and_ends_with_the_pool(
    work: Path, make_account: Make
) -> None:
    condor, alice = make_account("c"), make_account("a")
    script = "arguments = \"-c '{before}: >ready; sleep 321' {folder}\"\n"
    text = f"universe = {{universe}}\nexecutable = /bin/sh\n{script}queue\n"
    text = f"job_max_vacate_time = 2\n{text}"

    def lives(folder: str) -> bool:
        return bool(programs_of(f"sleep 321 {work / folder}"))

    def begin(folder: str, universe: str, before: str = "") -> tuple[Path, str]:
        words = text.format(universe=universe, before=before, folder=work / folder)
        log = submit_by(machine, alice, work / folder, words)
        wait_until(lambda: (work / folder / "ready").exists(), 30)
        (pid,) = programs_of(f"sleep 321 {work / folder}")
        assert owner_of_process(pid) == alice.pw_uid
        found = re.search(r"\((\d+)\.", log.read_text())
        assert found is not None
        return log, str(int(found[1]))

    with system_pool(condor) as machine:
        for universe in ("scheduler", "local"):
            log, job = begin(f"{universe}-rm", universe)
            assert machine.call("condor_rm", job, by=alice.pw_uid).returncode == 0
            await_event(log, "009")
            assert not lives(f"{universe}-rm")
            log, job = begin(f"{universe}-hold", universe, "trap : TERM; ")
            assert machine.call("condor_hold", job, by=alice.pw_uid).returncode == 0
            await_event(log, "012")
            assert not lives(f"{universe}-hold")
            begin(f"{universe}-down", universe)
        machine.pool.stop(how="graceful")
        assert not lives("scheduler-down")
        assert not lives("local-down")
