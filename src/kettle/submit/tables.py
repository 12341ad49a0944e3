"""Items of a queue statement that are a table: `queue from TABLE FILE`, the names on a row of it.

`TABLE(header=N, skip=N, sep=C)`: the row of the names, counted from 0, or `none` where the
statement names the variables; how far behind that row the values begin, those before it being
values too where nothing is said; what stands between two columns, a comma where nothing is said.
`csv` is a table without names. As in the reference `skip` means nothing where the names are on the
first row or nowhere, and neither does a word that is none of these. Shown by
`test_a_table_names_its_variables`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.patterns import late_pattern
from kettle.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kettle.errors import SubmitError

    Fail = Callable[[str], SubmitError]

UNIT_SEPARATOR = "\x1f"
BLANKS = " \t"
_TABLE = late_pattern(r"TABLE(?:(?=\s|$)|(\()([^)]*)(\)|$))\s*", re.IGNORECASE)
_NAME = late_pattern(r"[A-Za-z0-9_.]+")
_NUMBER = late_pattern(r"\s*([+-]?[0-9]{1,9})\s*")


class Table(Struct):
    """Which row of a table has the names, how many are left out, and what separates columns."""

    header: int = 0
    skip: int = 0
    separator: str = ","

    def read(
        self,
        lines: Sequence[str],
        names: tuple[str, ...],
        where: str,
        fail: Callable[[str], SubmitError],
    ) -> tuple[tuple[str, ...], list[str]]:
        """Return the variables and the items, their fields taken apart; raise `fail`'s error."""
        rows = list(lines)
        if self.header >= 0:
            if self.header >= len(rows):
                raise fail(f"Heading row {self.header} is beyond the end of table {where}")
            names = self._names(rows.pop(self.header), where, fail)
        if self.header > 0 and self.skip > 0:
            rows = rows[self.header + self.skip - 1 :]
        if len(names) < 2:
            return names, rows
        return names, [self._item(row, len(names)) if row.strip(BLANKS) else "" for row in rows]

    def _names(self, row: str, where: str, fail: Fail) -> tuple[str, ...]:
        if not row.strip(BLANKS):
            raise fail(f"No column headings found on row {self.header} in table {where}")
        names = tuple(self._split(row, -1))
        wrong = {at: name for at, name in enumerate(names, 1) if not _NAME.fullmatch(name)}
        if wrong:
            where = ",".join(map(str, wrong))
            said = ",".join(wrong.values())
            raise fail(f"Columns {where} have names that are not allowed : {said}")
        return names

    def _item(self, row: str, count: int) -> str:
        if UNIT_SEPARATOR in row:
            return row
        fields = self._split(row, count - 1)
        return UNIT_SEPARATOR.join([*fields, *[""] * (count - len(fields))])

    def _split(self, row: str, most: int) -> list[str]:
        """Return the columns of a row; what is behind the last separator taken belongs to it."""
        separator = None if self.separator in BLANKS else self.separator
        return [word.strip(BLANKS) for word in row.strip(BLANKS).split(separator, most)]


def read_table(rest: str, fail: Fail) -> tuple[Table | None, str]:
    """Take `TABLE` and its options away from what follows `from`; a word alone is a file's name."""
    found = _TABLE.match(rest)
    if found is None or (found.end() == len(rest) and not found[1]):
        return None, rest
    if found[1] and not found[3]:
        raise fail("Invalid TABLE options")
    return _with_options(found[2] or ""), rest[found.end() :]


def _with_options(text: str) -> Table:
    header, skip, separator = 0, 0, ","
    for option in text.split(","):
        word, equals, value = option.partition("=")
        name = word.strip().lower()
        if name == "csv" and not equals:
            header = -1
        elif name == "header" and equals:
            header = -1 if value.strip().lower() == "none" else _number(value)
        elif name == "skip" and equals:
            skip = _number(value)
        elif name == "sep" and equals:
            separator = value.strip()[:1] or value[:1] or " "
    return Table(header, skip, separator)


def _number(text: str) -> int:
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else 0
