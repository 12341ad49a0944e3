"""One column for each attribute that somebody looks at: which slots have the same value there.

A column holds, for each slot, the number of its text among the different texts of an attribute, and
the number that the text stands for if it is one. Joined columns tell combinations apart. What
expressions make of them is `vectors.py`; a slot whose ad changes within a cycle is entered anew.
Columns last from cycle to cycle (`kept_slots.py`) as long as somebody looks at them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import isnan
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kettle.classad.parser import plain_string
from kettle.matchmaking.slot_classes import is_plain
from kettle.matchmaking.slots import Slot, read_text

T = TypeVar("T")
_UNPARSED = frozenset((str, type(None)))
Codes = NDArray[np.int32]
Numbers = NDArray[np.float64]
Indexes = NDArray[np.int64]

# Limit: whole numbers up to this are exact in floating point; greater ones the evaluator compares.
_EXACT = 2.0**53
# Strings, one in a line.
_STRINGS = re.compile(r'(?:"[^"\\\n]*"\n)*"[^"\\\n]*"')
# So many different values are looked up one by one in the time that it takes to number all places.
_FEW = 30


class Column:
    """The texts of one attribute."""

    def __init__(self, name: str, texts: list[str | None]) -> None:
        self.name = name
        # A text that is met for the first time gets the next number.
        known: dict[str | None, int] = defaultdict(count().__next__)
        self.codes: Codes = np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))
        self._known = dict(known)
        self.texts = list(known)
        # A slot that had the text when it was first met.
        self.firsts: list[int] = _first_rows(self.codes, len(self.texts)).tolist()
        self._numbers = read_numbers(self.texts)
        numbers = np.array(self._numbers or [0.0])
        self.numbers: Numbers = numbers[self.codes]
        # Whether all texts are numbers.
        self.clean = not np.isnan(numbers).any()
        # Whether all texts are values, which refer to nothing.
        self.plain = self.clean or _are_values(self._odd())
        self._strings: list[str | None] = []
        # Grows whenever a slot's text changes.
        self.version = 0

    def _odd(self) -> list[str | None]:
        """Return the texts that are no numbers."""
        return [text for text, each in zip(self.texts, self._numbers, strict=True) if isnan(each)]

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
                string = None if text is None else plain_string(text)
                self._strings.append(None if string is None else string.lower())
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

    def move(self, old_places: Indexes) -> None:
        """Give each slot the place where it is now; `settle` has to follow."""
        self.codes, self.numbers = self.codes[old_places], self.numbers[old_places]
        self.version += 1

    def settle(self) -> bool:
        """Find a slot for each text, and forget texts that no slot has; True if there were any."""
        firsts = _first_rows(self.codes, len(self.texts))
        dead = firsts < 0
        if not dead.any():
            self.firsts = firsts.tolist()
            return False
        living = np.flatnonzero(~dead)
        self.codes = _renumber(self.codes, dead)
        self.firsts = firsts[living].tolist()
        self.texts = [self.texts[code] for code in living.tolist()]
        self._numbers = [self._numbers[code] for code in living.tolist()]
        self._known = {text: code for code, text in enumerate(self.texts)}
        self._strings = []
        odd = self._odd()
        self.clean, self.plain = not odd, _are_values(odd)
        self.version += 1
        return True


def _first_rows(codes: Codes, size: int) -> Indexes:
    """Return a place where each code stands, -1 for those that stand nowhere."""
    firsts = np.full(size, -1, np.int64)
    # What is assigned last stays: from behind, that is the first place.
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return firsts


def _renumber(codes: Codes, dead: NDArray[np.bool_]) -> Codes:
    """Return the codes without gaps where some stand nowhere."""
    left = np.cumsum(~dead, dtype=np.int32) - np.int32(1)
    found: Codes = left[codes]
    return found


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

    def move(self, old_places: Indexes) -> None:
        """Give each slot the place where it is now; `settle` has to follow."""
        self.codes = self.codes[old_places]
        self.version += 1

    def settle(self) -> bool:
        """Find a slot for each combination; True if no slot has one of them any more."""
        firsts = _first_rows(self.codes, len(self.firsts))
        self.firsts = firsts.tolist()
        return bool((firsts < 0).any())


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
    if text is None or text[:1] == '"':
        return float("nan")
    try:
        number = float(text)
    except ValueError:
        return float("nan")
    return number if abs(number) < _EXACT and "_" not in text else float("nan")


def read_numbers(texts: list[str | None]) -> list[float]:
    """Return what `read_number` makes of each."""
    try:
        # Where all are numbers, as they mostly are, without a look at each.
        found = list(map(float, cast("list[str]", texts)))
    except (TypeError, ValueError):
        if len(texts) > _FEW and _are_strings(texts):
            return [float("nan")] * len(texts)
        return list(map(read_number, texts))
    exact = bool((np.abs(found) < _EXACT).all())
    if exact and "_" not in "".join(cast("list[str]", texts)):
        return found
    return list(map(read_number, texts))


def _are_strings(texts: list[str | None]) -> bool:
    """Tell whether all are strings without anything odd in them."""
    if None in texts:
        return False
    return _STRINGS.fullmatch("\n".join(cast("list[str]", texts))) is not None


def _are_values(texts: list[str | None]) -> bool:
    """Tell whether all refer to nothing; strings, of which there may be many, are seen at once."""
    if len(texts) > _FEW and _are_strings(texts):
        return True
    return all(
        (text is not None and plain_string(text) is not None) or is_plain(text) for text in texts
    )


class Columns:
    """The columns of a table of slots, made when they are asked for."""

    def __init__(self, rows: Sequence[Slot]) -> None:
        self.rows = rows
        self._columns: dict[str, Column] = {}
        # What the slots' ads say themselves; and slots whose ads stand on others.
        self._tables = [slot.ad.table for slot in rows]
        self._chained = {row for row, slot in enumerate(rows) if slot.ad.parent is not None}
        self._joints: dict[tuple[str, ...], Joint] = {}
        # What `joint` answered, until a column tells more apart than it did.
        self._answers: dict[tuple[str, ...], Column | Joint] = {}
        # What was asked for since the slots were renewed.
        self._wanted: set[str] = set()

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Column:
        """Return the column of an attribute, given in lower case."""
        self._wanted.add(name)
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = Column(name, self._texts(name))
        return found

    def _texts(self, name: str) -> list[str | None]:
        """Return what all slots say in an attribute."""
        if not name:
            return [None] * len(self.rows)
        found = [table.get(name) for table in self._tables]
        odd = self._chained
        if not _UNPARSED.issuperset(map(type, found)):
            odd = odd.union([row for row, each in enumerate(found) if type(each) not in _UNPARSED])
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
        else:
            self._chained.discard(row)
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

    def move(self, rows: Sequence[Slot], old_places: Sequence[int]) -> None:
        """Take over slots in other places; those that were nowhere have to be entered after."""
        places = np.array(old_places, np.int64)
        for column in self._columns.values():
            column.move(places)
        for joint in self._joints.values():
            joint.move(places)
        self.rows = rows
        self._tables = [slot.ad.table for slot in rows]
        self._chained = {row for row, slot in enumerate(rows) if slot.ad.parent is not None}

    def renew(self, rows: Sequence[Slot], changed: Mapping[int, Iterable[str] | None]) -> None:
        """Take over the slots of another cycle, of which these have changed: None is everywhere.

        What nobody asked for since the last time is forgotten.
        """
        self.rows = rows
        self._columns = {
            name: column for name, column in self._columns.items() if name in self._wanted
        }
        asked = set(map(id, self._answers.values()))
        self._joints = {
            names: joint
            for names, joint in self._joints.items()
            if id(joint) in asked and self._columns.keys() >= set(names)
        }
        for row, names in changed.items():
            self.enter(row, self._columns if names is None else names)
        dead = {name for name, column in self._columns.items() if column.settle()}
        self._joints = {
            names: joint
            for names, joint in self._joints.items()
            if dead.isdisjoint(names) and not joint.settle()
        }
        self._answers.clear()
        self._wanted.clear()
