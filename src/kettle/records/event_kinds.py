"""Events 000-016: one dataclass each, bytes as the reference's.

Order is that of the numbers; the others are in `event_grid.py` (017-034) and `event_cluster.py`.
Formats: wire notes, Job event log, R083, R084; recorded logs of a real pool are the test data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from kettle.patterns import late_pattern
from kettle.records.event_base import (
    Attributes,
    BodyError,
    Event,
    Lines,
    number_in,
    parse_times,
    render_count,
    render_times,
)
from kettle.records.event_text import one_line
from kettle.records.event_usage import (
    NO_TIME,
    CpuTimes,
    UsageValue,
    is_usage_heading,
    parse_usage_table,
    render_usage_table,
)

_WARNING = "    WARNING: Committed job submission into the queue with the following warning(s): "


# How the labels of counted lines begin.
_RUN_BYTES: Attributes = (
    ("sent_bytes", "Run Bytes Sent"),
    ("received_bytes", "Run Bytes Received"),
)
_ALL_BYTES: Attributes = (
    *_RUN_BYTES,
    ("total_sent_bytes", "Total Bytes Sent"),
    ("total_received_bytes", "Total Bytes Received"),
)
_NORMAL = late_pattern(r"\s*\(1\) Normal termination \(return value (-?\d{1,400})\)")
_ABNORMAL = late_pattern(r"\s*\(0\) Abnormal termination \(signal (-?\d{1,400})\)")
_CORE = late_pattern(r"\s*\((?:1\) Corefile in: (.*)|0\))")


def _take_table(lines: Lines) -> dict[str, UsageValue]:
    line = lines.peek()
    if line is None or not is_usage_heading(line):
        return {}
    table, taken = parse_usage_table(lines.ahead())
    lines.skip(taken)
    return table


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
        ("host", "SubmitHost"),
        ("log_notes", "LogNotes"),
        ("user_notes", "UserNotes"),
        ("warnings", "Warnings"),
    )
    _first: ClassVar[str] = "Job submitted from host: "

    def body(self) -> list[str]:
        """Return the host, the notes and the warnings."""
        lines = [f"{self._first}{one_line(self.host)}"]
        notes = (self.structured or self.log_notes, self.user_notes)
        lines += [f"    {one_line(note)}" for note in notes if note]
        if self.warnings:
            lines.append(f"{_WARNING}{one_line(self.warnings)}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the host and up to two notes; a first one in brackets is structured."""
        event = cls(host=lines.after(cls._first))
        notes: list[str] = []
        while (warning := lines.maybe_after(_WARNING)) is None:
            note = lines.maybe_after("    ") if len(notes) < 2 else None
            if note is None:
                break
            notes.append(note)
        event.warnings = warning
        event.log_notes, event.user_notes = (*notes, None, None)[:2]
        if event.log_notes is not None and event.log_notes.startswith("["):
            event.structured = event.log_notes
        return event


@dataclass(slots=True, kw_only=True)
class ExecuteEvent(Event):
    """A job began to run. `properties` are the slot's, as ClassAd texts."""

    host: str = ""
    slot_name: str | None = None
    properties: dict[str, str] = field(default_factory=dict)

    number: ClassVar[int] = 1
    type_name: ClassVar[str] = "ExecuteEvent"
    ATTRIBUTES: ClassVar[Attributes] = (("host", "ExecuteHost"), ("slot_name", "SlotName"))

    def _head(self) -> str:
        return f"Job executing on host: {one_line(self.host)}"

    def body(self) -> list[str]:
        """Return host, slot and properties in the order of their names."""
        lines = [self._head()]
        if self.slot_name:
            lines.append(f"\tSlotName: {one_line(self.slot_name)}")
        names = sorted(self.properties, key=str.lower)
        lines.extend(f"\t{name} = {one_line(self.properties[name])}" for name in names)
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read host, slot and properties."""
        return cls(host=lines.after("Job executing on host: ")).read_slot(lines)

    def read_slot(self, lines: Lines) -> Self:
        """Read the slot's name and its properties."""
        self.slot_name = lines.maybe_after("\tSlotName: ")
        while (line := lines.peek()) is not None and line.startswith("\t") and " = " in line:
            name, _, text = lines.take()[1:].partition(" = ")
            self.properties[name] = text
        return self


@dataclass(slots=True, kw_only=True)
class ExecutableErrorEvent(Event):
    """The executable cannot be run: `kind` 0 not executable, 1 badly linked."""

    kind: int = 0

    number: ClassVar[int] = 2
    type_name: ClassVar[str] = "ExecutableErrorEvent"
    ATTRIBUTES: ClassVar[Attributes] = (("kind", "ExecuteErrorType"),)
    _TEXTS: ClassVar[dict[int, str]] = {
        0: "Job file not executable.",
        1: "Job not properly linked for Condor.",
    }

    def body(self) -> list[str]:
        """Return the kind and its sentence."""
        return [f"({self.kind}) {self._TEXTS.get(self.kind, '[Bad error number.]')}"]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the kind."""
        return cls(kind=number_in(lines.take().partition(")")[0], "("))


@dataclass(slots=True, kw_only=True)
class CheckpointedEvent(Event):
    """A checkpoint was stored."""

    run_remote: CpuTimes = NO_TIME
    run_local: CpuTimes = NO_TIME
    sent_bytes: float = 0.0

    number: ClassVar[int] = 3
    type_name: ClassVar[str] = "CheckpointedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("run_local", "RunLocalUsage"),
        ("run_remote", "RunRemoteUsage"),
        ("sent_bytes", "SentBytes"),
    )

    def body(self) -> list[str]:
        """Return the CPU times and the bytes."""
        return [
            "Job was checkpointed.",
            render_times(self.run_remote, "Run Remote Usage"),
            render_times(self.run_local, "Run Local Usage"),
            render_count(self.sent_bytes, "Run Bytes Sent By Job For Checkpoint"),
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the CPU times and the bytes."""
        lines.after("Job was checkpointed.")
        event = cls(run_remote=parse_times(lines), run_local=parse_times(lines))
        return event.read_counts(lines, (("sent_bytes", "Run Bytes Sent"),))


@dataclass(slots=True, kw_only=True)
class _Ended(Event):
    """How a process ended; part of 004, 005, 015 and 016."""

    normal: bool = True
    return_value: int | None = None
    signal: int | None = None
    core_file: str | None = None

    def _ending(self, *, core: bool = True) -> list[str]:
        if self.normal:
            return [f"\t(1) Normal termination (return value {self.return_value or 0})"]
        lines = [f"\t(0) Abnormal termination (signal {self.signal or 0})"]
        if core:
            lines.append(
                f"\t(1) Corefile in: {one_line(self.core_file)}"
                if self.core_file
                else "\t(0) No core file"
            )
        return lines

    def read_ending(self, lines: Lines, *, core: bool = True) -> None:
        """Read how the process ended."""
        line = lines.take()
        if (found := _NORMAL.match(line)) is not None:
            self.normal, self.return_value = True, number_in(found[1], "")
            return
        if (found := _ABNORMAL.match(line)) is None:
            raise BodyError(f"{line!r} does not say how a process ended")
        self.normal, self.signal = False, number_in(found[1], "")
        if core:
            line = lines.take()
            if (found := _CORE.match(line)) is None:
                raise BodyError(f"{line!r} does not speak of a core file")
            self.core_file = found[1]


@dataclass(slots=True, kw_only=True)
class JobEvictedEvent(_Ended):
    """A job lost its slot before it ended, or ended and went back into the queue."""

    checkpointed: bool = False
    requeued: bool = False
    run_remote: CpuTimes = NO_TIME
    run_local: CpuTimes = NO_TIME
    sent_bytes: float = 0.0
    received_bytes: float = 0.0
    reason: str | None = None
    reason_code: int | None = None
    reason_subcode: int | None = None
    usage: dict[str, UsageValue] = field(default_factory=dict)

    number: ClassVar[int] = 4
    type_name: ClassVar[str] = "JobEvictedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("checkpointed", "Checkpointed"),
        ("run_local", "RunLocalUsage"),
        ("run_remote", "RunRemoteUsage"),
        ("sent_bytes", "SentBytes"),
        ("received_bytes", "ReceivedBytes"),
        ("requeued", "TerminatedAndRequeued"),
        ("reason", "Reason"),
        ("reason_code", "ReasonCode"),
        ("reason_subcode", "ReasonSubCode"),
    )

    def body(self) -> list[str]:
        """Return why, what was used, and the table of resources."""
        first = "Job was evicted."
        if self.reason_code is not None:
            first += f" Code {self.reason_code} Subcode {self.reason_subcode or 0}"
        if self.requeued:
            how = "\t(0) Job terminated and was requeued"
        else:
            how = "\t(1) Job was checkpointed." if self.checkpointed else "\t(0) CPU times"
        lines = [
            first,
            how,
            render_times(self.run_remote, "Run Remote Usage"),
            render_times(self.run_local, "Run Local Usage"),
            render_count(self.sent_bytes, "Run Bytes Sent By Job"),
            render_count(self.received_bytes, "Run Bytes Received By Job"),
        ]
        if self.requeued:
            lines += self._ending()
        if self.reason:
            prefix = "\t" if self.requeued else "\tReason: "
            lines.append(prefix + one_line(self.reason))
        return lines + render_usage_table(self.usage)

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read why, what was used, and the table of resources."""
        event = cls()
        code = lines.after("Job was evicted.").strip()
        if code:
            number, _, subcode = code.partition(" Subcode ")
            event.reason_code = number_in(number, "Code ")
            event.reason_subcode = number_in(subcode, "")
        how = lines.take().lstrip().removeprefix("(")
        event.requeued = "requeued" in how
        event.checkpointed = how.startswith("1)") and not event.requeued
        event.run_remote = parse_times(lines)
        event.run_local = parse_times(lines)
        event.read_counts(lines, _RUN_BYTES)
        if event.requeued:
            event.read_ending(lines)
        next_line = lines.peek()
        if next_line is not None and not is_usage_heading(next_line):
            event.reason = lines.maybe_after("\t" if event.requeued else "\tReason: ")
        event.usage = _take_table(lines)
        return event


@dataclass(slots=True, kw_only=True)
class JobTerminatedEvent(_Ended):
    """A job ended, by itself or by a signal (R084), with what it used."""

    run_remote: CpuTimes = NO_TIME
    run_local: CpuTimes = NO_TIME
    total_remote: CpuTimes = NO_TIME
    total_local: CpuTimes = NO_TIME
    sent_bytes: float = 0.0
    received_bytes: float = 0.0
    total_sent_bytes: float = 0.0
    total_received_bytes: float = 0.0
    usage: dict[str, UsageValue] = field(default_factory=dict)

    number: ClassVar[int] = 5
    type_name: ClassVar[str] = "JobTerminatedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("normal", "TerminatedNormally"),
        ("return_value", "ReturnValue"),
        ("signal", "TerminatedBySignal"),
        ("core_file", "CoreFile"),
        ("run_local", "RunLocalUsage"),
        ("run_remote", "RunRemoteUsage"),
        ("total_local", "TotalLocalUsage"),
        ("total_remote", "TotalRemoteUsage"),
        ("sent_bytes", "SentBytes"),
        ("received_bytes", "ReceivedBytes"),
        ("total_sent_bytes", "TotalSentBytes"),
        ("total_received_bytes", "TotalReceivedBytes"),
    )
    _by: ClassVar[str] = "Job"

    def _head(self) -> str:
        return "Job terminated."

    def body(self) -> list[str]:
        """Return how it ended, four CPU times, four byte counts and the table of resources."""
        return [
            self._head(),
            *self._ending(),
            render_times(self.run_remote, "Run Remote Usage"),
            render_times(self.run_local, "Run Local Usage"),
            render_times(self.total_remote, "Total Remote Usage"),
            render_times(self.total_local, "Total Local Usage"),
            render_count(self.sent_bytes, f"Run Bytes Sent By {self._by}"),
            render_count(self.received_bytes, f"Run Bytes Received By {self._by}"),
            render_count(self.total_sent_bytes, f"Total Bytes Sent By {self._by}"),
            render_count(self.total_received_bytes, f"Total Bytes Received By {self._by}"),
            *render_usage_table(self.usage),
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read what `body` writes."""
        lines.after("Job terminated.")
        return cls().read_usage(lines)

    def read_usage(self, lines: Lines) -> Self:
        """Read what follows the first line."""
        self.read_ending(lines)
        self.run_remote = parse_times(lines)
        self.run_local = parse_times(lines)
        self.total_remote = parse_times(lines)
        self.total_local = parse_times(lines)
        self.read_counts(lines, _ALL_BYTES)
        self.usage = _take_table(lines)
        return self


@dataclass(slots=True, kw_only=True)
class JobImageSizeEvent(Event):
    """How much memory a job was seen to use; -1 and None are unknown and not written."""

    size_kb: int = 0
    memory_mb: int | None = None
    resident_kb: int | None = None
    proportional_kb: int | None = None

    number: ClassVar[int] = 6
    type_name: ClassVar[str] = "JobImageSizeEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("size_kb", "Size"),
        ("memory_mb", "MemoryUsage"),
        ("resident_kb", "ResidentSetSize"),
        ("proportional_kb", "ProportionalSetSize"),
    )
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
        event = cls(size_kb=number_in(lines.take(), "Image size of job updated: "))
        for name, label in cls._LABELS:
            text, _, said = (lines.peek() or "").partition("  -  ")
            if said.startswith(label):
                lines.skip(1)
                setattr(event, name, number_in(text.strip(), ""))
        return event


@dataclass(slots=True, kw_only=True)
class ShadowExceptionEvent(Event):
    """The access point's side of the job failed; the job will be tried again."""

    message: str = ""
    sent_bytes: float = 0.0
    received_bytes: float = 0.0

    number: ClassVar[int] = 7
    type_name: ClassVar[str] = "ShadowExceptionEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("message", "Message"),
        ("sent_bytes", "SentBytes"),
        ("received_bytes", "ReceivedBytes"),
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
        message = lines.maybe_after("\t")
        event = cls(message=message or "")
        return event if message is None else event.read_counts(lines, _RUN_BYTES)


@dataclass(slots=True, kw_only=True)
class GenericEvent(Event):
    """Any text; the header of a global event log is one."""

    info: str = ""

    number: ClassVar[int] = 8
    type_name: ClassVar[str] = "GenericEvent"
    ATTRIBUTES: ClassVar[Attributes] = (("info", "Info"),)

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
    ATTRIBUTES: ClassVar[Attributes] = (("reason", "Reason"),)

    def body(self) -> list[str]:
        """Return the sentence and the reason."""
        return [self._sentence, *([f"\t{one_line(self.reason)}"] if self.reason else [])]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason."""
        lines.after(cls._sentence)
        return cls(reason=lines.maybe_after("\t"))


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
        reason = (lines.peek() or "").strip()
        if reason:
            lines.skip(1)
        return cls(reason=reason or None)


@dataclass(slots=True, kw_only=True)
class JobSuspendedEvent(Event):
    """A job's processes were stopped."""

    processes: int = 0

    number: ClassVar[int] = 10
    type_name: ClassVar[str] = "JobSuspendedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (("processes", "NumberOfPIDs"),)

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


def _read_code(lines: Lines) -> tuple[int, int] | None:
    text = lines.maybe_after("\tCode ")
    if text is None:
        return None
    code, _, subcode = text.partition(" Subcode ")
    return number_in(code, ""), number_in(subcode, "")


@dataclass(slots=True, kw_only=True)
class JobHeldEvent(Event):
    """A job is held; code and subcode as in HoldReasonCode and HoldReasonSubCode."""

    reason: str | None = None
    code: int = 0
    subcode: int = 0

    number: ClassVar[int] = 12
    type_name: ClassVar[str] = "JobHeldEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("reason", "HoldReason"),
        ("code", "HoldReasonCode"),
        ("subcode", "HoldReasonSubCode"),
    )

    def body(self) -> list[str]:
        """Return the reason and its codes."""
        return [
            "Job was held.",
            f"\t{one_line(self.reason) if self.reason else 'Reason unspecified'}",
            f"\tCode {self.code} Subcode {self.subcode}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason and its codes."""
        lines.after("Job was held.")
        reason = lines.maybe_after("\t")
        event = cls(reason=None if reason == "Reason unspecified" else reason)
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
        ("host", "ExecuteHost"),
        ("slot_name", "SlotName"),
        ("node", "Node"),
    )

    def _head(self) -> str:
        return f"Node {self.node} executing on host: {one_line(self.host)}"

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read node, host, slot and properties."""
        node, separator, host = lines.after("Node ").partition(" executing on host: ")
        if not separator:
            raise BodyError("a node event without a host")
        return cls(node=number_in(node, ""), host=host).read_slot(lines)


@dataclass(slots=True, kw_only=True)
class NodeTerminatedEvent(JobTerminatedEvent):
    """One node of a parallel job ended."""

    node: int = 0

    number: ClassVar[int] = 15
    type_name: ClassVar[str] = "NodeTerminatedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (*JobTerminatedEvent.ATTRIBUTES, ("node", "Node"))
    _by: ClassVar[str] = "Node"

    def _head(self) -> str:
        return f"Node {self.node} terminated."

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read what `body` writes."""
        return cls(node=number_in(lines.take(), "Node ", " terminated.")).read_usage(lines)


@dataclass(slots=True, kw_only=True)
class PostScriptTerminatedEvent(_Ended):
    """A DAG node's POST script ended."""

    node_name: str | None = None

    number: ClassVar[int] = 16
    type_name: ClassVar[str] = "PostScriptTerminatedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        ("normal", "TerminatedNormally"),
        ("return_value", "ReturnValue"),
        ("signal", "TerminatedBySignal"),
        ("node_name", "DAGNodeName"),
    )

    def body(self) -> list[str]:
        """Return how it ended and for which node."""
        lines = ["POST Script terminated.", *self._ending(core=False)]
        if self.node_name:
            lines.append(f"    DAG Node: {one_line(self.node_name)}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read how it ended and for which node."""
        lines.after("POST Script terminated.")
        event = cls()
        event.read_ending(lines, core=False)
        event.node_name = lines.maybe_after("    DAG Node: ")
        return event
