"""The two halves of a file transfer, as dialogs over one connection.

`upload` sends what `plan.py` chose, `download` receives and places it. The same pair serves the
starter, the shadow, the schedd's spool and the tools; who connects, sends the transfer key and
how bytes reach a disk is the caller's. Order on the wire (reference §6.2, §6.3):

    U: final?, {SandboxSize}                         what comes
    U: command; name                                 for each item, and after the first name:
        U: alive;  D: {Result 2};  D: alive;  U: {Result 2}          the go-ahead
    U: mode; size; body          (files)     U: mode (directories)     U: url (URLs)
    U: 0;  U: ack;  D: ack

A file that cannot be read or written does not end the dialog: the rest still travels and the acks
carry the first failure. What breaks the connection is raised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.transfer.items import (
    Item,
    ReportUrl,
    SendDirectory,
    SendFile,
    SendUrl,
    SourceFile,
    Storage,
    TargetFile,
)
from kettle.transfer.plan import MAX_ITEMS
from kettle.wire.codec import Reader
from kettle.wire.dialog import (
    Dialog,
    Do,
    IsEncrypted,
    Receive,
    ReceiveRaw,
    Send,
    SendRaw,
    Words,
)
from kettle.wire.messages.filetransfer import (
    CHUNK,
    EMPTY_FILE_MARK,
    MISSING_FILE_MODE,
    GoAheadResult,
    TransferCommand,
    TransferSubCommand,
)

ALIVE_SECONDS = 300
# Limit: a plug-in may work this long on the other side before its ack (the reference's own bound).
ACK_SECONDS = 72_000.0
# Limit: names and URLs longer than this come from no file system.
MAX_NAME = 16_384
# What the reference counts for making a directory.
DIRECTORY_BYTES = 4


class AckResult(IntEnum):
    """`Result` of a final ack."""

    SUCCESS = 0
    TRY_AGAIN = 1
    HOLD = -1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a transfer did not work: hold code and subcode (an errno), and a sentence."""

    reason: str
    code: int
    subcode: int = 0
    try_again: bool = False


@dataclass(frozen=True, slots=True)
class UrlResult:
    """How a plug-in fared with one URL: `error` is empty if it worked."""

    url: str
    path: str
    size: int = 0
    error: str = ""
    exit_code: int = 0


@dataclass(slots=True)
class Outcome:
    """What a transfer did. `failure` is None if it worked, on both sides."""

    failure: Failure | None = None
    bytes: int = 0
    files: int = 0
    # The last part of the reason, without who told whom; for hold reasons.
    detail: str = ""
    # Whether the side that failed was the sending one.
    sender_failed: bool = False
    final: bool = False
    # Names received, for SpooledOutputFiles and for tests.
    names: list[str] = field(default_factory=list)
    urls: dict[str, int] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Whether everything arrived."""
        return self.failure is None

    def stats(self) -> ClassAd:
        """Return TransferStats, as acks and TransferInputStats carry it."""
        protocols = ["cedar", *sorted(self.urls)]
        stats = ClassAd({"Protocols": ",".join(protocols)})
        stats["CedarSizeBytes"] = self.bytes
        stats["CedarFilesCount"] = self.files
        for scheme, count in self.urls.items():
            stats[f"{scheme.capitalize()}FilesCount"] = count
        return stats


def _nothing() -> None:
    return None


def _no_plugin(wanted: Sequence[tuple[str, str]]) -> list[UrlResult]:
    return [UrlResult(url, path, error="no plug-in fetches URLs here") for url, path in wanted]


@dataclass(frozen=True, slots=True)
class Terms:
    """One side's conditions.

    `who` ("STARTER", "SHADOW", "SCHEDD", "TOOL"), `here` (address without port) and `peer` (its
    sinful) go into reasons. `code` is the hold code of a failure: 13 for input, 12 for output.
    `max_bytes` -1 means no limit. `await_turn` is the transfer queue: it returns when this side
    may transfer. `started` is told once, when both sides gave the go-ahead.
    """

    who: str
    here: str = "127.0.0.1"
    peer: str = ""
    code: int = 13
    max_bytes: int = -1
    await_turn: Callable[[], object] = _nothing
    started: Callable[[], object] = _nothing


class _Troubles:
    """The failures of one side; the first is told, the others are counted."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.first: Failure | None = None
        self.count = 0

    def note(self, reason: str, subcode: int = 0, code: int | None = None) -> None:
        self.count += 1
        if self.first is None:
            self.first = Failure(reason, self.code if code is None else code, subcode)

    def note_os(self, doing: str, path: str, error: OSError) -> None:
        number = error.errno or 0
        text = os.strerror(number) if number else str(error)
        self.note(f"{doing} file {path}: (errno {number}) {text}", number)

    def summary(self) -> str:
        assert self.first is not None
        return f"{self.count} total failures: first failure: {self.first.reason}"


def ack_ad(failure: Failure | None, stats: ClassAd) -> ClassAd:
    """Return the final ack of one side (§6.2 End)."""
    ad = ClassAd()
    if failure is None:
        ad["Result"] = int(AckResult.SUCCESS)
    else:
        ad["Result"] = int(AckResult.TRY_AGAIN if failure.try_again else AckResult.HOLD)
        ad["HoldReasonCode"] = failure.code
        ad["HoldReasonSubCode"] = failure.subcode
        ad["HoldReason"] = failure.reason
    ad["TransferStats"] = stats
    return ad


def read_ack(ad: ClassAd, default_code: int) -> Failure | None:
    """Return what an ack says went wrong; None if nothing did. An ack with only Result is fine."""
    result = ad.integer("Result")
    if result == AckResult.SUCCESS:
        return None
    return Failure(
        ad.string("HoldReason") or "the other side did not say why",
        ad.integer("HoldReasonCode") or default_code,
        ad.integer("HoldReasonSubCode") or 0,
        try_again=result == AckResult.TRY_AGAIN,
    )


# --- the sending side ---------------------------------------------------------------------------


def upload(
    items: Iterable[Item],
    storage: Storage,
    terms: Terms,
    *,
    final: bool = False,
    sandbox_bytes: int = 0,
) -> Dialog[Outcome]:
    """Send `items` in order. `final` marks a job's output (not input, spool or checkpoint)."""
    encrypted = bool((yield IsEncrypted()))
    outcome = Outcome(final=final)
    troubles = _Troubles(terms.code)
    yield Send(Words(int(final), ClassAd({"SandboxSize": sandbox_bytes})))
    limit = terms.max_bytes
    first = True
    for item in items:
        yield Send(Words(int(_command(item))))
        yield Send(Words(item.name))
        if first:
            refused, peer_limit = yield from _ask_to_go_ahead(terms)
            if refused is not None:
                outcome.failure, outcome.detail = refused, refused.reason
                return outcome
            limit = _smaller(limit, peer_limit)
            first = False
        if isinstance(item, SendFile):
            yield from _send_file(item, storage, encrypted, limit, outcome, troubles)
        elif isinstance(item, SendDirectory):
            yield Send(Words(item.mode))
            outcome.bytes += DIRECTORY_BYTES
            outcome.files += 1
        elif isinstance(item, SendUrl):
            yield Send(Words(item.url))
        else:
            yield Send(Words(_url_report(item)))
            if not item.success:
                troubles.note(f"uploading {item.name} to {item.destination}: {item.error}")
    yield Send(Words(int(TransferCommand.FINISHED)))
    mine = None
    if troubles.first is not None:
        outcome.detail = troubles.summary()
        mine = Failure(
            f"{terms.who} at {terms.here} failed to send file(s) to {terms.peer}: "
            f"|Error: {outcome.detail}",
            troubles.first.code,
            troubles.first.subcode,
        )
    yield Send(Words(ack_ad(mine, outcome.stats())))
    reply: Reader = yield Receive(ACK_SECONDS)
    theirs = read_ack(reply.ad(), terms.code)
    outcome.sender_failed = mine is not None
    if mine is None and theirs is not None:
        outcome.detail = detail_of(theirs.reason)
        mine = Failure(
            f"{terms.who} at {terms.here} failed to send file(s) to {terms.peer}",
            theirs.code,
            theirs.subcode,
            try_again=theirs.try_again,
        )
    outcome.failure = _join(mine, theirs)
    return outcome


def _command(item: Item) -> TransferCommand:
    if isinstance(item, SendFile):
        if item.encrypt is None:
            return TransferCommand.FILE
        return TransferCommand.ENCRYPTED_FILE if item.encrypt else TransferCommand.CLEAR_FILE
    if isinstance(item, SendDirectory):
        return TransferCommand.DIRECTORY
    return TransferCommand.URL if isinstance(item, SendUrl) else TransferCommand.OTHER


def _url_report(item: ReportUrl) -> ClassAd:
    ad = ClassAd({"ProtocolVersion": 1, "Command": int(TransferCommand.OTHER)})
    ad["SubCommand"] = int(TransferSubCommand.UPLOAD_URL)
    ad["Filename"] = item.name
    ad["OutputDestination"] = item.destination
    ad["Result"] = 0 if item.success else -1
    if item.error:
        ad["ErrorString"] = item.error
    return ad


def _ask_to_go_ahead(terms: Terms) -> Dialog[tuple[Failure | None, int]]:
    """Get the receiver's leave, then give our own; the receiver's byte limit is the answer."""
    yield Send(Words(ALIVE_SECONDS))
    refused, ad = yield from _wait_for_go_ahead(terms)
    if refused is not None:
        return refused, -1
    alive: Reader = yield Receive(ALIVE_SECONDS)
    alive.integer()
    yield Do(terms.await_turn, blocking=True)
    yield Send(Words(ClassAd({"Result": int(GoAheadResult.ALWAYS)})))
    yield Do(terms.started)
    peer_limit = ad.integer("MaxTransferBytes")
    return None, -1 if peer_limit is None else peer_limit


def _wait_for_go_ahead(terms: Terms) -> Dialog[tuple[Failure | None, ClassAd]]:
    """Read go-ahead ads until one decides; a pending one may say how long the next may take."""
    timeout = float(ALIVE_SECONDS)
    while True:
        message: Reader = yield Receive(timeout)
        ad = message.ad()
        result = ad.integer("Result")
        if result is None:
            raise RemoteProtocolError("a go-ahead of a file transfer lacks its Result")
        if result > 0:
            return None, ad
        if result < 0:
            failure = Failure(
                ad.string("HoldReason") or "the other side refused the transfer",
                ad.integer("HoldReasonCode") or terms.code,
                ad.integer("HoldReasonSubCode") or 0,
                try_again=ad.boolean("TryAgain") is not False,
            )
            return failure, ad
        timeout = float(min(max(ad.integer("Timeout") or 0, ALIVE_SECONDS), 86_400))


def _smaller(one: int, other: int) -> int:
    """Return the smaller of two byte limits, where a negative one means none."""
    if one < 0:
        return other
    return one if other < 0 else min(one, other)


def _send_file(
    item: SendFile,
    storage: Storage,
    encrypted: bool,
    limit: int,
    outcome: Outcome,
    troubles: _Troubles,
) -> Dialog[None]:
    try:
        source: SourceFile = yield Do(partial(storage.open_source, item.path))
    except OSError as error:
        troubles.note_os("reading from", item.path, error)
        yield Send(Words(MISSING_FILE_MODE))
        yield from _send_size(0, encrypted)
        return
    try:
        yield Send(Words(source.mode & 0o7777))
        size = source.size
        if 0 <= limit < outcome.bytes + size:
            code = 32 if troubles.code == 13 else 33
            troubles.note(f"the files are larger than the limit of {limit} bytes", code=code)
            size = 0
        yield from _send_size(size, encrypted)
        left = size
        while left > 0:
            # Raised, not noted: the announced bytes cannot come, the stream is broken.
            data: bytes = yield Do(partial(source.read, min(CHUNK, left)), blocking=size > CHUNK)
            if not data:
                raise OSError(f"the file {item.path} became shorter while it was sent")
            left -= len(data)
            yield Send(Words(data)) if encrypted else SendRaw(data)
    finally:
        source.close()
    outcome.bytes += size
    outcome.files += 1


def _send_size(size: int, encrypted: bool) -> Dialog[None]:
    if encrypted:
        yield Send(Words(size, CHUNK if size else 1))
    else:
        yield Send(Words(size))
    if size == 0:
        yield Send(Words(EMPTY_FILE_MARK))


# --- the receiving side -------------------------------------------------------------------------


def download(
    place: Callable[[str], str],
    storage: Storage,
    terms: Terms,
    *,
    fetch: Callable[[Sequence[tuple[str, str]]], object] = _no_plugin,
    begun: Callable[[bool], object] | None = None,
) -> Dialog[Outcome]:
    """Receive a transfer. `place` gives a name its path, or raises RefusedError.

    `begun` is told, before anything is placed, whether this is a job's final output.

    `fetch` runs the plug-ins for (url, path) pairs, after everything else has come, and returns
    a UrlResult for each.
    """
    encrypted = bool((yield IsEncrypted()))
    troubles = _Troubles(terms.code)
    start: Reader = yield Receive()
    outcome = Outcome(final=start.integer() != 0)
    start.ad()
    if begun is not None:
        yield Do(partial(begun, outcome.final))
    wanted: list[tuple[str, str]] = []
    count = 0
    while True:
        word: Reader = yield Receive()
        command = word.integer()
        if command == TransferCommand.FINISHED:
            break
        name = yield from _receive_text()
        count += 1
        if count > MAX_ITEMS:
            raise RemoteProtocolError(f"more than {MAX_ITEMS} files in one transfer")
        if count == 1:
            refused = yield from _give_go_ahead(terms)
            if refused is not None:
                outcome.failure, outcome.detail = refused, refused.reason
                outcome.sender_failed = True
                return outcome
        path = _place(place, name, troubles)
        if command in (
            TransferCommand.FILE,
            TransferCommand.ENCRYPTED_FILE,
            TransferCommand.CLEAR_FILE,
        ):
            yield from _receive_file(path, storage, encrypted, terms.max_bytes, outcome, troubles)
        elif command == TransferCommand.DIRECTORY:
            yield from _receive_directory(path, storage, troubles)
        elif command == TransferCommand.URL:
            url = yield from _receive_text()
            if path is not None:
                wanted.append((url, path))
        elif command == TransferCommand.OTHER:
            yield from _receive_other(troubles)
        else:
            raise RemoteProtocolError(f"unknown file transfer command {command}")
        outcome.names.append(name)
    if wanted:
        results: Sequence[UrlResult] = yield Do(partial(fetch, wanted), blocking=True)
        _count_urls(results, outcome, troubles)
    yield from _close_download(terms, outcome, troubles)
    return outcome


def _close_download(terms: Terms, outcome: Outcome, troubles: _Troubles) -> Dialog[None]:
    """Exchange the final acks and put both sides' failures together."""
    message: Reader = yield Receive(ACK_SECONDS)
    theirs = read_ack(message.ad(), terms.code)
    mine = None
    if troubles.first is not None:
        outcome.detail = troubles.first.reason
        mine = Failure(
            f"{terms.who} at {terms.here} - |Error: {outcome.detail}",
            troubles.first.code,
            troubles.first.subcode,
        )
    elif theirs is not None:
        # Both sides say that they failed, so that either one's text tells the whole story.
        mine = Failure(
            f"{terms.who} failed to receive file(s) from {terms.peer}",
            theirs.code,
            theirs.subcode,
            try_again=theirs.try_again,
        )
    yield Send(Words(ack_ad(mine, outcome.stats())))
    outcome.sender_failed = theirs is not None
    outcome.failure = _join(theirs, mine)
    if theirs is not None:
        outcome.detail = detail_of(theirs.reason)


def _join(first: Failure | None, second: Failure | None) -> Failure | None:
    """Put the sender's and the receiver's failure together; codes are the first one's."""
    if first is None or second is None:
        return first or second
    return Failure(
        f"{first.reason}; {second.reason}", first.code, first.subcode, try_again=first.try_again
    )


def detail_of(reason: str) -> str:
    """Return the part of a peer's reason that says what happened, without who told whom."""
    detail = reason.partition("|Error: ")[2] or reason
    return detail.partition("; SHADOW failed")[0].partition("; STARTER failed")[0]


def _receive_text() -> Dialog[str]:
    message: Reader = yield Receive()
    text = message.string()
    if len(text) > MAX_NAME:
        raise RemoteProtocolError("a file name in a transfer is too long")
    return text


def _give_go_ahead(terms: Terms) -> Dialog[Failure | None]:
    alive: Reader = yield Receive()
    alive.integer()
    yield Do(terms.await_turn, blocking=True)
    yield Send(
        Words(ClassAd({"Result": int(GoAheadResult.ALWAYS), "MaxTransferBytes": terms.max_bytes}))
    )
    yield Send(Words(ALIVE_SECONDS))
    refused, _ = yield from _wait_for_go_ahead(terms)
    if refused is None:
        yield Do(terms.started)
    return refused


def _place(place: Callable[[str], str], name: str, troubles: _Troubles) -> str | None:
    try:
        return place(name)
    except RefusedError as error:
        # EPERM, as the reference says for paths that leave the sandbox.
        troubles.note(error.message, 1, error.code or None)
        return None


def _receive_directory(path: str | None, storage: Storage, troubles: _Troubles) -> Dialog[None]:
    message: Reader = yield Receive()
    mode = message.integer()
    if path is None:
        return
    try:
        # A directory we cannot enter ourselves could not receive its files.
        yield Do(partial(storage.make_directory, path, (mode & 0o777) | 0o700))
    except OSError as error:
        troubles.note_os("making directory", path, error)


def _receive_file(
    path: str | None,
    storage: Storage,
    encrypted: bool,
    limit: int,
    outcome: Outcome,
    troubles: _Troubles,
) -> Dialog[None]:
    head: Reader = yield Receive()
    mode = head.integer()
    announced: Reader = yield Receive()
    size = announced.integer()
    if size < 0:
        raise RemoteProtocolError(f"a file of {size} bytes in a transfer")
    if encrypted:
        announced.integer()
    wanted = path is not None and not mode & MISSING_FILE_MODE
    if wanted and 0 <= limit < outcome.bytes + size:
        code = 32 if troubles.code == 13 else 33
        troubles.note(f"the files are larger than the limit of {limit} bytes", code=code)
        wanted = False
    target: TargetFile | None = None
    if wanted:
        try:
            target = yield Do(partial(storage.open_target, path or "", mode & 0o777))
        except OSError as error:
            troubles.note_os("writing to", path or "", error)
    yield from _receive_body(size, encrypted, target, path, troubles)
    if target is not None:
        try:
            yield Do(target.close, blocking=size > CHUNK)
        except OSError as error:
            troubles.note_os("writing to", path or "", error)
    if wanted:
        outcome.bytes += size
        outcome.files += 1


def _receive_body(
    size: int,
    encrypted: bool,
    target: TargetFile | None,
    path: str | None,
    troubles: _Troubles,
) -> Dialog[None]:
    """Take the announced bytes off the connection, into `target` as long as that works."""
    if size == 0:
        empty: Reader = yield Receive()
        empty.integer()
        return
    left = size
    broken = target is None
    try:
        while left > 0:
            data = yield from _receive_piece(left, encrypted)
            left -= len(data)
            if not broken and target is not None:
                try:
                    yield Do(partial(target.write, data), blocking=size > CHUNK)
                except OSError as error:
                    troubles.note_os("writing to", path or "", error)
                    broken = True
    except BaseException:
        if target is not None:
            target.close()
        raise


def _receive_piece(left: int, encrypted: bool) -> Dialog[bytes]:
    if not encrypted:
        data: bytes = yield ReceiveRaw(min(CHUNK, left))
        return data
    message: Reader = yield Receive()
    data = message.rest()
    if not 0 < len(data) <= left:
        raise RemoteProtocolError("a file's body is not as long as was announced")
    return data


def _receive_other(troubles: _Troubles) -> Dialog[None]:
    """Read an extension's ad; the only one we asked for is a result of an uploaded URL."""
    message: Reader = yield Receive()
    ad = message.ad()
    if ad.integer("SubCommand") == TransferSubCommand.UPLOAD_URL:
        if ad.integer("Result") not in (0, None):
            name = ad.string("Filename") or "?"
            troubles.note(f"uploading {name}: {ad.string('ErrorString') or 'no reason given'}")
        return
    # An unknown extension wants an answer we do not have.
    yield Send(Words(ClassAd({"Result": 1, "ErrorString": "not supported"})))


def _count_urls(results: Sequence[UrlResult], outcome: Outcome, troubles: _Troubles) -> None:
    for result in results:
        if result.error:
            troubles.note(result.error, result.exit_code)
            continue
        scheme = result.url.partition("://")[0].lower()
        outcome.urls[scheme] = outcome.urls.get(scheme, 0) + 1
        outcome.bytes += result.size
        outcome.files += 1
