"""Who gets which slot in one cycle, and what the others are told."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from kettle.classad import parse_expression
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.fair_share import Bounds
from kettle.matchmaking.groups import GroupSettings, build_tree, plan_quotas
from kettle.matchmaking.held_limits import limits_in_use
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.rank import Candidate, Eviction
from kettle.matchmaking.requests import Request
from kettle.matchmaking.slot_choice import Chooser
from kettle.matchmaking.slots import Slot
from kettle.matchmaking.standings import Standings
from kettle.negotiator.dialogue import offered_ad
from unit.matchmaking.pools import RANKS, SETTINGS, given, plan, pslot, request, slot, submitter


def test_one_job_gets_one_slot_with_its_claim_id() -> None:
    found = plan([slot("a")], submitter("u@d", request()))
    (match,) = found.matches
    assert match.slot_name == "a"
    assert match.claim_id == "<a>#1#1#secret"
    assert match.cost == 1.0
    assert match.eviction is Eviction.NOBODY


def test_a_request_for_several_jobs_gets_several_slots_and_then_a_reason() -> None:
    found = plan([slot("a"), slot("b")], submitter("u@d", request(count=3)))
    assert given(found) == [("u@d", "a"), ("u@d", "b")]
    (rejection,) = found.rejections
    assert rejection.reason == "no match found"


@pytest.mark.shows("R054")
def test_job_rank_chooses_the_larger_machine_every_time() -> None:
    # The negotiator's own rank is out of the way, as its default prefers small slots.
    settings = replace(SETTINGS, ranks=replace(RANKS, pre_job_rank=None))
    ads = [slot("a", memory=1000), slot("b", memory=2000)]
    for order in (ads, ads[::-1]):
        found = plan(order, submitter("u@d", request(rank="TARGET.Memory")), settings=settings)
        assert given(found) == [("u@d", "b")]


def test_the_default_pre_job_rank_packs_jobs_into_small_slots() -> None:
    ads = [slot("big", cpus=4), slot("small", cpus=1)]
    assert given(plan(ads, submitter("u@d", request()))) == [("u@d", "small")]


def test_two_equal_users_share_the_pool_evenly() -> None:
    ads = [slot(f"s{number}") for number in range(8)]
    found = plan(
        ads, submitter("a@d", request("a@d", count=9)), submitter("b@d", request("b@d", count=9))
    )
    assert len(found.matches) == 8
    assert sum(name == "a@d" for name, _ in given(found)) == 4


def test_what_one_user_already_holds_counts() -> None:
    free = [slot(f"s{number}") for number in range(4)]
    held = [slot(f"h{number}", RemoteUser="a@d", State="Claimed") for number in range(4)]
    found = plan(
        free + held,
        submitter("a@d", request("a@d", count=9), usage=4.0),
        submitter("b@d", request("b@d", count=9)),
    )
    assert {name for name, _ in given(found)} == {"b@d"}
    assert len(found.matches) == 4


def test_nothing_stays_idle_while_anybody_wants_it() -> None:
    ads = [slot(f"s{number}") for number in range(7)]
    found = plan(
        ads,
        submitter("a@d", request("a@d", count=1), priority=1.0),
        submitter("b@d", request("b@d", count=100), priority=1000.0),
    )
    assert sum(name == "b@d" for name, _ in given(found)) == 6


@pytest.mark.shows("R060")
def test_a_nice_user_waits_until_nobody_else_wants_the_slot() -> None:
    nice = submitter("nice-user.a@d", request("nice-user.a@d"), priority=0.5e10)
    normal = submitter("a@d", request("a@d"), priority=500.0)
    assert given(plan([slot("s")], nice, normal)) == [("a@d", "s")]
    assert given(plan([slot("s")], submitter("nice-user.a@d", request("nice-user.a@d")))) == [
        ("nice-user.a@d", "s")
    ]


def test_one_slot_for_two_users_goes_to_the_better_priority() -> None:
    found = plan(
        [slot("s")],
        submitter("a@d", request("a@d"), priority=600.0),
        submitter("b@d", request("b@d"), priority=500.0),
    )
    assert given(found) == [("b@d", "s")]


def test_a_slot_that_does_not_want_the_job_is_not_given() -> None:
    ads = [slot("s", Requirements="=TARGET.RequestMemory < 5")]
    found = plan(ads, submitter("u@d", request(memory=10)))
    assert not found.matches
    assert [each.reason for each in found.rejections] == ["no match found"]


def test_a_slot_without_a_claim_id_is_not_offered() -> None:
    ad = slot("s")
    del ad["ClaimId"]
    assert not plan([ad], submitter("u@d", request())).matches


@pytest.mark.shows("A054", "A079")
def test_a_partitionable_slot_is_divided_until_it_is_used_up() -> None:
    found = plan([pslot("p", cpus=4)], submitter("u@d", request(count=9, divides=True)))
    assert len(found.matches) == 4
    assert [match.slot_ad.integer("Cpus") for match in found.matches] == [4, 3, 2, 1]
    assert sum(match.cost for match in found.matches) == 4.0
    assert len(found.rejections) == 1


def test_memory_ends_the_dividing_too() -> None:
    found = plan(
        [pslot("p", cpus=8, memory=1000)],
        submitter("u@d", request(count=9, memory=400, divides=True)),
    )
    assert len(found.matches) == 2


def test_what_startds_round_up_is_not_given_away() -> None:
    settings = replace(
        SETTINGS, rounding={"memory": parse_expression("quantize(RequestMemory, {128})")}
    )
    found = plan(
        [pslot("p", cpus=8, memory=256)],
        submitter("u@d", request(count=9, memory=10, divides=True)),
        settings=settings,
    )
    assert len(found.matches) == 2


def test_a_schedd_that_divides_by_itself_gets_a_partitionable_slot_once() -> None:
    found = plan([pslot("p"), pslot("q")], submitter("u@d", request(count=9)))
    assert [name for _, name in given(found)] == ["p", "q"]


def test_a_single_claim_id_binds_a_partitionable_slot_to_one_schedd() -> None:
    found = plan(
        [pslot("p", cpus=2)],
        submitter("a@d", request("a@d", schedd="<1>", divides=True)),
        submitter("b@d", request("b@d", schedd="<2>", divides=True)),
    )
    assert given(found) == [("a@d", "p")]


def test_several_claim_ids_serve_several_schedds() -> None:
    ad = pslot("p", cpus=2, ClaimIds="one two")
    found = plan(
        [ad],
        submitter("a@d", request("a@d", schedd="<1>", divides=True)),
        submitter("b@d", request("b@d", schedd="<2>", divides=True)),
    )
    assert [match.claim_id for match in found.matches] == ["one", "two"]


def test_a_ceiling_holds_a_submitter_back() -> None:
    ads = [slot(f"s{number}") for number in range(4)]
    found = plan(ads, submitter("u@d", request(count=9), bounds=Bounds(ceiling=2.0)))
    assert len(found.matches) == 2
    assert found.limited == {"u@d"}


def test_a_floor_comes_before_fair_share() -> None:
    ads = [slot(f"s{number}") for number in range(4)]
    found = plan(
        ads,
        submitter("a@d", request("a@d", count=9), priority=1.0),
        submitter("b@d", request("b@d", count=9), priority=1e9, bounds=Bounds(floor=3.0)),
    )
    assert sum(name == "b@d" for name, _ in given(found)) == 3


def test_a_concurrency_limit_is_never_exceeded() -> None:
    settings = replace(SETTINGS, limit_of=lambda name: 3.0 if name == "lic" else 100.0)
    ads = [slot(f"s{number}") for number in range(5)]
    found = plan(
        ads,
        submitter("u@d", request(count=5, ConcurrencyLimits="Lic")),
        settings=settings,
        limits_in_use=limits_in_use(["LIC:1, other"]),
    )
    assert len(found.matches) == 2
    assert found.rejections[0].reason == "concurrency limit lic reached"


@pytest.mark.shows("B015")
def test_a_claimed_slot_is_preempted_for_a_job_its_startd_prefers() -> None:
    # Strictly greater.
    held = slot("s", RemoteUser="a@d", State="Claimed", Rank="=TARGET.Wanted", CurrentRank=1.0)
    assert not plan([held], submitter("b@d", request("b@d", Wanted=1))).matches
    found = plan([held], submitter("b@d", request("b@d", Wanted=2)))
    assert found.matches[0].eviction is Eviction.STARTD_RANK
    assert found.matches[0].preempted_user == "a@d"


def preempting(requirements: str, **more: object) -> CycleSettings:
    ranks = replace(RANKS, preemption_requirements=parse_expression(requirements))
    return CycleSettings(ranks=replace(ranks, **more))  # type: ignore[arg-type]


@pytest.mark.shows("R079")
def test_priority_preempts_only_under_preemption_requirements() -> None:
    held = slot("s", RemoteUser="a@d", State="Claimed")
    holder = submitter("a@d", priority=1000.0, usage=1.0)
    wanting = submitter("b@d", request("b@d"), priority=1.0)
    found = plan([held], wanting, holder)
    assert not found.matches
    assert found.rejections[0].reason == "no match found"
    wanting = submitter("b@d", request("b@d"), priority=1.0)
    found = plan([held], wanting, holder, settings=preempting("RemoteUserPrio > 2000"))
    assert found.rejections[0].reason == "PREEMPTION_REQUIREMENTS == False"
    allowed = preempting("RemoteUserPrio > 100")
    wanting = submitter("b@d", request("b@d"), priority=1.0)
    found = plan([held], wanting, holder, settings=allowed)
    assert found.matches[0].eviction is Eviction.PRIORITY
    assert found.matches[0].preempted_user == "a@d"


def test_without_consider_preemption_nobody_is_sent_away() -> None:
    held = slot("s", RemoteUser="a@d", State="Claimed", Rank="=TARGET.Wanted")
    settings = preempting("true", consider_preemption=False)
    found = plan(
        [held],
        submitter("b@d", request("b@d", Wanted=9), priority=1.0),
        submitter("a@d", priority=1000.0, usage=1.0),
        settings=settings,
    )
    assert not found.matches


@pytest.mark.parametrize(("mine", "preempts"), [(1000.0, False), (999.6, False), (999.5, True)])
def test_the_holder_must_stand_clearly_worse(mine: float, preempts: bool) -> None:
    held = slot("s", RemoteUser="a@d", State="Claimed")
    found = plan(
        [held],
        submitter("b@d", request("b@d"), priority=mine),
        submitter("a@d", priority=1000.0, usage=1.0),
        settings=preempting("true"),
    )
    assert bool(found.matches) is preempts
    if not preempts:
        assert found.rejections[0].reason == "insufficient priority"


@pytest.mark.shows("R079")
def test_slots_are_taken_from_others_up_to_the_own_share() -> None:
    # Two users come to share 50:50, and not to drive each other out.
    held = [slot(f"s{n}", RemoteUser="a@d", State="Claimed") for n in range(8)]
    found = plan(
        held,
        submitter("b@d", request("b@d", count=8), priority=500.0),
        submitter("a@d", priority=501.0, usage=8.0),
        settings=preempting("true"),
    )
    assert len(found.matches) == 4
    assert found.limited == {"b@d"}


def test_what_a_startd_prefers_is_given_beyond_any_share() -> None:
    held = [
        slot(f"s{n}", RemoteUser="a@d", State="Claimed", Rank="=TARGET.Wanted") for n in range(8)
    ]
    found = plan(
        held,
        submitter("b@d", request("b@d", count=8, Wanted=1), priority=9999.0, usage=100.0),
        submitter("a@d", priority=1.0, usage=8.0),
    )
    assert len(found.matches) == 8


def test_the_worst_user_loses_its_slot_first_as_preemption_rank_says() -> None:
    ads = [
        slot("a", RemoteUser="x@d", State="Claimed"),
        slot("b", RemoteUser="y@d", State="Claimed"),
    ]
    found = plan(
        ads,
        submitter("u@d", request("u@d"), priority=1.0),
        submitter("x@d", priority=1000.0, usage=1.0),
        submitter("y@d", priority=2000.0, usage=1.0),
        settings=preempting("true"),
    )
    assert given(found) == [("u@d", "b")]


def test_nobody_takes_a_slot_from_itself_for_priority() -> None:
    held = slot("s", RemoteUser="a@d", State="Claimed")
    wanting = submitter("a@d", request("a@d"), priority=1.0, usage=1.0)
    assert not plan([held], wanting, settings=preempting("true")).matches


def test_preemption_requirements_sees_both_sides() -> None:
    text = (
        'SubmitterUserPrio == 10 && SubmitterUserResourcesInUse == 0 && SubmitterGroup == "<none>"'
        ' && RemoteUserPrio == 1000 && RemoteUserResourcesInUse == 1 && RemoteGroup == "<none>"'
        " && MY.Memory == 1000 && TARGET.RequestMemory == 10"
    )
    found = plan(
        [slot("s", RemoteUser="a@d", State="Claimed")],
        submitter("b@d", request("b@d"), priority=10.0),
        submitter("a@d", priority=1000.0, usage=1.0),
        settings=preempting(text),
    )
    assert found.matches


FORGED = {
    "SubmitterUserPrio": 0.001,
    "submittorprio": 0.001,
    "SubmitterUserResourcesInUse": 0.0,
    "SubmitterGroup": "group_rich",
    "SubmitterGroupQuota": 1000.0,
    "SubmitterNegotiatingGroup": "group_rich",
    "SubmitterAutoregroup": True,
}


def test_a_job_does_not_say_how_its_submitter_stands() -> None:
    held = slot("s", RemoteUser="a@d", State="Claimed", RemoteGroup="group_rich")
    found = plan(
        [held],
        submitter("b@d", request("b@d", **FORGED), priority=10.0),
        submitter("a@d", priority=11.0, usage=1.0),
        settings=preempting("RemoteUserPrio > TARGET.SubmitterUserPrio * 1.2"),
    )
    assert not found.matches
    (refused,) = found.rejections
    said = {name: refused.request.ad.evaluate(name) for name in FORGED}
    assert said["SubmitterUserPrio"] == said["submittorprio"] == 10.0
    assert said["SubmitterGroup"] == said["SubmitterNegotiatingGroup"] == "<none>"
    assert said["SubmitterAutoregroup"] is False
    assert said["SubmitterGroupQuota"] != 1000.0


def test_equal_slots_with_different_holders_are_judged_each() -> None:
    ads = [
        slot("a", RemoteUser="x@d", State="Claimed", TotalJobRunTime=10),
        slot("b", RemoteUser="x@d", State="Claimed", TotalJobRunTime=9999),
    ]
    found = plan(
        ads,
        submitter("u@d", request("u@d", count=2), priority=1.0),
        submitter("x@d", priority=1000.0, usage=2.0),
        settings=preempting("MY.TotalJobRunTime > 3600"),
    )
    assert given(found) == [("u@d", "b")]


def test_whom_a_slot_is_charged_to_is_its_accounting_group() -> None:
    held = slot("s", RemoteUser="a@d", AccountingGroup="g.a@d", State="Claimed")
    [row] = KeptSlots().table([held])
    assert row.remote_user == "g.a@d"


def test_limits_may_depend_on_the_slot() -> None:
    ads = [slot("a", Lab="x"), slot("b", Lab="x"), slot("c", Lab="y")]
    wanting = request("u@d", count=3)
    wanting.ad.insert_text("ConcurrencyLimits", "TARGET.Lab")
    settings = CycleSettings(ranks=RANKS, limit_of=lambda _name: 1.0)
    found = plan(ads, submitter("u@d", wanting), settings=settings)
    assert sorted(match.limits for match in found.matches) == ["x", "y"]
    assert found.rejections[0].reason == "concurrency limit x reached"


def test_what_members_of_a_group_hold_counts_though_they_ask_for_nothing() -> None:
    tree = build_tree([GroupSettings("g", 2.0)])
    tree["g"].demand = 9.0
    plan_quotas(tree, 8.0)
    found = plan(
        [slot(f"s{number}") for number in range(8)],
        submitter("g.a@d", request("g.a@d", count=9), group="g"),
        submitter("g.b@d", group="g", usage=1.0),
        groups=tree,
        group_order=("g", "<none>"),
    )
    assert len(found.matches) == 1


@pytest.mark.shows("B127")
def test_no_preemption_while_retirement_time_is_left() -> None:
    held = slot(
        "s",
        RemoteUser="a@d",
        State="Claimed",
        Rank="=TARGET.Wanted",
        RetirementTimeRemaining=60,
    )
    assert not plan([held], submitter("b@d", request("b@d", Wanted=2))).matches
    early = CycleSettings(ranks=replace(RANKS, consider_early_preemption=True))
    assert plan([held], submitter("b@d", request("b@d", Wanted=2)), settings=early).matches


def test_a_free_slot_is_preferred_to_preempting_somebody() -> None:
    held = slot("a", RemoteUser="a@d", State="Claimed", Rank="=TARGET.Wanted")
    free = slot("b", Rank="=TARGET.Wanted")
    found = plan([held, free], submitter("b@d", request("b@d", Wanted=2)))
    assert given(found) == [("b@d", "b")]


def test_an_offline_slot_is_the_last_choice() -> None:
    ads = [slot("a", Offline=True), slot("b")]
    found = plan(ads, submitter("u@d", request(count=2)))
    assert [(match.slot_name, match.offline) for match in found.matches] == [
        ("b", False),
        ("a", True),
    ]


def test_a_group_gets_its_quota_and_not_more() -> None:
    tree = build_tree([GroupSettings("g", 2.0), GroupSettings("h", 6.0)])
    tree["g"].demand = tree["h"].demand = 9.0
    plan_quotas(tree, 8.0)
    ads = [slot(f"s{number}") for number in range(8)]
    found = plan(
        ads,
        submitter("g.a@d", request("g.a@d", count=9), group="g"),
        submitter("h.b@d", request("h.b@d", count=9), group="h"),
        groups=tree,
        group_order=("g", "h", "<none>"),
    )
    assert sum(name == "g.a@d" for name, _ in given(found)) == 2
    assert sum(name == "h.b@d" for name, _ in given(found)) == 6


@pytest.mark.parametrize("first", ["a", "a.x"])
def test_a_group_and_its_children_share_its_quota(first: str) -> None:
    tree = build_tree([GroupSettings("a", 4.0), GroupSettings("a.x", 3.0)])
    tree["a"].demand = tree["a.x"].demand = 9.0
    plan_quotas(tree, 8.0, oversubscribe=True)
    found = plan(
        [slot(f"s{number}") for number in range(8)],
        submitter("a.u@d", request("a.u@d", count=9), group="a"),
        submitter("a.x.u@d", request("a.x.u@d", count=9), group="a.x"),
        groups=tree,
        group_order=("a", "a.x") if first == "a" else ("a.x", "a"),
    )
    got = Counter(name for name, _ in given(found))
    assert got == ({"a.u@d": 4} if first == "a" else {"a.x.u@d": 3, "a.u@d": 1})


def test_what_a_group_takes_beyond_its_quota_is_nobodys_part() -> None:
    tree = build_tree([GroupSettings("g", 1.0, autoregroup=True)])
    tree["g"].demand = 3.0
    plan_quotas(tree, 3.0)
    asked = request("g.a@d", count=3)
    held = slot("s9", RemoteUser="z@d", State="Claimed")
    found = plan(
        [slot("s1"), slot("s2"), held],
        submitter("g.a@d", asked, group="g", priority=10.0),
        submitter("z@d", priority=1e9, usage=1.0),
        groups=tree,
        group_order=("g", "<none>"),
        settings=preempting('SubmitterNegotiatingGroup == "<none>" && SubmitterAutoregroup'),
    )
    assert [match.negotiating_group for match in found.matches] == ["g", "<none>", "<none>"]
    assert [match.slot_name for match in found.matches] == ["s1", "s2", "s9"]
    assert offered_ad(found.matches[0]).string("RemoteNegotiatingGroup") == "g"
    told = offered_ad(found.matches[1])
    assert (told.string("RemoteNegotiatingGroup"), told.string("RemoteGroup")) == ("<none>", "g")


def test_requests_are_served_in_the_order_of_the_schedd() -> None:
    found = plan(
        [slot("s")],
        submitter("u@d", request(cluster=5), request(cluster=3)),
    )
    assert [match.request.cluster for match in found.matches] == [5]


def test_a_request_that_cannot_be_judged_costs_nobody_else_a_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    price = Chooser._price

    def fails(self: Chooser, candidate: Candidate, wanted: Request) -> object:
        if wanted.cluster == 13:
            raise OverflowError("nobody thought of it")
        return price(self, candidate, wanted)

    monkeypatch.setattr(Chooser, "_price", fails)
    ads = [slot(f"s{number}") for number in range(3)]
    odd = request(cluster=13, count=5)
    found = plan(
        ads, submitter("u@d", odd, request()), submitter("v@d", request("v@d"), priority=900.0)
    )
    assert sorted(name for name, _ in given(found)) == ["u@d", "v@d"]
    assert not found.rejections
    ((what, error),) = [(each.what, each.error) for each in found.faults]
    assert what == "The matching of 13.0 of u@d"
    assert isinstance(error, OverflowError)


def test_a_slot_that_cannot_be_looked_at_is_not_offered_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(self: Standings, one: Slot) -> None:
        if one.name == "odd":
            raise OverflowError("nobody thought of it")

    monkeypatch.setattr(Standings, "describe_user", fails)
    found = plan([slot("odd"), slot("s")], submitter("u@d", request(count=2)))
    assert given(found) == [("u@d", "s")]
    assert [each.what for each in found.faults] == ["The look at odd"]
