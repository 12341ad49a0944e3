"""QUERY_SCHEDD_HISTORY, GET_HISTORY: which finished jobs are shown, and in which messages.

Pure: a query ad and records from the files become ads. `runtime/storage/record_files.py` brings the
records and sends. Source: wire notes, QUERY_SCHEDD_HISTORY (R070).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, parse_expression, parse_old_ad
from kettle.classad.nodes import Literal
from kettle.errors import ClassAdSyntaxError, RefusedError
from kettle.patterns import late_pattern
from kettle.records.history import HistoryRecord, choose_kinds
from kettle.records.job_clauses import Alternative, read_alternatives
from kettle.wire.codec import Writer, expand_projection, split_names
from kettle.wire.messages.queue_queries import HistoryErrorCode

_JOB = late_pattern(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What a client wants to see of the past.

    `source` is HistoryRecordSource in capitals, empty for the jobs' own history, `subsystem` whose
    history is meant where that is DAEMON. `kinds` are the banner types wanted, empty for all.
    `limit` and `scan_limit` are -1 for no limit.
    """

    constraint: Expr | None
    since: Expr | None
    projection: tuple[str, ...] | None
    limit: int
    scan_limit: int
    streamed: bool
    forwards: bool
    source: str
    kinds: frozenset[str]
    subsystem: str = ""


@dataclass(slots=True)
class Progress:
    """How far an answer has come."""

    sent: int = 0
    scanned: int = 0
    malformed: int = 0
    finished: bool = field(default=False)


def parse(ad: ClassAd) -> HistoryQuery:
    """Read a query ad; RefusedError with a HistoryErrorCode."""
    limit, scan_limit = ad.integer("NumJobMatches"), ad.integer("ScanLimit")
    source = (ad.string("HistoryRecordSource") or "").upper()
    kinds = split_names(ad.string("HistoryAdTypeFilter") or "")
    return HistoryQuery(
        constraint=_expression(ad, "Requirements"),
        since=_since(ad),
        projection=_projection(ad),
        limit=limit if limit is not None and limit > 0 else -1,
        scan_limit=scan_limit if scan_limit is not None and scan_limit > 0 else -1,
        streamed=bool(ad.boolean("StreamResults")),
        forwards=bool(ad.boolean("HistoryReadForwards")),
        source=source,
        kinds=choose_kinds(kinds, of_runs=source == "JOB_EPOCH"),
        subsystem=(ad.string("DaemonHistorySubsys") or "").upper(),
    )


def alternatives(query: HistoryQuery, names: AbstractSet[str]) -> list[Alternative] | None:
    """Return what may be looked up instead of reading every record; None if all must be read.

    A search that ends somewhere has to come past what it ends at.
    """
    if query.constraint is None or query.since is not None or query.scan_limit >= 0:
        return None
    return read_alternatives(query.constraint, names)


def _expression(ad: ClassAd, name: str) -> Expr | None:
    return ad.lookup(name)


def _since(ad: ClassAd) -> Expr | None:
    """Return the expression that ends the search; a job id stands for that job."""
    text = ad.string("Since")
    if text is None:
        # The wheel asks for the job 4.1 by the number 4.1.
        text = (ad.text("Since") or "").strip()
        if not _JOB.fullmatch(text):
            ends = _expression(ad, "Since")
            if isinstance(ends, Literal):
                # What is true of any record, or of none, ends no search.
                raise RefusedError(
                    f"invalid Since constraint: {text[:80]}", code=HistoryErrorCode.ARGUMENTS
                )
            return ends
    cluster, dot, proc = text.partition(".")
    if cluster.isdecimal() and (proc.isdecimal() or not dot):
        text = f"ClusterId == {cluster}" + (f" && ProcId == {proc}" if dot else "")
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        raise RefusedError(
            f"Since does not parse: {error}", code=HistoryErrorCode.ARGUMENTS
        ) from error


def _projection(ad: ClassAd) -> tuple[str, ...] | None:
    if "Projection" not in ad:
        return None
    value = ad.evaluate("Projection")
    if isinstance(value, str):
        return tuple(split_names(value)) or None
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(str(name) for name in value) or None
    raise RefusedError(
        "Projection is neither a string nor a list", code=HistoryErrorCode.PROJECTION
    )


def parts(
    records: Iterable[HistoryRecord], query: HistoryQuery, encrypted: bool
) -> Iterator[tuple[bytes, bool]]:
    """Yield an answer: bodies composed for a connection, each with whether its message ends there.

    Streamed, each ad is a message; else all are one. An empty part means that none is found yet.
    """
    progress = Progress()
    if query.streamed:
        yield Writer(encrypted).ad(first_ad()).getvalue(), True
    for ad in select(records, query, progress):
        if ad is None:
            yield b"", False
            continue
        # As everywhere, what is wanted brings along what it refers to.
        wanted = expand_projection(ad, query.projection) if query.projection else None
        yield Writer(encrypted).ad(ad, projection=wanted).getvalue(), query.streamed
    yield Writer(encrypted).ad(last_ad(progress)).getvalue(), True


def select(
    records: Iterable[HistoryRecord], query: HistoryQuery, progress: Progress
) -> Iterator[ClassAd | None]:
    """Yield the ads that a query means, counting in `progress`; None now and then between them."""
    for record in records:
        # What the one before cost is a stranger's to say.
        yield None
        if query.limit == progress.sent or query.scan_limit == progress.scanned:
            break
        if query.kinds and record.kind not in query.kinds:
            continue
        progress.scanned += 1
        try:
            ad = parse_old_ad(record.lines, check=False)
        except ClassAdSyntaxError:
            progress.malformed += 1
            continue
        if query.since is not None and ad.satisfies(query.since):
            break
        if query.constraint is None or ad.satisfies(query.constraint):
            progress.sent += 1
            yield ad
    progress.finished = True


def first_ad() -> ClassAd:
    """Return what a streamed answer begins with."""
    return ClassAd({"Owner": 1, "StreamResults": True})


def last_ad(progress: Progress) -> ClassAd:
    """Return what an answer ends with; the client compares the count."""
    return ClassAd(
        {
            "Owner": 0,
            "NumJobMatches": progress.sent,
            "MalformedAds": progress.malformed,
            "AdCount": progress.scanned,
        }
    )


def failure(code: int, message: str) -> ClassAd:
    """Return the last ad of a query that could not be answered."""
    return ClassAd({"Owner": 0, "ErrorString": message, "ErrorCode": code})
