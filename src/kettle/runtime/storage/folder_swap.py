"""One folder takes another's place, with all that is in it, and is on disk when that is told.

What arrives is gathered in `FOLDER.tmp`. The two exchange their names, and what was there is
`FOLDER.swap` until the names are on disk. Where the file system cannot do that, FOLDER is missing
for a moment: whoever died in it is mended by `settle`, at the start or before the next use. Folders
are a user's in the daemons' spool. Syncing goes on beside the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.runtime.process.kernel import exchange_names
from kettle.runtime.storage.removal import remove_as_root
from kettle.runtime.storage.trees import walk_tree

if TYPE_CHECKING:
    from kettle.runtime.process.privileges import Privileges
    from kettle.runtime.storage.files import Files

ARRIVING = ".tmp"
OLD = ".swap"
# Files that are open, and waited for, at once.
_AT_ONCE = 64
# Folders above that may be as new: those of a spool, with the spool itself.
_LEVELS = 3
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Why a name that was a file's cannot be opened: by now it is a link's, a socket's or a pipe's, or
# nobody's, or in no folder; or it is closed to us, or a folder that is closed to reading.
_NO_FILE = frozenset({
    errno.ELOOP, errno.ENXIO, errno.ENOENT, errno.ENOTDIR,
    errno.EACCES, errno.EPERM, errno.EISDIR,
})  # fmt: skip


def _nothing() -> None:
    return None


async def put_in_place(
    files: Files,
    privileges: Privileges,
    folder: str,
    check: Callable[[], object] = _nothing,
    swapped: Callable[[], object] = _nothing,
) -> None:
    """Let what arrived take the place of `folder`, or be it; return when that is on disk.

    StorageError if it cannot be: then one of the two is there, whole. `check` is asked at the last
    moment, and what it raises leaves everything as it was; `swapped` is told in the moment in which
    the new one is there.
    """
    arriving, old = folder + ARRIVING, folder + OLD
    settle(privileges, folder)
    try:
        await sync_tree(files, privileges, arriving)
        await tasks.in_turns(remove_as_root(privileges, old))
        check()
        with privileges.as_root():
            try:
                exchange_names(arriving, folder)
            except OSError:
                _swap(privileges, folder)
            else:
                os.rename(arriving, old)
        swapped()
        await sync_folders(files, privileges, _above(folder))
    except OSError as error:
        text = f"cannot put {folder} in place: {error.strerror}"
        raise StorageError(text, errno=error.errno or 0) from error
    await tasks.in_turns(remove_as_root(privileges, old))


def _swap(privileges: Privileges, folder: str) -> None:
    """Change the names one after the other, also where there is no folder yet."""
    with contextlib.suppress(FileNotFoundError):
        os.rename(folder, folder + OLD)
    try:
        os.rename(folder + ARRIVING, folder)
    except OSError:
        settle(privileges, folder)
        raise


def settle(privileges: Privileges, folder: str) -> None:
    """Give a folder its name back that was lost between the two names of a swap."""
    if os.path.lexists(folder):
        return
    with privileges.as_root(), contextlib.suppress(OSError):
        os.rename(folder + OLD, folder)


async def sync_tree(files: Files, privileges: Privileges, folder: str) -> None:
    """Return when the files and folders below a folder, and it itself, are on disk; OSError."""
    await _sync_opened(files, privileges, _opened(folder))


async def sync_folders(files: Files, privileges: Privileges, folders: Iterable[str]) -> None:
    """Return when the names in these folders are on disk; OSError."""
    await _sync_opened(files, privileges, (os.open(each, _FOLDER | _FLAGS) for each in folders))


async def _sync_opened(
    files: Files, privileges: Privileges, opened: Generator[int, None, None]
) -> None:
    """Sync what is opened one after the other, as many at once as may be."""
    with contextlib.closing(opened):
        while True:
            # The rights are the process's: they are given back before anything is waited for.
            with privileges.as_root():
                batch = _take(opened)
            if not batch:
                return
            await _sync(files, batch)


def _take(opened: Iterator[int]) -> list[int]:
    """Return the next open files; where one cannot be opened, those before it are closed."""
    batch: list[int] = []
    try:
        for descriptor in islice(opened, _AT_ONCE):
            batch.append(descriptor)  # noqa: PERF402 - what was opened before an error is kept
    except BaseException:
        _close(batch)
        raise
    return batch


def _opened(folder: str) -> Generator[int, None, None]:
    """Open a folder and, one after the other, what is below it; links and pipes have no content."""
    yield os.open(folder, _FOLDER | _FLAGS)
    for parent, entry in walk_tree(folder):
        if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
            continue
        descriptor = _open_entry(entry.name, parent)
        if descriptor >= 0:
            yield descriptor


def _open_entry(name: str, parent: int) -> int:
    """Open a file or a folder; -1 if it is none any more, as its owner changes it meanwhile."""
    # Without root's rights a file may be closed to its owner: then nobody can use it.
    for access in (os.O_RDONLY, os.O_WRONLY):
        try:
            descriptor = os.open(name, access | _FLAGS, dir_fd=parent)
        except OSError as error:
            if error.errno not in _NO_FILE:
                raise
            continue
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return descriptor
        os.close(descriptor)
        break
    return -1


def _above(folder: str) -> Generator[str, None, None]:
    for _ in range(_LEVELS):
        folder = os.path.dirname(folder)
        yield folder or "."


async def _sync(files: Files, descriptors: list[int]) -> None:
    """Sync open files, in one batch where the synchronizer has such, and close them; OSError."""
    try:
        syncing = (files.synchronizer.sync(each) for each in descriptors)
        for result in await asyncio.gather(*syncing, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
    finally:
        _close(descriptors)


def _close(descriptors: Iterable[int]) -> None:
    for each in descriptors:
        os.close(each)
