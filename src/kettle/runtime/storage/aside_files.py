"""The local disk for transfers in a process that many jobs share: what may take long is done aside.

A small file on a local disk is read and written at once. Everything on a file system that may
hang, and the bytes of large files, go through `Aside`; the steps of the dialog then wait for it,
and other jobs go on. What takes another file's place does so when it is whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from kettle.runtime.process.aside import Aside
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.beside_files import PART_PREFIX, BesideTarget
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.transfer_files import LocalFiles, LocalSource, LocalTarget
from kettle.wire.messages.filetransfer import CHUNK

T = TypeVar("T")


class AsideSource:
    """A file that is read aside. Its lock keeps a late close from a read under way."""

    __slots__ = ("_aside", "_lock", "_source", "mode", "size")

    def __init__(self, source: LocalSource, aside: Aside) -> None:
        self._source = source
        self._aside = aside
        self._lock = threading.Lock()
        self.size = source.size
        self.mode = source.mode

    def read(self, size: int) -> Awaitable[bytes]:
        """Return up to `size` bytes, soon."""
        return self._aside.run(partial(self._locked, partial(self._source.read, size)))

    def close(self) -> None:
        """Close the file when nothing is done with it any more."""
        self._aside.run(partial(self._locked, self._source.close))

    def _locked(self, action: Callable[[], T]) -> T:
        with self._lock:
            return action()


class AsideTarget:
    """A file that is written aside."""

    __slots__ = ("_aside", "_lock", "_target")

    def __init__(self, target: LocalTarget, aside: Aside) -> None:
        self._target = target
        self._aside = aside
        self._lock = threading.Lock()

    def write(self, data: bytes) -> Awaitable[None]:
        """Append the bytes, soon."""
        return self._aside.run(partial(self._locked, partial(self._target.write, data)))

    def close(self) -> Awaitable[None]:
        """Finish the file, soon; its errors are the result's."""
        return self._aside.run(partial(self._locked, self._target.close))

    def discard(self) -> Awaitable[None]:
        """Take the file away, soon."""
        return self._aside.run(partial(self._locked, self._target.discard))

    def _locked(self, action: Callable[[], None]) -> None:
        with self._lock:
            action()


class AsideFiles(LocalFiles):
    """`Storage` whose slow steps are awaitable. What is far is `is_far`'s to say.

    `makes` is made, where it is missing, for what is written there, and so are folders below it
    that are missing if `makes_below`. Nothing is touched outside of `limits`, and `reserve` is kept
    free.
    """

    def __init__(
        self,
        aside: Aside,
        is_far: Callable[[str], bool],
        makes: str | None = None,
        limits: AccessLimits | None = None,
        reserve: Reserve | None = None,
        *,
        makes_below: bool = False,
    ) -> None:
        super().__init__(reserve=reserve, fence=limits)
        self._aside = aside
        self._is_far = is_far
        self._makes = makes
        self._makes_below = makes_below
        self._limits = limits

    def _may_have_beside(self, path: str) -> bool:
        """Tell whether there may be another file in a path's folder: limits may end in a name."""
        if self._limits is None:
            return True
        return self._limits.allow(os.path.join(os.path.dirname(path), PART_PREFIX))

    def _write(self, act: Callable[[], T], path: str) -> T:
        """Do what needs the folder of a path, which is made if it may be."""
        try:
            return act()
        except FileNotFoundError:
            folder = os.path.dirname(os.path.normpath(path))
            if not self._may_make(folder):
                raise
            if self._reserve is not None:
                self._reserve.check_below(_nearest(folder))
            make = os.mkdir if self._limits is None else self._limits.make_directory
            _make_folders(folder, make)
            return act()

    def _may_make(self, folder: str) -> bool:
        root = self._makes
        if root is None or folder == root:
            return root is not None
        return self._makes_below and folder.startswith(f"{root}/")

    def open_source(  # type: ignore[override]
        self, path: str
    ) -> LocalSource | AsideSource | Awaitable[LocalSource | AsideSource]:
        """Open a regular file for sending."""
        if self._is_far(path):
            return self._open_far_source(path)
        source = LocalSource(path, self._limits)
        return source if source.size <= CHUNK else AsideSource(source, self._aside)

    async def _open_far_source(self, path: str) -> AsideSource:
        opening = self._aside.run(partial(LocalSource, path, self._limits))
        return AsideSource(await self._opened(opening, LocalSource.close), self._aside)

    def open_target(  # type: ignore[override]
        self, path: str, mode: int, size: int = 0
    ) -> LocalTarget | Awaitable[AsideTarget]:
        """Create or replace a file that will have so many bytes."""
        make = partial(self._begin, path, mode, size)
        return self._open_far_target(path, make) if self._is_far(path) else self._write(make, path)

    def _begin(self, path: str, mode: int, size: int) -> LocalTarget:
        if self._limits is not None:
            # Before it is known what else may be wrong with it.
            self._limits.look_at(path)
        kind = BesideTarget if self._may_have_beside(path) else LocalTarget
        return kind(path, mode, self._reserve, size, self._limits)

    async def _open_far_target(self, path: str, make: Callable[[], LocalTarget]) -> AsideTarget:
        opening = self._aside.run(partial(self._write, make, path))
        # A lambda, as each kind of target has a way of its own.
        target = await self._opened(opening, lambda target: target.discard())
        return AsideTarget(target, self._aside)

    async def _opened(self, opening: asyncio.Future[T], drop: Callable[[T], None]) -> T:
        """Return what is opened aside; `drop` it if nobody waits for it any more when it is."""
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(partial(self._drop, drop))
            raise

    def _drop(self, drop: Callable[[T], None], opening: asyncio.Future[T]) -> None:
        if not opening.cancelled() and opening.exception() is None:
            self._aside.run(partial(drop, opening.result()))

    def make_directory(  # type: ignore[override]
        self, path: str, mode: int
    ) -> Awaitable[None] | None:
        """Make a directory; an existing one is fine."""
        make = partial(self._write, partial(super().make_directory, path, mode), path)
        if self._is_far(path):
            return self._aside.run(make)
        make()
        return None

    async def check_disk(self, folder: str, size: int) -> None:
        """See that so many bytes may fit into a folder; OSError (ENOSPC) if they cannot."""
        if self._reserve is None:
            return
        check = partial(self._reserve.check_disk, folder, size)
        if self._is_far(folder):
            await self._aside.run(check)
        else:
            check()


def _make_folders(folder: str, make: Callable[[str, int], None]) -> None:
    """Make a folder and what is missing above it, for the owner alone: as the reference has it."""
    if not folder or os.path.isdir(folder):
        return
    _make_folders(os.path.dirname(folder), make)
    with contextlib.suppress(FileExistsError):
        make(folder, 0o700)


def _nearest(folder: str) -> str:
    """Return the nearest folder above that is there; the working one above a relative path."""
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder or "."
