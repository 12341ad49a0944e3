"""The history file: job ads that are finished, each followed by a line that says where it began.

Text and arithmetic only: how a record looks, how to read a file from its end, and which files a
rotation renames and deletes. The schedd writes, `condor_history` and the history query read; both
bring the bytes.

Format: wire notes, history files (R070).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from kettle.classad.text import quote_line, read_old_string
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.structs import Struct

# A line that begins so ends a record; it may say nothing more.
BANNER = "***"
_BANNER_BYTES = BANNER.encode("ascii")
# The kinds of records that the epoch history has of file transfers.
TRANSFERS = frozenset({"INPUT", "OUTPUT", "CHECKPOINT"})
# What HISTORY_CONTAINS_JOB_ENVIRONMENT = false leaves out of a record, in lower case.
ENVIRONMENT = ("env", "environment")

# What rotation puts behind a file's name.
_ROTATED = re.compile(r"\.\d{8}T\d{6}(\.\d+)?$")

# Limit: a record longer than this is skipped by the readers; no ad of ours comes near it.
LONGEST_RECORD_BYTES = 16 * 1024 * 1024

_BLOCK_BYTES = 64 * 1024
# What the first line of a record is, or was to become.
_BEGINNING = late_pattern(r"[A-Za-z_]\w*( =.*)?( |\n|\Z)")
_FIELD = late_pattern(r'(?<!\w)(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|\S+)')


class HistoryRecord(NamedTuple):
    """One ad of a history file: its lines, its banner's type word, its fields and itself.

    `kind` is `JOB` where the banner has no type word. Field names keep their spelling; values are
    the banner's text without quotes.
    """

    lines: tuple[str, ...]
    kind: str
    fields: dict[str, str]
    banner: str = ""


def render_banner(
    *, offset: int, cluster: int, proc: int, owner: str, completed: int, now: int
) -> str:
    """Return the banner line of a job; `completed` is -1 for a job that never finished."""
    return (
        f"*** Offset = {offset} ClusterId = {cluster} ProcId = {proc} "
        f"Owner = {quote_line(owner)} CompletionDate = {completed} CurrentTime = {now}\n"
    )


def render_record(lines: Iterable[str], banner: str) -> bytes:
    """Return the bytes of one record: `Name = expression` lines, then the banner."""
    return "\n".join([*lines, banner]).encode("utf-8", "surrogateescape")


def render_epoch_banner(
    kind: str, *, cluster: int, proc: int, run: int, owner: str, now: int
) -> str:
    """Return the banner line of an epoch record (SPAWN, EPOCH, INPUT, OUTPUT, …)."""
    return (
        f"*** {kind} ClusterId={cluster} ProcId={proc} RunInstanceId={run} "
        f"Owner={quote_line(owner)} CurrentTime={now}\n"
    )


def parse_banner(line: str) -> tuple[str, dict[str, str]]:
    """Return the type word and the fields of a banner line."""
    rest = line[len(BANNER) :].strip()
    word = rest.split(None, 1)[0] if rest else ""
    kind = word if word.isupper() and "=" not in word else "JOB"
    return kind, {name: _read_field(text) for name, text in _FIELD.findall(rest)}


def _read_field(text: str) -> str:
    read = read_old_string(text)
    return text if read is None else read


def choose_kinds(names: Iterable[str], *, of_runs: bool) -> frozenset[str]:
    """Return which records are meant by these words, in any case; empty stands for all of them.

    ALL is every kind, TRANSFER each of file transfers. `of_runs`: of the runs of jobs only the
    records of whole runs are meant unless others are named.
    """
    kinds = {name.upper() for name in names}
    if "ALL" in kinds:
        return frozenset()
    if "TRANSFER" in kinds:
        kinds = (kinds - {"TRANSFER"}) | TRANSFERS
    return frozenset(kinds or ({"EPOCH"} if of_runs else ()))


def read_backwards(read_at: Callable[[int, int], bytes], size: int) -> Iterator[HistoryRecord]:
    """Yield the records of a file of `size` bytes, newest first; `read_at` takes offset, length.

    Whatever follows the last banner is a record that was never finished and is left out, and so is
    one that is longer than any of ours. The `Offset` of the banners is not needed, so a file that
    was cut or joined is readable too.
    """
    buffer = b""
    start = size
    banner: bytes | None = None
    while True:
        at = _last_banner(buffer, at_front=start == 0)
        if at < 0:
            if start == 0:
                break
            if len(buffer) > LONGEST_RECORD_BYTES:
                # The record is skipped; what is kept may be the end of the banner before it.
                buffer, banner = buffer[:_BLOCK_BYTES], None
            length = min(max(_BLOCK_BYTES, len(buffer)), start)
            start -= length
            buffer = read_at(start, length) + buffer
            continue
        line_end = buffer.find(b"\n", at)
        if banner is not None and len(buffer) - line_end <= LONGEST_RECORD_BYTES:
            yield _record(buffer[line_end + 1 :], banner)
        # A banner without its line end is the file's torn tail, like whatever follows the last one.
        banner = buffer[at:line_end] if line_end >= 0 else None
        buffer = buffer[:at]
    if banner is not None and len(buffer) <= LONGEST_RECORD_BYTES:
        yield _record(buffer, banner)


def unfinished_bytes(read_at: Callable[[int, int], bytes], size: int) -> int:
    """Return how many bytes of a file of `size` follow its last whole record.

    None of a file that has no record and does not begin like one: it is no history.
    """
    length = _BLOCK_BYTES
    while True:
        start = max(0, size - length)
        tail = read_at(start, size - start)
        at = len(tail)
        while (at := _last_banner(tail[:at], at_front=start == 0)) >= 0:
            line_end = tail.find(b"\n", at)
            if line_end >= 0:
                return len(tail) - line_end - 1
        if start == 0 or length > LONGEST_RECORD_BYTES:
            begins = _BEGINNING.match(tail[:_BLOCK_BYTES].decode("latin-1"))
            return len(tail) if start == 0 and begins else 0
        length *= 2


def _last_banner(buffer: bytes, *, at_front: bool) -> int:
    cut = buffer.rfind(b"\n***")
    if cut >= 0:
        return cut + 1
    return 0 if at_front and buffer.startswith(b"***") else -1


def read_forwards(data: bytes | Iterable[bytes]) -> Iterator[HistoryRecord]:
    """Yield the records of a file, whole or piece by piece, oldest first.

    An unfinished last one is left out, and so is one that is longer than any of ours.
    """
    lines: list[str] = []
    # What has come of the line that has not ended, and the bytes of the record so far.
    begun: list[bytes] = []
    size = 0
    for piece in (data,) if isinstance(data, bytes) else data:
        complete = piece.split(b"\n")
        last = complete.pop()
        if complete:
            complete[0] = b"".join([*begun, complete[0]])
            begun = []
        for raw in complete:
            size += len(raw)
            if raw.startswith(_BANNER_BYTES):
                if size <= LONGEST_RECORD_BYTES:
                    line = raw.decode("utf-8", "surrogateescape")
                    kind, fields = parse_banner(line)
                    yield HistoryRecord(tuple(lines), kind, fields, line)
                lines, size = [], 0
            elif size > LONGEST_RECORD_BYTES:
                lines = []
            elif raw:
                lines.append(raw.decode("utf-8", "surrogateescape"))
        begun.append(last)
        if size + sum(map(len, begun)) > LONGEST_RECORD_BYTES:
            # Of such a line it only counts whether it is a banner.
            begun = [b"".join(begun)[: len(_BANNER_BYTES)]]
            lines, size = [], LONGEST_RECORD_BYTES + 1


def _record(body: bytes, banner: bytes) -> HistoryRecord:
    line = banner.decode("utf-8", "surrogateescape")
    kind, fields = parse_banner(line)
    text = body.decode("utf-8", "surrogateescape")
    return HistoryRecord(tuple(each for each in text.split("\n") if each), kind, fields, line)


class RotationRules(Struct):
    """When a history file is rotated, and how many old ones stay: the MAX_HISTORY_… knobs.

    `most_bytes` 0 means never by size; `daily` and `monthly` rotate when a day or month, of local
    time, is over.
    """

    most_bytes: int = 0
    rotations: int = 2
    daily: bool = False
    monthly: bool = False

    def is_period_over(self, last: tuple[int, int, int], now: tuple[int, int, int]) -> bool:
        """Tell whether a file written to on one day (year, month, day) is rotated on another."""
        return (self.daily and last != now) or (self.monthly and last[:2] != now[:2])


class Rotation(Struct):
    """What a rotation does: the name the full file gets, and which old ones are deleted."""

    rename_to: str
    delete: tuple[str, ...]


def plan_rotation(
    name: str,
    existing: Iterable[str],
    *,
    size_bytes: int,
    adding_bytes: int,
    most_bytes: int,
    rotations: int,
    stamp: str,
    period_over: bool = False,
) -> Rotation | None:
    """Choose whether the file `name` is rotated before `adding_bytes` more are written.

    `existing` are the file names in the folder, `stamp` is local time as `YYYYMMDDTHHMMSS`,
    `rotations` how many old files are kept (MAX_HISTORY_ROTATIONS), `most_bytes` is
    MAX_HISTORY_LOG (0 or less: never by size). `period_over` is a day's or month's end
    (ROTATE_HISTORY_DAILY, ROTATE_HISTORY_MONTHLY). Returns None if nothing is to be done.
    """
    too_big = most_bytes > 0 and size_bytes + adding_bytes > most_bytes
    if size_bytes == 0 or not (too_big or period_over):
        return None
    old = rotated_files(name, existing)
    target = f"{name}.{stamp}"
    counter = 1
    while target in old:
        # Two rotations within one second: a suffix keeps both, and the order of names.
        target = f"{name}.{stamp}.{counter}"
        counter += 1
    keep = max(rotations, 1) - 1
    delete = old[: len(old) - keep] if keep < len(old) else []
    return Rotation(target, tuple(delete))


def spare_name(path: str, is_taken: Callable[[str], object]) -> str:
    """Return a free name for a history file of this path, under which readers would find it, too.

    Its time is later than any: what is under that name was written last.
    """
    base = _ROTATED.sub("", path) + ".99991231T235959"
    counter, spare = 0, base
    while is_taken(spare):
        counter += 1
        spare = f"{base}.{counter}"
    return spare


def rotated_files(name: str, existing: Iterable[str]) -> list[str]:
    """Return the rotated files of `name` among `existing`, oldest first."""
    shape = re.compile(re.escape(name) + _ROTATED.pattern)
    return sorted(each for each in existing if shape.match(each))
