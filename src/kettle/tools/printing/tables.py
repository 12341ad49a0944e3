"""Tables of ads: cells with headings, widths and what stands for a missing value.

A table is data (`Cell` rows in the tools' own modules); here it is laid out. Widths are least
widths, content that is longer runs over, or widens its column for all rows where a cell `grows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kettle.classad import ClassAd
from kettle.structs import Struct
from kettle.tools.printing.columns import Columns

# How a missing value is shown: `[????]` as wide as the cell, or a text.
FILL = "[?]"
BLANK = ""

Shown = Callable[[ClassAd], str | None]


class Cell(Struct):
    """One column of a table."""

    heading: str
    width: int
    shown: Shown
    left: bool = True
    heading_left: bool = True
    missing: str = BLANK
    grows: bool = False
    # What separates it from the cell before.
    gap: str = " "

    def text(self, ad: ClassAd) -> str:
        """Return what stands in the cell for an ad, not yet filled up."""
        found = self.shown(ad)
        if found is not None:
            return found
        return f"[{'?' * (self.width - 2)}]" if self.missing == FILL else self.missing

    def fill(self, text: str) -> str:
        """Fill content up to the width."""
        return text.ljust(self.width) if self.left else text.rjust(self.width)

    def fill_heading(self) -> str:
        """Fill the heading up to the width."""
        heading = self.heading
        return heading.ljust(self.width) if self.heading_left else heading.rjust(self.width)


def render_table(
    cells: Sequence[Cell],
    ads: Iterable[ClassAd],
    added: Columns | None = None,
    *,
    widths_of: Iterable[ClassAd] = (),
) -> list[str]:
    """Return the heading, an empty line and the rows; `added` columns come at the right.

    `widths_of` are ads that are not shown, but for which there is room.
    """
    rows = [(ad, [cell.text(ad) for cell in cells]) for ad in ads]
    measured = [*(ad for ad, _ in rows), *widths_of]
    fitted = [
        cell.changed(width=max([cell.width, *(len(cell.shown(ad) or "") for ad in measured)]))
        if cell.grows
        else cell
        for cell in cells
    ]
    heading = _join(fitted, [cell.fill_heading() for cell in fitted])
    if added is not None:
        # They are measured as under `-af:h`, and grow row by row like there.
        added.align()
        added.measure(ad for ad, _ in rows)
        heading += " " + added.render_headings().rstrip("\n")
    lines = [heading, ""]
    for ad, texts in rows:
        line = _join(fitted, [cell.fill(text) for cell, text in zip(fitted, texts, strict=True)])
        if added is not None:
            line += " " + added.render(ad).rstrip("\n")
        lines.append(line)
    return lines


def _join(cells: Sequence[Cell], texts: Sequence[str]) -> str:
    parts = []
    for place, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        if place:
            parts.append(cell.gap)
        parts.append(text)
    return "".join(parts)
