"""Events that wait, as the queue keeps them: whatever is in them, they come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.classad.text import quote_old
from kettle.records.unwritten_events import decode, encode, in_order

PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(st.lists(st.tuples(PATHS, st.binary()), min_size=1))
def test_events_come_back_from_a_job_ad_byte_for_byte(events: list[tuple[str, bytes]]) -> None:
    text = quote_old(encode(events))
    assert "\n" not in text
    ad = ClassAd()
    ad.insert_text("X", text)
    assert decode(ad.string("X")) == events


def test_a_name_that_is_no_utf_8_comes_back_too() -> None:
    events = [("/home/\udcff/log", b"\xff\n...\n")]
    assert decode(encode(events)) == events


def test_what_is_no_such_text_has_no_events() -> None:
    assert decode(None) == decode("") == decode("one") == decode("a|b|c") == []


def test_events_of_two_processes_are_in_the_order_in_which_they_happened() -> None:
    def event(number: str, moment: str) -> tuple[str, bytes]:
        return "/l", f"{number} (001.000.000) {moment} Something\n...\n".encode()

    submitted = event("000", "2026-11-22 06:00:00")
    began = event("001", "2026-11-22 06:00:01")
    ended = event("005", "2026-11-22 06:00:01")
    released = event("013", "2026-11-22 06:00:09")
    left = [[submitted, released, began], [ended, began]]
    assert in_order(*left) == [submitted, began, ended, released]
    # Two runs within a second are told of twice.
    twice = [submitted, began, ended, began, ended]
    assert sorted(in_order(twice, [ended])) == sorted(twice)
