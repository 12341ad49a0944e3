"""What a row of the table of decoders is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.testing.fuzz.grammar import Grammar


class LawError(AssertionError):
    """A reader does not hold what is promised of it: what it prints does not read back, say."""


@dataclass(frozen=True, slots=True)
class Decoder:
    """A function that reads bytes, and what it is made to read.

    `grammars` give texts of the language that it reads.
    """

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    grammars: tuple[Grammar, ...] = ()
