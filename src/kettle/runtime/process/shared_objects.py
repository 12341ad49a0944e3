"""What an account has left of System V's shared memory, semaphores and message queues.

They belong to no process, so nobody's end removes them. Where jobs have an IPC namespace the kernel
does (`namespaces.py`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kettle.runtime.process import kernel
from kettle.runtime.storage.small_files import read_small

_TABLES = ("shm", "msg", "sem")


def remove_shared_objects(uid: int) -> None:
    """Remove all that an account has made; the caller may (it is root, or the account itself)."""
    for table in _TABLES:
        with contextlib.suppress(OSError):
            for kind, number in find_made_by(read_small(f"/proc/sysvipc/{table}"), uid):
                kernel.remove_ipc(kind, number)


def find_made_by(table: bytes, uid: int) -> Iterator[tuple[str, int]]:
    """Yield kind and number of what an account has made, from a table of the kernel's.

    The first line names the columns; who made an object, unlike whose it is, cannot be changed.
    """
    head, *lines = table.decode("ascii").splitlines() or [""]
    names = head.split()
    for line in lines:
        values = dict(zip(names, map(int, line.split()), strict=False))
        if values.get("cuid") == uid:
            yield names[1], values[names[1]]
