"""What may be done only when everything committed before it is on disk.

A job that runs although its queue does not know it would run twice after a power cut, and one that
is in the history although its queue does not know that it ended would be there twice. Actions wait
here for one flush together; they are done in the order in which they were asked for.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.runtime import tasks

if TYPE_CHECKING:
    from kettle.schedd.services.journal import QueueJournal

Action = Callable[[], None]

# What nobody waits for, such as news of a running job, is on disk after so long at the latest.
LATEST_SECONDS = 1.0


class OnDisk:
    """Actions that wait for the journal."""

    def __init__(self, journal: QueueJournal) -> None:
        self._journal = journal
        self._waiting: list[Action] = []
        # How many actions were ever asked for, and how many are over.
        self._asked = self._over = 0
        self._serving: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> bool:
        """Whether something waits that was asked for before."""
        return self._serving is not None

    @property
    def waiting(self) -> int:
        """How many actions wait."""
        return len(self._waiting)

    def then(self, action: Action) -> None:
        """Do something once what was committed before this call is on disk."""
        self._waiting.append(action)
        self._asked += 1
        self._serve()

    def soon(self) -> None:
        """Have what was committed on disk before long, with whatever is flushed until then."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LATEST_SECONDS, self.then, nothing)

    def forget(self) -> None:
        """Do nothing of what waits: the schedd is gone."""
        self._over += len(self._waiting)
        self._waiting.clear()
        self._disarm()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def settle(self) -> None:
        """Return when all that waits now is done; StorageError if the journal failed.

        Not what others ask for meanwhile: on a busy schedd something always waits. The caller may
        be cancelled.
        """
        last = self._asked
        while self._over < last:
            await asyncio.shield(self._serve())

    def _serve(self) -> asyncio.Task[None]:
        """Return the one task that does what waits: two would not keep the order."""
        if self._serving is None:
            self._serving = tasks.spawn(self._do_batch(), "what waits for the queue log")
        return self._serving

    async def _do_batch(self) -> None:
        batch, self._waiting = self._waiting, []
        self._disarm()
        if not batch:
            # The schedd went away before its turn came.
            self._serving = None
            return
        try:
            await self._journal.flush()
            for action in batch:
                self._do(action)
        finally:
            self._over += len(batch)
            self._serving = None
        if self._waiting:
            self._serve()

    @staticmethod
    def _do(action: Action) -> None:
        # One job's trouble, be it a fault of ours, must not keep the others from being started:
        # the queue says already that they run.
        try:
            action()
        except Exception:  # noqa: BLE001 - told with its trace
            tasks.report(traceback.format_exc().rstrip())


def nothing() -> None:
    """Do nothing: only the flush is wanted."""
