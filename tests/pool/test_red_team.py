"""A hostile job gets nowhere, and other jobs go on: as root among users, and within one account.

What fills memory and disk is tests/pool/test_limits.py; who forks without end or waits until two
daemons die is tests/pool/test_escapes.py.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.records.event_log import read_events
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, daemon_pids, programs_of, run_tool, submit, submit_as, wait_until

pytestmark = pytest.mark.timeout(120)

OPEN = "ALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\nALLOW_READ = *\nNUM_CPUS = 4\n"
DAEMONS = (
    "condor_master",
    "condor_collector",
    "condor_negotiator",
    "condor_schedd",
    "condor_startd",
    "condor_shadow",
)
VICTIM = (
    "executable = /bin/sh\narguments = \"-c 'echo the secret of the victim >mine; "
    "while [ ! -e {work}/go ]; do sleep 0.1; done; cat mine # victim'\"\noutput = out\n"
    "transfer_executable = false\nshould_transfer_files = yes\n"
    "request_memory = 10MB\nrequest_disk = 1MB\nqueue\n"
)


def attacker(pool: PersonalPool, work: Path, target: str) -> str:
    script = Path(__file__).with_name("red_team.py")
    copy = work / "red_team.py"
    copy.write_text(script.read_text())
    copy.chmod(0o644)
    said = "".join(path.read_text() for path in Path(pool.log_folder).glob("*Log"))
    ports = ",".join(sorted(set(re.findall(r"<127\.0\.0\.1:(\d+)", said))))
    assert ports
    return (
        "executable = /usr/bin/env\n"
        f"arguments = python3 -I {copy} {pool.folder} {work}/pid {target} {ports}\n"
        "transfer_executable = false\nshould_transfer_files = yes\noutput = out\nerror = err\n"
        "+WantIOProxy = true\nrequest_memory = 100MB\nrequest_disk = 1MB\nqueue\n"
    )


def await_code(log: Path, number: str, seconds: float = 30) -> None:
    wait_until(lambda: log.exists() and f"\n{number} (" in "\n" + log.read_text(), seconds)


def pids_of(pool: PersonalPool) -> dict[str, list[int]]:
    return {name: daemon_pids(pool, name)[:1] for name in DAEMONS}


def assert_nothing_succeeded(folder: Path, work: Path) -> None:
    assert (folder / "err").read_text() == ""
    assert (folder / "out").read_text().splitlines() == ["tried everything"]
    hidden = (work / "pid").read_text()
    wait_until(lambda: not programs_of(f"sleep {hidden}"), 5)


def left_in_memory(account: pwd.struct_passwd) -> list[str]:
    """Return the lines of the kernel's tables of shared objects that name an account."""
    tables = [Path(f"/proc/sysvipc/{name}").read_text() for name in ("shm", "sem", "msg")]
    lines = [line for table in tables for line in table.splitlines()]
    return [line for line in lines if str(account.pw_uid) in line.split()]


def numbers(log: Path) -> list[int]:
    return [event.number for event in read_events(log.read_bytes(), year=2026)]


@pytest.mark.root
def test_a_hostile_job_among_other_users_jobs_gets_nowhere(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    alice, mallory = make_account("a"), make_account("m")
    with personal_pool(tmp_path, OPEN) as pool:
        victim = submit_as(pool, alice, work / "alice", VICTIM.format(work=work))
        await_code(victim, "001")
        before = pids_of(pool)
        log = submit_as(pool, mallory, work / "mallory", attacker(pool, work, "others"))
        await_code(log, "005")
        assert_nothing_succeeded(work / "mallory", work)
        assert numbers(log).count(5) == 1
        assert pids_of(pool) == before
        wait_until(lambda: not left_in_memory(mallory), 10)
        (work / "go").touch()
        await_code(victim, "005")
        assert (work / "alice" / "out").read_text() == "the secret of the victim\n"


def test_a_hostile_job_of_the_pools_own_account_gets_only_what_the_account_has(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, OPEN) as pool:
        victim: Jobs = submit(pool, work / "alice", VICTIM.format(work=work))
        victim.wait_for(1, 20)
        before = pids_of(pool)
        jobs = submit(pool, work / "mallory", attacker(pool, work, "nobody"))
        jobs.wait_for(5, 30)
        assert_nothing_succeeded(work / "mallory", work)
        assert numbers(jobs.log).count(5) == 1
        assert run_tool(pool, "condor_q", "-totals")[0] == 0
        assert pids_of(pool) == before
        (work / "go").touch()
        victim.wait_for(5, 20)
        assert (work / "alice" / "out").read_text() == "the secret of the victim\n"
        assert os.path.isdir(pool.folder)


def test_a_hostile_job_beside_the_schedd_does_not_change_what_it_is(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, "") as pool:
        text = attacker(pool, work, "itself").replace(
            "output = out", "universe = local\noutput = out"
        )
        jobs = submit(pool, work / "jobs", f"leave_in_queue = JobStatus == 4\n{text}")
        jobs.wait_for(5, 60)
        assert (work / "jobs" / "err").read_text() == ""
        assert (work / "jobs" / "out").read_text().splitlines() == ["tried everything"]
        asked = ("-af", "JobUniverse", "Owner", "KettleJobPid")
        said = run_tool(pool, "condor_q", str(jobs.cluster), *asked)[1]
        assert said == f"12 {pwd.getpwuid(os.getuid()).pw_name} undefined\n"
