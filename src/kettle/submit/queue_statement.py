"""What a queue statement says: how many jobs, with which variables, for which items.

`queue [N] [VARIABLES] [in|from [TABLE]|matching [files|dirs|any]] [SLICE] [ITEMS]`. Items stand on
the line, in brackets over several lines, in a file, or are printed by a command (vectors, topics
"queue" and "queue arguments").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kettle.config.sources import split_command
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.structs import Struct, field
from kettle.submit.arguments import split_list
from kettle.submit.item_lines import join_continued, split_lines
from kettle.submit.queue_words import MOST_JOBS, read_words
from kettle.submit.tables import UNIT_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kettle.config.lines import LineReader
    from kettle.errors import Remark, SubmitError
    from kettle.submit.matching import MatchRules
    from kettle.submit.queue_words import QueueWords
    from kettle.submit.reader import QueueText
    from kettle.submit.sources import SubmitSources

_BLANKS = " \t"
# What a table is called whose lines stand below.
_BRACKET = "<"
_FIELD_END = late_pattern(r"[, \t]")
_UNIT_END = late_pattern(UNIT_SEPARATOR)


class Row:
    """The variables of one job: row and step numbers, and the item's values by variable."""

    __slots__ = ("index", "step", "values")

    def __init__(self, index: int, step: int, values: tuple[str, ...]) -> None:
        self.index, self.step, self.values = index, step, values


class Macros(Protocol):
    """What replaces the macros of a statement."""

    # Takes what is to be told of a statement that is read all the same.
    warnings: list[Remark]

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced."""


class Reader(Protocol):
    """Whoever has met the statement: a submit description's reader, or a transform's."""

    @property
    def macros(self) -> Macros:
        """What replaces macros."""

    @property
    def word(self) -> str:
        """What the statement is called in complaints."""

    @property
    def lines(self) -> LineReader:
        """The lines that follow the statement."""

    def parse_error(
        self, message: str, details: tuple[Remark, ...] = (), hint: str = ""
    ) -> SubmitError:
        """Return the error for a statement that cannot be carried out."""

    def no_statement(self, message: str) -> SubmitError:
        """Return the error for a statement whose words make no sense."""

    def match_rules(self, kind: str) -> MatchRules:
        """Return what patterns find where the statement says `matching KIND`; SubmitError."""


class QueueStatement(Struct):
    """A queue statement taken apart."""

    count: int = 1
    variables: tuple[str, ...] = ()
    items: Sequence[str] | None = None
    how: str = ""
    # What stands behind `from`: a file, a command, or a bracket (`<`).
    source: str = ""
    selected: slice = field(default_factory=lambda: slice(None))
    line: int = 0
    # What complaints say instead of it (QueueText).
    told_line: int = 0
    # Where the bracket around its items closes below, which is told of what its jobs' macros lack.
    end_line: int = 0
    # What the variables have before the first item that is not blank.
    before: tuple[str, ...] = ()
    # Whether blanks at the ends of a field belong to it.
    keeps_blanks: bool = False

    def rows(self, skip: int = 0) -> Iterator[Row]:
        """Yield one row for each job, from job number `skip` on."""
        if self.items is None:
            for step in range(skip, self.count):
                yield Row(0, step, ())
            return
        # Compat: the reference makes a job of nothing where a slice begins before the first item,
        # or has a place for one behind the last (test_a_slice_has_no_more_items_than_there_are).
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
        return self.before or ("",) * max(1, len(self.variables))

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
        if len(self.variables) < 2:
            return (item,)
        if self.keeps_blanks and UNIT_SEPARATOR in item:
            values = item.split(UNIT_SEPARATOR, len(self.variables) - 1)
            return (*values, *[""] * (len(self.variables) - len(values)))
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
    words = read_words(reader.macros.expand(queue.text), reader.parse_error, reader.no_statement)
    statement = QueueStatement(
        words.count, words.variables, how=words.how, selected=words.selected, line=queue.line
    )
    statement.told_line = queue.told_line or queue.line
    if not words.how:
        return statement
    items, where = _items(words, queue, reader, sources)
    statement.items = items
    if where == _BRACKET:
        statement.end_line = reader.lines.breaks
    if words.how == "from":
        statement.source = where or _BRACKET
    if words.table is not None:
        statement.keeps_blanks = not words.table.trims
        statement.variables, statement.items = words.table.read(
            items, words.variables, where, reader.parse_error
        )
    if statement.job_count() > MOST_JOBS:
        raise reader.parse_error(f"more than {MOST_JOBS} jobs in one queue statement")
    return statement


def _items(
    words: QueueWords, queue: QueueText, reader: Reader, sources: SubmitSources
) -> tuple[Sequence[str], str]:
    """Return the items, and what their table is called."""
    rest, where = words.rest, ""
    lines: Sequence[str]
    is_bracketed = rest.startswith("(")
    if is_bracketed and rest.endswith(")") and not rest.startswith("(("):
        lines = [rest[1:-1].strip(BLANKS)]
    elif is_bracketed:
        # What begins with two brackets goes on below, as in the reference.
        first = rest[2:-1] if rest.startswith("((") and rest.endswith(")") else rest[1:]
        where = _BRACKET
        lines = _bracketed(first.strip(BLANKS), queue, reader, keep_lines=words.how == "from")
    elif words.how == "from":
        where = rest.strip(BLANKS)
        lines = _read_items(where, reader, sources)
    else:
        lines = [rest]
    if words.how == "from":
        return lines, where
    found = [word for line in lines for word in split_list(line)]
    if words.how == "matching":
        from kettle.submit.matching import find_matches  # few statements have patterns

        rules = reader.match_rules(words.kind)
        found = find_matches(found, rules, reader.macros, sources, reader.parse_error)
    return found, where


def _bracketed(first: str, queue: QueueText, reader: Reader, *, keep_lines: bool) -> list[str]:
    found = [first] if first else []
    while (line := _next_item_line(reader)) is not None:
        if line.startswith(")"):
            return found
        if line.startswith("#"):
            continue
        if keep_lines or line:
            found.append(line)
    raise reader.parse_error(
        f"Reached end of file without finding closing brace ')' for {reader.word} command on line "
        f"{queue.told_line or queue.line}"
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
    """Return the items of a file, a command or standard input.

    Compat: in the reference a folder is a file without items (test_a_folder_is_no_file_of_items).
    """
    try:
        if rest == "-":
            text = sources.standard_input()
            if text is None:
                # The description came from there too: what follows are the items.
                text = "\n".join(reader.lines.rest())
        elif rest.startswith("|") and rest != "|":
            # The empty line is the reference's.
            raise reader.parse_error("not a valid command, | must be at the end\n")
        elif not rest:
            # As in the reference: what is named by a macro of nothing has no items.
            return []
        elif rest.endswith("|"):
            text = sources.run_command(split_command(rest[:-1].strip(BLANKS)))[1]
        else:
            return sources.read_items(rest)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        code = getattr(error, "errno", None) or 0
        if rest.endswith("|"):
            raise reader.parse_error(f"not a valid command, errno={code} : {why}") from None
        raise reader.parse_error(f"can't open file {rest}: {why}") from None
    return join_continued(split_lines(text))
