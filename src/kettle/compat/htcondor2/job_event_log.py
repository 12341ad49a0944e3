"""`JobEventLog` and `JobEvent`: a job event log, read while it grows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.job_enums import JobEventType
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import KettleError
from kettle.records.event_base import Event
from kettle.records.event_forms import ad_of_read
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_header import parse_moment
from kettle.records.event_log import Style, damage_in, render_event

_PIECE: Final = 1 << 16
# How long to wait before looking again, in seconds: at first, and at most.
_PAUSES: Final = (0.01, 0.25)


class JobEvent(Mapping[str, Any]):
    """One event: what it says by name, and what every event has as properties."""

    def __init__(self, data: ClassAd, event_text: str) -> None:
        self._data = data
        self._event_text = event_text

    @property
    def type(self) -> JobEventType:
        """What happened."""
        return JobEventType(self._data["EventTypeNumber"])

    @property
    def cluster(self) -> int:
        """The cluster it happened to."""
        found: int = self._data.get("Cluster", -1)
        return found

    @property
    def proc(self) -> int:
        """The job in the cluster; -1 where it happened to all of them."""
        found: int = self._data.get("Proc", -1)
        return found

    @property
    def timestamp(self) -> int:
        """When, in seconds since the epoch."""
        return int(parse_moment(self._data["EventTime"]))

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return (
            f"JobEvent(type={self.type}, cluster={self.cluster}, proc={self.proc}, "
            f"timestamp={self.timestamp})"
        )

    def __str__(self) -> str:
        # Compat: all lines of the log, as condor_wait -echo has them; the wheel drops the table of
        # an eviction and what an event's kind does not know (test_the_text_drops_no_line).
        return self._event_text


class JobEventLog:
    """The events of a log, in the order they were written, those to come included.

    Compat: at what does not begin as an event the wheel stops for good, without a word, and at a
    log that an execution point's event begins, at once; here the next event is read
    (test_what_is_no_event_costs_no_other). What begins as one and is none is an error in both.

    It can be pickled: the copy goes on behind the last event that was read, as long as the log has
    only grown meanwhile.
    """

    def __init__(self, filename: str) -> None:
        """Open a log; HTCondorException where that cannot be done."""
        if not isinstance(filename, str):
            raise TypeError("filename must be a string")
        if not filename:
            raise ValueError("filename must not be empty")
        self._filename = filename
        self._deadline: float | None = None
        self._file: BinaryIO | None = _open(filename)
        self._begin(0)

    def _begin(self, read: int) -> None:
        """Read from the start of the log; the first `read` events are known."""
        self._reader = AnyFormReader(year=time.localtime().tm_year)
        self._ready: list[Event] = []
        # How many events the program has had, and how many of those to come it had before.
        self._read = read
        self._known = read

    def events(self, stop_after: int | None = None) -> JobEventLog:
        """Return this log, which ends when there was no event for so many seconds.

        With None it waits for ever, with 0 not at all. An end is not for good: it can be asked
        again.
        """
        if stop_after is None:
            self._deadline = None
        elif isinstance(stop_after, int):
            self._deadline = time.time() + stop_after
        else:
            raise TypeError("deadline must be an integer")
        return self

    def close(self) -> None:
        """Read no more."""
        if self._file is not None:
            self._file.close()
            self._file = None
            # What was read ahead is not shown any more either.
            self._ready.clear()

    def __del__(self) -> None:
        # Programs forget to; one that was never opened has nothing to close.
        if getattr(self, "_file", None) is not None:
            self.close()

    def __iter__(self) -> JobEventLog:
        return self

    def __next__(self) -> JobEvent:
        pause = _PAUSES[0]
        while True:
            event = self._next_ready()
            if event is not None:
                self._read += 1
                damage = damage_in(event)
                if damage:
                    raise HTCondorException(f"ULOG_RD_ERROR: {self._filename}: {damage}")
                return made_event(event)
            left = None if self._deadline is None else self._deadline - time.time()
            if self._file is None or (left is not None and left <= 0):
                raise StopIteration("All events processed")
            time.sleep(pause if left is None else min(pause, left))
            pause = min(_PAUSES[1], pause * 1.5)

    def _next_ready(self) -> Event | None:
        """Return the next event that is whole in the log, None if there is none yet."""
        while not self._ready:
            piece = b"" if self._file is None else self._file.read(_PIECE)
            if not piece:
                return None
            found = self._reader.feed(piece)
            passed = min(self._known, len(found))
            self._known -= passed
            self._ready = found[passed:]
        return self._ready.pop(0)

    def __enter__(self) -> Self:
        self._deadline = None
        return self

    def __exit__(
        self,
        exceptionType: type[BaseException] | None,  # noqa: N803 - the wheel's names
        exceptionValue: BaseException | None,  # noqa: N803
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> tuple[str, int, float | None]:
        return self._filename, self._read, self._deadline

    def __setstate__(self, t: tuple[str, int, float | None]) -> None:
        self._filename, read, self._deadline = t
        self._file = _open(self._filename)
        self._begin(read)


def made_event(event: Event) -> JobEvent:
    """Return an event of ours as the interface shows it."""
    options = PROCESS.config.get("DEFAULT_USERLOG_FORMAT_OPTIONS") or ""
    try:
        ad, text = ad_of_read(event), render_event(event, Style.parse(options))
    except (KettleError, ValueError) as error:
        raise HTCondorException("Failed to convert event to ClassAd") from error
    return JobEvent(of_engine(ad), text.decode("utf-8", "surrogateescape").removesuffix("...\n"))


def _open(filename: str) -> BinaryIO:
    try:
        return open(filename, "rb")
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise HTCondorException(
            f"Could not initialize JobEventLog: {why}: '{filename}'.  For more information, call "
            "htcondor.enable_debug() and try again."
        ) from None
