"""What condor_status asks the collector: for which ads, and which attributes of them."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.tools.programs import Streams
from kettle.tools.status.compact import COMPACT
from kettle.tools.status.compact import NAMES as COMPACT_NAMES
from kettle.tools.status.compact import condition as compact_condition
from kettle.tools.status.modes import MODES
from kettle.tools.status.wish import Wish

# What the reference asks for in every projection.
_ALWAYS = ("Machine", "Name", "OCU")


def conditions(wish: Wish) -> list[str]:
    """Return what every ad shown has to satisfy."""
    from kettle.classad.text import equals

    found = []
    mode = MODES[wish.mode]
    shown = "all" if wish.form else "columns" if wish.columns or wish.print_format else "table"
    reach = {"all": ("all",), "columns": ("all", "columns"), "table": ("all", "columns", "table")}
    own = mode.condition if mode.limits in reach[shown] else ""
    if wish.compact is not None and wish.mode in COMPACT:
        own = compact_condition(wish.mode, own)
    if own:
        found.append(f"({own})")
    found += [f"({constraint})" for constraint in wish.constraints]
    if wish.names:
        found.append(
            " || ".join(
                f"{equals('Name', name)} || {equals('Machine', name)}" for name in wish.names
            )
        )
    return found


def question_of(wish: Wish) -> ClassAd:
    """Return the query that the command line means."""
    from kettle.client.pool import make_query

    query = make_query(
        wish.ad_type or MODES[wish.mode].ad_type,
        constraints=conditions(wish),
        projection=projection(wish),
        limit=wish.limit,
    )
    if wish.statistics:
        query["STATISTICS_TO_PUBLISH"] = wish.statistics
    return query


def projection(wish: Wish) -> list[str]:
    """Return the attributes to fetch; nothing means whole ads."""
    if wish.form or wish.print_format or not MODES[wish.mode].names:
        names = set(wish.attributes)
        return sorted(names) if names else []
    if wish.columns:
        names = wish.columns.names()
    else:
        mode = MODES[wish.mode]
        names = set(mode.names.split()) | wish.added_columns().names()
        if wish.sums_alone and mode.totals is not None and mode.totals.names:
            return mode.totals.names.split()
        if wish.compact is not None:
            names |= set(COMPACT_NAMES.split())
    for text in wish.sort:
        if text != "no":
            names.add(text.lstrip("-"))
    return sorted({*names, *_ALWAYS}, key=str.lower)


def diagnose(wish: Wish, streams: Streams) -> int:
    """Say on stderr what would be asked, and that it can be; nobody is asked.

    Compat: the reference also dumps how it would print (test_what_would_be_asked_is_told).
    """
    query = question_of(wish)
    names = (query.string("Projection") or "").split()
    query.discard("Projection")
    lines = [
        f"diagnose: condor_status {' '.join(wish.words)} ",
        "----------",
        MODES[wish.mode].command,
        *sorted(query.lines(), key=str.lower),
        "Projection:" if names else "Projection: <NULL>",
        *(f"  {name}" for name in sorted(names, key=str.lower)),
        "",
        "",
    ]
    streams.stderr.write("".join(f"{line}\n" for line in lines))
    streams.stdout.write("----------\nResult of making query ad was:  0\n")
    return 1
