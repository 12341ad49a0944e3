"""Events 021-034: connections to execution points, grid systems, job attributes.

Most are a sentence and a few lines with fixed beginnings, so `Prefixed` reads and writes them
from a table. Formats: wire notes, Job event log; 031 and 032 are in `event_future.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    add_texts,
    assignment_in,
)
from kettle.records.event_text import one_line, quoted

if TYPE_CHECKING:
    from kettle.classad import ClassAd


@dataclass(slots=True, kw_only=True)
class Prefixed(Event):
    """An event of one sentence and lines with fixed beginnings.

    A field of `LINES` that is None has no line. One that begins with blanks alone is read from any
    line. `WHOLE` is an event that has all of them. As for the reference
    more may follow the sentence.
    """

    SENTENCE: ClassVar[str] = ""
    LINES: ClassVar[TextLines] = ()
    WHOLE: ClassVar[bool] = False

    def body(self) -> list[str]:
        """Return the sentence and the lines that have a value."""
        lines = [self.SENTENCE]
        for prefix, name in self.LINES:
            value = getattr(self, name)
            if value is not None:
                lines.append(f"{prefix}{one_line(str(value))}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the sentence and the lines that are there."""
        lines.after(cls.SENTENCE)
        return cls().read_lines(lines)

    def read_lines(self, lines: Lines) -> Self:
        """Read the lines after the sentence."""
        for prefix, name in self.LINES:
            if prefix.strip():
                text = lines.after(prefix) if self.WHOLE else lines.maybe_after(prefix)
            else:
                text = lines.maybe_trimmed() or None
            if text is not None:
                setattr(self, name, text)
        return self


_CODES = late_pattern(r"\t?Code +(-?\d{1,18}) +Subcode +(-?\d{1,18})")


@dataclass(slots=True, kw_only=True)
class RemoteErrorEvent(Event):
    """A daemon at the execution point reports trouble with a job; critical trouble ends the run."""

    daemon: str = ""
    host: str = ""
    message: str = ""
    critical: bool = True
    code: int | None = None
    subcode: int | None = None

    number: ClassVar[int] = 21
    type_name: ClassVar[str] = "RemoteErrorEvent"
    # What is not critical, as it is written and as it may be read.
    _mild: ClassVar[tuple[str, ...]] = ("Message", "Warning")
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("daemon", "Daemon"),
        Said("host", "ExecuteHost"),
        Said("message", "ErrorMsg"),
        Said("code", "HoldReasonCode"),
        Said("subcode", "HoldReasonSubCode"),
    )

    def add_to_ad(self, ad: ClassAd) -> None:
        """Say that it is not critical, if so; codes are said both, or neither of them."""
        if not self.critical:
            ad["CriticalError"] = 0
        if self.code:
            ad["HoldReasonSubCode"] = self.subcode or 0
        else:
            for attribute in ("HoldReasonCode", "HoldReasonSubCode"):
                if attribute in ad:
                    del ad[attribute]

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take whether it is critical, which it is unless that is denied; code 0 is none."""
        self.code = self.code or None
        critical = ad.evaluate("CriticalError")
        self.critical = not isinstance(critical, (int, float)) or bool(critical)

    def body(self) -> list[str]:
        """Return who reports, the message's lines, and the codes if there are any."""
        kind = "Error" if self.critical else self._mild[0]
        lines = [f"{kind} from {one_line(self.daemon)} on {one_line(self.host)}:"]
        lines += [f"\t{one_line(line)}" for line in self.message.split("\n")]
        if self.code is not None:
            lines.append(f"\tCode {self.code} Subcode {self.subcode or 0}")
        return lines

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read who reports, the message and the codes; any other word is one for an error.

        Compat: the reference's reader takes the word that its writer has for what is not critical
        for an error; ours knows it (test_a_mild_remote_error_is_read_as_it_is_written).
        """
        kind, separator, rest = lines.take().partition(" from ")
        daemon, second, host = rest.partition(" on ")
        if not separator or not second or kind.split() != [kind]:
            raise BodyError("not a remote error")
        event = cls(daemon=daemon, host=host.removesuffix(":"), critical=kind not in cls._mild)
        message: list[str] = []
        while (line := lines.maybe_take()) is not None:
            codes = _CODES.match(line)
            if codes is not None:
                event.code, event.subcode = int(codes[1]), int(codes[2])
                break
            message.append(line.removeprefix("\t"))
        event.message = "\n".join(message)
        return event


@dataclass(slots=True, kw_only=True)
class JobDisconnectedEvent(Event):
    """The shadow lost the starter and tries to find it again."""

    reason: str = ""
    startd_name: str = ""
    startd_address: str = ""

    number: ClassVar[int] = 22
    type_name: ClassVar[str] = "JobDisconnectedEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    DESCRIPTION: ClassVar[str] = "Job disconnected, attempting to reconnect"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("reason", "DisconnectReason"),
        Said("startd_address", "StartdAddr"),
        Said("startd_name", "StartdName"),
    )

    def body(self) -> list[str]:
        """Return the reason and what is being tried."""
        place = f"{one_line(self.startd_name)} {one_line(self.startd_address)}"
        return [
            "Job disconnected, attempting to reconnect",
            f"    {one_line(self.reason)}",
            f"    Trying to reconnect to {place}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason and what is being tried, whatever words stand above, as the reference."""
        lines.take()
        reason = lines.after("    ")
        name, _, address = lines.after("    Trying to reconnect to ").partition(" ")
        return cls(reason=reason, startd_name=name, startd_address=address)


@dataclass(slots=True, kw_only=True)
class JobReconnectedEvent(Event):
    """The shadow found the starter again; the job went on meanwhile."""

    startd_name: str = ""
    startd_address: str = ""
    starter_address: str = ""

    number: ClassVar[int] = 23
    type_name: ClassVar[str] = "JobReconnectedEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    DESCRIPTION: ClassVar[str] = "Job reconnected"
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("startd_address", "StartdAddr"),
        Said("startd_name", "StartdName"),
        Said("starter_address", "StarterAddr"),
    )

    def body(self) -> list[str]:
        """Return slot and addresses."""
        return [
            f"Job reconnected to {one_line(self.startd_name)}",
            f"    startd address: {one_line(self.startd_address)}",
            f"    starter address: {one_line(self.starter_address)}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read slot and addresses."""
        return cls(
            startd_name=lines.after("Job reconnected to "),
            startd_address=lines.after("    startd address: "),
            starter_address=lines.after("    starter address: "),
        )


@dataclass(slots=True, kw_only=True)
class JobReconnectFailedEvent(Event):
    """The starter is lost; the job will start anew."""

    reason: str = ""
    startd_name: str = ""

    number: ClassVar[int] = 24
    type_name: ClassVar[str] = "JobReconnectFailedEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    DESCRIPTION: ClassVar[str] = "Job reconnect impossible: rescheduling job"
    ATTRIBUTES: ClassVar[Attributes] = (Said("reason", "Reason"), Said("startd_name", "StartdName"))
    _tail: ClassVar[str] = ", rescheduling job"

    def body(self) -> list[str]:
        """Return the reason and the slot."""
        return [
            "Job reconnection failed",
            f"    {one_line(self.reason)}",
            f"    Can not reconnect to {one_line(self.startd_name)}{self._tail}",
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the reason and the slot, whatever words stand above them, as the reference."""
        lines.take()
        reason = lines.after("    ")
        name = lines.after("    Can not reconnect to ")
        return cls(reason=reason, startd_name=name.partition(",")[0])


@dataclass(slots=True, kw_only=True)
class GridResourceUpEvent(Prefixed):
    """A grid system answers again."""

    resource: str | None = None

    number: ClassVar[int] = 25
    type_name: ClassVar[str] = "GridResourceUpEvent"
    WHOLE: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (Said("resource", "GridResource"),)
    SENTENCE: ClassVar[str] = "Grid Resource Back Up"
    LINES: ClassVar[TextLines] = (TextLine("    GridResource: ", "resource"),)


@dataclass(slots=True, kw_only=True)
class GridResourceDownEvent(Prefixed):
    """A grid system does not answer."""

    resource: str | None = None

    number: ClassVar[int] = 26
    type_name: ClassVar[str] = "GridResourceDownEvent"
    WHOLE: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (Said("resource", "GridResource"),)
    SENTENCE: ClassVar[str] = "Detected Down Grid Resource"
    LINES: ClassVar[TextLines] = (TextLine("    GridResource: ", "resource"),)


@dataclass(slots=True, kw_only=True)
class GridSubmitEvent(Prefixed):
    """A grid system accepted a job."""

    resource: str | None = None
    job_id: str | None = None

    number: ClassVar[int] = 27
    type_name: ClassVar[str] = "GridSubmitEvent"
    WHOLE: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("resource", "GridResource"),
        Said("job_id", "GridJobId"),
    )
    SENTENCE: ClassVar[str] = "Job submitted to grid resource"
    LINES: ClassVar[TextLines] = (
        TextLine("    GridResource: ", "resource"),
        TextLine("    GridJobId: ", "job_id"),
    )


@dataclass(slots=True, kw_only=True)
class JobAdInformationEvent(Event):
    """What the job asked to be told with another event (`job_ad_information_attrs`).

    `attributes` are ClassAd texts: those of the event that triggered this one, and the job's.
    """

    attributes: dict[str, str] = field(default_factory=dict)

    number: ClassVar[int] = 28
    type_name: ClassVar[str] = "JobAdInformationEvent"

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add the attributes; what the header says counts."""
        said = {name.lower() for name in ad.own_names()}
        add_texts(ad, (one for one in self.attributes.items() if one[0].lower() not in said))

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take all attributes."""
        self.attributes = {name: ad.text(name) or "" for name in ad.own_names()}

    def body(self) -> list[str]:
        """Return the sentence and the attributes in the order of their names."""
        names = sorted(self.attributes, key=str.lower)
        return [
            "Job ad information event triggered.",
            *(f"{name} = {one_line(self.attributes[name])}" for name in names),
        ]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the attributes."""
        lines.after("Job ad information event triggered.")
        event = cls()
        for line in lines.rest():
            found = assignment_in(line)
            if found is None:
                raise BodyError(f"{quoted(line)} is no attribute with its value")
            event.attributes[found[0]] = found[1]
        if not event.attributes:
            raise BodyError("it has no attributes")
        return event


@dataclass(slots=True, kw_only=True)
class JobStatusUnknownEvent(Prefixed):
    """Nobody knows how a grid job fares."""

    number: ClassVar[int] = 29
    type_name: ClassVar[str] = "JobStatusUnknownEvent"
    AD_TYPE: ClassVar[str] = "FutureEvent"
    SENTENCE: ClassVar[str] = "The job's remote status is unknown"


@dataclass(slots=True, kw_only=True)
class JobStatusKnownEvent(Prefixed):
    """It is known again how a grid job fares."""

    number: ClassVar[int] = 30
    type_name: ClassVar[str] = "JobStatusKnownEvent"
    AD_TYPE: ClassVar[str] = "FutureEvent"
    SENTENCE: ClassVar[str] = "The job's remote status is known again"


_SETTING = "Setting job attribute "
_CHANGING = "Changing job attribute "


@dataclass(slots=True, kw_only=True)
class AttributeUpdateEvent(Event):
    """An attribute of the job changed; `old` None means that it was not there.

    Compat: the reference writes both forms and reads of the first neither name nor value, of the
    second the first words of each, and no old value; we read what they say
    (test_a_changed_attribute_is_read_whole). As there other words are an event that says nothing.
    """

    name: str | None = ""
    value: str | None = ""
    old: str | None = None

    number: ClassVar[int] = 33
    type_name: ClassVar[str] = "AttributeUpdateEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (
        Said("name", "Attribute"),
        Said("value", "Value"),
        Said("old", "PriorValue"),
    )
    UNSAID: ClassVar[Mapping[str, object]] = {"name": None, "value": None}

    def body(self) -> list[str]:
        """Return what changed."""
        name, value = one_line(self.name or ""), one_line(self.value or "")
        if self.old is None:
            return [f"{_SETTING}{name} to {value}"]
        return [f"{_CHANGING}{name} from {one_line(self.old)} to {value}"]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read what changed."""
        line = lines.take()
        if not line:
            raise BodyError("not an attribute's change")
        if (rest := line.removeprefix(_SETTING)) != line:
            name, is_one, value = rest.partition(" to ")
            return cls(name=name, value=value) if is_one else cls()
        name, _, rest = line.removeprefix(_CHANGING).partition(" from ")
        old, is_one, value = rest.partition(" to ")
        if not (line.startswith(_CHANGING) and is_one):
            return cls()
        return cls(name=name, value=value, old=old)


@dataclass(slots=True, kw_only=True)
class PreSkipEvent(Prefixed):
    """A DAG node's PRE script said that the node is to be skipped."""

    notes: str | None = None

    number: ClassVar[int] = 34
    type_name: ClassVar[str] = "PreSkipEvent"
    AD_TYPE: ClassVar[str] = "FutureEvent"
    ATTRIBUTES: ClassVar[Attributes] = (Said("notes", "SkipEventLogNotes"),)
    SENTENCE: ClassVar[str] = "PRE script return value is PRE_SKIP value"
    LINES: ClassVar[TextLines] = (TextLine("    ", "notes"),)

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Read the notes, without which it is no such event, whatever words stand above them."""
        lines.take()
        event = cls().read_lines(lines)
        if event.notes is None:
            raise BodyError("no notes say which node is to be skipped")
        return event
