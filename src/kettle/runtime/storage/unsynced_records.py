"""What record files were given and the disk has not promised yet: kept until it has.

Linux tells of a lost write once. A sync that comes after one that failed may say 'on disk' of bytes
that are not: the kernel has let go of them and holds them for clean. So whatever is not known to be
on disk is kept here, and after a sync that failed, or that nobody waited for until its end, all of
it is written anew before the next one: bytes over themselves, names beside themselves and back. A
crash in the middle of that finds a whole file, under a name that readers look at. Until it is done
nothing is promised, and no record is taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.errors import StorageError
from kettle.records import history

if TYPE_CHECKING:
    from kettle.runtime.storage.files import Files

# What is read, and written, at once of a file whose end is written anew.
_PIECE_BYTES = 1024 * 1024


@dataclass(slots=True, eq=False)
class _File:
    """Bytes of one file and where they are; `whole` is a file that is replaced in one step."""

    path: str
    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    whole: bool = False
    # Device and inode of what was written into, None while that is not known.
    identity: tuple[int, int] | None = None

    def is_still_there(self) -> bool:
        """Tell whether the name is still that of the file that was written into, not cut since.

        Another one of that name is an administrator's (logrotate): what was there has gone with the
        old one, and written into the new one it would come behind zeroes.
        """
        try:
            facts = os.stat(self.path)
        except FileNotFoundError:
            return False
        if self.whole or not self.pieces:
            return True
        end = max(offset + len(data) for offset, data in self.pieces)
        return self.identity in (None, _identity(facts)) and facts.st_size >= end


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


class UnsyncedRecords:
    """The records, and the names of their files, that a `sync` has not yet put on disk."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._held: list[_File] = []
        self._at: dict[str, _File] = {}
        # Files whose names are new.
        self._named: list[_File] = []
        self._turn = asyncio.Lock()
        self.broken = False

    def check(self) -> None:
        """Raise StorageError while what was lost is not written anew: nothing more is taken."""
        if self.broken:
            raise StorageError("what was written before did not reach the disk, and has to first")

    def wrote(self, path: str, offset: int, data: bytes) -> None:
        """Keep what was written into a file; at its very beginning its name is new as well."""
        file = self._file(path)
        with contextlib.suppress(OSError):
            facts = os.stat(path)
            known = file.identity in (None, _identity(facts))
            if not known or facts.st_size < offset + len(data):
                # Somebody put another one in its place: this is the end of that.
                file.pieces.clear()
                offset = max(0, facts.st_size - len(data))
            file.identity = _identity(facts)
        file.pieces.append((offset, data))
        if not offset:
            self._named.append(file)

    def wrote_whole(self, path: str, data: bytes) -> None:
        """Keep what a file of its own has, which was put in place in one step."""
        file = self._file(path)
        file.whole = True
        file.pieces.append((0, data))
        self._named.append(file)

    def doubt_end(self, path: str, size: int, most_bytes: int) -> int:
        """Take it that the last bytes of a file of another life were lost; return how many.

        What a sync told the process before us it tells nobody again. Raises OSError.
        """
        self.broken = True
        start = max(0, size - most_bytes)
        for offset in range(start, size, _PIECE_BYTES):
            with open(path, "rb") as file:
                self.wrote(path, offset, os.pread(file.fileno(), _PIECE_BYTES, offset))
        return size - start

    def renamed(self, path: str, new: str) -> None:
        """Follow a file to its new name."""
        file = self._file(path)
        del self._at[path]
        file.path, self._at[new] = new, file
        self._named.append(file)

    def removed(self, path: str) -> None:
        """Forget a file that is gone."""
        file = self._at.get(path)
        if file is not None:
            self._drop(file)

    def _file(self, path: str) -> _File:
        file = self._at.get(path)
        if file is None:
            file = self._at[path] = _File(path)
            self._held.append(file)
        return file

    def _drop(self, file: _File) -> None:
        del self._at[file.path]
        self._held.remove(file)
        self._named = [each for each in self._named if each is not file]

    async def sync(self) -> None:
        """Return when all that was told before is on disk; StorageError if not. One at a time."""
        async with self._turn:
            held = [(file, len(file.pieces)) for file in self._held]
            named = list(self._named)
            try:
                if self.broken:
                    self._write_anew()
                for file, _ in held:
                    await self._files.sync(file.path)
                for folder in {os.path.dirname(file.path) for file in named}:
                    await self._files.sync(folder)
            except BaseException:
                # Also where nobody waits any longer: nobody then knows what the disk said.
                self.broken = True
                raise
            self.broken = False
            self._forget(held, named)

    def forgive(self) -> None:
        """Take what an earlier life wrote as it is: our account cannot write it anew."""
        self._held.clear()
        self._at.clear()
        self._named.clear()
        self.broken = False

    def _forget(self, held: list[tuple[_File, int]], named: list[_File]) -> None:
        """Let go of what is on disk; what came meanwhile stays."""
        for file in named:
            # Each once, the first: its name may have become new again, or have gone, meanwhile.
            at = next((at for at, each in enumerate(self._named) if each is file), None)
            if at is not None:
                del self._named[at]
        still_named = set(map(id, self._named))
        for file, count in held:
            del file.pieces[:count]
            is_held = self._at.get(file.path) is file
            if is_held and not file.pieces and id(file) not in still_named:
                self._drop(file)

    def _write_anew(self) -> None:
        """Write all again that is not known to be on disk; StorageError if it cannot be."""
        try:
            for file in self._held:
                if not file.is_still_there():
                    # Somebody took it away: there is nothing left to be kept.
                    continue
                if file.whole:
                    self._files.write_atomically(file.path, file.pieces[-1][1])
                else:
                    for offset, data in file.pieces:
                        self._files.disk.overwrite(file.path, offset, data)
            for file in self._named:
                if not file.whole and file.is_still_there():
                    spare = history.spare_name(file.path, os.path.lexists)
                    self._files.rename(file.path, spare)
                    self._files.rename(spare, file.path)
        except OSError as error:
            raise StorageError(f"cannot write history anew: {error}") from error
