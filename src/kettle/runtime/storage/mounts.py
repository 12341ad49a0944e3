"""Which paths lie on file systems that may hang: a server far away, or a user's own program.

Judged by the path's text, the links on the way and the list of mounts alone: a look at what may
hang is what may hang. A link is read only where no such place has been reached yet.
"""

from __future__ import annotations

import os
import posixpath
import re
import select
from collections import deque
from functools import lru_cache

from kettle.octets import to_text

# Types whose operations wait for somebody: a network, or a program of a user (fuse).
_FAR = re.compile(
    r"(nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|ceph|lustre|gpfs|beegfs(_nodev)?|glusterfs|orangefs|pvfs2"
    r"|9p|virtiofs|sshfs|davfs|ocfs2|gfs2|panfs|autofs|fuse(\..+)?|fuseblk)"
)
# Limit: links on one way, as the kernel's.
_MOST_LINKS = 40
_MOUNTS = "/proc/self/mountinfo"


def far_places(mountinfo: str) -> tuple[str, ...]:
    """Return the mount points of such file systems, from the text of mountinfo, longest first."""
    places: dict[str, bool] = {}
    for line in mountinfo.splitlines():
        left, dash, right = line.partition(" - ")
        words = left.split(" ")
        if dash and len(words) > 4:
            point = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), words[4])
            # A later mount on the same place hides the earlier one.
            places[point] = _FAR.fullmatch(right.split(" ")[0]) is not None
    return tuple(sorted((point for point, far in places.items() if far), key=len, reverse=True))


class Mounts:
    """The machine's mounts, read again when the kernel says that they have changed."""

    def __init__(self, path: str = _MOUNTS) -> None:
        self._path = path
        self._far: tuple[str, ...] = ()
        self._file = -1
        self._changes = select.poll()

    def any_far(self) -> bool:
        """Whether there is any such place at all."""
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
                self._changes.register(self._file, select.POLLPRI)
            elif not self._changes.poll(0):
                return bool(self._far)
            self._far = far_places(self._read())
        except OSError:
            self._far = ()
        return bool(self._far)

    def _read(self) -> str:
        pieces = []
        os.lseek(self._file, 0, os.SEEK_SET)
        while piece := os.read(self._file, 1 << 16):
            pieces.append(piece)
        return to_text(b"".join(pieces))

    def close(self) -> None:
        """Let go of the list."""
        if self._file >= 0:
            self._changes.unregister(self._file)
            os.close(self._file)
            self._file = -1

    def is_far(self, path: str) -> bool:
        """Whether a look at this path may hang."""
        if not self.any_far():
            return False
        left = deque(path.split("/"))
        at, links = "/", 0
        while left:
            word = left.popleft()
            if word in {"", "."}:
                continue
            here = posixpath.dirname(at) if word == ".." else posixpath.join(at, word)
            if self._holds(here):
                return True
            at_link, at = at, here
            try:
                target = os.readlink(here)
            except OSError:
                # It is no link, or not there, or not ours to see.
                continue
            links += 1
            if links > _MOST_LINKS:
                return False
            at = "/" if target.startswith("/") else at_link
            left.extendleft(reversed(target.split("/")))
        return self._holds("/")

    def _holds(self, path: str) -> bool:
        """Whether a path is one of the places, or below one."""
        return any(path == place or path.startswith(place.rstrip("/") + "/") for place in self._far)


@lru_cache(maxsize=1)
def machine_mounts() -> Mounts:
    """Return the mounts of this process, one list for all who ask."""
    return Mounts()
