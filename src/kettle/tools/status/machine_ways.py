"""The named ways (PRINTAS) of print-format files that are about machines and daemons.

What the tables of `condor_status` show is in `tables.py`; jobs have their own ways in
`queue/job_ways.py`. Texts are the reference's (vectors `output/cases.json`, tests/data/cli).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kettle.classad import ERROR, UNDEFINED, ClassAd, Expr, Value
from kettle.classad.nodes import Literal
from kettle.classad.unparse import unparse
from kettle.classad.values import ExprList
from kettle.patterns import late_pattern
from kettle.tools.printing.values import evaluate_name
from kettle.tools.printing.ways import ColumnWidth, Way, Ways, text_of_ad, text_of_real
from kettle.tools.status.tables import (
    activity_letter,
    count_devices,
    count_members,
    is_unused_unit,
    members_of,
    platform,
    seconds_since,
    state_letter,
    tag_of_type,
    version_text,
)

_PLATFORM = late_pattern(r"[^ ]* +([^ .$]*)")
# A column of a version that is narrower has no room for its build.
_BUILD_WIDTH = 10


def _activity_code(value: Value, ad: ClassAd, _column: ColumnWidth) -> str | None:
    """Show state and activity in two letters, where the value is one of them."""
    text = str(value)
    if activity_letter(text) != " ":
        return state_letter(ad.string("State") or text) + activity_letter(text)
    if state_letter(text) != " ":
        return state_letter(text) + activity_letter(ad.string("Activity") or text)
    return None


def _activity(value: Value, ad: ClassAd, _column: ColumnWidth) -> Value:
    """Show an activity; of a slot that is kept for somebody and idle, that it is."""
    if not ad.string("Activity"):
        return "??"
    return "OCU" if is_unused_unit(ad) else value


def _activity_time(value: Value, ad: ClassAd, _column: ColumnWidth) -> int | None:
    """Show how long ago a moment was when the ad was made."""
    return seconds_since(_whole(value), ad)


def _elapsed(value: Value, ad: ClassAd, _column: ColumnWidth) -> int | None:
    """Show the time from a moment to when the ad was heard."""
    heard = ad.integer("LastHeardFrom")
    return None if heard is None else heard - _whole(value)


def _due(value: Value, ad: ClassAd, _column: ColumnWidth) -> int | None:
    """Show a moment so many seconds after the ad was heard."""
    heard = ad.integer("LastHeardFrom")
    return None if heard is None else heard + _whole(value)


def _whole(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _count_members(value: Value, _ad: ClassAd, _column: ColumnWidth) -> int | None:
    """Show how many members a list has, or a string that holds one."""
    return count_members(value)


def _strings(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str | None:
    """Show the strings that are written in a list."""
    if not isinstance(value, ExprList):
        return None
    literals = (each.value for each in value.elements if isinstance(each, Literal))
    return ", ".join(each for each in literals if isinstance(each, str))


def _unique(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str | None:
    """Show the different members of a list or a text, in order."""
    if isinstance(value, str):
        members = set(members_of(value))
    elif isinstance(value, ExprList):
        members = {_as_member(each) for each in value.elements}
    else:
        return None
    return ", ".join(sorted(members))


def _as_member(element: Expr) -> str:
    if isinstance(element, Literal) and isinstance(element.value, str):
        return element.value
    return unparse(element, old=True)


def _unhealth(value: Value, ad: ClassAd, column: ColumnWidth) -> Value | None:
    """Show which of the expressions of a list are false; else why a slot is broken."""
    if not isinstance(value, ExprList):
        broken = ad.string("SlotBrokenReason")
        if broken is not None:
            return broken
        return _unique(evaluate_name(ad, "BrokenReasons"), ad, column)
    return "".join(_faults(value, ad))


def _faults(healths: ExprList, ad: ClassAd) -> Iterator[str]:
    begun = False
    for each in healths.elements:
        found = ad.evaluate_expression(each)
        if found is ERROR:
            yield ",error" if begun else "error"
        elif found is not UNDEFINED and isinstance(found, (bool, int, float)) and not found:
            yield f", {unparse(each)}" if begun else unparse(each)
        else:
            continue
        begun = True


def _condor_platform(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str | None:
    """Show what a program was built for: of `$CondorPlatform: X86_64-LINUX $` the second word."""
    found = _PLATFORM.match(str(value))
    if not found:
        return None
    text = found[1]
    text = f"x{text[1:]}" if text.startswith("X") else text
    return re.sub("WINDOWS_.*", "WINDOWS", text.replace("-", "_"))


def _condor_version(value: Value, _ad: ClassAd, column: ColumnWidth) -> str | None:
    """Show a version as numbers and, where there is room, its build: `25.14.1.1`."""
    has_room = column.automatic or column.width >= _BUILD_WIDTH
    return version_text(str(value), with_build=has_room)


def _slot_count(value: Value, ad: ClassAd, _column: ColumnWidth) -> Value:
    """Show the number of a slot's parts; a slot that is no part is one."""
    return 1 if value is UNDEFINED and "DynamicSlot" not in ad else value


def _slot_tag(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str:
    return tag_of_type(value if isinstance(value, str) else "")


def _slot_letter(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str:
    text = value if isinstance(value, str) else ""
    return {"Static": "s", "Dynamic": "d", "Partitionable": " "}.get(text, text[:1])


def _total_gpus(_value: Value, ad: ClassAd, column: ColumnWidth) -> str | None:
    """Show how many devices a slot has, and how many of them are not used."""
    count = count_devices(ad)
    return None if count is None else count.ljust(column.width)


def _properties(value: Value, ad: ClassAd, column: ColumnWidth) -> str:
    """Show the names of a slot's devices, each once and in order."""
    found = _unique(value, ad, column)
    return unparse(Literal(value)) if found is None else found


def _no_properties(_value: Value, _ad: ClassAd, _column: ColumnWidth) -> None:
    """Show nothing: what devices are is known where slots are shown together alone."""


def _broken_reasons(value: Value, _ad: ClassAd, _column: ColumnWidth) -> str | None:
    """Show no reasons: the reference leaves a list's room empty."""
    return "" if isinstance(value, ExprList) else None


# Those that each tool knows.
WAYS: Ways = {
    "ACTIVITY_CODE": Way(
        "State and activity of a slot in two letters, from either of them: `Cb`.",
        "text",
        _activity_code,
    ),
    "ACTIVITY_OR_OCU": Way(
        "The activity; `OCU` for a slot that is idle and kept for somebody's claim.",
        "text",
        _activity,
    ),
    "ACTIVITY_TIME": Way(
        "How long ago a moment was, when the ad was made.", "whole", _activity_time, "%T"
    ),
    "CONDOR_PLATFORM": Way(
        "What a program was built for, in short: of `$CondorPlatform: … $` the words.",
        "text",
        _condor_platform,
    ),
    "CONDOR_VERSION": Way(
        "The numbers of a version and, where the column has room, its build.",
        "text",
        _condor_version,
    ),
    "DUE_DATE": Way(
        "A moment, so many seconds after the collector heard of the ad.", "whole", _due, "%Y"
    ),
    "ELAPSED_TIME": Way(
        "The time from a moment to when the collector heard of the ad.", "whole", _elapsed, "%T"
    ),
    "LOAD_AVG": text_of_real(
        "A number with three digits behind its point.", lambda load: f"{load:.3f}"
    ),
    "MEMBER_COUNT": Way(
        "How many members a list has, or a text that holds a list.", "any", _count_members, "%d"
    ),
    "PLATFORM": text_of_ad("Architecture and system in short: `x64/Debian13`.", platform),
    "STRINGS_FROM_LIST": Way(
        "The strings that are written in a list, with commas between.", "any", _strings
    ),
    "UNHEALTH": Way(
        "Which expressions of a list are false; else why the slot is broken.", "any", _unhealth
    ),
    "UNIQUE": Way("The different members of a list or a text, in order.", "any", _unique),
}

# Those that condor_status has beside them.
STATUS_WAYS: Ways = {
    "BROKEN_REASONS_VECTOR": Way(
        "Nothing: the room of a list stays empty, as in HTCondor.", "any", _broken_reasons
    ),
    "GPUS_CAPS": Way(
        "Nothing: devices' properties are known where slots are shown together alone.",
        "any",
        _no_properties,
    ),
    "GPUS_MEM": Way(
        "Nothing: devices' properties are known where slots are shown together alone.",
        "any",
        _no_properties,
    ),
    "GPUS_NAMES": Way(
        "Nothing: devices' properties are known where slots are shown together alone.",
        "any",
        _no_properties,
    ),
    "GPUS_PROPERTIES": Way(
        "The different members of a list of GPUs' names or properties, in order.",
        "any",
        _properties,
    ),
    "NUM_DSLOTS": Way(
        "How many slots were cut from the slot; 1 for one that is no part and says no number.",
        "any",
        _slot_count,
        "%4d",
    ),
    "SLOT_COUNT_TAG": Way(
        "The first letter of a slot's type; a blank for one that others are cut from.",
        "any",
        _slot_tag,
    ),
    "SLOT_TYPE_LETTER": Way(
        "`s` for a slot of fixed size, `d` for one that was cut, a blank for a divisible one.",
        "any",
        _slot_letter,
    ),
    "TOTAL_GPUS": Way(
        "How many GPUs the slot has and, behind a minus, how many of them are not used.",
        "any",
        _total_gpus,
    ),
}
