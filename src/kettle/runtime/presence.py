"""What others find a daemon by is there for as long as the daemon is.

Somebody may delete it under a daemon that runs: a whole LOG folder, or what lies in /tmp and is old
enough for whoever tidies there. A daemon whose address file, lock or socket behind the shared port
is gone would serve nobody who looks for it, and a second pool could be started beside it. So each
daemon looks for them from time to time and makes again what is gone, and shows by the age of its
log that it lives (TOUCH_LOG_INTERVAL).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.config.knobs.log import LogKnobs
from kettle.errors import KettleError

if TYPE_CHECKING:
    from kettle.runtime.address_files import AddressFiles
    from kettle.runtime.context import Runtime

# How often a daemon looks for what it is found by.
LOOK_SECONDS = 10.0


class Presence:
    """Keeps what one daemon is found by; `restores` make again what else is gone of it."""

    def __init__(
        self,
        runtime: Runtime,
        address_files: AddressFiles,
        *restores: Callable[[], object],
    ) -> None:
        self._runtime = runtime
        # The folder that it began in: locks and addresses stay there when LOG is changed.
        self._folder = runtime.config.get("LOG") or ""
        self._restores = (address_files.restore, *restores)
        self._touched = runtime.clock.steady()
        # What is wrong, and has been told.
        self._told: set[str] = set()

    async def keep(self) -> None:
        """Rest for a while, and look."""
        await asyncio.sleep(LOOK_SECONDS)
        self.look()

    def look(self) -> None:
        """Make again what is gone of what this daemon is found by, and touch its log."""
        wrong = {self._try(restore) for restore in (self._restore_folder, *self._restores)} - {""}
        for trouble in sorted(wrong - self._told):
            self._runtime.log.problem(f"{trouble}: this daemon may not be found")
        self._told = wrong
        now = self._runtime.clock.steady()
        interval = self._runtime.config.value(LogKnobs.TOUCH_LOG_INTERVAL)
        if 0 < interval <= now - self._touched:
            self._touched = now
            self._runtime.log.touch()

    def _restore_folder(self) -> None:
        """Be in the log folder again if it was deleted: there the pool looks for its daemons."""
        if not self._folder or _is_in(self._folder):
            return
        self._runtime.files.make_folder(self._folder)
        os.chdir(self._folder)
        self._runtime.log.touch()
        self._runtime.log.problem(
            f"ERROR: somebody has deleted or moved {self._folder}, where daemons write their logs "
            "and are found: gone on in a new one"
        )

    def _try(self, restore: Callable[[], object]) -> str:
        """Do it; return why it cannot be done."""
        try:
            restore()
        except (KettleError, OSError) as error:
            return str(error)
        return ""


def _is_in(folder: str) -> bool:
    """Whether this process works in a folder, by that name."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.stat(folder), os.stat("."))
    return False


__all__ = ["LOOK_SECONDS", "Presence"]
