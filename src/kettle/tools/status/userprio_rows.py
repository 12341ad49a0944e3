"""The rows of condor_userprio's table: users and groups, which of them are shown, in which order.

A group has a number where a user of it is told of, and is shown before its users then. Whatever
the reference decides by the columns that are wanted is decided here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kettle.classad import ClassAd

ROOT = "<none>"
# What a group that comes last has for a sort key in the reference's arithmetic.
LARGEST = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class Row:
    """A user or a group; `number` is its group's, 0 for the root."""

    ad: ClassAd
    name: str
    group: str
    is_group: bool
    number: int
    index: int
    place: float | None = None

    @property
    def last_used(self) -> int:
        """When it used something last; never counts as -1."""
        return self.ad.integer("LastUsageTime") or -1

    @property
    def short_name(self) -> str:
        """The name as it stands below its group's."""
        return self.name[len(self.group) + 1 :] if self.number > 0 else self.name


@dataclass(frozen=True, slots=True)
class Choice:
    """What the options say about rows: by what users are ordered, and how groups are shown.

    `hierarchical` is None where no option says it.
    """

    by_priority: bool
    by_usage: bool
    hierarchical: bool | None = None
    groups_first: bool = False


def read_rows(ads: Iterable[ClassAd], choice: Choice) -> list[Row]:
    """Return all rows, with the numbers of their groups."""
    rows = [_row(ad, index) for index, ad in enumerate(ads, 1)]
    if not any(row.number < 0 for row in rows if not row.is_group):
        return rows
    groups = sorted((row for row in rows if row.is_group), key=_by_name)
    has_keys = any("GroupSortKey" in row.ad for row in groups)
    known: dict[str, Row] = {}
    for number, group in enumerate(groups, 1):
        numbered = replace(group, number=number if group.number else 0)
        known[group.name] = replace(numbered, place=_place(numbered, choice, has_keys=has_keys))
    root = known.get(ROOT) or known.get(".")
    users = sorted((row for row in rows if not row.is_group), key=_user_key(choice))
    # The order among equals, later.
    return [*known.values(), *(_placed(row, known.get(row.group), root) for row in users)]


def _row(ad: ClassAd, index: int) -> Row:
    name, group = ad.string("Name") or "", ad.string("AccountingGroup") or ROOT
    is_group = ad.boolean("IsAccountingGroup") is True
    in_root = (name if is_group else group) in {ROOT, "."}
    # Negative: to be numbered, if a user turns out to be in a group.
    return Row(ad, name, group, is_group, 0 if in_root else -index, index)


def _by_name(row: Row) -> tuple[bool, str]:
    return row.number == 0, row.name


def _placed(row: Row, group: Row | None, root: Row | None) -> Row:
    if row.number == 0:
        return replace(row, place=root.place if root else None)
    return replace(row, number=group.number, place=group.place) if group else row


def _place(group: Row, choice: Choice, *, has_keys: bool) -> float:
    """Return by what a group is ordered among the groups."""
    if choice.by_priority and has_keys:
        return group.ad.real("GroupSortKey") or 0.0
    if choice.by_usage and not choice.by_priority:
        return (group.ad.real("WeightedAccumulatedUsage") or 0.0) / 3600
    if group.number == 0:
        return LARGEST
    return (group.ad.real("Priority") or 0.0) if choice.by_priority else float(group.number)


def order_rows(rows: Sequence[Row], choice: Choice, *, hierarchical: bool) -> list[Row]:
    """Return the rows in the order in which they are shown."""
    key = _user_key(choice)
    if not hierarchical:
        if not choice.groups_first:
            return sorted(rows, key=key)
        users = sorted((row for row in rows if not row.is_group), key=key)
        groups = sorted((row for row in rows if row.is_group), key=lambda row: row.index)
        return [*groups, *users]
    # A pool whose groups take what the others leave shows the root last.
    root_last = any(_regroups(row.ad) for row in rows if row.is_group)
    by_place = choice.by_priority or choice.by_usage

    def whole_key(row: Row) -> tuple[object, ...]:
        place = (row.place or 0.0) if by_place else 0.0
        return root_last and row.number == 0, place, row.number, not row.is_group, key(row)

    return sorted(rows, key=whole_key)


def _user_key(choice: Choice) -> Callable[[Row], float | str]:
    if choice.by_priority:
        return lambda row: row.ad.real("Priority") or 0.0
    if choice.by_usage:
        return lambda row: row.ad.real("WeightedAccumulatedUsage") or 0.0
    return lambda row: row.name


def _regroups(ad: ClassAd) -> bool:
    policy = (ad.string("SurplusPolicy") or "").lower()
    return policy == "regroup" or (not policy and ad.boolean("GroupAutoRegroup") is True)


def surplus_policy(rows: Iterable[Row]) -> str:
    """Return the pool's policy for what groups leave of their quotas."""
    found = ""
    for row in rows:
        if row.is_group:
            policy = (row.ad.string("SurplusPolicy") or "").lower()
            if _regroups(row.ad):
                found = "Regroup"
            elif policy == "byquota":
                found = "ByQuota"
    return found


def format_number(value: float, width: int, digits: int) -> str:
    """Return a number that is as wide as its column at most, as C prints it."""
    text = f"{value:.{digits}f}" if math.isfinite(value) else str(value)
    return text if len(text) <= width else f"{value:.{width - 6}g}"
