"""The items of a large file, of which only some are in memory at a time.

A description may name a file of a million items; it stays open as long as jobs are made of it.
"""

from __future__ import annotations

import errno
import re
import weakref
from os import pread
from typing import TYPE_CHECKING, BinaryIO

from kettle.runtime.storage.texts import LARGEST_TEXT
from kettle.submit.item_lines import ItemLines

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE_BYTES = 1 << 20
# A line that goes on in the next one.
_CONTINUED = re.compile(rb"\\[ \t\v\f\r]*(?:\n|\Z)")


class _NotPlainError(Exception):
    """Lines are joined or ended in a way that only reading all of it shows."""


def open_items(path: str) -> ItemLines | None:
    """Return the items of a regular file; None if some go on in the next line. Raises OSError."""
    file = open(path, "rb")  # noqa: SIM115 - it stays open as long as the items are there
    try:
        found = ItemLines(
            _plain_pieces(file), lambda offset, size: pread(file.fileno(), size, offset), path
        )
    except _NotPlainError:
        file.close()
        return None
    except BaseException:
        file.close()
        raise
    weakref.finalize(found, file.close)
    return found


def _plain_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines together; _NotPlainError, and OSError for a line that is too long."""
    while piece := file.read(_PIECE_BYTES):
        piece += file.readline(LARGEST_TEXT)
        if len(piece) > LARGEST_TEXT:
            raise OSError(errno.EFBIG, f"a line of it has more than {LARGEST_TEXT >> 20} MiB")
        if piece.count(b"\r") != piece.count(b"\r\n") or _CONTINUED.search(piece):
            raise _NotPlainError
        yield piece
