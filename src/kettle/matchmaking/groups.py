"""Accounting groups: who belongs to which, and how much of the pool each may use.

Groups form a tree by the dots of their names. A group's quota is a number of its parent's weight
(static) or a fraction of it (dynamic); what the groups of one level leave belongs to their parent,
at the top to the group `<none>` of everybody else. `plan_quotas` is arithmetic only; the order in
which groups are served is GROUP_SORT_EXPR, evaluated in `sort_groups`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr
from kettle.matchmaking.fair_share import EPSILON, divide

ROOT = "<none>"
# Limit: turns in which groups take what they are allocated; where there would be more of them the
# rate is greater.
MOST_TURNS = 10_000
# The key of a group that comes after all others.
LAST = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """One row of GROUP_NAMES."""

    name: str
    quota: float = 0.0
    # The quota is a fraction of what the parent has.
    dynamic: bool = False
    accept_surplus: bool = False
    autoregroup: bool = False


@dataclass(frozen=True, slots=True)
class GroupRules:
    """How a cycle serves groups."""

    # GROUP_QUOTA_MAX_ALLOCATION_ROUNDS: how often what groups found no slots for is handed on.
    rounds: int = 3
    # GROUP_QUOTA_ROUND_ROBIN_RATE: the weight by which the largest allocation grows from one
    # turn of all groups to the next.
    rate: float = float("inf")
    # NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION, and GROUP_SORT_EXPR.
    oversubscribe: bool = False
    order: Expr | None = None


@dataclass(slots=True)
class Group:
    """A group within one cycle; weights in slot weight."""

    name: str
    settings: GroupSettings
    parent: str | None
    quota: float = 0.0
    # What of it its own submitters have: the rest that its children leave, or all of it, which is
    # then shared by who comes first (`within_quotas`).
    own_quota: float = 0.0
    # What the group's own submitters may use: that, plus surplus.
    allocated: float = 0.0
    usage: float = 0.0
    demand: float = 0.0
    # Where it stands among those that are served, the smallest first.
    sort_key: float = 0.0
    # What it has come to in this cycle, once there was not enough for it among the slots.
    settled: float | None = None
    children: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> float:
        """What the group would use if it could."""
        return self.usage + self.demand if self.settled is None else self.settled

    @property
    def surplus_policy(self) -> str:
        """How the group comes by more than its quota, in the words of its ad."""
        if self.settings.autoregroup:
            return "regroup"
        return "byquota" if self.settings.accept_surplus else "no"


def parent_name(name: str) -> str | None:
    """Return the group above one, the root for one without dots, None for the root."""
    if name == ROOT:
        return None
    head, dot, _ = name.rpartition(".")
    return head if dot else ROOT


def group_of(submitter: str, names: Iterable[str]) -> str:
    """Return the group of a submitter name such as `physics.smith@example.org`.

    The longest configured name that the part before @ begins with, dot by dot; else the root.
    Names are compared without case.
    """
    known = {name.lower(): name for name in names}
    user = submitter.partition("@")[0]
    head = user
    while head:
        found = known.get(head.lower())
        if found is not None and head != user:
            return found
        head = head.rpartition(".")[0]
    return ROOT


def build_tree(settings: Iterable[GroupSettings]) -> dict[str, Group]:
    """Return all groups by name, the root first; one whose parent is not configured is left out."""
    settings = tuple(settings)
    regroup = any(row.autoregroup for row in settings)
    root = GroupSettings(ROOT, 1.0, dynamic=True, accept_surplus=True, autoregroup=regroup)
    tree = {ROOT: Group(ROOT, root, None)}
    spelling = {ROOT: ROOT}
    for row in sorted(settings, key=lambda row: (row.name.count("."), row.name.lower())):
        above = parent_name(row.name)
        above = spelling.get((above or ROOT).lower() if above != ROOT else ROOT)
        if above is None or row.name.lower() in spelling:
            continue
        spelling[row.name.lower()] = row.name
        tree[row.name] = Group(row.name, row, above)
        tree[above].children.append(row.name)
    return tree


def plan_quotas(
    tree: Mapping[str, Group], pool_weight: float, *, oversubscribe: bool = False
) -> None:
    """Compute each group's quota and what its own submitters may use, demand and usage given.

    Static quotas that together exceed their parent's are scaled down unless `oversubscribe`, with
    which a group's own submitters may also use what is its children's.
    Then what groups leave unused goes, level by level, to those that accept surplus and want it.
    """
    root = tree[ROOT]
    root.quota = pool_weight
    _assign_quotas(tree, root, oversubscribe=oversubscribe)
    _share_surplus(tree, root, 0.0)
    for group in tree.values():
        # Not before: what children do not use is surplus once.
        group.allocated = max(group.allocated, min(group.wanted, group.own_quota))
    if root.settings.autoregroup:
        # In the end all of it is anybody's.
        root.own_quota = pool_weight


def _assign_quotas(tree: Mapping[str, Group], group: Group, *, oversubscribe: bool) -> None:
    children = [tree[name] for name in group.children]
    static = sum(child.settings.quota for child in children if not child.settings.dynamic)
    scale = 1.0
    if static > group.quota and not oversubscribe:
        scale = group.quota / static if static > 0 else 0.0
    left = max(0.0, group.quota - static * scale)
    fractions = sum(child.settings.quota for child in children if child.settings.dynamic)
    # Fractions never add up to more than the whole.
    dynamic_scale = 1.0 / max(fractions, 1.0)
    for child in children:
        if child.settings.dynamic:
            child.quota = left * child.settings.quota * dynamic_scale
        else:
            child.quota = child.settings.quota * scale
        _assign_quotas(tree, child, oversubscribe=oversubscribe)
    group.allocated = max(0.0, group.quota - sum(child.quota for child in children))
    shared = oversubscribe and group.parent is not None
    group.own_quota = group.quota if shared else group.allocated


def _share_surplus(tree: Mapping[str, Group], group: Group, extra: float) -> float:
    """Let the unused part of a subtree's quotas go to its hungry members; return what is left."""
    group.allocated += extra
    children = [tree[name] for name in group.children]
    pot = sum(_share_surplus(tree, child, 0.0) for child in children)
    own_spare = max(0.0, group.allocated - group.wanted)
    group.allocated -= own_spare
    pot += own_spare
    takers = [child for child in _subtree(tree, group) if _takes_surplus(child, group)]
    demands = {taker.name: max(0.0, taker.wanted - taker.allocated) for taker in takers}
    # By quota, as the reference does; a group without quota counts very little.
    weights = {taker.name: max(taker.quota, 1e-3) for taker in takers}
    for name, part in divide(demands, weights, pot).items():
        tree[name].allocated += part
        pot -= part
    return max(0.0, pot)


def in_turn(
    tree: Mapping[str, Group], order: Sequence[str], rate: float
) -> Iterator[tuple[str, float]]:
    """Yield groups in their order with what each may use in this turn, turn after turn.

    In each turn the group that lacks most of its allocation gets `rate` more of it and the others
    their like parts, so that one that comes early does not take all the slots that others could
    use, too. In the last turn each has its whole allocation: the first, where that is no number
    that could be reached step by step; the MOST_TURNS-th at the latest.
    """
    names = [name for name in order if name in tree]
    lacks = {name: max(0.0, tree[name].allocated - tree[name].usage) for name in names}
    most = max(lacks.values(), default=0.0)
    turns = 1
    if math.isfinite(most):
        turns = min(MOST_TURNS, max(1, math.ceil(most / max(1.0, rate))))
    step = max(1.0, rate, most / turns)
    for turn in range(1, turns):
        missing = max(0.0, 1.0 - turn * step / most)
        for name in names:
            yield name, tree[name].allocated - lacks[name] * missing
    for name in names:
        yield name, tree[name].allocated


def settle(tree: Mapping[str, Group], usage: Mapping[str, float]) -> bool:
    """Take note of what a round came to; tell whether there is anything to hand on.

    A group that has got less than was allocated to it wants no more than that: there are no slots
    for it. `usage` is what each holds now.
    """
    short = False
    for name, group in tree.items():
        held = usage.get(name, 0.0)
        if held < group.allocated - EPSILON:
            group.settled, short = held, True
    return short


def within_quotas(
    tree: Mapping[str, Group], name: str, pie: float, usage: Mapping[str, float]
) -> float:
    """Return how much of `pie` a group may use while nobody above it takes surplus.

    `usage` is what the submitters of each group hold now.
    """
    own = usage.get(name, 0.0)
    more = pie - own
    above: Group | None = tree[name]
    while above is not None:
        if not above.settings.accept_surplus:
            limit = above.quota if above.settings.dynamic else above.settings.quota
            held = sum(usage.get(each.name, 0.0) for each in _subtree(tree, above))
            more = min(more, max(0.0, limit - held))
        above = tree[above.parent] if above.parent is not None else None
    return own + more


def _subtree(tree: Mapping[str, Group], group: Group) -> list[Group]:
    found = [group]
    for name in group.children:
        found += _subtree(tree, tree[name])
    return found


def _takes_surplus(group: Group, above: Group) -> bool:
    """Tell whether surplus of `above`'s level may reach a group below it."""
    return group is above or group.settings.accept_surplus


def sort_groups(tree: Mapping[str, Group], expression: Expr | None) -> list[str]:
    """Return group names in the order of serving: by GROUP_SORT_EXPR, the smallest first."""

    def key(group: Group) -> tuple[float, str]:
        value: object = None
        if expression is not None:
            ad = ClassAd(
                {
                    "AccountingGroup": group.name,
                    "GroupQuota": group.quota,
                    "GroupResourcesInUse": group.usage,
                    "GroupResourcesAllocated": group.allocated,
                }
            )
            value = ad.evaluate_expression(expression)
        if isinstance(value, (bool, int, float)):
            group.sort_key = float(value)
        else:
            group.sort_key = LAST if group.name == ROOT or expression is not None else 0.0
        return (group.sort_key, group.name)

    return [group.name for group in sorted(tree.values(), key=key)]
