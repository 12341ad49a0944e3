"""Events 035-047: clusters and late materialization, file transfer, reuse of files.

Formats: wire notes, Job event log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Self

from kettle.patterns import late_pattern
from kettle.records.event_base import (
    Attributes,
    BodyError,
    Event,
    Lines,
    Said,
    TextLine,
    TextLines,
    leading_number,
    number_in,
)
from kettle.records.event_grid import Prefixed
from kettle.records.event_kinds import SubmitEvent
from kettle.records.event_text import one_line, quoted

if TYPE_CHECKING:
    from kettle.classad import ClassAd


@dataclass(slots=True, kw_only=True)
class ClusterSubmitEvent(SubmitEvent):
    """A cluster whose jobs come one after the other is in the queue."""

    number: ClassVar[int] = 35
    type_name: ClassVar[str] = "ClusterSubmitEvent"
    _first: ClassVar[str] = "Cluster submitted from host: "


_REMOVED = "Cluster removed"
_MADE = late_pattern(r"\s*Materialized (-?\d{1,18}) jobs(?: from (-?\d{1,18}) items\.\s*(.*))?")


class Completion(IntEnum):
    """How the making of a cluster's jobs ended."""

    ERROR = -1
    INCOMPLETE = 0
    COMPLETE = 1
    PAUSED = 2


@dataclass(slots=True, kw_only=True)
class ClusterRemoveEvent(Event):
    """A cluster made all its jobs, or will make no more.

    `completion` is a `Completion`, or any other negative number for an error.
    """

    jobs: int = 0
    items: int = 0
    completion: int = Completion.INCOMPLETE
    notes: str | None = None

    number: ClassVar[int] = 36
    type_name: ClassVar[str] = "ClusterRemoveEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("notes", "Notes"),
        Said("jobs", "NextProcId"),
        Said("items", "NextRow"),
        Said("completion", "Completion"),
    )
    WORDS: ClassVar[dict[int, str]] = {
        Completion.INCOMPLETE: "Incomplete",
        Completion.PAUSED: "Paused",
        Completion.COMPLETE: "Complete",
    }

    def body(self) -> list[str]:
        """Return the counts, how it ended, and the notes."""
        word = self.WORDS.get(self.completion, f"Error {int(self.completion)}")
        lines = [
            _REMOVED,
            f"\tMaterialized {self.jobs} jobs from {self.items} items.\t{word}",
        ]
        return [*lines, f"\t{one_line(self.notes)}"] if self.notes else lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the counts, how it ended, and the notes."""
        line = lines.take()
        if line.startswith(_REMOVED):
            line = lines.maybe_take() or ""
        counts = _MADE.match(line)
        event = cls()
        if counts is not None:
            event.jobs, event.items = int(counts[1]), int(counts[2] or 0)
            event.completion = _completion_in(counts[3] or "")
        event.notes = lines.maybe_trimmed() or None
        return event


def _completion_in(word: str) -> int:
    """Return what a word says; as in the reference one that is unknown says nothing."""
    for number, text in ClusterRemoveEvent.WORDS.items():
        if word.lower().startswith(text.lower()):
            return number
    if not word.lower().startswith("error"):
        return Completion.INCOMPLETE
    try:
        return min(leading_number(word[len("error") :]), Completion.ERROR)
    except BodyError:
        return Completion.ERROR


@dataclass(slots=True, kw_only=True)
class FactoryPausedEvent(Event):
    """No more jobs of a cluster are made for the time being."""

    reason: str | None = None
    pause_code: int = 0
    hold_code: int = 0

    number: ClassVar[int] = 37
    type_name: ClassVar[str] = "FactoryPausedEvent"
    _sentence: ClassVar[str] = "Job Materialization Paused"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("reason", "Reason"),
        Said("pause_code", "PauseCode"),
        Said("hold_code", "HoldCode"),
    )

    def body(self) -> list[str]:
        """Return the reason and the codes that are not zero."""
        lines = [self._sentence]
        if self.reason or self.pause_code:
            lines.append(f"\t{one_line(self.reason or '')}")
        if self.pause_code:
            lines.append(f"\tPauseCode {self.pause_code}")
        if self.hold_code:
            lines.append(f"\tHoldCode {self.hold_code}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason and the codes; what is no sentence is a reason, as in the reference.

        Codes without a reason that are all zero are left, and so written again: what follows them
        would stand for the reason otherwise.

        Compat: there a code where a reason could be is the reason
        (test_a_code_is_no_reason).
        """
        lines.maybe_after(cls._sentence)
        event = cls()
        if not _is_code(lines.peek()):
            event.reason = lines.maybe_trimmed() or None
        ahead = lines.ahead()
        begin = 1 if event.reason is None and ahead and not ahead[0].strip() else 0
        end = next((at for at in range(begin, len(ahead)) if not _is_code(ahead[at])), len(ahead))
        for line in ahead[begin:end]:
            name, _, text = line.strip().partition(" ")
            setattr(event, _CODES[name], leading_number(text, otherwise=0))
        if event.reason or event.pause_code or event.hold_code:
            lines.skip(end)
        return event


_CODES = {"PauseCode": "pause_code", "HoldCode": "hold_code"}


def _is_code(line: str | None) -> bool:
    return line is not None and line.strip().partition(" ")[0] in _CODES


@dataclass(slots=True, kw_only=True)
class FactoryResumedEvent(Prefixed):
    """Jobs of a cluster are made again."""

    reason: str | None = None

    number: ClassVar[int] = 38
    type_name: ClassVar[str] = "FactoryResumedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("reason", "Reason"),)
    SENTENCE: ClassVar[str] = "Job Materialization Resumed"
    LINES: ClassVar[TextLines] = (TextLine("\t", "reason"),)

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason; what is no sentence is one, as in the reference.

        An empty line in its place is left, and so written again: what follows would become it.
        """
        lines.maybe_after(cls.SENTENCE)
        return cls().read_lines(lines)


@dataclass(slots=True, kw_only=True)
class FileTransferEvent(Event):
    """A stage of a job's file transfer.

    `kind`: 1 queued for input, 2 started, 3 finished; 4, 5 and 6 the same for output.
    """

    kind: int = 0
    queue_seconds: int | None = None
    host: str | None = None

    number: ClassVar[int] = 40
    type_name: ClassVar[str] = "FileTransferEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("kind", "Type"),
        Said("queue_seconds", "QueueingDelay"),
        Said("host", "Host"),
    )

    def add_to_ad(self, ad: ClassAd) -> None:
        """Take a time in the queue below zero away, which is unknown."""
        if (self.queue_seconds or 0) < 0:
            del ad["QueueingDelay"]

    _SENTENCES: ClassVar[dict[int, str]] = {
        1: "Entered queue to transfer input files",
        2: "Started transferring input files",
        3: "Finished transferring input files",
        4: "Entered queue to transfer output files",
        5: "Started transferring output files",
        6: "Finished transferring output files",
    }

    def body(self) -> list[str]:
        """Return the stage, the time in the queue, and the other side."""
        lines = [self._SENTENCES.get(self.kind, "Unknown stage of a file transfer")]
        if self.queue_seconds is not None:
            lines.append(f"\tSeconds spent in queue: {self.queue_seconds}")
        if self.host:
            lines.append(f"\tTransferring to host: {one_line(self.host)}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the stage, the time in the queue, and the other side."""
        first = lines.take()
        kinds = [kind for kind, sentence in cls._SENTENCES.items() if sentence == first]
        if not kinds:
            raise BodyError(f"{quoted(first)} is no stage of a file transfer")
        event = cls(kind=kinds[0])
        seconds = lines.maybe_after("\tSeconds spent in queue: ")
        event.queue_seconds = None if seconds is None else number_in(seconds or "0", "")
        event.host = lines.maybe_after("\tTransferring to host: ")
        return event


@dataclass(slots=True, kw_only=True)
class _Reuse(Prefixed):
    """An event about files that jobs share: its first field continues the header's line.

    Compat: the reference writes a blank there and the first field on a line of its own, which its
    own reader refuses; we write what it reads, and read both
    (tests/interop/test_event_log_against_wheel.py).
    """

    SAYS_EMPTY: ClassVar[bool] = True

    NUMBERS: ClassVar[frozenset[str]] = frozenset()

    def body(self) -> list[str]:
        """Return the fields: all of them, for the reference reads no event that lacks one."""
        values = [(prefix, name, getattr(self, name)) for prefix, name in self.LINES]
        lines = [
            f"{prefix}{one_line(str(value or (0 if name in self.NUMBERS else '')))}"
            for prefix, name, value in values
        ]
        return [lines[0].removeprefix("\t"), *lines[1:]]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the fields; BodyError if one is not there."""
        event = cls()
        below = not (lines.peek() or "").strip()
        if below:
            lines.skip(1)
        for number, (prefix, name) in enumerate(cls.LINES):
            text = lines.after(prefix if number or below else prefix.removeprefix("\t"))
            setattr(event, name, leading_number(text) if name in cls.NUMBERS else text)
        return event


@dataclass(slots=True, kw_only=True)
class ReserveSpaceEvent(_Reuse):
    """Space for files that jobs share was set aside."""

    size: int = 0
    expires_at: int = 0
    reservation: str = ""
    tag: str = ""

    number: ClassVar[int] = 41
    type_name: ClassVar[str] = "ReserveSpaceEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("expires_at", "ExpirationTime"),
        Said("size", "ReservedSpace"),
        Said("reservation", "UUID"),
        Said("tag", "Tag"),
    )
    LINES: ClassVar[TextLines] = (
        TextLine("\tBytes reserved: ", "size"),
        TextLine("\tReservation Expiration: ", "expires_at"),
        TextLine("\tReservation UUID: ", "reservation"),
        TextLine("\tTag: ", "tag"),
    )
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"size", "expires_at"})


@dataclass(slots=True, kw_only=True)
class ReleaseSpaceEvent(_Reuse):
    """Space that was set aside is free again."""

    reservation: str = ""

    number: ClassVar[int] = 42
    type_name: ClassVar[str] = "ReleaseSpaceEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("reservation", "UUID"),)
    LINES: ClassVar[TextLines] = (TextLine("\tReservation UUID: ", "reservation"),)


@dataclass(slots=True, kw_only=True)
class FileCompleteEvent(_Reuse):
    """A file that jobs share has arrived."""

    size: int = 0
    checksum: str = ""
    checksum_type: str = ""
    reservation: str = ""

    number: ClassVar[int] = 43
    type_name: ClassVar[str] = "FileCompleteEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("size", "Size"),
        Said("checksum", "Checksum"),
        Said("checksum_type", "ChecksumType"),
        Said("reservation", "UUID"),
    )
    LINES: ClassVar[TextLines] = (
        TextLine("\tBytes: ", "size"),
        TextLine("\tChecksum Value: ", "checksum"),
        TextLine("\tChecksum Type: ", "checksum_type"),
        TextLine("\tUUID: ", "reservation"),
    )
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"size"})


@dataclass(slots=True, kw_only=True)
class FileUsedEvent(_Reuse):
    """A file that jobs share was used."""

    checksum: str = ""
    checksum_type: str = ""
    tag: str = ""

    number: ClassVar[int] = 44
    type_name: ClassVar[str] = "FileUsedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("checksum", "Checksum"),
        Said("checksum_type", "ChecksumType"),
        Said("tag", "Tag"),
    )
    LINES: ClassVar[TextLines] = (
        TextLine("\tChecksum Value: ", "checksum"),
        TextLine("\tChecksum Type: ", "checksum_type"),
        TextLine("\tTag: ", "tag"),
    )


@dataclass(slots=True, kw_only=True)
class FileRemovedEvent(_Reuse):
    """A file that jobs shared was deleted."""

    size: int = 0
    checksum: str = ""
    checksum_type: str = ""
    tag: str = ""

    number: ClassVar[int] = 45
    type_name: ClassVar[str] = "FileRemovedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("size", "Size"),
        Said("checksum", "Checksum"),
        Said("checksum_type", "ChecksumType"),
        Said("tag", "Tag"),
    )
    LINES: ClassVar[TextLines] = (
        TextLine("\tBytes: ", "size"),
        TextLine("\tChecksum Value: ", "checksum"),
        TextLine("\tChecksum Type: ", "checksum_type"),
        TextLine("\tTag: ", "tag"),
    )
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"size"})


@dataclass(slots=True, kw_only=True)
class DataflowJobSkippedEvent(Prefixed):
    """A job whose output is newer than its input did not have to run."""

    reason: str | None = None

    number: ClassVar[int] = 46
    type_name: ClassVar[str] = "DataflowJobSkippedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("reason", "Reason"),)
    SENTENCE: ClassVar[str] = "Dataflow job was skipped."
    LINES: ClassVar[TextLines] = (TextLine("\t", "reason"),)


@dataclass(slots=True, kw_only=True)
class CommonFilesEvent(Event):
    """Files that several jobs of a cluster share were moved.

    Compat: the reference neither reads nor shows the text that it writes; we do
    (test_the_text_of_common_files_is_shown).
    """

    kind: str = ""
    text: str | None = None

    number: ClassVar[int] = 47
    type_name: ClassVar[str] = "CommonFilesEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (Said("kind", "Type"), Said("text", "Text"))
    UNSAID: ClassVar[Mapping[str, object]] = {"kind": "None"}

    def body(self) -> list[str]:
        """Return what happened."""
        first = f"Common files event: {one_line(self.kind)}"
        return [first] if self.text is None else [first, f"\t{one_line(self.text)}"]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read what happened."""
        return cls(kind=lines.after("Common files event: "), text=lines.maybe_after("\t"))
