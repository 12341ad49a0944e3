"""The tables of condor_userprio: which columns, their two-line headings, how numbers are shown.

Widths, headings and the sums in the last line are the reference's.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.tools.printing.times import format_moment, format_moment_with_year, format_span

NAME_WIDTH = 18
ROOT = "<none>"


class Shown(enum.Flag):
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
    """One column; `shown` gets the ad and the time of the last update."""

    groups: Shown
    width: int
    heading: tuple[str, str]
    shown: Callable[[ClassAd, float], str]
    # What the last line has here; gets all ads, the time of the update and the oldest usage shown.
    footer: Callable[[list[ClassAd], float, float | None], str] = lambda _ads, _now, _since: ""
    # The attribute that one ad at least must have, if there are any.
    needs: str = ""


def _number(name: str, digits: int) -> Callable[[ClassAd, float], str]:
    def shown(ad: ClassAd, _now: float) -> str:
        value = ad.real(name)
        return "" if value is None else f"{value:.{digits}f}"

    return shown


def _real_priority(ad: ClassAd, _now: float) -> str:
    effective, factor = ad.real("Priority"), ad.real("PriorityFactor")
    return f"{effective / factor:.2f}" if effective is not None and factor else ""


def _hours(ad: ClassAd, _now: float) -> str:
    return f"{(ad.real('WeightedAccumulatedUsage') or 0.0) / 3600:.2f}"


def _moment(name: str) -> Callable[[ClassAd, float], str]:
    def shown(ad: ClassAd, _now: float) -> str:
        value = ad.integer(name)
        return format_moment_with_year(value) if value else ""

    return shown


def _since_last(ad: ClassAd, now: float) -> str:
    """Return the span since the last use; never (0) counts as 1969, cut off at the width."""
    last = ad.integer("LastUsageTime")
    return "" if last is None else _short_span(now - (last or -1))[:10]


def _short_span(seconds: float) -> str:
    """Return `  0+00:14`; what is not in the past is now."""
    if seconds <= 0:
        return "<now>"
    minutes = int(seconds) // 60
    days, rest = divmod(minutes, 24 * 60)
    return f"{days:3d}+{rest // 60:02d}:{rest % 60:02d}"


def _bound(name: str, absent: int) -> Callable[[ClassAd, float], str]:
    def shown(ad: ClassAd, _now: float) -> str:
        value = ad.integer(name)
        return "" if value is None or value == absent else f"{value:.2f}"

    return shown


def _sum(name: str, form: Callable[[float], str]) -> Callable[..., str]:
    return lambda ads, _now, _since: form(sum(ad.real(name) or 0.0 for ad in ads))


def _cut_off(_ads: list[ClassAd], _now: float, since: float | None) -> str:
    return "" if since is None else format_moment_with_year(since)


def _since_cut_off(_ads: list[ClassAd], now: float, since: float | None) -> str:
    return "" if since is None else _short_span(now - since)


_group_number = _number("GroupSortKey", 2)
_S = Shown
_USAGE = "WeightedAccumulatedUsage"
# What only groups have: users get no rows.
GROUPS_ONLY = _S.QUOTAS | _S.SURPLUS
# fmt: off
FIELDS = (
    Field(_S.GROUP_ID, 5, ("Group", " Id"), lambda _ad, _now: ""),
    Field(_S.ORDER, 9, ("  Group", "  Order"), _group_number),
    Field(_S.SORT_KEY, 9, ("  Group", "Sort Key"), _group_number),
    Field(_S.QUOTAS, 9, ("Effective", "  Quota"), _number("EffectiveQuota", 2)),
    Field(_S.QUOTAS, 9, (" Config", "  Quota"), _number("ConfigQuota", 2)),
    Field(_S.QUOTAS | _S.SURPLUS, 7, ("  Use", "Surplus"), lambda _ad, _now: "",
          lambda _ads, _now, _since: "ByQuota"),
    Field(_S.QUOTAS, 9, (" Subtree", "  Quota"), _number("SubtreeQuota", 2)),
    Field(_S.PRIORITY | _S.MOST | _S.ALL, 12, (" Effective", "  Priority"), _number("Priority", 2)),
    Field(_S.PRIORITY | _S.ALL, 8, ("  Real", "Priority"), _real_priority),
    Field(_S.PRIORITY | _S.MOST | _S.ALL, 9, ("Priority", " Factor"), _number("PriorityFactor", 2)),
    Field(_S.USAGE | _S.MOST | _S.ALL, 6, ("Wghted", "In Use"), _number("WeightedResourcesUsed", 0),
          _sum("WeightedResourcesUsed", lambda value: f"{value:.0f}"), needs=_USAGE),
    Field(_S.USAGE | _S.MOST | _S.ALL, 12, ("Total Usage", "(wghted-hrs)"), _hours,
          _sum("WeightedAccumulatedUsage", lambda value: f"{value / 3600:.2f}"), needs=_USAGE),
    Field(_S.USAGE | _S.ALL, 16, ("     Usage", "   Start Time"), _moment("BeginUsageTime"),
          needs="BeginUsageTime"),
    Field(_S.USAGE | _S.ALL, 16, ("      Last", "   Usage Time"), _moment("LastUsageTime"),
          _cut_off, needs="LastUsageTime"),
    Field(_S.MOST | _S.ALL, 10, ("Time Since", "Last Usage"), _since_last, _since_cut_off,
          needs="LastUsageTime"),
    Field(_S.QUOTAS, 10, (" Weighted", "Requested"), _number("Requested", 2)),
    Field(_S.MOST | _S.ALL, 9, ("Submitter", "  Floor"), _bound("Floor", 0)),
    Field(_S.MOST | _S.ALL, 9, ("Submitter", " Ceiling"), _bound("Ceiling", -1)),
)
# fmt: on


def _choose_rows(
    ads: Sequence[ClassAd], shown: Shown, since: float | None
) -> tuple[list[ClassAd], list[ClassAd]]:
    """Return what the rows are of, in their order, and the users who are meant."""
    groups = [ad for ad in ads if ad.boolean("IsAccountingGroup")]
    users = [ad for ad in ads if not ad.boolean("IsAccountingGroup")]
    if since is not None:
        users = [ad for ad in users if (ad.integer("LastUsageTime") or 0) >= since]
    if shown in GROUPS_ONLY:
        return (groups if len(groups) > 1 else []), users
    return _by_group(groups, users), users


def render_table(ads: Iterable[ClassAd], shown: Shown, *, since: float | None) -> str:
    """Return the table; with `since` only those who have used something after that moment.

    Of no ads at all there is no table.
    """
    everybody = list(ads)
    if not everybody:
        return ""
    now = max((ad.integer("LastUpdate") or 0 for ad in everybody), default=0)
    rows, users = _choose_rows(everybody, shown, since)
    fields = [
        field
        for field in FIELDS
        if field.groups & shown and (not field.needs or any(field.needs in ad for ad in everybody))
    ]
    return "".join(f"{line}\n" for line in _lines(fields, rows, users, shown, now, since))


def _lines(
    fields: Sequence[Field],
    rows: Sequence[ClassAd],
    users: list[ClassAd],
    shown: Shown,
    now: int,
    since: float | None,
) -> list[str]:
    names = [ad.string("Name") or "" for ad in rows]
    width = max([NAME_WIDTH, *(len(name) for name in names)])
    title = "Group Name" if shown in GROUPS_ONLY else "User Name"
    rule = " ".join(["-" * width, *("-" * field.width for field in fields)])
    lines = [
        f"Last Priority Update: {format_moment(now)}",
        " ".join([" " * width, *(field.heading[0].ljust(field.width) for field in fields)]),
        " ".join([title.ljust(width), *(field.heading[1].ljust(field.width) for field in fields)]),
        rule,
    ]
    for name, ad in zip(names, rows, strict=True):
        cells = [field.shown(ad, now).rjust(field.width) for field in fields]
        lines.append(" ".join([name.ljust(width), *cells]))
    footers = [field.footer(users, now, since).rjust(field.width) for field in fields]
    return [*lines, rule, " ".join([f"Number of users: {len(users)}".ljust(width), *footers])]


def _by_group(groups: list[ClassAd], users: list[ClassAd]) -> list[ClassAd]:
    """Return each group followed by its users, the best priority first; the root has no row."""
    rows = []
    named = sorted((ad for ad in groups if ad.string("Name") != ROOT), key=_name)
    for group in named:
        rows.append(group)
        rows += sorted((ad for ad in users if _group(ad) == _name(group)), key=_priority)
    known = {_name(group) for group in named}
    rows += sorted((ad for ad in users if _group(ad) not in known), key=_priority)
    return rows


def _name(ad: ClassAd) -> str:
    return ad.string("Name") or ""


def _group(ad: ClassAd) -> str:
    return ad.string("AccountingGroup") or ROOT


def _priority(ad: ClassAd) -> tuple[float, str]:
    return (ad.real("Priority") or 0.0, _name(ad))


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
