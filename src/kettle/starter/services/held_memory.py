"""What a job's processes have of the machine's memory, where no control group counts it.

The kernel tells each process's pages, shared ones in parts. Pages of a file that lives in memory
(memfd, /dev/shm and whatever else is a tmpfs) are no process's until they are mapped: they are
counted by the files that processes have open, each once.

A /dev/shm that is the job's own counts whole, whatever is open.

Limit: what one account cannot tell. A named file counts while a process of the job has it open
for writing: of one that is closed, or only read, nothing says whose it is. Files on their way
through a socket are not seen, nor a thread's own descriptors, nor what a job mounts for itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator

from kettle.runtime.clock import SystemClock
from kettle.runtime.storage.small_files import read_small
from kettle.starter.private_view import SHARED_MEMORY

# Limit: descriptors of one look, and how large a part of a core such looks may take.
_MOST_DESCRIPTORS = 200_000
_SHARE = 20
_MEMFD = "/memfd:"
_IN_MEMORY = frozenset(("tmpfs", "ramfs", "hugetlbfs"))
_WRITES = 0o200
_ESCAPED = re.compile(r"\\([0-7]{3})")
_MAPPING = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+)")

_MONOTONIC = SystemClock().monotonic

# Device and inode.
_File = tuple[int, int]


def proportional_bytes(pid: int) -> int | None:
    """Return a process's memory with its part of what it shares; None if it is not told."""
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return None


class MemoryFiles:
    """The files in memory that one job's processes have open."""

    def __init__(self, sandbox: str = "", seconds: Callable[[], float] = _MONOTONIC) -> None:
        """What is on the disk of `sandbox`, be it in memory, counts as disk."""
        self._sandbox = sandbox
        self._seconds = seconds
        self._found: dict[_File, int] = {}
        self._rests_until = 0.0

    def weigh(self, pids: Iterable[int]) -> int:
        """Return the bytes of these files; those of the last look if that was just now and long."""
        began = self._seconds()
        if began >= self._rests_until:
            self._found = self._look(pids)
            took = self._seconds() - began
            self._rests_until = began + took * (_SHARE + 1)
        return sum(self._found.values())

    def mapped(self, pids: Iterable[int]) -> int:
        """Return how many bytes of what was weighed last are in these processes' own memory."""
        if not self._found:
            return 0
        return sum(_mapped_bytes(pid, self._found) for pid in pids)

    def _look(self, pids: Iterable[int]) -> dict[_File, int]:
        places = (_MEMFD, *(place for place, _ in _in_memory("self")))
        shared = _device_of(SHARED_MEMORY)
        # Of what is on these every file counts elsewhere, or has been counted.
        apart = {_device_of(self._sandbox)}
        found: dict[_File, int] = {}
        left = _MOST_DESCRIPTORS
        for pid in pids:
            own = _device_of(f"/proc/{pid}/root{SHARED_MEMORY}")
            if own not in {None, shared, *apart} and (f"{SHARED_MEMORY}/", own) in _in_memory(pid):
                assert own is not None
                apart.add(own)
                found[own, 0] = _used(f"/proc/{pid}/root{SHARED_MEMORY}")
            names: list[str] = []
            with contextlib.suppress(OSError):
                names = os.listdir(f"/proc/{pid}/fd")[:left]
            left -= len(names)
            for name in names:
                for facts in _held(f"/proc/{pid}/fd/{name}", places):
                    if facts.st_dev not in apart:
                        found[facts.st_dev, facts.st_ino] = facts.st_blocks * 512
        return found


def _held(path: str, places: tuple[str, ...]) -> Iterator[os.stat_result]:
    """Yield the facts of the file behind one of the kernel's links, if it is the job's memory."""
    with contextlib.suppress(OSError):
        # A file on a server that hangs is not asked for: only its name is read.
        if not os.readlink(path).startswith(places):
            return
        facts = os.stat(path)
        if stat.S_ISREG(facts.st_mode) and (not facts.st_nlink or os.lstat(path).st_mode & _WRITES):
            yield facts


def _device_of(path: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(path).st_dev
    return None


def _used(path: str) -> int:
    """Return the bytes of all that is in a file system."""
    with contextlib.suppress(OSError):
        facts = os.statvfs(path)
        return (facts.f_blocks - facts.f_bfree) * facts.f_frsize
    return 0


def _in_memory(pid: int | str) -> list[tuple[str, int]]:
    """Return below which folders a process has files that are in memory, with their device."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        for line in os.fsdecode(read_small(f"/proc/{pid}/mountinfo")).splitlines():
            before, _, after = line.partition(" - ")
            words = before.split(" ")
            if after.split(" ")[0] in _IN_MEMORY and len(words) > 4:
                major, _, minor = words[2].partition(":")
                place = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), words[4])
                found.append((place.rstrip("/") + "/", os.makedev(int(major), int(minor))))
    return found


def _mapped_bytes(pid: int, files: Collection[_File]) -> int:
    total = 0
    inside = False
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/smaps", "rb") as file:
        for line in file:
            match = _MAPPING.match(line)
            if match is not None:
                device = os.makedev(int(match[1], 16), int(match[2], 16))
                inside = (device, int(match[3])) in files or (device, 0) in files
            elif inside and line.startswith(b"Pss:"):
                total += int(line.split()[1]) * 1024
    return total
