"""How long a search can take at most, by the shape of its pattern.

Python's patterns backtrack: what can match in several ways is tried in all of them. Two repetitions
of which each may take what the other does are tried at every place where the one could end and the
other begin; a repetition within a repetition has no bound of that kind at all. Most patterns that
people write are not so: what follows a repetition cannot be taken by it (`[^@]+@`), or there is one
repetition only. For these the steps of a search are at most `factor * length ** degree`.

What a pattern is made of is read from the tree that Python's own compiler makes of it, and anything
in it that is not known here has no bound.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any, Final

from kettle.named_tuples import NamedTuple

# The parser has no public name; where another Python has none at all, no pattern has a bound.
try:
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover
    _parser = None

# Limit: a longer pattern is not looked at.
_LONGEST: Final = 1000
# Limit: no bound is a higher power of the length, or has a greater factor.
_MOST_DEGREE: Final = 3
_MOST_FACTOR: Final = 4096
# Up to so many times something is repeated a number of times, not as often as the text is long.
_FEW: Final = 8

# Sets of bytes are integers with a bit for each.
_ALL: Final = (1 << 256) - 1


def _bits(members: bytes | range) -> int:
    return sum(1 << each for each in set(members))


_CATEGORIES: Final = {
    "CATEGORY_DIGIT": _bits(b"0123456789"),
    "CATEGORY_SPACE": _bits(b" \t\n\r\f\v"),
    "CATEGORY_WORD": _bits(bytes(each for each in range(128) if chr(each).isalnum()) + b"_"),
}


class Shape(NamedTuple):
    """A search takes at most `factor * length ** degree` steps in a text of `length` bytes."""

    degree: int
    factor: int


class _UnboundedError(Exception):
    """There is something in the pattern for which no bound is known."""


class _Rest(NamedTuple):
    """What is left of a pattern behind a place in it.

    `first` are the bytes that it can begin with, `empty` says that it may match nothing, `sure`
    that it matches wherever it is tried; `degree` and `factor` bound what one try takes.
    """

    first: int
    empty: bool
    sure: bool
    degree: int
    factor: int


def shape_of(pattern: re.Pattern[bytes]) -> Shape | None:
    """Return how long a search can take at most, None where no bound is known."""
    if _parser is None or len(pattern.pattern) > _LONGEST or pattern.flags & re.LOCALE:
        return None
    try:
        with warnings.catch_warnings():
            # As in `perl.py`: what some day may be read otherwise.
            warnings.simplefilter("ignore", FutureWarning)
            tree = _parser.parse(pattern.pattern, pattern.flags)
        rest = _before(tree, _Rest(0, empty=True, sure=True, degree=0, factor=1))
    except (_UnboundedError, re.error, RecursionError, OverflowError):
        return None
    starts = 0 if _is_anchored(tree, pattern.flags) else 1
    shape = Shape(max(rest.degree + starts, 1), rest.factor)
    return None if shape.degree > _MOST_DEGREE or shape.factor > _MOST_FACTOR else shape


def _before(items: Sequence[Any], rest: _Rest) -> _Rest:
    """Return what is left of a pattern where these items stand before the rest."""
    for operation, argument in reversed(items):
        rest = _item(str(operation), argument, rest)
        if rest.factor > _MOST_FACTOR:
            raise _UnboundedError
    return rest


def _item(name: str, argument: Any, rest: _Rest) -> _Rest:
    one = _single(name, argument)
    if one is not None:
        return _Rest(one, empty=False, sure=False, degree=rest.degree, factor=rest.factor + 1)
    if name == "AT":
        return rest._replace(sure=False, factor=rest.factor + 1)
    if name == "SUBPATTERN":
        return _before(argument[3], rest)
    if name == "BRANCH":
        return _one_of([_before(branch, rest) for branch in argument[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, body = argument
        return _repeated(least, most, body, rest)
    raise _UnboundedError


def _one_of(branches: list[_Rest]) -> _Rest:
    """Return what is left where one of several things follows."""
    factors = [branch.factor for branch in branches]
    first = 0
    apart = not any(branch.empty for branch in branches)
    for branch in branches:
        apart = apart and not first & branch.first
        first |= branch.first
    return _Rest(
        first,
        empty=any(branch.empty for branch in branches),
        sure=False,
        degree=max(branch.degree for branch in branches),
        # Where no two begin alike, at most one of them gets further than its first byte.
        factor=max(factors) + len(factors) if apart else sum(factors) + 1,
    )


def _repeated(least: int, most: Any, body: Sequence[Any], rest: _Rest) -> _Rest:
    one = _single_of(body)
    if (least, most) == (0, 1):
        return _one_of([_before(body, rest), rest])
    if one is None:
        raise _UnboundedError
    again = _Rest(
        one | (rest.first if least == 0 else 0),
        empty=least == 0 and rest.empty,
        sure=False,
        degree=rest.degree,
        factor=rest.factor + 1 + least,
    )
    if least == most:
        return again
    # Then it goes on only where the repetition has taken all it can.
    once = rest.sure or not (one & rest.first or rest.empty)
    span = int(most) - least
    if span <= _FEW:
        return again._replace(factor=again.factor + span if once else again.factor * (span + 1))
    return again._replace(degree=max(1, rest.degree) if once else rest.degree + 1)


def _single_of(body: Sequence[Any]) -> int | None:
    """Return the bytes of which the body takes one; None if it is anything else."""
    if len(body) != 1:
        return None
    operation, argument = body[0]
    return _single(str(operation), argument)


def _single(name: str, argument: Any) -> int | None:
    """Return the bytes, or more than those, of which the item takes one; None if it takes others.

    A letter stands for both cases, a set of all but it for all but the one.
    """
    if name == "LITERAL":
        return _both_cases(1 << int(argument))
    if name == "NOT_LITERAL":
        return _ALL & ~(1 << int(argument))
    if name == "ANY":
        # With the ends of lines: what follows may be asked under other options.
        return _ALL
    return _set(argument) if name == "IN" else None


def _set(members: Sequence[Any]) -> int:
    found = 0
    negated = False
    for operation, argument in members:
        name = str(operation)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found |= 1 << argument
        elif name == "RANGE":
            found |= _bits(range(argument[0], argument[1] + 1))
        elif name == "CATEGORY":
            category = str(argument)
            bits = _CATEGORIES.get(category.replace("_NOT_", "_"))
            if bits is None:
                raise _UnboundedError
            found |= _ALL & ~bits if "_NOT_" in category else bits
        else:
            raise _UnboundedError
    return _ALL & ~found if negated else _both_cases(found)


def _both_cases(members: int) -> int:
    upper = members >> 65 & 0x3FFFFFF
    lower = members >> 97 & 0x3FFFFFF
    return members | (upper | lower) << 65 | (upper | lower) << 97


def _is_anchored(items: Sequence[Any], flags: int) -> bool:
    """Return whether the pattern can match nowhere but at the beginning of the text."""
    while items:
        operation, argument = items[0]
        if str(operation) == "AT":
            where = str(argument)
            beginning = where == "AT_BEGINNING" and not flags & re.MULTILINE
            return beginning or where == "AT_BEGINNING_STRING"
        if str(operation) != "SUBPATTERN" or argument[1]:
            return False
        items = argument[3]
    return False
