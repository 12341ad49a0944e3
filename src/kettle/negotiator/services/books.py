"""The books at work: opened, brought in line with the slot ads, and kept on disk.

What they say is `accountant.py`'s, what is written `written_books.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from kettle.classad import ClassAd
from kettle.errors import KettleError, StorageError
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import NO_GROUPS, CycleFacts, GroupFacts
from kettle.negotiator.books_table import accountant_of
from kettle.negotiator.services.collectors import ask_collectors
from kettle.negotiator.settings import NegotiatorSettings
from kettle.negotiator.taken_back import Change
from kettle.negotiator.written_books import WrittenBooks
from kettle.records.accounting_log import AccountingTable
from kettle.runtime import tasks
from kettle.runtime.clock import set_ahead
from kettle.runtime.context import Runtime
from kettle.runtime.storage.durable import DurableFile
from kettle.wire.commands import Command
from kettle.wire.known_ads import KnownAds

# What the books need of a claimed slot.
_HOLDING_ATTRIBUTES = (
    "AccountingGroup Activity ConcurrencyLimits Cpus EnteredCurrentState MyAddress MyType Name "
    "RemoteOwner RemoteUser SlotWeight StartdIpAddr State"
)
_HELD = 'State == "Claimed" || State == "Preempting" || State == "Matched"'
# Whoever is shown the books sees who holds what so many seconds ago at the most.
_SHOWN_SECONDS = 1.0
# How long who asks waits for changes that came before and are on their way to a slow disk.
_SETTLE_SECONDS = 1.0


class Books:
    """The books of one negotiator, and what the last cycle found out about those in them."""

    def __init__(self, runtime: Runtime, settings: NegotiatorSettings) -> None:
        self._runtime = runtime
        self._settings = settings
        self.accountant = Accountant(settings.priorities)
        self.facts: dict[str, CycleFacts] = {}
        self.groups: GroupFacts = NO_GROUPS
        self._written = WrittenBooks(int(runtime.clock.now()))
        self._log: DurableFile | None = None
        # The log lacks something that `_written` has noted, or its end was not looked at.
        self._whole_due = False
        self._closed = False
        self._saving = asyncio.Lock()
        # One change of an administrator after another: each may have to be taken back.
        self._changing = asyncio.Lock()
        self._observed_at = 0.0
        self._observing = asyncio.Lock()

    async def open(self) -> None:
        """Read the accounting log, cut off what an interrupted write left, write it anew.

        StorageError only if a log that cannot be read cannot be set aside either.
        """
        settings = self._settings
        table = self._read(settings.accounting_path)
        self.accountant = accountant_of(
            table,
            settings.priorities,
            group_names=settings.group_names,
            use_slot_weights=settings.cycle.use_slot_weights,
        )
        self.accountant.discount_suspended = settings.discount_suspended
        self.accountant.open_groups()
        self.accountant.age(self.now())
        self._whole_due = True
        await self.save()

    def _read(self, path: str) -> AccountingTable:
        """Return what the log says; one that cannot be read is set aside, and nothing is known.

        Compat: the reference's negotiator ends at such a log, however often it is started; here
        matching goes on, for which nobody's usage is needed
        (test_books_that_nobody_can_read_are_set_aside_and_begun_anew).
        """
        files = self._runtime.files
        if not files.exists(path):
            return AccountingTable()
        try:
            return self._written.read(files.read(path))
        except StorageError as error:
            aside = f"{path}.unreadable.{int(self._runtime.clock.now())}"
            files.rename(path, aside)
            self._runtime.log.problem(
                f"The accounting log {path} cannot be read: {error}. It is kept as {aside}; usage, "
                "priorities and factors begin anew"
            )
            return AccountingTable()

    def reconfigure(self, settings: NegotiatorSettings) -> None:
        """Take over new settings; what is in the books stays."""
        self._settings = settings
        self.accountant.settings = settings.priorities
        self.accountant.group_names = settings.group_names
        self.accountant.open_groups()
        self.accountant.use_slot_weights = settings.cycle.use_slot_weights
        self.accountant.discount_suspended = settings.discount_suspended

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
        self._log, self._whole_due, self._closed = None, False, True

    def now(self) -> int:
        """Return the time by which the books are kept, in seconds of the steady clock."""
        return int(self._runtime.clock.steady())

    # --- what is seen -------------------------------------------------------------------------

    def observe(self, slots: list[ClassAd]) -> None:
        """Charge the time since the last look, then take over who holds what now."""
        clock = self._runtime.clock
        self._observed_at = clock.steady()
        now = int(self._observed_at)
        self.accountant.age(now)
        for fault in self.accountant.observe(slots, now, set_ahead=set_ahead(clock)):
            with tasks.reported("The books' look at a slot"):
                raise fault

    async def refresh(self, *, older_than: float) -> None:
        """Look at the claimed slots, unless that was done less than so many seconds ago.

        A collector that does not answer leaves the books as they are.
        """
        async with self._observing:
            if self._runtime.clock.steady() - self._observed_at < older_than:
                return
            query = ClassAd(
                {"MyType": "Query", "TargetType": "Machine", "Projection": _HOLDING_ATTRIBUTES}
            )
            query.insert_text("Requirements", _HELD)
            try:
                self.observe(
                    await ask_collectors(self._runtime, Command.QUERY_STARTD_ADS, query, KnownAds())
                )
            except (KettleError, OSError) as error:
                self._runtime.log(f"The books cannot be brought up to date: {error}")

    async def refresh_to_show(self) -> None:
        """Bring the books up to date, so that what is shown does not lag by an interval.

        Changes that came before are waited for: the bindings ask without having heard of them.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS), self._changing:
                pass
        await self.refresh(older_than=_SHOWN_SECONDS)
        self.accountant.age(self.now())

    # --- on disk ------------------------------------------------------------------------------

    async def save(self) -> None:
        """Put on disk what has changed in the books; returns when it is there.

        Where it cannot be put there, matching goes on without, and the next call writes it all.
        """
        with contextlib.suppress(StorageError):
            await self._commit()

    async def change(self, names: Iterable[str], make: Callable[[Accountant], None]) -> None:
        """Make an administrator's change of these customers; returns when it is on disk.

        StorageError if it cannot be put there: then it is taken back, and it was not made.
        """
        async with self._changing:
            if self._closed:
                raise StorageError("the negotiator is shutting down")
            change = Change(self.accountant, names)
            make(self.accountant)
            change.made()
            try:
                await self._commit()
            except StorageError:
                change.take_back()
                raise

    async def _commit(self) -> None:
        """Put on disk what has changed; StorageError, which the log tells of, if that fails."""
        async with self._saving:
            try:
                await self._save()
            except (StorageError, OSError) as error:
                said = f"The accounting log cannot be written: {error}"
                self._runtime.log.problem(said)
                raise StorageError(said) from error

    async def _save(self) -> None:
        if self._whole_due:
            await self._write_whole()
            return
        log = self._log
        text = self._written.changes(self.accountant) if log is not None else ""
        if log is None or not text:
            return
        self._whole_due = True
        log.append(_encode(text))
        await log.commit()
        self._whole_due = False
        if log.size > self._settings.accounting_bytes:
            await self._write_whole()

    async def _write_whole(self) -> None:
        """Write everything into a new file, and let that take the log's place once it is on disk.

        Until then the old log stays as it is. Raises StorageError or OSError.
        """
        self._whole_due = True
        files, path = self._runtime.files, self._settings.accounting_path
        log = self._log
        if log is None or log.broken:
            log = files.open_durable(path)
            if self._log is not None:
                self._log.close()
            self._log = log
        aside = f"{path}.new"
        fresh = files.open_durable(aside)
        try:
            # An interrupted write may have left one.
            fresh.truncate(0)
            fresh.append(_encode(self._written.whole(self.accountant)))
        finally:
            fresh.close()
        await log.replace(aside, stands_for=log.size)
        self._whole_due = False


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
