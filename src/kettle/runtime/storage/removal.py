"""Removes whole directory trees, also those whose folders a job closed to us.

Used for sandboxes and for pools that are taken down for good. Which tree may go is decided where it
is called.
"""

from __future__ import annotations

import contextlib
import os
import shutil


def remove_tree(folder: str) -> bool:
    """Remove `folder` and all below it; tell whether nothing of it is left.

    Folders that their owner closed are opened first. Root needs nothing opened, and must not:
    between the look at a name and the change of its mode another process of a job's account could
    put a link to anything in its place.
    """
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError:
        if os.geteuid() != 0:
            _open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def _open_up(folder: str) -> None:
    """Make every folder below writable; what links lead to stays as it is."""
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
    # From the top down: a folder is opened before the walk looks into it.
    for parent, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
