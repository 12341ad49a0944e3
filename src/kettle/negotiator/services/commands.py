"""The accounting commands: condor_userprio and the bindings ask, administrators set.

Each handler reads one message, calls the accountant, and answers where the command has an answer
(daemon reference, accounting commands). Levels come from the command table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kettle.attributes.version import is_ours
from kettle.classad import ClassAd
from kettle.errors import RefusedError, StorageError, WireError
from kettle.levels import Level
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import (
    accounting_ads,
    numbered_ad,
    resource_list_ad,
    rollup_ad,
)
from kettle.negotiator.leases import MANAGERS, manage_lease
from kettle.negotiator.services.books import Books
from kettle.records.accounting_log import is_name
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.codec import Reader, expand_projection, split_names
from kettle.wire.commands import Command

Handler = Callable[[Stream], Awaitable[None]]

# Limit: characters of a submitter's name.
MAX_NAME = 1024


def _whole(reader: Reader) -> int:
    return reader.integer()


def _real(reader: Reader) -> float:
    """Read a real as it was meant: the wire keeps 31 bits, so 50 arrives as 49.99999997."""
    return float(f"{reader.real():.9g}")


# Commands that set one number of a customer: how it is read, and where it goes.
SETTERS: Mapping[
    Command, tuple[Callable[[Reader], float], Callable[[Accountant, str, Any], None]]
] = {
    Command.SET_PRIORITY: (_real, Accountant.set_priority),
    Command.SET_ACCUMUSAGE: (_real, Accountant.set_usage),
    Command.SET_BEGINTIME: (_whole, Accountant.set_begin),
    Command.SET_LASTTIME: (_whole, Accountant.set_last),
    Command.SET_CEILING: (_whole, Accountant.set_ceiling),
    Command.SET_FLOOR: (_whole, Accountant.set_floor),
}


class AccountingCommands:
    """Handlers of one negotiator; `own_ad` makes its ad."""

    def __init__(self, runtime: Runtime, books: Books, own_ad: Callable[[], ClassAd]) -> None:
        self._runtime = runtime
        self._books = books
        self._own_ad = own_ad

    def register(self) -> None:
        """Take over all accounting commands."""
        network = self._runtime.network
        for command, handler in (
            (Command.GET_PRIORITY, self._on_get_priority),
            (Command.GET_PRIORITY_ROLLUP, self._on_get_rollup),
            (Command.GET_RESLIST, self._on_get_resources),
            (Command.QUERY_ACCOUNTING_ADS, self._on_query),
            (Command.QUERY_NEGOTIATOR_ADS, self._on_query_self),
        ):
            network.register(command, handler)
        for command, (read, set_) in SETTERS.items():
            network.register(command, self._setting(command, read, set_))
        for command in MANAGERS:
            network.register(command, self._managing(command))
        network.register(Command.SET_PRIORITYFACTOR, self._on_set_factor)
        network.register(Command.RESET_USAGE, self._on_reset)
        network.register(Command.RESET_ALL_USAGE, self._on_reset_all)
        network.register(Command.DELETE_USER, self._on_delete)

    def _setting(
        self,
        command: Command,
        read: Callable[[Reader], float],
        set_: Callable[[Accountant, str, float], None],
    ) -> Handler:
        async def on_set(stream: Stream) -> None:
            reader = await stream.receive()
            name, value = _name(reader), read(reader)
            problem = await self._try(command, name, lambda books: set_(books, name, value))
            await _tell(stream, problem)

        return on_set

    async def _on_reset(self, stream: Stream) -> None:
        name, now = _name(await stream.receive()), self._books.now()
        problem = await self._try(
            Command.RESET_USAGE, name, lambda books: books.reset_usage(name, now)
        )
        await _tell(stream, problem)

    async def _on_delete(self, stream: Stream) -> None:
        name = _name(await stream.receive())
        problem = await self._try(Command.DELETE_USER, name, lambda books: books.delete(name))
        await _tell(stream, problem)

    async def _on_reset_all(self, stream: Stream) -> None:
        # A command without arguments comes without a message of its own.
        now = self._books.now()
        problem = await self._try(
            Command.RESET_ALL_USAGE, None, lambda books: books.reset_all_usage(now)
        )
        await _tell(stream, problem)

    def _managing(self, command: Command) -> Handler:
        kind = MANAGERS[command]

        async def on_manage(stream: Stream) -> None:
            request = (await stream.receive()).ad()
            name = (request.string("Submitter") or "")[:MAX_NAME]
            now, said = self._books.now(), ""

            def manage(accountant: Accountant) -> None:
                nonlocal said
                said = manage_lease(accountant, kind, name, request, now)

            problem = "request is missing Submitter"
            if name:
                problem = await self._try(command, name, manage)
            if not problem:
                self._runtime.log(said)
            reply = ClassAd({"Success": not problem, "ErrorString": problem})
            await stream.send(stream.writer().ad(reply))

        return on_manage

    async def _on_set_factor(self, stream: Stream) -> None:
        """Set a factor, for administrators only; a peer that told its version gets an answer."""
        reader = await stream.receive()
        name, factor = _name(reader), _real(reader)
        if not self._runtime.network.allows(stream, Level.ADMINISTRATOR):
            problem = "only an administrator may set a priority factor"
        else:
            problem = await self._try(
                Command.SET_PRIORITYFACTOR, name, lambda books: books.set_factor(name, factor)
            )
        if stream.peer.version:
            await stream.send(stream.writer().ad(_verdict(problem)))

    async def _try(
        self, command: Command, name: str | None, make: Callable[[Accountant], None]
    ) -> str:
        """Make a change of a customer (None: of all) and return why it was not made, if it was not.

        What was made is on disk; what could not be written has been taken back.
        """
        books = self._books
        names = tuple(books.accountant.customers) if name is None else (name,)
        problem = ""
        if name is not None and not is_name(name):
            problem = f"{name!r} is no name of a submitter or group"
        else:
            try:
                await books.change(names, make)
            except (RefusedError, StorageError) as error:
                problem = error.args[0]
        if problem:
            self._runtime.log(f"{command.name} rejected: {problem}")
        return problem

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


def _verdict(problem: str) -> ClassAd:
    reply = ClassAd({"ErrorCode": 1 if problem else 0})
    if problem:
        reply["ErrorString"] = problem
    return reply


async def _tell(stream: Stream, problem: str) -> None:
    """Tell a tool of ours what came of a command that has no answer in the reference.

    Compat: the reference closes without a word, and its tools do not listen; shown by
    test_a_change_that_cannot_be_written_is_refused_and_not_made.
    """
    if is_ours(stream.peer.version):
        with contextlib.suppress(WireError):
            await stream.send(stream.writer().ad(_verdict(problem)))


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
