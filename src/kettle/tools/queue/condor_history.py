"""`condor_history`: show jobs that are no longer in the queue.

Here: records are chosen and printed as they come. What a command line means is in
`history_wish.py`, where records come from in `history_sources.py`, columns in `tables.py`. Output
is the reference's (tests/conformance/test_tool_output.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from kettle.classad import ClassAd, parse_old_ad
from kettle.errors import ClassAdSyntaxError, StorageError, UsageError
from kettle.records.history import HistoryRecord, choose_kinds
from kettle.structs import Struct
from kettle.tools.options import run_tool
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.printing.whole_ads import open_ads, restrict
from kettle.tools.programs import Streams
from kettle.tools.queue.command_line import explain
from kettle.tools.queue.history_sources import find_sources
from kettle.tools.queue.history_wish import UsageAskedError, Wish, read_wish
from kettle.tools.queue.wish import choose_width

if TYPE_CHECKING:
    from kettle.tools.printing.print_format import PrintFormat

# The reference's words.
_DAMAGED = "\t*** Warning: Bad history file; skipping malformed ad(s)\n"
USAGE = """\
Usage: condor_history [SOURCE] [CLUSTER | CLUSTER.PROC | OWNER]… [OPTIONS]

WHERE FROM
  -file FILE           this history file
  -search FILE         this one and the rotated ones beside it
  -directory           with -epochs: the files job.runs.*.ads of JOB_EPOCH_HISTORY_DIR, or of
                       the folder of -search FOLDER
  -local               the configured files (as without any of these)
  -startd              the history of this machine's slots
  -epochs[:d]          one record for each run of a job; with d and -directory what was read
                       is deleted
  -transfer-history[:ioc]
                       records of file transfers (input, output, checkpoint)
  -type KIND[,KIND]…   records of these kinds (EPOCH, SPAWN, TRANSFER, …, ALL)
  -daemon[:SUBSYS]     what a daemon recorded of itself; the schedd's by default
  -userlog FILE        an event log
  -name SCHEDD, -pool HOST
                       ask this schedd, or with -startd this startd

WHICH JOBS
  CLUSTER, CLUSTER.PROC, OWNER
                       these
  -constraint EXPR     those for which EXPR is true
  -since JOB | EXPR    stop at this job, or where EXPR is true
  -completedsince T    stop at jobs completed at T or before
  -scanlimit N         look at N records at most
  -limit N, -match N   show N at most
  -backwards, -forwards
                       newest first, oldest first

HOW SHOWN
  -long, -xml, -json, -jsonl
                       whole ads
  -attributes LIST     only these attributes of them
  -af[:jlhVr,tng] ATTR…
                       these attributes, a row for each job
  -format FORMAT ATTR  an attribute through a printf format
  -print-format FILE   the columns that FILE describes
  -wide[:N]            rows as long as they are, or N
  -extract FILE        copy the records into FILE

  -help, -version      say this, or the version, and end
"""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_history`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=lambda error: _complain(error, streams),
    )


def _complain(error: UsageError, streams: Streams) -> str:
    if isinstance(error, UsageAskedError):
        streams.stdout.write(USAGE)
    return explain(error, USAGE, streams, "Error: Unknown argument")


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print the records that are meant."""
    printer = make_printer(wish, streams)
    try:
        chosen = AdFilter(wish.constraint())
    except ClassAdSyntaxError as error:
        what = wish.constraint()
        raise UsageError(f"Error:  could not parse constraint ( {what} )") from error
    extract = Extract(wish.extract, forwards=wish.forwards) if wish.extract else None
    sources = find_sources(wish, environment, printer.begin, chosen.expression)
    printer.run(choose_records(wish, chosen, sources, streams.stderr, extract))
    if extract is not None:
        extract.finish(streams.stdout)
    return 0


# ---------------------------------------------------------------------------------------------
# Which of them are shown


def choose_records(
    wish: Wish,
    chosen: AdFilter,
    records: Iterable[ClassAd | HistoryRecord],
    complaints: TextIO,
    extract: Extract | None = None,
) -> Iterator[ClassAd]:
    """Yield the ads that are meant, until the limits are reached; what is no ad costs itself only.

    Compat: the reference says so for each of them and among the records, of which no JSON can be
    read then (test_a_damaged_record_hides_no_other_one).

    Compat: with -forwards the reference shows records of every kind, whatever -type and -epochs
    say, and an unfinished last one; and where an owner is named beside a job it stops at that job
    (test_forwards_shows_the_same_records_the_other_way_round).
    """
    since = AdFilter(wish.since) if wish.since else None
    kinds = choose_kinds(wish.kinds, of_runs=wish.source == "JOB_EPOCH")
    shown = scanned = 0
    damaged = False
    for record in records:
        banner = ""
        if isinstance(record, HistoryRecord):
            if kinds and record.kind not in kinds:
                continue
            if not _may_be_meant(wish, record.fields):
                continue
            try:
                ad, banner = parse_old_ad(record.lines), record.banner
            except ClassAdSyntaxError:
                if not damaged:
                    complaints.write(_DAMAGED)
                damaged = True
                continue
        else:
            ad = record
        if since is not None and since(ad):
            return
        scanned += 1
        if chosen(ad):
            shown += 1
            if extract is not None:
                extract.take(ad, banner)
            yield ad
        if shown == wish.limit or scanned == wish.scan_limit:
            return


def _may_be_meant(wish: Wish, banner: Mapping[str, str]) -> bool:
    """Tell by a record's banner whether it may be of the jobs and owners that are named.

    What the banner rules out does not count as scanned, as in the reference.
    """
    if not (wish.ids or wish.owners) or not {"ClusterId", "ProcId", "Owner"} <= banner.keys():
        return True
    cluster = banner["ClusterId"]
    return (
        cluster in wish.ids
        or f"{cluster}.{banner['ProcId']}" in wish.ids
        or banner["Owner"].lower() in {owner.lower() for owner in wish.owners}
    )


class Extract:
    """The file of `-extract`: the records that are shown, the oldest first, with their banners."""

    def __init__(self, path: str, *, forwards: bool) -> None:
        self._path, self._forwards = path, forwards
        self._copies: list[str] = []
        try:
            self._file = open(path, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        except OSError as error:
            # The reference's words, its slip included.
            raise StorageError(
                f"Error: Failed ot open extraction file {path} ({error.errno}): {error.strerror}"
            ) from None

    def take(self, ad: ClassAd, banner: str) -> None:
        """Copy a record."""
        # By name, capitals first: another order than that of -long.
        lines = sorted(ad.lines(), key=lambda line: line.partition(" ")[0])
        self._copies.append("\n".join([*lines, banner, ""]))

    def finish(self, out: TextIO) -> None:
        """Write the file; it is said how many records where they were read backwards."""
        if not self._forwards:
            out.write(f"\nWriting {len(self._copies)} matched ads to {self._path}...\n")
            self._copies.reverse()
        with self._file as file:
            file.writelines(self._copies)


# ---------------------------------------------------------------------------------------------
# How they are printed


_USUAL_WIDTH = 79


class Printer(Struct):
    """Prints ads one by one; `begin` prints what stands before the first, once."""

    wish: Wish
    streams: Streams
    print_format: PrintFormat | None
    begun: bool = False
    row: Callable[[ClassAd], str] = str

    def begin(self) -> None:
        """Print headings, if that has not been done."""
        if self.begun:
            return
        self.begun = True
        wish, out = self.wish, self.streams.stdout
        if wish.form:
            return
        elif self.print_format is not None:
            # Compat: also where the file wants none (test_tables_recordings).
            if self.print_format.mask.columns:
                out.write(self.print_format.mask.render_headings())
            self.row = self.print_format.mask.render
        elif wish.columns:
            if wish.columns.headings:
                out.write(wish.columns.render_headings())
            self.row = wish.columns.render
        else:
            from kettle.tools.queue.tables import Layout, history_table, schedd_history_table

            table = schedd_history_table if wish.subsystem else history_table
            # What -wide says is meant to the character here, unlike condor_q's.
            width = wish.width or choose_width(wish.width, self.streams)
            mask = table(Layout(most=width))
            out.write(mask.render_headings())
            self.row = mask.render

    def _names_of_whole(self) -> Sequence[str]:
        """Return the attributes of records that are shown whole; none means all.

        Columns are not shown then: as in the reference those of -af and of a file say what is.
        """
        wish = self.wish
        names = self.print_format.own_names() if self.print_format is not None else set()
        names |= wish.automatic.names()
        return [*wish.attributes, *sorted(names)]

    def run(self, ads: Iterator[ClassAd]) -> None:
        """Print everything."""
        out = self.streams.stdout
        self.begin()
        if self.wish.form:
            names = self._names_of_whole()
            # Compat: -long alone has them spelled as they were asked for (test_history_recordings).
            respell = self.wish.form == "long"
            with open_ads(self.wish.form, out) as write:
                for ad in ads:
                    write(restrict(ad, names, respell=respell))
            return
        for ad in ads:
            out.write(self.row(ad))


def make_printer(wish: Wish, streams: Streams) -> Printer:
    """Return the printer for a command line; UsageError for a print-format file that is none."""
    if not wish.print_format:
        return Printer(wish, streams, None)
    from kettle.tools.printing.print_format import read_print_format
    from kettle.tools.queue import job_ways as jobs
    from kettle.tools.status import machine_ways as slots

    found = read_print_format(
        wish.print_format,
        {**slots.WAYS, **jobs.WAYS},
        refusal="cannot execute print-format file",
        no_aggregation="UNIQUE aggregation is not supported.",
    )
    streams.stderr.writelines(found.complain(at_terminal=streams.stderr.isatty()))
    if found.constraint:
        # Compat: the reference refuses every file with a condition that parses; here it counts, as
        # for condor_q (test_a_condition_of_a_print_format_chooses_records).
        wish.constraints.append(found.constraint)
    if wish.columns and not wish.form:
        found.take_columns(wish.columns)
    if wish.width != 0:
        # Also where the output is no terminal (tests/data/cli/print_formats.json).
        found.mask.most = choose_width(wish.width, streams) or _USUAL_WIDTH
    return Printer(wish, streams, found)
