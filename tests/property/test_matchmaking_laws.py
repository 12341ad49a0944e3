"""Laws of a negotiation cycle: no slot twice, no matter in which order, nobody beyond its share."""

from __future__ import annotations

import random

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.matchmaking import rank
from kettle.matchmaking.fair_share import divide, shares
from kettle.matchmaking.groups import GroupSettings, build_tree, plan_quotas
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.rank import Appraisals, Candidate, Eviction
from kettle.matchmaking.slot_classes import SlotClasses
from kettle.matchmaking.slots import Slot
from kettle.matchmaking.submitters import Submitter
from unit.matchmaking.pools import plan, pslot, request, slot, submitter

NAMES = ("ann@d", "bob@d", "cid@d")


@st.composite
def pools(draw: st.DrawFn) -> list[ClassAd]:
    """Slots of several sizes, some to be divided, some busy."""
    ads = []
    for number in range(draw(st.integers(0, 6))):
        make = pslot if draw(st.booleans()) else slot
        ad = make(f"s{number}", cpus=draw(st.integers(1, 4)), memory=draw(st.integers(1, 40)))
        if make is slot and draw(st.integers(0, 3)) == 0:
            ad["RemoteUser"] = draw(st.sampled_from(NAMES))
            ad["State"] = "Claimed"
        ads.append(ad)
    return ads


@st.composite
def crowds(draw: st.DrawFn) -> list[tuple[str, float, list[tuple[int, int, int]]]]:
    """Submitters with priority and requests of (count, cores, memory)."""
    sizes = st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 20))
    return [
        (name, draw(st.sampled_from((1.0, 500.0, 1e6))), draw(st.lists(sizes, max_size=3)))
        for name in NAMES
    ]


def submitters(crowd: list[tuple[str, float, list[tuple[int, int, int]]]]) -> list[Submitter]:
    found = []
    for name, priority, wishes in crowd:
        requests = [
            request(name, count=count, cpus=cpus, memory=memory, cluster=index, divides=True)
            for index, (count, cpus, memory) in enumerate(wishes)
        ]
        found.append(submitter(name, *requests, priority=priority))
    return found


def shape(found: Plan) -> list[tuple[str, int, str]]:
    return [
        (match.request.submitter, match.request.cluster, match.slot_name) for match in found.matches
    ]


@settings(deadline=None, max_examples=60)
@over(pools(), crowds())
def test_no_slot_is_given_twice_and_no_part_of_one(
    ads: list[ClassAd], crowd: list[tuple[str, float, list[tuple[int, int, int]]]]
) -> None:
    found = plan(ads, *submitters(crowd))
    by_slot: dict[str, list[tuple[int, int]]] = {}
    for match in found.matches:
        ad = match.request.ad
        wanted = (ad.integer("RequestCpus") or 0, ad.integer("RequestMemory") or 0)
        by_slot.setdefault(match.slot_name, []).append(wanted)
    for ad in ads:
        taken = by_slot.get(ad.string("Name") or "", [])
        if not ad.boolean("PartitionableSlot"):
            assert len(taken) <= 1
        assert sum(cpus for cpus, _ in taken) <= (ad.integer("Cpus") or 0)
        assert sum(memory for _, memory in taken) <= (ad.integer("Memory") or 0)


@settings(deadline=None, max_examples=60)
@over(pools(), crowds(), st.randoms(use_true_random=False))
def test_a_cycle_does_not_depend_on_the_order_of_the_ads(
    ads: list[ClassAd],
    crowd: list[tuple[str, float, list[tuple[int, int, int]]]],
    rng: random.Random,
) -> None:
    expected = shape(plan(ads, *submitters(crowd)))
    shuffled = list(ads)
    rng.shuffle(shuffled)
    others = submitters(crowd)
    rng.shuffle(others)
    assert shape(plan(shuffled, *others)) == expected


@settings(deadline=None, max_examples=60)
@over(pools(), crowds())
def test_evaluating_slots_alike_once_changes_nothing(
    ads: list[ClassAd], crowd: list[tuple[str, float, list[tuple[int, int, int]]]]
) -> None:
    expected = shape(plan(ads, *submitters(crowd)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SlotClasses, "signature", lambda _self, _slot: None)
        patch.setattr(Appraisals, "appraise", appraise_anew)
        assert shape(plan(ads, *submitters(crowd))) == expected


def appraise_anew(
    self: Appraisals, slot: Slot, ad: ClassAd, eviction: Eviction, _rank: float | None = None
) -> Candidate:
    """Evaluate all ranks with both ads, as their definition says."""
    ranks = self._settings
    quality = (
        rank.number(slot.ad, ranks.pre_job_rank, ad),
        rank.number(ad, ad.lookup("Rank"), slot.ad),
        rank.number(slot.ad, ranks.post_job_rank, ad),
        int(eviction),
        rank.number(slot.ad, ranks.preemption_rank, ad) if eviction is not Eviction.NOBODY else 0.0,
    )
    return Candidate(slot, slot.version, quality, eviction)


@settings(deadline=None, max_examples=60)
@over(pools(), crowds())
def test_a_request_is_either_satisfied_or_told_why_not_or_limited(
    ads: list[ClassAd], crowd: list[tuple[str, float, list[tuple[int, int, int]]]]
) -> None:
    everybody = submitters(crowd)
    asked = sum(each.left for one in everybody for each in one.requests)
    rejected_left = 0
    found = plan(ads, *everybody)
    rejected = {id(rejection.request) for rejection in found.rejections}
    for one in everybody:
        for each in one.requests:
            if each.left > 0:
                rejected_left += each.left
                assert one.name in found.limited
                assert id(each) not in rejected
    assert len(found.matches) + rejected_left <= asked


@over(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.5, 1e12), min_size=1))
def test_shares_add_up_to_the_whole_pool(priorities: dict[str, float]) -> None:
    assert abs(sum(shares(priorities).values()) - 1.0) < 1e-9


@over(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1e4), min_size=1),
    st.floats(0, 1e4),
)
def test_a_divided_pie_is_the_pie_or_everything_asked_for(
    demands: dict[str, float], pie: float
) -> None:
    parts = divide(demands, dict.fromkeys(demands, 1.0), pie)
    assert abs(sum(parts.values()) - min(pie, sum(demands.values()))) < 1e-5
    assert all(parts[name] <= demand + 1e-6 for name, demand in demands.items())


@over(
    st.lists(
        st.tuples(
            st.sampled_from(("a", "b", "a.x", "a.y", "c")),
            st.floats(0, 1),
            st.booleans(),
            st.booleans(),
            st.floats(0, 200),
        ),
        max_size=5,
    ),
    st.floats(0, 200),
    st.floats(0, 200),
)
def test_groups_are_never_allocated_more_than_the_pool(
    rows: list[tuple[str, float, bool, bool, float]], pool: float, others: float
) -> None:
    tree = build_tree(
        GroupSettings(name, quota if dynamic else quota * 50, dynamic=dynamic, accept_surplus=more)
        for name, quota, dynamic, more, _ in rows
    )
    for name, _, _, _, demand in rows:
        if name in tree:
            tree[name].demand = demand
    tree["<none>"].demand = others
    plan_quotas(tree, pool)
    assert sum(group.allocated for group in tree.values()) <= pool + 1e-6
