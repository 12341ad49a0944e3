"""`condor_status`: the ads of a pool's machines and daemons, as tables, columns or whole ads.

Here is who is asked and in which order ads are shown. What a command line means is in `wish.py`,
what is asked in `questions.py`, the tables are `tables.py`, the sums `totals.py`, user-chosen
columns `printing/columns.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

from kettle.classad import UNDEFINED, ClassAd, parse_ads, parse_expression
from kettle.errors import (
    ClassAdSyntaxError,
    KettleError,
    NotFoundError,
    UnknownHostError,
    Unreached,
    UsageError,
)
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.tools.options import UnknownOptionError, run_tool, tell_more
from kettle.tools.printing.tables import LineWidth, render_table
from kettle.tools.programs import Streams
from kettle.tools.status import tables
from kettle.tools.status.compact import COMPACT, gpu_totals, render_compact, roll_up
from kettle.tools.status.modes import MODES
from kettle.tools.status.questions import conditions, diagnose, question_of
from kettle.tools.status.totals import is_worth_a_look, render_totals
from kettle.tools.status.wish import (
    USAGE,
    ContradictionError,
    PlainError,
    SubsystemError,
    Wish,
    pool_error,
    read_wish,
)

if TYPE_CHECKING:
    from kettle.wire.ad_shapes import AdRun

# From this length on a line has room for all of a span.
_LONG_LINE = 100
# Up to this length a line of collectors is as it is without limit.
_NARROW_LINE = 79
_ANY_WIDTH = LineWidth()


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_status`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=lambda error: _complain(error, streams),
        prefix="Error: ",
    )


def _complain(error: UsageError, streams: Streams) -> str:
    if isinstance(error, ContradictionError):
        return f"Error:  {error}\n"
    if isinstance(error, UnknownOptionError):
        return f"Error:  Unknown option {error.word}\n{USAGE}\n"
    if isinstance(error, PlainError):
        streams.stdout.write(error.above)
        return f"{error.message}\n"
    subject = " subsys" if isinstance(error, SubsystemError) else ""
    return f'{error.message}\nUse "condor_status -help{subject}" for details\n'


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print the ads that are meant; 1 for a constraint that makes no sense."""
    if wish.target_file:
        # Compat: like the reference, which takes it and shows TARGET as undefined all the same
        # (test_a_target_of_status_is_looked_into_by_nobody).
        try:
            with open(wish.target_file, "rb") as file:
                file.read(1)
        except OSError as error:
            raise PlainError(f"Cannot open file {wish.target_file}: errno: {error.errno}") from None
    if wish.compact is not None and wish.totals_only:
        streams.stderr.write(
            "Warning: ignoring -compact option because -total option is also set\n"
        )
    for constraint in wish.constraints:
        try:
            parse_expression(constraint)
        except ClassAdSyntaxError as error:
            wrong = f"Invalid constraint expression : ( ({constraint}) )\n"
            streams.stderr.write(wrong if wish.file else "Error: invalid constraint\n\n")
            tell_more(error, streams.stderr)
            return 0 if wish.file else 1
    streams.stderr.writelines(f"{warning}\n" for warning in wish.warnings)
    if wish.diagnose and not wish.file:
        return diagnose(wish, streams)
    found: Sequence[ClassAd | AdRun]
    try:
        found = read_file(wish) if wish.file else ask(wish, environment)
    except OSError:
        # Compat: the reference goes on with no ads at all and exits with 0 (output/cases.json).
        streams.stderr.write(f"Can't open file of ClassAds: {wish.file}\n")
        found = []
    if unknown := find_unknown(wish, found, environment):
        streams.stderr.write(f"condor_status: unknown host {unknown}\n")
        return 1
    streams.stdout.write(_render_found(wish, found, streams))
    return 0


def _render_found(wish: Wish, found: Sequence[ClassAd | AdRun], streams: Streams) -> str:
    """Return what was found as it is shown; ads with the same names all at once if possible."""
    ads = [each for each in found if isinstance(each, ClassAd)]
    if len(ads) < len(found):
        from kettle.tools.status.many import render_many
        from kettle.wire.ad_shapes import each_ad

        text = render_many(wish, found)
        if text is not None:
            return text
        ads = list(each_ad(found))
    return render_all(wish, arrange(wish, ads), streams)


def render_all(wish: Wish, ads: list[ClassAd], streams: Streams) -> str:
    """Return the ads in the form that is asked for; warnings go to stderr."""
    if wish.merge_file:
        return compare(wish, ads, streams)
    if wish.print_format:
        return render_print_format(wish, ads, streams)
    return render(wish, ads, within=line_width(wish, streams))


def line_width(wish: Wish, streams: Streams) -> LineWidth:
    """Return how long lines may be: as -wide says, as the terminal is, or without limit."""
    width = wish.width
    wide = wish.wide or bool(wish.added)
    if not width and not wide:
        with suppress(OSError, ValueError):
            width = os.get_terminal_size(streams.stdout.fileno()).columns
    rest = MODES[wish.mode].rest
    return LineWidth(max(0, width - 1), shrink=width > 0 and not wide, rest=rest)


def find_unknown(wish: Wish, ads: Sequence[object], environment: Mapping[str, str]) -> str:
    """Return the first name that no machine can have, empty if there is none or ads were found.

    Compat: the reference looks names up first and asks then; here machines whose names are not in
    the DNS can be asked for (test_a_host_that_nobody_knows_is_refused), and of a file's ads that is
    never asked (test_a_host_that_nobody_knows_has_no_ad_in_a_file).
    """
    if ads or wish.file or wish.diagnose or not wish.names:
        return ""
    from kettle.runtime.sockets.addresses import may_be_daemon
    from kettle.tools.reach import Reach

    config = Reach(environment).config
    return next((name for name in wish.names if not may_be_daemon(name, config)), "")


def compare(wish: Wish, ads: list[ClassAd], streams: Streams) -> str:
    """Return the ads that are in the file of `-merge` too, those that are not, and the file's.

    Compat: an ad is known by machine and name; the reference takes its place among the ads for a
    part of its name too, and finds only ads that stand at the same place
    (status/recorded.json). With -compact ads that are in one alone have a row for each machine,
    too, where there each slot has one (test_slots_of_one_side_are_rolled_up).
    """
    try:
        others = arrange(wish.changed(limit=0), read_ads(wish.merge_file, "auto", []))
    except OSError:
        streams.stderr.write(f"Can't open file of ClassAds: {wish.merge_file}\n")
        others = []
    ours, theirs = {_identity(ad) for ad in ads}, {_identity(ad) for ad in others}
    both, mine = _part(ads, theirs)
    new = _part(others, ours)[1]
    render_part = partial(_render_part, wish, widths_of=[*ads, *others], streams=streams)
    if wish.form == "json":
        return _as_members({"query-only": mine, "both": both, "file-only": new}, render_part)
    parts = {
        "only in the query": mine,
        f"in both the query and in '{wish.merge_file}'": both,
        f"only in '{wish.merge_file}'": new,
    }
    return _below_titles(parts, render_part)


def _as_members(
    parts: Mapping[str, list[ClassAd]], render_part: Callable[[list[ClassAd]], str]
) -> str:
    """Return lists in JSON as members of one object, with the line ends of the reference."""
    members = [f'"{name}": {render_part(ads) if ads else "[ ]"}' for name, ads in parts.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _below_titles(
    parts: Mapping[str, list[ClassAd]], render_part: Callable[[list[ClassAd]], str]
) -> str:
    """Return the parts that there are, each below a line that says which it is."""
    text, apart = "", False
    for which, found in parts.items():
        if not found:
            continue
        # An empty line parts the ads that are in both from others.
        of_both = which.startswith("in")
        text += "\n" if text and (of_both or apart) else ""
        text += f"The following ads were found {which}:\n"
        text += render_part(found)
        apart = of_both
    return text


def _part(
    ads: list[ClassAd], known: set[tuple[str | None, str | None]]
) -> tuple[list[ClassAd], list[ClassAd]]:
    """Return the ads that are known, and the others."""
    return (
        [ad for ad in ads if _identity(ad) in known],
        [ad for ad in ads if _identity(ad) not in known],
    )


def _render_part(
    wish: Wish, ads: list[ClassAd], widths_of: Sequence[ClassAd], streams: Streams
) -> str:
    if wish.print_format:
        return render_print_format(wish, ads, streams, widths_of)
    return render(wish, ads, widths_of=widths_of, within=line_width(wish, streams))


def _identity(ad: ClassAd) -> tuple[str | None, str | None]:
    return ad.string("Machine"), ad.string("Name")


def render_print_format(
    wish: Wish, ads: list[ClassAd], streams: Streams, widths_of: Sequence[ClassAd] = ()
) -> str:
    """Return the columns that a print-format file describes; UsageError if there is none.

    They are as wide as `widths_of` need it, too.

    Compat: GROUP BY changes nothing here, as in the reference (print_formats.json).
    """
    from kettle.tools.printing.print_format import read_print_format
    from kettle.tools.queue import job_ways as jobs
    from kettle.tools.status import machine_ways as slots

    try:
        found = read_print_format(
            wish.print_format,
            {**jobs.WAYS, **slots.WAYS, **slots.STATUS_WAYS},
            no_aggregation="print-format aggregation not supported",
            truncates=False,
        )
    except UsageError as error:
        raise PlainError(str(error)) from error
    streams.stderr.writelines(found.complain(at_terminal=streams.stderr.isatty()))
    if found.constraint:
        try:
            expression = parse_expression(found.constraint)
        except ClassAdSyntaxError as error:
            raise PlainError("Error: invalid constraint\n") from error
        ads = [ad for ad in ads if ad.satisfies(expression)]
    if wish.form:
        return render(wish, ads)
    found.take_columns(wish.columns)
    found.mask.append(wish.added)
    found.mask.measure([*widths_of, *ads])
    ads = _looked_at(wish, ads)
    if _is_compact(wish):
        ads = [machine.first for machine in roll_up(ads)]
    is_headed = found.headings and found.mask.columns and not wish.totals_only
    heading = [found.mask.render_headings()] if is_headed else []
    return _cut_rows([*heading, *map(found.mask.render, ads)], wish.width)


# --- which ads --------------------------------------------------------------------------------


def read_file(wish: Wish) -> list[ClassAd]:
    """Return the wanted ads of a file; OSError if it cannot be read.

    Compat: in whatever form they are, as for condor_q; the reference reads the old one unless it is
    told another (test_a_file_of_ads_shows_its_form_itself).
    """
    return read_ads(wish.file, wish.file_form, conditions(wish))


def read_ads(path: str, form: str, conditions: Iterable[str]) -> list[ClassAd]:
    """Return the ads of a file that satisfy all conditions; OSError if it cannot be read."""
    text = read_text(path, limit=LARGEST_ADS)
    try:
        ads = list(parse_ads(text, form))
    except ClassAdSyntaxError as error:
        raise error.in_file(path) from None
    for condition in conditions:
        expression = parse_expression(condition)
        ads = [ad for ad in ads if ad.satisfies(expression)]
    return ads


def ask(wish: Wish, environment: Mapping[str, str]) -> Sequence[ClassAd | AdRun]:
    """Ask the collector, or with -direct the daemon itself; PlainError if there is none.

    Compat: what the reference says at length about a collector that does not answer is said in our
    own words (test_a_collector_that_does_not_answer_is_named).
    """
    from kettle.client.pool import KINDS, STARTD, query_ads
    from kettle.tools.reach import Reach
    from kettle.wire.commands import Command

    query, mode = question_of(wish), MODES[wish.mode]
    direct = wish.direct
    if ":" in direct and not direct.startswith("<"):
        # A host and a port are an address too.
        direct = f"<{direct}>"
    reach = Reach(environment, pool=wish.pool, name=direct)
    command = Command[mode.command]
    if wish.direct:
        kind = KINDS.get(wish.mode, STARTD)
        try:
            located = reach.locate(kind)
        except (NotFoundError, Unreached) as error:
            why = _explain(error)
            raise PlainError(f"Error: Failed to locate {kind.title} {wish.direct}\n{why}") from None
        command = command if kind is not STARTD else Command.QUERY_STARTD_ADS
        return query_ads(reach.connector, located.address, command, query)
    try:
        return reach.pool.query_runs(command, query)
    except UnknownHostError as error:
        raise pool_error(f"Error: {error}", advised=wish.advised, above="\n") from None
    except Unreached as error:
        said = f"Error: communication error\n{_explain(error)}"
        if wish.pool:
            # As in the reference, which has more advice there.
            said += (
                f"\nError: Couldn't contact the condor_collector on {wish.pool}.\n"
                "Is it up? Its CollectorLog says whom it refuses."
            )
        raise PlainError(said) from None


def _explain(error: KettleError) -> str:
    from kettle.tools.failures import explain_in_line  # for the few that fail

    return explain_in_line(error)


# --- in which order -----------------------------------------------------------------------------


def arrange(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Cut and sort; an ad that lacks what is sorted by is left out, as the reference does.

    Of a limit the first ones that came are shown, whatever order they are shown in.
    """
    ads = ads[: wish.limit] if wish.limit else ads
    if wish.sort and wish.sort != ["no"]:
        ads = _sort(ads, [text for text in wish.sort if text != "no"], keep="no" in wish.sort)
    elif not wish.sort and not wish.sums_alone:
        from kettle.tools.status.order import natural_key

        ads = sorted(ads, key=lambda ad: natural_key(ad.string("Machine"), ad.string("Name")))
    if _is_compact(wish):
        from kettle.tools.status.order import natural_key

        # A machine's first slot is the first of that order, the machines have their own.
        ads = sorted(ads, key=lambda ad: natural_key(ad.string("Machine"), ""))
    return ads


def _is_compact(wish: Wish) -> bool:
    """Tell whether a line stands for a machine."""
    return wish.compact is not None and not wish.totals_only and wish.mode in COMPACT


def _sort(ads: Sequence[ClassAd], texts: Sequence[str], *, keep: bool) -> list[ClassAd]:
    """Return the ads by these expressions; those that lack one of them only if they are to be kept.

    Compat: they are where `no` is among the keys, which changes nothing else then, as in the
    reference (test_sorting.py).
    """
    from kettle.tools.status.order import natural_text, sort_text

    expressions = [parse_expression(text) for text in texts]
    keyed = []
    for ad in ads:
        values = [ad.evaluate_expression(expression) for expression in expressions]
        if keep or UNDEFINED not in values:
            keyed.append(([natural_text(sort_text(value)) for value in values], ad))
    return [ad for _, ad in sorted(keyed, key=itemgetter(0))]


# --- how ------------------------------------------------------------------------------------


def render(
    wish: Wish,
    ads: list[ClassAd],
    widths_of: Sequence[ClassAd] = (),
    within: LineWidth = _ANY_WIDTH,
) -> str:
    """Return what is printed; columns are as wide as `widths_of` need it, too."""
    if wish.diagnose:
        return ""
    if _is_compact(wish) and (wish.columns or wish.form):
        ads = [machine.first for machine in roll_up(ads)]
    if wish.columns:
        return _render_columns(wish, ads)
    if wish.form or wish.mode == "license":
        return _render_ads(wish, ads)
    if not ads:
        return ""
    if _is_compact(wish):
        wide, added = wish.wide or bool(wish.added), wish.added_columns() or None
        within = within.changed(rest=0)
        lines = render_compact(wish.mode, ads, wide=wide, within=within, added=added)
    else:
        lines = _table_lines(wish, ads, widths_of, within)
    return "".join(f"{line}\n" for line in lines)


def _render_columns(wish: Wish, ads: list[ClassAd]) -> str:
    ads = _looked_at(wish, ads)
    if wish.columns.headings:
        wish.columns.measure(ads)
    # As in the reference, other than in condor_q, a -format at the end takes the headings away.
    said = wish.columns.headings and not wish.columns.ends_in_format
    rows = [wish.columns.render_headings()] if said else []
    rows += [wish.columns.render(ad) for ad in ads]
    return _cut_rows(rows, wish.width)


def _cut_rows(rows: list[str], width: int) -> str:
    """Return the rows: what -wide says is the length of all that is said of an ad.

    No terminal cuts them.
    """
    if width > 1:
        rows = [row if len(row) < width else f"{row[: width - 1]}\n" for row in rows]
    return "".join(rows)


def _looked_at(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Return the ads that have rows: of -healthy those that something is wrong with."""
    if wish.mode not in {"healthy", "slot_health"} or wish.verbose:
        return ads
    return [ad for ad in ads if is_worth_a_look(ad)]


def _table_lines(
    wish: Wish, ads: list[ClassAd], widths_of: Sequence[ClassAd], within: LineWidth
) -> list[str]:
    """Return the table of the mode and its totals, as far as they are wanted."""
    mode = MODES[wish.mode]
    cells = mode.table
    if wish.wide or within.width >= _LONG_LINE:
        cells = tables.with_wide_time(cells)
    if wish.wide:
        cells = tables.with_wide_names(cells)
    elif mode.cells is tables.COLLECTORS and within.width > _NARROW_LINE:
        cells = tables.fitted_collectors(within.width)
    lines: list[str] = []
    if not wish.totals_only and cells:
        shown, added = _looked_at(wish, ads), wish.added_columns() or None
        lines += render_table(cells, shown, added, widths_of=[*ads, *widths_of], within=within)
    if mode.totals is not None:
        of_gpus = wish.mode in {"gpus", "startd_gpus"}
        sums = gpu_totals(mode.totals, ads) if of_gpus else mode.totals
        lines += render_totals(sums, ads, fits=bool(wish.added) or wish.wide)
    return lines


def _render_ads(wish: Wish, ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads
    from kettle.tools.printing.long_ads import LongAds

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
    if wish.form in ("", "long"):
        long_ads = LongAds()
        # An ad of which nothing is asked for is an empty line.
        return "".join(long_ads.render(ad) or "\n" for ad in ads)
    return render_ads(ads, wish.form, keep_empty=True)
