"""Messages of a daemon's stream: which of them leave when."""

from __future__ import annotations

import asyncio
import select

from kettle.runtime.sockets.stream import Stream
from kettle.wire.dialog import Words


def test_what_is_held_leaves_with_the_next_message_or_before_a_wait() -> None:
    async def scenario() -> list[int]:
        ours, fd = Stream.pair()
        theirs = Stream.over(fd)
        ours.hold(Words(1))
        ours.hold(Words(2))
        assert select.select([fd], [], [], 0)[0] == []
        await ours.send(Words(3))
        found = [(await theirs.receive()).integer() for _ in range(3)]
        ours.hold(Words(4))
        waiting = asyncio.ensure_future(ours.receive())
        found.append((await theirs.receive()).integer())
        await theirs.send(Words(0))
        await waiting
        ours.hold(Words(5))
        ours.close()
        found.append((await theirs.receive()).integer())
        theirs.close()
        return found

    assert asyncio.run(scenario()) == [1, 2, 3, 4, 5]
