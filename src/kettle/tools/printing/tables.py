"""Tables of ads: cells with headings, widths and what stands for a missing value.

A table is data (`Cell` rows in the tools' own modules); here it is laid out. Widths are least
widths, content that is longer runs over, or widens its column for all rows where a cell `grows`.
A `LineWidth` is what there is to lay it out in: a terminal, or so many characters a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kettle.classad import ClassAd
from kettle.structs import Struct
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.values import Shown
from kettle.tools.printing.widths import cut, length

# How a missing value is shown: `[????]` as wide as the cell, or a text.
FILL = "[?]"
BLANK = ""


class Cell(Struct):
    """One column of a table."""

    heading: str
    width: int
    shown: Shown
    left: bool = True
    heading_left: bool = True
    missing: str = BLANK
    # Whether that stands at the left though values do not.
    missing_left: bool = False
    grows: bool = False
    # Whether content that is longer than the width widens the column from its row on.
    widens: bool = False
    # What separates it from the cell before.
    gap: str = " "
    # Whether content that is longer than the width is cut.
    cut: bool = False
    # Whether content may be several lines, which then stand below each other.
    lines: bool = False
    # To how many characters the column may shrink where there is no room; None: to no fewer.
    shrinks_to: int | None = None

    @property
    def is_widened(self) -> bool:
        """Whether a row's content widens the column for the rows below it."""
        return self.grows or self.widens

    def text(self, ad: ClassAd) -> str:
        """Return what stands in the cell for an ad, not yet filled up."""
        found = self.shown(ad)
        if found is not None:
            return found
        return f"[{'?' * (self.width - 2)}]" if self.missing == FILL else self.missing

    def needs(self, ad: ClassAd) -> int:
        """Return how wide the content is; what stands for a missing value does not count."""
        text = self.shown(ad) or ""
        return max(map(length, text.split("\n"))) if self.lines else length(text)

    def fill(self, text: str) -> str:
        """Fill content up to the width."""
        if self.lines:
            return text
        text = cut(text, self.width) if self.cut else text
        left = self.left or (self.missing_left and text == self.missing)
        blanks = " " * (self.width - length(text))
        return text + blanks if left else blanks + text

    def fill_heading(self) -> str:
        """Fill the heading up to the width."""
        heading = self.heading
        return heading.ljust(self.width) if self.heading_left else heading.rjust(self.width)


class LineWidth(Struct):
    """How long a line may be, and whether columns shrink for it; 0 is without limit."""

    width: int = 0
    shrink: bool = False
    # What is counted for the columns that do not shrink; 0: they all stay as they are.
    rest: int = 0


_ANY_WIDTH = LineWidth()


def render_table(
    cells: Sequence[Cell],
    ads: Iterable[ClassAd],
    added: Columns | None = None,
    *,
    widths_of: Iterable[ClassAd] = (),
    within: LineWidth = _ANY_WIDTH,
) -> list[str]:
    """Return the heading, an empty line and the rows; `added` columns come at the right.

    `widths_of` are ads that are not shown, but for which there is room.
    """
    rows = [(ad, [cell.text(ad) for cell in cells]) for ad in ads]
    measured = [*(ad for ad, _ in rows), *widths_of]
    fitted = _fit(cells, measured, within)
    heading = _join(fitted, [cell.fill_heading() for cell in fitted])
    if added is not None:
        # They are measured as under `-af:h`, and grow row by row like there.
        added.align()
        added.measure(ad for ad, _ in rows)
        heading += " " + added.render_headings().rstrip("\n")
    lines = [heading, ""]
    for ad, texts in rows:
        line = _join(fitted, [cell.fill(text) for cell, text in zip(fitted, texts, strict=True)])
        fitted = _grown(fitted, texts)
        if added is not None:
            line += " " + added.render(ad).rstrip("\n")
        lines += _below_each_other(fitted, line)
    return [cut(line, within.width) for line in lines] if within.width else lines


def _fit(cells: Sequence[Cell], ads: Sequence[ClassAd], within: LineWidth) -> list[Cell]:
    """Return the cells as wide as the ads need them, and as there is room."""
    fitted = [
        cell.changed(width=max([cell.width, *(cell.needs(ad) for ad in ads)]))
        if cell.grows
        else cell
        for cell in cells
    ]
    return _shrink(fitted, within.width - within.rest) if within.shrink and within.rest else fitted


def _grown(cells: list[Cell], texts: Sequence[str]) -> list[Cell]:
    """Return the cells for the rows behind one of these texts.

    What stands for a missing value widens a column that grows from its row on, as in the reference.
    """
    each = zip(cells, texts, strict=True)
    if not any(
        cell.is_widened and not cell.lines and length(text) > cell.width for cell, text in each
    ):
        return cells
    return [
        cell.changed(width=max(cell.width, length(text))) if cell.is_widened else cell
        for cell, text in zip(cells, texts, strict=True)
    ]


def _below_each_other(cells: Sequence[Cell], line: str) -> list[str]:
    """Return the lines of a row, of which the last cell alone may have several."""
    first, *others = line.split("\n") if cells[-1].lines else [line]
    start = sum(len(cell.gap) + cell.width for cell in cells[:-1]) - len(cells[0].gap)
    return [first, *(f"{'':{start + len(cells[-1].gap)}}{other}" for other in others)]


def _shrink(cells: list[Cell], width: int) -> list[Cell]:
    """Make the columns that shrink fit; what is too much is shared by two of them.

    The second gives half of it first, as far as it can; the first gives the rest.
    """
    places = [place for place, cell in enumerate(cells) if cell.shrinks_to is not None]
    excess = sum(cells[place].width for place in places) - width
    if excess <= 0:
        return cells
    cells = list(cells)
    for place in reversed(places):
        cell = cells[place]
        share = excess // 2 if place != places[0] else excess
        least = max(cell.shrinks_to or 0, cell.width - share)
        excess -= cell.width - least
        cells[place] = cell.changed(width=least, grows=False, cut=True)
    return cells


def _join(cells: Sequence[Cell], texts: Sequence[str]) -> str:
    parts = []
    for place, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        if place:
            parts.append(cell.gap)
        parts.append(text)
    return "".join(parts)
