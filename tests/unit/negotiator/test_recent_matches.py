"""What was given and is not seen yet: kept back for a while, then looked at again."""

from __future__ import annotations

from kettle.negotiator.recent_matches import DIVIDED_SECONDS, REMEMBERED_SECONDS, RecentMatches
from kettle.schedd.matched_slots import ALLOWED_SECONDS


def test_a_match_is_kept_back_until_its_time_is_over() -> None:
    recent = RecentMatches()
    recent.add("claim", "alice@vm", 1.0, 100.0)
    recent.settle(["claim"], 101.0)
    assert "claim" in recent
    assert recent.seconds_to_go(101.0) == REMEMBERED_SECONDS - 1.0
    recent.settle(["claim"], 101.0 + recent.seconds_to_go(101.0))
    assert "claim" not in recent


def test_nothing_given_means_a_look_after_the_whole_time() -> None:
    assert RecentMatches().seconds_to_go(7.0) == REMEMBERED_SECONDS


def test_limits_of_what_follows_the_first_of_a_divided_slot_are_kept_aside() -> None:
    recent = RecentMatches()
    for limits in ("lic", "lic", "", "other"):
        recent.add("claim", "alice@vm", 1.0, 100.0, limits=limits)
    recent.settle(["next"], 101.0)
    assert recent.limits() == ["lic", "other"]
    assert recent.weights() == {}
    assert recent.seconds_to_go(101.0) == DIVIDED_SECONDS - 1.0
    recent.settle(["next"], 100.0 + DIVIDED_SECONDS)
    assert recent.limits() == []
    assert len(recent) == 0


def test_a_schedd_uses_no_match_longer_than_its_limits_are_kept_aside() -> None:
    assert ALLOWED_SECONDS < DIVIDED_SECONDS
