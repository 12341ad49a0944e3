"""The accounting commands: condor_userprio and the bindings ask, administrators set.

Each handler reads one message, calls the accountant, and answers where the command has an answer
(daemon reference, accounting commands). Levels come from the command table.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.negotiator.accounting_ads import (
    accounting_ads,
    numbered_ad,
    resource_list_ad,
    rollup_ad,
)
from kettle.negotiator.leases import MANAGERS, manage_lease
from kettle.negotiator.services.books import Books
from kettle.records.queue_log import is_key
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.codec import Reader, expand_projection, split_names
from kettle.wire.commands import Command
from kettle.wire.levels import Level

Handler = Callable[[Stream], Awaitable[None]]

# Limit: characters of a submitter's name.
MAX_NAME = 1024


class AccountingCommands:
    """Handlers of one negotiator; `own_ad` makes its ad."""

    def __init__(self, runtime: Runtime, books: Books, own_ad: Callable[[], ClassAd]) -> None:
        self._runtime = runtime
        self._books = books
        self._own_ad = own_ad

    def register(self) -> None:
        """Take over all accounting commands."""
        network = self._runtime.network
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
            Command.SET_PRIORITY: lambda r: books.accountant.set_priority(_customer(r), _real(r)),
            Command.SET_ACCUMUSAGE: lambda r: books.accountant.set_usage(_customer(r), _real(r)),
            Command.SET_BEGINTIME: lambda r: books.accountant.set_begin(_customer(r), r.integer()),
            Command.SET_LASTTIME: lambda r: books.accountant.set_last(_customer(r), r.integer()),
            Command.SET_CEILING: lambda r: books.accountant.set_ceiling(_customer(r), r.integer()),
            Command.SET_FLOOR: lambda r: books.accountant.set_floor(_customer(r), r.integer()),
            Command.RESET_USAGE: lambda r: books.accountant.reset_usage(
                _customer(r), self._books.now()
            ),
            Command.DELETE_USER: lambda r: books.accountant.delete(_customer(r)),
        }
        for command, change in changes.items():
            network.register(command, self._changing(change))
        for command in MANAGERS:
            network.register(command, self._managing(command))
        network.register(Command.SET_PRIORITYFACTOR, self._on_set_factor)
        network.register(Command.RESET_ALL_USAGE, self._on_reset_all)

    def _changing(self, change: Callable[[Reader], None]) -> Handler:
        async def on_change(stream: Stream) -> None:
            change(await stream.receive())
            await self._books.save()

        return on_change

    def _managing(self, command: Command) -> Handler:
        async def on_manage(stream: Stream) -> None:
            books = self._books
            request = (await stream.receive()).ad()
            problem = ""
            try:
                name = _submitter(request)
                kind = MANAGERS[command]
                said = manage_lease(books.accountant, kind, name, request, books.now())
                await books.save()
            except RefusedError as error:
                problem = error.args[0]
                said = f"{command.name} rejected: {problem}"
            self._runtime.log(said)
            reply = ClassAd({"Success": not problem, "ErrorString": problem})
            await stream.send(stream.writer().ad(reply))

        return on_manage

    async def _on_reset_all(self, stream: Stream) -> None:
        # A command without arguments comes without a message of its own.
        del stream
        self._books.accountant.reset_all_usage(self._books.now())
        await self._books.save()

    async def _on_set_factor(self, stream: Stream) -> None:
        """Set a factor, for administrators only; a peer that told its version gets an answer."""
        books = self._books
        reader = await stream.receive()
        name, factor = _name(reader), _real(reader)
        problem = ""
        if not self._runtime.network.allows(stream, Level.ADMINISTRATOR):
            problem = "only an administrator may set a priority factor"
        elif not is_key(name):
            problem = f"{name!r} is no name of a submitter or group"
        else:
            books.accountant.set_factor(name, factor)
            await books.save()
        if stream.peer.version:
            reply = ClassAd({"ErrorCode": 1 if problem else 0})
            if problem:
                reply["ErrorString"] = problem
            await stream.send(stream.writer().ad(reply))

    async def _on_get_priority(self, stream: Stream) -> None:
        books = self._books
        await books.refresh_to_show()
        ad = numbered_ad(books.accountant, books.facts, books.groups)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_get_rollup(self, stream: Stream) -> None:
        books = self._books
        await books.refresh_to_show()
        ad = rollup_ad(books.accountant, books.facts, books.groups)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_get_resources(self, stream: Stream) -> None:
        user = _name(await stream.receive())
        await self._books.refresh_to_show()
        ad = resource_list_ad(self._books.accountant, user)
        await stream.send(stream.writer().ad(ad, types=False))

    async def _on_query(self, stream: Stream) -> None:
        books = self._books
        query = (await stream.receive()).ad()
        await books.refresh_to_show()
        await _answer(stream, query, accounting_ads(books.accountant, books.facts, books.groups))

    async def _on_query_self(self, stream: Stream) -> None:
        query = (await stream.receive()).ad()
        await _answer(stream, query, [self._own_ad()])


def _name(reader: Reader) -> str:
    return reader.string()[:MAX_NAME]


def _customer(reader: Reader) -> str:
    """Read a name that is to be in the books; RefusedError if they cannot have it."""
    name = _name(reader)
    _check_key(name)
    return name


def _submitter(request: ClassAd) -> str:
    name = (request.string("Submitter") or "")[:MAX_NAME]
    if not name:
        raise RefusedError("request is missing Submitter")
    _check_key(name)
    return name


def _check_key(name: str) -> None:
    if not is_key(name):
        raise RefusedError(f"{name!r} is no name of a submitter or group")


def _real(reader: Reader) -> float:
    """Read a real as it was meant: the wire keeps 31 bits, so 50 arrives as 49.99999997."""
    return float(f"{reader.real():.9g}")


async def _answer(stream: Stream, query: ClassAd, ads: list[ClassAd]) -> None:
    requirements = query.lookup("Requirements")
    names = split_names(query.string("Projection") or "")
    writer = stream.writer()
    for ad in ads:
        if requirements is not None and not ad.satisfies(requirements):
            continue
        writer.integer(1)
        writer.ad(ad, projection=expand_projection(ad, names) if names else None)
    await stream.send(writer.integer(0))
