"""A slot that becomes free is news; one that stays as it was is not."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.collector.free_slots import FreeSlots, jobs_wait


def slot(state: str = "Unclaimed", cpus: int = 4, memory: int = 1000, started: int = 5) -> ClassAd:
    return ClassAd({"State": state, "Cpus": cpus, "Memory": memory, "DaemonStartTime": started})


def willing(text: str) -> ClassAd:
    ad = slot()
    ad.insert_text("Start", text)
    return ad


def roomy(disk: int) -> ClassAd:
    ad = slot()
    ad["Disk"] = disk
    return ad


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        (None, slot(), True),
        (None, slot("Claimed"), False),
        (slot("Claimed"), slot(), True),
        (slot("Owner"), slot(), True),
        (slot(), slot(), False),
        (slot(cpus=1), slot(cpus=2), True),
        (slot(cpus=2), slot(cpus=1), False),
        (slot(memory=10), slot(memory=20), True),
        (slot(), slot(started=6), True),
        (roomy(0), roomy(10), True),
        (roomy(10), roomy(20), False),
        (roomy(10), roomy(0), False),
        (slot(), slot("Claimed"), False),
        (willing("false"), willing("Owner is undefined"), True),
        (willing("true"), willing("true"), False),
    ],
)
def test_what_is_offered_anew_is_news(before: ClassAd | None, after: ClassAd, news: bool) -> None:
    slots = FreeSlots()
    if before is not None:
        slots.is_news("a", before)
    assert slots.is_news("a", after) is news


def test_slots_are_told_apart() -> None:
    slots = FreeSlots()
    assert slots.is_news("a", slot())
    assert slots.is_news("b", slot())


def test_nobody_is_told_while_no_job_waits() -> None:
    assert not jobs_wait([ClassAd({"IdleJobs": 0}), ClassAd({})])
    assert jobs_wait([ClassAd({"IdleJobs": 0}), ClassAd({"IdleJobs": 3})])
