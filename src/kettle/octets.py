"""Text that is bytes: what files, peers, arguments and the environment hold, and back again.

HTCondor's strings are bytes, and nothing says that they are UTF-8: a file name, an argument or an
attribute may be in any encoding. What is no UTF-8 lies in our text as surrogates, a byte each, and
becomes that byte again when it is written. A text that may hold a word of a job, a user or a peer
leaves this program through `to_bytes`, or through a file that is opened with `errors=AS_IS`.
"""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable
from typing import Final

# What keeps every byte: the name of the error handler, for open(), sys.stdout and their like.
AS_IS: Final = "surrogateescape"

# What C takes for white space: not the no-break space and its kin, nor separators of records, which
# are letters of a name, an argument or a value. For `strip` of what a person or a peer wrote.
BLANKS: Final = " \t\n\v\f\r"
_TO_SPACES: Final = {ord(blank): " " for blank in BLANKS}


def words_of(text: str) -> list[str]:
    """Return what stands between blanks, as C has them."""
    if text.isprintable():
        # Of what Python splits at, the space alone can be printed.
        return text.split()
    return [word for word in text.translate(_TO_SPACES).split(" ") if word]


def to_bytes(text: str) -> bytes:
    """Return the bytes of a text as they once came in."""
    return text.encode("utf-8", AS_IS)


def to_shown_bytes(text: str) -> bytes:
    """Return the bytes of a text that somebody reads: what is no text at all is escaped."""
    return text.encode("utf-8", keeping_bytes("backslashreplace"))


def to_text(data: bytes) -> str:
    """Return bytes as text, none lost."""
    return data.decode("utf-8", AS_IS)


@functools.cache
def keeping_bytes(errors: str) -> str:
    """Return the error handler for writing that keeps every byte, and else does as `errors`."""
    if errors.startswith(AS_IS):
        return errors
    if errors == "strict":
        return AS_IS
    name = f"{AS_IS}+{errors}"
    codecs.register_error(name, functools.partial(_keep_bytes, codecs.lookup_error(errors)))
    return name


_Handler = Callable[[UnicodeError], tuple[str | bytes, int]]


def _keep_bytes(otherwise: _Handler, error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        return otherwise(error)
    letter = error.object[error.start]
    after = error.start + 1
    if "\udc80" <= letter <= "\udcff":
        return bytes([ord(letter) - 0xDC00]), after
    return otherwise(
        UnicodeEncodeError(error.encoding, error.object, error.start, after, error.reason)
    )
