"""What every event of a job event log has, and how an event class says its own part.

An event is a small dataclass, and its class is all that knows its kind: its number, its ClassAd
type, its body as lines of text (`body` and `from_body`), in `ATTRIBUTES` which field is which
ClassAd attribute, and what an ad has besides (`add_to_ad` and `take_from_ad`). The classes are in
`event_kinds.py`, `event_ends.py`, `event_grid.py`, `event_cluster.py` and `event_future.py` (those
known by number alone); headers, files and the other forms in `event_log.py` and `event_forms.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, ClassVar, Self, get_args, get_type_hints

from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.errors import ClassAdSyntaxError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.records.event_text import quoted
from kettle.records.event_usage import CpuTimes

if TYPE_CHECKING:
    from kettle.classad import ClassAd


class Said(NamedTuple):
    """A field of an event class, and the ClassAd attribute that says it."""

    field: str
    attribute: str


class TextLine(NamedTuple):
    """How a line of an event's text begins, and the field that is the rest of it."""

    beginning: str
    field: str


class Count(NamedTuple):
    """A field of an event class that is a number, and how the label behind that number begins."""

    field: str
    label: str


Attributes = tuple[Said, ...]
TextLines = tuple[TextLine, ...]
Counts = tuple[Count, ...]


# The counted lines of a run.
RUN_BYTES: Counts = (
    Count("sent_bytes", "Run Bytes Sent"),
    Count("received_bytes", "Run Bytes Received"),
)


class BodyError(ValueError):
    """An event's lines that do not have the form of its number."""


@dataclass(slots=True, kw_only=True)
class Event:
    """The header: which job, and when (`time` in epoch seconds, with a fraction)."""

    cluster: int = 0
    proc: int = 0
    subproc: int = 0
    time: float = 0.0
    # Lines after the part this version knows; written back as they were.
    extra: list[str] = field(default_factory=list)

    number: ClassVar[int] = -1
    type_name: ClassVar[str] = ""
    # A field that is None is left out.
    ATTRIBUTES: ClassVar[Attributes] = ()
    # What an ad that does not say a field leaves it at, where that is not the field's default.
    UNSAID: ClassVar[Mapping[str, object]] = {}
    # Whether its ad says also what is empty, and what happened in other words.
    SAYS_EMPTY: ClassVar[bool] = False
    DESCRIPTION: ClassVar[str] = ""
    # What its ad calls it, if that is another type: the reference has no name for some numbers.
    AD_TYPE: ClassVar[str] = ""

    @property
    def header_number(self) -> int:
        """The number that its header has; that of its class, unless many numbers share one."""
        return self.number

    def body(self) -> list[str]:
        """Return the lines of the event after its header; the first one continues the header."""
        raise NotImplementedError

    def add_to_ad(self, ad: ClassAd) -> None:
        """Complete the event's ad, which has the header and what `ATTRIBUTES` say."""

    def take_from_ad(self, ad: ClassAd) -> None:
        """Take what an ad says beside the header and `ATTRIBUTES`, as far as it is of use.

        Values of a wrong type are left: the ad may come from a peer.
        """

    def read_attributes(self, ad: ClassAd, attributes: Attributes) -> None:
        """Set fields to an ad's values, each if it is of the field's type; see `ATTRIBUTES`."""
        types = field_types(type(self))
        for name, attribute in attributes:
            value = _fitting(ad.evaluate(attribute), types[name])
            if value is not None:
                setattr(self, name, value)

    def read_counts(self, lines: Lines, labels: Counts) -> Self:
        """Set the fields of the counted lines that are there; see `parse_counts`."""
        for name, number in parse_counts(lines, labels).items():
            setattr(self, name, number)
        return self

    @classmethod
    def from_body(cls, lines: Lines) -> Self:
        """Make the event from its lines; header fields are set by the caller.

        Raises BodyError if the lines are not of this form.
        """
        raise NotImplementedError


# The kinds of which an ad was made or read, each once.
_types_of: dict[type[Event], dict[str, type]] = {}


def field_types(kind: type[Event]) -> dict[str, type]:
    """Return what the fields of an event are, besides None."""
    known = _types_of.get(kind)
    if known is None:
        known = _types_of[kind] = {
            name: next((one for one in get_args(hint) if one is not NoneType), hint)
            for name, hint in get_type_hints(kind).items()
        }
    return known


def _fitting(value: object, wanted: type) -> object:
    """Return a value as one of the wanted type, None if it cannot be one."""
    if isinstance(value, str):
        if wanted is not CpuTimes:
            return value if wanted is str else None
        try:
            return CpuTimes.parse(value)
        except ValueError:
            return None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return wanted(value) if wanted in {bool, int, float} else None


class Lines:
    """The lines of an event's body while they are read."""

    __slots__ = ("_lines", "_next")

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._next = 0

    def peek(self) -> str | None:
        """Return the next line, None at the end."""
        return self._lines[self._next] if self._next < len(self._lines) else None

    def take(self) -> str:
        """Return the next line and go on; BodyError at the end."""
        line = self.peek()
        if line is None:
            raise BodyError("the event ends early")
        self._next += 1
        return line

    def maybe_take(self) -> str | None:
        """Return the next line and go on; None at the end."""
        return None if self.peek() is None else self.take()

    def after(self, prefix: str) -> str:
        """Take a line that begins with `prefix` and return the rest of it."""
        line = self.take()
        if not line.startswith(prefix):
            raise BodyError(f"{quoted(line)} does not begin with {prefix!r}")
        return line[len(prefix) :]

    def maybe_after(self, prefix: str) -> str | None:
        """Like `after`, but None, and nothing taken, if the next line is another one."""
        line = self.peek()
        if line is None or not line.startswith(prefix):
            return None
        self._next += 1
        return line[len(prefix) :]

    def maybe_trimmed(self) -> str:
        """Take a line, whatever it is, without the blanks around it; "" if it is empty.

        An empty one is left, and so written again: what follows would stand for it otherwise.
        """
        line = (self.peek() or "").strip()
        self._next += bool(line)
        return line

    def rest(self) -> list[str]:
        """Take all that is left."""
        lines = list(self._lines[self._next :])
        self._next = len(self._lines)
        return lines

    def skip(self, count: int) -> None:
        """Go on by `count` lines."""
        self._next += count

    def ahead(self) -> Sequence[str]:
        """Return all that is left without taking it."""
        return self._lines[self._next :]


def assignment_in(line: str) -> tuple[str, str] | None:
    """Return name and value of a line `name = value`, whatever blanks it has; None of another."""
    name, _, value = line.partition("=")
    name, value = name.strip(), value.strip()
    return (name, value) if name and value else None


def add_texts(ad: ClassAd, texts: Iterable[tuple[str, str]]) -> None:
    """Set attributes from lines of a log; one whose value is no expression is left out."""
    for name, text in texts:
        try:
            ad.insert_text(name, text, check=True)
        except ClassAdSyntaxError:
            continue


def number_in(text: str, prefix: str, suffix: str = "") -> int:
    """Return the integer between `prefix` and `suffix`; BodyError if there is none."""
    if not text.startswith(prefix) or not text.endswith(suffix):
        raise BodyError(f"{quoted(text)} is not of the form {prefix!r} number {suffix!r}")
    middle = text[len(prefix) : len(text) - len(suffix) if suffix else None]
    try:
        return int(middle)
    except ValueError:
        raise BodyError(f"{quoted(middle)} in {quoted(text)} is no number") from None


_LEADING = late_pattern(r"\s*([-+]?\d{1,19})(?!\d)")


def leading_number(text: str, otherwise: int | None = None) -> int:
    """Return the integer that a text begins with, whatever follows, as the reference reads it.

    Without one, or with one that no integer of 64 bits is, it is `otherwise`, or a BodyError.
    """
    found = _LEADING.match(text)
    if found is not None and MIN_INTEGER <= (number := int(found[1])) <= MAX_INTEGER:
        return number
    if otherwise is None:
        raise BodyError(f"{quoted(text)} begins with no number")
    return otherwise


def render_times(times: CpuTimes, label: str) -> str:
    """Return one line of CPU times, `label` like "Run Remote Usage"."""
    return f"\t\t{times}  -  {label}"


def parse_times(lines: Lines) -> CpuTimes:
    """Read one line of CPU times; which they are its place says, as for the reference."""
    try:
        return CpuTimes.parse(lines.take())
    except ValueError as error:
        raise BodyError(str(error)) from None


def render_count(number: float, label: str) -> str:
    """Return one counted line, `label` like "Run Bytes Sent By Job"."""
    return f"\t{number:.0f}  -  {label}"


def parse_counts(lines: Lines, labels: Counts) -> dict[str, float]:
    """Read the counted lines that are there, by their `labels` (field, how its label begins).

    Logs of other versions lack some of them, or have them in another order.
    """
    found: dict[str, float] = {}
    while (line := lines.peek()) is not None:
        text, _, label = line.strip().partition("  -  ")
        said = label.lower()
        names = [name for name, beginning in labels if said.startswith(beginning.lower())]
        try:
            number = float(text)
        except ValueError:
            return found
        if not names:
            return found
        lines.skip(1)
        found[names[0]] = number
    return found
