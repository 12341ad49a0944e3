"""Where the records of `condor_history` come from: history files, an event log or a daemon.

How records lie in a file is in `records/history.py`; which of them are shown, and how, in
`condor_history.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, NotFoundError, StorageError, UsageError
from kettle.records.history import HistoryRecord, read_backwards, read_forwards, rotated_files
from kettle.runtime.storage.texts import LARGEST_ADS, read_bytes
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.queue.history_wish import Wish

if TYPE_CHECKING:
    from kettle.classad import Expr
    from kettle.records.job_clauses import Alternative

# A job's runs, as JOB_EPOCH_HISTORY_DIR has them.
_RUN_FILE = re.compile(r"job\.runs\.(\d{1,12})\.(\d{1,12})\.ads")


def find_sources(
    wish: Wish,
    environment: Mapping[str, str],
    begin: Callable[[], None],
    chosen: Expr | None = None,
) -> Iterator[ClassAd | HistoryRecord]:
    """Yield records, or ads where there is no more than ads, in the order of the command line.

    `begin` is called before what may fail late is read, so that headings stand above it.
    """
    if wish.is_remote:
        begin()
        yield from _ask_daemon(wish, environment)
    elif wish.user_log:
        begin()
        yield from _read_user_log(wish.user_log, wish.since)
    elif wish.of_folder and not wish.file:
        begin()
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

    path = _newest(files)
    index = HistoryIndex(str(path), wanted)
    try:
        for path in files:
            yield from index.records(str(path), forwards=wish.forwards)
    except OSError as error:
        # An error of reading, after the file was opened, does not know its name.
        raise StorageError(
            f"Error opening history file {error.filename or path}: {error.strerror or error}"
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
        if path.is_fifo():
            # Compat: what a pipe hands over, all of it; the reference shows no record of one
            # (test_the_records_of_a_pipe_are_shown_newest_first).
            data = read_bytes(path, limit=LARGEST_ADS)
            yield from read_backwards(
                lambda offset, length: data[offset : offset + length], len(data)
            )
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
        raise StorageError(
            f"Error opening history file {path}: {error.strerror or error}"
        ) from None


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
