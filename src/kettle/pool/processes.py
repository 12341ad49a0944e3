"""Which processes are a pool's: its daemons work in its log folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

# Limit: how long the daemons of a master that is gone may take to follow it.
LEAVE_SECONDS = 20.0
_LOOK_SECONDS = 0.05


def works_in(folder: str, *, named: bytes = b"") -> bool:
    """Whether a process that we may ask, of a title that begins so, has this working directory."""
    real = os.path.realpath(folder)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/cwd") != real or int(name) == os.getpid():
                continue
            if not named or _title(name).startswith(named):
                return True
    return False


def have_left(folders: Iterable[str], seconds: float = LEAVE_SECONDS) -> bool:
    """Wait until no daemon works in any of these folders; False if one stays."""
    deadline = time.monotonic() + seconds
    while any(works_in(folder, named=b"condor_") for folder in folders):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _title(pid: str) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(64)
