"""The terms of one side of a transfer, and the leave that both give before the first file.

Each side may have a queue of its own (`Terms.await_turn`) and a limit of bytes. While its turn has
not come a side says so, and for how long it may go on. Source: wire notes, Go-ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.transfer.outcome import Failure, stopped
from kettle.wire.codec import Reader
from kettle.wire.dialog import Dialog, Do, Receive, Send, Words
from kettle.wire.messages.filetransfer import GoAheadResult

ALIVE_SECONDS = 300


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Terms:
    """One side's conditions.

    `who` ("STARTER", "SHADOW", "SCHEDD", "TOOL"), `here` (address without port) and `peer` (its
    sinful) go into reasons. `code` is the hold code of a failure: 13 for input, 12 for output.
    `max_bytes` -1 means no limit. `await_turn` is the transfer queue: it returns when this side
    may transfer, or False when it has waited for a while; then it is asked again. `started` is
    told once, when both sides gave the go-ahead. `clock` times what is done with files.
    """

    who: str
    here: str = "127.0.0.1"
    peer: str = ""
    code: int = 13
    max_bytes: int = -1
    await_turn: Callable[[], object] = _nothing
    started: Callable[[], object] = _nothing
    clock: Callable[[], float] = stopped


def ask_to_go_ahead(terms: Terms) -> Dialog[tuple[Failure | None, int]]:
    """Get the receiver's leave, then give our own; the receiver's byte limit is the answer."""
    yield Send(Words(ALIVE_SECONDS))
    refused, ad = yield from _wait_for_go_ahead(terms)
    if refused is not None:
        return refused, -1
    alive: Reader = yield Receive(ALIVE_SECONDS)
    alive.integer()
    leave = ClassAd({"Result": int(GoAheadResult.ALWAYS)})
    if terms.max_bytes >= 0:
        # What the receiver's plug-ins bring is not ours to count.
        leave["MaxTransferBytes"] = terms.max_bytes
    yield from _take_turn(terms, leave)
    yield Do(terms.started)
    return None, _limit_of(ad)


def _limit_of(ad: ClassAd) -> int:
    """Return the other side's limit, -1 for none."""
    limit = ad.integer("MaxTransferBytes")
    return -1 if limit is None else limit


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


def _take_turn(terms: Terms, leave: ClassAd) -> Dialog[None]:
    """Wait until it is our turn, telling the other side that it is not yet, then give leave."""
    while (yield Do(terms.await_turn, blocking=True)) is False:
        yield Send(Words(ClassAd({"Result": int(GoAheadResult.PENDING), "Timeout": ALIVE_SECONDS})))
    yield Send(Words(leave))


def give_go_ahead(terms: Terms) -> Dialog[tuple[Failure | None, int]]:
    """Give the sender our leave, then get its own; returns why it does not give it, its limit."""
    alive: Reader = yield Receive()
    alive.integer()
    leave = {"Result": int(GoAheadResult.ALWAYS), "MaxTransferBytes": terms.max_bytes}
    yield from _take_turn(terms, ClassAd(leave))
    yield Send(Words(ALIVE_SECONDS))
    refused, ad = yield from _wait_for_go_ahead(terms)
    if refused is None:
        yield Do(terms.started)
    return refused, _limit_of(ad)


def refuse_to_go_ahead(failure: Failure) -> Dialog[Failure]:
    """Tell the sender that nothing of this transfer is taken, and why; returns the reason."""
    alive: Reader = yield Receive()
    alive.integer()
    no = ClassAd({"Result": int(GoAheadResult.REFUSED), "TryAgain": failure.try_again})
    no["HoldReason"] = failure.reason
    no["HoldReasonCode"] = failure.code
    no["HoldReasonSubCode"] = failure.subcode
    yield Send(Words(no))
    return failure


def smaller_limit(one: int, other: int) -> int:
    """Return the smaller of two byte limits, where a negative one means none."""
    if one < 0:
        return other
    return one if other < 0 else min(one, other)
