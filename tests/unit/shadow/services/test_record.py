"""What a shadow knows of its job: who waits until the queue has it on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from kettle.classad import ClassAd
from kettle.shadow.services.record import JobRecord
from kettle.wire.messages.shadow_host import HostMessage, StartShadow, UpdateJob

if TYPE_CHECKING:
    from kettle.shadow.services.parts import Host


class FakeHost:
    """Notes what the schedd is told."""

    def __init__(self) -> None:
        self.told: list[HostMessage] = []

    def steady(self) -> float:
        return 0.0

    def tell_schedd(self, message: HostMessage) -> None:
        self.told.append(message)


def test_each_of_several_who_wait_for_the_queue_goes_on_when_it_has_his() -> None:
    async def main() -> None:
        host = FakeHost()
        start = StartShadow(1, 0, "<127.0.0.1:1>", ClassAd({"A": 1}), ClassAd())
        record = JobRecord(cast("Host", host), start, None)
        first, second = (asyncio.create_task(record.keep()) for _ in range(2))
        await asyncio.sleep(0)
        assert [each.answered for each in host.told if isinstance(each, UpdateJob)] == [True] * 2
        record.note_kept()
        await asyncio.sleep(0)
        assert first.done()
        assert not second.done()
        record.note_kept()
        await asyncio.wait_for(second, 100)
        # One word more than was asked for is nobody's.
        record.note_kept()

    asyncio.run(main())
