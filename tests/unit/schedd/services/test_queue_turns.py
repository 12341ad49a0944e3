"""How long one client of queue management is served before others have their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.schedd.services.queue import QueueCommands
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, NOW, Schedd


class Client:
    """A client whose requests came in one piece, on a clock that each of them moves on."""

    command = Command.QMGMT_WRITE_CMD
    timeout = 0.0

    def __init__(self, count: int, seconds: float) -> None:
        self.seconds, self.time, self.served = seconds, 0.0, 0
        self._requests = self._ask(count)

    def _ask(self, count: int) -> Iterator[Reader]:
        for _ in range(count):
            writer = Writer()
            calls.NewCluster().write(writer)
            yield Reader(writer.getvalue())

    async def receive_or_begin(self, _: object) -> Reader:
        self.time += self.seconds
        try:
            return next(self._requests)
        except StopIteration:
            raise EOFError from None

    def hold(self, _: object) -> None:
        self.served += 1


@pytest.mark.parametrize(("seconds", "turns"), [(0.0, 0), (0.03, 5)])
def test_requests_that_take_long_leave_others_their_turn(seconds: float, turns: int) -> None:
    """A text of a hundred kilobytes takes a while, and a client sends as many as it likes."""
    client = Client(10, seconds)
    pure = Schedd()
    schedd: Any = SimpleNamespace(
        queue=pure.queue,
        queue_settings=pure.settings,
        now=lambda: NOW,
        actor=lambda _: ALICE,
        spool=pure.spool,
        runtime=SimpleNamespace(clock=SimpleNamespace(monotonic=lambda: client.time), log=print),
    )
    nothing: Any = SimpleNamespace(own_ad=None, tell_edits=None)
    commands = QueueCommands(
        schedd, shadows=nothing, ads=nothing, departures=nothing, factories=nothing
    )
    seen: list[int] = []

    async def others() -> None:
        while True:
            seen.append(client.served)
            await asyncio.sleep(0)

    async def serve() -> None:
        waiting = asyncio.ensure_future(others())
        await asyncio.sleep(0)
        with pytest.raises(EOFError):
            await commands.on_queue_management(client)  # type: ignore[arg-type]
        waiting.cancel()

    asyncio.run(serve())
    assert client.served == 10
    assert len(seen) - 1 == turns
