"""A program ends with the process that keeps it, unless that let go of it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.runtime.process.tether import Tether

# Starts a shell with a child, holds it, tells both pids, and does what it is told to: leave, or be
# killed while it waits for a word.
_KEEPER = """
import os, sys
from kettle.runtime.process.tether import Tether
tether = Tether.make()
reading, writing = os.pipe()
actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in tether.descriptors().items()]
actions.append((os.POSIX_SPAWN_DUP2, writing, 1))
argv = ["/bin/sh", "-c", sys.argv[1]]
pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setsid=True)
tether.hold(pid)
print(pid, os.read(reading, 100).decode().split()[0], flush=True)
if sys.stdin.readline():
    tether.let_go()
"""
_TOLD = "sleep 100 & echo $!; sleep 101"


def keep(program: str = _TOLD) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a keeper, and return it with pidfds of the program and its child."""
    keeper = subprocess.Popen(
        [sys.executable, "-c", _KEEPER, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4] / "src")},
    )
    assert keeper.stdout is not None
    pids = [int(word) for word in keeper.stdout.readline().split()]
    assert len(pids) == 2
    return keeper, [os.pidfd_open(pid) for pid in pids]


def ended(pidfd: int, seconds: float) -> bool:
    return bool(select.select([pidfd], [], [], seconds)[0])


def clean_up(keeper: subprocess.Popen[str], pidfds: list[int]) -> None:
    for pidfd in pidfds:
        if not ended(pidfd, 0):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)
    keeper.kill()
    keeper.communicate()


def test_a_program_and_its_children_die_with_a_keeper_that_is_killed() -> None:
    keeper, pidfds = keep()
    try:
        assert not ended(pidfds[0], 0)
        keeper.kill()
        assert [ended(pidfd, 100) for pidfd in pidfds] == [True, True]
    finally:
        clean_up(keeper, pidfds)


def test_who_is_let_go_lives_on() -> None:
    keeper, pidfds = keep()
    try:
        keeper.communicate("go\n", timeout=100)
        assert keeper.returncode == 0
        assert [ended(pidfd, 0.0) for pidfd in pidfds] == [False, False]
    finally:
        clean_up(keeper, pidfds)


def test_a_child_in_a_session_of_its_own_is_not_held() -> None:
    """The limit that the manual tells of: the next startd of the machine ends such a one."""
    keeper, pidfds = keep("setsid sh -c 'echo $$; exec sleep 100' & sleep 101")
    try:
        keeper.kill()
        assert ended(pidfds[0], 100)
        assert not ended(pidfds[1], 0.0)
    finally:
        clean_up(keeper, pidfds)


def test_few_descriptors_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (64, 64))
    tether = Tether.make()
    try:
        assert list(tether.descriptors()) == [63]
    finally:
        tether.let_go()
