"""Who does not answer is left alone for a while, and longer each time."""

from __future__ import annotations

from kettle.matchmaking.unreachable import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MOST_ADDRESSES,
    Unreachable,
)


def test_who_did_not_answer_is_left_alone_for_a_while() -> None:
    known = Unreachable()
    assert known.on_failed("<a:1>", 100.0) == FIRST_PAUSE_SECONDS
    assert known.is_avoided("<a:1>", 100.0)
    assert known.avoided(100.0) == {"<a:1>": 100.0}
    assert not known.is_avoided("<b:1>", 100.0)
    assert not known.is_avoided("<a:1>", 100.0 + FIRST_PAUSE_SECONDS)


def test_the_pause_doubles_with_each_failure_up_to_a_bound() -> None:
    known, now, pauses = Unreachable(), 0.0, []
    for _ in range(8):
        pauses.append(known.on_failed("a", now))
        now += pauses[-1]
    assert pauses[:3] == [10.0, 20.0, 40.0]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS


def test_those_who_were_asking_already_do_not_make_it_longer() -> None:
    known = Unreachable()
    assert [known.on_failed("a", moment) for moment in (0.0, 1.0, 2.0)] == [FIRST_PAUSE_SECONDS] * 3


def test_an_answer_forgets_the_failures() -> None:
    known = Unreachable()
    known.on_failed("a", 0.0)
    known.on_answered("a")
    known.on_answered("a")
    assert known.avoided(0.0) == {}
    assert known.on_failed("a", 1.0) == FIRST_PAUSE_SECONDS


def test_who_has_been_heard_from_since_is_asked_again() -> None:
    known = Unreachable()
    known.on_failed("a", 100.0)
    assert known.is_avoided("a", 105.0, heard_at=99.0)
    assert not known.is_avoided("a", 105.0, heard_at=101.0)


def test_no_more_than_so_many_are_remembered() -> None:
    known = Unreachable()
    for number in range(MOST_ADDRESSES + 1):
        known.on_failed(str(number), 0.0)
    assert len(known.avoided(0.0)) == MOST_ADDRESSES
    assert not known.is_avoided("0", 0.0)
