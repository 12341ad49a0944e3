"""Expressions as ads print them: parsed once for all that differ in strings alone.

Where an item stands in an expression it stands in a string most often (`Machine != "$(name)"`).
What is printed of one is then what is printed of another, with the other string in its place.
"""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, Final

from kettle.classad import parse_expression, unparse
from kettle.classad.text import is_long_formula
from kettle.errors import ClassAdSyntaxError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Iterable

# The first of the characters that stand for strings: Unicode leaves them to private use.
_FIRST_SIGN = 0x100000
# Limit: the strings of one expression for which others of its kind are remembered.
_MOST_STRINGS = 100
# Around strings: what may be no string's end, and what is selected from something that is worked
# out, so that it may depend on one.
_UNFIT = late_pattern("['\\[\0\U00100000-\U0010fffd]|//|/\\*|\\)\\s*\\.|\"\\s*\\.")
# Limit: the bytes of the expressions that are remembered, with what becomes of them.
_REMEMBERED = 1024 * 1024


class _Kind(NamedTuple):
    """What expressions have in common that differ in strings: a form to fill them in, and one."""

    form: str
    example: str


def normalize(text: str) -> str:
    """Return an expression as ads print it; raise ClassAdSyntaxError."""
    code, strings = _apart(text)
    kind = _kinds[code] if strings else None
    return _normal[text] if kind is None else kind.form % strings


def asked_names(text: str) -> frozenset[str]:
    """Return the attributes that an expression asks for, as they are written, `MY.` taken off.

    `TARGET.` stays. No names where it does not parse or is too long to. What is selected from an
    ad that has it is not asked for. Source: dry runs of 25.14.1 (test_mentions.py).
    """
    if not text or is_long_formula(text):
        return frozenset()
    code, strings = _apart(text)
    kind = _kinds[code] if strings else None
    if kind is not None:
        return _asked[kind.example]
    try:
        return _names_in(text)
    except ClassAdSyntaxError:
        return frozenset()


def has_in_strings(text: str, signs: Iterable[str]) -> bool:
    """Tell whether signs stand in strings of an expression alone, and nothing depends on them."""
    code, strings = _apart(text)
    if not strings or any(sign in code for sign in signs):
        return False
    return _kinds[code] is not None


def _apart(text: str) -> tuple[str, tuple[str, ...]]:
    """Return an expression without what stands in its strings, and that; nothing where in doubt."""
    parts = text.split('"')
    if len(parts) % 2 == 0 or "\\" in text or "\0" in text:
        return text, ()
    return '"'.join(parts[::2]), tuple(parts[1::2])


def _names_in(text: str) -> frozenset[str]:
    from kettle.classad.references import find_references  # for those alone who ask for something

    return frozenset(find_references(parse_expression(text, old=True), None)[1])


def _kind_of(code: str) -> _Kind | None:
    """Return what expressions have in common with these parts around their strings.

    None where that depends on the strings.
    """
    parts = code.split('"')
    if len(parts) > _MOST_STRINGS or _UNFIT.search(code) or is_long_formula(code):
        return None
    signs = [chr(_FIRST_SIGN + number) for number in range(len(parts) - 1)]
    marked = parts[0] + "".join(
        f'"{sign}"{part}' for sign, part in zip(signs, parts[1:], strict=True)
    )
    try:
        printed = unparse(parse_expression(marked, old=True), old=True)
    except ClassAdSyntaxError:
        return None
    if [letter for letter in printed if letter >= signs[0]] != signs:
        return None
    form = printed.replace("%", "%%")
    for sign in signs:
        form = form.replace(sign, "%s")
    return _Kind(form, marked)


def _cost(text: str) -> int:
    return 3 * getsizeof(text)


_normal: Final[Answers[str, str]] = Answers(
    lambda text: unparse(parse_expression(text, old=True), old=True), _REMEMBERED, cost=_cost
)
_kinds: Final[Answers[str, _Kind | None]] = Answers(_kind_of, _REMEMBERED, cost=_cost)
_asked: Final[Answers[str, frozenset[str]]] = Answers(_names_in, _REMEMBERED, cost=_cost)
