"""Whole small files with few calls: reading the kernel's own (/proc, /sys), writing ours.

A file object takes nine calls each.
"""

from __future__ import annotations

import errno
import os
import stat

_PIECE = 64 * 1024
AT_EASE = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""With what is opened what a user names.

A pipe keeps nobody waiting, and a terminal does not become that of a daemon, which would be hung up
with it.
"""


def read_small(path: str) -> bytes:
    """Return the content of a small file; OSError if it cannot be read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # The kernel hands out lists in pieces of a page: only an empty piece is the end.
        text = os.read(descriptor, _PIECE)
        if not text or not (piece := os.read(descriptor, _PIECE)):
            return text
        # One that is long after all is joined once.
        pieces = [text]
        while piece:
            pieces.append(piece)
            piece = os.read(descriptor, _PIECE)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def require_regular(descriptor: int) -> int:
    """Return what is open; OSError if it is no regular file, and then it is open no more.

    EISDIR for a folder: `open` would leave its descriptor open when it refuses it.
    """
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(number, "it is no regular file")
    return descriptor


def read_regular(descriptor: int, most: int) -> bytes:
    """Return what is in a file that a user may have made, and close it.

    OSError for what is no regular file (`require_regular`), and for one of more than `most` bytes
    (EFBIG): nothing is read of it.
    """
    with open(require_regular(descriptor), "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        # One that grows meanwhile is read no further.
        return file.read(size)


def open_as_meant(path: str, flags: int, mode: int = 0o644) -> int:
    """Open a file in a folder that is another account's; OSError.

    As root a link is followed only if root made it: one that the daemons' account put there could
    lead root's own writing anywhere. The account itself may link as it likes.
    """
    if os.geteuid() != 0:
        return os.open(path, flags, mode)
    try:
        return os.open(path, flags | os.O_NOFOLLOW, mode)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    link = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(link).st_uid != 0:
            raise PermissionError(errno.EACCES, "it is a link that is not root's")
        # What was looked at, whatever has the name by now.
        target = os.path.join(os.path.dirname(path), os.readlink("", dir_fd=link))
    finally:
        os.close(link)
    return os.open(target, flags, mode)


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
