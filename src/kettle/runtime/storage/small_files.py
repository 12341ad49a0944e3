"""Whole small files with few calls: reading the kernel's own (/proc, /sys), writing ours.

A file object takes nine calls each.
"""

from __future__ import annotations

import errno
import os

_PIECE = 64 * 1024


def read_small(path: str) -> bytes:
    """Return the content of a small file; OSError if it cannot be read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # The kernel hands out lists in pieces of a page: only an empty piece is the end.
        text = os.read(descriptor, _PIECE)
        piece = text
        while piece:
            piece = os.read(descriptor, _PIECE)
            text += piece
    finally:
        os.close(descriptor)
    return text


def write_fully(descriptor: int, data: bytes) -> None:
    """Write all of it, in as many pieces as it takes; OSError where the disk has no more room."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def append_whole(descriptor: int, data: bytes) -> None:
    """Append all or nothing, in one write; OSError. A disk with room for a part only is full."""
    written = os.write(descriptor, data)
    if written == len(data):
        return
    end = os.lseek(descriptor, 0, os.SEEK_CUR)
    if end == os.fstat(descriptor).st_size:
        # Nobody else has written behind it.
        os.ftruncate(descriptor, end - written)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
