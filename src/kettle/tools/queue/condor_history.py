"""`condor_history`: show jobs that are no longer in the queue.

Here: the records come from history files (newest first), an event log or a schedd, are chosen and
printed as they come. What a command line means is in `history_wish.py`, how records lie in a file
in `records/history.py`, columns in `tables.py`. Output is the reference's
(tests/conformance/test_tool_output.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from kettle.classad import ClassAd, parse_old_ad
from kettle.errors import ClassAdSyntaxError, KettleError, NotFoundError, StorageError, UsageError
from kettle.records.history import (
    HistoryRecord,
    choose_kinds,
    read_backwards,
    read_forwards,
    rotated_files,
)
from kettle.runtime.storage.texts import LARGEST_ADS, read_bytes
from kettle.structs import Struct
from kettle.tools.options import run_tool
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.printing.whole_ads import open_ads, restrict
from kettle.tools.programs import Streams
from kettle.tools.queue.command_line import explain
from kettle.tools.queue.history_wish import UsageAskedError, Wish, read_wish
from kettle.tools.queue.wish import choose_width

if TYPE_CHECKING:
    from kettle.classad import Expr
    from kettle.records.job_clauses import Alternative
    from kettle.tools.printing.print_format import PrintFormat

# A job's runs, as JOB_EPOCH_HISTORY_DIR has them.
# The reference's words.
_DAMAGED = "\t*** Warning: Bad history file; skipping malformed ad(s)\n"
_RUN_FILE = re.compile(r"job\.runs\.(\d{1,12})\.(\d{1,12})\.ads")
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
    sources = find_sources(wish, environment, printer, chosen.expression)
    printer.run(choose_records(wish, chosen, sources, streams.stderr, extract))
    if extract is not None:
        extract.finish(streams.stdout)
    return 0


# ---------------------------------------------------------------------------------------------
# Where records come from


def find_sources(
    wish: Wish, environment: Mapping[str, str], printer: Printer, chosen: Expr | None = None
) -> Iterator[ClassAd | HistoryRecord]:
    """Yield records, or ads where there is no more than ads, in the order of the command line."""
    if wish.is_remote:
        printer.begin()
        yield from _ask_daemon(wish, environment)
    elif wish.user_log:
        printer.begin()
        yield from _read_user_log(wish.user_log, wish.since)
    elif wish.of_folder and not wish.file:
        printer.begin()
        for path in find_run_files(wish, environment):
            yield from read_run_file(path, wish)
    else:
        files, must_exist = _files_meant(wish, environment)
        wanted = _look_up(wish, files, chosen)
        if wanted is not None:
            yield from _find_in_index(wish, files, wanted)
            return
        for path in files:
            yield from read_file(path, forwards=wish.forwards, must_exist=must_exist)


def _files_meant(wish: Wish, environment: Mapping[str, str]) -> tuple[list[Path], bool]:
    """Return the files in the order in which they are read, and whether they have to be there."""
    if wish.file:
        return [Path(wish.file)], True
    newest = Path(wish.search) if wish.search else _configured_file(wish, environment)
    files = _with_rotated(newest)
    return files if wish.forwards else files[::-1], False


def find_run_files(wish: Wish, environment: Mapping[str, str]) -> list[Path]:
    """Return the files of a folder with a file for each job, one record for each of its runs.

    Only `-epochs` has such files; of another history there is none in a folder, as in the
    reference. Raises NotFoundError if no folder is named, and UsageError for a wish to delete what
    is not all read.
    """
    if wish.deletes:
        _check_deletion(wish)
    name = wish.search
    if not name and wish.source == "JOB_EPOCH":
        from kettle.tools.reach import Reach

        name = Reach(environment).config.get("JOB_EPOCH_HISTORY_DIR") or ""
    if not name:
        raise NotFoundError("Error: No search directory found for locating history files.")
    folder = Path(name)
    if not folder.is_dir():
        raise NotFoundError(f"Error: {name} is not a valid directory.")
    if wish.source != "JOB_EPOCH":
        return []
    found = []
    for path in folder.iterdir():
        matched = _RUN_FILE.fullmatch(path.name)
        if matched is not None and _is_meant(wish, matched[1], matched[2]):
            found.append((int(matched[1]), int(matched[2]), path))
    # Compat: by number; the reference takes them as the folder lists them (test_condor_history).
    found.sort(reverse=not wish.forwards)
    return [path for _, _, path in found]


def _is_meant(wish: Wish, cluster: str, proc: str) -> bool:
    """Whether the job of a file is one that was named, if any was."""
    return not wish.ids or cluster in wish.ids or f"{cluster}.{proc}" in wish.ids


def _check_deletion(wish: Wish) -> None:
    """Raise UsageError where `-epochs:d` would delete records that nobody reads.

    Compat: the reference deletes those that a constraint leaves out;
    test_run_files_are_deleted_only_when_all_of_them_is_read.
    """
    others = {
        "-scanlimit": wish.scan_limit >= 0,
        "-limit or -match": wish.limit >= 0,
        "-constraint, -since or an owner": bool(wish.constraints or wish.since or wish.owners),
    }
    for words, said in others.items():
        if said:
            raise UsageError(f"Error: -epoch:d (delete) cannot be used with {words}.")


def read_run_file(path: Path, wish: Wish) -> Iterator[HistoryRecord]:
    """Yield the records of one job's runs; with `-epochs:d` the file is taken away.

    It gets another name first, so that a run that ends meanwhile begins a new one.
    """
    if not wish.deletes:
        yield from read_file(path, forwards=wish.forwards, must_exist=False)
        return
    taken = path.with_name(f"READING.{path.name}")
    try:
        path.rename(taken)
        yield from read_file(taken, forwards=wish.forwards, must_exist=False)
        taken.unlink()
    except OSError as error:
        raise StorageError(f"Error: Can't delete epoch ad file {path}: {error.strerror}") from None


def _look_up(wish: Wish, files: Sequence[Path], chosen: Expr | None) -> list[Alternative] | None:
    """Return what an index may be asked for; None where the files have to be read.

    A search that ends somewhere has to come past what it ends at.
    """
    if chosen is None or wish.since or wish.scan_limit > 0:
        return None
    if wish.file and not files[0].exists():
        return None
    from kettle.runtime.storage.history_index import INDEXED, index_path

    if not Path(index_path(str(_newest(files)))).exists():
        return None
    from kettle.records.job_clauses import read_alternatives

    return read_alternatives(chosen, INDEXED)


def _newest(files: Sequence[Path]) -> Path:
    """Return the file that records are appended to, whose name the others' begin with."""
    return min(files, key=lambda path: len(path.name))


def _find_in_index(
    wish: Wish, files: Sequence[Path], wanted: list[Alternative]
) -> Iterator[HistoryRecord]:
    from kettle.runtime.storage.history_index import HistoryIndex

    index = HistoryIndex(str(_newest(files)), wanted)
    try:
        for path in files:
            yield from index.records(str(path), forwards=wish.forwards)
    except OSError as error:
        raise StorageError(
            f"Error opening history file {error.filename}: {error.strerror}"
        ) from None
    finally:
        index.close()


def _configured_file(wish: Wish, environment: Mapping[str, str]) -> Path:
    from kettle.tools.reach import Reach

    path = Reach(environment).config.get(wish.knob)
    if not path and wish.subsystem:
        raise NotFoundError(f"Error: No daemon history to read: {wish.knob} undefined")
    if not path:
        raise NotFoundError(f"Error: {wish.knob} is not configured, so there is no such history")
    return Path(path)


def _with_rotated(path: Path) -> list[Path]:
    """Return rotated files and the file itself, oldest first."""
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        names = []
    return [*(path.parent / name for name in rotated_files(path.name, names)), path]


def read_file(path: Path, *, forwards: bool, must_exist: bool) -> Iterator[HistoryRecord]:
    """Yield the records of a file; a configured file that is not there yet has none."""
    try:
        if forwards:
            yield from read_forwards(read_bytes(path, limit=LARGEST_ADS))
            return
        with path.open("rb") as file:
            size = file.seek(0, 2)

            def read_at(offset: int, length: int) -> bytes:
                file.seek(offset)
                return file.read(length)

            yield from read_backwards(read_at, size)
    except FileNotFoundError:
        if must_exist:
            raise StorageError(
                f"Error opening history file {path}: No such file or directory"
            ) from None
    except OSError as error:
        raise StorageError(f"Error opening history file {path}: {error.strerror}") from None


def _read_user_log(path: str, since: str) -> Iterator[ClassAd]:
    """Yield the ads of an event log's jobs, oldest first: of those behind the last of `since`.

    Compat: -limit, -scanlimit and -since hold here, too; the reference shows all jobs whatever
    they say (test_limits_hold_for_a_user_log).
    """
    from kettle.tools.queue.log_ads import read_log_file

    try:
        ads = list(read_log_file(path))
    except OSError:
        raise NotFoundError(f"Error: Can't open userlog {path}") from None
    if since:
        ends = AdFilter(since)
        ads = ads[max((n for n, ad in enumerate(ads, 1) if ends(ad)), default=0) :]
    yield from ads


def _ask_daemon(wish: Wish, environment: Mapping[str, str]) -> Iterator[ClassAd]:
    from kettle.client.jobs import query_history
    from kettle.client.pool import SCHEDD, STARTD
    from kettle.tools.reach import Reach
    from kettle.wire.commands import Command

    reach = Reach(environment, **wish.reach)
    startd = wish.source == "STARTD"
    command = Command.GET_HISTORY if startd else Command.QUERY_SCHEDD_HISTORY
    try:
        found = reach.locate(STARTD if startd else SCHEDD)
    except KettleError:
        name, pool = wish.reach.get("name", ""), wish.reach.get("pool", "")
        title = "startd" if startd else "schedd"
        raise NotFoundError(
            f"Unable to locate remote {title} (name={name}, pool={pool})."
        ) from None
    query = ClassAd({"NumJobMatches": wish.limit})
    query.insert_text("Requirements", wish.constraint())
    if wish.attributes:
        query["Projection"] = ",".join(wish.attributes)
    if wish.since:
        query.insert_text("Since", wish.since)
    if wish.scan_limit > 0:
        query["ScanLimit"] = wish.scan_limit
    if wish.forwards:
        query["HistoryReadForwards"] = True
    if wish.source:
        query["HistoryRecordSource"] = wish.source
    if wish.subsystem:
        query["DaemonHistorySubsys"] = wish.subsystem
    if wish.kinds:
        query["HistoryAdTypeFilter"] = ",".join(wish.kinds)
    yield from query_history(reach.connector, found.address, query, command=command)


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
        elif wish.columns:
            if wish.columns.headings:
                out.write(wish.columns.render_headings())
            self.row = wish.columns.render
        elif self.print_format is not None:
            # Compat: also where the file wants none (test_tables_recordings).
            if self.print_format.mask.columns:
                out.write(self.print_format.mask.render_headings())
            self.row = self.print_format.mask.render
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
    if wish.width != 0:
        # Also where the output is no terminal (tests/data/cli/print_formats.json).
        found.mask.most = choose_width(wish.width, streams) or _USUAL_WIDTH
    return Printer(wish, streams, found)
