"""Whether a process does anything more."""

from __future__ import annotations

import os
import signal

import pytest

from kettle.runtime.process.standing import is_killed, waits_for_kill


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        (
            b"SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000100\n",
            False,
        ),
        (b"SigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n", True),
        (b"SigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n", True),
        (b"SigPnd:\t0000000000004000\nShdPnd:\t0000000000010000\n", False),
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
