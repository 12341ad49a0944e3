"""What was given and is not seen yet: kept back for a while, then looked at again."""

from __future__ import annotations

from kettle.negotiator.recent_matches import REMEMBERED_SECONDS, RecentMatches


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
