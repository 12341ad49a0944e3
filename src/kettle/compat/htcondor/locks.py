"""`lock` of version 1: a file is locked as long as a `with` statement runs."""

from __future__ import annotations

import fcntl
from types import TracebackType
from typing import Any, Final, Self

from kettle.compat.htcondor.enums import LockType
from kettle.compat.htcondor.errors import HTCondorIOError

_OPERATIONS: Final = {LockType.ReadLock: fcntl.LOCK_SH, LockType.WriteLock: fcntl.LOCK_EX}


class FileLock:
    """A lock on a file, as our daemons take theirs; `lock` makes one."""

    def __init__(self, file: Any, lock_type: Any) -> None:
        """Take the lock at the beginning of the `with` statement, waiting for others' to end."""
        self._number = int(file if isinstance(file, int) else file.fileno())
        self._operation = _OPERATIONS[LockType(int(lock_type))]

    def _apply(self, operation: int) -> None:
        try:
            fcntl.flock(self._number, operation)
        except OSError as error:
            raise HTCondorIOError(f"the file cannot be locked: {error}") from error

    def __enter__(self) -> Self:
        self._apply(self._operation)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._apply(fcntl.LOCK_UN)


def lock(file: Any, lock_type: Any) -> FileLock:
    """Return a lock on an open file, for one writer or for many readers."""
    return FileLock(file, lock_type)
