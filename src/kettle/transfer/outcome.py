"""What a transfer did, or why it did not work, and the acks that tell the other side.

Nouns and small rules; who sends what when is `sending.py`'s and `receiving.py`'s. Source: wire
notes, File transfer, End.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from kettle.classad import ClassAd
from kettle.wire.dialog import Dialog, Step

# Limit: a plug-in may work this long on the other side before its ack (the reference's own bound).
ACK_SECONDS = 72_000.0
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
    """How a plug-in fared with one URL: `error` is empty if it worked.

    `subcode` is the hold subcode of a failure: an errno, a TransferSubCode, or how the plug-in
    ended in the form of a wait status. `orderly` says of a failure that the plug-in itself ended
    well; `broke` how one that told of a failure ended, and which it was, and `told` what is told of
    it, with the URL.
    """

    url: str
    path: str
    size: int = 0
    error: str = ""
    subcode: int = 0
    orderly: bool = False
    broke: str = ""
    told: str = ""


def stopped() -> float:
    """Return no time: a clock for those who do not ask."""
    return 0.0


@dataclass(slots=True)
class Spent:
    """How long the bytes of files took on this side: to read or write them, and to move them.

    `clock` counts seconds; the one of those who do not ask stands still.
    """

    clock: Callable[[], float] = stopped
    file_seconds: float = 0.0
    net_seconds: float = 0.0

    def on_file(self, step: Step) -> Dialog[Any]:
        """Perform a step at the file."""
        began = self.clock()
        done = yield step
        self.file_seconds += self.clock() - began
        return done

    def on_net(self, step: Step) -> Dialog[Any]:
        """Perform a step at the connection; whoever is waited for on its other side counts."""
        began = self.clock()
        done = yield step
        self.net_seconds += self.clock() - began
        return done


@dataclass(slots=True)
class Outcome:
    """What a transfer did. `failure` is None if it worked, on both sides."""

    failure: Failure | None = None
    # All that travelled, with folders' modes and what plug-ins brought here; what those brought.
    bytes: int = 0
    brought: int = 0
    # Files that travelled over the connection, and folders.
    files: int = 0
    folders: int = 0
    # The last part of the reason, without who told whom; for hold reasons.
    detail: str = ""
    # Whether the side that failed was the sending one.
    sender_failed: bool = False
    # Whether it was a plug-in that failed first, here.
    plugin_failed: bool = False
    # What stands before `detail` where that plug-in told of it.
    hook: str = ""
    final: bool = False
    spent: Spent = field(default_factory=Spent)
    # What plug-ins moved here: by scheme, how many files and how many bytes.
    urls: dict[str, tuple[int, int]] = field(default_factory=dict)
    # What the other side said at the end: its TransferStats count what its plug-ins fetched.
    peer_ack: ClassAd | None = None

    @property
    def success(self) -> bool:
        """Whether everything arrived."""
        return self.failure is None

    def count_url(self, url: str, size: int) -> None:
        """Count a file that a plug-in moved here."""
        scheme = url.partition("://")[0].lower()
        files, before = self.urls.get(scheme, (0, 0))
        self.urls[scheme] = (files + 1, before + size)

    @property
    def moved(self) -> int:
        """All bytes, those that plug-ins moved here among them, whichever way they went."""
        return self.bytes - self.brought + sum(size for _, size in self.urls.values())

    def stats(self, *, sent: bool) -> ClassAd:
        """Return TransferStats, as acks carry it: who sends counts the folders, who receives not.

        Source: observed of a real pool.
        """
        protocols = ["cedar", *sorted(self.urls)]
        stats = ClassAd({"Protocols": ",".join(protocols)})
        stats["CedarSizeBytes"] = self.bytes - self.brought
        stats["CedarFilesCount"] = self.files + sent * self.folders
        for scheme, (count, size) in self.urls.items():
            stats[f"{scheme.upper()}FilesCount"] = count
            stats[f"{scheme.upper()}SizeBytes"] = size
        return stats


class Troubles:
    """The failures of one side; the first is told, the others are counted."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.first: Failure | None = None
        self.count = 0
        # Whether `first` is told as a sentence about this side, not as an error behind one.
        self.says_all = False
        # Where `first` is a plug-in's that told of it: what stands before its own words.
        self.hook = ""

    def note_hook(self, broke: str, reason: str, subcode: int) -> None:
        """Count a file that a plug-in could not move, and says so; `broke` is how it ended."""
        if self.first is None:
            self.hook = f"FILETRANSFER:1:{broke}. "
        self.note(reason, subcode)

    def note(self, reason: str, subcode: int = 0, code: int | None = None) -> None:
        """Count a failure."""
        self.count += 1
        if self.first is None:
            self.first = Failure(reason, self.code if code is None else code, subcode)

    def note_os(self, doing: str, path: str, error: OSError, kind: str = "file") -> None:
        """Count an operating system's refusal; its errno is the subcode."""
        number = error.errno or 0
        text = (error.strerror or os.strerror(number)) if number else str(error)
        self.note(f"{doing} {kind} {path}: (errno {number}) {text}", number)

    def note_directory(self, path: str, error: OSError) -> None:
        """Count a folder that cannot be made: in words of its own, before whatever else failed.

        What was to lie in it fails as well, and says less. Source: observed of a real shadow.
        """
        self.first = None
        number = error.errno or 0
        text = (error.strerror or os.strerror(number)) if number else str(error)
        self.note(f"failed to create directory {path}: {text} (errno {number})", number)
        self.says_all = True

    def summary(self) -> str:
        """Return how many failed, and why the first one did."""
        assert self.first is not None
        if self.hook:
            return self.first.reason
        return f"{self.count} total failures: first failure: {self.first.reason}"


def ack_ad(failure: Failure | None, stats: ClassAd) -> ClassAd:
    """Return the final ack of one side."""
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


def join_failures(first: Failure | None, second: Failure | None) -> Failure | None:
    """Put the sender's and the receiver's failure together; codes are the first one's."""
    if first is None or second is None:
        return first or second
    return Failure(
        f"{first.reason}; {second.reason}", first.code, first.subcode, try_again=first.try_again
    )


def detail_of(reason: str) -> str:
    """Return the part of a peer's reason that says what happened, without who told whom.

    The wire has it as one text, in HTCondor's words. Nothing if it has no such part: then the
    whole reason is what happened.
    """
    detail = reason.partition("|Error: ")[2]
    return detail.partition("; SHADOW failed")[0].partition("; STARTER failed")[0]
