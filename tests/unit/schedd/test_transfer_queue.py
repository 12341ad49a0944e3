"""The transfer queue: everybody's turn comes at once, and lasts as long as the client wants."""

from __future__ import annotations

import asyncio
from typing import Any

from kettle.classad import ClassAd
from kettle.schedd.service_transfer_queue import TransferQueueCommands
from kettle.wire.codec import Reader, Writer


class FakeStream:
    """A client that asks, reports once and is done."""

    def __init__(self) -> None:
        reports = [Writer().string("1 2 3 4 5 6 7 8"), Writer().string("")]
        self.incoming = [Writer().ad(ClassAd({"JobId": "1.0"})), *reports]
        self.answers: list[Reader] = []

    async def receive(self, *_seconds: float) -> Reader:
        return Reader(self.incoming.pop(0).getvalue())

    async def send(self, message: Any) -> None:
        writer = Writer()
        message.write(writer)
        self.answers.append(Reader(writer.getvalue()))


def test_a_client_may_go_at_once_and_is_listened_to_until_it_is_done() -> None:
    stream: Any = FakeStream()
    service: Any = None
    asyncio.run(TransferQueueCommands(service).on_request(stream))
    (answer,) = stream.answers
    assert answer.ad().integer("Result") == 1
    assert stream.incoming == []
