"""The job event log: events as text, text as events, and the ways a log can be written.

Bytes are the interface here: many programs read these files while they grow. One event is one
`write`, ended by a line of three dots. What an event says is in `event_kinds.py`, `event_ends.py`,
`event_grid.py`, `event_cluster.py` and `event_future.py`; the ClassAd, XML and JSON forms in
`event_forms.py`; who writes which event is up to schedd and shadow. Source: wire notes, Job event
log, R083.
"""

from __future__ import annotations

import re
import time as clock
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import ulp

from kettle.records import event_cluster as c
from kettle.records import event_ends as e
from kettle.records import event_future as f
from kettle.records import event_grid as g
from kettle.records import event_kinds as k
from kettle.records.event_base import BodyError, Event, Lines
from kettle.records.event_future import RawEvent
from kettle.records.event_header import read_header
from kettle.records.event_pieces import Pieces
from kettle.records.event_text import quoted
from kettle.wire.security.secret_words import hide_secrets

END = "..."
GLOBAL_HEADER_WIDTH = 256

# fmt: off
EVENTS: dict[int, type[Event]] = {
    event.number: event
    for event in (
        k.SubmitEvent, k.ExecuteEvent, k.ExecutableErrorEvent, e.CheckpointedEvent,
        e.JobEvictedEvent, e.JobTerminatedEvent, k.JobImageSizeEvent, k.ShadowExceptionEvent,
        k.GenericEvent, k.JobAbortedEvent, k.JobSuspendedEvent, k.JobUnsuspendedEvent,
        k.JobHeldEvent, k.JobReleasedEvent, k.NodeExecuteEvent, e.NodeTerminatedEvent,
        e.PostScriptTerminatedEvent,
        f.GlobusSubmitEvent, f.GlobusSubmitFailedEvent, f.GlobusResourceUpEvent,
        f.GlobusResourceDownEvent, g.RemoteErrorEvent, g.JobDisconnectedEvent,
        g.JobReconnectedEvent, g.JobReconnectFailedEvent, g.GridResourceUpEvent,
        g.GridResourceDownEvent, g.GridSubmitEvent, g.JobAdInformationEvent,
        g.JobStatusUnknownEvent, g.JobStatusKnownEvent, f.JobStageInEvent, f.JobStageOutEvent,
        g.AttributeUpdateEvent, g.PreSkipEvent,
        c.ClusterSubmitEvent, c.ClusterRemoveEvent, c.FactoryPausedEvent, c.FactoryResumedEvent,
        f.NoneEvent, c.FileTransferEvent, c.ReserveSpaceEvent, c.ReleaseSpaceEvent,
        c.FileCompleteEvent, c.FileUsedEvent, c.FileRemovedEvent, c.DataflowJobSkippedEvent,
        c.CommonFilesEvent,
    )
}
# fmt: on


class Format(Enum):
    """How an event log is written."""

    TEXT = "text"
    XML = "xml"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Style:
    """The choices of DEFAULT_USERLOG_FORMAT_OPTIONS and EVENT_LOG_FORMAT_OPTIONS."""

    form: Format = Format.TEXT
    iso: bool = True
    sub_second: bool = False
    utc: bool = False

    @classmethod
    def parse(cls, options: str, *, xml: bool = False, iso: bool = True) -> Style:
        """Read the words of a format option; unknown ones mean nothing, as in the reference.

        They count in order, and one with `!` before it takes back. `iso` says whether dates are
        long where no word speaks of them.
        """
        chosen = {"XML": xml, "JSON": False, "ISO_DATE": iso, "UTC": False, "SUB_SECOND": False}
        for word in re.split(r"[\s,]+", options.upper()):
            wanted = not word.startswith("!")
            name = word.removeprefix("!")
            if name in chosen:
                chosen[name] = wanted
            elif name == "LEGACY" and wanted:
                chosen |= dict.fromkeys(("ISO_DATE", "UTC", "SUB_SECOND"), False)
            elif name == "LEGACY":
                chosen["ISO_DATE"] = True
        form = Format.JSON if chosen["JSON"] else Format.XML if chosen["XML"] else Format.TEXT
        return cls(
            form,
            iso=chosen["ISO_DATE"],
            sub_second=chosen["SUB_SECOND"],
            utc=chosen["UTC"],
        )


DEFAULT_STYLE = Style()


@lru_cache(maxsize=64)
def _second_text(second: int, iso: bool, utc: bool) -> str:
    parts = clock.gmtime(second) if utc else clock.localtime(second)
    hours = f"{parts.tm_hour:02}:{parts.tm_min:02}:{parts.tm_sec:02}"
    if iso:
        return f"{parts.tm_year:04}-{parts.tm_mon:02}-{parts.tm_mday:02} {hours}"
    return f"{parts.tm_mon:02}/{parts.tm_mday:02} {hours}"


# From 1900, the first year that the reference reads, to the last of four digits, in every zone.
_DAY = 86_400
_FIRST_SECOND = -2_208_988_800 + _DAY
_END_OF_TIME = 253_402_300_800 - _DAY


def render_time(seconds: float, style: Style) -> str:
    """Return a moment as the header of an event shows it; one that has no year's form is 1970's."""
    if not _FIRST_SECOND <= seconds < _END_OF_TIME:
        seconds = 0.0
    whole = int(seconds // 1)
    text = _second_text(whole, style.iso, style.utc)
    if style.sub_second:
        # A little more, because a thousandth that was read has no exact floating point form.
        slack = max(0.001, ulp(seconds) * 1000)
        text += f".{min(999, int((seconds - whole) * 1000 + slack)):03}"
    return text + "Z" if style.utc else text


def render_header(event: Event, style: Style = DEFAULT_STYLE) -> str:
    """Return the part of an event's first line that all events have, with its blank."""
    number = event.header_number
    return (
        f"{number:03} ({_id(event.cluster)}.{_id(event.proc)}.{_id(event.subproc)}) "
        f"{render_time(event.time, style)} "
    )


def _id(number: int) -> str:
    # A cluster's own event has the proc -1, which the reference pads to two digits: "-01".
    return f"{number:03d}"


def render_event(event: Event, style: Style = DEFAULT_STYLE) -> bytes:
    """Return an event in the text form, with its end, ready for one write."""
    lines = event.body() + event.extra
    text = hide_secrets("\n".join(lines)) if lines else ""
    return f"{render_header(event, style)}{text}\n{END}\n".encode("utf-8", "surrogateescape")


def parse_event(text: str, *, year: int = 1970) -> Event | None:
    """Read one event, without its end; None if it does not begin with an event's number.

    `year` is assumed for the legacy date, which has none. A header that is none, or a body that
    lacks what its kind cannot be without, gives a RawEvent that says so (`damage_in`). Of any other
    broken event counts what can be read: a value that is none is left out, and lines of no use are
    kept as they are.

    Compat: the reference takes parts of broken lines for values (other columns of a table, what
    32 bits hold of a number), and loses some events that can be read: of an ad one of whose
    attributes is cut, of a reason with an empty line behind it (test_damaged_events.py).
    """
    header = read_header(text, year)
    if header is None:
        return None
    body = text[header.end :].split("\n")
    event = RawEvent(has_header=False) if header.damage else _read_body(header.number, body)
    if isinstance(event, RawEvent):
        event.header_number = header.number
        event.damage = event.damage or header.damage
        event.head, event.extra = body[0], body[1:]
    event.cluster, event.proc, event.subproc = header.job
    event.time = header.time
    return event


def _read_body(number: int, body: list[str]) -> Event:
    kind = EVENTS.get(number)
    if kind is None:
        return RawEvent()
    lines = Lines(body)
    try:
        event = kind.from_body(lines)
    except BodyError as error:
        return RawEvent(damage=str(error))
    event.extra += lines.rest()
    return event


def damage_in(event: Event) -> str:
    """Return the sentence about an event whose lines are not of its number's form, else nothing."""
    if not isinstance(event, RawEvent) or not event.damage:
        return ""
    number = event.header_number
    if not event.has_header:
        return f"an event {number:03} is damaged: {event.damage}: {quoted(event.head)}"
    job = f"{event.cluster}.{event.proc}.{event.subproc}"
    moment = render_time(event.time, DEFAULT_STYLE)
    return f"event {number:03} of job {job} at {moment} is damaged: {event.damage}"


# Where an event begins between two ends: at its number, if only empty lines stand before it, else
# at a line that goes on like a header. The reference finds that when it looks at the log again.
_BEGIN = re.compile(r"\A(?:[ \t]*\n)*(?=\d{3} )|^(?=\d{3} \()", re.MULTILINE)


class EventReader:
    """Reads a growing text log piece by piece.

    A torn tail is kept until its end comes. What is no event between two ends, or before one, is
    skipped and counted in `skipped`.
    """

    def __init__(self, *, year: int = 1970) -> None:
        self._pieces = Pieces(END.encode("ascii"))
        self._year = year
        self._not_events = 0

    @property
    def offset(self) -> int:
        """Offset of the first byte that no returned event covers."""
        return self._pieces.offset

    @property
    def skipped(self) -> int:
        """How many pieces of the log were no events."""
        return self._not_events + self._pieces.thrown

    def feed(self, data: bytes) -> list[Event]:
        """Take more bytes of the log and return the events that are now complete."""
        found = [self._read(each) for piece in self._pieces.feed(data) for each in _whole(piece)]
        return [event for event in found if event is not None]

    def _read(self, piece: bytes) -> Event | None:
        # Logs that went through a Windows machine have its ends of lines.
        lines = piece.replace(b"\r\n", b"\n")
        text = lines[: -len(END) - 1].decode("utf-8", "surrogateescape").removesuffix("\n")
        begin = _BEGIN.search(text)
        if begin is None or text[: begin.end()].strip():
            self._not_events += 1
        return parse_event(text[begin.end() :], year=self._year) if begin else None


def _whole(piece: bytes) -> list[bytes]:
    """Return the pieces in one without zeros, which may have hidden an end.

    Compat: a machine that falls over leaves zeros where something was to be written. At one the
    reference loses the line's rest with its end, and where one begins an event it stops for good
    (test_zeros_of_a_crash_cost_no_event).
    """
    return (
        Pieces(END.encode("ascii")).feed(piece.replace(b"\0", b"")) if b"\0" in piece else [piece]
    )


def read_events(data: bytes, *, year: int = 1970) -> list[Event]:
    """Return the complete events of a text log."""
    return EventReader(year=year).feed(data)


@dataclass(frozen=True, slots=True)
class GlobalHeader:
    """The first event of a global event log (EVENT_LOG), which says where in all of it we are."""

    created_at: int
    identity: str
    sequence: int = 1
    size: int = 0
    events: int = 0
    offset: int = 0
    event_offset: int = 0
    max_rotation: int = -1
    creator: str = ""

    def event(self, now: float) -> k.GenericEvent:
        """Return the header as the event that begins the file; its length never changes."""
        info = (
            f"Global JobLog: ctime={self.created_at} id={self.identity} "
            f"sequence={self.sequence} size={self.size} events={self.events} "
            f"offset={self.offset} event_off={self.event_offset} "
            f"max_rotation={self.max_rotation} creator_name=<{self.creator}>"
        )
        return k.GenericEvent(info=info.ljust(GLOBAL_HEADER_WIDTH), time=now)

    @classmethod
    def parse(cls, event: Event) -> GlobalHeader | None:
        """Read the header from a log's first event; None if it is an ordinary event."""
        if not isinstance(event, k.GenericEvent) or not event.info.startswith("Global JobLog:"):
            return None
        found = dict(re.findall(r"\b(\w+)=(<[^>]*>|\S+)", event.info))
        try:
            return cls(
                created_at=int(found["ctime"]),
                identity=found["id"],
                sequence=int(found.get("sequence", "1")),
                size=int(found.get("size", "0")),
                events=int(found.get("events", "0")),
                offset=int(found.get("offset", "0")),
                event_offset=int(found.get("event_off", "0")),
                max_rotation=int(found.get("max_rotation", "-1")),
                creator=found.get("creator_name", "<>").strip("<>"),
            )
        except (KeyError, ValueError):
            return None
