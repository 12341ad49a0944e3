"""What a submit file names is no way into the sandbox of another job that runs as the same account.

The job's own processes do not see it (`test_own_sandbox.py`); these are the files that the starter
opens for the job.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import programs_of, run_as, run_tool, submit_as, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]

OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\nNUM_CPUS = 4\n"
# So that the jobs of all users run as one account.
NOBODY = "STARTER_ALLOW_RUNAS_OWNER = false\n"
COMMON = (
    "transfer_executable = false\nexecutable = /bin/sh\nerror = err\nskip_filechecks = true\n"
    "request_memory = 32MB\nrequest_disk = 1MB\n"
)
YES = f"{COMMON}should_transfer_files = yes\n"
NO = f"{COMMON}should_transfer_files = no\n"
SECRET = "the secret of the victim"
VICTIM = f"""\
echo {SECRET} >secret; echo '#!/{SECRET.replace(" ", "_")}' >script; chmod 755 script; mkdir folder
echo {SECRET} >/tmp/private; : >{{work}}/ready
exec 5<secret; while ! test -e {{work}}/tried; do sleep 0.1; done; ls; cat secret
"""


def does(words: str) -> str:
    """Return the line of a job that runs some words of the shell."""
    return f"arguments = \"-c '{words}'\"\n"


LOOK_LIKE_MINE = "mv ../scratch ../mine && ln -s {} ../scratch"
# What a job does and its submit file names, where {} is the victim's scratch directory, PID a
# process of it and SANDBOXES the folder of all sandboxes.
READING = {
    "named": f"{YES}{does('true')}transfer_output_files = {{}}/secret\n",
    "dots": f"{YES}{does('true')}transfer_output_files = ../../{{dir}}/scratch/secret\n",
    "folder": f"{YES}{does('true')}transfer_output_files = {{}}\n",
    "contents": f"{YES}{does('true')}transfer_output_files = {{}}/\n",
    "link": f"{YES}{does('ln -s {}/secret link')}transfer_output_files = link\n",
    "relative link": (
        f"{YES}{does('ln -s ../../{dir}/scratch/secret link')}transfer_output_files = link\n"
    ),
    "changed": f"{YES}{does('ln -s {}/secret link')}",
    "way": f"{YES}{does('ln -s {} way')}transfer_output_files = way/secret\n",
    "way of all": f"{YES}{does('ln -s {} way')}transfer_output_files = way/\n",
    "inside": f"{YES}{does('mkdir in; ln -s {}/secret in/it')}transfer_output_files = in\n",
    "standard": f"{YES}{does('ln -sf {}/secret _condor_stdout')}output = out\n",
    "scratch": f"{YES}{does(LOOK_LIKE_MINE)}transfer_output_files = secret\n",
    "all of scratch": f"{YES}{does(LOOK_LIKE_MINE)}",
    "list": f"{YES}{does(LOOK_LIKE_MINE)}manifest = true\nmanifest_dir = lists\n",
    "process": f"{YES}{does('ln -s /proc/PID/cwd/secret link')}transfer_output_files = link\n",
    "private": f"{YES}{does('true')}transfer_output_files = /proc/PID/root/tmp/private\n",
    "descriptor": f"{YES}{does('true')}transfer_output_files = /proc/PID/fd/5\n",
    "url": f"{YES}{does('cat secret')}output = out\ntransfer_input_files = file://{{}}/secret\n",
    "url of process": (
        f"{YES}{does('cat secret')}output = out\n"
        "transfer_input_files = file:///proc/PID/cwd/secret\n"
    ),
    "input": f"{NO}{does('cat')}input = {{}}/secret\noutput = out\n",
    "input of process": f"{NO}{does('cat')}input = /proc/PID/root{{}}/secret\noutput = out\n",
    "program": f"{NO}executable = {{}}/script\n",
    "all": f'{NO}{does("cat */scratch/secret >WORK/out")}MY.Iwd = "SANDBOXES"\nerror = WORK/err\n',
    "beside": (
        f"{NO}{does('cat ../{dir}/*/secret >WORK/out')}"
        'MY.Iwd = "SANDBOXES/open"\nerror = WORK/err\n'
    ),
}
WRITING = {
    "output": f"{NO}{does('echo spoilt')}output = {{}}/secret\n",
    "new output": f"{NO}{does('echo spoilt')}output = {{}}/new\n",
    "error": f"{NO}{does('echo spoilt >&2')}error = {{}}/secret\n",
    "output by a link": f"{NO}{does('echo spoilt')}output = WORK/../link\n",
    "output by a link to nothing": f"{NO}{does('echo spoilt')}output = WORK/../dangling\n",
    "output of process": f"{NO}{does('echo spoilt')}output = /proc/PID/cwd/new\n",
    "put": (
        f"{YES}{does('echo spoilt >it')}transfer_output_files = it\n"
        'transfer_output_remaps = "it = file://{}/secret"\n'
    ),
    "put anew": (
        f"{YES}{does('echo spoilt >it')}transfer_output_files = it\n"
        "output_destination = file://{}/there\n"
    ),
    "lists": (
        f"{YES}{does('rm -r lists; ln -s {}/folder lists')}manifest = true\nmanifest_dir = lists\n"
    ),
}
# What holds the job that reads so.
WHY = "Permission denied: it lies in the sandbox of another job"
SAID = dict.fromkeys(
    (
        *("named", "folder", "link", "relative link", "changed", "way", "inside", "standard"),
        *("scratch", "process", "descriptor"),
    ),
    rf"\(errno 13\) {WHY}",
)
SAID["input"] = f"as standard input: {WHY}"


@pytest.fixture
def apart() -> Iterator[Path]:
    """A folder that does not lie below what jobs get for themselves."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-apart-", dir="/var/lib"))
    folder.chmod(0o755)
    for name, mode in (("execute", 0o755), ("work", 0o777), ("execute/open", 0o777)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def beginning(
    pool: PersonalPool, apart: Path, alice: pwd.struct_passwd
) -> tuple[Path, Path, Callable[[str, Path], str]]:
    """Start the victim; return its log, its scratch directory and what fills an attack in."""
    work, execute = apart / "work", apart / "execute"
    (work / "victim.sh").write_text(VICTIM.format(work=work))
    line = f'{YES}arguments = {work}/victim.sh\noutput = out\ntransfer_output_files = ""\nqueue\n'
    log = submit_as(pool, alice, work / "alice", line)
    wait_until((work / "ready").exists, 15, log.read_text)
    (theirs,) = execute.glob("dir_*")
    (pid,) = programs_of(f"{work}/victim.sh")
    scratch = theirs / "scratch"

    def fill(text: str, folder: Path) -> str:
        values = {
            "{}": str(scratch),
            "{dir}": theirs.name,
            "PID": str(pid),
            "SANDBOXES": str(execute),
            "WORK": str(folder),
        }
        for name, value in values.items():
            text = text.replace(name, value)
        return f"{text}request_cpus = 1\nqueue\n"

    return log, scratch, fill


def attack(
    pool: PersonalPool,
    mallory: pwd.struct_passwd,
    work: Path,
    attacks: dict[str, str],
    fill: Callable[[str, Path], str],
) -> dict[str, str]:
    """Submit what is tried; return what the logs say of it when all of it has come to an end."""
    logs = {}
    for name, text in attacks.items():
        folder = work / name.replace(" ", "_")
        logs[name] = submit_as(pool, mallory, folder, fill(text, folder))
        folder.chmod(0o777)
    for log in logs.values():
        ended = re.compile("^(005|009|012|007) ", re.MULTILINE)
        wait_until(
            lambda log=log, ended=ended: bool(log.exists() and ended.search(log.read_text())), 60
        )
    return {name: log.read_text() for name, log in logs.items()}


def test_what_a_job_names_brings_nothing_of_another_sandbox_home(
    tmp_path: Path, apart: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    work = apart / "work"
    alice, mallory = make_account("a"), make_account("m")
    with personal_pool(tmp_path, f"{OPEN}{NOBODY}EXECUTE = {apart}/execute\n") as pool:
        log, _, fill = beginning(pool, apart, alice)
        said = attack(pool, mallory, work, READING, fill)
        rows = run_tool(pool, "condor_q", "-all", "-af", "HoldReason")[1]
        taken = []
        for name in READING:
            for each in (work / name.replace(" ", "_")).rglob("*"):
                if each.name != "job.sub" and each.is_file():
                    text = each.read_text()
                    # Neither what is in its files nor, in lists, what they are called.
                    if SECRET in text or SECRET.replace(" ", "_") in text or "./script" in text:
                        taken.append((name, each.name))
                if each.name == "script":
                    taken.append((name, each.name))
        assert (taken, SECRET.replace(" ", "_") in rows) == ([], False)
        for name, wanted in SAID.items():
            assert re.search(wanted, said[name]), (name, said[name])
        (work / "tried").touch()
        wait_until(lambda: "\n005 (" in log.read_text(), 30, log.read_text)
        assert SECRET in (work / "alice/out").read_text()


def test_what_a_job_names_changes_nothing_in_another_sandbox(
    tmp_path: Path, apart: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    work = apart / "work"
    alice, mallory = make_account("a"), make_account("m")
    with personal_pool(tmp_path, f"{OPEN}{NOBODY}EXECUTE = {apart}/execute\n") as pool:
        log, scratch, fill = beginning(pool, apart, alice)
        before = sorted(os.walk(scratch.parent))
        for name, target in (("link", "secret"), ("dangling", "new")):
            (work / name).symlink_to(scratch / target)
        said = attack(pool, mallory, work, WRITING, fill)
        spoilt = [
            each
            for each in scratch.parent.rglob("*")
            if each.is_file() and "spoilt" in each.read_text()
        ]
        assert (spoilt, sorted(os.walk(scratch.parent))) == ([], before), said
        assert (scratch / "secret").read_text() == f"{SECRET}\n"
        (work / "tried").touch()
        wait_until(lambda: "\n005 (" in log.read_text(), 30, log.read_text)
        assert SECRET in (work / "alice/out").read_text()


def test_who_looks_at_a_job_sees_nothing_of_another_sandbox(
    tmp_path: Path, apart: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    work = apart / "work"
    alice, mallory = make_account("a"), make_account("m")
    with personal_pool(tmp_path, f"{OPEN}{NOBODY}EXECUTE = {apart}/execute\n") as pool:
        _, _, fill = beginning(pool, apart, alice)
        words = does("ln -s {}/secret link; echo mine >own; touch WORK/laid; sleep 500")
        folder = work / "looker"
        looked = submit_as(pool, mallory, folder, fill(f"{YES}{words}output = out\n", folder))
        folder.chmod(0o777)
        wait_until((folder / "laid").exists, 30, looked.read_text)
        jobs = run_tool(pool, "condor_q", "-all", "-af", "ClusterId", "JobStatus")[1].split("\n")
        cluster = next(row.split()[0] for row in reversed(jobs) if row.endswith(" 2"))
        assert run_as(mallory, work, pool, "condor_tail", cluster, "own")[0] == 0
        code, complaint = run_as(mallory, work, pool, "condor_tail", cluster, "link")
        assert code != 0
        assert "not authorized" in complaint
