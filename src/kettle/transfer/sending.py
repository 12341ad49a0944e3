"""The sending half of a file transfer, as a dialog over one connection.

`upload` sends what `plan.py` chose. A file that cannot be read does not end the dialog: the rest
still travels and the acks carry the first failure. What breaks the connection is raised. The other
half is `receiving.py`; the order on the wire is told in the package.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from kettle.classad import ClassAd
from kettle.transfer.go_ahead import Terms, ask_to_go_ahead, smaller_limit
from kettle.transfer.items import (
    Item,
    PutUrls,
    ReportUrl,
    SendDirectory,
    SendFile,
    SendUrl,
    SourceFile,
    Storage,
    Unlisted,
)
from kettle.transfer.outcome import (
    ACK_SECONDS,
    DIRECTORY_BYTES,
    Failure,
    Outcome,
    Spent,
    Troubles,
    ack_ad,
    detail_of,
    join_failures,
    read_ack,
)
from kettle.wire.codec import Reader
from kettle.wire.dialog import Dialog, Do, IsEncrypted, Receive, Send, SendRaw, Words
from kettle.wire.messages.filetransfer import (
    CHUNK,
    EMPTY_FILE_MARK,
    MISSING_FILE_MODE,
    TransferCommand,
    TransferSubCommand,
)

_NO_DIRECTORY_LINKS = "Is a directory- Transfer of symlinks to directories is not supported."


@dataclass(slots=True)
class _Limit:
    """How many bytes may be sent, and whose limit that is."""

    bytes: int
    whose: str
    # Whether a file was too much. The reference sends of it what fits, so nothing fits behind it.
    is_reached: bool = False

    def is_used_up_by(self, sent: int, size: int) -> bool:
        """Tell whether one more file is too much, and remember it."""
        if self.bytes < 0 or not size:
            return False
        self.is_reached = self.is_reached or self.bytes < sent + size
        return self.is_reached

    def exceeded_by(self, size: int) -> str:
        """Return the reference's words for a file that is too much."""
        sizes = f"max={self.bytes >> 20} MB, this file={size >> 20} MB"
        return f"max total {self.whose} bytes exceeded ({sizes})"


def upload(
    items: Iterable[Item | PutUrls],
    storage: Storage,
    terms: Terms,
    *,
    final: bool = False,
    sandbox_bytes: int = 0,
    objection: Failure | None = None,
) -> Dialog[Outcome]:
    """Send `items` in order. `final` marks a job's output (not input, spool or checkpoint).

    `objection` says why not all is among them, and the transfer fails.
    """
    encrypted = bool((yield IsEncrypted()))
    outcome = Outcome(final=final, spent=Spent(terms.clock))
    troubles = Troubles(terms.code)
    if objection is not None:
        troubles.note(objection.reason, objection.subcode, objection.code)
    yield Send(Words(int(final), ClassAd({"SandboxSize": sandbox_bytes})))
    limit = _Limit(terms.max_bytes, "upload")
    first = True
    for item in items:
        if isinstance(item, Unlisted):
            troubles.note_os("reading from", item.path, item.error(), "folder")
            continue
        yield Send(Words(int(_command(item))))
        yield Send(Words(item.names[0] if isinstance(item, PutUrls) else item.name))
        if first:
            refused, peer_limit = yield from ask_to_go_ahead(terms)
            if refused is not None:
                outcome.failure, outcome.detail = refused, refused.reason
                return outcome
            if smaller_limit(limit.bytes, peer_limit) == peer_limit:
                limit = _Limit(peer_limit, "download")
            first = False
        if isinstance(item, SendFile):
            yield from _send_file(item, storage, encrypted, limit, outcome, troubles)
        elif isinstance(item, SendDirectory):
            yield Send(Words(item.mode))
            outcome.bytes += DIRECTORY_BYTES
            outcome.folders += 1
        elif isinstance(item, SendUrl):
            yield Send(Words(item.url))
        else:
            yield from _put_urls(item, outcome, troubles)
    yield Send(Words(int(TransferCommand.FINISHED)))
    yield from _close_upload(terms, outcome, troubles)
    return outcome


def _close_upload(terms: Terms, outcome: Outcome, troubles: Troubles) -> Dialog[None]:
    """Exchange the final acks and put both sides' failures together."""
    mine = None
    if troubles.first is not None:
        outcome.detail = troubles.summary()
        hook = f": {troubles.hook}" if troubles.hook else ""
        mine = Failure(
            f"{terms.who} at {terms.here} failed to send file(s) to {terms.peer}: "
            f"{hook}|Error: {outcome.detail}",
            troubles.first.code,
            troubles.first.subcode,
        )
    yield Send(Words(ack_ad(mine, outcome.stats(sent=True))))
    reply: Reader = yield Receive(ACK_SECONDS)
    outcome.peer_ack = reply.ad()
    theirs = read_ack(outcome.peer_ack, terms.code)
    outcome.sender_failed = mine is not None
    if mine is None and theirs is not None:
        outcome.detail = detail_of(theirs.reason)
        mine = Failure(
            f"{terms.who} at {terms.here} failed to send file(s) to {terms.peer}",
            theirs.code,
            theirs.subcode,
            try_again=theirs.try_again,
        )
    outcome.failure = join_failures(mine, theirs)


def _command(item: SendFile | SendDirectory | SendUrl | PutUrls) -> TransferCommand:
    if isinstance(item, SendFile):
        if item.encrypt is None:
            return TransferCommand.FILE
        return TransferCommand.ENCRYPTED_FILE if item.encrypt else TransferCommand.CLEAR_FILE
    if isinstance(item, SendDirectory):
        return TransferCommand.DIRECTORY
    return TransferCommand.URL if isinstance(item, SendUrl) else TransferCommand.OTHER


def _put_urls(item: PutUrls, outcome: Outcome, troubles: Troubles) -> Dialog[None]:
    """Have the files taken to their URLs, and tell what became of each; the first is announced."""
    reports: Sequence[ReportUrl] = yield Do(item.put, blocking=True)
    for number, report in enumerate(reports):
        if number:
            yield Send(Words(int(TransferCommand.OTHER)))
            yield Send(Words(report.name))
        yield Send(Words(_url_report(report)))
        if report.success:
            outcome.count_url(report.destination, report.size)
        elif report.broke:
            troubles.note_hook(report.broke, report.told, report.subcode)
        else:
            said = f"uploading {report.name} to {report.destination}: {report.error}"
            troubles.note(said, report.subcode)


def _url_report(item: ReportUrl) -> ClassAd:
    ad = ClassAd({"ProtocolVersion": 1, "Command": int(TransferCommand.OTHER)})
    ad["SubCommand"] = int(TransferSubCommand.UPLOAD_URL)
    ad["Filename"] = item.name
    ad["OutputDestination"] = item.destination
    ad["Result"] = 0 if item.success else -1
    if item.error:
        ad["ErrorString"] = item.error
    return ad


def _send_file(
    item: SendFile,
    storage: Storage,
    encrypted: bool,
    limit: _Limit,
    outcome: Outcome,
    troubles: Troubles,
) -> Dialog[None]:
    if item.encrypt is True and not encrypted:
        # A secret is not sent in clear because the two sides found no key.
        text = f"the file {item.path} has to be encrypted, and this connection is not"
        troubles.note(text, errno.EPERM)
        yield from _send_nothing(encrypted)
        return
    try:
        if item.is_directory_link:
            raise IsADirectoryError(errno.EISDIR, _NO_DIRECTORY_LINKS)
        source: SourceFile = yield Do(partial(storage.open_source, item.path))
    except OSError as error:
        troubles.note_os("reading from", item.path, error)
        yield from _send_nothing(encrypted)
        return
    try:
        yield Send(Words(source.mode & 0o7777))
        size = source.size
        if limit.is_used_up_by(outcome.bytes, size):
            code = 32 if troubles.code == 13 else 33
            troubles.note(f"sending file {item.path}: {limit.exceeded_by(size)}", code=code)
            size = 0
        yield from _send_size(size, encrypted)
        left = size
        while left > 0:
            # Raised, not noted: the announced bytes cannot come, the stream is broken.
            step = Do(partial(source.read, min(CHUNK, left)), blocking=size > CHUNK)
            data: bytes = yield from outcome.spent.on_file(step)
            if not data:
                raise OSError(f"the file {item.path} became shorter while it was sent")
            left -= len(data)
            yield from outcome.spent.on_net(Send(Words(data)) if encrypted else SendRaw(data))
    finally:
        source.close()
    outcome.bytes += size
    outcome.files += 1


def _send_nothing(encrypted: bool) -> Dialog[None]:
    """Send what stands for a file that cannot be sent; the ack says why."""
    yield Send(Words(MISSING_FILE_MODE))
    yield from _send_size(0, encrypted)


def _send_size(size: int, encrypted: bool) -> Dialog[None]:
    if encrypted:
        yield Send(Words(size, CHUNK if size else 1))
    else:
        yield Send(Words(size))
    if size == 0:
        yield Send(Words(EMPTY_FILE_MARK))
