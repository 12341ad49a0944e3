"""Texts that are lists: items between separators, by default comma and blank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from sys import getsizeof
from typing import Final

from kettle.classad.functions.convert import number_in
from kettle.classad.functions.regex import compile_pattern, matches_any
from kettle.classad.functions.table import (
    FREE,
    Free,
    Function,
    Prepared,
    StrictCall,
    plain,
    strict,
)
from kettle.classad.state import State
from kettle.classad.values import ERROR, UNDEFINED, Value, saturate_integer
from kettle.patterns import late_pattern
from kettle.remembered import Allowance, Memory

# Membership also splits at tabs and ends of lines.
_DEFAULT: Final = " ,"
_MEMBERSHIP: Final = " ,\t\r\n"
# Compat: what the reference takes for an integer, `1-2` too, of which it reads the 1
# (test_what_the_reference_makes_of_odd_arguments).
_INTEGER: Final = late_pattern(r"[-+0-9]+\Z")
# What a number that is read counts as.
_NUMBER_BYTES: Final = 32
_GREATEST_FLOAT: Final = 3.4028234663852886e38
_LEAST_FLOAT: Final = 1.1754943508222875e-38


def items_of(text: str, separators: str = _DEFAULT) -> list[str]:
    """Return the items of a text list: blanks around them stripped, empty ones left out."""
    parts = re.split(f"[{re.escape(separators)}]", text) if separators else [text]
    return [item for part in parts if (item := part.strip(" \t\r\n\f\v"))]


def _arguments(values: list[Value], least: int) -> list[str] | None:
    if len(values) not in (least, least + 1):
        return None
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(values) else None


def size(values: list[Value]) -> Value:
    """`stringListSize(list[, separators])`."""
    texts = _arguments(values, 1)
    return ERROR if texts is None else len(items_of(*texts))


def _numeric(combine: Callable[[list[float]], float], empty: Value = UNDEFINED) -> StrictCall:
    """Return a function of the items as reals; an integer, cut off, if all look like integers."""

    def call(state: State, values: list[Value]) -> Value:
        texts = _arguments(values, 1)
        if texts is None:
            return ERROR
        items = items_of(*texts)
        state.spend(_NUMBER_BYTES * len(items))
        numbers: list[float] = []
        for item in items:
            number = number_in(item)
            if number is None:
                return ERROR
            numbers.append(number)
        if not numbers:
            return empty
        result = combine(numbers)
        return saturate_integer(result) if all(map(_INTEGER.match, items)) else result

    return call


def _sum(numbers: list[float]) -> float:
    result = 0.0
    for number in numbers:
        result += number
    return result


def _average(numbers: list[float]) -> float:
    return _sum(numbers) / len(numbers)


# Compat: the reference begins with the greatest and the smallest positive number of 32 bits, and
# goes on with whatever is better; so a NaN never is (functions_lists.json).
def _smallest(numbers: list[float]) -> float:
    result = _GREATEST_FLOAT
    for number in numbers:
        if number < result:
            result = number
    return result


def _greatest(numbers: list[float]) -> float:
    result = _LEAST_FLOAT
    for number in numbers:
        if number > result:
            result = number
    return result


# Limit: the bytes of the lists whose items are remembered: those of an ad are asked for by every
# job, and those of a policy about every slot.
_known: Final[Memory[str, frozenset[str]]] = Memory(Allowance(1024 * 1024))
_find_known: Final = _known.get


def _members(text: str, separators: str = _MEMBERSHIP) -> frozenset[str]:
    """Return the items of a text list."""
    if separators != _MEMBERSHIP:
        return frozenset(items_of(text, separators))
    found = _find_known(text)
    if found is None:
        found = frozenset(items_of(text, separators))
        _known.keep(text, found, sum(map(getsizeof, (text, found, *found))))
    return found


class _Pair:
    """A function of two lists for which UNDEFINED is the empty list, unless both are.

    `judge` is handed the first text, the separators, and the items of the second.
    """

    def __init__(
        self, judge: Callable[[str, str, frozenset[str]], bool], fold: Callable[[str], str] = str
    ) -> None:
        self._judge: Final = judge
        self._fold: Final = fold

    def call(self, values: list[Value]) -> Value:
        """`name(one, other[, separators])`."""
        if len(values) not in (2, 3):
            return ERROR
        texts = []
        for position, value in enumerate(values):
            if value is UNDEFINED:
                texts.append("" if position < 2 else _MEMBERSHIP)
            elif isinstance(value, str):
                texts.append(self._fold(value) if position < 2 else value)
            else:
                return ERROR
        if values[0] is UNDEFINED and values[1] is UNDEFINED:
            return UNDEFINED
        separators = texts[2] if len(texts) == 3 else _MEMBERSHIP
        return self._judge(texts[0], separators, _members(texts[1], separators))

    def prepare(self, values: Sequence[Value | Free]) -> Prepared | None:
        """Return the function of the one text where the other is known, and no separators."""
        judge, fold = self._judge, self._fold
        if len(values) != 2:
            return None
        one, other = values
        if type(other) is str and one is FREE:
            items = _members(fold(other))

            def call_one(text: Value) -> Value:
                if type(text) is str:
                    return judge(fold(text), _MEMBERSHIP, items)
                return self.call([text, other])

            return Prepared(call_one, size=sum(map(getsizeof, (items, *items))))
        if type(one) is str and other is FREE:
            wanted = fold(one)

            def call_other(text: Value) -> Value:
                if type(text) is str:
                    return judge(wanted, _MEMBERSHIP, _members(fold(text)))
                return self.call([one, text])

            return Prepared(call_other, size=getsizeof(wanted))
        return None


def _is_member(item: str, _separators: str, items: frozenset[str]) -> bool:
    return item in items


def _is_subset(wanted: str, separators: str, items: frozenset[str]) -> bool:
    # Compat: a text without items has one here, an empty one; shown by functions_lists.json.
    return (_members(wanted, separators) or frozenset([""] if wanted else ())) <= items


_MEMBER: Final = _Pair(_is_member)
_MEMBER_FOLDED: Final = _Pair(_is_member, str.lower)
_SUBSET: Final = _Pair(_is_subset)
_SUBSET_FOLDED: Final = _Pair(_is_subset, str.lower)


def intersect(values: list[Value]) -> Value:
    """`stringListsIntersect(one, other[, separators])`: here blanks that part nothing are letters.

    No separators at all are the usual ones (recorded).
    """
    if len(values) not in (2, 3) or any(value is ERROR for value in values):
        return ERROR
    if any(value is UNDEFINED for value in values):
        return UNDEFINED
    texts = _arguments(values, 2)
    if texts is None:
        return ERROR
    letters = re.escape(texts[2] if len(texts) == 3 and texts[2] else _DEFAULT)
    one, other = (set(filter(None, re.split(f"[{letters}]", text))) for text in texts[:2])
    return not one.isdisjoint(other)


def regexp_member(state: State, values: list[Value]) -> Value:
    """`stringList_regexpMember(pattern, list[, separators[, options]])`."""
    if len(values) not in (2, 3, 4):
        return ERROR
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(values):
        return ERROR
    compiled = compile_pattern(texts[0], texts[3] if len(texts) == 4 else "", state)
    if compiled is None:
        return ERROR
    items = items_of(texts[1], texts[2] if len(texts) > 2 else _DEFAULT)
    if not items:
        return UNDEFINED
    try:
        return matches_any(state, compiled, items)
    except TimeoutError:
        return ERROR


# fmt: off
STRING_LISTS: Final[tuple[Function, ...]] = (
    plain("stringListSize", "stringListSize(list[, separators])", "How many items there are.",
          size, ('stringListSize("a, b")', "2"), ('stringListSize("a;b;c",";")', "3"),
          ('stringListSize("")', "0")),
    strict("stringListSum", "stringListSum(list[, separators])",
           "The sum of the items, an integer if they all are.",
           _numeric(_sum, 0.0), ('stringListSum("1,2")', "3"),
           ('stringListSum("1,2.5")', "3.500000000000000E+00")),
    strict("stringListAvg", "stringListAvg(list[, separators])",
           "The mean of the items; of integers, cut off to an integer.",
           _numeric(_average, 0.0), ('stringListAvg("1,3")', "2"),
           ('stringListAvg("1,2.5")', "1.750000000000000E+00")),
    strict("stringListMin", "stringListMin(list[, separators])", "The smallest item.",
           _numeric(_smallest), ('stringListMin("3,1,2")', "1"),
           ('stringListMin("2.5,7")', "2.500000000000000E+00"),
           ('stringListMin("")', "undefined")),
    strict("stringListMax", "stringListMax(list[, separators])", "The greatest item.",
           _numeric(_greatest), ('stringListMax("3,1,2")', "3"),
           ('stringListMax("2.5;7",";")', "7.000000000000000E+00")),
    plain("stringListMember", "stringListMember(item, list[, separators])",
          "Whether the item is in the list.",
          _MEMBER.call, ('stringListMember("b","a,b")', "true"),
          ('stringListMember("B","a,b")', "false"),
          prepare=_MEMBER.prepare),
    plain("stringListIMember", "stringListIMember(item, list[, separators])",
          "Whether the item is in the list, without regard to case.",
          _MEMBER_FOLDED.call, ('stringListIMember("B","a,b")', "true"),
          ('stringListIMember("c","a,b")', "false"),
          prepare=_MEMBER_FOLDED.prepare),
    plain("stringListSubsetMatch", "stringListSubsetMatch(one, other[, separators])",
          "Whether every item of one is in other.",
          _SUBSET.call, ('stringListSubsetMatch("a","a,b")', "true"),
          ('stringListSubsetMatch("a,c","a,b")', "false"),
          prepare=_SUBSET.prepare),
    plain("stringListISubsetMatch", "stringListISubsetMatch(one, other[, separators])",
          "Whether every item of one is in other, without regard to case.",
          _SUBSET_FOLDED.call, ('stringListISubsetMatch("A","a,b")', "true"),
          ('stringListISubsetMatch("C","a,b")', "false"),
          prepare=_SUBSET_FOLDED.prepare),
    plain("stringListsIntersect", "stringListsIntersect(one, other[, separators])",
          "Whether the lists have an item in common.",
          intersect, ('stringListsIntersect("a,b","b,c")', "true"),
          ('stringListsIntersect("a","b,c")', "false")),
    strict("stringList_regexpMember",
           "stringList_regexpMember(pattern, list[, separators[, options]])",
           "Whether the pattern matches one of the items.",
           regexp_member, ('stringList_regexpMember("^b","ab,ba")', "true"),
           ('stringList_regexpMember("^c","ab,ba")', "false")),
)
# fmt: on
