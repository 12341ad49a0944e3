"""Notes of which processes somebody answers for, for whoever has to end them when he is dead.

A process is known by its number and by when it began, both of which everybody may read in /proc
and neither of which it can change, however it hides. Notes matter for kills only: after a power
cut there is nothing left to be ended, so nothing is synced.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

from kettle.runtime.storage.small_files import read_small

# Limit: processes in one note.
_MOST_NOTED = 100_000
_TICKS = os.sysconf("SC_CLK_TCK")


def note_of(execute: str, starter_pid: int) -> str:
    """Return where a starter's note lies, beside its sandbox."""
    return f"{execute}/.processes_{starter_pid}"


def birth_of(pid: int) -> int:
    """Return when a process began, in the kernel's ticks; 0 if there is none."""
    try:
        return int(read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def birth_moment_of(pid: int) -> float:
    """Return when a process began by the clock as it goes now; 0 if there is none."""
    birth = birth_of(pid)
    if not birth:
        return 0.0
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + birth / _TICKS


class Census:
    """One note."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._noted: dict[int, int] = {}
        # Whether there may be a file of ours.
        self._written = False

    def note(self, pids: Iterable[int]) -> None:
        """See that these, and no others, are in the note; OSError if it cannot be written."""
        seen = set(pids)
        if seen == self._noted.keys():
            return
        new = {pid: birth for pid in seen - self._noted.keys() if (birth := birth_of(pid))}
        # Who has ended is forgotten; a number that comes again is somebody else's.
        after = {pid: birth for pid, birth in self._noted.items() if pid in seen} | new
        if after == self._noted:
            return
        text = "".join(f"{pid} {birth}\n" for pid, birth in after.items())
        self._written = True
        arriving = f"{self._path}.new"
        with open(arriving, "w", encoding="ascii") as file:
            file.write(text)
        os.rename(arriving, self._path)
        # Only now: what had no room is written at the next look.
        self._noted = after

    def remove(self) -> None:
        """Take the note away."""
        self._noted = {}
        if self._written:
            remove_note(self._path)


def remove_note(path: str) -> None:
    """Take a note away, and one that was just being written."""
    for each in (path, f"{path}.new"):
        with contextlib.suppress(OSError):
            os.unlink(each)


def read_note(path: str) -> list[int]:
    """Return the pids of a note that are still the processes that were noted."""
    found = []
    with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
        for _, line in zip(range(_MOST_NOTED), file, strict=False):
            pid, birth = map(int, line.split())
            if pid > 1 and birth_of(pid) == birth != 0:
                found.append(pid)
    return found
