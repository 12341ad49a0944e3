"""One column for each attribute that somebody looks at: which slots have the same value there.

A column holds, for each slot, the number of its text among the different texts of an attribute, and
the number that the text stands for if it is one. Joined columns tell combinations apart. What
expressions make of them is `vectors.py`; a slot whose ad changes within a cycle is entered anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kettle.classad import Expr
from kettle.matchmaking.slot_classes import is_plain
from kettle.matchmaking.slots import Slot, read_text

T = TypeVar("T")
_UNPARSED = frozenset((str, type(None)))
Codes = NDArray[np.int32]
Numbers = NDArray[np.float64]

# Limit: whole numbers up to this are exact in floating point; greater ones the evaluator compares.
_EXACT = 2.0**53
# So many different values are looked up one by one in the time that it takes to number all places.
_FEW = 30


class Column:
    """The texts of one attribute."""

    def __init__(self, name: str, texts: list[str | None]) -> None:
        self.name = name
        self.codes: Codes = np.empty(len(texts), np.int32)
        self.numbers: Numbers = np.empty(len(texts), np.float64)
        self.texts: list[str | None] = []
        # A slot that had the text when it was first met.
        self.firsts: list[int] = []
        # Whether all texts are numbers.
        self.clean = True
        # Whether all texts are values, which refer to nothing.
        self.plain = True
        self._numbers: list[float] = []
        self._known: dict[str | None, int] = {}
        self._strings: list[str | None] = []
        # Grows whenever a slot's text changes.
        self.version = 0
        for text, row in first_places(texts).items():
            self._code(text, row)
        if len(self.texts) == 1:
            self.codes[:] = 0
        else:
            self.codes[:] = list(map(self._known.__getitem__, texts))
        self.numbers[:] = np.array(self._numbers or [0.0])[self.codes]

    def _code(self, text: str | None, row: int) -> int:
        code = self._known.get(text)
        if code is None:
            code = self._known[text] = len(self.texts)
            self.texts.append(text)
            self.firsts.append(row)
            number = read_number(text)
            self._numbers.append(number)
            if isnan(number):
                self.clean = False
                self.plain = self.plain and is_plain(text)
        return code

    def codes_of_string(self, wanted: str) -> tuple[list[int], list[int]]:
        """Return the codes of all texts that are strings, and of those equal without case."""
        if len(self._strings) < len(self.texts):
            for code in range(len(self._strings), len(self.texts)):
                text = self.texts[code]
                known = text is not None and text[:1] == '"' and "\\" not in text and is_plain(text)
                self._strings.append(text[1:-1].lower() if known and text is not None else None)
        key = wanted.lower()
        strings = [code for code, text in enumerate(self._strings) if text is not None]
        return strings, [code for code in strings if self._strings[code] == key]

    def enter(self, row: int, slot: Slot) -> None:
        """Take over what a slot says now."""
        code = self._code(slot.ad.text(self.name), row)
        if code != self.codes[row]:
            self.codes[row] = code
            self.numbers[row] = self._numbers[code]
            self.version += 1


class Joint:
    """Combinations of several columns' texts, numbered as they are met."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        # A slot of each combination.
        self.firsts: list[int] = []
        # Grows whenever a slot's combination changes.
        self.version = 0
        self._known: dict[tuple[int, ...], int] = {}
        rows = list(zip(*(column.codes.tolist() for column in columns), strict=True))
        for codes, row in first_places(rows).items():
            self._code(codes, row)
        self.codes: Codes = np.array(list(map(self._known.__getitem__, rows)), np.int32)

    def _code(self, codes: tuple[int, ...], row: int) -> int:
        found = self._known.get(codes)
        if found is None:
            found = self._known[codes] = len(self.firsts)
            self.firsts.append(row)
        return found

    def enter(self, row: int) -> None:
        """Take over what the columns say now."""
        code = self._code(tuple(int(each.codes[row]) for each in self.columns), row)
        if code != self.codes[row]:
            self.codes[row] = code
            self.version += 1


def first_places(values: Sequence[T]) -> dict[T, int]:
    """Return the different values in the order in which they come, each with its first place."""
    found = dict.fromkeys(values, 0)
    if len(found) <= _FEW:
        # The same without a step for each of the values.
        return {value: values.index(value) for value in found}
    # Filled in from behind: the first place comes last and stays.
    found.update(zip(reversed(values), range(len(values) - 1, -1, -1), strict=True))
    return found


def read_number(text: str | None) -> float:
    """Return the number that a text is, not a number for all else."""
    if text is None:
        return float("nan")
    try:
        number = float(text)
    except ValueError:
        return float("nan")
    return number if abs(number) < _EXACT and "_" not in text else float("nan")


class Columns:
    """The columns of one cycle's slots, made when they are asked for."""

    def __init__(self, rows: Sequence[Slot]) -> None:
        self.rows = rows
        self._columns: dict[str, Column] = {}
        # What the slots' ads say themselves; and slots whose ads stand on others.
        self._tables = [slot.ad.table for slot in rows]
        self._chained = {row for row, slot in enumerate(rows) if slot.ad.parent is not None}
        self._joints: dict[tuple[str, ...], Joint] = {}
        # What `joint` answered, until a column tells more apart than it did.
        self._answers: dict[tuple[str, ...], Column | Joint] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Column:
        """Return the column of an attribute, given in lower case."""
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = Column(name, self._texts(name))
        return found

    def _texts(self, name: str) -> list[str | None]:
        """Return what all slots say in an attribute."""
        found = [table.get(name) for table in self._tables]
        odd = self._chained
        if not _UNPARSED.issuperset(map(type, found)):
            odd = odd | {row for row, each in enumerate(found) if isinstance(each, Expr)}
        for row in odd:
            found[row] = read_text(self.rows[row].ad, name)
        # Nothing but texts is left.
        return cast("list[str | None]", found)

    def joint(self, names: tuple[str, ...]) -> Column | Joint:
        """Return which slots are the same in all these attributes; one at least is given."""
        answer = self._answers.get(names)
        if answer is None:
            answer = self._answers[names] = self._join(names)
        return answer

    def _join(self, names: tuple[str, ...]) -> Column | Joint:
        # What is the same everywhere tells nothing apart.
        telling = tuple(name for name in names if len(self.column(name).texts) > 1) or names[:1]
        if len(telling) == 1:
            return self.column(telling[0])
        found = self._joints.get(telling)
        if found is None:
            columns = [self.column(name) for name in telling]
            found = self._joints[telling] = Joint(columns)
        return found

    def enter(self, row: int, names: Iterable[str]) -> None:
        """Take over a slot's ad after these attributes of it have changed."""
        slot, changed = self.rows[row], set()
        self._tables[row] = slot.ad.table
        if slot.ad.parent is not None:
            self._chained.add(row)
        for name in names:
            column = self._columns.get(name.lower())
            if column is not None:
                if len(column.texts) == 1:
                    self._answers.clear()
                column.enter(row, slot)
                changed.add(column.name)
        for joined, joint in self._joints.items():
            if not changed.isdisjoint(joined):
                joint.enter(row)
