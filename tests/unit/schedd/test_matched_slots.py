"""Jobs with concurrency limits on what is left of a slot that was matched for one of them."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.claims import Claim
from kettle.schedd.matched_slots import ALLOWED_SECONDS, keep_group
from unit.schedd.scheduler_fixture import ADDRESS, World


def burst(world: World, matches: int) -> Claim:
    """Match jobs that count against a limit, one slot for all, and have the first granted."""
    first, *_ = world.submit(4, ConcurrencyLimits='"lic"')
    claim = world.match(first, MatchedConcurrencyLimits="lic")
    again = ClassAd({"MyAddress": ADDRESS, "MatchedConcurrencyLimits": "lic"})
    for _ in range(matches - 1):
        assert world.scheduler.on_match(first.submitter, claim.id, again)
    return claim


def left_of(world: World, claim: Claim, number: int) -> list[str]:
    """Grant a claim with something left over, and return the jobs that are to get that."""
    rest = ClassAd({"Name": "slot1@vm", "Memory": 500, "Requirements": True})
    world.hands.take()
    world.grant(claim, (f"<c>#1#{number}#key", rest))
    return [each[2] for each in world.hands.take() if each[0] == "request"]


def test_as_many_jobs_with_limits_get_what_is_left_as_were_matched() -> None:
    world = World()
    claim = burst(world, 3)
    assert left_of(world, claim, 2) == ["1.1"]
    second = world.hands.requested[-1]
    assert second.slot.string("MatchedConcurrencyLimits") == "lic"
    assert left_of(world, second, 3) == ["1.2"]
    assert left_of(world, world.hands.requested[-1], 4) == []


def test_a_startd_has_no_say_in_what_a_slot_was_matched_on() -> None:
    world = World()
    (job,) = world.submit(1)
    claim = world.match(job, RemoteGroup="group_a", RemotePool="cm")
    own = {"RemoteGroup": "group_b", "MatchedConcurrencyLimits": "lic", "RemotePool": "elsewhere"}
    slot = keep_group(ClassAd({"Name": "slot1@vm", **own}), claim.slot)
    assert slot.string("RemoteGroup") == "group_a"
    assert slot.string("RemotePool") == "cm"
    assert "MatchedConcurrencyLimits" not in slot


def test_matches_of_jobs_with_limits_are_used_at_once_or_not_at_all() -> None:
    world = World()
    claim = burst(world, 3)
    world.now += ALLOWED_SECONDS
    assert left_of(world, claim, 2) == []


def test_what_is_left_goes_to_jobs_with_other_limits_only_as_matched() -> None:
    world = World()
    claim = burst(world, 1)
    world.scheduler.on_match(
        claim.submitter,
        claim.id,
        ClassAd({"MyAddress": ADDRESS, "MatchedConcurrencyLimits": "other"}),
    )
    assert left_of(world, claim, 2) == []
