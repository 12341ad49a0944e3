"""`condor_status`: the ads of a pool's machines and daemons, as tables, columns or whole ads.

Here is what is asked of the collector and in which order ads are shown. What a command line means
is in `wish.py`, the tables are `tables.py`, the sums `totals.py`, user-chosen columns
`printing/columns.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kettle.classad import ClassAd, Expr, parse_ads, parse_expression
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.tools.options import UnknownOptionError, run_tool
from kettle.tools.printing.tables import render_table
from kettle.tools.programs import Streams
from kettle.tools.status import tables
from kettle.tools.status.compact import NAMES as COMPACT_NAMES
from kettle.tools.status.compact import render_compact
from kettle.tools.status.totals import render_totals
from kettle.tools.status.wish import MODES, USAGE, ContradictionError, Wish, read_wish

# What the reference asks for in every projection.
_ALWAYS = ("Machine", "Name", "OCU")


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_status`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=_complain,
        prefix="Error: ",
    )


def _complain(error: UsageError) -> str:
    if isinstance(error, ContradictionError):
        return f"Error:  {error}\n"
    if isinstance(error, UnknownOptionError):
        hint = f" ({error.hint})" if error.hint else ""
        return f"Error:  Unknown option {error.word}{hint}\n{USAGE}\n"
    return f'{error.message}\nUse "condor_status -help" for details\n'


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print the ads that are meant; 1 for a constraint that makes no sense."""
    if wish.compact is not None and wish.totals_only:
        streams.stderr.write(
            "Warning: ignoring -compact option because -total option is also set\n"
        )
    for constraint in wish.constraints:
        try:
            parse_expression(constraint)
        except ClassAdSyntaxError:
            streams.stderr.write(f"Invalid constraint expression : ( ({constraint}) )\n")
            return 0 if wish.file else 1
    try:
        ads = read_file(wish) if wish.file else ask(wish, environment, streams)
    except OSError:
        # Compat: the reference goes on with no ads at all and exits with 0 (vectors `output`).
        streams.stderr.write(f"Can't open file of ClassAds: {wish.file}\n")
        return 0
    streams.stdout.write(render(wish, arrange(wish, ads)))
    return 0


# --- which ads --------------------------------------------------------------------------------


def conditions(wish: Wish) -> list[str]:
    """Return what every ad shown has to satisfy."""
    from kettle.client.pool import quoted

    found = []
    own = MODES[wish.mode].condition
    if own:
        found.append(f"({own})")
    found += [f"({constraint})" for constraint in wish.constraints]
    if wish.names:
        found.append(
            " || ".join(
                f"Name == {quoted(name)} || Machine == {quoted(name)}" for name in wish.names
            )
        )
    return found


def read_file(wish: Wish) -> list[ClassAd]:
    """Return the wanted ads of a file; OSError if it cannot be read."""
    with open(wish.file, encoding="utf-8", errors="surrogateescape") as file:
        ads: Iterable[ClassAd] = parse_ads(file.read(), wish.file_form)
        for condition in conditions(wish):
            expression = parse_expression(condition)
            ads = [ad for ad in ads if _holds(ad, expression)]
        return list(ads)


def ask(wish: Wish, environment: Mapping[str, str], streams: Streams) -> list[ClassAd]:
    """Ask the collector, or with -direct the daemon itself."""
    from kettle.client.pool import STARTD, make_query, query_ads
    from kettle.tools.reach import Reach
    from kettle.wire.commands import Command

    mode = MODES[wish.mode]
    query = make_query(
        wish.ad_type or mode.ad_type,
        constraints=conditions(wish),
        projection=projection(wish),
        limit=wish.limit,
    )
    if wish.diagnose:
        streams.stdout.write("\n".join(query.lines()) + "\n")
        return []
    reach = Reach(environment, pool=wish.pool, name=wish.direct)
    # The table of commands is addressed by number only here.
    command = next(each for each in Command if each == mode.command)
    if wish.direct:
        located = reach.locate(STARTD)
        return query_ads(reach.connector, located.address, Command.QUERY_STARTD_ADS, query)
    return reach.pool.query(command, query)


def projection(wish: Wish) -> list[str]:
    """Return the attributes to fetch; nothing means whole ads."""
    if wish.form or wish.diagnose:
        names = set(wish.attributes)
        return sorted(names) if names else []
    if wish.columns:
        names = wish.columns.names()
    else:
        names = set(MODES[wish.mode].names.split()) | wish.added.names()
        if wish.compact is not None:
            names |= set(COMPACT_NAMES.split())
    for text in wish.sort:
        if text != "no":
            names.add(text.lstrip("-"))
    return sorted({*names, *_ALWAYS}, key=str.lower)


def _holds(ad: ClassAd, expression: Expr) -> bool:
    value = ad.evaluate_expression(expression)
    return isinstance(value, (bool, int, float)) and bool(value)


# --- in which order -----------------------------------------------------------------------------


def arrange(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Sort and cut; an ad that lacks what is sorted by is left out, as the reference does."""
    if wish.sort and wish.sort != ["no"]:
        # `-sort -X` is `-sort X` to the reference.
        expressions = [parse_expression(text.lstrip("-")) for text in wish.sort if text != "no"]
        keyed = [(_sort_key(ad, expressions), ad) for ad in ads]
        found = [(key, ad) for key, ad in keyed if key is not None]
        ads = [ad for _, ad in sorted(found, key=lambda pair: pair[0])]
    elif not wish.sort:
        ads = sorted(ads, key=_natural_key)
    return ads[: wish.limit] if wish.limit else ads


def _sort_key(
    ad: ClassAd, expressions: Sequence[Expr]
) -> tuple[tuple[int, float, str], ...] | None:
    keys = []
    for expression in expressions:
        value = ad.evaluate_expression(expression)
        if isinstance(value, str):
            keys.append((1, 0.0, value))
        elif isinstance(value, (bool, int, float)):
            keys.append((0, float(value), ""))
        else:
            return None
    return tuple(keys)


_DIGITS = re.compile(r"(\d+)")


def _natural_key(ad: ClassAd) -> tuple[bool, str, list[tuple[int, int, str]]]:
    """Order by machine, then by name with numbers as numbers: slot2 before slot10."""
    machine = ad.string("Machine")
    parts = [
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in _DIGITS.split(ad.string("Name") or "")
        if part
    ]
    return (machine is None, machine or "", parts)


# --- how ------------------------------------------------------------------------------------


def render(wish: Wish, ads: list[ClassAd]) -> str:
    """Return what is printed."""
    if wish.diagnose:
        return ""
    if wish.columns:
        if wish.columns.headings:
            wish.columns.measure(ads)
        heading = wish.columns.render_headings() if wish.columns.headings and ads else ""
        return heading + "".join(wish.columns.render(ad) for ad in ads)
    if wish.form:
        return _render_ads(wish, ads)
    if not ads:
        return ""
    if wish.compact is not None and not wish.totals_only:
        return "".join(f"{line}\n" for line in render_compact(ads))
    if wish.compact is not None:
        # The sums alone are of the slots that have a line, which parts of slots have not.
        ads = [ad for ad in ads if not ad.boolean("DynamicSlot")]
    mode = MODES[wish.mode]
    cells = tables.WIDE_SLOTS if wish.wide and mode.cells is tables.SLOTS else mode.cells
    lines = []
    if not wish.totals_only:
        lines += render_table(cells, ads, wish.added or None)
    if mode.totals is not None:
        lines += render_totals(mode.totals, ads, fits=bool(wish.added) or wish.wide)
    return "".join(f"{line}\n" for line in lines)


def _render_ads(wish: Wish, ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads

    if wish.attributes:
        wanted = {name.lower() for name in wish.attributes}
        chosen = []
        for ad in ads:
            part = ClassAd()
            for name in ad.names():
                expression = ad.lookup(name)
                if name.lower() in wanted and expression is not None:
                    part.insert(name, expression)
            chosen.append(part)
        ads = chosen
    return render_ads(ads, wish.form)
