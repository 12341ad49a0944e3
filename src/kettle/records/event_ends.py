"""Events of programs that ended, lost their place or were stored: 003, 004, 005, 015 and 016.

Formats: wire notes, Job event log, R083, R084; recorded logs of a real pool are the test data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from kettle.patterns import late_pattern
from kettle.records.event_base import (
    RUN_BYTES,
    Attributes,
    BodyError,
    Count,
    Counts,
    Event,
    Lines,
    Said,
    leading_number,
    number_in,
    parse_times,
    render_count,
    render_times,
)
from kettle.records.event_text import one_line, quoted
from kettle.records.event_usage import (
    NO_TIME,
    CpuTimes,
    UsageValue,
    is_usage_heading,
    parse_usage_table,
    render_usage_table,
    usage_in,
)

if TYPE_CHECKING:
    from kettle.classad import ClassAd

_ALL_BYTES: Counts = (
    *RUN_BYTES,
    Count("total_sent_bytes", "Total Bytes Sent"),
    Count("total_received_bytes", "Total Bytes Received"),
)
_NORMAL = late_pattern(r"\s*\(1\) Normal termination \(return value (-?\d{1,400})\)")
_ABNORMAL = late_pattern(r"\s*\(0\) Abnormal termination \(signal (-?\d{1,400})\)")
_CORE = late_pattern(r"\s*\((?:1\) Corefile in: (.*)|0\))")
_HOW_IT_ENDED: Attributes = (
    Said("normal", "TerminatedNormally"),
    Said("return_value", "ReturnValue"),
    Said("signal", "TerminatedBySignal"),
    Said("core_file", "CoreFile"),
)
_VALUES = _HOW_IT_ENDED[1:3]
# A return value or signal that is none.
_NO_VALUE = -1
_NODE = "DAG Node: "
# What is in an ad of a header, which is no resource.
_HEADER = ("MyType", "EventTypeNumber", "EventTime", "Cluster", "Proc", "Subproc", "Node")


def _said(value: int | None) -> int:
    return _NO_VALUE if value is None else value


def _take_table(lines: Lines) -> dict[str, UsageValue]:
    line = lines.peek()
    if line is None or not is_usage_heading(line):
        return {}
    table, taken = parse_usage_table(lines.ahead())
    # A heading without rows is none of a table: it is written again as it was.
    lines.skip(taken if table else 0)
    return table


@dataclass(slots=True, kw_only=True)
class CheckpointedEvent(Event):
    """A checkpoint was stored."""

    run_remote: CpuTimes = NO_TIME
    run_local: CpuTimes = NO_TIME
    sent_bytes: float = 0.0

    number: ClassVar[int] = 3
    type_name: ClassVar[str] = "CheckpointedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("run_local", "RunLocalUsage"),
        Said("run_remote", "RunRemoteUsage"),
        Said("sent_bytes", "SentBytes"),
    )

    def body(self) -> list[str]:
        """Return the CPU times and the bytes."""
        return [
            "Job was checkpointed.",
            # With one tab, where the other events have two.
            render_times(self.run_remote, "Run Remote Usage")[1:],
            render_times(self.run_local, "Run Local Usage")[1:],
            render_count(self.sent_bytes, "Run Bytes Sent By Job For Checkpoint"),
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the CPU times and the bytes."""
        lines.after("Job was checkpointed.")
        event = cls(run_remote=parse_times(lines), run_local=parse_times(lines))
        return event.read_counts(lines, (Count("sent_bytes", "Run Bytes Sent"),))


@dataclass(slots=True, kw_only=True)
class _Ended(Event):
    """How a process ended; part of 004, 005, 015 and 016."""

    normal: bool = True
    return_value: int | None = None
    signal: int | None = None
    core_file: str | None = None

    def _usage_in(self, ad: ClassAd) -> dict[str, UsageValue]:
        own = (*self.ATTRIBUTES, *_HOW_IT_ENDED)
        return usage_in(ad, [*_HEADER, *(attribute for _, attribute in own)])

    def _forget_no_value(self, ad: ClassAd) -> None:
        """Take values away that stand for none."""
        for name, attribute in _VALUES:
            if getattr(self, name) == _NO_VALUE:
                del ad[attribute]

    def _ending(self, *, core: bool = True) -> list[str]:
        if self.normal:
            return [f"\t(1) Normal termination (return value {_said(self.return_value)})"]
        lines = [f"\t(0) Abnormal termination (signal {_said(self.signal)})"]
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
            raise BodyError(f"{quoted(line)} does not say how a process ended")
        self.normal, self.signal = False, number_in(found[1], "")
        if core:
            line = lines.take()
            if (found := _CORE.match(line)) is None:
                raise BodyError(f"{quoted(line)} does not speak of a core file")
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
        Said("checkpointed", "Checkpointed"),
        Said("run_local", "RunLocalUsage"),
        Said("run_remote", "RunRemoteUsage"),
        Said("sent_bytes", "SentBytes"),
        Said("received_bytes", "ReceivedBytes"),
        Said("requeued", "TerminatedAndRequeued"),
        Said("reason", "Reason"),
        Said("reason_code", "ReasonCode"),
        Said("reason_subcode", "ReasonSubCode"),
    )

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add how the program ended, if it did; the table of resources is in the text only."""
        for attribute in ("ReasonCode", "ReasonSubCode"):
            if ad.integer(attribute) == 0:
                del ad[attribute]
        ad["TerminatedNormally"] = self.requeued and self.normal
        if not self.requeued:
            return
        for name, attribute in _HOW_IT_ENDED[1:]:
            if (value := getattr(self, name)) is not None:
                ad[attribute] = value

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take the table of resources and, if the program ended, how."""
        self.usage = self._usage_in(ad)
        if self.requeued:
            self.read_attributes(ad, _HOW_IT_ENDED)

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
            event.reason_subcode = leading_number(subcode)
        how = lines.take().lstrip().removeprefix("(")
        event.requeued = "requeued" in how
        event.checkpointed = how.startswith("1)") and not event.requeued
        event.run_remote = parse_times(lines)
        event.run_local = parse_times(lines)
        event.read_counts(lines, RUN_BYTES)
        if event.requeued:
            event.read_ending(lines)
        next_line = lines.peek() or ""
        # A line of times too many is no reason.
        if not is_usage_heading(next_line) and not next_line.lstrip().startswith("Usr "):
            lines.maybe_trimmed()
            event.reason = next_line.removeprefix("\tReason: ").strip() or None
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
        *_HOW_IT_ENDED,
        Said("run_local", "RunLocalUsage"),
        Said("run_remote", "RunRemoteUsage"),
        Said("total_local", "TotalLocalUsage"),
        Said("total_remote", "TotalRemoteUsage"),
        Said("sent_bytes", "SentBytes"),
        Said("received_bytes", "ReceivedBytes"),
        Said("total_sent_bytes", "TotalSentBytes"),
        Said("total_received_bytes", "TotalReceivedBytes"),
    )
    UNSAID: ClassVar[Mapping[str, object]] = {"normal": False}
    _by: ClassVar[str] = "Job"

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add the table of resources."""
        self._forget_no_value(ad)
        ad.update(self.usage)

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take the table of resources."""
        self.usage = self._usage_in(ad)

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
class NodeTerminatedEvent(JobTerminatedEvent):
    """One node of a parallel job ended."""

    node: int = 0

    number: ClassVar[int] = 15
    type_name: ClassVar[str] = "NodeTerminatedEvent"
    ATTRIBUTES: ClassVar[Attributes] = (*JobTerminatedEvent.ATTRIBUTES, Said("node", "Node"))
    UNSAID: ClassVar[Mapping[str, object]] = {"normal": False, "node": -1}
    _by: ClassVar[str] = "Node"

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add the table of resources; both ways to end have a value, whichever it was."""
        super(NodeTerminatedEvent, self).add_to_ad(ad)
        for name, attribute in _VALUES:
            if (value := getattr(self, name)) is None:
                value = _NO_VALUE
            ad[attribute] = value
        if self.node < 0:
            del ad["Node"]

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take the table of resources; of the way that it did not end no value counts."""
        super(NodeTerminatedEvent, self).take_from_ad(ad)
        other = "signal" if self.normal else "return_value"
        if getattr(self, other) == _NO_VALUE:
            setattr(self, other, None)

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
        *_HOW_IT_ENDED[:3],
        Said("node_name", "DAGNodeName"),
    )
    UNSAID: ClassVar[Mapping[str, object]] = {"normal": False}

    def add_to_ad(self, ad: ClassAd) -> None:
        """Take values away that stand for none."""
        self._forget_no_value(ad)

    def body(self) -> list[str]:
        """Return how it ended and for which node."""
        lines = ["POST Script terminated.", *self._ending(core=False)]
        if self.node_name:
            lines.append(f"    {_NODE}{one_line(self.node_name)}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read how it ended and for which node."""
        lines.after("POST Script terminated.")
        event = cls()
        event.read_ending(lines, core=False)
        if (lines.peek() or "").strip().startswith(_NODE):
            event.node_name = lines.maybe_trimmed().removeprefix(_NODE)
        return event
