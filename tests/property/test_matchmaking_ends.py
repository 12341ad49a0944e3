"""A negotiation cycle ends, whatever numbers ads, books and configuration hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.matchmaking import candidates
from kettle.matchmaking.fair_share import Bounds, divide, effective_priority, limits, shares
from kettle.matchmaking.groups import (
    MOST_TURNS,
    GroupRules,
    GroupSettings,
    build_tree,
    in_turn,
    plan_quotas,
    settle,
)
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.slots import HEAVIEST, slot_weight
from kettle.matchmaking.submitters import Submitter
from unit.matchmaking.pools import SETTINGS, plan, pslot, request, slot, submitter

HOSTILE = (
    0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-320, 1e-9, 1e15, 1e16, 9.3e18, 1e116, 1e200, 1e300,
    1.7e308, -1e300, math.inf, -math.inf, math.nan,
)  # fmt: skip
numbers = st.sampled_from(HOSTILE) | st.floats() | st.integers(-(2**63), 2**63 - 1)
NAMES = ("ann@d", "bob@d", "g.cid@d", "g.h.dan@d")
GROUPS = ("g", "g.h", "k")


def text(number: float) -> str:
    """Return a number as an ad has it."""
    if isinstance(number, float) and not math.isfinite(number):
        return f'real("{number}")'
    return repr(number)


def expressions() -> st.SearchStrategy[str]:
    """Ranks, weights and requirements' parts: numbers, and what is computed of them."""
    number = numbers.map(text)
    pair = st.tuples(number, st.sampled_from("+-*/"), number).map(" ".join)
    own = st.tuples(st.sampled_from(("Cpus", "Memory", "Odd")), st.sampled_from("+-*/"), number)
    return number | pair | own.map(" ".join) | st.just("Odd - Odd") | st.just("Cpus")


@st.composite
def hostile_slots(draw: st.DrawFn) -> list[ClassAd]:
    ads = []
    for index in range(draw(st.integers(1, 4))):
        make = pslot if draw(st.booleans()) else slot
        ad = make(f"s{index}")
        ad.insert_text("Odd", draw(numbers.map(text)))
        if draw(st.booleans()):
            ad.insert_text("SlotWeight", draw(expressions()))
        if draw(st.booleans()):
            ad.insert_text("Requirements", "true")
        for name in draw(st.sets(st.sampled_from(("Cpus", "Memory", "Disk", "Rank")))):
            ad.insert_text(name, draw(numbers.map(text)))
        if draw(st.integers(0, 4)) == 0:
            ad["RemoteUser"], ad["State"] = draw(st.sampled_from(NAMES)), "Claimed"
            ad.insert_text("CurrentRank", draw(numbers.map(text)))
        ads.append(ad)
    return ads


@st.composite
def hostile_crowds(draw: st.DrawFn) -> list[Submitter]:
    crowd = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)):
        asked = request(name, count=draw(st.integers(1, 4)), divides=draw(st.booleans()))
        for word in draw(st.sets(st.sampled_from(("Cpus", "Memory", "Disk")))):
            asked.ad.insert_text(f"Request{word}", draw(numbers.map(text)))
        asked.ad.insert_text("Rank", draw(expressions() | st.just("TARGET.Odd - TARGET.Odd")))
        asked.ad["ConcurrencyLimits"] = f"disk:{draw(numbers)}"
        bounds = Bounds(draw(numbers), draw(numbers)) if draw(st.booleans()) else None
        crowd.append(
            submitter(
                name,
                asked,
                priority=draw(numbers),
                usage=draw(numbers),
                bounds=bounds,
                group={"g": "g", "g.h": "g.h"}.get(name.rpartition(".")[0], "<none>"),
            )
        )
    return crowd


@st.composite
def hostile_groups(draw: st.DrawFn) -> list[GroupSettings]:
    flags = st.booleans()
    return [
        GroupSettings(name, draw(numbers), draw(flags), draw(flags), draw(flags))
        for name in draw(st.sets(st.sampled_from(GROUPS)))
    ]


@pytest.mark.parametrize("wide_from", [1, 200])
@settings(deadline=None, max_examples=60)
@over(st.data())
def test_a_cycle_of_hostile_numbers_ends_and_has_no_fault(
    wide_from: int, data: st.DataObject
) -> None:
    ads, crowd = data.draw(hostile_slots()), data.draw(hostile_crowds())
    tree = build_tree(data.draw(hostile_groups()))
    for each in crowd:
        if each.group not in tree:
            each.group = "<none>"
        tree[each.group].demand += sum(one.left for one in each.requests)
        tree[each.group].usage += each.usage
    plan_quotas(tree, data.draw(numbers), oversubscribe=data.draw(st.booleans()))
    rules = GroupRules(rounds=3, rate=data.draw(st.just(math.inf) | numbers))
    chosen = replace(
        SETTINGS,
        groups=rules,
        limit_of=lambda _name: 1e9,
        depth_first=data.draw(st.booleans()),
        ignore_shares=data.draw(st.booleans()),
        use_slot_weights=data.draw(st.booleans()),
    )
    asked = sum(one.left for each in crowd for one in each.requests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "WIDE_FROM", wide_from)
        found: Plan = plan(ads, *crowd, settings=chosen, groups=tree, group_order=tuple(tree))
    assert len(found.matches) <= asked
    assert [str(each.error) for each in found.faults] == []


@settings(deadline=None, max_examples=50)
@over(st.data())
def test_groups_have_so_many_turns_whatever_they_are_allocated(data: st.DataObject) -> None:
    tree = build_tree(data.draw(hostile_groups()))
    for group in tree.values():
        group.demand, group.usage = data.draw(numbers), data.draw(numbers)
    plan_quotas(tree, data.draw(numbers), oversubscribe=data.draw(st.booleans()))
    for group in tree.values():
        if data.draw(st.booleans()):
            group.allocated = data.draw(numbers)
    rate = data.draw(numbers)
    turns = list(itertools.islice(in_turn(tree, tuple(tree), rate), MOST_TURNS * len(tree) + 1))
    assert len(turns) <= MOST_TURNS * len(tree)
    last = dict(turns[-len(tree) :])
    for name, allowed in last.items():
        assert allowed == tree[name].allocated or math.isnan(tree[name].allocated)
    settle(tree, {name: data.draw(numbers) for name in tree})


@over(st.data())
def test_shares_and_parts_of_hostile_numbers_are_numbers(data: st.DataObject) -> None:
    names = data.draw(st.sets(st.sampled_from("abcdef"), min_size=1))
    priorities = {
        name: effective_priority(data.draw(numbers), data.draw(numbers)) for name in names
    }
    assert all(math.isfinite(each) for each in priorities.values())
    found = shares({name: data.draw(numbers) for name in names})
    assert all(0.0 <= share <= 1.0 for share in found.values())
    assert abs(sum(shares(priorities).values()) - 1.0) < 1e-9
    limits(priorities, {name: data.draw(numbers) for name in names}, data.draw(numbers))
    wanted = {name: data.draw(numbers) for name in names}
    divide(wanted, {name: data.draw(numbers) for name in names}, data.draw(numbers))


@over(expressions(), st.sampled_from((slot, pslot)))
def test_a_slot_weighs_something_that_can_be_added_up(
    weight: str, make: Callable[..., ClassAd]
) -> None:
    ad = make("s1", SlotWeight=f"={weight}", Odd=2)
    found = slot_weight(ad)
    assert 0.0 <= found <= HEAVIEST
