"""Removes whole directory trees, also those whose folders a job closed to us, or nested deeply.

Used for sandboxes and for pools that are taken down for good. Which tree may go is decided where it
is called.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from kettle.runtime.storage.trees import empty_folder


def remove_tree(folder: str) -> bool:
    """Remove `folder` and all below it; tell whether nothing of it is left.

    A link in its place is left, and nothing behind it is touched.
    """
    for _ in remove_by_steps(folder):
        pass
    return not os.path.lexists(folder)


def remove_by_steps(folder: str) -> Iterator[None]:
    """Do what `remove_tree` does a step at a time, for those who have other things to do."""
    with contextlib.suppress(OSError):
        yield from empty_folder(folder)
        os.rmdir(folder)
