"""The one story of a job, and what the short way leaves out of it."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.starter.conversation import PREPARING, TABLE, Spared, Turn, Way
from kettle.wire.messages.short_way import NOTHING_TO_FETCH, SHORT_WAY

ORDINARY = ClassAd()
KNOWN = ClassAd({SHORT_WAY: True})
KNOWN_EMPTY = ClassAd({SHORT_WAY: True, NOTHING_TO_FETCH: True})
DEFERRED = ClassAd({"DeferralTime": 1})


def preparing(way: Way) -> list[Turn]:
    return list(way.still_to_take(PREPARING))


def test_every_turn_has_one_row_and_what_is_spared_is_told_otherwise() -> None:
    assert [row.turn for row in TABLE] == list(Turn)
    assert all(bool(row.instead) is (row.spared is not Spared.NEVER) for row in TABLE)
    assert tuple(Turn)[:7] == PREPARING


def test_the_ordinary_way_is_the_whole_story() -> None:
    way = Way(ORDINARY)
    way.decide_begin(ClassAd(), transfers=False)
    way.decide_end(lambda: False)
    assert not any(way.spares(turn) for turn in Turn)


@pytest.mark.parametrize(
    ("activation", "job", "transfers", "one_call"),
    [
        (KNOWN, ClassAd(), False, True),
        (KNOWN_EMPTY, ClassAd(), True, True),
        (KNOWN, ClassAd(), True, False),
        (KNOWN_EMPTY, DEFERRED, True, False),
        (ORDINARY, ClassAd(), False, False),
    ],
    ids=["no files", "none to fetch", "files to fetch", "a date to wait for", "not known"],
)
def test_one_call_begins_where_nothing_is_fetched_or_waited_for(
    activation: ClassAd, job: ClassAd, transfers: bool, one_call: bool
) -> None:
    way = Way(activation)
    way.decide_begin(job, transfers=transfers)
    assert way.one_call_begins is one_call
    learns = [] if way.spares(Turn.SAY_EXITED) else [Turn.LEARN_JOB]
    if one_call:
        assert preparing(way) == [Turn.SETTLE]
    else:
        assert preparing(way) == [*learns, *PREPARING[1:]]


def test_one_call_ends_where_nothing_is_sent() -> None:
    way = Way(KNOWN)
    way.decide_end(lambda: True)
    assert [turn for turn in tuple(Turn)[8:] if way.spares(turn)] == [Turn.SAY_EXITED]
    way.decide_end(lambda: False)
    assert [turn for turn in tuple(Turn)[8:] if not way.spares(turn)] == [Turn.SAY_EXIT]


def test_whether_there_is_output_is_not_looked_at_in_vain() -> None:
    """A look at the sandbox costs; a shadow that does not know the way is told everything."""
    Way(ORDINARY).decide_end(lambda: pytest.fail("the sandbox was looked at"))


def test_a_shadow_that_comes_back_may_know_the_way_or_not() -> None:
    way = Way(KNOWN)
    way.note_shadow(knows=False)
    way.decide_end(lambda: False)
    assert not way.spares(Turn.SEND_OUTPUT)
    assert not way.spares(Turn.SAY_EXITED)
