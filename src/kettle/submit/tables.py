"""Items of a queue statement that are a table: `queue from TABLE FILE`, the names on a row of it.

`TABLE(header=N, skip=N, sep=C)`: the row of the names, counted from 0, or `none` where the
statement names the variables; how far behind that row the values begin, those before it being
values too where nothing is said; what stands between two columns, a comma where nothing is said,
and a comma or a blank where that is nothing or `comma_sep` is false; with `trim=false` blanks at
the ends of a field stay. `csv` is a table without names
and forgets what was said before it; `standard` the same, with blanks as separators besides. As in
the reference `skip` means nothing where the names are on the first row or nowhere, and neither does
a word that is none of these. Shown by `test_a_table_names_its_variables`.

Compat: a unit separator parts the fields of a row whatever is said, here alone
(test_a_separator_of_fields_in_a_table_separates_there_too). The reference goes on with the
variables of the statement where the row of the names is none; here that is refused
(test_a_table_that_is_none_is_refused).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

from kettle.config.knob import evaluate_text
from kettle.patterns import late_pattern
from kettle.structs import Struct

if TYPE_CHECKING:
    from kettle.errors import SubmitError

    Fail = Callable[[str], SubmitError]

UNIT_SEPARATOR = "\x1f"
BLANKS = " \t"
_OPTIONS = late_pattern(r"\(([^)]*)(\))?")
_NAME = late_pattern(r"[A-Za-z0-9_.]+")
_NUMBER = late_pattern(r"\s*([+-]?[0-9]{1,9})\s*")


class _Rows(Sequence[str]):
    """The items of a table's lines, each made when it is asked for: there may be a million."""

    def __init__(
        self, lines: Sequence[str], names_at: int, first: int, item_of: Callable[[str], str]
    ) -> None:
        """`names_at` is the line with the names, below zero if none has them; `first` rows lack."""
        self._lines, self._names_at, self._first = lines, names_at, first
        self._item_of = item_of
        self._count = max(0, len(lines) - (names_at >= 0) - first)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Return an item."""
        if isinstance(index, slice):
            return [self[each] for each in range(self._count)[index]]
        number = range(self._count)[index] + self._first
        return self._item_of(self._lines[number + (0 <= self._names_at <= number)])


class Table(Struct):
    """Which row of a table has the names, how many are left out, and what separates columns."""

    header: int = 0
    skip: int = 0
    separator: str = ","
    has_blanks: bool = False
    trims: bool = True

    def read(
        self,
        lines: Sequence[str],
        names: tuple[str, ...],
        where: str,
        fail: Callable[[str], SubmitError],
    ) -> tuple[tuple[str, ...], Sequence[str]]:
        """Return the variables and the items, their fields taken apart; raise `fail`'s error."""
        if self.header >= 0:
            if self.header >= len(lines):
                raise fail(f"Heading row {self.header} is beyond the end of table {where}")
            names = self._names(lines[self.header], where, fail)
        first = self.header + self.skip - 1 if self.header > 0 and self.skip > 0 else 0
        return names, _Rows(lines, self.header, first, partial(self._item, count=len(names)))

    def _names(self, row: str, where: str, fail: Fail) -> tuple[str, ...]:
        if not row.strip(BLANKS):
            raise fail(f"No column headings found on row {self.header} in table {where}")
        names = tuple(self._split(row, -1))
        # Compat: the reference goes on as if a file were no table, its heading being the first item
        # (test_a_file_with_columns_of_no_good_name_is_refused).
        wrong = {at: name for at, name in enumerate(names, 1) if not _NAME.fullmatch(name)}
        if wrong:
            where = ",".join(map(str, wrong))
            said = ",".join(wrong.values())
            raise fail(f"Columns {where} have names that are not allowed : {said}")
        return names

    def _item(self, row: str, count: int) -> str:
        if count < 2 or UNIT_SEPARATOR in row:
            return row
        if not row.strip(BLANKS):
            return ""
        fields = self._split(row, count - 1)
        return UNIT_SEPARATOR.join([*fields, *[""] * (count - len(fields))])

    def _split(self, row: str, most: int) -> list[str]:
        """Return the columns of a row; what is behind the last separator taken belongs to it."""
        separators = self.separator + BLANKS * self.has_blanks if self.separator else "," + BLANKS
        found = re.compile(f"[{re.escape(separators)}]")
        fields: list[str] = []
        rest = row.strip(BLANKS)
        while most < 0 or len(fields) < most:
            end = found.search(rest)
            if end is None:
                break
            before, rest = rest[: end.start()], rest[end.end() :]
            fields.append(before.rstrip(BLANKS) if self.trims else before)
            rest = rest.lstrip(BLANKS) if self.trims else rest
        return [*fields, rest]


def read_options(rest: str, fail: Fail) -> tuple[Table, str]:
    """Take the options away that stand right behind `TABLE`, if any do."""
    found = _OPTIONS.match(rest)
    if found is None:
        return Table(), rest
    if not found[2]:
        raise fail("Invalid TABLE options")
    return _with_options(found[1]), rest[found.end() :]


def _with_options(text: str) -> Table:
    table = Table()
    for option in text.split(","):
        word, equals, value = option.partition("=")
        name = word.strip().lower()
        if name in {"csv", "standard"} and not equals:
            table = Table(-1, has_blanks=name == "standard")
        elif name == "header" and equals:
            table.header = -1 if value.strip().lower() == "none" else _number(value)
        elif name == "skip" and equals:
            table.skip = _number(value)
        elif name == "sep" and equals:
            table.separator = value.strip()[:1]
        elif name in {"comma_sep", "trim"} and (said := _truth(value)) is not None:
            table = _with_truth(table, name, said)
    return table


def _with_truth(table: Table, name: str, said: bool) -> Table:
    return table.changed(trims=said) if name == "trim" else table.changed(separator="," * said)


def _truth(text: str) -> bool | None:
    value = evaluate_text(text)
    return bool(value) if isinstance(value, (bool, int, float)) else None


def _number(text: str) -> int:
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else 0
