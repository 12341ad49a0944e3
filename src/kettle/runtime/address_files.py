"""Where a daemon tells tools on its machine at which address it is.

A disk that has no room, or takes nothing for a while, is no reason not to serve: who knows the
address from elsewhere is served, and the files follow when the disk takes them.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from kettle.errors import KettleError, StorageError
from kettle.runtime import tasks
from kettle.runtime.storage.files import PASSING

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

RETRY_SECONDS = 2.0


class AddressFiles:
    """<SUBSYS>_ADDRESS_FILE and its like: address, version, platform.

    The reference's tools look into <SUBSYS>_SUPER_ADDRESS_FILE instead when root runs them; there
    is one port for everybody here, so both files say the same.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._written: set[str] = set()
        self._retrying = False

    def write(self) -> None:
        """Say where this daemon is now; StorageError if a path is none that can be written."""
        if not self._try() and not self._retrying:
            self._retrying = True
            tasks.spawn(self._try_again(), "address files")

    def restore(self) -> None:
        """Say it again where somebody has deleted what was said; StorageError."""
        if not all(map(self._runtime.files.exists, self._written)):
            self.write()

    def remove(self) -> None:
        """Take back what was said, as far as the disk lets us."""
        for path in self._written:
            with contextlib.suppress(KettleError):
                self._runtime.files.remove(path)
        self._written.clear()

    async def _try_again(self) -> None:
        try:
            while True:
                await asyncio.sleep(RETRY_SECONDS)
                if self._try():
                    self._runtime.log("The address files are written")
                    return
        finally:
            self._retrying = False

    def _try(self) -> bool:
        """Write all files; False if the disk takes one of them only later."""
        identity = self._runtime.identity
        text = f"{self._runtime.network.address}\n{identity.version}\n{identity.platform}\n"
        trouble = None
        for kind in ("SUPER_ADDRESS_FILE", "ADDRESS_FILE"):
            path = self._runtime.config.get(f"{identity.subsystem}_{kind}")
            if path is None or (path not in self._written and self._says(path, text)):
                self._written |= {path} if path is not None else set()
                continue
            try:
                self._runtime.files.write_atomically(path, text)
                self._written.add(path)
            except StorageError as error:
                if error.errno not in PASSING:
                    raise
                trouble = error
                # What an earlier process said there is wrong, and tools would believe it.
                with contextlib.suppress(KettleError):
                    self._runtime.files.remove(path)
        if trouble is not None and not self._retrying:
            self._runtime.log.problem(
                f"{trouble}: tools may not find this daemon until there is room"
            )
        return trouble is None

    def _says(self, path: str, text: str) -> bool:
        """Whether a file holds this text already."""
        try:
            return self._runtime.files.read_text(path, limit=64 * 1024) == text
        except KettleError:
            return False
