"""Columns of print-format files: how a value becomes a cell, and how wide a column grows.

A row is made in two steps. `FileColumn.find` gets the value, of the kind that the column's format
asks for, and widens a column of automatic width; `FileColumn.show` makes the text and fills or cuts
it. Between them the tools print headings. Rules from recorded output (vectors `output/cases.json`,
tests/data/cli/print_formats.json).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence

from kettle.classad import UNDEFINED, ClassAd, Expr, Value, to_expression, unparse
from kettle.classad.nodes import AttributeReference
from kettle.octets import to_bytes, to_text
from kettle.structs import Struct
from kettle.tools.printing.columns import AutoColumn, Columns, FormatColumn, added_columns
from kettle.tools.printing.formats import (
    NUMBERS,
    TIMES,
    Format,
    pad_text,
    print_address,
    print_number,
    read_conversion,
)
from kettle.tools.printing.times import as_whole
from kettle.tools.printing.values import as_number, bare_text, evaluate
from kettle.tools.printing.ways import Way
from kettle.tools.printing.widths import head_cells, length

_REAL = frozenset("eEfFgGaA")
_NUMBERS = NUMBERS | TIMES


class FileColumn(Struct):
    """One column; `form_text` None is a column that shows strings only."""

    heading: str
    text: str
    expression: Expr | None = None
    way: Way | None = None
    form_text: str | None = "%v"
    width: int = 0
    automatic: bool = True
    truncate: bool = False
    left: bool = False
    prefix: bool = True
    suffix: bool = True
    always: bool = False
    # What stands where there is no value: a character, which may fill the column.
    filler: str = " "
    fills: bool = False
    form: Format | None = None
    # Whether the heading stands above, not in each row.
    headed: bool = True

    def measure(self, ad: ClassAd) -> None:
        """Widen an automatic column for a row to come."""
        self.find(ad)

    def cell(self, ad: ClassAd) -> str:
        """Return what stands in it for an ad."""
        return self.show(self.find(ad))

    def settle(self, width: int) -> None:
        """Take the width, negative at the left; 0 is the format's own."""
        self.width, self.left = abs(width), self.left or width < 0
        if self.form_text is None:
            return
        self.form = read_conversion(self.form_text)
        if not width and self.form is not None:
            self.width, self.left = self.form.width, self.left or "-" in self.form.flags

    @property
    def _letter(self) -> str:
        return self.form.letter if self.form is not None else ""

    # --- the value ------------------------------------------------------------------------

    def find(self, ad: ClassAd) -> Value | None:
        """Return the value that is shown of an ad; None where there is none."""
        if self.way is None and self.form_text is not None and self.form is None:
            self._widen(length(self.form_text))
            return self.form_text
        value = self._fetch(ad)
        if self.way is not None and self.way.renders:
            taken = self.way.taken(UNDEFINED if value is None else value)
            value = self.way.make(taken, ad, self)
        elif value is not None:
            value = self._of_kind(value)
        if value is not None and self.automatic:
            self._widen(self._room(value))
        return value

    def _fetch(self, ad: ClassAd) -> Value | None:
        if self.expression is None:
            return None
        letter = self._letter if self.way is None else "v"
        stored = ad.lookup(self.text)
        if letter in {"r", "R"}:
            return self._written(stored)
        value = evaluate(ad, self.expression)
        if letter == "s" and stored is not None and not isinstance(value, str):
            return self._written(stored)
        return value

    def _written(self, stored: Expr | None) -> str:
        """Return an attribute's expression, or that of the column, as it is written."""
        if stored is None and isinstance(self.expression, AttributeReference):
            return "undefined"
        assert self.expression is not None
        return unparse(stored if stored is not None else self.expression, old=True)

    def _of_kind(self, value: Value) -> Value | None:
        """Return a value as the kind that is printed; None if it is none of that kind."""
        if self.way is not None:
            kind = self.way.kind
        elif self._letter == "s":
            kind = "text"
        elif self._letter in _REAL:
            kind = "real"
        elif self._letter and self._letter in "diouxXcTY":
            kind = "whole"
        else:
            kind = "any"
        if kind == "any":
            return value
        if kind == "text":
            return value if isinstance(value, str) else None
        number = as_number(value)
        if number is None:
            return None
        return float(number) if kind == "real" else as_whole(number)

    # --- the text -------------------------------------------------------------------------

    def show(self, value: Value | None) -> str:
        """Return the cell of a value."""
        text = self._text(value)
        if self.automatic:
            self._widen(length(text))
        missing = self.width - length(text)
        if not self.width or not missing:
            return text
        if missing < 0:
            if not self.truncate:
                return text
            return cut(text, self.width)
        return text + " " * missing if self.left else " " * missing + text

    def _text(self, value: Value | None) -> str:
        way = self.way
        if way is not None and not way.renders:
            if value is None and not self.always:
                return self._fill()
            made = way.make("" if value is None else value, ClassAd(), self)
            return made if isinstance(made, str) else self._fill()
        if value is None:
            return self._fill()
        if self.form_text in {None, "", "%s"}:
            return value if isinstance(value, str) else ""
        if self.form is None:
            return self.form_text or ""
        text = self._convert(self.form, value)
        return self._fill() if text is None else text

    def _convert(self, form: Format, value: Value) -> str | None:
        """Return what a format makes of a value; None for one that it does not fit.

        Compat: the reference prints a number that happens to be in its memory
        (test_a_format_that_does_not_fit_shows_nothing).
        """
        if form.impossible:
            return ""
        if form.letter in "vVrR":
            bare = bare_text(value, quoted=form.letter == "V")
            return form.before + pad_text(bare, form) + form.after
        if form.letter == "s":
            bare = value if isinstance(value, str) else "(null)"
            return form.before + pad_text(bare, form) + form.after
        number = as_number(value)
        if number is None and form.letter == "p":
            number = 0
        return None if number is None else self._number(form, number)

    def _number(self, form: Format, number: int | float) -> str:
        """Return a number, which stands at the right of the column's width, cut where C would."""
        text = print_address(form, number) if form.letter == "p" else print_number(form, number)
        if not form.is_time:
            text = form.before + text + form.after
        text = " " * (self.width - length(text)) + text
        return text.partition("\0")[0]

    def _fill(self) -> str:
        """Return what stands where there is no value; where it fills, `?` is in brackets."""
        character, width = self.filler, self.width
        if not self.fills:
            return character.strip(" ")
        if width < 3:
            return character if width else ""
        return f"[{'?' * (width - 2)}]" if character == "?" else character * width

    # --- the width ------------------------------------------------------------------------

    def _widen(self, width: int) -> None:
        if self.automatic:
            self.width = max(self.width, width)

    def _room(self, value: Value) -> int:
        """Return what a value asks of an automatic column before it is shown."""
        letter = self._letter
        if isinstance(value, str):
            return length(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return self.width
        if self.form is not None and (
            letter in _NUMBERS or (letter == "p" and isinstance(value, int))
        ):
            return length(self._number(self.form, value))
        if letter and letter in "vVrRs":
            return length(unparse(to_expression(value)))
        return self.width


def cut(text: str, width: int) -> str:
    """Return as many bytes of a text."""
    return text[:width] if text.isascii() else to_text(to_bytes(text)[:width])


class SaidColumn(Struct):
    """A column of -format or -af among those of a file; it measures itself as it does alone."""

    said: FormatColumn | AutoColumn
    prefix: bool = True
    suffix: bool = True

    @property
    def heading(self) -> str:
        """What stands above it, if it is headed."""
        return self.said.heading if isinstance(self.said, AutoColumn) else ""

    @property
    def headed(self) -> bool:
        """Whether it has a heading, which one of -format never has."""
        return isinstance(self.said, AutoColumn) and self.said.width is not None

    @property
    def width(self) -> int:
        """The room that it has so far."""
        return self.said.heading_width

    @property
    def expression(self) -> Expr | None:
        """What it shows; None for a job's id."""
        return self.said.expression

    def measure(self, ad: ClassAd) -> None:
        """Widen the column for a row to come."""
        if isinstance(self.said, AutoColumn):
            self.said.measure(ad)

    def cell(self, ad: ClassAd) -> str:
        """Return what stands in it for an ad."""
        return self.said.render(ad)


class FileMask(Struct):
    """The columns of a file and what stands around them."""

    columns: MutableSequence[FileColumn | SaidColumn]
    field_prefix: str = " "
    field_suffix: str = ""
    row_prefix: str = ""
    row_suffix: str = "\n"
    # Whether blanks at the end of a row stay.
    fill_last: bool = True
    # Rows and headings are cut at this many characters; 0: never.
    most: int = 0

    def append(self, added: Iterable[tuple[str, str]]) -> None:
        """Add the columns of -aaf at the end.

        Compat: one of -format before them has the width that it says and no other; in condor_status
        of the reference it grows then, as one of the file does
        (test_a_format_before_added_columns_has_the_width_that_it_says).
        """
        headed = self._is_headed
        self.columns += [
            FileColumn(
                said.text,
                said.text,
                said.expression,
                width=length(said.text),
                left=True,
                form=said.form,
                headed=headed,
            )
            for said in added_columns(added)
        ]

    def take_columns(self, columns: Columns) -> None:
        """Add the columns of a command line, where the file stands among them.

        What those behind it say stands between columns; they have headings where the file's have.
        """
        if columns.frame is not None:
            self.row_prefix, self.row_suffix, self.field_prefix, self.field_suffix = columns.frame
        first = columns.before_file
        if self._is_headed:
            columns.align(first, brief=True)
        said = [SaidColumn(each) for each in columns]
        self.columns = [*said[:first], *self.columns, *said[first:]]

    @property
    def _is_headed(self) -> bool:
        return any(column.headed for column in self.columns)

    def measure(self, ads: Iterable[ClassAd]) -> None:
        """Widen the automatic columns for rows to come."""
        for ad in ads:
            for column in self.columns:
                column.measure(ad)

    def render_headings(self) -> str:
        """Return the row of headings, none if no column has one."""
        headings = [column.heading for column in self.columns if column.headed]
        if not headings:
            return ""
        return self._row(head_cells(headings, (column.width for column in self.columns)))

    def render(self, ad: ClassAd) -> str:
        """Return the row of an ad."""
        return self._row((column.cell(ad) for column in self.columns), fill=self.fill_last)

    def _row(self, cells: Iterable[str], *, fill: bool = True) -> str:
        row = self.row_prefix + "".join(self._framed(cells))
        row = (cut(row, self.most) if self.most else row) + self.row_suffix
        return row if fill or not row.endswith("\n") else f"{row.rstrip()}\n"

    def _framed(self, cells: Iterable[str]) -> Iterator[str]:
        last = len(self.columns) - 1
        for i, (column, cell) in enumerate(zip(self.columns, cells, strict=False)):
            if i and column.prefix:
                yield self.field_prefix
            yield cell
            if i < last and column.suffix:
                yield self.field_suffix
