"""Print masks: rows of columns with widths, alignment and named ways to show a value.

The default tables of `condor_q` and `condor_history`: a list of `Column` and a `Mask` that lays
them out. What a print-format file asks for is in `file_columns.py`. Rules from recorded output
(vectors `output/cases.json`).
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence

from kettle.classad import ClassAd, Expr
from kettle.structs import Struct
from kettle.tools.printing.columns import FormatColumn, added_columns
from kettle.tools.printing.formats import NUMBERS, TIMES
from kettle.tools.printing.values import Shown, show_value
from kettle.tools.printing.widths import cut, head_cells, length, measured_width


class Column(Struct):
    """One column. `width` None: as wide as heading and content need; `left`: filled at the right.

    Exactly one of `shown`, `printf` and the bare `expression` makes the text.
    """

    heading: str
    shown: Shown | None = None
    expression: Expr | None = None
    printf: FormatColumn | None = None
    text: str = ""
    width: int | None = None
    left: bool = True
    truncate: bool = True
    prefix: bool = True
    suffix: bool = True
    missing: str = ""
    # The same where others are added behind it.
    missing_within: str = ""
    # The width that an automatic column has at least, where it is not the heading's.
    least: int | None = None

    def value(self, ad: ClassAd) -> str:
        """Return the text for an ad, not yet cut or filled up."""
        if self.shown is not None:
            found = self.shown(ad)
            return self.missing if found is None else found
        if self.printf is not None:
            found = self.printf.render_value(ad)
            return self.missing if found is None else found
        assert self.expression is not None
        return show_value(ad, self.expression)

    def wanted_width(self, ad: ClassAd) -> int:
        """Return the width that an ad asks of an automatic column."""
        if self.missing and self.value(ad) == self.missing:
            return 0
        if self.shown is not None:
            return length(self.value(ad))
        if self.printf is not None and self.printf.form.is_raw:
            return length(self.value(ad))
        expression = self.printf.expression if self.printf is not None else self.expression
        assert expression is not None
        value = ad.evaluate_expression(expression)
        if self.printf is not None and not isinstance(value, str):
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return length(self.value(ad)) if is_number else 0
        if self.printf is not None and self.printf.form.letter in NUMBERS | TIMES:
            return length(self.value(ad))
        return measured_width(value)


def _fill(alternative: str, width: int) -> str:
    """Return what stands where there is no value; two of a character fill the column.

    One stands at the left, whatever the column does.
    """
    if len(alternative) < 2 or width < 1:
        return alternative.ljust(width)
    inner = alternative[0] * max(0, width - 2)
    return f"[{inner}]"[:width] if alternative == "??" else alternative[0] * width


class Mask(Struct):
    """Columns and what stands around them. Automatic widths grow as rows are measured."""

    columns: MutableSequence[Column]
    field_prefix: str = " "
    field_suffix: str = ""
    row_prefix: str = ""
    row_suffix: str = "\n"
    # Whether blanks at the end of a row stay, which they do where rows are cut.
    fill_last: bool = True
    fill_heading: bool = False
    # Rows and headings are cut at this many bytes; 0: never.
    most: int = 0
    _widths: list[int] | None = None

    def append(self, added: Iterable[tuple[str, str]]) -> None:
        """Add the columns of -aaf at the end."""
        last = self.columns[-1] if self.columns else None
        if last is not None and last.width is not None:
            # It grows from the width that it had; its heading may stick out.
            last.least = last.width if last.least is None else last.least
            last.width = None
            last.missing = last.missing or last.missing_within
        self.fill_heading = True
        self.columns += [
            Column(
                said.text,
                expression=said.expression,
                printf=said,
                text=said.text,
                left=not said.form.is_time,
            )
            for said in added_columns(added)
        ]

    def _fitted(self) -> list[int]:
        if self._widths is None:
            self._widths = [
                column.width
                if column.width is not None
                else (length(column.heading) if column.least is None else column.least)
                for column in self.columns
            ]
        return self._widths

    def measure(self, ads: Iterable[ClassAd]) -> None:
        """Widen the automatic columns for rows to come."""
        widths = self._fitted()
        automatic = [i for i, column in enumerate(self.columns) if column.width is None]
        for ad in ads:
            for i in automatic:
                widths[i] = max(widths[i], self.columns[i].wanted_width(ad))

    def render_headings(self) -> str:
        """Return the row of headings."""
        cells = head_cells((column.heading for column in self.columns), self._fitted())
        return self._row(cells, fill=self.fill_heading or self.fill_last)

    def render(self, ad: ClassAd) -> str:
        """Return the row of an ad."""
        widths = self._fitted()
        cells = []
        for i, column in enumerate(self.columns):
            text = column.value(ad)
            if text and text == column.missing:
                text = _fill(text, widths[i])
            if column.width is None and column.shown is None:
                widths[i] = max(widths[i], length(text))
            cells.append(self._cell(text, widths[i], column))
        return self._row(cells, fill=self.fill_last)

    def _cell(self, text: str, width: int, column: Column) -> str:
        if column.width is not None and column.truncate and length(text) > width > 0:
            return cut(text, width)
        missing = width - length(text)
        if missing <= 0:
            return text
        return text + " " * missing if column.left else " " * missing + text

    def _row(self, cells: list[str], *, fill: bool) -> str:
        parts = [self.row_prefix]
        last = len(cells) - 1
        for i, (column, cell) in enumerate(zip(self.columns, cells, strict=True)):
            if i and column.prefix:
                parts.append(self.field_prefix)
            parts.append(cell)
            if i < last and column.suffix:
                parts.append(self.field_suffix)
        row = "".join(parts)
        if self.most:
            row = cut(row, self.most)
        elif not fill:
            row = row.rstrip(" ")
        return row + self.row_suffix
