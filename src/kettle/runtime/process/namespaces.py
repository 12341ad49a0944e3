"""Views of the file tree for programs: a mount namespace in which some folders are others.

Only root can make one. The calling process keeps its own view: it goes in, spawns, and comes back,
as with control groups. Which folders a job sees as its own is decided in `starter/private_view.py`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from kettle.runtime.process import kernel


class MountNamespace:
    """One view. OSError from `make` where this process may not have one."""

    def __init__(self, outside: int, inside: int) -> None:
        self._outside = outside
        self._inside = inside

    @classmethod
    def make(cls) -> MountNamespace:
        """Make a copy of the present view; mounts made outside later are still seen inside."""
        outside = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        try:
            with _same_directory():
                kernel.unshare_mounts()
                try:
                    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
                    inside = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
                finally:
                    kernel.join_mounts(outside)
        except OSError:
            os.close(outside)
            raise
        return cls(outside, inside)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """See what is seen inside; nothing in here may await."""
        with _same_directory():
            kernel.join_mounts(self._inside)
            try:
                yield
            finally:
                kernel.join_mounts(self._outside)

    def close(self) -> None:
        """Let go of the view; it is gone when the last process inside is."""
        os.close(self._inside)
        os.close(self._outside)


@contextlib.contextmanager
def _same_directory() -> Iterator[None]:
    """Come back to the working directory, which a change of the view loses."""
    here = os.open(".", os.O_PATH | os.O_CLOEXEC)
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)
