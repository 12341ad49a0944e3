"""How much room a file system has left; what is done about too little is decided by who asks."""

from __future__ import annotations

import os


def read_free_kib(path: str) -> int | None:
    """Return what an ordinary user may still write where `path` is; None if it cannot be told."""
    try:
        facts = os.statvfs(path)
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize // 1024
