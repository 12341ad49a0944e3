"""Removes whole directory trees, also those whose folders a job closed to us, or nested deeply.

Used for sandboxes and for pools that are taken down for good. Which tree may go is decided where it
is called.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.runtime.storage.trees import empty_folder
from kettle.steps import take_within

if TYPE_CHECKING:
    from kettle.runtime.process.privileges import Privileges

# Files that are removed before others have their turn.
_AT_ONCE = 100


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


def remove_as_root(privileges: Privileges, folder: str) -> Iterator[None]:
    """Remove a tree that is another account's, some files at a step.

    The rights are the process's: they are given back before anybody else has a turn.
    """
    return take_within(privileges.as_root, remove_by_steps(folder), _AT_ONCE)
