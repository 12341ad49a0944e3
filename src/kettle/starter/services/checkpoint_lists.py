"""The list of a checkpoint's files: what goes to the access point, and what comes back with it.

A checkpoint may be large, and a list any file that the job calls so: both are read by steps of
about a millisecond, each with the job's rights only as long as it lasts.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator, Sequence

from kettle.errors import RefusedError
from kettle.runtime.storage.fences import open_inside
from kettle.runtime.storage.small_files import AT_EASE, read_regular
from kettle.starter.services.parts import Starter
from kettle.transfer.checkpoints import MAX_MANIFEST, Entry, parse_by_steps, render_manifest
from kettle.transfer.items import SendFile

_PIECE = 1024 * 1024


def render_list(
    starter: Starter, number: int, files: Sequence[SendFile]
) -> Generator[None, None, str]:
    """Return the manifest of a checkpoint of these files; OSError, RefusedError."""
    entries = []
    for item in files:
        digest = yield from _digest(starter, item.path)
        entries.append(Entry(digest, item.name))
    return render_manifest(number, entries)


def compare(starter: Starter, folder: str, manifest: str) -> Generator[None, None, int]:
    """See that a checkpoint's files in a folder are what its manifest there says.

    Returns the manifest's size. RefusedError if it is none, or a file is another; OSError.
    """
    data = read_regular(_opened(starter, os.path.join(folder, manifest)), MAX_MANIFEST)
    try:
        entries = yield from parse_by_steps(data)
    except RefusedError:
        raise RefusedError("Invalid MANIFEST file") from None
    for entry in entries:
        try:
            digest = yield from _digest(starter, os.path.join(folder, entry.name))
        except OSError:
            text = f"Failed to open checkpoint file ('{entry.name}') to compute checksum."
            raise RefusedError(text) from None
        if digest != entry.digest:
            raise RefusedError(
                f"Checkpoint file '{entry.name}' did not have expected checksum "
                f"({digest} vs {entry.digest})."
            )
    return len(data)


def _opened(starter: Starter, path: str) -> int:
    """Open a file with the job's rights; no link is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | AT_EASE
    with starter.world.privileges.as_account(starter.keeper.account):
        return open_inside(starter.keeper.fence, path, flags)


def _digest(starter: Starter, path: str) -> Generator[None, None, str]:
    """Return the SHA-256 of a file's content, in hexadecimal; OSError."""
    descriptor = _opened(starter, path)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            # A device would have no end.
            raise OSError(errno.EINVAL, "it is no regular file", path)
        digest = hashlib.sha256()
        while piece := os.read(descriptor, _PIECE):
            digest.update(piece)
            yield
    finally:
        os.close(descriptor)
    yield
    return digest.hexdigest()
