"""How much room a text or a value takes in a column."""

from __future__ import annotations

from collections.abc import Iterable

from kettle.classad import Value
from kettle.classad.text import render_real
from kettle.octets import to_bytes, to_text


def length(text: str) -> int:
    """Return what a text takes in a column: the reference counts bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def cut(text: str, width: int) -> str:
    """Return the beginning of a text that takes `width` at most; it may end inside a letter."""
    return text[:width] if text.isascii() else to_text(to_bytes(text)[:width])


def head_cells(headings: Iterable[str], widths: Iterable[int]) -> list[str]:
    """Return the cells of a row of headings: at the left, whatever their columns do, never cut.

    They stand above the first columns, whether it is those that have them or not.
    """
    return [
        heading + " " * (width - length(heading))
        for heading, width in zip(headings, widths, strict=False)
    ]


def measured_width(value: Value) -> int:
    """Return what a value asks of a column: only strings and numbers do.

    A real has the room of its form in new syntax, however it is shown.
    """
    if isinstance(value, str):
        return length(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return len(str(value))
    return len(render_real(value)) if isinstance(value, float) else 0
