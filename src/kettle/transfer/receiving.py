"""The receiving half of a file transfer, as a dialog over one connection.

`download` places what comes. A file that cannot be written does not end the dialog: the rest is
still taken and the acks carry the first failure. What breaks the connection is raised. The other
half is `sending.py`; the order on the wire is told in the package.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.transfer.go_ahead import Terms, give_go_ahead, refuse_to_go_ahead, smaller_limit
from kettle.transfer.items import Storage, TargetFile
from kettle.transfer.outcome import (
    ACK_SECONDS,
    Failure,
    Outcome,
    Spent,
    Troubles,
    UrlResult,
    ack_ad,
    detail_of,
    join_failures,
    read_ack,
)
from kettle.transfer.plan import MAX_ITEMS
from kettle.wire.codec import Reader
from kettle.wire.dialog import Dialog, Do, IsEncrypted, Receive, ReceiveRaw, Send, Words
from kettle.wire.messages.filetransfer import (
    CHUNK,
    MISSING_FILE_MODE,
    TransferCommand,
    TransferSubCommand,
)

# Limit: names and URLs longer than this come from no file system.
MAX_NAME = 16_384


# Limit: names, URLs and paths that wait for the plug-ins of one transfer, together.
MAX_WANTED = 64 * 1024 * 1024


_FILES = (TransferCommand.FILE, TransferCommand.ENCRYPTED_FILE, TransferCommand.CLEAR_FILE)


def _nobody(_: str) -> None:
    return None


class _Urls:
    """What the plug-ins are to fetch when everything else has come, and how much they may bring."""

    def __init__(
        self, fetch: Callable[[Sequence[tuple[str, str]]], object] | None, limit: int
    ) -> None:
        self._fetch = fetch
        self.limit = limit
        self._wanted: list[tuple[str, str]] = []
        self._size = 0

    def want(self, url: str, path: str | None, troubles: Troubles) -> None:
        """Keep a URL and its path for the plug-ins, if there are any."""
        if path is None:
            return
        if self._fetch is None:
            troubles.note("no plug-in fetches URLs here")
            return
        self._wanted.append((url, path))
        self._size += len(url) + len(path)
        if self._size > MAX_WANTED:
            raise RemoteProtocolError("the URLs of a transfer are too long together")

    def bring(self, outcome: Outcome, troubles: Troubles) -> Dialog[None]:
        """Run the plug-ins, and count what they brought: too much of it fails the transfer.

        Compat: in the reference what URLs bring is under no limit
        (test_what_urls_bring_counts_against_the_limits_of_both_sides).
        """
        if not self._wanted or self._fetch is None:
            return
        results: Sequence[UrlResult] = yield Do(partial(self._fetch, self._wanted), blocking=True)
        for result in results:
            if result.error:
                outcome.plugin_failed |= troubles.first is None
                if result.broke:
                    troubles.note_hook(result.broke, result.told, result.subcode)
                else:
                    troubles.note(result.error, result.subcode)
                continue
            outcome.count_url(result.url, result.size)
            outcome.bytes += result.size
            outcome.brought += result.size
        if 0 <= self.limit < outcome.bytes:
            _note_too_much(self.limit, troubles)


def download(
    place: Callable[[str], str],
    storage: Storage,
    terms: Terms,
    *,
    fetch: Callable[[Sequence[tuple[str, str]]], object] | None = None,
    begun: Callable[[bool, int], Failure | Awaitable[Failure | None] | None] | None = None,
    complete: Callable[[], Failure | Awaitable[Failure | None] | None] | None = None,
    arrived: Callable[[str], object] = _nobody,
) -> Dialog[Outcome]:
    """Receive a transfer. `place` gives a name its path, or raises RefusedError.

    `arrived` is told each name. Nothing is kept of what comes but URLs for `fetch`, and of these
    no more than fits: the sender may be anybody who runs a job.

    `begun` is told, before anything is placed, whether this is a job's final output and how many
    bytes the sender thinks it is; the Failure that it may return refuses all of it.

    `complete` is told when all has arrived and the sender says so too, before it hears that it did:
    who keeps it does so then, and says why where that cannot be.

    `fetch` runs the plug-ins for (url, path) pairs, after everything else has come, and returns
    a UrlResult for each; without it URLs are not served here. What they bring counts against the
    smaller of both sides' limits.
    """
    encrypted = bool((yield IsEncrypted()))
    troubles = Troubles(terms.code)
    start: Reader = yield Receive()
    outcome = Outcome(final=start.integer() != 0, spent=Spent(terms.clock))
    announced = start.ad()
    objection: Failure | None = None
    if begun is not None:
        objection = yield Do(partial(begun, outcome.final, announced.integer("SandboxSize") or 0))
    urls = _Urls(fetch, terms.max_bytes)
    taking = _Taking(place, storage, terms, encrypted, outcome, troubles, urls)
    for number in count(1):
        word: Reader = yield Receive()
        command = word.integer()
        if command == TransferCommand.FINISHED:
            break
        name = yield from _receive_text()
        if number > MAX_ITEMS:
            raise RemoteProtocolError(f"more than {MAX_ITEMS} files in one transfer")
        if number == 1 and (yield from _is_refused(objection, terms, urls, outcome)):
            return outcome
        yield from taking.take(command, name)
        arrived(name)
    yield from urls.bring(outcome, troubles)
    yield from _close_download(terms, outcome, troubles, complete)
    return outcome


@dataclass(frozen=True, slots=True)
class _Taking:
    """What the items of one transfer are taken with."""

    place: Callable[[str], str]
    storage: Storage
    terms: Terms
    encrypted: bool
    outcome: Outcome
    troubles: Troubles
    urls: _Urls

    def take(self, command: int, name: str) -> Dialog[None]:
        """Receive what follows a name; RemoteProtocolError for a command that nobody knows."""
        # What a plug-in took elsewhere, and is only told of, has no place here.
        is_news = command == TransferCommand.OTHER
        path = None if is_news else _place(self.place, name, self.troubles)
        if command == TransferCommand.URL:
            self.urls.want((yield from _receive_text()), path, self.troubles)
        elif command in _FILES:
            most = self.terms.max_bytes
            yield from _receive_file(
                path, self.storage, self.encrypted, most, self.outcome, self.troubles
            )
        elif command == TransferCommand.DIRECTORY:
            yield from _receive_directory(path, self.storage, self.troubles)
            self.outcome.folders += 1
        elif is_news:
            yield from _receive_other(self.troubles)
        else:
            raise RemoteProtocolError(f"unknown file transfer command {command}")


def _is_refused(
    objection: Failure | None, terms: Terms, urls: _Urls, outcome: Outcome
) -> Dialog[bool]:
    """Agree whether the files may come; True if not, and then the outcome says why."""
    if objection is not None:
        outcome.failure = yield from refuse_to_go_ahead(objection)
        outcome.detail = objection.reason
        return True
    refused, theirs = yield from give_go_ahead(terms)
    urls.limit = smaller_limit(urls.limit, theirs)
    if refused is None:
        return False
    outcome.failure, outcome.detail = refused, refused.reason
    outcome.sender_failed = True
    return True


def _close_download(
    terms: Terms,
    outcome: Outcome,
    troubles: Troubles,
    complete: Callable[[], Failure | Awaitable[Failure | None] | None] | None,
) -> Dialog[None]:
    """Exchange the final acks and put both sides' failures together."""
    message: Reader = yield Receive(ACK_SECONDS)
    outcome.peer_ack = message.ad()
    theirs = read_ack(outcome.peer_ack, terms.code)
    if theirs is None and troubles.first is None and complete is not None:
        failure: Failure | None = yield Do(complete)
        if failure is not None:
            troubles.note(failure.reason, failure.subcode, failure.code)
    mine = None
    if theirs is not None:
        # Both sides say that they failed, so that either one's text tells the whole story. Of what
        # failed here besides nothing is said, as in the reference (observed of a real shadow).
        mine = Failure(
            f"{terms.who} failed to receive file(s) from {terms.peer}",
            theirs.code,
            theirs.subcode,
            try_again=theirs.try_again,
        )
    elif troubles.first is not None:
        between = " "
        if not troubles.says_all:
            outcome.detail, outcome.hook = troubles.first.reason, troubles.hook
            between = f" - {troubles.hook}|Error: "
        mine = Failure(
            f"{terms.who} at {terms.here}{between}{troubles.first.reason}",
            troubles.first.code,
            troubles.first.subcode,
        )
    yield Send(Words(ack_ad(mine, outcome.stats(sent=False))))
    outcome.sender_failed = theirs is not None
    outcome.failure = join_failures(theirs, mine)
    if theirs is not None:
        outcome.detail = detail_of(theirs.reason)


def _receive_text() -> Dialog[str]:
    message: Reader = yield Receive()
    text = message.string()
    if len(text) > MAX_NAME:
        raise RemoteProtocolError("a file name in a transfer is too long")
    return text


def _place(place: Callable[[str], str], name: str, troubles: Troubles) -> str | None:
    try:
        return place(name)
    except RefusedError as error:
        # EPERM, as the reference says for paths that leave the sandbox.
        troubles.note(error.message, 1, error.code or None)
        return None


def _receive_directory(path: str | None, storage: Storage, troubles: Troubles) -> Dialog[None]:
    message: Reader = yield Receive()
    mode = message.integer()
    if path is None:
        return
    try:
        # A directory we cannot enter ourselves could not receive its files.
        yield Do(partial(storage.make_directory, path, (mode & 0o777) | 0o700))
    except OSError as error:
        troubles.note_directory(path, error)


def _receive_file(
    path: str | None,
    storage: Storage,
    encrypted: bool,
    limit: int,
    outcome: Outcome,
    troubles: Troubles,
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
        _note_too_much(limit, troubles)
        wanted = False
    target: TargetFile | None = None
    if wanted:
        try:
            target = yield Do(partial(storage.open_target, path or "", mode & 0o777, size))
        except OSError as error:
            troubles.note_os("writing to", path or "", error)
    whole = yield from _receive_body(size, encrypted, target, path, outcome.spent, troubles)
    if target is not None:
        yield from _finish(target, whole, path or "", size, outcome.spent, troubles)
    if wanted:
        outcome.bytes += size
        outcome.files += 1


def _finish(
    target: TargetFile, whole: bool, path: str, size: int, spent: Spent, troubles: Troubles
) -> Dialog[None]:
    try:
        step = Do(target.close if whole else target.discard, blocking=size > CHUNK)
        yield from spent.on_file(step)
    except OSError as error:
        troubles.note_os("writing to", path, error)


def _receive_body(
    size: int,
    encrypted: bool,
    target: TargetFile | None,
    path: str | None,
    spent: Spent,
    troubles: Troubles,
) -> Dialog[bool]:
    """Take the announced bytes off the connection, into `target` as long as that works.

    Returns whether it did; what is left of a file by a connection that breaks is taken away.
    """
    left = size
    broken = target is None
    try:
        if size == 0:
            empty: Reader = yield Receive()
            empty.integer()
            return True
        while left > 0:
            data = yield from _receive_piece(left, encrypted, spent)
            left -= len(data)
            if not broken and target is not None:
                try:
                    step = Do(partial(target.write, data), blocking=size > CHUNK)
                    yield from spent.on_file(step)
                except OSError as error:
                    troubles.note_os("writing to", path or "", error)
                    broken = True
    except BaseException:
        if target is not None:
            target.discard()
        raise
    return not broken


def _receive_piece(left: int, encrypted: bool, spent: Spent) -> Dialog[bytes]:
    if not encrypted:
        data: bytes = yield from spent.on_net(ReceiveRaw(min(CHUNK, left)))
        return data
    message: Reader = yield from spent.on_net(Receive())
    data = message.rest()
    if not 0 < len(data) <= left:
        raise RemoteProtocolError("a file's body is not as long as was announced")
    return data


def _receive_other(troubles: Troubles) -> Dialog[None]:
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


def _note_too_much(limit: int, troubles: Troubles) -> None:
    code = 32 if troubles.code == 13 else 33
    troubles.note(f"the files are larger than the limit of {limit} bytes", code=code)
