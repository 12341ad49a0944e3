"""Signals: sent with the rights that they need, and told where they are refused all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from kettle.runtime import tasks
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import Child, kill_tree
from kettle.runtime.process.signalling import send_signal

DAEMON = Account("daemon", 54321, 54321, (54321,))
JOB = Account("job", 54322, 54322, (54322,))


@pytest.fixture
def told() -> Iterator[list[str]]:
    said: list[str] = []
    tasks.set_reporter(said.append)
    yield said
    tasks.set_reporter(None)


@pytest.fixture
def job() -> Iterator[Child]:
    """A process of another account than the daemon's."""
    ready, mine = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setresgid(JOB.gid, JOB.gid, JOB.gid)
        os.setresuid(JOB.uid, JOB.uid, JOB.uid)
        os.write(mine, b"+")
        while True:
            signal.pause()
    os.close(mine)
    os.read(ready, 1)
    os.close(ready)
    child = Child(pid, "job")
    yield child
    if child.running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
@pytest.mark.parametrize("how", ["signal", "tree"])
def test_a_daemon_that_can_be_root_ends_a_process_of_another_account(
    job: Child, told: list[str], how: str
) -> None:
    with Privileges(Account("root", 0, 0, (0,)), can_switch=True).as_account(DAEMON):
        before = os.getresuid()
        assert (job.signal(signal.SIGKILL) if how == "signal" else kill_tree(job.pid)) >= 1
        assert os.getresuid() == before
    job.finish(os.waitpid(job.pid, 0)[1], None)
    assert job.status is not None
    assert os.WTERMSIG(job.status) == signal.SIGKILL
    assert told == []


def test_a_signal_that_is_refused_is_told_once_and_one_to_nobody_is_not(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    assert [send_signal(4711, 15), send_signal(4711, 15)] == [False, False]
    assert not Child(4711, "job").signal(15)
    assert told == ["Signal 15 could not be sent to process 4711: Operation not permitted"]

    def miss(pid: int, number: int) -> None:
        raise ProcessLookupError(3, "No such process")

    monkeypatch.setattr(os, "kill", miss)
    assert not send_signal(4712, 15)
    assert len(told) == 1
