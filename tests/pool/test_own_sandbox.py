"""A job of a root pool sees no sandbox but its own, also of jobs that run as the same account."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit, submit_as, wait_until

pytestmark = [pytest.mark.timeout(120), pytest.mark.root]

OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\n"
# So that the jobs of all users run as one account.
NOBODY = "STARTER_ALLOW_RUNAS_OWNER = false\n"
COMMON = (
    "transfer_executable = false\nshould_transfer_files = yes\nexecutable = /bin/sh\n"
    "output = out\nerror = err\nrequest_memory = 64MB\nrequest_disk = 1MB\n"
)
# Keeps a secret, and waits until it is told on that it has been looked for.
VICTIM = """\
id -un; echo secret >secret; : >{work}/ready
while ! test -e {work}/looked; do sleep 0.1; done; cat secret
"""
# Looks for what is others', changes it where it can, and says what there is besides its own.
THIEF = """\
id -un; cd ../..; ls -A; echo; for each in */scratch/secret */user/.chirp.config; do
case $each in $(basename $(dirname $_CONDOR_SCRATCH_DIR))/*) ;;
*) cat $each && echo spoilt >$each;; esac; done 2>/dev/null
ls -A {others} 2>&1; touch mine 2>/dev/null && echo open
cd $_CONDOR_SCRATCH_DIR && ls -A ../user && echo written >written && cat written
"""


@pytest.fixture
def apart() -> Iterator[Path]:
    """A folder that does not lie below what jobs get for themselves."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-apart-", dir="/var/lib"))
    folder.chmod(0o755)
    for name, mode in (("execute", 0o755), ("work", 0o777)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def script(work: Path, name: str, text: str) -> str:
    """Write a script and return the line by which a job runs it."""
    path = work / f"{name}.sh"
    path.write_text(text)
    path.chmod(0o755)
    return f"arguments = {path}\n"


@pytest.mark.parametrize("below_tmp", [False, True], ids=["apart", "below /tmp"])
def test_a_job_sees_no_sandbox_but_its_own(
    tmp_path: Path,
    apart: Path,
    make_account: Callable[[str], pwd.struct_passwd],
    *,
    below_tmp: bool,
) -> None:
    work, execute = apart / "work", apart / "execute"
    slots = execute / "slots"
    slots.mkdir(mode=0o755)
    config = f"{OPEN}{NOBODY}NUM_CPUS = 3\nSLOT2_EXECUTE = {slots}\n"
    if not below_tmp:
        config += f"EXECUTE = {execute}\n"
    victim = script(work, "victim", VICTIM.format(work=work))
    thief = script(work, "thief", THIEF.format(others=slots))
    alice, mallory = make_account("a"), make_account("m")
    with personal_pool(tmp_path, config) as pool:
        kept = submit_as(
            pool, alice, work / "alice", f"{COMMON}{victim}+WantIOProxy = true\nqueue\n"
        )
        wait_until((work / "ready").exists, 15, kept.read_text)
        home = execute if not below_tmp else Path(pool.folder) / "execute"
        (theirs,) = home.glob("dir_*")
        assert (theirs / "scratch/secret").exists()
        taken = submit_as(
            pool, mallory, work / "mallory", f"{COMMON}{thief}+WantIOProxy = true\nqueue\n"
        )
        wait_until(lambda: "\n005 (" in taken.read_text(), 15, taken.read_text)
        (work / "looked").touch()
        wait_until(lambda: "\n005 (" in kept.read_text(), 15, kept.read_text)
        said = (work / "mallory/out").read_text().split("\n")
        assert said[0] == "nobody"
        assert said[1].startswith("dir_")
        assert said[1] != theirs.name
        # Below the machine's EXECUTE that of slot 2 is hidden with it.
        missing = f"ls: cannot access '{slots}': No such file or directory"
        assert said[2:] == ["", *([] if below_tmp else [missing]), ".chirp.config", "written", ""]
        assert (work / "alice/out").read_text() == "nobody\nsecret\n"
        wait_until(lambda: not list(home.glob("dir_*")), 10, lambda: str(os.listdir(home)))


def test_the_next_job_of_a_claim_has_the_sandbox_that_was_made_anew(
    tmp_path: Path, apart: Path
) -> None:
    work, execute = apart / "work", apart / "execute"
    text = (
        "ls -A ../..; ls | grep -v ^_condor_std; stat -c %i .. >&2; echo mine >left; cat left; "
        "cat $_CONDOR_SCRATCH_DIR/left; rm -f left; test $1 = 2 || : >stays\n"
    )
    run = script(work, "run", text).rstrip() + " $(Process)\n"
    lines = COMMON.replace("= out", "= out.$(Process)").replace("= err", "= err.$(Process)")
    with personal_pool(tmp_path, f"NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        submit(pool, work / "jobs", f"{lines}{run}queue 5\n").wait_for(5, 20)
        said = [(work / "jobs" / f"out.{number}").read_text() for number in range(5)]
        assert said[0].startswith("dir_")
        # One starter had them all.
        assert said == said[:1] * 5
        assert said[0].split()[1:] == ["mine", "mine"]
        folders = [(work / "jobs" / f"err.{number}").read_text() for number in range(5)]
        assert len(set(folders)) > 1
        wait_until(lambda: os.listdir(execute) == [], 10)


def test_a_job_that_works_where_sandboxes_are_sees_its_folder_there_alone(
    tmp_path: Path, apart: Path
) -> None:
    execute = apart / "execute"
    own = execute / "own"
    own.mkdir()
    own.chmod(0o777)
    lines = (
        f"executable = /bin/sh\ninitialdir = {own}\nshould_transfer_files = no\noutput = out\n"
        "transfer_executable = false\nrequest_memory = 64MB\nrequest_disk = 1MB\n"
        "arguments = \"-c 'pwd; ls ..'\"\nqueue\n"
    )
    with personal_pool(tmp_path, f"NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        (execute / "dir_1").mkdir()
        jobs = submit(pool, apart / "work/job", lines)
        jobs.wait_for(5, 15)
        said = (own / "out").read_text().split()
        assert (said[0], said[2:]) == (str(own), ["own"])
        assert said[1].startswith("dir_")
        assert said[1] != "dir_1"
        jobs.wait_until_gone()


PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  echo 'PluginType = "FileTransfer"'; echo 'SupportedMethods = "odd"'
  echo 'MultipleFileSupport = true'; exit 0
fi
url=$(sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2")
file=$(sed -n 's/.*LocalFileName = "\\([^"]*\\)".*/\\1/p' "$2")
(id -un; pwd; ls -A {execute}; cat {shown}; ls -d /proc/{daemon}) >$file 2>&1
echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileBytes = 3 ]" >$4
"""


def test_a_plug_in_of_the_job_s_own_sees_the_machine_s_folders_and_no_other_sandbox(
    tmp_path: Path, work: Path, apart: Path
) -> None:
    # Below the machine's /tmp, which the job itself does not see.
    shown = work / "shown"
    shown.write_text("the machine's\n")
    execute = apart / "execute"
    lines = (
        f"{COMMON}arguments = \"-c 'cat found'\"\ntransfer_plugins = odd={work}/plugin.sh\n"
        "transfer_input_files = odd://host/found\nqueue\n"
    )
    config = f"NUM_CPUS = 1\nEXECUTE = {execute}\n"
    with personal_pool(tmp_path, config) as pool:
        values = {"execute": str(execute), "shown": str(shown), "daemon": str(pool.master_pid())}
        text = PLUGIN
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        script(work, "plugin", text)
        (execute / "dir_1").mkdir()
        job = submit(pool, work / "job", lines)
        job.wait_for(5, 15)
        said = (work / "job/out").read_text().splitlines()
        assert said[0] == "nobody"
        assert said[1].startswith(f"{execute}/dir_")
        assert said[2] == said[1].split("/")[-2]
        assert said[3] == "the machine's"
        assert said[4].endswith("No such file or directory")


# Says where it works, and waits until all have looked.
PATIENT = """\
pwd; echo secret >secret; : >{work}/ready.$1
while ! test -e {work}/looked; do sleep 0.1; done; cat secret
"""


def test_a_local_job_sees_no_sandbox_of_the_machine_s_other_jobs(
    tmp_path: Path, apart: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    work, execute = apart / "work", apart / "execute"
    ann = make_account("a")
    with personal_pool(tmp_path, f"{OPEN}NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        patient = script(work, "patient", PATIENT.format(work=work))
        kept = submit_as(pool, ann, work / "kept", f"{COMMON}{patient}queue\n")
        wait_until((work / "ready.").exists, 20, kept.read_text)
        look = script(work, "look", f"ls -A {execute}; echo looked; ls ..; : >{work}/looked\n")
        local = submit_as(pool, ann, work / "local", f"universe = local\n{COMMON}{look}queue\n")
        wait_until(lambda: "\n005 (" in local.read_text(), 20, local.read_text)
        wait_until(lambda: "\n005 (" in kept.read_text(), 20, kept.read_text)
        assert (work / "local/out").read_text().startswith("looked\n")


def test_two_startds_of_a_machine_have_sandboxes_and_control_groups_of_their_own(
    tmp_path: Path, apart: Path
) -> None:
    """The second goes by its local name; slots of both are called alike."""
    work, execute, other = apart / "work", apart / "execute", apart / "other"
    other.mkdir()
    other.chmod(0o755)
    config = f"""
        NUM_CPUS = 1
        EXECUTE = {execute}
        STARTD_B = $(STARTD)
        STARTD_B_ARGS = -local-name b
        DAEMON_LIST = $(DAEMON_LIST) STARTD_B
        STARTD.b.STARTD_NAME = b
        STARTD.b.STARTD_LOG = $(LOG)/StartLog.b
        STARTD.b.STARTD_ADDRESS_FILE = $(LOG)/.startd_b_address
        STARTD.b.EXECUTE = {other}
    """
    with personal_pool(tmp_path, config) as pool:
        patient = script(work, "patient", PATIENT.format(work=work)).rstrip() + " $(Process)\n"
        text = COMMON.replace("= out", "= out.$(Process)") + patient
        jobs = submit(pool, work / "jobs", f"{text}queue 2\n")
        for number in range(2):
            wait_until((work / f"ready.{number}").exists, 20, jobs.log.read_text)
        (work / "looked").touch()
        jobs.wait_for(5, 20)
        said = [(work / f"jobs/out.{number}").read_text().split() for number in range(2)]
        assert [words[1:] for words in said] == [["secret"], ["secret"]]
        assert {words[0].partition("/dir_")[0] for words in said} == {str(execute), str(other)}
