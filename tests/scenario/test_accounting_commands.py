"""An administrator changes the books of a negotiator whose disk works, or does not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.negotiator.books_table import table_of
from kettle.negotiator.service import NegotiatorService
from kettle.records.accounting_log import replay
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.files import Files
from kettle.testing.disk import CrashingDisk, DiskSynchronizer
from kettle.testing.world import World, WorldDaemon
from kettle.wire.commands import Command
from scenario.stage import connect, play, stopped_at_the_end

USER = "u@here"
LEASE: dict[str, object] = {"Submitter": USER, "Action": "set", "Duration": 60}
CHANGES = (
    (Command.SET_PRIORITY, (USER, 7.0)),
    (Command.SET_PRIORITYFACTOR, (USER, 10.0)),
    (Command.SET_ACCUMUSAGE, (USER, 99.0)),
    (Command.SET_BEGINTIME, (USER, 99)),
    (Command.SET_LASTTIME, (USER, 99)),
    (Command.SET_CEILING, (USER, 9)),
    (Command.SET_FLOOR, (USER, 9)),
    (Command.RESET_USAGE, (USER,)),
    (Command.DELETE_USER, (USER,)),
    (Command.RESET_ALL_USAGE, ()),
    (Command.MANAGE_CEILING, (ClassAd({**LEASE, "Ceiling": 3}),)),
    (Command.MANAGE_FLOOR, (ClassAd({**LEASE, "Floor": 3}),)),
    (Command.MANAGE_PRIORITY_FACTOR, (ClassAd({**LEASE, "PriorityFactor": 3.0}),)),
)


class Stage:
    """A negotiator on a disk that can be broken."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.disk = CrashingDisk()

    async def begin(self) -> WorldDaemon[NegotiatorService]:
        self.negotiator = await self.world.start("NEGOTIATOR", self._make)
        stopped_at_the_end(self.negotiator)
        self.books = self.negotiator.service.books
        self.books.accountant.set_usage(USER, 55.0)
        await self.books.save()
        return self.negotiator

    def _make(self, runtime: Runtime) -> NegotiatorService:
        runtime.files = Files(DiskSynchronizer(self.disk), self.disk)
        return NegotiatorService(runtime)

    def on_disk(self) -> dict[str, dict[str, str]]:
        path = self.negotiator.service.settings.accounting_path
        return replay(dict(self.disk.images())["cut"][path])[0].ads

    async def order(self, command: Command, words: tuple[object, ...]) -> ClassAd:
        """Return what a tool of ours is answered."""
        stream = await self.send(command, words)
        answer = (await stream.receive()).ad()
        stream.close()
        return answer

    async def send(self, command: Command, words: tuple[object, ...]) -> Stream:
        """Give an order, and wait for no answer."""
        client = self.world.client("admin@here")
        stream = await connect(client, str(self.negotiator.network.address), command)
        if words:
            writer = stream.writer()
            for word in words:
                if isinstance(word, str):
                    writer.string(word)
                elif isinstance(word, float):
                    writer.real(word)
                elif isinstance(word, int):
                    writer.integer(word)
                elif isinstance(word, ClassAd):
                    writer.ad(word)
            await stream.send(writer)
        return stream


def refusal(answer: ClassAd) -> str:
    """Return why something was refused, nothing if it was not."""
    failed = answer.integer("ErrorCode") != 0 and answer.boolean("Success") is not True
    return (answer.string("ErrorString") or "?") if failed else ""


@pytest.mark.parametrize("broken", ["write", "sync"])
def test_a_change_that_cannot_be_written_is_refused_and_not_made(
    tmp_path: Path, broken: str
) -> None:
    async def scenario(world: World) -> None:
        stage = Stage(world)
        await stage.begin()
        books = stage.books
        for command, words in CHANGES:
            before = table_of(books.accountant).ads
            stage.disk.fails = broken
            why = refusal(await stage.order(command, words))
            assert why.startswith("The accounting log cannot be written: "), command
            said = f"{command.name} rejected: {why}"
            assert [line for line in world.log if line.endswith(said)]
            stage.disk.fails = ""
            await books.save()
            after = table_of(books.accountant).ads
            after["Accountant."] = before["Accountant."]
            assert after == before, command
            assert stage.on_disk().keys() == before.keys(), command

    play(tmp_path, scenario)


@pytest.mark.parametrize(("command", "words"), CHANGES, ids=[each.name for each, _ in CHANGES])
def test_a_change_that_is_acknowledged_is_on_disk(
    tmp_path: Path, command: Command, words: tuple[object, ...]
) -> None:
    async def scenario(world: World) -> None:
        stage = Stage(world)
        await stage.begin()
        assert refusal(await stage.order(command, words)) == ""
        assert stage.on_disk() == table_of(stage.books.accountant).ads

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, 4), (60.0, 3)], ids=["a slow disk", "a disk that hangs"]
)
def test_who_asks_is_shown_the_changes_that_came_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, shown: int
) -> None:
    """The bindings ask without waiting for an answer to what they have ordered."""

    async def scenario(world: World) -> None:
        stage = Stage(world)
        await stage.begin()
        save = stage.books._save

        async def save_slowly() -> None:
            await asyncio.sleep(seconds)
            await save()

        monkeypatch.setattr(stage.books, "_save", save_slowly)
        for ceiling in (3, 4):
            await stage.send(Command.SET_CEILING, (USER, ceiling))
        began = asyncio.get_running_loop().time()
        stream = await stage.send(Command.GET_PRIORITY, ())
        answer = (await stream.receive()).ad(types=False)
        assert answer.integer("Ceiling2") == shown
        assert asyncio.get_running_loop().time() - began < 2.0

    play(tmp_path, scenario)


def test_a_name_that_no_books_can_have_is_refused(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        stage = Stage(world)
        await stage.begin()
        why = refusal(await stage.order(Command.SET_PRIORITY, ("a b@here", 7.0)))
        assert why == "'a b@here' is no name of a submitter or group"
        why = refusal(await stage.order(Command.SET_PRIORITY, (USER, 7.0)))
        assert why == ""

    play(tmp_path, scenario)
