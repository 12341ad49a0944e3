"""`JobEventLog`, `JobEvent` and the older `read_events` of version 1."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Any, Self

from kettle.compat import htcondor2
from kettle.compat.classad.ads import ClassAd
from kettle.compat.htcondor.convert import shown
from kettle.compat.htcondor.enums import JobEventType
from kettle.compat.htcondor.errors import HTCondorIOError, raising


class JobEvent(htcondor2.JobEvent):
    """One event: what it says by name, and what every event has as properties."""

    def __init__(self, data: ClassAd, event_text: str) -> None:
        super().__init__(data, event_text)

    @property
    def type(self) -> Any:
        """What happened: a JobEventType."""
        return JobEventType(self._data["EventTypeNumber"])

    def keys(self) -> list[str]:  # type: ignore[override]
        """Return the names of what the event says."""
        return list(self._data)

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Return what the event says, by name."""
        return [(name, self._data[name]) for name in self._data]

    def values(self) -> list[Any]:  # type: ignore[override]
        """Return what the event says."""
        return [self._data[name] for name in self._data]

    def has_key(self, key: str) -> bool:
        """Return whether the event says something by this name."""
        return key in self._data

    def iterkeys(self) -> Iterator[str]:
        """Return an iterator over `keys`."""
        return iter(self.keys())

    def iteritems(self) -> Iterator[tuple[str, Any]]:
        """Return an iterator over `items`."""
        return iter(self.items())

    def itervalues(self) -> Iterator[Any]:
        """Return an iterator over `values`."""
        return iter(self.values())

    def __repr__(self) -> str:
        return (
            f"JobEvent(type={int(self.type)}, cluster={self.cluster}, proc={self.proc}, "
            f"timestamp={self.timestamp})"
        )

    @classmethod
    def of_version_2(cls, event: htcondor2.JobEvent) -> JobEvent:
        """Return an event of version 2 as one of version 1."""
        return cls(shown(event._data), event._event_text)  # noqa: SLF001 - of this class's base


class JobEventLog(htcondor2.JobEventLog):
    """The events of a log, in the order they were written, those to come included."""

    def __init__(self, filename: str) -> None:
        """Open a log; HTCondorIOError where that cannot be done."""
        if filename == "":
            raise HTCondorIOError("a log without a name cannot be opened")
        with raising(HTCondorIOError):
            super().__init__(filename)

    def __next__(self) -> JobEvent:
        with raising(HTCondorIOError):
            return JobEvent.of_version_2(super().__next__())

    def __repr__(self) -> str:
        deadline = 0 if self._deadline is None else int(self._deadline)
        return f"JobEventLog(filename={self._filename}, deadline={deadline}, offset={self._read})"


class EventIterator:
    """The events of a log as ads, of those that are written already; `poll` waits for one."""

    def __init__(self, file: IO[Any] | str, is_xml: bool = False) -> None:
        """Read a file, which must have a name, from its beginning; the form is found out."""
        del is_xml
        self._log = JobEventLog(file if isinstance(file, str) else str(file.name))
        self._blocking = False
        # What `wait` waited for, and nobody has had yet.
        self._ahead: ClassAd | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ClassAd:
        return self._next(None if self._blocking else 0)

    def _next(self, seconds: int | None) -> ClassAd:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            return ahead
        return ClassAd(dict(next(self._log.events(seconds)).items()))

    def poll(self, timeout: int = -1) -> ClassAd | None:
        """Return the next event, for which it waits so many milliseconds; None if none came."""
        seconds = None if timeout < 0 else max(1, -(-timeout // 1000)) if timeout else 0
        with contextlib.suppress(StopIteration):
            return self._next(seconds)
        return None

    def wait(self) -> None:
        """Wait until there is an event; the next call returns it."""
        self._ahead = self._next(None)

    @property
    def use_inotify(self) -> bool:
        """Whether there is a descriptor to watch: there is none, the log is looked at."""
        return False

    def watch(self) -> int:
        """Return a descriptor that tells of new events: -1, which is none."""
        return -1

    def setBlocking(self, blocking: bool) -> bool:  # noqa: N802 - the wheel's name
        """Say whether the end of the log is waited at; return what was said before."""
        before, self._blocking = self._blocking, bool(blocking)
        return before


def read_events(file: IO[Any] | str, is_xml: bool = False) -> EventIterator:
    """Return an iterator over the events of a log, as ads."""
    return EventIterator(file, is_xml)
