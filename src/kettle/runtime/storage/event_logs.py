"""Writing job event logs: the user's own, DAGMan's, and (in `global_log.py`) the pool's.

Schedd and shadow host each have one `EventLogs`. Whole events leave in one `write` on a descriptor
opened for appending, so writers of several processes never mix; descriptors stay open for a
while, because short jobs of one cluster share a log. One that is open is its owner's alone: another
who names the same file opens it with his own rights, or cannot. What an event says is decided
elsewhere, its bytes in `kettle.records`. Nothing is fsynced: what was written survives the death of
any process.

What cannot be written at once, because the log is far away or its disk is full, waits in
`waiting_events.py`, and everything behind it. Whoever made the `EventLogs` is told of it, and gives
it to the process that comes after this one (`recall`). So does everything while what it tells of
waits for a disk itself (`Records`): a crash then takes back neither or both.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kettle.errors import StorageError
from kettle.named_tuples import NamedTuple
from kettle.policy.job_owner import user_of
from kettle.records.event_base import Event
from kettle.records.event_log import DEFAULT_STYLE, Format, Style, render_event
from kettle.runtime.process.aside import Aside, InlineAside
from kettle.runtime.storage.event_log_tail import read_tail, tells_of
from kettle.runtime.storage.global_log import GlobalLog, Privileged
from kettle.runtime.storage.small_files import AT_EASE, append_whole
from kettle.runtime.storage.told import ToldByLogs, place_of, user_log_paths
from kettle.runtime.storage.waiting_events import (
    PASSING,
    Append,
    Note,
    OwnedLog,
    Piece,
    Place,
    WaitingEvents,
)

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.records.unwritten_events import Unwritten

# Limit: logs that a process keeps open, of all its owners. Who has the most gives one up for the
# next, and pays an open for an event of his own alone.
MAX_OPEN = 128
# Limit: how long a job's start waits for a log on a file system that hangs.
FAR_SECONDS = 60.0
# What a new log may be read by: everybody, as the reference has it.
_MODE = 0o644
# A user names this file.
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | AT_EASE


# What decides where a job's events go and how.
LOG_NAMES = frozenset(
    ("iwd", "userlog", "dagmannodeslog", "userlogusexml", "jobadinformationattrs", "owner", "user")
)


class JobLogs(NamedTuple):
    """What a job's ad says of its event logs: for whoever writes many of its events."""

    paths: list[str]
    style: Style
    # The attributes that event 028 repeats after each event.
    information: str
    # The event numbers that the DAG's log wants; None for all.
    mask: frozenset[int] | None = None
    # Whose they are: all of his name, with its domain.
    owner: str = ""


def render(event: Event, style: Style) -> bytes:
    """Return an event in its style; the ClassAd machinery is loaded only for XML and JSON."""
    if style.form is Format.TEXT:
        return render_event(event, style)
    from kettle.records import event_forms

    return event_forms.render(event, style)


def _information(event: Event, job: ClassAd, wanted: str) -> Event:
    from kettle.records.event_forms import information_event

    return information_event(event, job, wanted.replace(",", " ").split())


def _nowhere(_: str) -> bool:
    return False


def _as_we_are(_: str) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


def _say_nothing(_: str) -> None:
    pass


def _keep_nothing(_: set[Place], __: bool) -> None:
    pass


# Whose rights an owner's logs are written with.
AsOwner = Callable[[str], contextlib.AbstractContextManager[None]]


class Records(Protocol):
    """What events tell of, on its own way to the disk."""

    @property
    def are_waiting(self) -> bool:
        """Whether some wait for room: nothing may be told before they are written."""

    async def written(self) -> None:
        """Return when all of them are on disk."""


class EventLogs:
    """The open logs of one process.

    `privileged` and `report` are the global log's, see there. Logs that are `is_far` are written
    beside the loop by `append_far`, in a thread if there is none; what goes wrong with them, and
    with those of a full disk, is reported. Whoever calls has the owner's rights already; what is
    written later takes them by `as_owner`. `note` hears of which jobs something waits. No event is
    written before the `records` are.
    """

    def __init__(
        self,
        config: Config,
        *,
        privileged: Privileged = contextlib.nullcontext,
        report: Callable[[str], object] | None = None,
        aside: Aside | None = None,
        is_far: Callable[[str], bool] = _nowhere,
        append_far: Append | None = None,
        as_owner: AsOwner = _as_we_are,
        note: Note = _keep_nothing,
        records: Records | None = None,
    ) -> None:
        self._records = records
        self._aside = aside or InlineAside()
        self._is_far = is_far
        self._append_far = append_far or self._append_aside
        self._as_owner = as_owner
        self._waiting = WaitingEvents(self._append_later, report or _say_nothing, note)
        self.told = ToldByLogs(is_far, self.unwritten)
        self._privileged = privileged
        self._report = report
        self._global: GlobalLog | None = None
        # The descriptor of each, with whose rights it was opened and which file it is; the one used
        # last comes last.
        self._open: OrderedDict[OwnedLog, tuple[int, tuple[int, int, int]]] = OrderedDict()
        self._gathered: dict[OwnedLog, list[Piece]] | None = None
        self._kept_out: StorageError | None = None
        self.reconfigure(config)

    def reconfigure(self, config: Config) -> None:
        """Take over the format options and the place of the global log."""
        options = config.get("DEFAULT_USERLOG_FORMAT_OPTIONS") or ""
        self._style = Style.parse(options)
        self._xml_style = Style(Format.XML, utc=self._style.utc)
        path = config.get("EVENT_LOG") or ""
        self._global_attributes = config.get("EVENT_LOG_JOB_AD_INFORMATION_ATTRS") or ""
        if self._global is not None:
            self._global.close()
        self._global = None
        if path:
            self._global = GlobalLog(
                config,
                path,
                render,
                privileged=self._privileged,
                report=self._report,
                must_wait=self._must_wait,
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
            log = OwnedLog(user_of(job), path)
            trouble = self._waiting.trouble(log)
            if trouble is not None:
                # It is as old as the last try: there may be room by now.
                trouble = await self._try_again(log, trouble)
            if trouble is not None:
                raise trouble
            if self._is_far(path):
                await self._check_far(path)
            else:
                _check_room(self._descriptor(log), path)

    async def _try_again(self, log: OwnedLog, trouble: StorageError) -> StorageError | None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAR_SECONDS):
                return await self._waiting.try_again(log)
        return trouble

    async def _check_far(self, path: str) -> None:
        opened = self._aside.run(partial(append_once, path, b""))
        try:
            async with asyncio.timeout(FAR_SECONDS):
                # What hangs is left to hang: its thread cannot be called back.
                await asyncio.shield(opened)
        except TimeoutError:
            late = OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
            raise _cannot("open", path, late) from None

    async def settle(self, seconds: float) -> None:
        """Wait until what waits is written, but no longer than so."""
        await self._waiting.settle(seconds)

    def logs_of(self, job: ClassAd, mask: frozenset[int] | None = None) -> JobLogs:
        """Return where a job's events go and how; `mask` is what its DAG's log wants.

        Of the ad it reads `LOG_NAMES`.
        """
        xml = job.boolean("UserLogUseXML") is True
        style = self._xml_style if xml else self._style
        wanted = job.string("JobAdInformationAttrs") or ""
        return JobLogs(user_log_paths(job), style, wanted, mask, user_of(job))

    def write(self, job: ClassAd, event: Event, logs: JobLogs | None = None) -> None:
        """Append an event of a job to its logs; StorageError for its own, never for the pool's.

        `logs`, if given, is what `logs_of` says. Where job or pool asked to be told more, event 028
        follows.
        """
        logs = logs or self.logs_of(job)
        for path, data in self.prepare(job, event, logs):
            self._append(OwnedLog(logs.owner, path), [Piece((event.cluster, event.proc), data)])

    def prepare(self, job: ClassAd, event: Event, logs: JobLogs | None = None) -> list[Unwritten]:
        """Return what is to be appended to which of a job's logs; the pool's has it already."""
        paths, style, wanted, mask, _ = logs or self.logs_of(job)
        data = render(event, style)
        if wanted:
            data += render(_information(event, job, wanted), style)
        if self._global is not None:
            self._global.write(event)
            if self._global_attributes:
                self._global.write(_information(event, job, self._global_attributes))
        return [
            (path, data)
            for at, path in enumerate(paths)
            if at == 0 or mask is None or event.number in mask
        ]

    def unwritten(self, place: Place) -> list[Unwritten]:
        """Return the events of a job that wait, in their order."""
        return self._waiting.of(place)

    def recall(self, job: ClassAd, events: Iterable[Unwritten], *, unsure: bool = True) -> None:
        """Write what an earlier process had no room for, unless a log of the job's has it.

        What waits here already is not written twice; nor, if `unsure`, what a log has.
        Each is written when its turn comes; what is meant for no log of the job's is passed over.
        """
        paths, place, owner = user_log_paths(job), place_of(job), user_of(job)
        known = Counter(self.unwritten(place))
        for path, data in events:
            if known[path, data]:
                known[path, data] -= 1
            elif path in paths:
                piece = Piece(place, data, unsure=unsure)
                self._waiting.add(OwnedLog(owner, path), [piece])

    def may_give_away(self, place: Place) -> bool:
        """Whether events of a job wait that another process may write instead."""
        return self._waiting.may_take(place)

    def give_away(self, place: Place) -> None:
        """Let go of a job's events that wait: who has them now writes them, and what follows."""
        self._waiting.let_go(place)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write what is written inside at its end, each log's events in one piece.

        A log that cannot be written does not keep the others back; StorageError for the last one.
        """
        gathered: dict[OwnedLog, list[Piece]] = {}
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            failure: StorageError | None = None
            for log, pieces in gathered.items():
                try:
                    self._append(log, pieces)
                except StorageError as error:
                    failure = error
        if failure is not None:
            raise failure

    @contextlib.contextmanager
    def kept_out(self, trouble: StorageError) -> Iterator[None]:
        """Let what is written inside wait: its owner's rights cannot be had just now."""
        self._kept_out = trouble
        try:
            yield
        finally:
            self._kept_out = None

    def _append(self, log: OwnedLog, pieces: list[Piece]) -> None:
        if self._gathered is not None:
            self._gathered.setdefault(log, []).extend(pieces)
            return
        if self._kept_out is not None:
            self._waiting.add(log, pieces, self._kept_out)
            return
        if log in self._waiting or self._is_far(log.path) or self._must_wait():
            self._waiting.add(log, pieces)
            return
        try:
            self._write_now(log, b"".join(piece.data for piece in pieces))
        except StorageError as trouble:
            if trouble.errno not in PASSING:
                raise
            self._waiting.add(log, pieces, trouble)

    def _must_wait(self) -> bool:
        return self._records is not None and self._records.are_waiting

    def _write_now(self, log: OwnedLog, data: bytes) -> None:
        try:
            append_whole(self._descriptor(log), data)
        except OSError as error:
            raise _cannot("write", log.path, error) from error

    async def _append_later(self, owner: str, path: str, data: bytes, unsure: bool) -> None:
        """Write what waited, with its owner's rights."""
        if self._records is not None:
            while self._records.are_waiting:
                await self._records.written()
        if self._is_far(path):
            await self._append_far(owner, path, data, unsure)
        else:
            with self._as_owner(owner):
                append_once(path, data, unsure=unsure)

    async def _append_aside(self, _: str, path: str, data: bytes, unsure: bool) -> None:
        await self._aside.run(partial(append_once, path, data, unsure=unsure))

    def _descriptor(self, log: OwnedLog) -> int:
        known = self._open.get(log)
        if known is not None:
            descriptor, identity = known
            try:
                facts = os.stat(log.path)
            except OSError:
                facts = None
            if facts is not None and _identity(facts) == identity:
                self._open.move_to_end(log)
                return descriptor
            # Somebody moved or deleted the log: events go on in a new one. Or whoever is called the
            # owner has other rights now, whatever the ads say: those count.
            os.close(descriptor)
            del self._open[log]
        descriptor = _open_log(log.path)
        self._open[log] = (descriptor, _identity(os.fstat(descriptor)))
        if len(self._open) > MAX_OPEN:
            self._close_one()
        return descriptor

    def _close_one(self) -> None:
        """Close the log unused for longest of the owner who has the most."""
        owner = Counter(log.owner for log in self._open).most_common(1)[0][0]
        oldest = next(log for log in self._open if log.owner == owner)
        os.close(self._open.pop(oldest)[0])


def _identity(facts: os.stat_result) -> tuple[int, int, int]:
    return os.geteuid(), facts.st_dev, facts.st_ino


def _open_log(path: str) -> int:
    """Open a log for appending, in a folder that is made where there is none.

    StorageError if that cannot be, or it is no regular file.

    Compat: the reference runs a job whose log is a folder, or cannot be opened, to its end without
    a log; ours holds it, for whoever waits for the log would wait for ever
    (test_what_is_wrong_with_a_job_s_files_is_said_in_its_hold).
    """
    try:
        try:
            descriptor = os.open(path, _APPENDING, _MODE)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            descriptor = os.open(path, _APPENDING, _MODE)
    except OSError as error:
        raise _cannot("open", path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(
            f"cannot open the event log {path}: it is no regular file", errno=errno.EINVAL
        )
    return descriptor


def _check_room(descriptor: int, path: str) -> None:
    """Raise StorageError if the log's disk is full; disks that count no blocks never are."""
    facts = os.fstatvfs(descriptor)
    free = facts.f_bavail if os.geteuid() else facts.f_bfree
    if facts.f_blocks and not free:
        raise _cannot("write", path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def _cannot(what: str, path: str, error: OSError) -> StorageError:
    number = error.errno or errno.EIO
    return StorageError(
        f"cannot {what} the event log {path}: {os.strerror(number)} (errno {number})", errno=number
    )


def append_once(path: str, data: bytes, *, unsure: bool = False) -> None:
    """Open, append and close, for a log that is not kept open; StorageError. May hang.

    What is `unsure` is appended only where the end of the log does not have it.
    """
    descriptor = _open_log(path)
    try:
        if data and not (unsure and tells_of(read_tail(path), data)):
            append_whole(descriptor, data)
    except OSError as error:
        raise _cannot("write", path, error) from error
    finally:
        os.close(descriptor)


__all__ = ["DEFAULT_STYLE", "LOG_NAMES", "EventLogs", "Records", "append_once", "user_log_paths"]
