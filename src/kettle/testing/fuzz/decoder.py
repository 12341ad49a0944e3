"""What a row of the table of decoders is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decoder:
    """A function that reads bytes, and what it is made to read."""

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
