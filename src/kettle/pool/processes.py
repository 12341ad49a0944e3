"""Which processes are a pool's: its daemons work in its log folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

# Limit: how long the daemons of a master that is gone may take to follow it.
LEAVE_SECONDS = 20.0
_LOOK_SECONDS = 0.05
# How the titles of daemons, and of whatever they fork, begin.
_TITLE = b"condor_"


def works_in(folder: str) -> bool:
    """Whether a daemon that we may ask has this working directory; a shell there is nobody's."""
    real = os.path.realpath(folder)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") != real or int(name) == os.getpid():
                continue
            if _title(name).startswith(_TITLE):
                return True
    return False


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
