"""`condor_q`: show the jobs in the queue.

Here: which attributes are asked for, and in which of the forms the ads are printed. What a command
line means is in `command_line.py`, where ads come from in `sources.py`, tables in `tables.py`,
`batches.py` and `totals.py`, the reasons of `-better-analyze` in `analysis.py`. Output is the
reference's, byte by byte (tests/conformance/test_tool_output.py, tests/cli).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import BESIDE_THE_SCHEDD
from kettle.classad import ClassAd
from kettle.errors import ConfigError, KettleError, NotFoundError, Unreached
from kettle.tools.options import run_tool
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.queue.batches import (
    WANTED,
    find_batches,
    job_id,
    node_name,
    render_batches,
    sort_under_dags,
)
from kettle.tools.queue.command_line import explain, read_wish
from kettle.tools.queue.conflicts import check_wish
from kettle.tools.queue.sources import ALL_EMPTY
from kettle.tools.queue.totals import count_jobs, render_totals, summarize
from kettle.tools.queue.usage import USAGE
from kettle.tools.queue.wish import Wish, choose_width

if TYPE_CHECKING:
    from kettle.tools.printing.masks import Mask
    from kettle.tools.printing.print_format import PrintFormat
    from kettle.tools.queue.sources import Answer
    from kettle.tools.reach import Reach

TABLE_ATTRIBUTES = (
    "ClusterId ProcId Owner QDate JobStatus JobUniverse JobPrio RemoteUserCpu ShadowBday "
    "JobCoolDownExpiration "
    "ServerTime LastRemoteWallClockTime MemoryUsage ResidentSetSize ImageSize Cmd Arguments Args "
    "JobDescription TransferringInput TransferringOutput TransferQueued"
)
# What modes and flags look at beside that.
MODE_ATTRIBUTES = {
    "run": "RemoteHost GridResource EC2RemoteVirtualMachineName",
    "hold": "HoldReason HoldReasonCode HoldReasonSubCode EnteredCurrentStatus",
    "hold-codes": "HoldReason HoldReasonCode HoldReasonSubCode EnteredCurrentStatus",
    "idle": "RequestCpus RequestMemory RequestDisk DiskUsage NumShadowStarts LastRemoteHost",
    "io": "BytesSent BytesRecvd NumJobStarts NumCkpts_RAW FileReadBytes FileWriteBytes",
    "grid": "GridResource GridJobId GridJobStatus EC2RemoteVirtualMachineName",
    "dag": "DAGManJobId DAGNodeName",
    "cumulative-time": "RemoteWallClockTime",
}
# Tables without totals under them.
_NO_TOTALS = frozenset({"run", "idle", "grid", "ec2", "hold-codes"})
FACTORY_ATTRIBUTES = (
    "ClusterId ProcId Owner QDate JobMaterializeLimit JobsPresent JobsRunning JobsIdle JobsHeld "
    "JobMaterializeNextProcId JobMaterializePaused JobFactoryPaused JobMaterializeDigestFile"
)
AUTOCLUSTER_ATTRIBUTES = (
    "AutoClusterId ClusterId JobCount JobUniverse ProcId RequestCPUs RequestDisk RequestMemory "
    "Requirements"
)
# In the reference's words, once for each.
_NODE_WITHOUT_NAME = "DAG node job with no DAGNodeName attribute!\n"
_JOBSET_HEADINGS = "JOBSETID NAME OWNER COMPLETE REMOVED    IDLE RUNNING    HELD"


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_q`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=lambda error: explain(error, USAGE, streams),
        prefix="\n-- Failed to fetch ads: ",
    )


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print what is asked for; 1 if there is no schedd to ask."""
    streams.stderr.writelines(f"{warning}\n" for warning in wish.warnings)
    try:
        reach = _read_preferences(wish, environment)
        check_wish(wish)
        if wish.analyses:
            from kettle.tools.queue.analysis import analyze

            return analyze(wish, environment, streams)
        print_format = _read_print_format(wish, streams)
        if print_format is not None and print_format.constraint:
            wish.constraints.append(print_format.constraint)
        if "dry-run" in wish.flags:
            streams.stderr.write(render_question(wish, projection(wish, print_format)))
            # Whoever is asked now has nothing that is meant.
            wish.constraints.append("false")
        _say_all(wish, print_format, environment, streams, reach)
    except NotFoundError as error:
        streams.stdout.write("\n")
        streams.stderr.write(f"Error: {error}\n")
        return 1
    except ConfigError as error:
        streams.stderr.write(f"{error}\n")
        return 1
    except KettleError as error:
        from kettle.tools.queue.sources import NoAnswerError, NoRecordError

        if isinstance(error, NoRecordError):
            streams.stderr.write(f"Error: {error}\n")
        elif isinstance(error, NoAnswerError):
            streams.stderr.write(f"\n-- {error}\n")
        elif isinstance(error, Unreached):
            streams.stderr.write(_tell_silence(wish, error))
        else:
            raise
        return 1
    return 0


def _tell_silence(wish: Wish, error: Unreached) -> str:
    """Return what is said where the collector does not answer."""
    from kettle.tools.failures import explain_in_line

    if {"name", "address"} & wish.reach.keys() or wish.submitter or "global" in wish.flags:
        said = f"Couldn't contact the condor_collector on {error.address.strip('<>')}. "
        advice = "its CollectorLog says whom it refuses; is it up?"
    else:
        said = explain_in_line(error)
        advice = "no schedd of this machine has said where it is; is the pool up?"
    return f"Error: {said}\n\nExtra Info: {advice}\n"


def _read_preferences(wish: Wish, environment: Mapping[str, str]) -> Reach | None:
    """Take from the configuration how jobs are shown where the command line does not say.

    Without a configuration, which a file of jobs does not need, nothing is taken.
    """
    from kettle.tools.reach import Reach

    try:
        reach = Reach(environment, **wish.reach)
    except ConfigError:
        if not (wish.job_file or wish.user_log):
            raise
        return None
    wish.totals_by_user = not reach.config.boolean("CONDOR_Q_SHOW_OLD_SUMMARY")
    wish.batch_is_default = reach.config.boolean("CONDOR_Q_DASH_BATCH_IS_DEFAULT") is not False
    if wish.layout is not None:
        name = "_".join(("Q_DEFAULT", *filter(None, (wish.layout,)), "PRINT_FORMAT_FILE"))
        path = reach.config.get(name) or ""
        # As in the reference a file that is not there is no error.
        wish.print_format_is_default = bool(path) and os.path.exists(path)
        wish.print_format = path if wish.print_format_is_default else ""
    return reach


def _read_print_format(wish: Wish, streams: Streams) -> PrintFormat | None:
    if not wish.print_format:
        return None
    from kettle.tools.printing.print_format import read_print_format
    from kettle.tools.queue import job_ways as jobs
    from kettle.tools.status import machine_ways as slots

    found = read_print_format(
        wish.print_format,
        {**slots.WAYS, **jobs.WAYS, **jobs.QUEUE_WAYS},
    )
    streams.stderr.writelines(found.complain(at_terminal=streams.stderr.isatty()))
    found.mask.append(wish.added)
    if wish.columns and not wish.form:
        # Compat: also beside -totals, of which the reference takes what was said last: it leaves
        # these columns out and adds a row of `undefined` or a title
        # (test_columns_beside_a_file_stay_with_totals).
        found.take_columns(wish.columns)
        found.headings = True
        wish.columns = Columns()
    if found.aggregation:
        wish.flags.add("group-by" if found.aggregation == "UNIQUE" else "autocluster")
    if "totals" in wish.flags:
        # As in the reference, where rows stay all the same.
        found.headings, found.summary = False, True
    if wish.print_format_is_default or wish.width == 0 or "totals" in wish.flags:
        # Rows of the usual tables, and all of -wide, end where their text does.
        found.mask.fill_last = False
    return found


def _say_all(
    wish: Wish,
    print_format: PrintFormat | None,
    environment: Mapping[str, str],
    streams: Streams,
    reach: Reach | None,
) -> None:
    from kettle.tools.queue.sources import Answer, ask, is_filled

    answers = ask(wish, environment, projection(wish, print_format), reach)
    if "unmatchable" in wish.flags:
        from kettle.tools.queue.analysis import find_slots
        from kettle.tools.queue.machine_analysis import find_unmatchable

        slots = find_slots(wish, environment)
        answers = (
            Answer(answer.title, find_unmatchable(list(answer.ads), slots), now=answer.now)
            for answer in answers
        )
    found = said = False
    for answer in answers:
        found = True
        streams.stderr.writelines(f"{complaint}\n" for complaint in answer.complaints)
        if "dry-run" in wish.flags:
            answer.ads, answer.runs, answer.summary = [], None, None
        if not wish.skips_empty or is_filled(answer, wish):
            say(wish, print_format, answer, streams)
            said = True
    if not said and wish.form == "xml":
        from kettle.tools.printing.whole_ads import write_ads

        write_ads([], wish.form, streams.stdout)
    if not found and "global" in wish.flags:
        streams.stdout.write(ALL_EMPTY)


def render_question(wish: Wish, attributes: Sequence[str]) -> str:
    """Return what `-dry-run` tells: which jobs would be asked for, and which attributes of them.

    Compat: the reference goes on with a dump of its columns (test_a_dry_run_says_what_is_asked).
    """
    constraint = wish.constraint()
    lines = [
        "",
        "condor_q",
        "",
        "DryRun",
        f"Constraint: {'<null>' if constraint == 'true' else f'( {constraint} )'}",
        f"  Only own jobs: {'true' if wish.mine and not wish.grouped else 'false'}",
        f"Opts: limit={wish.limit if wish.limit > 0 else -1}",
        "Projection:" if attributes else "Projection: <NULL>",
        *(f"  {name}" for name in sorted(attributes, key=str.lower)),
    ]
    return "".join(f"{line}\n" for line in [*lines, ""])


def projection(wish: Wish, print_format: PrintFormat | None) -> list[str]:
    """Return the attributes to ask for; none means all."""
    if wish.form and "unmatchable" not in wish.flags:
        return _names_of_whole(wish, print_format)
    if print_format is not None and "group-by" in wish.flags:
        return sorted(print_format.names())
    if print_format is not None or "unmatchable" in wish.flags:
        # What named ways look at is not known here.
        return []
    if wish.columns and "group-by" in wish.flags:
        return sorted(wish.columns.names())
    if wish.columns:
        return sorted({*wish.columns.names(), "ServerTime"})
    added = sorted(wish.added_columns().names())
    if "autocluster" in wish.flags:
        return [*AUTOCLUSTER_ATTRIBUTES.split(), *added]
    if wish.factories:
        return [*FACTORY_ATTRIBUTES.split(), *added]
    if wish.in_batches:
        return WANTED.split()
    names = dict.fromkeys(TABLE_ATTRIBUTES.split())
    for mode in sorted(wish.modes | wish.flags):
        names.update(dict.fromkeys(MODE_ATTRIBUTES.get(mode, "").split()))
    names.update(dict.fromkeys(added))
    return list(names)


def _names_of_whole(wish: Wish, print_format: PrintFormat | None) -> list[str]:
    """Return the attributes of ads that are shown whole; none means all.

    Columns are not shown then, but the ads have no more than these look at.
    """
    names = print_format.names() if print_format is not None else wish.columns.names()
    if not (wish.columns or print_format is not None):
        return wish.attributes
    return sorted({*wish.attributes, *names, "ClusterId", "ProcId"})


def say(wish: Wish, print_format: PrintFormat | None, answer: Answer, streams: Streams) -> None:
    """Print what one source answered, in the form that is asked for."""
    if "totals" in wish.flags and (wish.job_file or wish.user_log) and (wish.form or wish.columns):
        # A schedd sends its counts instead of jobs.
        answer.ads = [summarize(answer.ads)]
    if "profile" in wish.flags:
        _say_cost(wish, answer, streams)
    elif "verbose" in wish.flags:
        _say_count(wish, answer, streams)
    if wish.capture and not (wish.form or {"stream-results", "totals"} & wish.flags):
        from kettle.tools.queue.raw_results import capture

        answer.ads, answer.runs = capture(answer.ads, wish.capture, streams), None
    if wish.form:
        _say_whole(wish, print_format, answer, streams)
    elif wish.columns:
        _say_columns(wish, answer, streams)
    elif print_format is not None:
        _say_print_format(wish, print_format, answer, streams)
    else:
        _say_table(wish, answer, streams)


def _say_whole(
    wish: Wish, print_format: PrintFormat | None, answer: Answer, streams: Streams
) -> None:
    from kettle.tools.printing.whole_ads import restrict, write_ads

    # Counts and groups are always shown whole.
    whole = {"group-by", "totals"} & set(wish.flags)
    names = [] if whole else _names_of_whole(wish, print_format)
    ads = (restrict(ad, names) for ad in answer.ads)
    write_ads(ads, wish.form, streams.stdout)


def _say_count(wish: Wish, answer: Answer, streams: Streams) -> None:
    """Say how many ads were fetched; of a schedd's, only those that are shown whole count."""
    if wish.job_file or wish.user_log:
        said = f"{len(list(answer.ads))} ads.\n"
    else:
        whole = list(answer.ads) if wish.form else []
        answer.ads = whole or answer.ads
        said = f"{len(whole)} ads"
    streams.stderr.write(f"Fetching job ads... {said}\n")


def _say_cost(wish: Wish, answer: Answer, streams: Streams) -> None:
    """Say what it costs to fetch the ads; totals need none."""
    from kettle.tools.queue.raw_results import Profile

    profile = Profile()
    if "totals" not in wish.flags:
        answer.ads, answer.runs = list(answer.ads), None
    count = 0 if "totals" in wish.flags else len(list(answer.ads))
    streams.stderr.write(profile.render(count))


def _say_columns(wish: Wish, answer: Answer, streams: Streams) -> None:
    columns = wish.columns
    if columns.stand_alone and answer.runs is not None:
        streams.stdout.writelines(columns.render_found(answer.runs))
        return
    ads: Iterable[ClassAd] = answer.ads
    if columns.headings:
        ads = list(ads)
        columns.measure(ads)
        if ads or answer.summary is None:
            streams.stdout.write(columns.render_headings())
    streams.stdout.writelines(map(columns.render, ads))
    if "totals" in wish.flags:
        streams.stdout.write("\n")


def render_title(title: str, now: float) -> str:
    """Return the line over a table, with the empty lines before it."""
    return f"\n\n-- {title} @ {time.strftime('%m/%d/%y %H:%M:%S', time.localtime(now))}\n"


def _now(answer: Answer) -> float:
    if answer.now:
        return answer.now
    from kettle.classad.context import ambient

    return ambient().now()


def _say_print_format(wish: Wish, found: PrintFormat, answer: Answer, streams: Streams) -> None:
    ads = list(answer.ads)
    from_file = bool(wish.job_file or wish.user_log)
    if found.aggregation and from_file:
        ads = found.distinct(ads)
    ads = found.arrange(ads if found.aggregation else sorted(ads, key=job_id))
    parts = [render_title(answer.title, _now(answer))] if found.title else []
    if found.mask.columns:
        found.mask.measure(ads)
        if found.headings:
            parts.append(found.mask.render_headings())
        parts += [found.mask.render(ad) for ad in ads]
    parts.append(_render_summary(wish, found, answer, ads))
    streams.stdout.write("".join(parts))


def _render_summary(wish: Wish, found: PrintFormat, answer: Answer, ads: Sequence[ClassAd]) -> str:
    """Return what stands below the rows of a print-format file."""
    if found.own_summary:
        return found.render_summary(answer.summary or summarize(ads))
    if found.summary and found.aggregation:
        # Groups are no jobs to be counted; lines of the schedd's own counts stay empty.
        return "\n\n" if wish.job_file or wish.user_log else "\n\n\n\n"
    if not found.summary:
        return ""
    alone = "totals" in wish.flags
    return (_render_totals_alone if alone else _render_totals)(wish, answer, ads) + "\n"


def _say_table(wish: Wish, answer: Answer, streams: Streams) -> None:
    ads = sorted(answer.ads, key=job_id)
    parts = [render_title(answer.title, _now(answer))]
    # Added columns are not cut for a terminal's sake.
    most = choose_width(0 if wish.width is None and wish.added else wish.width, streams)
    if "totals" in wish.flags:
        parts += [_render_added_alone(wish, ads, most), _render_totals_alone(wish, answer, ads)]
        parts.append("\n")
    elif wish.factories:
        parts.append(_render_factories(wish, ads, most))
    elif "autocluster" in wish.flags:
        parts.append(_render_autoclusters(wish, answer.ads, most))
    elif "jobset" in wish.flags:
        added = "".join(f" {text}" for _, text in wish.added)
        headings = _JOBSET_HEADINGS + added
        parts.append(f"{headings[: most or None]}\n")
    elif wish.in_batches:
        _complain_of_nodes(wish, ads, streams)
        parts += [_render_batches(wish, ads, most), _render_totals(wish, answer, ads), "\n"]
    else:
        _complain_of_nodes(wish, ads, streams)
        parts.append(_render_rows(wish, ads, most, answer.host))
        if _kind_of_table(wish) not in _NO_TOTALS:
            parts += [_render_totals(wish, answer, ads), "\n"]
    streams.stdout.write("".join(parts))


def _complain_of_nodes(wish: Wish, ads: Iterable[ClassAd], streams: Streams) -> None:
    """Say on stderr that nodes have no name where their names stand for owners."""
    if _kind_of_table(wish) == "dag":
        nameless = sum("DAGManJobId" in ad and node_name(ad) is None for ad in ads)
        streams.stderr.write(_NODE_WITHOUT_NAME * nameless)


def _render_totals(wish: Wish, answer: Answer, ads: Iterable[ClassAd]) -> str:
    """Return what stands under a table; groups of jobs are counted as if each were one."""
    if wish.totals_by_user:
        return "\n" + render_totals(None if wish.grouped else answer.summary, ads)
    return "\n" + count_jobs(ads, with_dags=True).render("") + "\n"


def _render_totals_alone(wish: Wish, answer: Answer, ads: Iterable[ClassAd]) -> str:
    """Return what `-totals` shows, without the empty line that parts it from a table."""
    totals = _render_totals(wish, answer, ads)
    return totals.removeprefix("\n") if wish.totals_by_user else totals


def _render_added_alone(wish: Wish, ads: Sequence[ClassAd], most: int) -> str:
    """Return the rows of `-aaf` above totals alone; they have no headings."""
    if not wish.added:
        return ""
    from kettle.tools.printing.masks import Mask

    mask = Mask([], fill_last=False, most=most)
    return _render_mask(wish, mask, ads).partition("\n")[2]


def _render_factories(wish: Wish, ads: list[ClassAd], most: int) -> str:
    from kettle.tools.queue.tables import factory_table

    return _render_mask(wish, factory_table().changed(most=most), ads)


def _render_autoclusters(wish: Wish, ads: Iterable[ClassAd], most: int) -> str:
    """Return the table of groups of jobs.

    Compat: each job of a file is one, where the reference shows the first of each group and calls
    the others errors (test_each_job_of_a_file_is_a_group).
    """
    from kettle.tools.queue.tables import autocluster_table

    ordered = sorted(ads, key=lambda ad: ad.integer("AutoClusterId") or 0)
    return _render_mask(wish, autocluster_table().changed(most=most), ordered)


def _render_mask(wish: Wish, mask: Mask, ads: Sequence[ClassAd]) -> str:
    """Return heading and rows, with the columns of `-aaf` behind those of the table."""
    if wish.added:
        mask.append(wish.added)
    mask.measure(ads)
    return mask.render_headings() + "".join(mask.render(ad) for ad in ads)


def _render_batches(wish: Wish, ads: list[ClassAd], most: int) -> str:
    batches = find_batches(
        ads, has_all=wish.takes_whole_batches, guess=wish.batch_guess, by_node="dag" in wish.modes
    )
    held = "global" in wish.flags
    return render_batches(batches, most, held=held, none=wish.batch_none)


def _place(ads: Iterable[ClassAd], host: str) -> None:
    """Note where jobs run that run beside the schedd, if its host is known."""
    for ad in ads if host else ():
        if ad.integer("JobUniverse") in BESIDE_THE_SCHEDD:
            ad["RemoteHost"] = host


def _kind_of_table(wish: Wish) -> str:
    """Return which of the modes' tables is shown where there are several; empty for none's."""
    kinds = ("hold-codes", "io", "ec2", "grid", "hold", "dag", "idle", "run")
    return next((mode for mode in kinds if mode in wish.modes), "")


def _render_rows(wish: Wish, ads: list[ClassAd], most: int, host: str) -> str:
    from kettle.tools.queue.tables import TABLES, hold_code_table, lay_out

    if "hold-codes" in wish.modes:
        return _render_mask(wish, *hold_code_table(ads))
    kind = _kind_of_table(wish)
    if not kind and "cputime" in wish.flags:
        kind = "cputime"
    if kind == "dag":
        ads = sort_under_dags(ads)
    _place(ads, host)
    all_runs = "cumulative-time" in wish.flags
    of_cpu = "cputime" in wish.flags
    layout = lay_out(ads, most=most, in_dags=kind == "dag", all_runs=all_runs, of_cpu=of_cpu)
    return _render_mask(wish, TABLES[kind](layout), ads)
