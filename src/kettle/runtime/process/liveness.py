"""How the kernel has a process: whether it lives, is ending, or will never run again."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from kettle.runtime.storage.small_files import read_small

_ENDED = frozenset((b"Z", b"X", b""))
# The kernel's mark on a task that has begun to exit, in field 9 of /proc/PID/stat.
_PF_EXITING = 0x4


def is_zombie(pid: int) -> bool:
    """Whether the process has ended and waits to be reaped, or is gone altogether.

    One whose first thread alone has ended looks the same but for its other threads, and lives.
    """
    stat = _stat_of(pid)
    return stat.state in _ENDED and stat.threads <= 1


def is_ending(pid: int) -> bool:
    """Whether the process has ended, or is past the point from which it adopts nobody.

    The kernel passes over a subreaper that has begun to exit, with every thread: what its dead
    children leave falls to the one above it long before it can be reaped, or is seen as a zombie.
    """
    stat = _stat_of(pid)
    if not (stat.exiting or stat.state in _ENDED):
        return False
    # The first thread may have ended by itself; the others go on, and adopt.
    return stat.threads <= 1 or all(map(_is_over, _threads_of(pid)))


def is_killed(pid: int) -> bool:
    """Whether the process will do nothing more: SIGKILL waits for it, or it has begun to end."""
    try:
        return waits_for_kill(read_small(f"/proc/{pid}/status")) or is_ending(pid)
    except OSError:
        return True


def waits_for_kill(status: bytes) -> bool:
    """Whether SIGKILL is among the pending signals that /proc/PID/status names (proc(5))."""
    lines = (line.partition(b":") for line in status.splitlines())
    pending = [int(mask, 16) for name, _, mask in lines if name in {b"SigPnd", b"ShdPnd"}]
    return any(mask >> (signal.SIGKILL - 1) & 1 for mask in pending)


def in_kernels_hands(pid: int) -> bool:
    """Whether the process waits inside the kernel and hears no signal before it is let go."""
    return _stat_of(pid).state == b"D"


class _Stat(NamedTuple):
    """What the kernel says of a thread, a process's first unless another is asked for.

    `threads` is how many its process has.
    """

    state: bytes
    threads: int
    exiting: bool


def _stat_of(pid: int) -> _Stat:
    """Return what the kernel says of a process; one that is gone has no state."""
    return _read_stat(f"/proc/{pid}/stat")


def _threads_of(pid: int) -> list[str]:
    """Return the folder of each thread of a process; none of one that is gone."""
    try:
        return [f"/proc/{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _is_over(thread: str) -> bool:
    stat = _read_stat(f"{thread}/stat")
    return stat.exiting or stat.state in _ENDED


def _read_stat(path: str) -> _Stat:
    try:
        words = read_small(path).rpartition(b")")[2].split()
    except OSError:
        words = []
    if len(words) <= 17:
        return _Stat(b"", 0, exiting=True)
    # Counted from the state, which is field 3 of proc(5): 20 are the threads, 9 the flags.
    return _Stat(words[0], int(words[17]), exiting=bool(int(words[6]) & _PF_EXITING))
