"""What graphs and their parts look like when they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

HEADERS: Final = ("Type", "Name", "# Nodes", "# Children", "Parents")
_FROM_THE_LEFT: Final = frozenset({"Type", "Parents"})
_GAP: Final = "  "


def described(thing: object, *names: str) -> str:
    """Return the text of an object that shows these of its attributes."""
    shown = ", ".join(f"{name} = {getattr(thing, name)}" for name in names)
    return f"{type(thing).__name__}({shown})"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return the table of a graph's nodes."""
    widths = [
        max(len(header), *(len(row[column]) for row in rows)) if rows else len(header)
        for column, header in enumerate(HEADERS)
    ]
    head, *lines = (_line(row, widths) for row in (HEADERS, *rows))
    return "\n".join((head.rstrip(), *lines))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(
        cell.ljust(width) if header in _FROM_THE_LEFT else cell.center(width)
        for cell, width, header in zip(cells, widths, HEADERS, strict=True)
    )
