"""What is kept of a pool's slots between cycles, and what is forgotten."""

from __future__ import annotations

import pytest

from kettle.matchmaking import candidates, kept_slots
from kettle.matchmaking.columns import Columns
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.kept_slots import KeptSlots
from unit.matchmaking.pools import SETTINGS, pslot, request, slot, submitter


@pytest.fixture(autouse=True)
def _with_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "WIDE_FROM", 1)


def names_of(columns: Columns) -> set[str]:
    return set(columns._columns)


def test_a_column_is_kept_while_requests_look_at_it() -> None:
    ads = [slot(f"s{number}", Colour=number, Size=number) for number in range(6)]
    kept = KeptSlots()

    def cycle(requirements: str) -> Columns:
        wish = request("ann@d", requirements=requirements)
        table = kept.table(ads)
        Cycle(table, [submitter("ann@d", wish)], SETTINGS, kept=kept).run()
        return kept.columns(table.rows)

    first = cycle("TARGET.Colour == 3")
    colours = first.column("colour")
    assert cycle("TARGET.Colour == 3 && TARGET.Size > 0").column("colour") is colours
    cycle("TARGET.Size > 0")
    last = cycle("TARGET.Size > 0")
    assert "size" in names_of(last)
    assert "colour" not in names_of(last)


def test_texts_that_no_slot_has_any_more_are_forgotten() -> None:
    ads = [slot(f"s{number}", Colour=number) for number in range(8)]
    kept = KeptSlots()
    columns = kept.columns(kept.table(ads).rows)
    columns.column("colour")
    for number in range(100, 150):
        ads[3] = slot("s3", Colour=number)
        assert kept.columns(kept.table(ads).rows) is columns
        assert columns.column("colour").texts[columns.column("colour").codes[3]] == str(number)
    assert len(columns.column("colour").texts) == 8


def test_what_a_cycle_took_of_a_slot_is_there_again_in_the_next() -> None:
    ads = [pslot(f"p{number}", cpus=4) for number in range(4)]
    kept = KeptSlots()
    for _ in range(3):
        table = kept.table(ads)
        wish = request("ann@d", count=100, divides=True)
        plan = Cycle(table, [submitter("ann@d", wish)], SETTINGS, kept=kept).run()
        assert len(plan.matches) == 16
        assert table.total_weight == 16


def test_a_row_is_read_again_only_if_its_ad_is_another_one() -> None:
    ads = [slot(f"s{number}") for number in range(4)]
    ads[1].insert_text("SlotWeight", "1 + 0 * time()")
    kept = KeptSlots()
    before = kept.table(ads).rows
    ads[2] = slot("s2", cpus=3)
    after = kept.table(reversed(ads)).rows
    assert [one is other for one, other in zip(before, after, strict=True)] == [
        True, False, False, True,
    ]  # fmt: skip
    assert after[2].weight == 3


def test_an_ad_that_cannot_be_read_is_left_out_and_the_others_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = kept_slots.read_slot

    def fails(key: tuple[str, str], *arguments: object, **named: object) -> object:
        if key[0] == "odd":
            raise OverflowError("nobody thought of it")
        return read(key, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_slots, "read_slot", fails)
    slots = KeptSlots()
    table = slots.table([slot("a"), slot("odd", SlotWeight="=Cpus + 1"), slot("b")])
    assert [row.name for row in table] == ["a", "b"]
    assert [type(each) for each in slots.faults] == [OverflowError]
