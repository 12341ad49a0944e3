"""Telling the collector about the slots: at once where it matters, soon where it does not.

A change of State or of what a partitionable slot has left is sent with the next turn of the
event loop; a mere change of Activity waits a little, because a claim that runs short jobs would
otherwise talk more than it works. Everything is sent again every UPDATE_INTERVAL.
"""

from __future__ import annotations

import asyncio

from kettle.classad.text import equals
from kettle.runtime import tasks
from kettle.runtime.sockets.collectors import Advertiser
from kettle.startd import ads
from kettle.startd.machine import SlotRecord
from kettle.startd.services.parts import Startd
from kettle.wire.commands import Command

# Changes within this time travel together.
_AT_ONCE_SECONDS = 0.005
_SOON_SECONDS = 1.0


class Updates:
    """Collects what has changed and sends it."""

    def __init__(self, startd: Startd) -> None:
        self._startd = startd
        self._advertiser = Advertiser(startd.runtime)
        self._urgent: dict[str, SlotRecord] = {}
        self._waiting: dict[str, SlotRecord] = {}
        self._wake = asyncio.Event()
        self._soon: asyncio.TimerHandle | None = None
        self._daemon_due = True
        self._task: asyncio.Task[object] | None = None

    def start(self) -> None:
        """Begin to send; first withdraw the cut slots of a startd that was killed here."""
        ending = f"@{self._startd.machine.name}"
        self._advertiser.invalidate_where(
            Command.INVALIDATE_STARTD_ADS,
            "Machine",
            "TARGET.DynamicSlot && " + equals(f"substr(TARGET.Name, {-len(ending)})", ending),
        )
        self._task = tasks.repeat(self._send_when_due, "collector updates")

    def note(self, record: SlotRecord, *, urgent: bool) -> None:
        """A slot has changed."""
        if urgent:
            self._urgent[record.name] = record
            self._wake.set()
            return
        self._waiting[record.name] = record
        if self._soon is None:
            loop = asyncio.get_running_loop()
            self._soon = loop.call_later(_SOON_SECONDS, self._send_waiting)

    def note_all(self) -> None:
        """Everything is due."""
        self._daemon_due = True
        for record in self._startd.machine:
            self._urgent[record.name] = record
        self._wake.set()

    def forget(self, record: SlotRecord) -> None:
        """A dynamic slot is gone: withdraw its ad."""
        self._urgent.pop(record.name, None)
        self._waiting.pop(record.name, None)
        if record.sent_at:
            self._advertiser.invalidate(Command.INVALIDATE_STARTD_ADS, "Machine", record.name)

    def _send_waiting(self) -> None:
        self._soon = None
        self._urgent.update(self._waiting)
        self._waiting.clear()
        self._wake.set()

    async def _send_when_due(self) -> None:
        await self._wake.wait()
        await asyncio.sleep(_AT_ONCE_SECONDS)
        self._wake.clear()
        self.send_now()

    def send_now(self) -> None:
        """Send what is due."""
        startd = self._startd
        now = startd.runtime.clock.steady()
        due, self._urgent = self._urgent, {}
        for name, record in due.items():
            self._waiting.pop(name, None)
            if startd.machine.slots.get(name) is not record:
                continue
            # What is odd about one slot's job is no reason to be silent about the others.
            with tasks.reported(f"The ad of {record.short_name}"):
                ad = startd.slot_ad(record).flattened()
                record.sent_at = now
                self._advertiser.update(Command.UPDATE_STARTD_AD, ad, ads.private_ad(record))
        if self._daemon_due:
            self._daemon_due = False
            figures = startd.runtime.self_figures()
            ad = ads.startd_ad(startd.machine, startd.base, now, figures).flattened()
            self._advertiser.update(Command.UPDATE_STARTD_AD, ad)

    async def withdraw(self) -> None:
        """Withdraw every ad, as a shutdown does."""
        if self._task is not None:
            self._task.cancel()
        for record in self._startd.machine:
            self.forget(record)
        name = self._startd.machine.name
        self._advertiser.invalidate(Command.INVALIDATE_STARTD_ADS, "StartD", name)
        await self._advertiser.flush(2.0)
        await self._advertiser.close()
