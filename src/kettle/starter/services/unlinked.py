"""What a job holds on disk under no name any more: files that it deleted and keeps open or mapped.

The kernel frees them with their last descriptor, so they count like the rest of the sandbox, and
nobody who walks over names sees them. They are found where the kernel shows what a process has
open: one call for each descriptor, no more.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from kettle.runtime.storage.small_files import read_small

# Limit: descriptors that are looked at in one round, about a second's work. More than a process
# may have open by default, many times over. What is left of them is for deleted files that are
# mapped, each of which takes as long as several.
_MOST_DESCRIPTORS = 200_000
_OF_A_MAPPED_FILE = 6
# Limit: a thread with descriptors of its own, files that are on their way through a socket, and,
# where we are not root, processes that let nobody look at them, are not seen.
_DELETED_MAPPING = re.compile(
    rb"^([0-9a-f]+-[0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$",
    re.MULTILINE,
)

# Device, inode and KiB.
_File = tuple[int, int, int]


def weigh_unlinked(pids: Iterable[int], devices: Collection[int]) -> tuple[int, int]:
    """Return the KiB of deleted files on these devices that processes hold, and their number."""
    found: dict[tuple[int, int], int] = {}
    left, pids = _MOST_DESCRIPTORS, list(pids)

    def opened() -> Iterator[_File]:
        nonlocal left
        for pid in pids:
            names = _descriptors(pid)[:left]
            left -= len(names)
            for name in names:
                yield from _held(f"/proc/{pid}/fd/{name}")

    def mapped() -> Iterator[_File]:
        nonlocal left
        for pid in pids:
            for file in _mapped(pid) if left > 0 else ():
                yield file
                left -= _OF_A_MAPPED_FILE
                if left <= 0:
                    break

    # Descriptors of all first: they tell what a file has, a mapping only how far it reaches.
    for device, inode, kib in chain(opened(), mapped()):
        if device in devices:
            found.setdefault((device, inode), kib)
    return sum(found.values()), len(found)


def _descriptors(pid: int) -> list[str]:
    """Return the numbers of what a process has open; none of one that is gone, or not ours."""
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def _held(path: str) -> Iterator[_File]:
    """Yield the file behind one of the kernel's links, if it has no name and is one with blocks."""
    with contextlib.suppress(OSError):
        # A file on a server that hangs is not asked for: only its name is read.
        if not os.readlink(path).endswith(" (deleted)"):
            return
        facts = os.stat(path)
        if facts.st_nlink == 0 and stat.S_ISREG(facts.st_mode):
            yield facts.st_dev, facts.st_ino, (facts.st_blocks + 1) // 2


def _mapped(pid: int) -> Iterator[_File]:
    """Yield the deleted files of a process's memory; their mapped size where no more is told."""
    try:
        maps = read_small(f"/proc/{pid}/maps")
    except OSError:
        return
    if b"(deleted)" not in maps:
        return
    seen = set[tuple[bytes, ...]]()
    for match in _DELETED_MAPPING.finditer(maps):
        if match.group(3, 4, 5) in seen:
            continue
        seen.add(match.group(3, 4, 5))
        found = list(_held(f"/proc/{pid}/map_files/{match[1].decode('ascii')}"))
        if not found:
            begin, _, end = match[1].partition(b"-")
            reach = int(match[2], 16) + int(end, 16) - int(begin, 16)
            device = os.makedev(int(match[3], 16), int(match[4], 16))
            found = [(device, int(match[5]), reach // 1024)]
        yield from found
