"""What a queue statement says: how many jobs, with which variables, for which items.

`queue [N] [VARIABLES] [in|from [TABLE]|matching [files|dirs|any]] [SLICE] [ITEMS]`. Items stand on
the line, in brackets over several lines, in a file, or are printed by a command (vectors, topics
"queue" and "queue arguments").
"""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, Protocol

from kettle.config.knob import parse_integer, parse_real
from kettle.digits import whole
from kettle.patterns import late_pattern
from kettle.structs import Struct, field
from kettle.submit.item_lines import BLANKS, split_lines
from kettle.submit.tables import UNIT_SEPARATOR, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kettle.config.lines import LineReader
    from kettle.errors import SubmitError
    from kettle.submit.reader import QueueText
    from kettle.submit.sources import SubmitSources

KEYWORD = late_pattern(r"(?:^|(?<=[\s,]))(in|from|matching)(?=[\s(\[]|$)", re.IGNORECASE)
# A number may have blanks before it, and nothing but the next mark behind it.
_BOUND = r"((?:\s*[+-]?\d+)?)"
SLICE = late_pattern(rf"\[{_BOUND}(?::{_BOUND})?(?::{_BOUND})?\]")
MAYBE_SLICE = late_pattern(r"\[[^\s(]*[\s(]")
SEPARATORS = late_pattern(r"[\s,]+", re.ASCII)
# A number, or several with operators between them; a variable may stand directly behind it.
COUNT_FIRST = late_pattern(
    r"(-?\d[\d.]*+(?:\s*[-+*/%]\s*\d[\d.]*+)*+|\([^)]*\))(?:[\s,]+|(?=[A-Za-z_])|$)", re.ASCII
)
VARIABLE_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*")
_BLANKS = " \t"
_FIELD_END = late_pattern(r"[, \t]")
_UNIT_END = late_pattern(UNIT_SEPARATOR)

# Limit: more jobs than any schedd takes; a typing error must not fill the memory.
MOST_JOBS = 100_000_000


class Row:
    """The variables of one job: row and step numbers, and the item's values by variable."""

    __slots__ = ("index", "step", "values")

    def __init__(self, index: int, step: int, values: tuple[str, ...]) -> None:
        self.index, self.step, self.values = index, step, values


class Macros(Protocol):
    """What replaces the macros of a statement."""

    # Takes what is to be told of a statement that is read all the same.
    warnings: list[str]

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced."""


class Reader(Protocol):
    """Whoever has met the statement: a submit description's reader, or a transform's."""

    @property
    def macros(self) -> Macros:
        """What replaces macros."""

    @property
    def lines(self) -> LineReader:
        """The lines that follow the statement."""

    def parse_error(
        self, message: str, details: tuple[str, ...] = (), hint: str = ""
    ) -> SubmitError:
        """Return the error for a statement that makes no sense."""


class QueueStatement(Struct):
    """A queue statement taken apart."""

    count: int = 1
    variables: tuple[str, ...] = ()
    items: Sequence[str] | None = None
    how: str = ""
    selected: slice = field(default_factory=lambda: slice(None))
    line: int = 0

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Yield one row for each job, from job number `skip` on."""
        if self.items is None:
            for step in range(skip, self.count):
                yield Row(0, step, ())
            return
        chosen = range(len(self.items))[self.selected]
        begin, first = divmod(skip, self.count)
        values = self._values_before(chosen[:begin])
        for index in chosen[begin:]:
            item = self.items[index]
            # A blank item leaves the variables as they were.
            if item.strip(BLANKS):
                values = self.values_of(item)
            for step in range(first, self.count):
                yield Row(index, step, values)
            first = 0

    def _values_before(self, chosen: range) -> tuple[str, ...]:
        """Return what the variables have behind these items."""
        assert self.items is not None
        for index in reversed(chosen):
            if self.items[index].strip(BLANKS):
                return self.values_of(self.items[index])
        return ("",) * max(1, len(self.variables))

    def next_row(self, row: Row) -> int | None:
        """Return the item of the job after `row`'s, -1 if that was the last one.

        None if it is the same: `queue 2 x in ...` makes two jobs of each item, and a statement
        without items has but one row.
        """
        if self.items is None or row.step + 1 < self.count:
            return None
        chosen = range(len(self.items))[self.selected]
        position = chosen.index(row.index) + 1
        return chosen[position] if position < len(chosen) else -1

    def job_count(self) -> int:
        """Return how many jobs the statement makes."""
        if self.items is None:
            return self.count
        return len(range(len(self.items))[self.selected]) * self.count

    def values_of(self, item: str) -> tuple[str, ...]:
        """Return the values that an item gives the variables."""
        if len(self.variables) < 2 or self.how != "from":
            return (item, *("",) * (len(self.variables) - 1))
        return split_item(item, len(self.variables))


def split_item(item: str, count: int) -> tuple[str, ...]:
    """Split an item for several variables; the last one gets what is left.

    A blank separates as a comma does, and what is trimmed is blanks: `f , g` has an empty second
    of three (test_items_are_split_at_each_separator).
    """
    separator = _UNIT_END if UNIT_SEPARATOR in item else _FIELD_END
    values = []
    rest = item.strip(_BLANKS)
    for _ in range(count - 1):
        found = separator.search(rest)
        if found is None:
            break
        values.append(rest[: found.start()].rstrip(_BLANKS))
        rest = rest[found.end() :].lstrip(_BLANKS)
    values.append(rest)
    return tuple(values) + ("",) * (count - len(values))


def parse_queue(queue: QueueText, reader: Reader, sources: SubmitSources) -> QueueStatement:
    """Take a queue statement apart and read its items; raise SubmitError."""
    text = reader.macros.expand(queue.text).strip()
    keyword = KEYWORD.search(text)
    statement = QueueStatement(line=queue.line)
    if keyword is None:
        statement.count = _count(text, reader)
        return statement
    _read_left(statement, text[: keyword.start()], reader)
    statement.how = how = keyword.group(1).lower()
    rest = text[keyword.end() :]
    rest, kind = _matching_kind(rest.strip(), how)
    statement.selected, rest = _slice(rest, reader)
    table, rest = read_table(rest, reader.parse_error)
    if table is not None:
        if how != "from":
            raise reader.parse_error("Queue keyword conflict")
        if statement.selected == slice(None):
            statement.selected, rest = _slice(rest, reader)
    if not rest and not kind:
        raise reader.parse_error("Invalid Queue count expression")
    statement.items = _items(rest, how, kind, queue, reader, sources)
    if table is not None:
        where = rest
        if rest.startswith("("):
            where = "" if rest.endswith(")") else "<"
        statement.variables, statement.items = table.read(
            statement.items, statement.variables, where, reader.parse_error
        )
    if statement.job_count() > MOST_JOBS:
        raise reader.parse_error(f"more than {MOST_JOBS} jobs in one queue statement")
    return statement


def _read_left(statement: QueueStatement, left: str, reader: Reader) -> None:
    """Take over what stands before the keyword: how many jobs an item makes, and the variables."""
    counted = COUNT_FIRST.match(left)
    if counted is not None:
        statement.count = _count(counted.group(1), reader)
        left = left[counted.end() :]
    names = [name for name in SEPARATORS.split(left.strip()) if name]
    if not all(VARIABLE_NAME.fullmatch(name) for name in names):
        raise reader.parse_error("Invalid Queue count expression")
    statement.variables = tuple(names) or ("Item",)


def _count(text: str, reader: Reader) -> int:
    if not text:
        return 1
    number = parse_integer(text)
    if number is None:
        real = parse_real(text)
        number = None if real is None or not math.isfinite(real) else int(real)
    if number is None:
        raise reader.parse_error("Invalid Queue count expression")
    if not 0 <= number <= MOST_JOBS:
        raise reader.parse_error("Queue count out of range")
    # Compat: `queue 0` makes one job (vectors, README).
    return max(1, number)


def _matching_kind(rest: str, how: str) -> tuple[str, str]:
    """Take off which names `matching` is about: what is left, and the word, empty without one."""
    if how != "matching":
        return rest, ""
    match = re.match(r"(files|dirs|any)(?=[\s(\[]|$)\s*", rest, re.IGNORECASE)
    if match is None:
        return rest, ""
    return rest[match.end() :], match.group(1).lower()


def _slice(rest: str, reader: Reader) -> tuple[slice, str]:
    if not MAYBE_SLICE.match(rest):
        # The last word is an item, also one that begins as a slice does: `matching [ab].dat`.
        return slice(None), rest
    match = SLICE.match(rest)
    if match is None:
        raise reader.parse_error("Invalid [::] statement")
    start, stop, step = (whole(part) if part else None for part in match.groups())
    if step is not None and step < 1:
        # Compat: the reference dies of an assertion
        # (test_a_slice_that_goes_backwards_is_refused).
        raise reader.parse_error(f"a slice cannot go in steps of {step}")
    return slice(start, stop, step), rest[match.end() :].strip()


def _items(
    rest: str,
    how: str,
    kind: str,
    queue: QueueText,
    reader: Reader,
    sources: SubmitSources,
) -> Sequence[str]:
    lines: Sequence[str]
    if rest.startswith("("):
        lines = _bracketed(rest, queue, reader, keep_lines=how == "from")
    elif how == "from":
        lines = _read_items(rest, reader, sources)
    else:
        lines = [rest]
    if how == "from":
        return lines
    words = [word for line in lines for word in SEPARATORS.split(line) if word]
    return words if how == "in" else _matches(words, kind, reader, sources)


def _bracketed(rest: str, queue: QueueText, reader: Reader, *, keep_lines: bool) -> list[str]:
    inner = rest[1:].strip()
    if inner.endswith(")"):
        return [inner[:-1].strip()]
    found = [inner] if inner else []
    while (line := _next_item_line(reader)) is not None:
        if line.startswith(")"):
            return found
        if line.startswith("#"):
            continue
        if keep_lines or line:
            found.append(line)
    raise reader.parse_error(
        f"Reached end of file without finding closing brace ')' for Queue command on line "
        f"{queue.line}"
    )


def _next_item_line(reader: Reader) -> str | None:
    """Return the next line between the brackets, joined with those that continue it.

    A comment is never continued, and one inside a continued line is no part of it. None at the end.
    """
    joined, continued = "", False
    while (line := reader.lines.next_physical()) is not None:
        line = line.strip(BLANKS)
        if line.startswith("#"):
            # Compat: inside a continued line the reference takes a comment's end for a part of it
            # (test_a_line_between_brackets_is_continued_behind_a_backslash).
            if continued:
                continue
            return line
        joined += line.removesuffix("\\")
        if not line.endswith("\\"):
            return joined.strip(BLANKS)
        continued = True
    return joined.strip(BLANKS) if continued else None


def _read_items(rest: str, reader: Reader, sources: SubmitSources) -> Sequence[str]:
    try:
        if rest == "-":
            text = sources.standard_input()
            if text is None:
                # The description came from there too: what follows are the items.
                text = "\n".join(reader.lines.rest())
        elif rest.startswith("|"):
            # The empty line is the reference's.
            raise reader.parse_error("not a valid command, | must be at the end\n")
        elif rest.endswith("|"):
            text = sources.run_command(shlex.split(rest[:-1]))[1]
        else:
            return sources.read_items(rest)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        code = getattr(error, "errno", None) or 0
        if rest.endswith("|"):
            raise reader.parse_error(f"not a valid command, errno={code} : {why}") from None
        raise reader.parse_error(f"can't open file {rest}: {why}") from None
    return split_lines(text)


def _matches(
    patterns: Sequence[str], kind: str, reader: Reader, sources: SubmitSources
) -> list[str]:
    found: dict[str, int] = {}
    for pattern in patterns:
        for name in sorted(sources.glob(pattern)):
            fact = sources.look_at(name)
            is_directory = fact is not None and fact.is_directory
            if kind in {"files", "dirs"} and is_directory != (kind == "dirs"):
                continue
            item = name.rstrip("/") + "/" if is_directory else name
            if item not in found:
                found[item] = len(found)
                continue
            reader.macros.warnings.append(
                f"'{item}' matching pattern '{pattern}' is a duplicate of item {found[item]}, "
                "skipping"
            )
    return list(found)
