"""The columns that users ask for: `-af[:qualifiers] ATTR…` and `-format FORMAT ATTR`.

`Columns` collects them as the command line gives them and renders one row for an ad. The rules are
the reference's, taken from its output (vectors `output/cases.json`): what `%s` makes of a value
that is no string, when literal text is left out, how widths grow from row to row. Which ads are
shown, and in which order, is the tools' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from kettle.classad import ClassAd, Expr, Value, parse_expression, unparse
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.patterns import late_pattern
from kettle.structs import Struct
from kettle.tools.printing.formats import (
    Format,
    pad_text,
    parse_format,
    print_address,
    print_number,
)
from kettle.tools.printing.values import as_number, raw_text, show_value
from kettle.tools.printing.widths import head_cells, length, measured_width

if TYPE_CHECKING:
    from kettle.wire.ad_shapes import AdRun

# An integer as every writer of ads spells it; it has no other form when printed.
_NUMBER = late_pattern(r"(?:0|-?[1-9]\d{0,17})\Z")
_STRING = late_pattern(r'"[ !#-\[\]-~]*"\Z')
# The qualifiers of -aaf, of which a column has no more than one.
_ADDED = frozenset("VrTY")
# What is said where there are no columns to which those of -aaf could be added.
ADDED_TO_NONE = "Error: output formatting options conflict with -aaf options"


def parse_column(text: str) -> Expr:
    """Parse what was asked for, an attribute name or an expression; UsageError if it is none.

    Compat: the reference prints nothing then, and succeeds
    (test_a_column_that_is_no_expression_is_told).
    """
    try:
        return parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(f"{text} is not an attribute or expression: {error}") from error


def _is_name(expression: Expr | None) -> bool:
    """Whether an expression is a name or a value, and nothing is worked out."""
    from kettle.classad.nodes import AttributeReference, Literal, Selection

    return isinstance(expression, (Literal, AttributeReference, Selection))


def _find_references(expression: Expr, ad: ClassAd) -> tuple[set[str], set[str]]:
    # Late: what a tool prints of itself has no expressions.
    from kettle.classad.references import find_references

    return find_references(expression, ad)


class FormatColumn(Struct):
    """`-format FORMAT ATTR`: its own text, no separators."""

    form: Format
    text: str
    expression: Expr

    @property
    def heading_width(self) -> int:
        """The room of a heading above it."""
        return self.form.width

    def render(self, ad: ClassAd) -> str:
        """Return what this column prints for an ad."""
        shown = self.render_value(ad)
        # The place is kept, the literal text is not.
        return " " * self.form.width if shown is None else shown

    def render_value(self, ad: ClassAd) -> str | None:
        """Return what this column prints for an ad, None where its form shows no such value."""
        form = self.form
        if not form.letter:
            return form.before
        if form.impossible:
            return ""
        if form.is_raw:
            raw = raw_text(ad, self.text, self.expression)
            return form.before + pad_text(raw, form) + form.after
        shown = self._convert(ad)
        if shown is None:
            return None
        if form.is_time:
            return shown.rjust(form.width)
        text = form.before + shown + form.after
        if form.letter == "c" and "\0" in text:
            # A byte that is zero ends a text of C's; the column keeps its width.
            text = text.partition("\0")[0]
            return text + " " * (form.width - length(text))
        return text

    def _convert(self, ad: ClassAd) -> str | None:
        form = self.form
        letter = form.letter
        if letter in "vV":
            return pad_text(show_value(ad, self.expression, quoted=letter == "V"), form)
        value = ad.evaluate_expression(self.expression)
        if letter == "s":
            text = self._as_string(ad, value)
            return None if text is None else pad_text(text, form)
        if letter == "p":
            return print_address(form, value if isinstance(value, int) else 0)
        number = as_number(value)
        return None if number is None else print_number(form, number)

    def _as_string(self, ad: ClassAd, value: Value) -> str | None:
        """Return what `%s` shows: a string, else the expression of the attribute asked for."""
        if isinstance(value, str):
            return value
        found = ad.lookup(self.text) if self.text.isidentifier() else None
        return None if found is None else unparse(found, old=True)


def added_columns(added: Iterable[tuple[str, str]]) -> list[FormatColumn]:
    """Return columns of `-aaf`: the qualifier of each, V, r, T, Y or none, and what it shows.

    They are widened and headed by what they are added to.
    """
    return [
        FormatColumn(parse_format(f"%{qualifier or 'v'}"), text, parse_column(text))
        for qualifier, text in added
    ]


def complain_of_added(qualifiers: str, choice: str = "V, r, T or Y") -> str:
    """Return what is said of letters behind `-aaf:` that it does not take; empty if it does.

    What is behind the first that it takes is too much. The tools spell the choice in their ways.
    """
    surplus = qualifiers[1:] if qualifiers[:1] in _ADDED else qualifiers
    if not surplus:
        return ""
    return f"Error: {surplus} is invalid -aaf format qualifier. only one of {choice} is permitted."


class AutoColumn(Struct):
    """One attribute of `-af`; `width` grows with what is printed when there are headings."""

    text: str
    expression: Expr | None
    label: str = ""
    heading: str = ""
    quoted: bool = False
    raw: bool = False
    # That of a span or a moment, if one of them is asked for.
    form: Format | None = None
    # None: columns are not aligned.
    width: int | None = None
    # The attribute, in lower case, if the column shows nothing else.
    key: str = ""

    def __post_init__(self) -> None:
        if self.expression is not None and self.form is None:
            internal, _ = _find_references(self.expression, ClassAd({self.text: 0}))
            if self.text.isidentifier() and internal == {self.text}:
                self.key = self.text.lower()

    @property
    def heading_width(self) -> int:
        """The room of a heading above it."""
        return self.width or 0

    def value(self, ad: ClassAd) -> str:
        """Return the text of the value."""
        if self.expression is None:
            return _job_id(ad)
        if self.raw:
            return raw_text(ad, self.text, self.expression)
        if self.key:
            raw = ad.table.get(self.key)
            if raw is None and ad.parent is not None:
                raw = ad.parent.table.get(self.key)
            if type(raw) is str:
                # A plain integer or string is printed as it came, without being parsed.
                if _NUMBER.match(raw) is not None:
                    return raw
                if _STRING.match(raw) is not None:
                    return raw if self.quoted else raw[1:-1]
        if self.form is not None:
            number = as_number(ad.evaluate_expression(self.expression))
            return "" if number is None else print_number(self.form, number)
        return show_value(ad, self.expression, quoted=self.quoted)

    def values(self, run: AdRun) -> list[str]:
        """Return what `render` returns for each ad of a run, in a column that has no width."""
        from kettle.tools.printing.run_values import plain_values

        texts = run.texts(self.key) if self.key and not self.raw else None
        found = None if texts is None else plain_values(texts, quoted=self.quoted)
        if found is None:
            found = [self.value(ad) for ad in run]
        if not self.label:
            return found
        empty = self.expression is not None
        return [self.label + text if text or empty else text for text in found]

    def render(self, ad: ClassAd) -> str:
        """Return label and value, filled up to the width of the column so far."""
        text = self.value(ad)
        if self.label and (text or self.expression is not None):
            text = self.label + text
        if self.width is None:
            return text
        self.measure(ad)
        self.width = max(self.width, length(text))
        blanks = " " * (self.width - length(text))
        at_right = self.form is not None and self.form.is_time
        return blanks + text if at_right else text + blanks

    def measure(self, ad: ClassAd) -> None:
        """Widen the column for a row to come, as if it were printed bare."""
        if self.width is None:
            return
        if self.expression is None:
            self.width = max(self.width, len(_job_id(ad)))
            return
        if self.raw or self.form is not None:
            self.width = max(self.width, length(self.value(ad)))
            return
        value = ad.evaluate_expression(self.expression)
        self.width = max(self.width, measured_width(value))


def _job_id(ad: ClassAd) -> str:
    """Return cluster.proc of a job, or the job that a slot runs."""
    cluster, proc = ad.integer("ClusterId"), ad.integer("ProcId")
    if cluster is None or proc is None:
        return ad.string("JobId") or ""
    return f"{cluster}.{proc}"


def _literal(text: str) -> str:
    """Return a text as it stands in the template of a row."""
    return text.replace("%", "%%")


_Column = TypeVar("_Column", bound=FormatColumn | AutoColumn)
# The most bytes of an expression that is its own heading beside a print-format file.
_LONGEST = 16
# Qualifiers that ask for expressions as they are written.
_RAW = frozenset("ro")


class Columns:
    """All columns of a command line, in order."""

    def __init__(self) -> None:
        self._columns: list[FormatColumn | AutoColumn] = []
        # What stands around rows and between columns, those of -format too: the last -af says.
        self._before_row = ""
        self._after_row = ""
        self._before = ""
        self._after = ""
        # Each column with what stands before and after it, once the first row is printed.
        self._frames: list[tuple[str, FormatColumn | AutoColumn, str]] = []
        self.headings = False
        # How many stand before the columns of a print-format file.
        self.before_file = 0

    def __bool__(self) -> bool:
        return bool(self._columns)

    @classmethod
    def of_added(cls, added: Iterable[tuple[str, str]]) -> Columns:
        """Return the columns of `-aaf` by themselves, each with its qualifier."""
        columns = cls()
        for qualifier, text in added:
            columns.add_auto(qualifier, [text])
        return columns

    def add_format(self, form: str, text: str) -> None:
        """Add `-format FORM TEXT`."""
        self._columns.append(FormatColumn(parse_format(form), text, parse_column(text)))
        self._frames.clear()

    def add_auto(self, qualifiers: str, texts: Iterable[str]) -> None:
        """Add `-af:QUALIFIERS TEXT…`: with headings if it asks for them, or one before it did."""
        label, headings = "l" in qualifiers, "h" in qualifiers
        self._separate(qualifiers)
        quoted, raw = "V" in qualifiers, not _RAW.isdisjoint(qualifiers)
        # Of several, as in the reference, r and o count before V, and V before Y and T, which have
        # no labels.
        letter = "" if quoted or raw else next((each for each in "YT" if each in qualifiers), "")
        first = len(self._columns)
        if "j" in qualifiers:
            self._append(AutoColumn("", None, "ID = " if label else "", " ID"))
        for text in texts:
            column = AutoColumn(
                text,
                parse_column(text),
                f"{text} = " if label and not letter else "",
                text,
                quoted=quoted,
                raw=raw,
                form=parse_format(f"%{letter}") if letter else None,
            )
            self._append(column)
        if headings or self.headings:
            self.align(first)

    def _separate(self, qualifiers: str) -> None:
        """Take what stands around rows and between columns; other letters are passed over."""
        before, after, before_row = " ", "", ""
        for each in qualifiers:
            match each:
                case ",":
                    after = ","
                case "n":
                    after = "\n"
                case "g":
                    before, before_row = "", "\n"
                case "t":
                    before = "\t"
        self._before_row, self._after_row = before_row, "\n"
        self._before, self._after = before, after

    def align(self, first: int = 0, *, brief: bool = False) -> None:
        """Give columns headings and widths; `first` is the place of the first of them.

        `brief`: beside those of a print-format file the heading of a long expression is a word.
        """
        self.headings = True
        for column in self._columns[first:]:
            if isinstance(column, AutoColumn) and column.width is None:
                if brief and length(column.text) > _LONGEST and not _is_name(column.expression):
                    column.heading = "(expr)"
                # The numbers of jobs have the room that they need, and no more; a heading stands
                # for the labels of all others.
                of_job = column.expression is None
                column.width = 0 if of_job else length(column.heading)
                column.label = column.label if of_job else ""

    def note_file(self) -> None:
        """Note that a print-format file is named: what is added from now on is behind it."""
        self.before_file = len(self._columns)

    def _append(self, column: AutoColumn) -> None:
        self._columns.append(column)
        self._frames.clear()

    def _frame(self, columns: Sequence[_Column]) -> list[tuple[str, _Column, str]]:
        """Return columns with what separates them: none stands before the first or after the last.

        Source: observed of condor_q and condor_status 25.14.1.
        """
        last = len(columns) - 1
        return [
            (self._before if index else "", column, self._after if index < last else "")
            for index, column in enumerate(columns)
        ]

    def render(self, ad: ClassAd) -> str:
        """Return the row of an ad, with its end if it has one."""
        if not self._frames:
            self._frames = self._frame(self._columns)
        parts = [self._before_row]
        for before, column, after in self._frames:
            parts += before, column.render(ad), after
        parts.append(self._after_row)
        return "".join(parts)

    def __iter__(self) -> Iterator[FormatColumn | AutoColumn]:
        return iter(self._columns)

    @property
    def frame(self) -> tuple[str, str, str, str] | None:
        """What stands before and after a row and before and after a column.

        None without an -af behind the print-format file, which says it then.
        """
        behind = self._columns[self.before_file :]
        if not any(isinstance(each, AutoColumn) for each in behind):
            return None
        return self._before_row, self._after_row, self._before, self._after

    @property
    def ends_in_format(self) -> bool:
        """Whether the last column is one of -format."""
        return bool(self._columns) and isinstance(self._columns[-1], FormatColumn)

    @property
    def stand_alone(self) -> bool:
        """Whether a row is the same, whatever rows were printed before it: no column has a width.

        True of rows of `-af` alone, which are what is printed of thousands of ads.
        """
        return all(isinstance(each, AutoColumn) and each.width is None for each in self._columns)

    def render_run(self, run: AdRun) -> list[str]:
        """Return the rows of ads with the same names, where rows stand alone."""
        frames = self._frame(self._columns)
        values = [column.values(run) for _, column, _ in frames if isinstance(column, AutoColumn)]
        gaps = (f"{_literal(before)}%s{_literal(after)}" for before, _, after in frames)
        row = _literal(self._before_row) + "".join(gaps) + _literal(self._after_row)
        return list(map(row.__mod__, zip(*values, strict=True)))

    def render_found(self, found: Iterable[ClassAd | AdRun]) -> Iterator[str]:
        """Yield the rows of ads, some at a time."""
        for each in found:
            yield self.render(each) if isinstance(each, ClassAd) else "".join(self.render_run(each))

    def render_headings(self) -> str:
        """Return the row of headings."""
        headings = [
            column.heading
            for column in self._columns
            if isinstance(column, AutoColumn) and column.width is not None
        ]
        cells = head_cells(headings, (column.heading_width for column in self._columns))
        frames = zip(self._frame(self._columns), cells, strict=False)
        parts = [before + cell + after for (before, _, after), cell in frames]
        return self._before_row + "".join(parts) + self._after_row

    def measure(self, ads: Iterable[ClassAd]) -> None:
        """Widen the columns for all rows beforehand; needed before headings are printed."""
        for ad in ads:
            for column in self._columns:
                if isinstance(column, AutoColumn):
                    column.measure(ad)

    def names(self) -> set[str]:
        """Return the attributes that must be fetched for these columns."""
        wanted: set[str] = set()
        for column in self._columns:
            if column.expression is None:
                wanted |= {"ClusterId", "ProcId"}
                continue
            internal, external = _find_references(column.expression, ClassAd())
            wanted |= {name.rpartition(".")[2] for name in (*internal, *external)}
        return wanted
