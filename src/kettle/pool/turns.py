"""One at a time: who brings a pool up in a folder keeps others out of it meanwhile.

Without that a second one takes the first one's half-made pool for its own, and clears it away when
its start fails. The lock is the folder's own, so nothing is left of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator

from kettle.errors import KettleError

# Limit: how long another's start is waited for.
PATIENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.1


@contextlib.contextmanager
def turn_in(folder: str, seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait for our turn in a folder, which is made if need be; KettleError if it does not come.

    What was made for it, and what is above it, goes again if nothing has come of it.
    """
    made = _find_missing(folder)
    deadline = time.monotonic() + seconds
    try:
        descriptor = _lock(folder, deadline)
    except OSError:
        # What is wrong with the folder is said by whoever makes the pool in it.
        try:
            yield
        finally:
            _remove_empty(made)
        return
    try:
        yield
    finally:
        _remove_empty(made)
        os.close(descriptor)


def _lock(folder: str, deadline: float) -> int:
    while True:
        make_path(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _wait(folder, descriptor, deadline)
            if _is_there(folder, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # The one before us took the folder away.
        os.close(descriptor)


def _wait(folder: str, descriptor: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise KettleError(f"another `kettle up` is at work in {folder}") from None
            time.sleep(_LOOK_SECONDS)


def _is_there(folder: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(folder), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def open_to_owner() -> Iterator[None]:
    """Have what is made here be its owner's to use whatever the umask, which else counts."""
    before = os.umask(0o077)
    os.umask(before & 0o077)
    try:
        yield
    finally:
        os.umask(before)


def make_path(folder: str) -> None:
    """Make a folder, and what is missing above it; OSError.

    What root makes is open to who goes through, whatever the umask: the account of jobs does. What
    anybody makes is for nobody else to write.
    """
    missing = _find_missing(folder)
    with open_to_owner():
        os.makedirs(folder, exist_ok=True)
    for each in missing:
        if os.getuid() == 0:
            os.chmod(each, 0o755)  # noqa: S103
        else:
            keep_to_owner(each)


def keep_to_owner(path: str) -> None:
    """Have nobody but its owner write a file or folder; OSError if it is not ours."""
    mode = stat.S_IMODE(os.stat(path).st_mode)
    if mode & 0o022:
        os.chmod(path, mode & ~0o022)


def _find_missing(folder: str) -> list[str]:
    """Return which folders are not there yet, the innermost first."""
    missing = []
    path = os.path.abspath(folder)
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _remove_empty(folders: list[str]) -> None:
    """Remove those that are there, each in the next, as far as they are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
