"""What a shadow knows of its job: who waits until the queue has it on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from kettle.classad import ClassAd
from kettle.records.event_base import Event
from kettle.records.event_kinds import JobImageSizeEvent
from kettle.shadow.services.record import JobRecord
from kettle.wire.messages.shadow_host import HostMessage, StartShadow, UpdateJob

if TYPE_CHECKING:
    from kettle.shadow.services.parts import Host


class FakeHost:
    """Notes what the schedd is told."""

    chirp_prefix = "Chirp*"
    protected = None

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


def test_a_job_that_ended_before_it_was_measured_is_as_large_as_its_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[Event] = []
    monkeypatch.setattr(JobRecord, "write_event", lambda _, event: written.append(event))
    start = StartShadow(1, 0, "<127.0.0.1:1>", ClassAd({"ImageSize": 35}), ClassAd())

    async def main() -> None:
        record = JobRecord(cast("Host", FakeHost()), start, None)
        changes = record.note_report(ClassAd({"ImageSize": 0, "ResidentSetSize": 0}))
        assert changes == {"ResidentSetSize": "0"}
        assert record.note_report(ClassAd({"ImageSize": 5000}))["ImageSize"] == "5000"
        record.note_report(ClassAd({"ImageSize": 4000}))

    asyncio.run(main())
    sizes = [event.size_kb for event in written if isinstance(event, JobImageSizeEvent)]
    assert sizes == [35, 5000]
