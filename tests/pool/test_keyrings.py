"""No job has the keys of whoever started the pool, nor those of others' jobs (keyrings(7))."""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.runtime.process import kernel
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit_as, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]

# System calls of the kernel's keys, by machine: add_key and keyctl.
CALLS = """\
import ctypes, platform
ADD, CONTROL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
syscall = ctypes.CDLL(None).syscall
SESSION = -3
def number():
    return syscall(CONTROL, 0, SESSION, 0)
def add(name):
    return syscall(ADD, b"user", name, b"secret", ctypes.c_size_t(6), SESSION)
def find(name):
    return syscall(CONTROL, 10, SESSION, b"user", name, 0)
"""
JOB = CALLS + "print(number(), find(b'kettle-test') > 0, find(b'own') > 0, add(b'own') > 0)\n"
CONFIG = "NUM_CPUS = 2\nALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\n"
KEPT = "DISCARD_SESSION_KEYRING_ON_STARTUP = false\n"

Make = Callable[[str], pwd.struct_passwd]


@pytest.fixture
def keyring() -> int:
    """Have a session keyring of our own with a key in it; return its number."""
    if not kernel.join_new_keyring():
        pytest.skip("the kernel has no keyrings for us")
    calls: dict[str, Callable[..., int]] = {}
    exec(CALLS, calls)
    assert calls["add"](b"kettle-test") > 0
    return calls["number"]()


def lines(script: Path, universe: str) -> str:
    script.write_text(JOB)
    return (
        f"universe = {universe}\nexecutable = /usr/bin/env\narguments = python3 -I {script}\n"
        "transfer_executable = false\noutput = out\nerror = err\n"
        "request_memory = 64MB\nrequest_disk = 1MB\nqueue\n"
    )


def said(log: Path) -> list[str]:
    """Wait for a job's end; return what it said of its keyring."""
    wait_until(lambda: log.exists() and "\n005 (" in log.read_text(), 30)
    assert (log.parent / "err").read_text() == ""
    return (log.parent / "out").read_text().split()


def test_jobs_have_keyrings_of_their_own(
    tmp_path: Path, work: Path, make_account: Make, keyring: int
) -> None:
    accounts = [make_account("a"), make_account("b")]
    with personal_pool(tmp_path, CONFIG) as pool:
        logs = [
            submit_as(
                pool,
                account,
                work / f"{universe}.{account.pw_name}",
                lines(work / "job.py", universe),
            )
            for account in accounts
            for universe in ("vanilla", "local", "scheduler")
        ]
        found = [said(log) for log in logs]
    assert [words[1:] for words in found] == [["False", "False", "True"]] * len(logs)
    assert len({keyring, *(int(words[0]) for words in found)}) == len(logs) + 1


def test_jobs_have_the_keyring_of_whoever_started_the_pool_where_that_is_wanted(
    tmp_path: Path, work: Path, make_account: Make, keyring: int
) -> None:
    with personal_pool(tmp_path, CONFIG + KEPT) as pool:
        log = submit_as(pool, make_account("a"), work / "job", lines(work / "job.py", "vanilla"))
        assert said(log)[:2] == [str(keyring), "True"]
