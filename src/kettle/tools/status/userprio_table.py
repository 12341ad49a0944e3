"""The tables of condor_userprio: which columns, their two-line headings, how numbers are shown.

Widths, headings, the order of rows and the sums in the last line are the reference's.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.tools.printing.times import format_moment, format_moment_with_year, format_span
from kettle.tools.status.userprio_rows import (
    ROOT,
    Choice,
    Row,
    format_number,
    order_rows,
    read_rows,
    surplus_policy,
)

__all__ = ["ROOT", "ColumnGroups", "render_resources", "render_table"]

# A key that is not told from the largest by whoever wrote it in decimal.
_LAST_KEY = 3.40282001e38


class ColumnGroups(enum.Flag):
    """Groups of columns, as options choose them."""

    PRIORITY = enum.auto()
    USAGE = enum.auto()
    QUOTAS = enum.auto()
    MOST = enum.auto()
    GROUP_ID = enum.auto()
    ALL = enum.auto()
    ORDER = enum.auto()
    SORT_KEY = enum.auto()
    SURPLUS = enum.auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One column; `shown` gets the row, the width and the time of the last update."""

    groups: ColumnGroups
    width: int
    heading: tuple[str, str]
    shown: Callable[[Row, int, float], str | None]
    # What the last line has here; gets all users, the time of the update, the oldest usage shown.
    footer: Callable[[list[Row], float, float | None], str] = lambda _rows, _now, _since: ""
    # The attribute that one ad at least must have, if there are any.
    needs: str = ""
    # Whether only groups have it: told of as `n/d` where one has not.
    is_quota: bool = False


def _number(name: str, digits: int) -> Callable[[Row, int, float], str | None]:
    def shown(row: Row, width: int, _now: float) -> str | None:
        value = row.ad.real(name)
        return None if value is None else format_number(value, width, digits)

    return shown


def _effective_priority(row: Row, width: int, _now: float) -> str | None:
    value = None if row.is_group else row.ad.real("Priority")
    return None if value is None else format_number(value, width, 2)


def _real_priority(row: Row, width: int, _now: float) -> str | None:
    effective, factor = row.ad.real("Priority"), row.ad.real("PriorityFactor")
    if effective is None or not factor or factor < 0:
        return None
    return format_number(effective / factor, width, 2)


def _factor(row: Row, width: int, _now: float) -> str | None:
    factor = row.ad.real("PriorityFactor")
    return format_number(factor, width, 2) if factor and factor > 0 else None


def _hours(row: Row, width: int, _now: float) -> str | None:
    return format_number((row.ad.real("WeightedAccumulatedUsage") or 0.0) / 3600, width, 2)


def _moment(name: str) -> Callable[[Row, int, float], str | None]:
    def shown(row: Row, _width: int, _now: float) -> str | None:
        value = row.ad.integer(name)
        return format_moment_with_year(value) if value else None

    return shown


def _since_last(row: Row, width: int, now: float) -> str | None:
    """Return the span since the last use; never (0) counts as 1969, cut off at the width."""
    if "LastUsageTime" not in row.ad:
        return None
    return _short_span(now - row.last_used)[:width]


def _short_span(seconds: float) -> str:
    """Return `  0+00:14`; what is not in the past is now."""
    if seconds <= 0:
        return "<now>"
    minutes = int(seconds) // 60
    days, rest = divmod(minutes, 24 * 60)
    return f"{days:3d}+{rest // 60:02d}:{rest % 60:02d}"


def _bound(name: str, least: float) -> Callable[[Row, int, float], str | None]:
    def shown(row: Row, width: int, _now: float) -> str | None:
        value = row.ad.real(name)
        return None if value is None or value <= least else format_number(value, width, 2)

    return shown


def _surplus(row: Row, width: int, _now: float) -> str | None:
    if not row.is_group or not {"SurplusPolicy", "GroupAutoRegroup"} & set(row.ad.names()):
        return None
    if row.number == 0:
        return "yes".ljust(width)
    policy = (row.ad.string("SurplusPolicy") or "").lower()
    regroups = row.ad.boolean("GroupAutoRegroup") is True
    names = {"regroup": "Regroup", "byquota": "ByQuota", "no": "no"}
    return names.get(policy, "n/a" if policy else "Regroup" if regroups else "no").ljust(width)


def _sort_key(row: Row, width: int, _now: float) -> str | None:
    key = row.ad.real("GroupSortKey") if row.is_group else None
    if key is None:
        return None
    return "<last>" if key >= _LAST_KEY else format_number(key, width, 2)


def _order(row: Row, width: int, _now: float) -> str | None:
    return None if row.place is None else format_number(row.place, width, 2)


def _group_number(row: Row, width: int, _now: float) -> str | None:
    return format_number(row.number, width, 0) if row.number else None


def _sum(name: str, width: int, digits: int, unit: float = 1.0) -> Callable[..., str]:
    def total(rows: list[Row], _now: float, _since: float | None) -> str:
        value = sum(row.ad.real(name) or 0.0 for row in rows) / unit
        return format_number(value, width, digits)

    return total


def _cut_off(_rows: list[Row], _now: float, since: float | None) -> str:
    return "" if since is None else format_moment_with_year(since)


def _since_cut_off(_rows: list[Row], now: float, since: float | None) -> str:
    return "" if since is None else _short_span(now - since)


_S = ColumnGroups
_USAGE = "WeightedAccumulatedUsage"
_EVEN = _S.MOST | _S.ALL
# fmt: off
_SURPLUS = Field(_S.QUOTAS | _S.SURPLUS | _EVEN, 7, ("  Use", "Surplus"), _surplus, is_quota=True)
_EFFECTIVE = Field(_S.PRIORITY | _EVEN, 12, (" Effective", "  Priority"), _effective_priority)
_IN_USE = Field(_S.USAGE | _EVEN, 6, ("Wghted", "In Use"), _number("WeightedResourcesUsed", 0),
                _sum("WeightedResourcesUsed", 6, 0), needs=_USAGE)
_TOTAL = Field(_S.USAGE | _EVEN, 12, ("Total Usage", "(wghted-hrs)"), _hours,
               _sum(_USAGE, 12, 2, 3600.0), needs=_USAGE)
_SORT_KEY = Field(_S.SORT_KEY, 9, ("  Group", "Sort Key"), _sort_key)
FIELDS = (
    Field(_S.GROUP_ID, 5, ("Group", " Id"), _group_number),
    Field(_S.ORDER, 9, ("  Group", "  Order"), _order),
    _SORT_KEY,
    Field(_S.QUOTAS | _S.ALL, 9, ("Effective", "  Quota"), _number("EffectiveQuota", 2),
          is_quota=True),
    Field(_S.QUOTAS | _EVEN, 9, (" Config", "  Quota"), _number("ConfigQuota", 2), is_quota=True),
    _SURPLUS,
    Field(_S.QUOTAS | _S.ALL, 9, (" Subtree", "  Quota"), _number("SubtreeQuota", 2),
          is_quota=True),
    _EFFECTIVE,
    Field(_S.PRIORITY | _S.ALL, 8, ("  Real", "Priority"), _real_priority),
    Field(_S.PRIORITY | _EVEN, 9, ("Priority", " Factor"), _factor, needs="PriorityFactor"),
    _IN_USE,
    _TOTAL,
    Field(_S.USAGE | _S.ALL, 16, ("     Usage", "   Start Time"), _moment("BeginUsageTime"),
          needs="BeginUsageTime"),
    Field(_S.USAGE | _S.ALL, 16, ("      Last", "   Usage Time"), _moment("LastUsageTime"),
          _cut_off, needs="LastUsageTime"),
    Field(_EVEN, 10, ("Time Since", "Last Usage"), _since_last, _since_cut_off,
          needs="LastUsageTime"),
    Field(_S.QUOTAS | _EVEN, 10, (" Weighted", "Requested"), _number("Requested", 0),
          is_quota=True),
    Field(_EVEN, 9, ("Submitter", "  Floor"), _bound("Floor", 0.0)),
    Field(_EVEN, 9, ("Submitter", " Ceiling"), _bound("Ceiling", -1.0)),
)
# fmt: on


@dataclass(slots=True)
class _Table:
    """What is decided about one table before it is drawn."""

    fields: list[Field]
    rows: list[Row]
    visible: list[Row]
    users: list[Row]
    # The pool's own, whoever is shown.
    surplus: str
    hierarchical: bool
    only_groups: bool


def render_table(
    ads: Iterable[ClassAd],
    shown: ColumnGroups,
    *,
    since: float | None,
    hierarchical: bool | None = None,
    groups_first: bool = False,
) -> str:
    """Return the table; with `since` only those who have used something after that moment.

    `hierarchical` is whether users stand below their groups, None where nobody says it;
    `groups_first` has all groups before the users. Of no ads at all there is no table.
    """
    everybody = list(ads)
    if not everybody:
        return ""
    now = max((ad.integer("LastUpdate") or 0 for ad in everybody), default=0)
    table = _decide(everybody, shown, since, hierarchical, groups_first=groups_first)
    lines = _lines(table, len(everybody), now, since)
    return "".join(f"{line}\n" for line in lines)


def _decide(
    ads: list[ClassAd],
    shown: ColumnGroups,
    since: float | None,
    hierarchical: bool | None,
    *,
    groups_first: bool,
) -> _Table:
    fields = _available(ads, shown)
    choice = Choice(_EFFECTIVE in fields, _IN_USE in fields, hierarchical, groups_first)
    rows = read_rows(ads, choice)
    visible = _visible(rows, since)
    in_groups = any(row.number > 0 for row in visible)
    below = False if groups_first else hierarchical
    # Priorities of groups mean nothing: where only priorities are wanted, no group is shown.
    shows_groups = bool(below) or not _are_priorities(fields)
    users_have_quotas = _have_users_quotas(rows)
    asked = bool(shown & (ColumnGroups.QUOTAS | ColumnGroups.SURPLUS))
    if not ((shows_groups and in_groups) or asked or users_have_quotas):
        fields = _without_quotas(fields)
    nested = in_groups and shows_groups and below is not False
    only_groups = not users_have_quotas and _are_quotas(fields)
    ordered = order_rows(visible, choice, hierarchical=nested)
    drawn = _drawn(ordered, groups=shows_groups, users=not only_groups)
    users = [row for row in visible if not row.is_group]
    return _Table(fields, drawn, visible, users, surplus_policy(rows), nested, only_groups)


def _visible(rows: list[Row], since: float | None) -> list[Row]:
    return [row for row in rows if since is None or row.last_used >= since]


def _drawn(rows: list[Row], *, groups: bool, users: bool) -> list[Row]:
    """Return the rows that are shown; the root is not shown where it is the only group."""
    root = any(row.number for row in rows)
    return [row for row in rows if (groups and (root or row.number) if row.is_group else users)]


def _available(ads: list[ClassAd], shown: ColumnGroups) -> list[Field]:
    """Return the columns that are wanted, without those of which no ad knows anything."""
    wanted = [field for field in FIELDS if field.groups & shown]
    return [field for field in wanted if not field.needs or any(field.needs in ad for ad in ads)]


def _without_quotas(fields: list[Field]) -> list[Field]:
    return [field for field in fields if not field.is_quota]


def _are_priorities(fields: list[Field]) -> bool:
    return all(field.groups & ColumnGroups.PRIORITY for field in fields)


def _are_quotas(fields: list[Field]) -> bool:
    return bool(fields) and all(field.is_quota for field in fields)


def _have_users_quotas(rows: list[Row]) -> bool:
    own = [row.ad for row in rows if not row.is_group]
    return any("EffectiveQuota" in ad or "ConfigQuota" in ad for ad in own)


def _lines(table: _Table, count: int, now: int, since: float | None) -> list[str]:
    fields, nested = table.fields, table.hierarchical
    # As wide as the longest name, of those too that have no row.
    names = {row.index: _shown_name(row, nested=nested) for row in table.visible}
    width = max(len(text) for text in (f"Number of users: {count}", *names.values()))
    width += 2 if nested else 0
    titles = ("Name", "Group Name") if table.only_groups else ("  User Name", "User Name")
    title = titles[0] if nested else titles[1]
    first = "Group" if nested else ""
    rule = " ".join(["-" * width, *("-" * field.width for field in fields)])
    lines = [
        f"Last Priority Update: {format_moment(now)}",
        " ".join([first.ljust(width), *(field.heading[0].ljust(field.width) for field in fields)]),
        " ".join([title.ljust(width), *(field.heading[1].ljust(field.width) for field in fields)]),
        rule,
    ]
    for row in table.rows:
        cells = [_cell(field, row, now).rjust(field.width) for field in fields]
        lines.append(" ".join([names[row.index].ljust(width), *cells]))
    footers = [
        table.surplus.ljust(field.width)
        if field is _SURPLUS
        else field.footer(table.users, now, since).rjust(field.width)
        for field in fields
    ]
    return [*lines, rule, " ".join([f"Number of users: {len(table.users)}".ljust(width), *footers])]


def _shown_name(row: Row, *, nested: bool) -> str:
    return f"  {row.short_name}" if nested and not row.is_group else row.name


def _cell(field: Field, row: Row, now: float) -> str:
    text = field.shown(row, field.width, now)
    if text is None:
        return "n/d" if row.is_group and (field.is_quota or field is _SORT_KEY) else ""
    return text


def render_resources(ad: ClassAd, now: float) -> str:
    """Return the slots a user holds and since when."""
    rows = []
    number = 1
    while (name := ad.string(f"Name{number}")) is not None:
        rows.append((name, ad.integer(f"StartTime{number}") or 0))
        number += 1
    lines = [
        f"{'Resource Name':<33}{'Start Time':<13}{'Match Time'}",
        f"{'-------------':<33}{'----------':<13}{'----------'}",
    ]
    for name, since in rows:
        # The startd's address behind the name says nothing to a reader.
        slot = name.partition("@<")[0]
        lines.append(f"{slot:<30}  {format_moment(since)} {format_span(max(0.0, now - since))}")
    lines.append(f"{'-------------':<32}{'------------':<14}{'------------'}")
    lines.append(f"Number of Resources Used: {len(rows)}")
    return "".join(f"{line}\n" for line in lines)
