"""Events 000-014: one dataclass each, bytes as the reference's.

Order is that of the numbers; those with CPU times (003-005, 015) and 016 are in `event_ends.py`,
the others in `event_grid.py` (021-034), `event_cluster.py` and `event_future.py`.
Formats: wire notes, Job event log, R083, R084; recorded logs of a real pool are the test data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from kettle.errors import ClassAdSyntaxError
from kettle.records.event_base import (
    RUN_BYTES,
    Attributes,
    BodyError,
    Event,
    Lines,
    Said,
    add_texts,
    assignment_in,
    leading_number,
    number_in,
    render_count,
)
from kettle.records.event_text import one_line

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.classad.nodes import AdNode

# How a note of old logs begins that names a node.
_NODE = "DAG Node: "
_WARNING = "WARNING: Committed job submission into the queue with the following warning(s):"


@dataclass(slots=True, kw_only=True)
class SubmitEvent(Event):
    """A job is in the queue.

    `structured` is an ad in new syntax, notes that have names; it stands in the text instead of
    `log_notes`. DAGMan finds its node by it.
    """

    host: str = ""
    structured: str | None = None
    log_notes: str | None = None
    user_notes: str | None = None
    warnings: str | None = None

    number: ClassVar[int] = 0
    type_name: ClassVar[str] = "SubmitEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("host", "SubmitHost"),
        Said("log_notes", "LogNotes"),
        Said("user_notes", "UserNotes"),
        Said("warnings", "Warnings"),
    )
    _first: ClassVar[str] = "Job submitted from host: "

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add the notes that have names."""
        text = self._named_notes()
        notes = _parse_notes(text) if text else None
        if notes is not None and notes.table:
            ad["StructuredNotes"] = notes

    def _named_notes(self) -> str | None:
        """Return the notes that have names; those of old logs name a DAG's node."""
        if self.structured or not (self.log_notes or "").startswith(_NODE):
            return self.structured
        from kettle.classad.unparse import quote

        return f"[ DAGNodeName = {quote((self.log_notes or '').removeprefix(_NODE))} ]"

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take the notes that have names."""
        from kettle.classad import unparse
        from kettle.classad.nodes import AdNode

        notes = ad.lookup("StructuredNotes")
        self.structured = unparse(notes) if isinstance(notes, AdNode) else None

    def body(self) -> list[str]:
        """Return the host, the notes and the warnings."""
        lines = [f"{self._first}{one_line(self.host)}"]
        notes = [self._named_notes() or self.log_notes, self.user_notes]
        # An empty note that a log has keeps what follows in its place.
        follows = bool(self.user_notes or self.warnings or self.extra)
        lines += [f"    {one_line(n)}" for n in notes if n or (n == "" and follows)]
        if self.warnings:
            lines.append(f"    {_WARNING} {one_line(self.warnings)}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the host and up to two notes; a first one in brackets is structured.

        Compat: the reference has the sentence before the warnings in `Warnings` and writes it once
        more, and shows of a cluster's notes only structured ones; we have the warnings and the
        notes (test_warnings_do_not_grow). It takes a second one in brackets for a first, which it
        forgets, and writes structured ones anew: names by their length, and no word behind them.
        What stands in a log stays as it is (test_notes_in_brackets_stay_as_they_are).
        """
        event = cls(host=lines.after(cls._first))
        notes: list[str] = []
        while (line := lines.peek()) is not None:
            note = line.strip()
            if note.startswith(_WARNING):
                event.warnings = note.removeprefix(_WARNING).strip()
            elif len(notes) < 2:
                notes.append(note)
            else:
                break
            lines.skip(1)
            if event.warnings is not None:
                break
        while notes and not notes[-1] and event.warnings is None and lines.peek() is None:
            notes.pop()
        event.log_notes, event.user_notes = (*notes, None, None)[:2]
        if event.log_notes is not None and event.log_notes.startswith("["):
            event.structured = event.log_notes
        return event


def _parse_notes(text: str) -> AdNode | None:
    """Return notes as an ad; None for a user's that only look like one."""
    # Late: who reads or writes texts alone has no ads.
    from kettle.classad import parse_expression
    from kettle.classad.nodes import AdNode

    try:
        notes = parse_expression(text)
    except ClassAdSyntaxError:
        return None
    return notes if isinstance(notes, AdNode) else None


@dataclass(slots=True, kw_only=True)
class ExecuteEvent(Event):
    """A job began to run. `properties` are the slot's, as ClassAd texts."""

    host: str = ""
    slot_name: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    number: ClassVar[int] = 1
    type_name: ClassVar[str] = "ExecuteEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("host", "ExecuteHost"), Said("slot_name", "SlotName"))

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add the slot's properties as an ad of their own."""
        from kettle.classad import ClassAd

        if self.properties:
            inner = ClassAd()
            add_texts(inner, self.properties.items())
            ad["ExecuteProps"] = inner

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take the slot's properties."""
        from kettle.classad import ClassAd

        inner = ad.evaluate("ExecuteProps")
        if isinstance(inner, ClassAd):
            self.properties = {name: inner.text(name) or "" for name in inner.own_names()}

    def _head(self) -> str:
        return f"Job executing on host: {one_line(self.host)}"

    def body(self) -> list[str]:
        """Return host, slot and properties in the order of their names."""
        lines = [self._head()]
        if self.slot_name is not None:
            lines.append(f"\tSlotName: {one_line(self.slot_name)}")
        names = sorted(self.properties, key=str.lower)
        lines.extend(f"\t{name} = {one_line(self.properties[name])}" for name in names)
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read host, slot and properties."""
        return cls(host=lines.after("Job executing on host: ")).read_slot(lines)

    def read_slot(self, lines: Lines) -> Self:
        """Read the slot's name and its properties; other lines are kept."""
        name = lines.maybe_after("\tSlotName: ")
        self.slot_name = None if name is None else name.rstrip()
        for line in lines.rest():
            found = assignment_in(line)
            if found is None:
                self.extra.append(line)
            else:
                self.properties[found[0]] = found[1]
        return self


@dataclass(slots=True, kw_only=True)
class ExecutableErrorEvent(Event):
    """The executable cannot be run: `kind` 0 not executable, 1 badly linked."""

    kind: int = 0

    number: ClassVar[int] = 2
    type_name: ClassVar[str] = "ExecutableErrorEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("kind", "ExecuteErrorType"),)
    UNSAID: ClassVar[Mapping[str, object]] = {"kind": -1}
    _TEXTS: ClassVar[dict[int, str]] = {
        0: "Job file not executable.",
        1: "Job not properly linked for Condor.",
    }

    def add_to_ad(self, ad: ClassAd) -> None:
        """Take a kind away that is none."""
        if self.kind not in self._TEXTS:
            del ad["ExecuteErrorType"]

    def body(self) -> list[str]:
        """Return the kind and its sentence."""
        return [f"({self.kind}) {self._TEXTS.get(self.kind, '[Bad error number.]')}"]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the kind."""
        return cls(kind=number_in(lines.take().partition(")")[0], "("))


@dataclass(slots=True, kw_only=True)
class JobImageSizeEvent(Event):
    """How much memory a job was seen to use; -1 and None are unknown and not written.

    Of an event that was read, and does not say it, what is resident is 0, as in the reference.
    """

    size_kb: int = 0
    memory_mb: int | None = None
    resident_kb: int | None = None
    proportional_kb: int | None = None

    number: ClassVar[int] = 6
    type_name: ClassVar[str] = "JobImageSizeEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("size_kb", "Size"),
        Said("memory_mb", "MemoryUsage"),
        Said("resident_kb", "ResidentSetSize"),
        Said("proportional_kb", "ProportionalSetSize"),
    )
    UNSAID: ClassVar[Mapping[str, object]] = {"size_kb": -1, "resident_kb": 0}

    def add_to_ad(self, ad: ClassAd) -> None:
        """Take sizes below zero away, which are unknown; what is resident is zero if not said."""
        if self.resident_kb is None:
            ad["ResidentSetSize"] = 0
        for name, attribute in self.ATTRIBUTES:
            if (getattr(self, name) or 0) < 0:
                del ad[attribute]

    _LABELS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("memory_mb", "MemoryUsage of job (MB)"),
        ("resident_kb", "ResidentSetSize of job (KB)"),
        ("proportional_kb", "ProportionalSetSize of job (KB)"),
    )

    def body(self) -> list[str]:
        """Return the sizes that are known."""
        lines = [f"Image size of job updated: {self.size_kb}"]
        for name, label in self._LABELS:
            value = getattr(self, name)
            if value is not None and value >= 0:
                lines.append(f"\t{value}  -  {label}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the sizes that are there."""
        size_kb = leading_number(lines.after("Image size of job updated: "))
        event = cls(size_kb=size_kb, resident_kb=0)
        while (found := cls._size_in(lines.peek() or "")) is not None:
            name, size = found
            setattr(event, name, size if size >= 0 else cls.UNSAID.get(name))
            lines.skip(1)
        return event

    @classmethod
    def _size_in(cls, line: str) -> tuple[str, int] | None:
        text, _, said = line.partition("  -  ")
        for name, label in cls._LABELS:
            if said.lower().startswith(label.partition(" ")[0].lower()):
                return name, leading_number(text, otherwise=0)
        return None


@dataclass(slots=True, kw_only=True)
class ShadowExceptionEvent(Event):
    """The access point's side of the job failed; the job will be tried again."""

    message: str = ""
    sent_bytes: float = 0.0
    received_bytes: float = 0.0

    number: ClassVar[int] = 7
    type_name: ClassVar[str] = "ShadowExceptionEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("message", "Message"),
        Said("sent_bytes", "SentBytes"),
        Said("received_bytes", "ReceivedBytes"),
    )

    def body(self) -> list[str]:
        """Return the message and the bytes."""
        return [
            "Shadow exception!",
            f"\t{one_line(self.message)}",
            render_count(self.sent_bytes, "Run Bytes Sent By Job"),
            render_count(self.received_bytes, "Run Bytes Received By Job"),
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the message and, if they are there, the bytes."""
        lines.after("Shadow exception!")
        message = (lines.maybe_take() or "").strip()
        return cls(message=message).read_counts(lines, RUN_BYTES)


@dataclass(slots=True, kw_only=True)
class GenericEvent(Event):
    """Any text; the header of a global event log is one."""

    info: str = ""

    number: ClassVar[int] = 8
    type_name: ClassVar[str] = "GenericEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("info", "Info"),)

    def body(self) -> list[str]:
        """Return the text."""
        return [one_line(self.info)]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the text."""
        return cls(info=lines.take())


@dataclass(slots=True, kw_only=True)
class _Reason(Event):
    """A sentence and an optional reason below it; part of 009 and 013."""

    reason: str | None = None

    _sentence: ClassVar[str] = ""
    ATTRIBUTES: ClassVar[Attributes] = (Said("reason", "Reason"),)

    def body(self) -> list[str]:
        """Return the sentence and the reason."""
        return [self._sentence, *([f"\t{one_line(self.reason)}"] if self.reason else [])]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason."""
        lines.after(cls._sentence)
        return cls(reason=lines.maybe_trimmed() or None)


@dataclass(slots=True, kw_only=True)
class JobAbortedEvent(_Reason):
    """A job was removed."""

    number: ClassVar[int] = 9
    type_name: ClassVar[str] = "JobAbortedEvent"
    _sentence: ClassVar[str] = "Job was aborted."

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason; the sentence of old logs goes on: by the user."""
        lines.after("Job was aborted")
        return cls(reason=lines.maybe_trimmed() or None)


@dataclass(slots=True, kw_only=True)
class JobSuspendedEvent(Event):
    """A job's processes were stopped."""

    processes: int = 0

    number: ClassVar[int] = 10
    type_name: ClassVar[str] = "JobSuspendedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("processes", "NumberOfPIDs"),)
    UNSAID: ClassVar[Mapping[str, object]] = {"processes": -1}

    def body(self) -> list[str]:
        """Return the number of processes."""
        return [
            "Job was suspended.",
            f"\tNumber of processes actually suspended: {self.processes}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the number of processes."""
        lines.after("Job was suspended.")
        prefix = "\tNumber of processes actually suspended: "
        return cls(processes=number_in(lines.take(), prefix))


@dataclass(slots=True, kw_only=True)
class JobUnsuspendedEvent(Event):
    """A job's processes go on."""

    number: ClassVar[int] = 11
    type_name: ClassVar[str] = "JobUnsuspendedEvent"

    def body(self) -> list[str]:
        """Return the sentence."""
        return ["Job was unsuspended."]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Check the sentence."""
        lines.after("Job was unsuspended.")
        return cls()


_NO_REASON = "Reason unspecified"


def _read_code(lines: Lines) -> tuple[int, int] | None:
    text = (lines.peek() or "").strip()
    if not text.startswith("Code "):
        return None
    lines.skip(1)
    code, _, subcode = text.removeprefix("Code ").partition("Subcode ")
    return leading_number(code, otherwise=0), leading_number(subcode, otherwise=0)


@dataclass(slots=True, kw_only=True)
class JobHeldEvent(Event):
    """A job is held; code and subcode as in HoldReasonCode and HoldReasonSubCode."""

    reason: str | None = None
    code: int = 0
    subcode: int = 0

    number: ClassVar[int] = 12
    type_name: ClassVar[str] = "JobHeldEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("reason", "HoldReason"),
        Said("code", "HoldReasonCode"),
        Said("subcode", "HoldReasonSubCode"),
    )

    def body(self) -> list[str]:
        """Return the reason and its codes."""
        return [
            "Job was held.",
            f"\t{one_line(self.reason) if self.reason else _NO_REASON}",
            f"\tCode {self.code} Subcode {self.subcode}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason and its codes."""
        lines.after("Job was held.")
        reason = (lines.maybe_take() or "").strip()
        event = cls(reason=reason if reason not in ("", _NO_REASON) else None)
        # Old logs say no code.
        event.code, event.subcode = _read_code(lines) or (0, 0)
        return event


@dataclass(slots=True, kw_only=True)
class JobReleasedEvent(_Reason):
    """A held job is released."""

    number: ClassVar[int] = 13
    type_name: ClassVar[str] = "JobReleaseEvent"
    _sentence: ClassVar[str] = "Job was released."


@dataclass(slots=True, kw_only=True)
class NodeExecuteEvent(ExecuteEvent):
    """One node of a parallel job began to run."""

    node: int = 0

    number: ClassVar[int] = 14
    type_name: ClassVar[str] = "NodeExecuteEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("host", "ExecuteHost"),
        Said("slot_name", "SlotName"),
        Said("node", "Node"),
    )
    UNSAID: ClassVar[Mapping[str, object]] = {"node": -1}

    def _head(self) -> str:
        return f"Node {self.node} executing on host: {one_line(self.host)}"

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read node, host, slot and properties."""
        node, separator, host = lines.after("Node ").partition(" executing on host: ")
        if not separator:
            raise BodyError("a node event without a host")
        return cls(node=number_in(node, ""), host=host).read_slot(lines)
