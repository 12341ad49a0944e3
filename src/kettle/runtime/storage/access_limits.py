"""Which folders of the access point files may come from and go to: LIMIT_DIRECTORY_ACCESS.

Paths are judged by where they really are, links and `..` resolved; what does not exist yet is
judged by where it would be. The administrator's list wins over the job's own, LimitDirectoryAccess;
either admits the job's folders in the spool. Source: the manual, LIMIT_DIRECTORY_ACCESS.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence

from kettle.runtime.storage.folder_swap import ARRIVING
from kettle.transfer.plan import split_at_commas
from kettle.transfer.spool_names import LEFT, OUTPUT


class AccessLimits:
    """The folders below which files may be touched; an entry that ends in `*` is a prefix."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._prefixes = tuple(map(_prefix, folders))

    @classmethod
    def of(cls, administrators: Sequence[str], fence: str, spooled: str) -> AccessLimits | None:
        """Return where a job's files may be; None for anywhere.

        `administrators` are the entries of LIMIT_DIRECTORY_ACCESS, `fence` is the job's own list
        (LimitDirectoryAccess), `spooled` its folder in the spool, or nothing.
        """
        folders = tuple(administrators) or tuple(split_at_commas(fence))
        if not folders:
            return None
        if not spooled:
            return cls(folders)
        own = (spooled, spooled + LEFT, spooled + OUTPUT)
        return cls((*folders, *own, *(folder + ARRIVING for folder in own)))

    def allow(self, path: str) -> bool:
        """Tell whether a file may be read, written or made here."""
        if path == os.devnull:
            return True
        real = os.path.realpath(path)
        return f"{real}/".startswith(self._prefixes)

    def check(self, path: str) -> None:
        """Raise OSError (EACCES) for a path that is outside."""
        if not self.allow(path):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def _prefix(folder: str) -> str:
    if folder.endswith("*"):
        return folder[:-1]
    return os.path.realpath(folder).rstrip("/") + "/"
