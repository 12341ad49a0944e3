"""Text that is bytes: what files, peers, arguments and the environment hold, and back again.

HTCondor's strings are bytes, and nothing says that they are UTF-8: a file name, an argument or an
attribute may be in any encoding. What is no UTF-8 lies in our text as surrogates, a byte each, and
becomes that byte again when it is written. A text that may hold a word of a job, a user or a peer
leaves this program through `to_bytes`, or through a file that is opened with `errors=AS_IS`.
"""

from __future__ import annotations

from typing import Final

# What keeps every byte: the name of the error handler, for open(), sys.stdout and their like.
AS_IS: Final = "surrogateescape"


def to_bytes(text: str) -> bytes:
    """Return the bytes of a text as they once came in."""
    return text.encode("utf-8", AS_IS)


def to_text(data: bytes) -> str:
    """Return bytes as text, none lost."""
    return data.decode("utf-8", AS_IS)
