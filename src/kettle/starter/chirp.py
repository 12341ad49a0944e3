"""The Chirp protocol's words: request lines, results, and what each request asks of the shadow.

A line of blank-separated words (backslash keeps a blank), answered by a number in a line of its
own and, where there is one, by data. Sockets are `services/chirp.py`; the tool `condor_chirp`
speaks the other side (S013).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from enum import IntEnum

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError, RemoteProtocolError
from kettle.octets import to_bytes
from kettle.policy.attribute_protection import MAX_EXPRESSION, is_attribute_name
from kettle.starter.syscalls import wire_flags
from kettle.wire.codec import is_private_attribute
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call

# What `version` is answered.
VERSION = 2
# Limit: one request line; a path is at most 4096 bytes.
LONGEST_LINE = 64 * 1024
# Limit: data of one request or answer.
LARGEST_DATA = 16 * 1024 * 1024


class ChirpError(IntEnum):
    """Negative results."""

    NOT_AUTHENTICATED = -1
    NOT_AUTHORIZED = -2
    DOES_NOT_EXIST = -3
    ALREADY_EXISTS = -4
    TOO_BIG = -5
    NO_SPACE = -6
    NO_MEMORY = -7
    INVALID_REQUEST = -8
    TOO_MANY_OPEN = -9
    BUSY = -10
    TRY_AGAIN = -11
    BAD_FD = -12
    IS_DIR = -13
    NOT_DIR = -14
    NOT_EMPTY = -15
    CROSS_DEVICE_LINK = -16
    OFFLINE = -17
    UNKNOWN = -127


_BY_ERRNO = {
    errno.EACCES: ChirpError.NOT_AUTHORIZED,
    errno.EPERM: ChirpError.NOT_AUTHORIZED,
    errno.EROFS: ChirpError.NOT_AUTHORIZED,
    errno.ENOENT: ChirpError.DOES_NOT_EXIST,
    errno.EEXIST: ChirpError.ALREADY_EXISTS,
    errno.EFBIG: ChirpError.TOO_BIG,
    errno.ENOSPC: ChirpError.NO_SPACE,
    errno.EDQUOT: ChirpError.NO_SPACE,
    errno.ENOMEM: ChirpError.NO_MEMORY,
    errno.EINVAL: ChirpError.INVALID_REQUEST,
    errno.E2BIG: ChirpError.INVALID_REQUEST,
    errno.ENOSYS: ChirpError.INVALID_REQUEST,
    errno.EMFILE: ChirpError.TOO_MANY_OPEN,
    errno.ENFILE: ChirpError.TOO_MANY_OPEN,
    errno.EBUSY: ChirpError.BUSY,
    errno.ETXTBSY: ChirpError.BUSY,
    errno.EAGAIN: ChirpError.TRY_AGAIN,
    errno.EINTR: ChirpError.TRY_AGAIN,
    errno.EBADF: ChirpError.BAD_FD,
    errno.EISDIR: ChirpError.IS_DIR,
    errno.ENOTDIR: ChirpError.NOT_DIR,
    errno.ENOTEMPTY: ChirpError.NOT_EMPTY,
    errno.EXDEV: ChirpError.CROSS_DEVICE_LINK,
    errno.ETIMEDOUT: ChirpError.OFFLINE,
}


def judge_delayed(name: str, text: str, kept: Container[str], room: int) -> int:
    """Return 0 if a delayed attribute can be kept for the next report, else the error.

    `kept` are those that wait, of which there may be `room` more.
    """
    if not is_attribute_name(name) or len(text) > MAX_EXPRESSION:
        return ChirpError.INVALID_REQUEST
    if room <= 0 and name not in kept:
        return ChirpError.TOO_BIG
    try:
        parse_expression(text)
    except ClassAdSyntaxError:
        return ChirpError.INVALID_REQUEST
    return 0


def error_for(number: int) -> int:
    """Return the Chirp result for an errno."""
    return _BY_ERRNO.get(number, ChirpError.UNKNOWN)


def errno_for(result: int) -> int:
    """Return an errno for a negative Chirp result, for the tool's messages."""
    for number, code in _BY_ERRNO.items():
        if code == result:
            return number
    return errno.EIO


def split_line(line: str) -> list[str]:
    """Return the words of a request; a backslash makes the next character literal.

    Raises RemoteProtocolError for a NUL: no name, path or text on the wire can hold one, and what
    is kept for a later report would be found out only when the starter says it.
    """
    if "\0" in line:
        raise RemoteProtocolError("a request has a NUL in it")
    words: list[str] = []
    word: list[str] = []
    started = escaped = False
    for char in line.rstrip("\r\n"):
        if escaped:
            word.append(char)
            escaped = False
        elif char == "\\":
            escaped = started = True
        elif char in " \t":
            if started:
                words.append("".join(word))
                word, started = [], False
        else:
            word.append(char)
            started = True
    if started:
        words.append("".join(word))
    return words


def render_line(*words: object) -> bytes:
    """Write a request line."""
    texts = []
    for word in words:
        text = str(word).replace("\\", "\\\\").replace(" ", "\\ ").replace("\t", "\\\t")
        texts.append(text.replace("\n", "\\n"))
    return to_bytes(" ".join(texts) + "\n")


def open_flags(text: str) -> int:
    """Return open(2) flags for Chirp's letters: r w a t c x."""
    reads, writes = "r" in text, "w" in text
    flags = os.O_RDWR if reads and writes else os.O_WRONLY if writes else os.O_RDONLY
    letters = {"a": os.O_APPEND, "t": os.O_TRUNC, "c": os.O_CREAT, "x": os.O_EXCL}
    for letter, flag in letters.items():
        if letter in text:
            flags |= flag
    return flags


class Answer:
    """What comes back beside the number."""

    NUMBER = "number"
    DATA = "data"
    TEXT = "text"
    LINE = "line"


@dataclass(frozen=True)
class Request:
    """How one request becomes a remote call: arguments by position, what comes back."""

    arguments: int
    make: Callable[[list[str], bytes], Call]
    answer: str = Answer.NUMBER
    # Position of the word that says how much data follows the line, -1 for none.
    data: int = -1


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RemoteProtocolError(f"{text!r} is not a number") from None


def _strides(words: list[str]) -> tuple[int, int, int, int]:
    """Return descriptor, offset, stride's length and skip; how much data follows is its own."""
    return _number(words[0]), _number(words[2]), _number(words[3]), _number(words[4])


# fmt: off
REQUESTS: dict[str, Request] = {
    "open": Request(
        3, lambda w, _: calls.Open(wire_flags(open_flags(w[1])), _number(w[2]), w[0])
    ),
    "close": Request(1, lambda w, _: calls.Close(_number(w[0]))),
    "read": Request(2, lambda w, _: calls.Read(_number(w[0]), _number(w[1])), Answer.DATA),
    "pread": Request(
        3, lambda w, _: calls.Pread(_number(w[0]), _number(w[1]), _number(w[2])), Answer.DATA
    ),
    "sread": Request(5, lambda w, _: calls.Sread(*map(_number, w[:5])), Answer.DATA),
    "swrite": Request(5, lambda w, d: calls.Swrite(*_strides(w), d), data=1),
    "write": Request(2, lambda w, d: calls.Write(_number(w[0]), d), data=1),
    "pwrite": Request(3, lambda w, d: calls.Pwrite(_number(w[0]), _number(w[2]), d), data=1),
    "fchown": Request(3, lambda w, _: calls.Fchown(*map(_number, w[:3]))),
    "fchmod": Request(2, lambda w, _: calls.Fchmod(_number(w[0]), _number(w[1]))),
    "ftruncate": Request(2, lambda w, _: calls.Ftruncate(_number(w[0]), _number(w[1]))),
    "lookup": Request(1, lambda w, _: calls.GetFileInfo(w[0]), Answer.TEXT),
    "fsync": Request(1, lambda w, _: calls.Fsync(_number(w[0]))),
    "lseek": Request(3, lambda w, _: calls.Lseek(_number(w[0]), _number(w[1]), _number(w[2]))),
    "rename": Request(2, lambda w, _: calls.Rename(w[0], w[1])),
    "unlink": Request(1, lambda w, _: calls.Unlink(w[0])),
    "rmdir": Request(1, lambda w, _: calls.Rmdir(w[0])),
    "rmall": Request(1, lambda w, _: calls.Rmall(w[0])),
    "mkdir": Request(2, lambda w, _: calls.Mkdir(w[0], _number(w[1]))),
    "fstat": Request(1, lambda w, _: calls.Fstat(_number(w[0])), Answer.LINE),
    "stat": Request(1, lambda w, _: calls.Stat(w[0]), Answer.LINE),
    "lstat": Request(1, lambda w, _: calls.Lstat(w[0]), Answer.LINE),
    "fstatfs": Request(1, lambda w, _: calls.Fstatfs(_number(w[0])), Answer.LINE),
    "statfs": Request(1, lambda w, _: calls.Statfs(w[0]), Answer.LINE),
    "getfile": Request(1, lambda w, _: calls.GetFile(w[0]), Answer.DATA),
    "getdir": Request(1, lambda w, _: calls.GetDir(w[0]), Answer.TEXT),
    "getlongdir": Request(1, lambda w, _: calls.GetLongDir(w[0]), Answer.TEXT),
    "whoami": Request(1, lambda w, _: calls.WhoAmI(_number(w[0])), Answer.DATA),
    "whoareyou": Request(2, lambda w, _: calls.WhoAreYou(w[0], _number(w[1])), Answer.DATA),
    "link": Request(2, lambda w, _: calls.Link(w[0], w[1])),
    "symlink": Request(2, lambda w, _: calls.Symlink(w[0], w[1])),
    "readlink": Request(2, lambda w, _: calls.Readlink(w[0], _number(w[1])), Answer.DATA),
    "access": Request(2, lambda w, _: calls.Access(w[0], _number(w[1]))),
    "chmod": Request(2, lambda w, _: calls.Chmod(w[0], _number(w[1]))),
    "chown": Request(3, lambda w, _: calls.Chown(w[0], _number(w[1]), _number(w[2]))),
    "lchown": Request(3, lambda w, _: calls.Lchown(w[0], _number(w[1]), _number(w[2]))),
    "truncate": Request(2, lambda w, _: calls.Truncate(w[0], _number(w[1]))),
    "utime": Request(3, lambda w, _: calls.Utime(w[0], _number(w[1]), _number(w[2]))),
    "get_job_attr": Request(1, lambda w, _: calls.GetJobAttr(w[0]), Answer.TEXT),
    "set_job_attr": Request(2, lambda w, _: calls.SetJobAttr(w[1], w[0])),
    "constrain": Request(1, lambda w, _: calls.Constrain(w[0])),
}
# fmt: on

UPDATES = frozenset({"get_job_attr", "set_job_attr", "constrain", "ulog", "version"})
DELAYED = frozenset({"get_job_attr_delayed", "set_job_attr_delayed"})


@dataclass(frozen=True)
class Rights:
    """What a job may ask for (ENABLE_CHIRP_*, and WantIOProxy of the job)."""

    files: bool = False
    updates: bool = False
    delayed: bool = True

    def allow(self, command: str) -> bool:
        """Whether the job may use a command."""
        if command in DELAYED:
            return self.delayed
        return self.updates if command in UPDATES else self.files


def visible_text(name: str, delayed: Mapping[str, str], job: ClassAd) -> str:
    """Return what a job may read of an attribute, its own delayed values first.

    The starter's copy of the ad carries the claim's secrets, which are not the job's to know.
    """
    if is_private_attribute(name):
        return "UNDEFINED"
    return delayed.get(name) or job.text(name) or "UNDEFINED"
