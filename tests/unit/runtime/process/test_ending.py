"""Whether a process does anything more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from kettle.runtime.process.liveness import is_ending, is_killed, is_zombie, waits_for_kill

# Its first thread ends by itself; the second tells of it and lives until it is killed.
FIRST_THREAD_ENDS = """
import ctypes, os, threading
def second():
    path = f"/proc/self/task/{os.getpid()}/stat"
    while open(path).read().rpartition(")")[2].split()[0] != "Z":
        os.sched_yield()
    os.write(1, b"alone")
    threading.Event().wait()
threading.Thread(target=second, daemon=True).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        (
            b"SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000100\n",
            False,
        ),
        (b"Name:\ta\nSigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n", True),
        (b"Name:\ta\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n", True),
        (b"Name:\ta\nSigPnd:\t0000000000004000\nShdPnd:\t0000000000010000\n", False),
        # A process may call itself what it likes.
        (b"Name:\tSigPnd:\t0100\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n", False),
        (b"", False),
    ],
)
def test_a_pending_kill_is_read_of_the_kernels_masks(status: bytes, waits: bool) -> None:
    assert waits_for_kill(status) is waits


def test_who_ended_is_killed_and_who_runs_is_not() -> None:
    assert not is_killed(os.getpid())
    dead = os.spawnl(os.P_NOWAIT, "/bin/sleep", "sleep", "100")
    assert not is_killed(dead)
    os.kill(dead, signal.SIGKILL)
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
    assert is_killed(dead)
    os.waitpid(dead, 0)
    assert is_killed(dead)


def test_a_process_whose_first_thread_alone_has_ended_lives() -> None:
    with subprocess.Popen([sys.executable, "-c", FIRST_THREAD_ENDS], stdout=subprocess.PIPE) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.read(5) == b"alone"
            assert not is_zombie(one.pid)
        finally:
            one.kill()
        os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
        assert is_zombie(one.pid)
        assert is_ending(one.pid)
        assert is_killed(one.pid)
