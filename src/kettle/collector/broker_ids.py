"""The text in which the broker's ids outlive the collector, and where it is.

One line for each daemon that may come back: its address, its id, its cookie. Lines are added; the
file is written anew when most of it is about daemons that are forgotten. Format and name are the
reference's, so either's spool serves the other. Source: wire notes, CCB.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes
from kettle.wire.sinful import Sinful

_SUFFIX = ".ccb_reconnect"
# Limit: characters of a line, as the reference reads them.
_LONGEST_LINE = 127
# How many lines too many there may be in any case.
_SPARE_LINES = 100


class KeptId(NamedTuple):
    """Who has an id: from where it registered, and the cookie that it comes back with."""

    host: str
    number: int
    cookie: str


def ids_path(configured: str, spool: str, address: Sinful) -> str:
    """Return the file of the broker at an address; `configured` is CCB_RECONNECT_FILE or empty."""
    if configured:
        return configured if _SUFFIX in configured else configured + _SUFFIX
    host = address.host.replace(":", "-")
    return f"{spool}/{host}-{address.shared_port_id or address.port}{_SUFFIX}"


def encode_ids(ids: Iterable[KeptId]) -> bytes:
    """Return the lines of some ids."""
    return to_bytes("".join(f"{one.host or '-'} {one.number} {one.cookie}\n" for one in ids))


def decode_ids(data: bytes) -> list[KeptId]:
    """Return the ids in a file, each as it was said last; what is no such line is passed over."""
    found: dict[int, KeptId] = {}
    # What follows the last line end is the beginning of a line that was cut off.
    for line in data.decode("ascii", "replace").split("\n")[:-1]:
        words = line.split()
        if len(line) > _LONGEST_LINE or len(words) != 3 or not all(map(_is_number, words[1:])):
            continue
        number = int(words[1])
        if number < 10**18:
            found[number] = KeptId(words[0], number, words[2])
    return list(found.values())


def is_bloated(lines: int, ids: int) -> bool:
    """Whether a file of so many lines is to be written anew for so many ids."""
    return lines > 2 * ids + _SPARE_LINES


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 20
