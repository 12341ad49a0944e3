"""How ads of machines are shown: one function for each named way (PRINTAS) of print-format files.

What the tables of `condor_status` show is in `tables.py`; jobs have their own ways in
`queue/job_columns.py`. Texts are the reference's (vectors `output/cases.json`).
"""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad import ClassAd, Expr
from kettle.patterns import late_pattern
from kettle.tools.printing.masks import Shown
from kettle.tools.printing.times import format_moment, format_span, readable
from kettle.tools.status.tables import fixed, member_count, moment, platform, span, state_code
from kettle.tools.status.tables import version as condor_version

_PLATFORM = late_pattern(r"\$CondorPlatform:\s*(\S+)")


def show_string(expression: Expr | None, ad: ClassAd) -> str:
    """Show a string, and nothing for a value of another type."""
    value = ad.evaluate_expression(expression) if expression is not None else None
    return value if isinstance(value, str) else ""


def show_activity_code(attribute: str) -> Shown:
    """Return the way to show state and activity in two letters, where the attribute is there."""
    return lambda ad: state_code(ad) if attribute in ad else None


def show_condor_platform(ad: ClassAd) -> str | None:
    """Show what a program was built for."""
    found = _PLATFORM.match(ad.string("CondorPlatform") or "")
    return found[1] if found else None


def show_activity_time(attribute: str) -> Shown:
    """Return the way to show how long ago a moment was when the ad was made."""
    shown = span(attribute, ("MyCurrentTime", "LastHeardFrom"))

    def show(ad: ClassAd) -> str | None:
        text = shown(ad)
        return None if text is None else f"{text:>12}"

    return show


def show_elapsed(attribute: str) -> Shown:
    """Return the way to show a span of seconds up to when the ad was heard."""

    def show(ad: ClassAd) -> str | None:
        since, heard = ad.integer(attribute), ad.integer("LastHeardFrom")
        return None if since is None or heard is None else f"{format_span(heard - since):>12}"

    return show


def show_due(attribute: str) -> Shown:
    """Return the way to show a moment so many seconds after the ad was heard."""

    def show(ad: ClassAd) -> str | None:
        seconds, heard = ad.integer(attribute), ad.integer("LastHeardFrom")
        return None if seconds is None or heard is None else format_moment(heard + seconds)

    return show


def show_unique(attribute: str) -> Shown:
    """Return the way to show the different members of a list or a text, in order."""

    def show(ad: ClassAd) -> str | None:
        value = ad.evaluate(attribute)
        if isinstance(value, str):
            return ", ".join(sorted(set(value.replace(",", " ").split())))
        if not isinstance(value, list):
            return None
        return ", ".join(sorted({str(each) for each in value}))

    return show


# PRINTAS names that need no attribute of their own.
RENDERERS: dict[str, Shown] = {
    "CONDOR_PLATFORM": show_condor_platform,
    "CONDOR_VERSION": condor_version,
    "PLATFORM": platform,
}

# PRINTAS names that show the attribute of their column.
ATTRIBUTE_RENDERERS: dict[str, Callable[[str], Shown]] = {
    "ACTIVITY_CODE": show_activity_code,
    "ACTIVITY_TIME": show_activity_time,
    "DATE": moment,
    "DUE_DATE": show_due,
    "ELAPSED_TIME": show_elapsed,
    "LOAD_AVG": lambda attribute: fixed(attribute, 3),
    "MEMBER_COUNT": member_count,
    "READABLE_BYTES": readable(1, keeps_whole=True),
    "READABLE_KB": readable(1024, keeps_whole=True),
    "READABLE_MB": readable(1024 * 1024, keeps_whole=True),
    "UNIQUE": show_unique,
}
