"""A file that a folder has under a name of its own, and another folder already has.

With the rights of whoever calls; symbolic links are never followed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

from kettle.runtime.storage.files import NO_LINKS


def take_over(path: str, new: str) -> None:
    """Give a file a second name, in place of what has that, so that both folders have the file.

    What is still written to it is there, too. What is no file, or is not there, is not taken over.
    OSError where it cannot be.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return
    except FileNotFoundError:
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    link_or_copy(path, new)


def link_or_copy(path: str, new: str) -> None:
    """Give a file a second name, a copy where its file system has none to give; nothing newer goes.

    FileExistsError if there is a file of that name. Of a link it is the link itself.
    """
    try:
        os.link(path, new, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(new):
            raise FileExistsError(new) from error
        shutil.copy2(path, new, follow_symlinks=False)


def link_tree(folder: str, new: str) -> Iterator[None]:
    """Give the files below `folder` second names below `new`, a file at a step.

    What `new` has already stays, and what cannot be there beside it is left out.
    """
    for place, _, names in os.walk(folder):
        into = os.path.join(new, os.path.relpath(place, folder))
        yield
        with contextlib.suppress(OSError):
            os.makedirs(into, exist_ok=True)
            for name in names:
                with contextlib.suppress(FileExistsError):
                    link_or_copy(os.path.join(place, name), os.path.join(into, name))
                yield
