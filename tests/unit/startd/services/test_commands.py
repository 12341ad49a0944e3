"""What anybody may ask of a startd."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from kettle.classad import ClassAd
from kettle.startd.services.commands import OtherCommands
from kettle.testing.virtual_loop import run_virtually
from kettle.wire.codec import Reader, Writer


def test_a_question_about_many_slots_leaves_others_their_turn() -> None:
    query = ClassAd({"TargetType": "Machine"})
    query.insert_text("Requirements", "SlotID % 2 == 0")
    writer = Writer()
    writer.ad(query)
    replies: list[Any] = []

    async def receive() -> Reader:
        return Reader(writer.getvalue())

    async def send(reply: Any) -> None:
        replies.append(reply)

    async def main() -> int:
        startd = SimpleNamespace(
            machine=range(2000), slot_ad=lambda number: ClassAd({"SlotID": number})
        )
        commands = OtherCommands(cast(Any, startd), cast(Any, None))
        asking = asyncio.ensure_future(
            commands.on_query(cast(Any, SimpleNamespace(receive=receive, send=send)))
        )
        turns = 0
        while not asking.done():
            turns += 1
            await asyncio.sleep(0)
        await asking
        return turns

    assert run_virtually(main()) > 4
    assert len(replies[0].ads) == 1000
