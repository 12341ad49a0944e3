"""Events that are known by their number alone: kept as lines, whatever they say.

They are the reference's future events: those of later versions, those that it gave up, and those
of an execution point's own log. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from kettle.records.event_base import (
    Attributes,
    Event,
    Lines,
    Said,
    add_texts,
    assignment_in,
)
from kettle.records.event_text import one_line

if TYPE_CHECKING:
    from kettle.classad import ClassAd

FIRST_OF_SLOTS = 100
# What the reference calls the events of an execution point, from `FIRST_OF_SLOTS` on: in an ad, and
# among the numbers.
_OF_SLOTS = (
    ("EPStartupEvent", "EP_STARTUP"),
    ("EPReadyEvent", "EP_READY"),
    ("EPReconfigEvent", "EP_RECONFIG"),
    ("EPShutdownEvent", "EP_SHUTDOWN"),
    ("RequestClaimEvent", "EP_REQUEST_CLAIM"),
    ("ReleaseClaimEvent", "EP_RELEASE_CLAIM"),
    ("ActivateClaimEvent", "EP_ACTIVATE_CLAIM"),
    ("DeactivateClaimEvent", "EP_DEACTIVATE_CLAIM"),
    ("VacateClaimEvent", "EP_VACATE_CLAIM"),
    ("DrainEvent", "EP_DRAIN"),
    ("ResourceBreakEvent", "EP_RESOURCE_BREAK"),
    ("ResourceMendEvent", "EP_RESOURCE_MEND"),
    ("EPFutureEvent", "EP_FUTURE_EVENT"),
)
# The attributes of a header, which is of a job, or of a slot and the one it was made from.
_JOB = ("Cluster", "Proc", "Subproc")
_SLOT = ("SlotId", "DSlotId", "")
# What no line below the first says again when an ad becomes lines.
_OWN = ("MyType", "EventTypeNumber", "EventTime", "EventHead")


def header_names(number: int) -> tuple[str, str, str]:
    """Return what the three numbers in an event's header are called in its ad, "" for nothing."""
    return _SLOT if number >= FIRST_OF_SLOTS else _JOB


def slot_event_name(number: int) -> str:
    """Return what an execution point's event is called among the numbers, "" if it has no name."""
    return _OF_SLOTS[number - FIRST_OF_SLOTS][1] if _has_name(number) else ""


def _has_name(number: int) -> bool:
    """Tell whether the reference has a name for an execution point's event."""
    return FIRST_OF_SLOTS <= number < FIRST_OF_SLOTS + len(_OF_SLOTS)


@dataclass(slots=True, kw_only=True)
class FutureEvent(Event):
    """An event of which nothing is known but that it has a first line.

    What stands below and has the form `name = value` is an attribute of its ad.
    """

    head: str = ""

    type_name: ClassVar[str] = "FutureEvent"
    AD_TYPE: ClassVar[str] = "FutureEvent"
    SAYS_EMPTY: ClassVar[bool] = True
    ATTRIBUTES: ClassVar[Attributes] = (Said("head", "EventHead"),)

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add what the lines say; the last of a name counts, and before what the header says."""
        add_texts(ad, filter(None, map(assignment_in, self.extra)))

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take all attributes that are not the header's as lines."""
        number = ad.integer("EventTypeNumber") or 0
        known = {name.lower() for name in (*_OWN, *header_names(number))}
        names = sorted((n for n in ad.own_names() if n.lower() not in known), key=str.lower)
        indent = "  " if _has_name(number) else ""
        self.extra = [f"{indent}{name} = {one_line(ad.text(name) or '')}" for name in names]

    def body(self) -> list[str]:
        """Return the first line; the others are `extra`."""
        return [one_line(self.head)]

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Keep the first line."""
        return cls(head=lines.take())


@dataclass(slots=True, kw_only=True)
class RawEvent(FutureEvent):
    """An event of a number, or in a form, that this version does not know; kept as it is.

    Compat: the reference writes of an execution point's event only what is an attribute, in the
    order of the names and behind two blanks, and drops other lines; those of a log stay as they
    are (test_lines_of_an_execution_points_event_stay).

    `damage` is what is wrong with its lines, where the number is known, or with its header, of
    which nothing is known then but the number (`has_header` is false).
    """

    header_number: int = -1
    damage: str = ""
    has_header: bool = True

    def add_to_ad(self, ad: ClassAd) -> None:
        """Add what the lines say, and what the reference calls an event of that number."""
        if _has_name(self.header_number):
            ad["MyType"] = _OF_SLOTS[self.header_number - FIRST_OF_SLOTS][0]
        super(RawEvent, self).add_to_ad(ad)

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take all attributes as lines; the third number of a header, which no ad has, is 0."""
        super(RawEvent, self).take_from_ad(ad)
        if _has_name(self.header_number):
            self.subproc = 0


@dataclass(slots=True, kw_only=True)
class GlobusSubmitEvent(FutureEvent):
    """A job went to a GRAM gatekeeper."""

    number: ClassVar[int] = 17
    type_name: ClassVar[str] = "GlobusSubmitEvent"


@dataclass(slots=True, kw_only=True)
class GlobusSubmitFailedEvent(FutureEvent):
    """A GRAM gatekeeper refused a job."""

    number: ClassVar[int] = 18
    type_name: ClassVar[str] = "GlobusSubmitFailedEvent"


@dataclass(slots=True, kw_only=True)
class GlobusResourceUpEvent(FutureEvent):
    """A GRAM gatekeeper answers again."""

    number: ClassVar[int] = 19
    type_name: ClassVar[str] = "GlobusResourceUpEvent"


@dataclass(slots=True, kw_only=True)
class GlobusResourceDownEvent(FutureEvent):
    """A GRAM gatekeeper does not answer."""

    number: ClassVar[int] = 20
    type_name: ClassVar[str] = "GlobusResourceDownEvent"


@dataclass(slots=True, kw_only=True)
class JobStageInEvent(FutureEvent):
    """A grid job's input is being staged."""

    number: ClassVar[int] = 31
    type_name: ClassVar[str] = "JobStageInEvent"


@dataclass(slots=True, kw_only=True)
class JobStageOutEvent(FutureEvent):
    """A grid job's output is being staged."""

    number: ClassVar[int] = 32
    type_name: ClassVar[str] = "JobStageOutEvent"


@dataclass(slots=True, kw_only=True)
class NoneEvent(FutureEvent):
    """A placeholder that says nothing."""

    number: ClassVar[int] = 39
    type_name: ClassVar[str] = "NoneEvent"
