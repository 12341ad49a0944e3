"""Accounting groups and their quotas."""

from __future__ import annotations

import pytest

from kettle.classad import parse_expression
from kettle.matchmaking.groups import (
    LAST,
    ROOT,
    Group,
    GroupSettings,
    build_tree,
    group_of,
    plan_quotas,
    sort_groups,
)
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import GroupFacts, accounting_ads


def planned(weight: float, *rows: GroupSettings, **demands: float) -> dict[str, Group]:
    tree = build_tree(rows)
    for name, demand in demands.items():
        tree[name if name != "none" else ROOT].demand = demand
    plan_quotas(tree, weight)
    return tree


def test_the_longest_configured_name_is_the_group() -> None:
    names = ("physics", "physics.lhc")
    assert group_of("physics.lhc.smith@d", names) == "physics.lhc"
    assert group_of("physics.smith@d", names) == "physics"
    assert group_of("PHYSICS.smith@d", names) == "physics"
    assert group_of("smith@d", names) == ROOT
    assert group_of("physics@d", names) == ROOT


def test_a_group_without_its_parent_is_left_out() -> None:
    assert list(build_tree([GroupSettings("a.b"), GroupSettings("c")])) == [ROOT, "c"]


def test_static_quotas_are_numbers_and_dynamic_ones_fractions_of_the_rest() -> None:
    tree = planned(
        100.0, GroupSettings("a", 20.0), GroupSettings("b", 0.25, dynamic=True), a=99.0, b=99.0
    )
    assert tree["a"].allocated == pytest.approx(20.0)
    assert tree["b"].allocated == pytest.approx(20.0)


def test_static_quotas_that_exceed_the_pool_shrink_together() -> None:
    tree = planned(10.0, GroupSettings("a", 15.0), GroupSettings("b", 5.0), a=99.0, b=99.0)
    assert tree["a"].allocated == pytest.approx(7.5)
    assert tree["b"].allocated == pytest.approx(2.5)


def test_surplus_goes_only_to_those_who_accept_it() -> None:
    rows = (GroupSettings("a", 5.0), GroupSettings("b", 5.0))
    assert planned(10.0, *rows, a=99.0)["a"].allocated == pytest.approx(5.0)
    rows = (GroupSettings("a", 5.0, accept_surplus=True), GroupSettings("b", 5.0))
    tree = planned(10.0, *rows, a=99.0, b=1.0)
    assert tree["a"].allocated == pytest.approx(9.0)
    assert tree["b"].allocated == pytest.approx(1.0)


def test_the_others_get_what_the_groups_leave() -> None:
    tree = planned(10.0, GroupSettings("a", 4.0), a=99.0, none=99.0)
    assert tree[ROOT].allocated == pytest.approx(6.0)
    tree = planned(10.0, GroupSettings("a", 4.0), none=99.0)
    assert tree[ROOT].allocated == pytest.approx(10.0)


def test_a_parent_keeps_what_its_children_do_not_have() -> None:
    tree = planned(
        10.0,
        GroupSettings("a", 6.0),
        GroupSettings("a.x", 0.5, dynamic=True),
        **{"a": 99.0, "a.x": 99.0},
    )
    assert tree["a"].allocated == pytest.approx(3.0)
    assert tree["a.x"].allocated == pytest.approx(3.0)


def test_the_sort_expression_decides_who_is_served_first() -> None:
    tree = planned(10.0, GroupSettings("a", 4.0), GroupSettings("b", 4.0))
    tree["a"].usage = 3.0
    tree["b"].usage = 1.0
    expression = parse_expression(
        'ifThenElse(AccountingGroup=?="<none>",3.4e+38,ifThenElse(GroupQuota>0,'
        "GroupResourcesInUse/GroupQuota,3.3e+38))"
    )
    assert sort_groups(tree, expression) == ["b", "a", ROOT]
    assert sort_groups(tree, None) == ["a", "b", ROOT]


def test_fractions_never_add_up_to_more_than_the_whole() -> None:
    rows = (GroupSettings("a", 1.5, dynamic=True), GroupSettings("b", 0.5, dynamic=True))
    for oversubscribe in (False, True):
        tree = build_tree(rows)
        plan_quotas(tree, 8.0, oversubscribe=oversubscribe)
        assert [tree[name].quota for name in ("a", "b")] == [6.0, 2.0]


def test_what_is_told_of_a_group_is_its_quota_wish_policy_and_place() -> None:
    rows = (
        GroupSettings("a", 6.0, accept_surplus=True),
        GroupSettings("a.x", 2.0),
        GroupSettings("b", 2.0, autoregroup=True),
    )
    tree = build_tree(rows)
    tree["a"].usage, tree["a"].demand = 1.0, 9.0
    plan_quotas(tree, 20.0)
    assert [tree[name].own_quota for name in ("a", "a.x", "b", ROOT)] == [4.0, 2.0, 2.0, 20.0]
    # Surplus is given, and is no quota.
    assert tree["a"].allocated > tree["a"].own_quota
    policies = [tree[name].surplus_policy for name in ("a", "a.x", "b", ROOT)]
    assert policies == ["byquota", "no", "regroup", "regroup"]
    sort_groups(tree, parse_expression("GroupQuota"))
    assert [tree[name].sort_key for name in ("a", "a.x", "b")] == [6.0, 2.0, 2.0]
    sort_groups(tree, parse_expression("Nothing"))
    assert tree["a"].sort_key == tree[ROOT].sort_key == LAST
    facts = GroupFacts(tree, configured=True)
    accountant = Accountant(group_names=("a", "a.x", "b"))
    accountant.open_groups()
    (ad,) = (ad for ad in accounting_ads(accountant, {}, facts) if ad.string("Name") == "a")
    said = {name: ad.evaluate(name) for name in ("Requested", "EffectiveQuota", "SubtreeQuota")}
    assert said == {"Requested": 10.0, "EffectiveQuota": 4.0, "SubtreeQuota": 6.0}
    assert (ad.string("SurplusPolicy"), ad.real("GroupSortKey")) == ("byquota", LAST)


def test_what_a_group_and_its_children_do_not_use_is_surplus_once() -> None:
    tree = build_tree([GroupSettings("a", 6.0), GroupSettings("a.x", 3.0)])
    tree[ROOT].demand = 99.0
    plan_quotas(tree, 10.0, oversubscribe=True)
    assert tree[ROOT].allocated == pytest.approx(10.0)
    assert tree["a"].own_quota == 6.0
