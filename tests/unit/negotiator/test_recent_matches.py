"""What was given and is not seen yet: kept back for a while, then looked at again."""

from __future__ import annotations

from kettle.classad import ClassAd
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


WHOLE = "slot1@vm"


def part(number: int, limits: str = "lic", claim: str = "") -> ClassAd:
    return ClassAd(
        {
            "Name": f"slot1_{number}@vm",
            "DynamicSlot": True,
            "ConcurrencyLimits": limits,
            "PublicClaimId": claim or f"<vm>#1#{number}",
        }
    )


def burst(recent: RecentMatches, *limits: str, claim: str = "claim", now: float = 100.0) -> None:
    for each in limits:
        recent.add(claim, "alice@vm", 1.0, now, limits=each, slot=WHOLE, is_part=True)


def test_limits_of_a_burst_are_counted_once_as_its_parts_show_up() -> None:
    recent = RecentMatches()
    before = [part(7)]
    recent.settle(["claim"], 99.0, before)
    burst(recent, "lic", "lic:2", "lic", "other")
    recent.settle(["next"], 101.0, [*before, part(1)])
    assert sorted(recent.limits()) == ["lic", "lic:2", "other"]
    recent.settle(["next"], 102.0, [*before, part(1), part(2, "LIC:2"), part(3, "other")])
    assert recent.limits() == ["lic"]
    # What was seen explains nothing any more, also where another job has the same claim.
    recent.settle(["next"], 103.0, [*before, part(1), part(2, "lic:2"), part(3, "other")])
    assert recent.limits() == ["lic"]
    recent.settle(["next"], 104.0, [part(1), part(3, "other", "<vm>#1#9"), part(4)])
    assert recent.limits() == []


def test_a_part_that_shows_up_before_its_claim_id_goes_is_counted_once() -> None:
    recent = RecentMatches()
    burst(recent, "lic", "lic")
    recent.settle(["claim"], 101.0, [part(1)])
    assert "claim" in recent
    assert [each for each in recent.limits() if each] == ["lic"]
    recent.settle(["next"], 102.0, [part(1)])
    assert recent.limits() == ["lic"]


def test_a_part_of_another_machine_and_a_slot_taken_as_a_whole_explain_no_burst() -> None:
    recent = RecentMatches()
    recent.settle(["claim", "one"], 99.0, [part(5)])
    burst(recent, "lic", "lic")
    recent.add("one", "bob@vm", 1.0, 100.0, limits="lic", slot="slot1_5@vm")
    elsewhere = part(1)
    elsewhere["Name"] = "slot1_1@other"
    recent.settle(["next"], 101.0, [part(5, claim="<vm>#1#6"), elsewhere])
    assert recent.limits() == ["lic"]
