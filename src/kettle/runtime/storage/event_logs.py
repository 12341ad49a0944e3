"""Writing job event logs: the user's own, DAGMan's, and (in `global_log.py`) the pool's.

Schedd and shadow host each have one `EventLogs`. Whole events leave in one `write` on a descriptor
opened for appending, so writers of several processes never mix; descriptors stay open for a
while, because short jobs of one cluster share a log. What an event says is decided elsewhere, its
bytes in `kettle.records`. Nothing is fsynced: what was written survives the death of any process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kettle.errors import StorageError
from kettle.records.event_base import Event
from kettle.records.event_log import DEFAULT_STYLE, Form, Style, render_event
from kettle.runtime import tasks
from kettle.runtime.process.aside import Aside, InlineAside
from kettle.runtime.storage.event_log_tail import (
    last_event,
    starts_told,
    tells_of_start,
)
from kettle.runtime.storage.global_log import GlobalLog, Privileged

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config

# Limit: logs kept open at once; a user with more logs than that pays an open for each event.
MAX_OPEN = 128
# Limit: events that wait for a log on a file system that hangs.
MAX_WAITING = 10_000
# What a new log may be read by: everybody, as the reference has it.
_MODE = 0o644


def user_log_paths(job: ClassAd) -> list[str]:
    """Return the files that a job's events go to: its own log and its DAG's."""
    directory = job.string("Iwd") or "/"
    paths = []
    for attribute in ("UserLog", "DAGManNodesLog"):
        name = job.string(attribute)
        if name and name != "/dev/null":
            path = posixpath.normpath(posixpath.join(directory, name))
            if path not in paths:
                paths.append(path)
    return paths


class JobLogs(NamedTuple):
    """What a job's ad says of its event logs: for whoever writes many of its events."""

    paths: list[str]
    style: Style
    # The attributes that event 028 repeats after each event.
    information: str
    # The event numbers that the DAG's log wants; None for all.
    mask: frozenset[int] | None = None


def render(event: Event, style: Style) -> bytes:
    """Return an event in its style; the ClassAd machinery is loaded only for XML and JSON."""
    if style.form is Form.TEXT:
        return render_event(event, style)
    from kettle.records import event_forms

    return event_forms.render(event, style)


def _information(event: Event, job: ClassAd, wanted: str) -> Event:
    from kettle.records.event_forms import information_event

    return information_event(event, job, wanted.replace(",", " ").split())


def _nowhere(_: str) -> bool:
    return False


class EventLogs:
    """The open logs of one process.

    `privileged` and `report` are the global log's, see there. Logs that are `is_far` are written
    beside the loop, each in the order of its events; what goes wrong with them is reported.
    """

    def __init__(
        self,
        config: Config,
        *,
        privileged: Privileged = contextlib.nullcontext,
        report: Callable[[str], object] | None = None,
        aside: Aside | None = None,
        is_far: Callable[[str], bool] = _nowhere,
    ) -> None:
        self._aside = aside or InlineAside()
        self._is_far = is_far
        self._waiting: dict[str, list[bytes]] = {}
        self._writers: set[asyncio.Task[object]] = set()
        self._privileged = privileged
        self._report = report
        self._global: GlobalLog | None = None
        self._open: OrderedDict[str, tuple[int, tuple[int, int]]] = OrderedDict()
        self._gathered: dict[str, list[bytes]] | None = None
        self.reconfigure(config)

    def reconfigure(self, config: Config) -> None:
        """Take over the format options and the place of the global log."""
        options = config.get("DEFAULT_USERLOG_FORMAT_OPTIONS") or ""
        self._style = Style.parse(options)
        self._xml_style = Style(Form.XML, utc=self._style.utc)
        path = config.get("EVENT_LOG") or ""
        self._global_attributes = config.get("EVENT_LOG_JOB_AD_INFORMATION_ATTRS") or ""
        if self._global is not None:
            self._global.close()
        self._global = None
        if path:
            self._global = GlobalLog(
                config, path, render, privileged=self._privileged, report=self._report
            )

    def close(self) -> None:
        """Close every log."""
        if self._global is not None:
            self._global.close()
        while self._open:
            _, (descriptor, _) = self._open.popitem()
            os.close(descriptor)

    async def check(self, job: ClassAd) -> None:
        """Make sure that a job's logs can be written; StorageError if not (hold code 22)."""
        for path in user_log_paths(job):
            if self._is_far(path):
                await self._aside.run(partial(_append_once, path, b""))
            else:
                self._descriptor(path)

    async def settle(self, seconds: float) -> None:
        """Wait until the far logs are written, but no longer than so."""
        if self._writers:
            await asyncio.wait(self._writers, timeout=seconds)

    def logs_of(self, job: ClassAd, mask: frozenset[int] | None = None) -> JobLogs:
        """Return where a job's events go and how; `mask` is what its DAG's log wants."""
        xml = job.boolean("UserLogUseXML") is True
        style = self._xml_style if xml else self._style
        return JobLogs(user_log_paths(job), style, job.string("JobAdInformationAttrs") or "", mask)

    def write(self, job: ClassAd, event: Event, logs: JobLogs | None = None) -> None:
        """Append an event of a job to its logs; StorageError for its own, never for the pool's.

        `logs`, if given, is what `logs_of` says. Where job or pool asked to be told more, event 028
        follows.
        """
        paths, style, wanted, mask = logs or self.logs_of(job)
        data = render(event, style)
        if wanted:
            data += render(_information(event, job, wanted), style)
        if self._global is not None:
            self._global.write(event)
            if self._global_attributes:
                self._global.write(_information(event, job, self._global_attributes))
        for at, path in enumerate(paths):
            if at == 0 or mask is None or event.number in mask:
                self._append(path, data)

    def last_of(self, job: ClassAd) -> Event | None:
        """Return what a job's own log says last; None if that cannot be known quickly."""
        for path in user_log_paths(job)[:1]:
            if not self._is_far(path):
                place = job.integer("ClusterId") or 0, job.integer("ProcId") or 0
                return last_event(path, *place)
        return None

    def tell_of_start(self, job: ClassAd) -> bool:
        """Whether a job's own log has the start of this run, as far as that can be known."""
        place = job.integer("ClusterId") or 0, job.integer("ProcId") or 0
        return all(
            self._is_far(path) or tells_of_start(path, *place) for path in user_log_paths(job)[:1]
        )

    def starts_told(self, job: ClassAd) -> int:
        """Return how many starts of a job its own log tells of, as far as that can be known."""
        place = job.integer("ClusterId") or 0, job.integer("ProcId") or 0
        near = (path for path in user_log_paths(job)[:1] if not self._is_far(path))
        return sum(starts_told(path, *place) for path in near)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write what is written inside at its end, each log's events in one piece.

        A log that cannot be written does not keep the others back; StorageError for the last one.
        """
        gathered: dict[str, list[bytes]] = {}
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            failure: StorageError | None = None
            for path, pieces in gathered.items():
                try:
                    self._append(path, b"".join(pieces))
                except StorageError as error:
                    failure = error
        if failure is not None:
            raise failure

    def _append(self, path: str, data: bytes) -> None:
        if self._gathered is not None:
            self._gathered.setdefault(path, []).append(data)
            return
        if self._is_far(path):
            self._append_far(path, data)
            return
        try:
            written = os.write(self._descriptor(path), data)
            if written < len(data):
                # The disk is full: an event in two pieces is better than a torn one.
                os.write(self._descriptor(path), data[written:])
        except OSError as error:
            raise StorageError(f"cannot write the event log {path}: {error.strerror}") from error

    def _append_far(self, path: str, data: bytes) -> None:
        waiting = self._waiting.get(path)
        if waiting is None:
            self._waiting[path] = [data]
            writer = tasks.spawn(self._write_far(path), f"event log {path}")
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        elif len(waiting) < MAX_WAITING:
            waiting.append(data)

    async def _write_far(self, path: str) -> None:
        waiting = self._waiting[path]
        try:
            while waiting:
                pieces = b"".join(waiting)
                waiting.clear()
                await self._aside.run(partial(_append_once, path, pieces))
        except StorageError as error:
            if self._report is not None:
                self._report(str(error))
        finally:
            del self._waiting[path]

    def _descriptor(self, path: str) -> int:
        known = self._open.get(path)
        if known is not None:
            descriptor, identity = known
            try:
                facts = os.stat(path)
            except OSError:
                facts = None
            if facts is not None and (facts.st_dev, facts.st_ino) == identity:
                self._open.move_to_end(path)
                return descriptor
            # Somebody moved or deleted the log: events go on in a new one.
            os.close(descriptor)
            del self._open[path]
        descriptor = _open_log(path)
        facts = os.fstat(descriptor)
        self._open[path] = (descriptor, (facts.st_dev, facts.st_ino))
        if len(self._open) > MAX_OPEN:
            _, (oldest, _) = self._open.popitem(last=False)
            os.close(oldest)
        return descriptor


def _open_log(path: str) -> int:
    """Open a log for appending; StorageError if it cannot be, or is no regular file."""
    try:
        # A user names this file: a pipe without a reader must not hold the daemon up.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(path, flags, _MODE)
    except OSError as error:
        raise StorageError(f"cannot open the event log {path}: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"cannot open the event log {path}: it is no regular file")
    return descriptor


def _append_once(path: str, data: bytes) -> None:
    """Open, append and close; a log far away is not kept open."""
    descriptor = _open_log(path)
    try:
        if data:
            os.write(descriptor, data)
    except OSError as error:
        raise StorageError(f"cannot write the event log {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)


__all__ = ["DEFAULT_STYLE", "EventLogs", "user_log_paths"]
