"""Looks behind at something of varying width, as several looks at something of one width each.

Perl's library looks behind at `a{1,3}`; Python at what is always equally long. So each width there
can be is written out: `a|aa|aaa`. What is looked at is read from the tree of Python's own compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

try:
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover
    _parser = None

# The widest that anything of varying width may be, in bytes. Source: observed of 25.14, it is the
# default of PCRE2.
_WIDEST: Final = 255
# Limit: bytes of all that is written out for one branch.
_MOST_WRITTEN: Final = 65_536

_PLACES: Final = {
    "AT_BEGINNING": b"^",
    "AT_BEGINNING_STRING": rb"\A",
    "AT_BOUNDARY": rb"\b",
    "AT_NON_BOUNDARY": rb"\B",
    "AT_END": b"$",
    "AT_END_STRING": rb"\Z",
}
_CATEGORIES: Final = {
    "CATEGORY_DIGIT": rb"\d",
    "CATEGORY_NOT_DIGIT": rb"\D",
    "CATEGORY_SPACE": rb"\s",
    "CATEGORY_NOT_SPACE": rb"\S",
    "CATEGORY_WORD": rb"\w",
    "CATEGORY_NOT_WORD": rb"\W",
}
_LETTERS: Final = {re.IGNORECASE: b"i", re.MULTILINE: b"m", re.DOTALL: b"s"}

# What there is to look at, by its width.
_Widths = dict[int, list[bytes]]


def by_width(branch: bytes, *, verbose: bool) -> list[bytes]:
    """Return patterns of one width each that together match what the branch does.

    To be called where warnings of what Python may read otherwise some day are not heard.
    One that Python can look behind at stays what it is, as does what is no pattern by itself.
    Raises re.error for what has no greatest width, or too many, or is remembered as a group: each
    width would be a group of its own.
    """
    try:
        tree = _parser.parse(branch, re.VERBOSE if verbose else 0)
    except (re.error, AttributeError):
        return [branch]
    least, most = tree.getwidth()
    if least == most:
        return [branch]
    if most > _WIDEST:
        raise re.error("branch too long in variable-length lookbehind assertion")
    return [b"|".join(texts) for _, texts in sorted(_sequence(tree).items())]


def _sequence(items: Iterable[tuple[Any, Any]]) -> _Widths:
    widths: _Widths = {0: [b""]}
    for operation, argument in items:
        widths = _joined(widths, _item(str(operation), argument))
    return widths


def _joined(left: _Widths, right: _Widths) -> _Widths:
    if _size(left) * _size(right) > _MOST_WRITTEN:
        raise re.error("too much to look behind at")
    joined: _Widths = {}
    for one, texts in left.items():
        for other, more in right.items():
            made = [text + end for text in texts for end in more]
            joined.setdefault(one + other, []).extend(made)
    return joined


def _size(widths: _Widths) -> int:
    """Return what is written, a text of nothing as one byte."""
    return sum(len(text) or 1 for texts in widths.values() for text in texts)


def _item(name: str, argument: Any) -> _Widths:
    one = _single(name, argument)
    if one is not None:
        return {1: [one]}
    if name == "AT" and str(argument) in _PLACES:
        return {0: [_PLACES[str(argument)]]}
    if name == "SUBPATTERN" and argument[0] is None:
        return _under(argument[1], argument[2], _sequence(argument[3]))
    if name == "ATOMIC_GROUP":
        return _sequence(argument)
    if name == "BRANCH":
        return _any_of([_sequence(branch) for branch in argument[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, body = argument
        return _repeated(least, most, _sequence(body))
    raise re.error("a look behind at something of varying width has nothing like it in Python")


def _under(on: int, off: int, widths: _Widths) -> _Widths:
    """Return what holds under options of its own."""
    if not on and not off:
        return widths
    options = _letters(on) + (b"-" + _letters(off) if off else b"")
    return {
        width: [b"(?" + options + b":" + text + b")" for text in texts]
        for width, texts in widths.items()
    }


def _letters(flags: int) -> bytes:
    return b"".join(letter for flag, letter in _LETTERS.items() if flags & flag)


def _any_of(branches: Sequence[_Widths]) -> _Widths:
    together: _Widths = {}
    for branch in branches:
        for width, texts in branch.items():
            together.setdefault(width, []).extend(texts)
        if _size(together) > _MOST_WRITTEN:
            raise re.error("too much to look behind at")
    return together


def _repeated(least: int, most: int, body: _Widths) -> _Widths:
    if len(body) == 1:
        [(width, texts)] = body.items()
        one = b"(?:" + b"|".join(texts) + b")"
        if not width:
            # What holds at a place holds there however often it is asked; what may be left out asks
            # nothing.
            return {0: [one if least else b""]}
        return {width * times: [one + b"{%d}" % times] for times in range(least, most + 1)}
    found: _Widths = {}
    made: _Widths = {0: [b""]}
    for times in range(most + 1):
        if times >= least:
            found = _any_of([found, made])
        if times < most:
            made = _joined(made, body)
    return found


def _single(name: str, argument: Any) -> bytes | None:
    """Return what takes one byte as it is written; None for anything else."""
    if name == "LITERAL":
        return b"\\x%02x" % argument
    if name == "NOT_LITERAL":
        return b"[^\\x%02x]" % argument
    if name == "ANY":
        return b"."
    return b"[" + b"".join(_members(argument)) + b"]" if name == "IN" else None


def _members(members: Sequence[tuple[Any, Any]]) -> list[bytes]:
    written = []
    for operation, argument in members:
        name = str(operation)
        if name == "NEGATE":
            written.append(b"^")
        elif name == "LITERAL":
            written.append(b"\\x%02x" % argument)
        elif name == "RANGE":
            written.append(b"\\x%02x-\\x%02x" % argument)
        else:
            written.append(_CATEGORIES[str(argument)])
    return written
