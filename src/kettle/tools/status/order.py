"""The order in which condor_status shows ads that were not asked for in another one."""

from __future__ import annotations

import re
import struct
from typing import Final

from kettle.classad import Value, unparse
from kettle.classad.nodes import literal
from kettle.classad.values import RelativeTime
from kettle.octets import to_bytes
from kettle.patterns import late_pattern, replace_each

# Characters have a sign in the reference: bytes that are no ASCII stand before the end of a text,
# and that before ASCII. So are bytes moved here, that they compare as they are.
_SIGNED: Final = bytes((byte + 128) % 256 for byte in range(256))
_END: Final = b"\x80"
# Moved, a run of digits that does not begin with 0. Limit: a longer one counts as several.
_NUMBER: Final = late_pattern("[\xb1-\xb9][\xb0-\xb9]{0,299}")
_NONE = "undefined"


def natural_key(machine: str | None, name: str | None) -> tuple[bytes, bytes]:
    """Order by machine, then by name, in both numbers as numbers: slot2 before slot10.

    An ad of no machine stands where one called `undefined` would: that is its key in the reference.
    """
    return (_key_or_none(machine), _key_or_none(name))


def natural_order(machines: list[str | None], names: list[str | None]) -> list[int]:
    """Return the places of ads, given by machine and name, in their order."""
    # As `natural_key` does it, but names are looked at where machines are the same.
    first = [_key_or_none(machine) for machine in machines]
    order = sorted(range(len(first)), key=first.__getitem__)
    if len(set(first)) == len(first):
        return order
    keys = [(key, _key_or_none(name)) for key, name in zip(first, names, strict=True)]
    return sorted(order, key=keys.__getitem__)


def _key_or_none(text: str | None) -> bytes:
    return natural_text(_NONE if text is None else text)


def sort_text(value: Value) -> str:
    """Return the text that stands for a value of `-sort`, to be ordered by `natural_text`.

    A string stands for itself, what is no number for what is written. So does a whole number, truth
    being 1: of two below zero the one that is nearest to it comes first. A real, and so a span of
    time, is the whole number of its 64 bits, which grows with it: 0.05 is behind 9. Source:
    observed of condor_status -ads 25.14.1.
    """
    if isinstance(value, str):
        return value
    number = value.seconds if isinstance(value, RelativeTime) else value
    if isinstance(number, float):
        return str(struct.unpack(">q", struct.pack(">d", number))[0])
    return str(int(value)) if isinstance(value, bool) else unparse(literal(value))


def natural_text(text: str) -> bytes:
    """Return what orders texts, numbers in them as numbers.

    One with a zero before it stands before all others, and is compared as letters are. Source:
    observed of condor_status -ads 25.14.1.
    """
    moved = to_bytes(text).translate(_SIGNED).decode("latin-1")
    return replace_each(_NUMBER, _with_length, moved).encode("latin-1") + _END


def _with_length(found: re.Match[str]) -> str:
    """Return a number so that a longer one is greater, and any stands where digits do."""
    digits = found[0]
    return f"\xb1{chr(len(digits) >> 8)}{chr(len(digits) & 0xFF)}{digits}"
