"""Which processes are a pool's: its daemons work in its log folder."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator

from kettle.runtime.process.processes import real_uid_of

# Limit: how long the daemons of a master that is gone may take to follow it.
LEAVE_SECONDS = 20.0
_LOOK_SECONDS = 0.05
# How the titles of daemons, and of whatever they fork, begin.
_TITLE = b"condor_"
# A master itself, and not the zygote below it.
_MASTER = re.compile(rb"condor_master(?![:\w])")


def works_in(folder: str) -> bool:
    """Whether a daemon that we may ask has this working directory; a shell there is nobody's."""
    return next(_daemons_in(folder), None) is not None


def find_master(folder: str, owner: int) -> int | None:
    """Return the pid of the master that works in a log folder, its owner's or root's.

    Also where the folder, and the lock in it that says so, has been deleted under its daemons.
    """
    for pid, title in _daemons_in(folder):
        if _MASTER.match(title) and real_uid_of(pid) in {0, owner}:
            return pid
    return None


def _daemons_in(folder: str) -> Iterator[tuple[int, bytes]]:
    """Yield pid and title of the daemons that have this working directory, deleted or not."""
    real = os.path.realpath(folder)
    # As the kernel says of a folder that is gone.
    wanted = {real, f"{real} (deleted)"}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") not in wanted or int(name) == os.getpid():
                continue
            title = _title(name)
            if title.startswith(_TITLE):
                yield int(name), title


def have_left(folders: Iterable[str], seconds: float = LEAVE_SECONDS) -> bool:
    """Wait until no daemon works in any of these folders; False if one stays."""
    deadline = time.monotonic() + seconds
    while any(works_in(folder) for folder in folders):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _title(pid: str) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(64)
