"""What is in one folder comes on top of what is in another, until it is empty.

Who dies in the middle leaves both: whoever goes on does the rest. With the rights of the caller,
whose folders these are.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Generator

from kettle.runtime.storage.removal import remove_by_steps


def merge_by_steps(
    source: str, into: str, older: str, spared: Collection[str] = ()
) -> Generator[None, None, list[str]]:
    """Move what is in `source` into `into`, a name at a step; return the folders that changed.

    What is in its way there goes, and what has its name in `older`. `spared` are names that stay
    what they are. Folders that both have become one. OSError where something cannot be moved.
    """
    waiting = [""]
    changed = []
    while waiting:
        below = waiting.pop()
        changed.append(os.path.join(into, below))
        with os.scandir(os.path.join(source, below)) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for each, is_folder in found:
            name = os.path.join(below, each)
            if name in spared:
                continue
            target, stale = os.path.join(into, name), os.path.join(older, name)
            if is_folder and (_is_folder(target) or _is_folder(stale)):
                if not _is_folder(target):
                    yield from _remove(target)
                    os.mkdir(target, 0o700)
                waiting.append(name)
                continue
            yield from _remove(stale)
            if is_folder or _is_folder(target):
                yield from _remove(target)
            os.rename(os.path.join(source, name), target)
            yield
    return changed


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _remove(path: str) -> Generator[None, None, None]:
    """Remove what is there, if anything is."""
    if _is_folder(path):
        yield from remove_by_steps(path)
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)
