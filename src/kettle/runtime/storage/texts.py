"""Texts that a person or a configuration names: read whole, up to a bound.

The name may be a device or a pipe that has no end (`/dev/zero`, what `yes` prints), and to read it
until the memory is full helps nobody. Loaded by every tool, so that it imports next to nothing.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import Protocol

from kettle.octets import AS_IS

# Limit: the most that is read of a text: a description, configuration, items of jobs.
LARGEST_TEXT = 256 * 1024 * 1024
# Limit: and of a file of ads, which a long queue fills.
LARGEST_ADS = 2 * 1024 * 1024 * 1024
# Limit: the most that is read of a device, whose text somebody types or nobody ends.
LARGEST_TYPED = 4 * 1024 * 1024


class Readable(Protocol):
    """A stream of text, such as standard input."""

    def read(self, size: int, /) -> str:
        """Return at most so many characters, none at the end."""


def read_text(
    path: str, *, limit: int = LARGEST_TEXT, errors: str = AS_IS, newline: str | None = None
) -> str:
    """Return the text of a file; bytes that are no UTF-8 survive.

    `limit` is in bytes, for a pipe in characters; `newline` and `errors` are those of `open`.
    Raises OSError, of EFBIG for a text that is larger, and as `errors` says UnicodeDecodeError.
    """
    with open(path, encoding="utf-8", errors=errors, newline=newline) as file:
        return read_stream(file, path, limit=_bound(file.fileno(), path, limit))


def read_bytes(path: str | os.PathLike[str], *, limit: int = LARGEST_TEXT) -> bytes:
    """Return what is in a file; OSError, of EFBIG for one with more bytes than the limit."""
    with open(path, "rb") as file:
        limit = _bound(file.fileno(), os.fspath(path), limit)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _too_large(limit, os.fspath(path))
    return data


def read_stream(
    stream: Readable, name: str, *, limit: int = LARGEST_TEXT, newline: str | None = None
) -> str:
    """Return the rest of a stream; OSError of EFBIG if that is more than so many characters.

    `newline` is that of `open`, for a stream of which nothing has been read.
    """
    if newline is not None and isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(newline=newline)
    text = stream.read(limit + 1)
    if len(text) > limit:
        raise _too_large(limit, name)
    return text


def _bound(descriptor: int, path: str, limit: int) -> int:
    """Return how much to read of an open file; OSError if that is known to be too little."""
    facts = os.fstat(descriptor)
    if stat.S_ISCHR(facts.st_mode):
        return min(limit, LARGEST_TYPED)
    if facts.st_size > limit:
        raise _too_large(limit, path)
    return limit


def _too_large(limit: int, name: str) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB", name)
