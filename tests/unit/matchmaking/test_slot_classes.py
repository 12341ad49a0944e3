"""Which slots are the same to a request."""

from __future__ import annotations

from collections.abc import Hashable

from kettle.classad import ClassAd
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.slot_classes import SlotClasses, looked_at
from unit.matchmaking.pools import slot


def signatures(*ads: ClassAd, outside: tuple[str, ...] = ("memory",)) -> list[Hashable]:
    classes = SlotClasses(outside)
    return [classes.signature(row) for row in KeptSlots().table(ads)]


def test_what_nobody_looks_at_makes_no_difference() -> None:
    first, second = signatures(slot("a", KFlops=1), slot("b", KFlops=2))
    assert first == second


def test_what_requests_or_the_slot_itself_look_at_does() -> None:
    first, second = signatures(slot("a", memory=1), slot("b", memory=2))
    assert first != second
    first, second = signatures(slot("a", Kind=1), slot("b", Kind=2), outside=("kind",))
    assert first != second


def test_a_definition_that_differs_two_levels_down_is_seen() -> None:
    def made(name: str, limit: str) -> ClassAd:
        return slot(name, Requirements="=START", START="=Limit", Limit=limit)

    first, second, third = signatures(
        made("a", "=TARGET.X > Floor"), made("b", "=TARGET.X > Floor"), made("c", "=TARGET.Y")
    )
    assert first == second != third


def test_an_attribute_that_is_a_value_here_and_an_expression_there_is_told_apart() -> None:
    first, second = signatures(
        slot("a", Requirements="=Limit", Limit=True),
        slot("b", Requirements="=Limit", Limit="=TARGET.X"),
    )
    assert first != second


def test_a_slot_whose_mind_may_change_stands_for_itself() -> None:
    assert signatures(slot("a", Requirements="=random(2) == 1")) == [None]


def test_a_request_looks_at_what_its_requirements_and_rank_name() -> None:
    ad = ClassAd({"Wanted": 1})
    ad.insert_text("Requirements", 'TARGET.Memory > Wanted && TARGET.Arch == "X"')
    ad.insert_text("Rank", "TARGET.KFlops")
    assert looked_at(ad) == ("arch", "kflops", "memory")
