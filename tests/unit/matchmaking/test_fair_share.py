"""Priorities, shares and limits."""

from __future__ import annotations

import pytest

from kettle.matchmaking.fair_share import (
    Bounds,
    PrioritySettings,
    apply_bounds,
    decay,
    default_factor,
    divide,
    limits,
    neediest,
    order,
    shares,
)


def test_priority_moves_half_the_way_to_usage_in_a_half_life() -> None:
    assert decay(0.5, 100.0, 86400, 86400) == pytest.approx(50.25)
    assert decay(100.0, 0.0, 86400, 86400) == pytest.approx(50.0)


def test_priority_never_falls_below_one_half() -> None:
    assert decay(0.6, 0.0, 1e9, 86400) == 0.5


def test_no_time_changes_nothing() -> None:
    assert decay(7.0, 100.0, 0, 86400) == 7.0


def test_the_default_factor_depends_on_who_it_is() -> None:
    settings = PrioritySettings(local_domain="here")
    assert default_factor("u@here", settings) == 1000.0
    assert default_factor("u@there", settings) == 1e7
    assert default_factor("nice-user.u@here", settings) == 1e10


def test_shares_are_inverse_to_priority() -> None:
    assert shares({"a": 1.0, "b": 3.0}) == {"a": 0.75, "b": 0.25}
    assert shares({}) == {}


def test_the_order_of_the_submitters_is_in_no_share_not_even_in_its_last_digit() -> None:
    priorities = {f"u{number}": 1.0 + number / 7 for number in range(50)}
    turned = dict(reversed(priorities.items()))
    assert shares(turned) == shares(priorities)
    weights = {name: 1.0 / each for name, each in priorities.items()}
    parts = divide(priorities, weights, 40.0)
    assert divide(dict(reversed(priorities.items())), weights, 40.0) == parts


def test_a_submitter_over_its_share_gets_nothing_more() -> None:
    assert limits({"a": 1.0, "b": 1.0}, {"a": 7.0}, 10.0) == {"a": 0.0, "b": 5.0}


def test_the_best_priority_chooses_first_and_names_break_ties() -> None:
    assert order(["c", "b", "a"], {"a": 2.0, "b": 1.0, "c": 2.0}) == ["b", "a", "c"]


def test_what_one_leaves_goes_to_the_others_in_proportion() -> None:
    parts = divide({"a": 1.0, "b": 100.0, "c": 100.0}, {"a": 1.0, "b": 1.0, "c": 2.0}, 10.0)
    assert parts == pytest.approx({"a": 1.0, "b": 3.0, "c": 6.0})


def test_nobody_is_given_more_than_it_asked_for() -> None:
    assert divide({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 1.0}, 10.0) == {"a": 1.0, "b": 2.0}


def test_ceiling_and_floor_bound_what_may_be_added() -> None:
    assert apply_bounds(5.0, 1.0, None) == 5.0
    assert apply_bounds(5.0, 1.0, Bounds(ceiling=3.0)) == 2.0
    assert apply_bounds(0.0, 1.0, Bounds(floor=3.0)) == 2.0
    assert apply_bounds(9.0, 1.0, Bounds(floor=3.0), floors_only=True) == 2.0
    assert apply_bounds(9.0, 1.0, None, floors_only=True) == 0.0


def test_a_fraction_of_a_slot_goes_to_the_largest_fraction() -> None:
    assert neediest([("a", 0.1), ("b", 0.9)], {"a": 1.0, "b": 9.0}) == ["b", "a"]
    assert neediest([("a", 0.5), ("b", 0.5)], {"a": 9.0, "b": 1.0}) == ["b", "a"]
