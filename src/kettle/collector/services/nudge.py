"""Tells the negotiator at once when a slot has become free and jobs wait.

What is news is decided in `free_slots.py`. Nothing depends on it: a negotiator that is not told,
or does not listen, has its own interval.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.collector.ad_kinds import NEGOTIATOR, SUBMITTER
from kettle.collector.ad_store import AdStore, StoredAd
from kettle.collector.free_slots import FreeSlots, jobs_wait
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.wire.commands import Command

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# So many slots become free together (a cluster ends, a host comes up); one word is enough.
_TOGETHER_SECONDS = 0.02


class NegotiatorNudge:
    """One word to each negotiator, however many slots have become free."""

    def __init__(self, runtime: Runtime, store: AdStore) -> None:
        self._runtime = runtime
        self._store = store
        self._slots = FreeSlots()
        self._task: asyncio.Task[None] | None = None

    def note(self, entry: StoredAd) -> None:
        """Take note of a slot's update, and tell the negotiators soon if it is news."""
        if not self._slots.is_news(entry.key, entry.ad):
            return
        if self._task is None or self._task.done():
            self._task = tasks.spawn(self._tell_soon(), "tell the negotiator of free slots")

    def stop(self) -> None:
        """Tell nobody any more."""
        if self._task is not None:
            self._task.cancel()

    async def _tell_soon(self) -> None:
        await asyncio.sleep(_TOGETHER_SECONDS)
        if not jobs_wait(entry.ad for entry in self._store.table(SUBMITTER).values()):
            return
        for entry in list(self._store.table(NEGOTIATOR).values()):
            address = entry.ad.string("MyAddress")
            if address:
                await self._tell(address)

    async def _tell(self, address: str) -> None:
        try:
            stream = await self._runtime.network.connect(address, Command.RESCHEDULE)
            await stream.send(stream.writer())
            stream.close()
        except (KettleError, OSError) as error:
            self._runtime.log.full(f"Cannot tell the negotiator of free slots: {error}")
