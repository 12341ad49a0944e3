"""Patterns. They are Perl's (`perl_patterns`), and see the bytes of UTF-8, not letters.

Options: `i` without regard to case, `m` ^ and $ at every line, `s` dot matches newline, `x`
blanks in the pattern mean nothing; for substitution `f` the rest of the text too, `g` every match.
Letters that mean nothing are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from kettle.classad.functions.convert import elements_of, first_special
from kettle.classad.functions.table import Function, StrictCall, strict
from kettle.classad.state import State
from kettle.classad.values import ERROR, UNDEFINED, ExprList, Value
from kettle.perl_patterns import compile_perl

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_GROUP: Final = re.compile(rb"\\([0-9])")
# Limit: a pattern longer than this is ERROR.
_MAX_PATTERN: Final = 65_536
# Limit: patterns remembered as too slow; when full, all are forgotten.
_MOST_SLOW: Final = 1000
# From this many bytes on even one repetition is bounded: it may cost their square.
_LONG_TEXT: Final = 4096
# What a match counts as beside what it becomes.
_MATCH_BYTES: Final = 64

_T = TypeVar("_T")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, options: str) -> re.Pattern[bytes] | None:
    """Return the compiled pattern, None if it is none."""
    if len(pattern) > _MAX_PATTERN:
        return None
    flags = 0
    for letter in options:
        # The letter of Perl's that are the same whatever their case are none.
        flags |= _FLAGS.get(letter.lower(), 0)
    try:
        return compile_perl(pattern.encode("utf-8", "surrogateescape"), flags)
    except (re.error, OverflowError, RecursionError):
        return None


class Bound(Protocol):
    """Calls what searches, and returns what that returns."""

    def __call__(self, search: Callable[[], _T]) -> _T:
        """Raise TimeoutError where it takes too long."""


def unbounded(search: Callable[[], _T]) -> _T:
    """Call it without a bound, as tools do: there it is the user's own time."""
    return search()


class _Searching:
    """Holds the bound for patterns that may backtrack without end."""

    __slots__ = ("bounded", "too_slow")

    def __init__(self) -> None:
        self.bounded: Bound = unbounded
        # With the kind of texts, so that long ones from a peer spoils no pattern of the policy.
        self.too_slow: set[tuple[re.Pattern[bytes], str]] = set()


_SEARCHING: Final = _Searching()


def set_bound(bound: Bound) -> None:
    """Install the bound of daemons, which raises TimeoutError where a search takes too long."""
    _SEARCHING.bounded = bound


@lru_cache(maxsize=1024)
def _may_backtrack(pattern: re.Pattern[bytes]) -> bool:
    """Tell whether there are repetitions enough to multiply each other."""
    repetitions = sum(map(pattern.pattern.count, (b"*", b"+", b"?", b"{")))
    return repetitions > 1 or (repetitions == 1 and b"|" in pattern.pattern)


def _search(pattern: re.Pattern[bytes], raw: bytes, start: int = 0) -> re.Match[bytes] | None:
    """Search; TimeoutError where that takes too long, from then on at once."""
    if len(raw) < _LONG_TEXT and not _may_backtrack(pattern):
        return pattern.search(raw, start)
    return _bounded(pattern, _kind("one", len(raw)), lambda: pattern.search(raw, start))


def search_in_time(pattern: re.Pattern[bytes], raw: bytes) -> re.Match[bytes] | None:
    """Search; TimeoutError where that takes too long, which is not remembered.

    For a pattern of the administrator's own and texts of strangers: one of them must not spoil it
    for all others.
    """
    return _SEARCHING.bounded(lambda: pattern.search(raw))


def matching(pattern: re.Pattern[bytes], texts: Sequence[str]) -> list[str]:
    """Return the texts in which the pattern matches somewhere.

    TimeoutError where all of them together take longer than one search may, from then on at once.
    """
    kind = _kind("many", sum(map(len, texts)))
    return _bounded(pattern, kind, lambda: [text for text in texts if pattern.search(_bytes(text))])


def matches_any(pattern: re.Pattern[bytes], texts: Sequence[str]) -> bool:
    """Tell whether the pattern matches in one of the texts, up to the first; see `matching`."""
    kind = _kind("many", sum(map(len, texts)))
    return _bounded(pattern, kind, lambda: any(pattern.search(_bytes(text)) for text in texts))


def _kind(number: str, size: int) -> str:
    return f"{number} long" if size >= _LONG_TEXT else number


def _bounded(pattern: re.Pattern[bytes], kind: str, search: Callable[[], _T]) -> _T:
    if (pattern, kind) in _SEARCHING.too_slow:
        raise TimeoutError
    try:
        return _SEARCHING.bounded(search)
    except TimeoutError:
        if len(_SEARCHING.too_slow) >= _MOST_SLOW:
            _SEARCHING.too_slow.clear()
        _SEARCHING.too_slow.add((pattern, kind))
        raise


def _in_time(call: StrictCall) -> StrictCall:
    """Make ERROR of a search that takes too long."""

    def bounded(state: State, values: list[Value]) -> Value:
        try:
            return call(state, values)
        except TimeoutError:
            return ERROR

    return bounded


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def regexp(_state: State, values: list[Value]) -> Value:
    """`regexp(pattern, text[, options])`."""
    if len(values) not in (2, 3):
        return ERROR
    special = first_special(values)
    if special is not None:
        return special
    pattern, text = values[0], values[1]
    options = values[2] if len(values) == 3 else ""
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return ERROR
    compiled = compile_pattern(pattern, options)
    return ERROR if compiled is None else _search(compiled, _bytes(text)) is not None


def regexp_member(state: State, values: list[Value]) -> Value:
    """`regexpMember(pattern, list[, options])`."""
    if len(values) not in (2, 3):
        return ERROR
    special = first_special(values)
    if special is not None:
        return special
    pattern, items = values[0], values[1]
    options = values[2] if len(values) == 3 else ""
    if not (isinstance(pattern, str) and isinstance(items, ExprList) and isinstance(options, str)):
        return ERROR
    compiled = compile_pattern(pattern, options)
    if compiled is None:
        return ERROR
    result: Value = False
    for item in elements_of(state, items):
        if item is UNDEFINED:
            result = UNDEFINED
        elif not isinstance(item, str):
            return ERROR
        elif _search(compiled, _bytes(item)):
            return True
    return result


def substitute(state: State, pattern: str, text: str, template: str, options: str) -> Value:
    """Return the template with the groups of the match filled in; ERROR if one is missing."""
    compiled = compile_pattern(pattern, options)
    if compiled is None:
        return ERROR
    whole, everywhere = "f" in options, "g" in options
    raw, form = _bytes(text), _bytes(template)
    pieces: list[bytes] = []
    position = 0
    found = _search(compiled, raw)
    while found is not None:
        filled = _fill(state, form, found)
        if filled is None or (everywhere and found.end() == found.start()):
            return ERROR
        if not state.charge(_MATCH_BYTES + len(filled)):
            return ERROR
        if whole:
            pieces.append(raw[position : found.start()])
        pieces.append(filled)
        position = found.end()
        found = _search(compiled, raw, position) if everywhere else None
    if whole:
        pieces.append(raw[position:])
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def _fill(state: State, form: bytes, found: re.Match[bytes]) -> bytes | None:
    pieces: list[bytes] = []
    position = 0
    for reference in _GROUP.finditer(form):
        number = int(reference.group(1))
        text = found.group(number) if number <= found.re.groups else None
        if text is None or not state.charge(len(text)):
            return None
        pieces += [form[position : reference.start()], text]
        position = reference.end()
    return b"".join(pieces) + form[position:]


def _substitution(fixed: str) -> StrictCall:
    def call(state: State, values: list[Value]) -> Value:
        if len(values) not in (3, 4):
            return ERROR
        special = first_special(values)
        if special is not None:
            return special
        pattern, text, template = values[:3]
        options = values[3] if len(values) == 4 else ""
        if not (isinstance(pattern, str) and isinstance(text, str)):
            return ERROR
        if not (isinstance(template, str) and isinstance(options, str)):
            return ERROR
        return substitute(state, pattern, text, template, options + fixed)

    return call


# fmt: off
PATTERNS: Final[tuple[Function, ...]] = (
    strict("regexp", "regexp(pattern, text[, options])",
           "Whether the pattern matches somewhere in the text.",
           _in_time(regexp), ('regexp("^slot[0-9]+@","slot1@h")', "true")),
    strict("regexpMember", "regexpMember(pattern, list[, options])",
           "Whether the pattern matches one of the texts in the list.",
           _in_time(regexp_member), ('regexpMember("^b",{ "abc","bcd" })', "true")),
    strict("regexps", "regexps(pattern, text, template[, options])",
           "The template with \\\\1 … replaced by what the groups matched; empty if no match.",
           _in_time(_substitution("")), ('regexps("(.*)@(.*)","u@h","\\\\2:\\\\1")', '"h:u"')),
    strict("replace", "replace(pattern, text, template[, options])",
           "The text with the first match replaced by the template.",
           _in_time(_substitution("f")), ('replace("b","abcb","X")', '"aXcb"')),
    strict("replaceAll", "replaceAll(pattern, text, template[, options])",
           "The text with every match replaced by the template.",
           _in_time(_substitution("fg")), ('replaceAll("b","abcb","X")', '"aXcX"')),
)
# fmt: on
