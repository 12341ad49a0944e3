"""Ads that come again unchanged are the objects that they were before; all others are new."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.wire.codec import Reader, Writer
from kettle.wire.known_ads import KnownAds
from kettle.wire.messages.collector import PrivateQueryReply

# As many ads are read one by one before their shape is known.
BEFORE = 9


def slot(number: int, memory: int, *, name: str = "Memory") -> ClassAd:
    return ClassAd({"Name": f"slot{number}", name: memory, "ClaimId": f"secret#{number}"})


def read(known: KnownAds, ads: list[ClassAd]) -> list[ClassAd]:
    writer = Writer(True)
    PrivateQueryReply(ads).write(writer)
    found = known.read(Reader(writer.getvalue(), True))
    assert [list(ad.lines()) for ad in found] == [list(ad.lines()) for ad in ads]
    return found


def test_only_what_has_changed_is_another_object() -> None:
    known = KnownAds()
    first = read(known, [slot(number, 100) for number in range(30)])
    again = [slot(number, 100) for number in range(30)]
    again[20], again[21] = slot(20, 50), slot(21, 100, name="memorY")
    second = read(known, again)
    same = [number for number in range(30) if first[number] is second[number]]
    assert same == [number for number in range(BEFORE, 30) if number not in (20, 21)]


def test_ads_that_did_not_come_the_last_time_are_not_remembered() -> None:
    known = KnownAds()
    first = read(known, [slot(number, 100) for number in range(30)])
    read(known, [slot(number, 100) for number in range(20)])
    second = read(known, [slot(number, 100) for number in range(30)])
    assert second[19] is first[19]
    assert second[25] is not first[25]
