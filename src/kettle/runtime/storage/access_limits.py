"""Which folders of the access point files may come from and go to: LIMIT_DIRECTORY_ACCESS.

Paths are judged by where they really are, links and `..` resolved; what does not exist yet is
judged by where it would be. Whoever has the folders, as jobs do, may change where a name leads
behind that look: so what was opened is asked again (`bounds.py`). Limit: whether a file outside is
there at all, and no more of it, can be found out with a name that is exchanged in that moment.

The administrator's list wins over the job's own, LimitDirectoryAccess; either admits the job's
folders in the spool. Source: the manual, LIMIT_DIRECTORY_ACCESS.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence

from kettle.runtime.storage.bounds import BarredError, Bounds
from kettle.runtime.storage.folder_swap import ARRIVING
from kettle.transfer.plan import split_at_commas
from kettle.transfer.spool_names import LEFT, OUTPUT

_OUTSIDE = os.strerror(errno.EACCES)


class AccessLimits(Bounds):
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
        """Tell whether a file may be read, written or made here, as far as its name tells."""
        return path == os.devnull or self._has(os.path.realpath(path))

    def _has(self, place: str) -> bool:
        return place == os.devnull or f"{place}/".startswith(self._prefixes)

    def objection(self, place: str) -> str:
        """Return why a place, without links, is outside; nothing if it is not."""
        return "" if self._has(place) else _OUTSIDE

    def look_at(self, path: str) -> None:
        """Raise BarredError (EACCES) for a path that is outside."""
        if not self.allow(path):
            raise BarredError(errno.EACCES, _OUTSIDE, path)


def _prefix(folder: str) -> str:
    if folder.endswith("*"):
        return folder[:-1]
    return os.path.realpath(folder).rstrip("/") + "/"
