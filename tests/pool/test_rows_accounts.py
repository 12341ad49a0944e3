"""Jobs run as the account that submitted them when the pool runs as root (R086)."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_as, run_tool, submit, submit_as, wait_until

pytestmark = pytest.mark.root
shows = pytest.mark.shows
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"


Make = Callable[[str], pwd.struct_passwd]
# Everybody on the machine may submit; the pool's own account is root.
OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\n"


def await_event(log: Path, number: str) -> None:
    wait_until(lambda: log.exists() and f"{number} (" in log.read_text(), 20)


@shows("R086")
def test_a_job_runs_as_the_account_that_submitted_it(
    tmp_path: Path, work: Path, make_account: Make
) -> None:
    account = make_account("a")
    with personal_pool(tmp_path, OPEN) as pool:
        text = (
            "executable = /bin/sh\narguments = \"-c 'id -u; touch made'\"\noutput = out\n"
            f"transfer_executable = false\n{SMALL}queue\n"
        )
        home = work / "home"
        await_event(submit_as(pool, account, home, text), "005")
        assert (home / "out").read_text() == f"{account.pw_uid}\n"
        for name in ("out", "made", "log"):
            assert (home / name).stat().st_uid == account.pw_uid


WHOAMI = (
    "executable = /usr/bin/id\narguments = -un\noutput = out\ntransfer_executable = false\n"
    f"should_transfer_files = yes\n{SMALL}"
)


@shows("R086")
@shows("E002")
def test_slots_have_accounts_of_their_own(tmp_path: Path, work: Path, make_account: Make) -> None:
    alice, one, common = make_account("a"), make_account("s"), make_account("c")
    config = (
        f"{OPEN}NUM_CPUS = 2\nSLOT_TYPE_1 = cpus=1\nNUM_SLOTS_TYPE_1 = 2\n"
        f"SLOT_TYPE_1_PARTITIONABLE = false\nSLOT1_USER = {one.pw_name}\n"
        f"NOBODY_SLOT_USER = {common.pw_name}\n"
    )
    with personal_pool(tmp_path, config) as pool:
        for slot, wish, expected in (
            (1, "run_as_owner = false\n", one.pw_name),
            (2, "run_as_owner = false\n", common.pw_name),
            (2, "", alice.pw_name),
        ):
            folder = work / f"{slot}{expected}"
            text = f"{WHOAMI}{wish}requirements = SlotID == {slot}\nqueue\n"
            await_event(submit_as(pool, alice, folder, text), "005")
            assert (folder / "out").read_text() == f"{expected}\n"


@shows("R087")
def test_an_account_of_the_system_runs_no_job_of_its_own(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, OPEN) as pool:
        log = submit_as(pool, pwd.getpwnam("games"), work / "g", f"{WHOAMI}queue\n")
        await_event(log, "005")
        assert (work / "g" / "out").read_text() == "nobody\n"


@shows("E009")
def test_what_runs_as_a_dedicated_account_ends_with_the_job(
    tmp_path: Path, work: Path, make_account: Make
) -> None:
    one = make_account("s")
    config = f"{OPEN}SLOT1_USER = {one.pw_name}\nDEDICATED_EXECUTE_ACCOUNT_REGEXP = kts[0-9]+\n"
    with personal_pool(tmp_path, config) as pool:
        stray = subprocess.Popen(["/bin/sleep", "300"], user=one.pw_uid)
        jobs = submit(pool, work / "j", f"{WHOAMI}queue\n")
        jobs.wait_for(5, 20)
        assert (work / "j" / "out").read_text() == f"{one.pw_name}\n"
        assert stray.wait(100) == -9


@shows("R067")
@shows("R069")
def test_another_user_s_jobs_are_left_alone_by_every_tool(
    tmp_path: Path, work: Path, make_account: Make
) -> None:
    account = make_account("b")
    with personal_pool(tmp_path, OPEN) as pool:
        home = work / "home"
        home.mkdir()
        os.chown(home, account.pw_uid, account.pw_gid)
        jobs = submit(pool, work / "jobs", "executable = /bin/true\nhold = true\nqueue 2\n")
        cluster, first = str(jobs.cluster), f"{jobs.cluster}.0"
        # Used once by the owner, so that everything is loaded that the other cannot read.
        assert run_tool(pool, "condor_qedit", first, "Foo", "1")[0] == 0
        run_tool(pool, "condor_release", "999999")
        before = ask_queue(pool, cluster, "JobStatus", "Foo")
        for words in (
            ("condor_release", cluster),
            ("condor_rm", first),
            ("condor_rm", "-constraint", "true"),
            ("condor_rm", "-all"),
            ("condor_qedit", first, "Foo", "5"),
        ):
            code, complaint = run_as(account, home, pool, *words)
            assert code not in (0, 99), (words, complaint)
            assert ask_queue(pool, cluster, "JobStatus", "Foo") == before, words
