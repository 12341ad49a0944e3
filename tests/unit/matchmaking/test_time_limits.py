"""How long a cycle works for whom: NEGOTIATOR_MAX_TIME_PER_CYCLE and its kind."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.submitters import Submitter
from kettle.matchmaking.time_limits import TimeBook, TimeLimits
from unit.matchmaking.pools import given, plan, request, slot, submitter


class Watch:
    """A clock on which each look takes a second."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def slots(count: int) -> list[ClassAd]:
    return [slot(f"s{number:02}") for number in range(count)]


def timed(limits: TimeLimits, *wanting: Submitter, count: int = 40) -> tuple[Plan, TimeBook]:
    book = TimeBook(limits, 1000.0)
    return plan(slots(count), *wanting, time=book, clock=Watch()), book


def numbers(found: Plan) -> dict[str, int]:
    names = [name for name, _ in given(found)]
    return {name: names.count(name) for name in names}


def test_without_limits_everybody_is_served_whatever_the_clock_says() -> None:
    found, book = timed(TimeLimits(), submitter("a@d", request("a@d", count=20)))
    assert numbers(found) == {"a@d": 20}
    assert not book.cut_short


def test_a_cycle_that_has_run_too_long_keeps_its_matches_and_serves_nobody_more() -> None:
    found, book = timed(
        TimeLimits(cycle=10.0),
        submitter("a@d", request("a@d", count=20)),
        submitter("b@d", request("b@d", count=20)),
    )
    assert 0 < len(found.matches) < 12
    assert not found.rejections
    assert book.cut_short
    # Nobody's own time is over.
    assert not book.submitters_out_of_time
    assert not book.schedds_out_of_time


def test_a_submitter_that_has_used_up_its_time_leaves_the_rest_to_the_others() -> None:
    slow = submitter("a@d", request("a@d", count=20))
    slow.priority = 1.0
    quick = submitter("b@d", request("b@d", count=3))
    found, book = timed(TimeLimits(submitter=5.0), slow, quick)
    assert numbers(found) == {"a@d": 5, "b@d": 3}
    assert book.submitters_out_of_time == {"a@d"}
    assert not found.rejections


def test_a_submitter_has_its_time_at_each_of_its_schedds() -> None:
    wanting = submitter(
        "a@d",
        request("a@d", count=9, cluster=1, schedd="<one>"),
        request("a@d", count=9, cluster=2, schedd="<two>"),
    )
    found, book = timed(TimeLimits(submitter=4.0), wanting)
    where = [match.request.schedd for match in found.matches]
    assert (where.count("<one>"), where.count("<two>")) == (4, 4)
    assert book.submitters_out_of_time == {"a@d"}


def test_the_time_of_a_schedd_is_that_of_all_its_submitters() -> None:
    found, book = timed(
        TimeLimits(schedd=6.0),
        submitter("a@d", request("a@d", count=4, schedd="<one>")),
        submitter("b@d", request("b@d", count=9, schedd="<one>")),
        submitter("c@d", request("c@d", count=9, schedd="<two>")),
    )
    served = numbers(found)
    assert served["a@d"] + served["b@d"] == 6
    assert served["c@d"] == 6
    assert book.schedds_out_of_time == {"<one>", "<two>"}
    assert not book.submitters_out_of_time


def test_a_turn_of_the_pie_ends_and_the_next_one_goes_on() -> None:
    found, book = timed(TimeLimits(spin=3.0), submitter("a@d", request("a@d", count=10)))
    assert numbers(found) == {"a@d": 10}
    assert found.pie_spins >= 3
    assert not book.cut_short


def test_nobody_is_told_a_reason_that_was_not_looked_for() -> None:
    found, _ = timed(TimeLimits(cycle=0.0), submitter("a@d", request("a@d", requirements="false")))
    assert not found.matches
    assert not found.rejections


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (TimeLimits(), float("inf")),
        (TimeLimits(cycle=50.0), 30.0),
        (TimeLimits(submitter=50.0), 43.0),
        (TimeLimits(schedd=50.0), 35.0),
        (TimeLimits(cycle=100.0, spin=5.0), 5.0),
        (TimeLimits(cycle=10.0), 0.0),
    ],
)
def test_what_is_left_is_the_least_of_all_limits(limits: TimeLimits, left: float) -> None:
    book = TimeBook(limits, 1000.0)
    book.charge("a@d", "<one>", 7.0)
    book.charge("b@d", "<one>", 8.0)
    # A clock that goes back charges nothing.
    book.charge("a@d", "<one>", -5.0)
    assert book.left("a@d", "<one>", 1020.0) == left
