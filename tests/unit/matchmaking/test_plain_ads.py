"""Slots that are read all at once are what a look at each would have made of them."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.matchmaking import kept_slots
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.slots import Slot, read_slot, slot_key

PLAIN = """\
Name = "slot1@h"
MyAddress = "<10.0.0.1:1>"
ClaimId = "<10.0.0.1:1>#1#1#x"
State = "Unclaimed"
Cpus = 8
SlotWeight = Cpus
PartitionableSlot = true
CurrentRank = 0.0
"""
ODD = (
    "",
    'State = "Claimed"\nRemoteUser = "u@here"\nCurrentRank = 2.5\nPartitionableSlot = false',
    'AccountingGroup = "g.u@here"\nState = "claimed"',
    "SlotWeight = Cpus * 2",
    "SlotWeight = 3",
    "SlotWeight = CPUS",
    "SlotWeight = undefined",
    "Cpus = TotalCpus\nTotalCpus = 4",
    'RemoteUser = strcat("a", "@b")\nState = "Claimed"',
    'ClaimIds = "one, two"',
    'ClaimId = "a\\"b"',
    "ClaimId = undefined",
    'Name = strcat("slot", "9")',
    'MyAddress = undefined\nStartdIpAddr = "<10.0.0.2:1>"',
    "PartitionableSlot = Cpus > 4",
    "CurrentRank = Memory",
    "Cpus = -1",
    "State = undefined",
)


def row(slot: Slot) -> tuple[object, ...]:
    return tuple(
        getattr(slot, name) for name in Slot.__slots__ if name not in ("ad", "index", "version")
    )


def ads() -> list[ClassAd]:
    found = []
    for number, text in enumerate(ODD):
        ad = parse_old_ad(PLAIN.replace("slot1@", f"slot{number}@") + text, check=False)
        found.append(ad)
    parsed = parse_old_ad(PLAIN.replace("slot1@", "parsed@"), check=False)
    for name in parsed.names():
        parsed.lookup(name)
    chained = ClassAd({"Cpus": 2}, parent=parse_old_ad(PLAIN, check=False))
    return [*found, parsed, chained]


@pytest.mark.parametrize("use_weights", [True, False])
@pytest.mark.parametrize("most", [0, 3, 1000])
def test_rows_are_the_same_however_they_are_read(
    monkeypatch: pytest.MonkeyPatch, use_weights: bool, most: int
) -> None:
    monkeypatch.setattr(kept_slots, "_MOST_COMMON", most)
    given = ads()
    table = KeptSlots().table(given, use_weights=use_weights)
    by_key = {slot_key(ad): ad for ad in reversed(given)}
    assert len(table) == len(by_key) == len(given) - 1
    for slot in table:
        ad = by_key[slot.name, slot.address]
        expected = read_slot(slot_key(ad), ad, use_weights=use_weights)
        assert row(slot) == row(expected), slot.name


def test_an_ad_whose_row_may_change_by_itself_is_read_again() -> None:
    kept = KeptSlots()
    steady = parse_old_ad(PLAIN, check=False)
    moving = parse_old_ad(PLAIN.replace("slot1", "slot2") + "SlotWeight = time()", check=False)
    before = {slot.name: slot for slot in kept.table([steady, moving])}
    after = {slot.name: slot for slot in kept.table([steady, moving])}
    assert after["slot1@h"] is before["slot1@h"]
    assert after["slot2@h"] is not before["slot2@h"]
