"""How the kernel has a process: whether it lives, is ending, or will never run again."""

from __future__ import annotations

import signal

from kettle.named_tuples import NamedTuple
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

    The kernel passes over a subreaper that has begun to exit: what its dead children leave falls
    to the one above it long before it can be reaped, or is seen as a zombie. Limit: one whose first
    thread alone has ended counts as well; no daemon of ours ends so.
    """
    stat = _stat_of(pid)
    return stat.exiting or stat.state in _ENDED


def is_killed(pid: int) -> bool:
    """Whether the process will do nothing more: SIGKILL waits for it, or it has begun to end."""
    try:
        return waits_for_kill(read_small(f"/proc/{pid}/status")) or is_ending(pid)
    except OSError:
        return True


def waits_for_kill(status: bytes) -> bool:
    """Whether SIGKILL is among the pending signals that /proc/PID/status names (proc(5))."""
    pending = [int(mask, 16) for name in (b"SigPnd", b"ShdPnd") for mask in said(status, name)]
    return any(mask >> (signal.SIGKILL - 1) & 1 for mask in pending)


def said(status: bytes, name: bytes) -> list[bytes]:
    """Return the words of a line of /proc/PID/status (proc(5)), none where there is none."""
    return status.partition(b"\n" + name + b":")[2].partition(b"\n")[0].split()


def in_kernels_hands(pid: int) -> bool:
    """Whether the process waits inside the kernel and hears no signal before it is let go."""
    return _stat_of(pid).state == b"D"


class _Stat(NamedTuple):
    """What the kernel says of a process: of its first thread, but for the number of `threads`."""

    state: bytes
    threads: int
    exiting: bool


def _stat_of(pid: int) -> _Stat:
    """Return what the kernel says of a process; one that is gone has no state."""
    try:
        words = read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        words = []
    if len(words) <= 17:
        return _Stat(b"", 0, exiting=True)
    # Counted from the state, which is field 3 of proc(5): 20 are the threads, 9 the flags.
    return _Stat(words[0], int(words[17]), exiting=bool(int(words[6]) & _PF_EXITING))
