"""A daemon's log file, line for line as HTCondor's daemons write theirs.

`MM/DD/YY HH:MM:SS text`, with `(fd:N) `, `(pid:N) ` and `(D_CATEGORY) ` in between when
<SUBSYS>_DEBUG asks for D_FDS, D_PID and D_CAT; DEBUG_TIME_FORMAT, D_TIMESTAMP and D_SUB_SECOND say
how the moment is written. What is worth a line is the caller's affair; whether its category is on,
where the line goes and when the file is rotated is decided here (R085).

Several processes may write one file (shadow hosts, a slot's starters): whoever finds that another
has moved it aside goes on in the new one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from kettle.config.log_sizes import read_log_size
from kettle.octets import to_shown_bytes
from kettle.runtime.log_allowance import LogAllowance
from kettle.runtime.storage.small_files import open_as_meant
from kettle.wire.security.secret_words import hide_secrets

# Flags of <SUBSYS>_DEBUG that change the head of a line and are no categories.
_HEAD_FLAGS = frozenset(("D_PID", "D_CAT", "D_SUB_SECOND", "D_TIMESTAMP", "D_NOHEADER", "D_FDS"))
_OTHER_NAMES = {"D_CATEGORY": "D_CAT", "D_FULL": "D_FULLDEBUG", "D_ALL": "D_ANY"}
_TIME_FORMAT = "%m/%d/%y %H:%M:%S"
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
_TEN_MEBIBYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Verbosity:
    """Which categories are written, and how a line begins: the value of <SUBSYS>_DEBUG.

    A category's level is 1 (on) or 2 (`D_X:2`, also its detailed lines). D_FULLDEBUG is the
    second level of D_ALWAYS.
    """

    levels: dict[str, int] = field(default_factory=lambda: {"D_ALWAYS": 1, "D_ERROR": 1})
    show_pid: bool = False
    show_category: bool = False
    sub_seconds: bool = False
    show_descriptor: bool = False
    # Seconds since the epoch instead of date and time.
    epoch: bool = False


def parse_verbosity(*texts: str | None) -> Verbosity:
    """Read the words of ALL_DEBUG and <SUBSYS>_DEBUG; later words win, unknown ones are kept."""
    levels = {"D_ALWAYS": 1, "D_ERROR": 1, "D_STATUS": 1}
    head: set[str] = set()
    for word in re.split(r"[\s,|]+", " ".join(filter(None, texts))):
        negative = word.startswith("-")
        name, _, detail = word.lstrip("-").upper().partition(":")
        if not name:
            continue
        name = name if name.startswith("D_") else f"D_{name}"
        name = _OTHER_NAMES.get(name, name)
        if name in _HEAD_FLAGS:
            (head.discard if negative else head.add)(name)
        elif name == "D_FULLDEBUG":
            levels["D_ALWAYS"] = 1 if negative else 2
        else:
            levels[name] = 0 if negative else (2 if detail == "2" else 1)
    return Verbosity(
        levels,
        "D_PID" in head,
        "D_CAT" in head,
        "D_SUB_SECOND" in head,
        "D_FDS" in head,
        "D_TIMESTAMP" in head,
    )


def parse_limit(text: str | None) -> tuple[int, int]:
    """Read MAX_<SUBSYS>_LOG: (bytes, 0) or (0, seconds); (10 MiB, 0) if it is missing or wrong."""
    return read_log_size(text or "") or (_TEN_MEBIBYTES, 0)


# What of a record's lines after the first may stand at a line's beginning as it is: as the
# reference writes an ad, its attributes, which no moment looks like; a space or a tab; nothing.
_CONTINUED = re.compile(r"[A-Za-z_][A-Za-z0-9_.]* = |[ \t]|$")
# Where heads have years of two digits: what the programs that the reference comes with say.
_CONTINUED_LONG_YEARS = re.compile(rf"{_CONTINUED.pattern}|\d\d/\d\d/\d{{4}} ")
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
} | {0x0D: "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def one_record(text: str, continues: Callable[[str], object] = _CONTINUED.match) -> str:
    """Return a text as what stands behind a record's head, so that it is this one record.

    A user or a peer may have said it: no line of it is taken for a record of its own, whatever its
    reader takes for a line's end, and it names no claim in full (`hide_secrets`). Lines after the
    first are kept, behind a tab where they could be such a record's head, which `continues` denies.
    """
    if text.isprintable():
        return hide_secrets(text)
    first, *rest = hide_secrets(text).translate(_CONTROLS).split("\n")
    return "\n".join((first, *(one if continues(one) else f"\t{one}" for one in rest)))


class Log:
    """Where a daemon tells what it does. Calling it writes a D_ALWAYS line.

    With no path the lines go to `sink`, by default standard error: tools, tests, and a daemon
    before its configuration is known.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        now: Callable[[], float] = time.time,
        verbosity: Verbosity | None = None,
        limit: tuple[int, int] = (_TEN_MEBIBYTES, 0),
        keep: int = 1,
        truncate: bool = False,
        prefix: str = "",
        sink: Callable[[str], object] | None = None,
        needed: bool = True,
    ) -> None:
        """OSError if a `needed` log cannot be opened, but for a full disk, which may have room."""
        self.path = path
        self._now = now
        self.verbosity = verbosity or Verbosity()
        self._limit = limit
        self._keep = keep
        self._prefix = prefix
        self._sink = sink
        # Entered wherever the file is opened or moved: a shadow host works as its user.
        self._privileged: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
        self._fd = -1
        self._closed = False
        self._size = 0
        self._opened_at = now()
        self._second = -1
        self._pid = 0
        self._stamp = ""
        # What stands behind the moment in the heads of a category: made once.
        self._tails: dict[str, str] = {}
        self._time_format = _TIME_FORMAT
        self._continues = _CONTINUED_LONG_YEARS.match
        # Lines that the disk did not take, and why.
        self._lost = 0
        # What the file ends with is a part of a line.
        self._torn = False
        self._why = ""
        # Files of their own for lines of single categories, whether these are on here or not.
        self.asides: dict[str, Log] = {}
        self._allowance = LogAllowance()
        if path is not None:
            try:
                self._open(truncate=truncate)
            except OSError as error:
                if needed and error.errno not in _FULL:
                    raise
                self._lose(error.errno)

    @property
    def trouble(self) -> str:
        """Why lines are lost just now; nothing if none is."""
        return self._why if self._lost else ""

    def __call__(self, text: str) -> None:
        """Write a line that is always wanted."""
        self.write("D_ALWAYS", text)

    def full(self, text: str) -> None:
        """Write a line that D_FULLDEBUG asks for."""
        if self.verbosity.levels.get("D_ALWAYS", 1) > 1 or self.enabled("D_ANY", 2):
            self.write("D_ALWAYS:2", text)

    def problem(self, text: str) -> None:
        """Write a line about something that went wrong here."""
        self.write("D_ERROR", text)
        self._put_aside("D_ERROR", text, 1)

    def stranger(self, kind: str, text: str, *, problem: bool = False) -> None:
        """Write a line that whoever reaches our port can cause: so many of a kind in a minute.

        One about a `problem` says that something went wrong here. How many more there were is
        written before the next line after that minute, whatever that is about.
        """
        now = self._now()
        self._tell_counted(now)
        if self._allowance.take(kind, now):
            (self.problem if problem else self)(text)

    def _tell_counted(self, now: float, *, everything: bool = False) -> None:
        for line in self._allowance.over(now, everything=everything):
            self._write_at(now, "D_ALWAYS", line)

    def debug(self, category: str, text: str, *, level: int = 1, always: bool = False) -> None:
        """Write a line if its category (`D_SECURITY`, `D_COMMAND`, …) is on at that level.

        Here that is, or `always`; in the category's own file if it has one.
        """
        if always or self._is_on(category, level):
            shown = "D_ALWAYS" if always else category
            self.write(shown if level == 1 else f"{shown}:{level}", text)
        self._put_aside(category, text, level)

    def enabled(self, category: str, level: int = 1) -> bool:
        """Whether lines of a category are written."""
        return self._is_on(category, level) or (level == 1 and category in self.asides)

    def _is_on(self, category: str, level: int) -> bool:
        levels = self.verbosity.levels
        return levels.get(category, levels.get("D_ANY", 0)) >= level

    def _put_aside(self, category: str, text: str, level: int) -> None:
        aside = self.asides.get(category)
        if aside is not None and (level == 1 or self._is_on(category, level)):
            aside.write(category, text)

    def write(self, category: str, text: str) -> None:
        """Write a record whatever the verbosity, as `one_record` has it."""
        now = self._now()
        if self._allowance.windows:
            self._tell_counted(now)
        self._write_at(now, category, text)

    def _write_at(self, now: float, category: str, text: str) -> None:
        if self._fd >= 0 and int(now) != self._second:
            self._follow()
        line = f"{self._head(now, category)}{self._prefix}{one_record(text, self._continues)}\n"
        if self.path is None or self._closed:
            (self._sink or sys.stderr.write)(line)
            return
        data = to_shown_bytes(line)
        size, seconds = self._limit
        if (seconds or self._size + len(data) > size) and self._is_full(now, len(data)):
            self._rotate()
        self._put(now, data)

    def _put(self, now: float, data: bytes) -> None:
        """Write whole lines; a full disk must not stop a daemon, which says so when it can."""
        if self._lost:
            head = self._head(now, "D_ERROR")
            said = f"{self._lost} lines of this log could not be written: {self._why}"
            data = to_shown_bytes(f"{head}{said}\n") + data
        try:
            if self._fd < 0:
                self._open()
            if self._torn:
                data = b"\n" + data
            written = os.write(self._fd, data)
        except OSError as error:
            self._lose(error.errno)
            return
        self._size += written
        if written:
            self._torn = not data[:written].endswith(b"\n")
        if written < len(data):
            # The line breaks off; what comes next says why.
            self._lose(errno.ENOSPC)
            return
        self._lost = 0

    def _lose(self, number: int | None) -> None:
        self._lost += 1
        self._why = os.strerror(number or errno.EIO)

    def configure(
        self,
        *,
        verbosity: Verbosity,
        limit: tuple[int, int] = (_TEN_MEBIBYTES, 0),
        keep: int = 1,
        time_format: str = "",
    ) -> None:
        """Take over what a new configuration says."""
        self.verbosity = verbosity
        self._time_format = time_format or _TIME_FORMAT
        own = self._time_format != _TIME_FORMAT
        self._continues = _CONTINUED.match if own else _CONTINUED_LONG_YEARS.match
        self._second = -1
        self._limit = limit
        self._keep = keep

    @property
    def privileged(self) -> Callable[[], AbstractContextManager[None]]:
        """With what rights the file is opened and moved; those of single categories with it."""
        return self._privileged

    @privileged.setter
    def privileged(self, switch: Callable[[], AbstractContextManager[None]]) -> None:
        self._privileged = switch
        for aside in self.asides.values():
            aside.privileged = switch

    def turn_to(self, path: str) -> None:
        """Write into another file from here on; the present one, if that cannot be opened."""
        before, old = self.path, self._fd
        if self._closed or before is None or path == before:
            return
        self.path = path
        try:
            with self._privileged():
                self._open()
        except OSError as error:
            self.path = before
            self.problem(f"cannot open the log {path}: {error.strerror}")
            return
        if old >= 0:
            os.close(old)

    def banner(self, lines: list[str]) -> None:
        """Write the box that a daemon's start or end is found by."""
        bar = "*" * 54
        for line in [bar, *(f"** {line}" for line in lines), bar]:
            self(line)

    def touch(self) -> None:
        """Give the file the moment as its age, whether or not there is something to say."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                self._follow()
                os.utime(self._fd)

    def close(self) -> None:
        """Close the file; later lines go to standard error."""
        self._tell_counted(self._now(), everything=True)
        self._closed = True
        for aside in self.asides.values():
            aside.close()
        self.asides = {}
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _head(self, now: float, category: str) -> str:
        second, pid = int(now), os.getpid()
        if second != self._second or pid != self._pid:
            self._second, self._pid = second, pid
            self._tails.clear()
            self._stamp = (
                str(second)
                if self.verbosity.epoch
                else time.strftime(self._time_format, time.localtime(second))
            )
        tail = self._tails.get(category)
        if tail is None:
            tail = self._tails[category] = self._make_tail(category)
        if self.verbosity.sub_seconds:
            return f"{self._stamp}.{int((now - second) * 1000):03d}{tail}"
        return self._stamp + tail

    def _make_tail(self, category: str) -> str:
        tail, verbosity = "", self.verbosity
        if verbosity.show_descriptor:
            tail += f" (fd:{self._fd})"
        if verbosity.show_pid:
            tail += f" (pid:{self._pid})"
        if verbosity.show_category:
            tail += f" ({category})"
        return tail + " "

    def _open(self, *, truncate: bool = False) -> None:
        assert self.path is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        if truncate:
            flags |= os.O_TRUNC
        # Compat: the reference lets everybody read its logs; ours hold jobs' command lines
        # (tests/pool/test_file_modes.py).
        self._fd = open_as_meant(self.path, flags, 0o640)
        if os.geteuid() == 0:
            # Where root opens it for an account's daemon, it belongs to the account.
            owner = os.stat(os.path.dirname(self.path) or ".")
            os.fchown(self._fd, owner.st_uid, owner.st_gid)
        self._size = os.fstat(self._fd).st_size
        self._torn = self._size > 0 and self._last_byte() != b"\n"
        self._opened_at = self._now()
        self._tails.clear()

    def _last_byte(self) -> bytes:
        """Return what the file ends with; a line's end where it cannot be read."""
        try:
            reading = os.open(f"/proc/self/fd/{self._fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b"\n"
        try:
            return os.pread(reading, 1, self._size - 1)
        finally:
            os.close(reading)

    def _follow(self) -> None:
        """Look, once a second, whether another process wrote to the file or moved it aside."""
        assert self.path is not None
        try:
            there = os.stat(self.path)
            ours = os.fstat(self._fd)
            if (there.st_ino, there.st_dev) == (ours.st_ino, ours.st_dev):
                self._size = there.st_size
                return
        except OSError:
            # Gone, or out of our reach: what we have open is still written to.
            if os.path.lexists(self.path):
                return
        with contextlib.suppress(OSError), self._privileged():
            old = self._fd
            self._open()
            os.close(old)

    def _is_full(self, now: float, more: int) -> bool:
        size, seconds = self._limit
        if size:
            return self._size + more > size and self._size > 0
        return bool(seconds) and now - self._opened_at >= seconds

    def _rotate(self) -> None:
        """Move the file aside: to `.old`, or to a name with the time if more are kept.

        Who moves it holds a lock on it meanwhile; who does not get the lock writes on and follows.
        """
        assert self.path is not None
        old = self._fd
        try:
            fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with self._privileged():
                if os.fstat(old).st_ino == os.stat(self.path).st_ino and self._keep > 0:
                    os.rename(self.path, self._aside())
                self._open(truncate=self._keep == 0)
            os.close(old)
        except OSError:
            # Limit: where it cannot be moved, the file grows by its size again before another try.
            self._size = 0
            return
        self._forget_oldest()
        self(f"Now in new log file {self.path}")

    def _aside(self) -> str:
        if self._keep == 1:
            return f"{self.path}.old"
        stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(self._now()))
        return f"{self.path}.{stamp}"

    def _forget_oldest(self) -> None:
        if self._keep <= 1:
            return
        assert self.path is not None
        folder, name = os.path.split(self.path)
        pattern = re.compile(re.escape(name) + r"\.\d{8}T\d{6}")
        with contextlib.suppress(OSError), self._privileged():
            kept = sorted(entry for entry in os.listdir(folder) if pattern.fullmatch(entry))
            for entry in kept[: -self._keep]:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, entry))
