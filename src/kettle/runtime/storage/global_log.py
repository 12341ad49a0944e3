"""The pool's log of all jobs' events (EVENT_LOG): its header, its rotation and their lock.

Schedd and shadow hosts of every user append to one file. An event is one `write` on a descriptor
opened for appending and needs no lock; making a new file and renaming an old one do. That lock is
a file of its own that nobody else can open (EVENT_LOG_ROTATION_LOCK, mode 0600): one on the log
itself could be held by any user who may read it. Nothing here waits: while another process has the
lock the events are kept and tried again from the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from kettle.config.knobs.event_log import EventLogKnobs
from kettle.records.event_log import GLOBAL_HEADER_WIDTH, GlobalHeader, Style, read_events
from kettle.runtime.storage.small_files import append_whole, open_as_meant, write_fully
from kettle.runtime.storage.waiting_events import PASSING

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.records.event_base import Event

# What a new log may be read by: everybody, as the reference has it.
_MODE = 0o644
_LOCK_MODE = 0o600
# Limit: events that wait for a log that another process is just making.
MAX_WAITING = 10_000
# Between two tries, doubled each time; after the last one the log is written without its header:
# whoever has the lock for so long is stopped or stuck.
_FIRST_PAUSE_SECONDS = 0.01
_LONGEST_PAUSE_SECONDS = 1.0
_TRIES = 30
# What a header takes in the file, in any style.
_HEADER_BYTES = GLOBAL_HEADER_WIDTH + 1024
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK

Render = Callable[["Event", Style], bytes]
Privileged = Callable[[], AbstractContextManager[None]]


def _never() -> bool:
    return False


class GlobalLog:
    """The global log as one process writes it.

    `privileged` is entered wherever files are opened or renamed: the log belongs to the daemons
    and not to the user whose files this process may be touching at the moment. Nothing is written
    while it `must_wait`.
    """

    def __init__(
        self,
        config: Config,
        path: str,
        render: Render,
        *,
        privileged: Privileged = contextlib.nullcontext,
        report: Callable[[str], object] | None = None,
        must_wait: Callable[[], bool] = _never,
    ) -> None:
        self.path = path
        options = config.get("EVENT_LOG_FORMAT_OPTIONS") or ""
        self._style = Style.parse(options, xml=config[EventLogKnobs.EVENT_LOG_USE_XML])
        self._max_size = config[EventLogKnobs.EVENT_LOG_MAX_SIZE]
        self._rotations = config[EventLogKnobs.EVENT_LOG_MAX_ROTATIONS]
        self._lock_path = config[EventLogKnobs.EVENT_LOG_ROTATION_LOCK] or f"{path}.lock"
        self._render = render
        self._privileged = privileged
        self._report = report
        self._must_wait = must_wait
        self._open: tuple[int, tuple[int, int]] | None = None
        self._waiting: list[bytes] = []
        self._now = 0.0
        self._tries = 0
        # Whether the disk did not take what waits.
        self._in_trouble = False
        self._timer: asyncio.TimerHandle | None = None

    def write(self, event: Event) -> None:
        """Append an event, now or as soon as the log is there; trouble is told, never raised."""
        if len(self._waiting) >= MAX_WAITING:
            self._tell(f"{self.path}: an event is left out, too many wait already")
            return
        self._waiting.append(self._render(event, self._style))
        self._now = event.time
        if not (self._in_trouble and self._timer is not None):
            self._flush()

    def close(self) -> None:
        """Close the log; what still waits is written without waiting for the lock."""
        self._tries = _TRIES
        self._flush()
        if self._waiting:
            self._tell(f"{self.path}: {len(self._waiting)} events are left out")
        self._stop_timer()
        self._forget()

    # -- one try --------------------------------------------------------------------------------

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._must_wait():
            self._try_later()
            return
        try:
            descriptor = self._descriptor()
            if descriptor is None:
                self._try_later()
                return
            append_whole(descriptor, b"".join(self._waiting))
        except OSError as error:
            if not self._in_trouble:
                self._tell(f"cannot write the event log {self.path}: {error.strerror}")
            self._in_trouble = error.errno in PASSING
            if self._in_trouble:
                # There is room again one day: nothing is lost until too many wait.
                self._try_later()
                return
        self._in_trouble = False
        self._waiting.clear()
        self._tries = 0
        self._stop_timer()

    def _descriptor(self) -> int | None:
        """Return the log, open, of the right size and with its header; None if that has to wait."""
        size = self._current_size()
        if self._open is not None and size is not None and not self._is_full(size):
            return self._open[0]
        with self._privileged(), self._lock() as locked:
            size = self._current_size()
            if locked:
                if size is not None and self._is_full(size):
                    self._rotate(size)
                elif size is None or size == 0:
                    self._begin(GlobalHeader(int(self._now), self._identity(), 1))
            elif size is None and self._tries < _TRIES:
                return None
            self._reopen()
        return self._open[0] if self._open is not None else None

    def _is_full(self, size: int) -> bool:
        return 0 < self._max_size <= size and self._rotations > 0

    def _current_size(self) -> int | None:
        """Return the size of the log that has our name now, None for none; ours may be older."""
        try:
            facts = os.stat(self.path)
        except OSError:
            facts = None
        if self._open is not None and (
            facts is None or (facts.st_dev, facts.st_ino) != self._open[1]
        ):
            self._forget()
        if facts is not None and not stat.S_ISREG(facts.st_mode):
            # Never renamed or replaced: it may be a device.
            raise OSError(errno.EINVAL, "it is no regular file")
        return None if facts is None else facts.st_size

    def _reopen(self) -> None:
        if self._open is not None:
            return
        descriptor = open_as_meant(self.path, _FLAGS | os.O_CREAT, _MODE)
        facts = os.fstat(descriptor)
        self._open = (descriptor, (facts.st_dev, facts.st_ino))

    def _forget(self) -> None:
        if self._open is not None:
            os.close(self._open[0])
            self._open = None

    # -- under the lock -------------------------------------------------------------------------

    @contextlib.contextmanager
    def _lock(self) -> Iterator[bool]:
        """Hold the lock, where it is free; tells whether it is ours."""
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._lock_path, flags, _LOCK_MODE)
        except OSError as error:
            # Without a lock the log grows and has no header, but no event is lost.
            self._tell(f"the lock {self._lock_path}: {error.strerror}")
            self._tries = _TRIES
            yield False
            return
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) != _LOCK_MODE:
                os.fchmod(descriptor, _LOCK_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)

    def _rotate(self, size: int) -> None:
        """Note in the old file how long it became, rename it, begin the next one."""
        last = self._finish_header(size)
        self._forget()
        # One rotation is `.old`, several are numbered, as the reference does.
        if self._rotations == 1:
            os.replace(self.path, f"{self.path}.old")
        else:
            for number in range(self._rotations - 1, 0, -1):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(f"{self.path}.{number}", f"{self.path}.{number + 1}")
            os.replace(self.path, f"{self.path}.1")
        sequence = last.sequence + 1 if last is not None else 1
        offset = last.offset + size if last is not None else size
        header = GlobalHeader(int(self._now), self._identity(), sequence, offset=offset)
        self._begin(header)

    def _finish_header(self, size: int) -> GlobalHeader | None:
        """Write the final size into the log's header, whose length does not change by that."""
        descriptor = open_as_meant(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            events = read_events(os.pread(descriptor, _HEADER_BYTES, 0))
            header = GlobalHeader.parse(events[0]) if events else None
            if header is None:
                return None
            before = self._render(header.event(events[0].time), self._style)
            header = replace(header, size=size)
            after = self._render(header.event(events[0].time), self._style)
            if len(before) == len(after) and os.pread(descriptor, len(before), 0) == before:
                os.pwrite(descriptor, after, 0)
            return header
        finally:
            os.close(descriptor)

    def _begin(self, header: GlobalHeader) -> None:
        """Make a log with its header; it has its name only when the header is in it."""
        header = replace(header, max_rotation=self._rotations)
        temporary = f"{self.path}.new"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(temporary, flags, _MODE)
        try:
            os.fchmod(descriptor, _MODE)
            write_fully(descriptor, self._render(header.event(self._now), self._style))
            if os.geteuid() == 0:
                # The daemons' account reads and removes it like their other logs.
                place = os.stat(os.path.dirname(self.path) or "/")
                os.fchown(descriptor, place.st_uid, place.st_gid)
        finally:
            os.close(descriptor)
        os.replace(temporary, self.path)

    def _identity(self) -> str:
        now = self._now
        return f"{os.getuid()}.{os.getpid()}.{int(now)}.{int(now * 1e6) % 1_000_000}"

    # -- another try ----------------------------------------------------------------------------

    def _try_later(self) -> None:
        if self._timer is not None:
            return
        pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(self._tries, _TRIES), _LONGEST_PAUSE_SECONDS)
        self._tries += 1
        # Without a loop the next event is the next try.
        with contextlib.suppress(RuntimeError):
            self._timer = asyncio.get_running_loop().call_later(pause, self._again)

    def _again(self) -> None:
        self._timer = None
        self._flush()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self, text: str) -> None:
        if self._report is not None:
            self._report(text)
