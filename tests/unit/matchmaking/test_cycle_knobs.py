"""What a site may change of how a cycle shares the pool; each beside what is so without it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import pytest

from kettle.config import Config
from kettle.matchmaking import cycle
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.groups import (
    MOST_TURNS,
    GroupRules,
    GroupSettings,
    build_tree,
    in_turn,
    plan_quotas,
    settle,
)
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.rank import RankSettings
from kettle.matchmaking.time_limits import TimeBook, TimeLimits
from kettle.negotiator.settings import read_settings
from kettle.negotiator.snapshot import insert_match_expressions
from kettle.schedd.matched_slots import keep_group
from unit.matchmaking.pools import SETTINGS, given, plan, pslot, request, slot, submitter


@pytest.mark.parametrize(("ignored", "first"), [(False, 3), (True, 6)])
def test_who_comes_first_takes_all_where_priorities_are_ignored(ignored: bool, first: int) -> None:
    found = plan(
        [slot(f"s{number}") for number in range(6)],
        submitter("a@d", request("a@d", count=9), priority=500.0),
        submitter("b@d", request("b@d", count=9), priority=500.0),
        settings=replace(SETTINGS, ignore_shares=ignored),
    )
    assert Counter(name for name, _ in given(found))["a@d"] == first


@pytest.mark.parametrize("divides", [True, False])
def test_jobs_fill_one_machine_first_where_that_is_wanted(divides: bool) -> None:
    machines = [pslot(f"m{number}", cpus=4) for number in range(3)]
    # A rank that would spread them: the emptiest machine is the best.
    ranks = RankSettings()
    asked = request("u@d", count=4, rank="TARGET.Cpus", divides=divides)
    wide = plan(machines, submitter("u@d", asked), settings=CycleSettings(ranks))
    assert len({name for _, name in given(wide)}) == 3
    asked = request("u@d", count=6, rank="TARGET.Cpus", divides=divides)
    deep = plan(machines, submitter("u@d", asked), settings=CycleSettings(ranks, depth_first=True))
    per_machine = Counter(name for _, name in given(deep))
    # HTCondor's schedd divides by itself: what fits into a machine counts as given with it.
    assert per_machine == ({"m0": 4, "m1": 2} if divides else {"m0": 1, "m1": 1})
    assert not deep.rejections


@pytest.mark.parametrize("wanted", [False, True])
def test_slots_tell_who_has_their_neighbours(wanted: bool) -> None:
    found = plan(
        [
            slot("s1", TotalSlots=2, slot2_RemoteUser="z@d"),
            slot("s2", State="Claimed", RemoteUser="z@d"),
        ],
        submitter("u@d", request("u@d", requirements="TARGET.slot2_RemoteUserPrio > 1000")),
        submitter("z@d", priority=5000.0, usage=1.0),
        settings=replace(SETTINGS, describe_neighbours=wanted),
    )
    assert len(found.matches) == wanted
    for match in found.matches:
        assert match.slot_ad.real("slot2_RemoteUserResourcesInUse") == 1.0
        assert match.slot_ad.lookup("slot1_RemoteUserPrio") is None


def test_groups_take_turns_where_a_rate_is_set() -> None:
    def shared(rate: float) -> Counter[str]:
        tree = build_tree([GroupSettings("g", 4.0), GroupSettings("h", 4.0)])
        tree["g"].demand = tree["h"].demand = 4.0
        plan_quotas(tree, 8.0)
        # Only half of the machines will do, for both of them.
        ads = [slot(f"s{number}", Good=number < 4) for number in range(8)]
        good = "TARGET.Good"
        found = plan(
            ads,
            submitter("g.a@d", request("g.a@d", count=4, requirements=good), group="g"),
            submitter("h.b@d", request("h.b@d", count=4, requirements=good), group="h"),
            groups=tree,
            group_order=("g", "h"),
            settings=replace(SETTINGS, groups=GroupRules(rate=rate)),
        )
        return Counter(name for name, _ in given(found))

    assert shared(1e100) == {"g.a@d": 4}
    assert shared(1.0) == {"g.a@d": 2, "h.b@d": 2}


@pytest.mark.parametrize(("rounds", "second"), [(1, 2), (3, 5)])
def test_what_a_group_finds_no_slots_for_is_handed_on(rounds: int, second: int) -> None:
    tree = build_tree([GroupSettings("g", 4.0), GroupSettings("h", 2.0, accept_surplus=True)])
    tree["g"].demand, tree["h"].demand = 4.0, 9.0
    plan_quotas(tree, 6.0)
    found = plan(
        [slot(f"s{number}", Good=number == 0) for number in range(6)],
        submitter("g.a@d", request("g.a@d", count=4, requirements="TARGET.Good"), group="g"),
        submitter("h.b@d", request("h.b@d", count=9), group="h"),
        groups=tree,
        group_order=("g", "h", "<none>"),
        settings=replace(SETTINGS, groups=GroupRules(rounds=rounds)),
    )
    assert Counter(name for name, _ in given(found)) == {"g.a@d": 1, "h.b@d": second}
    assert tree["g"].wanted == 4.0


def test_turns_end_with_the_whole_allocation() -> None:
    tree = build_tree([GroupSettings("g", 4.0), GroupSettings("h", 2.0)])
    tree["g"].allocated, tree["h"].allocated, tree["h"].usage = 4.0, 3.0, 1.0
    turns = list(in_turn(tree, ("g", "h", "gone"), 2.5))
    assert turns == [("g", 2.5), ("h", 2.25), ("g", 4.0), ("h", 3.0)]
    assert list(in_turn(tree, ("h",), 0.1)) == [("h", 2.0), ("h", 3.0)]
    assert not settle(tree, {"g": 4.0, "h": 3.0})


def test_an_absurd_weight_does_not_take_the_whole_pool() -> None:
    def shared(weight: str) -> Counter[str]:
        tree = build_tree([GroupSettings("g", 0.5, dynamic=True), GroupSettings("h", 2.0)])
        tree["g"].demand = tree["h"].demand = 4.0
        table = KeptSlots().table(
            [slot(f"s{number}") for number in range(4)] + [slot("odd", SlotWeight=f"={weight}")]
        )
        plan_quotas(tree, table.total_weight)
        found = plan(
            table,
            submitter("g.a@d", request("g.a@d", count=4), group="g"),
            submitter("h.b@d", request("h.b@d", count=4), group="h"),
            groups=tree,
            group_order=("g", "h"),
            settings=replace(SETTINGS, groups=GroupRules(rate=1e100)),
        )
        return Counter(name for name, _ in given(found))

    # Turns of 1e100 each never came to the end of 1e200.
    for weight in ("1.0e200", "1.0", 'real("inf")', 'real("nan")', "1e300 * 1e300"):
        assert shared(weight) == shared("1.0"), weight
    assert shared("1.0").total() == 3


def test_turns_are_so_many_and_no_more() -> None:
    tree = build_tree([GroupSettings("g", 4.0)])
    for allocated in (1e200, 1e15, math.inf, math.nan, -1.0):
        tree["g"].allocated = allocated
        turns = list(itertools.islice(in_turn(tree, ("g",), 1.0), MOST_TURNS + 1))
        assert len(turns) <= MOST_TURNS
        assert turns[-1][1] == pytest.approx(allocated, nan_ok=True)


def test_turns_end_with_the_time_of_the_cycle() -> None:
    tree = build_tree([GroupSettings("g", 1e6)])
    tree["g"].allocated = 1e6
    asked, looks = request("g.a@d", count=9), itertools.count()
    found = plan(
        [slot("s1", SlotWeight=1e6), slot("s2", SlotWeight=1e6)],
        submitter("g.a@d", asked, group="g"),
        groups=tree,
        group_order=("g",),
        settings=replace(SETTINGS, groups=GroupRules(rate=1.0)),
        time=TimeBook(TimeLimits(cycle=50.0)),
        clock=lambda: float(next(looks)),
    )
    # Each look at the clock takes a second; after the limit nobody asks again and again.
    assert not found.matches
    assert next(looks) < 60


def test_a_slot_without_end_is_cut_into_so_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "MOST_PARTS", 5)
    endless = pslot("s1", Cpus='=real("inf")', Memory='=real("inf")', SlotWeight="=1.0")
    asked = request("u@d", count=1000, divides=True)
    assert len(plan([endless], submitter("u@d", asked)).matches) == 5
    # Where jobs fill a machine first it is the schedd that divides it: how often, nobody can say.
    deep = replace(SETTINGS, depth_first=True)
    found = plan([endless], submitter("u@d", request("u@d", count=7)), settings=deep)
    assert (len(found.matches), found.faults) == (1, [])


def test_expressions_of_the_negotiator_go_with_a_match() -> None:
    config = Config.from_text(
        'Pool = "east"\nNegotiatorMatchExprAge = TARGET.QDate + 1\nBad = 1 +\n'
        "NEGOTIATOR_MATCH_EXPRS = Pool, NegotiatorMatchExprAge, Bad, Nowhere\n"
    )
    wanted = read_settings(config).match_expressions
    assert wanted == {
        "NegotiatorMatchExprPool": '"east"',
        "NegotiatorMatchExprAge": "TARGET.QDate + 1",
        "NegotiatorMatchExprBad": None,
        "NegotiatorMatchExprNowhere": None,
    }
    machine = slot("s1", NegotiatorMatchExprPool="west")
    insert_match_expressions([machine], wanted)
    asked = request("u@d", requirements='TARGET.NegotiatorMatchExprPool == "east"')
    match = plan([machine], submitter("u@d", asked)).matches[0]
    # The slot that the startd grants has them too, and none of the startd's own invention.
    granted = keep_group(slot("s1", NegotiatorMatchExprOther=1), match.slot_ad)
    assert granted.string("NegotiatorMatchExprPool") == "east"
    assert granted.text("NegotiatorMatchExprAge") == "TARGET.QDate + 1"
    assert granted.lookup("NegotiatorMatchExprOther") is None


def test_the_knobs_reach_the_cycle() -> None:
    config = Config.from_text(
        "NEGOTIATOR_DEPTH_FIRST = true\nNEGOTIATOR_CROSS_SLOT_PRIOS = true\n"
        "NEGOTIATOR_IGNORE_USER_PRIORITIES = true\nGROUP_QUOTA_ROUND_ROBIN_RATE = 5\n"
        "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 7\n"
    )
    cycle = read_settings(config).cycle
    assert (cycle.depth_first, cycle.describe_neighbours, cycle.ignore_shares) == (True,) * 3
    assert (cycle.groups.rate, cycle.groups.rounds) == (5.0, 7)
    usual = read_settings(Config.from_text("")).cycle
    assert not any((usual.depth_first, usual.describe_neighbours, usual.ignore_shares))
