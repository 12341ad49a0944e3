"""The accounting commands: condor_userprio and the bindings ask, administrators set.

Each handler reads one message, calls the accountant, and answers where the command has an answer
(daemon reference, accounting commands). Levels come from the command table.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from kettle.classad import ClassAd
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import (
    CycleFacts,
    GroupFacts,
    accounting_ads,
    numbered_ad,
    resource_list_ad,
    rollup_ad,
)
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.codec import Reader, expand_projection, split_names
from kettle.wire.commands import Command
from kettle.wire.levels import Level

Handler = Callable[[Stream], Awaitable[None]]

# Limit: characters of a submitter's name.
MAX_NAME = 1024


class Books(Protocol):
    """What the commands need of the negotiator: its accounts, and what goes with them."""

    runtime: Runtime
    accountant: Accountant
    facts: dict[str, CycleFacts]
    groups: GroupFacts

    async def save(self) -> None:
        """Return when the accounts are on disk."""

    async def refresh_books(self, *, older_than: float) -> None:
        """Look at what everybody uses, unless that was done less than so many seconds ago."""

    def own_ad(self) -> ClassAd:
        """Return the negotiator's ad."""
        ...


class AccountingCommands:
    """Handlers of one negotiator."""

    def __init__(self, service: Books) -> None:
        self._service = service

    def register(self) -> None:
        """Take over all accounting commands."""
        network = self._service.runtime.network
        books = self._books
        for command, handler in (
            (Command.GET_PRIORITY, self._on_get_priority),
            (Command.GET_PRIORITY_ROLLUP, self._on_get_rollup),
            (Command.GET_RESLIST, self._on_get_resources),
            (Command.QUERY_ACCOUNTING_ADS, self._on_query),
            (Command.QUERY_NEGOTIATOR_ADS, self._on_query_self),
        ):
            network.register(command, handler)
        changes: dict[Command, Callable[[Reader], None]] = {
            Command.SET_PRIORITY: lambda r: books().set_priority(_name(r), _real(r)),
            Command.SET_ACCUMUSAGE: self._set_usage,
            Command.SET_BEGINTIME: lambda r: self._set(_name(r), "begin_usage_at", r.integer()),
            Command.SET_LASTTIME: lambda r: self._set(_name(r), "last_usage_at", r.integer()),
            Command.SET_CEILING: lambda r: self._set(_name(r), "ceiling", r.integer()),
            Command.SET_FLOOR: lambda r: self._set(_name(r), "floor", r.integer()),
            Command.RESET_USAGE: lambda r: books().reset_usage(_name(r), self._now()),
            Command.DELETE_USER: lambda r: books().delete(_name(r)),
        }
        for command, change in changes.items():
            network.register(command, self._changing(change))
        network.register(Command.SET_PRIORITYFACTOR, self._on_set_factor)
        network.register(Command.RESET_ALL_USAGE, self._on_reset_all)

    def _books(self) -> Accountant:
        return self._service.accountant

    def _now(self) -> int:
        return int(self._service.runtime.clock.now())

    def _changing(self, change: Callable[[Reader], None]) -> Handler:
        async def on_change(stream: Stream) -> None:
            change(await stream.receive())
            await self._service.save()

        return on_change

    async def _on_reset_all(self, stream: Stream) -> None:
        # A command without arguments comes without a message of its own.
        del stream
        self._service.accountant.reset_all_usage(self._now())
        await self._service.save()

    async def _on_set_factor(self, stream: Stream) -> None:
        """Set a factor, for administrators only; a peer that told its version gets an answer."""
        service = self._service
        reader = await stream.receive()
        name, factor = _name(reader), _real(reader)
        allowed = service.runtime.network.allows(stream, Level.ADMINISTRATOR)
        if allowed:
            service.accountant.set_factor(name, factor)
            await service.save()
        if stream.peer.version:
            reply = ClassAd({"ErrorCode": 0 if allowed else 1})
            if not allowed:
                reply["ErrorString"] = "only an administrator may set a priority factor"
            await stream.send(stream.writer().ad(reply))

    def _set(self, name: str, attribute: str, value: int) -> None:
        setattr(self._service.accountant.customer(name), attribute, value)

    def _set_usage(self, reader: Reader) -> None:
        customer = self._service.accountant.customer(_name(reader))
        customer.weighted_accumulated = max(0.0, _real(reader))

    async def _on_get_priority(self, stream: Stream) -> None:
        service = self._service
        await self._refresh()
        ad = numbered_ad(service.accountant, service.facts, service.groups)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_get_rollup(self, stream: Stream) -> None:
        service = self._service
        await self._refresh()
        ad = rollup_ad(service.accountant, service.facts, service.groups)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_get_resources(self, stream: Stream) -> None:
        user = _name(await stream.receive())
        await self._refresh()
        ad = resource_list_ad(self._service.accountant, user)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_query(self, stream: Stream) -> None:
        service = self._service
        query = (await stream.receive()).ad()
        await self._refresh()
        await _answer(
            stream, query, accounting_ads(service.accountant, service.facts, service.groups)
        )

    async def _on_query_self(self, stream: Stream) -> None:
        query = (await stream.receive()).ad()
        await _answer(stream, query, [self._service.own_ad()])

    async def _refresh(self) -> None:
        """Bring the books up to date, so that what is shown does not lag by an interval."""
        await self._service.refresh_books(older_than=1.0)
        self._service.accountant.age(self._now())


def _name(reader: Reader) -> str:
    return reader.string()[:MAX_NAME]


def _real(reader: Reader) -> float:
    """Read a real as it was meant: the wire keeps 31 bits, so 50 arrives as 49.99999997."""
    return float(f"{reader.real():.9g}")


async def _answer(stream: Stream, query: ClassAd, ads: list[ClassAd]) -> None:
    requirements = query.lookup("Requirements")
    names = split_names(query.string("Projection") or "")
    writer = stream.writer()
    for ad in ads:
        if requirements is not None:
            value = ad.evaluate_expression(requirements)
            if not (isinstance(value, (bool, int, float)) and value):
                continue
        writer.integer(1)
        writer.ad(ad, projection=expand_projection(ad, names) if names else None)
    await stream.send(writer.integer(0))
