"""Patterns. They are Perl's (`kettle.patterns.perl`), and see the bytes of UTF-8, not letters.

Options: `i` without regard to case, `m` ^ and $ at every line, `s` dot matches newline, `x`
blanks in the pattern mean nothing; for substitution `f` the rest of the text too, `g` every match.
Letters that mean nothing are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from sys import getsizeof
from typing import Final, Protocol, TypeVar

from kettle.classad.context import AMBIENT
from kettle.classad.functions.convert import elements_of, error_or_undefined
from kettle.classad.functions.table import (
    FREE,
    LONGEST_SHORT,
    Free,
    Function,
    Prepared,
    StrictCall,
    strict,
)
from kettle.classad.state import PATTERN_SECONDS, PATTERN_STEPS, State
from kettle.classad.values import ERROR, UNDEFINED, ExprList, Value
from kettle.patterns.perl import compile_perl
from kettle.patterns.shape import Shape, shape_of
from kettle.remembered import Allowance, Answers, Memory

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_GROUP: Final = re.compile(rb"\\([0-9])")
# Limit: a pattern longer than this is ERROR.
_MAX_PATTERN: Final = 65_536
# Limit: so is one that takes more bytes than this when it is compiled. Any other must be
# remembered: an expression is evaluated for thousands of slots.
_LARGEST_COMPILED: Final = 1280 * 1024
# Limit: the bytes of the compiled patterns that are remembered, of those among them of which it is
# known how long they may take, and of what is known of those that are too slow.
_MOST_COMPILED: Final = 6 * 1024 * 1024
_MOST_JUDGED: Final = 1024 * 1024
_MOST_SLOW: Final = 512 * 1024
_SLOW_BYTES: Final = 300
# What Python keeps of a group that has a name.
_NAME_BYTES: Final = 200
# Limit: steps of a search, a few nanoseconds each, that is not timed: to set the timer takes longer
# than what most patterns do.
_UNTIMED_STEPS: Final = 500_000
# Texts from this many bytes on are long ones.
_LONG_TEXT: Final = 4096
# What a match counts as beside what it becomes.
_MATCH_BYTES: Final = 64

_T = TypeVar("_T")


class Purse(Protocol):
    """What the patterns of one question draw their time from; the state of an evaluation is one."""

    pattern_seconds: float
    # What those that are not timed may still do.
    pattern_steps: int


class _OwnPurse:
    """The time of patterns that belong to no evaluation."""

    __slots__ = ("pattern_seconds", "pattern_steps")

    def __init__(self) -> None:
        self.pattern_seconds = PATTERN_SECONDS
        self.pattern_steps = PATTERN_STEPS


def compile_pattern(
    pattern: str, options: str, purse: Purse | None = None
) -> re.Pattern[bytes] | None:
    """Return the compiled pattern, None if it is none, or takes too long to compile."""
    key = pattern, _flags[options] if options else 0
    found = _find_compiled(key)
    if found is None and len(pattern) <= _MAX_PATTERN and key not in _compiled:
        purse = _OwnPurse() if purse is None else purse
        had_time = _has_time(purse)
        try:
            found = _SEARCHING.bounded(lambda: _compile(*key), purse)
        except TimeoutError:
            if not had_time:
                return None
        finally:
            _python.count(len(pattern))
        cost = 0 if found is None else _pattern_bytes(found)
        if cost > _LARGEST_COMPILED:
            found, cost = None, 0
        _compiled.keep(key, found, getsizeof(key) + getsizeof(pattern) + cost)
    return found


def _add_up(options: str) -> int:
    # The letters of Perl's that are the same whatever their case are none.
    return sum(
        _FLAGS[letter] for letter in _FLAGS if letter in options or letter.upper() in options
    )


# Limit: the bytes of the options that are remembered.
_flags: Final = Answers(_add_up, 16 * 1024)


def _compile(pattern: str, flags: int) -> re.Pattern[bytes] | None:
    try:
        return compile_perl(pattern.encode("utf-8", "surrogateescape"), flags)
    except (re.error, OverflowError, RecursionError):
        return None


def _has_time(purse: Purse) -> bool:
    """Tell whether what does not end in the time that is left is too slow by itself."""
    return purse.pattern_seconds >= PATTERN_SECONDS / 2


def _pattern_bytes(pattern: re.Pattern[bytes]) -> int:
    """Return what a compiled pattern takes in memory."""
    names = _NAME_BYTES * len(pattern.groupindex) + 8 * pattern.groups
    return getsizeof(pattern) + getsizeof(pattern.pattern) + names


class _PythonsOwn:
    """What Python remembers of patterns by itself: the last 512, however long they are."""

    __slots__ = ("characters",)
    # Limit: characters of patterns after which it has to forget them; what is compiled is up to
    # twenty times as long.
    most: Final = 64 * 1024

    def __init__(self) -> None:
        self.characters = 0

    def count(self, characters: int) -> None:
        """Take note of a pattern that was compiled."""
        self.characters += characters
        if self.characters > self.most:
            re.purge()
            self.characters = 0


_python: Final = _PythonsOwn()
_compiled: Final[Memory[tuple[str, int], re.Pattern[bytes] | None]] = Memory(
    Allowance(_MOST_COMPILED, largest=_MOST_COMPILED // 2)
)
_find_compiled: Final = _compiled.get


class Bound(Protocol):
    """Calls what searches, and returns what that returns."""

    def __call__(self, search: Callable[[], _T], purse: Purse) -> _T:
        """Take its time out of the purse; raise TimeoutError where there is too little."""


def unbounded(search: Callable[[], _T], purse: Purse) -> _T:
    """Call it without a bound, where the process has none to be installed."""
    install, AMBIENT.install_bound = AMBIENT.install_bound, None
    if install is None:
        return search()
    install()
    return _SEARCHING.bounded(search, purse)


class _Searching:
    """Holds the bound for patterns that may backtrack without end."""

    __slots__ = ("bounded", "too_slow")

    def __init__(self) -> None:
        self.bounded: Bound = unbounded
        # With the kind of texts, so that long ones from a peer spoil no pattern of the policy.
        self.too_slow: Memory[tuple[int, int, str], None] = Memory(Allowance(_MOST_SLOW))


_SEARCHING: Final = _Searching()


def set_bound(bound: Bound) -> None:
    """Install the bound of daemons, which raises TimeoutError where a search takes too long."""
    _SEARCHING.bounded = bound


_shapes: Final = Answers(shape_of, _MOST_JUDGED, _pattern_bytes)


def _is_quick(purse: Purse, shape: Shape | None, length: int) -> bool:
    """Tell whether a search cannot take long enough to be timed, and count what it may take."""
    if shape is None:
        return False
    steps = shape.factor * length**shape.degree
    if steps > _UNTIMED_STEPS:
        return False
    purse.pattern_steps -= steps
    return purse.pattern_steps >= 0


def _search(
    purse: Purse, pattern: re.Pattern[bytes], shape: Shape | None, raw: bytes
) -> re.Match[bytes] | None:
    """Search; TimeoutError where that takes too long, from then on at once.

    `shape` is that of the pattern, looked for once for many searches: that reads all of it.
    """
    if _is_quick(purse, shape, len(raw)):
        return pattern.search(raw)
    return _bounded(purse, pattern, _kind("one", len(raw)), lambda: pattern.search(raw))


def search_in_time(pattern: re.Pattern[bytes], raw: bytes) -> re.Match[bytes] | None:
    """Search; TimeoutError where that takes too long, which is not remembered.

    For a pattern of the administrator's own and texts of strangers: one of them must not spoil it
    for all others.
    """
    return _SEARCHING.bounded(lambda: pattern.search(raw), _OwnPurse())


def matching(pattern: re.Pattern[bytes], texts: Sequence[str]) -> list[str]:
    """Return the texts in which the pattern matches somewhere.

    TimeoutError where all of them together take longer than one search may, from then on at once.
    """
    kind = _kind("many", sum(map(len, texts)))
    return _bounded(
        _OwnPurse(),
        pattern,
        kind,
        lambda: [text for text in texts if pattern.search(_bytes(text))],
    )


def matches_any(purse: Purse, pattern: re.Pattern[bytes], texts: Sequence[str]) -> bool:
    """Tell whether the pattern matches in one of the texts, up to the first; see `matching`."""
    kind = _kind("many", sum(map(len, texts)))
    return _bounded(
        purse, pattern, kind, lambda: any(pattern.search(_bytes(text)) for text in texts)
    )


def _kind(number: str, size: int) -> str:
    return f"{number} long" if size >= _LONG_TEXT else number


def _bounded(purse: Purse, pattern: re.Pattern[bytes], kind: str, search: Callable[[], _T]) -> _T:
    slow = _SEARCHING.too_slow
    if slow and _slow_key(pattern, kind) in slow:
        raise TimeoutError
    had_time = _has_time(purse)
    try:
        return _SEARCHING.bounded(search, purse)
    except TimeoutError:
        if not had_time:
            # The others of the same evaluation took the time: this one may be innocent.
            raise
        slow.keep(_slow_key(pattern, kind), None, _SLOW_BYTES)
        raise


def _slow_key(pattern: re.Pattern[bytes], kind: str) -> tuple[int, int, str]:
    # By their hashes, which no stranger can make equal: what is slow may be long, too.
    return hash(pattern.pattern), pattern.flags, kind


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


def regexp(state: State, values: list[Value]) -> Value:
    """`regexp(pattern, text[, options])`."""
    if len(values) not in (2, 3):
        return ERROR
    special = error_or_undefined(values)
    if special is not None:
        return special
    pattern, text = values[0], values[1]
    options = values[2] if len(values) == 3 else ""
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return ERROR
    compiled = compile_pattern(pattern, options, state)
    if compiled is None:
        return ERROR
    return _search(state, compiled, _shapes[compiled], _bytes(text)) is not None


# Limit: the steps of a search that nobody counts, of which an expression may have as many as it has
# calls; the bytes of its pattern, which is kept with the expression; the characters of a text that
# is worth it.
_FEW_STEPS: Final = 25_000
_SMALL_COMPILED: Final = 4096
_WORTH: Final = 100


def prepare_regexp(values: Sequence[Value | Free]) -> Prepared | None:
    """Return the function of a text, where the pattern is known and every search is a quick one.

    Only of what is compiled already: who evaluates it pays for that, out of the evaluation's purse.
    """
    if len(values) not in (2, 3) or values[1] is not FREE:
        return None
    pattern, options = values[0], values[2] if len(values) == 3 else ""
    if not (isinstance(pattern, str) and isinstance(options, str)):
        return None
    compiled = _find_compiled((pattern, _flags[options] if options else 0))
    shape = None if compiled is None else _shapes.get(compiled)
    if compiled is None or shape is None or (size := _pattern_bytes(compiled)) > _SMALL_COMPILED:
        return None
    longest = LONGEST_SHORT
    # A character has up to four bytes.
    while longest > _WORTH and shape.factor * (4 * longest) ** shape.degree > _FEW_STEPS:
        longest //= 2
    if longest <= _WORTH:
        return None
    search = compiled.search

    def call(text: Value) -> Value:
        if type(text) is str:
            return search(text.encode("utf-8", "surrogateescape")) is not None
        return UNDEFINED if text is UNDEFINED else ERROR

    return Prepared(call, longest, size)


def regexp_member(state: State, values: list[Value]) -> Value:
    """`regexpMember(pattern, list[, options])`."""
    if len(values) not in (2, 3):
        return ERROR
    special = error_or_undefined(values)
    if special is not None:
        return special
    pattern, items = values[0], values[1]
    options = values[2] if len(values) == 3 else ""
    if not (isinstance(pattern, str) and isinstance(items, ExprList) and isinstance(options, str)):
        return ERROR
    # What is no pattern matches nothing here.
    compiled = compile_pattern(pattern, options, state)
    shape = None if compiled is None else _shapes[compiled]
    result: Value = False
    for item in elements_of(state, items):
        if item is UNDEFINED:
            result = UNDEFINED
        elif not isinstance(item, str):
            return ERROR
        elif compiled is not None and _search(state, compiled, shape, _bytes(item)):
            return True
    return result


def substitute(state: State, pattern: str, text: str, template: str, options: str) -> Value:
    """Return the template with the groups of the match filled in; ERROR if one is missing."""
    compiled = compile_pattern(pattern, options, state)
    if compiled is None:
        return ERROR
    raw, form = _bytes(text), _bytes(template)
    if _is_quick(state, _shapes[compiled], len(raw)):
        return _substituted(state, compiled, raw, form, options)
    return _bounded(
        state,
        compiled,
        _kind("many" if "g" in options else "one", len(raw)),
        lambda: _substituted(state, compiled, raw, form, options),
    )


def _substituted(
    state: State, compiled: re.Pattern[bytes], raw: bytes, form: bytes, options: str
) -> Value:
    whole, everywhere = "f" in options, "g" in options
    pieces: list[bytes] = []
    position = 0
    was_empty = False
    for found in compiled.finditer(raw):
        if was_empty and found.start() > position:
            pieces.append(raw[position : position + 1])
            position += 1
        filled = _fill(state, form, found)
        if filled is None or not state.charge(_MATCH_BYTES + len(filled)):
            return ERROR
        if whole:
            pieces.append(raw[position : found.start()])
        pieces.append(filled)
        position = found.end()
        was_empty = position == found.start()
        if not everywhere:
            break
    if everywhere and was_empty:
        if position == len(raw):
            # Source: observed, an empty match at the end is an error where all are wanted.
            return ERROR
        pieces.append(raw[position : position + 1])
        position += 1
    if whole:
        pieces.append(raw[position:])
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def _fill(state: State, form: bytes, found: re.Match[bytes]) -> bytes | None:
    """Return the template with its groups; one before the last that took part may be empty."""
    pieces: list[bytes] = []
    position = 0
    last = max((one for one in range(found.re.groups + 1) if found.start(one) >= 0), default=0)
    for reference in _GROUP.finditer(form):
        number = int(reference.group(1))
        text = (found.group(number) or b"") if number <= last else None
        if text is None or not state.charge(len(text)):
            return None
        pieces += [form[position : reference.start()], text]
        position = reference.end()
    return b"".join(pieces) + form[position:]


def _substitution(fixed: str) -> StrictCall:
    def call(state: State, values: list[Value]) -> Value:
        if len(values) not in (3, 4):
            return ERROR
        special = error_or_undefined(values)
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
           _in_time(regexp), ('regexp("^slot[0-9]+@","slot1@h")', "true"),
           ('regexp("LINUX","linux","i")', "true"), ('regexp("^l","Linux")', "false"),
           prepare=prepare_regexp),
    strict("regexpMember", "regexpMember(pattern, list[, options])",
           "Whether the pattern matches one of the texts in the list.",
           _in_time(regexp_member), ('regexpMember("^b",{ "abc","bcd" })', "true"),
           ('regexpMember("x",{ "abc","bcd" })', "false"),
           ('regexpMember("B$",{ "ab" },"i")', "true")),
    strict("regexps", "regexps(pattern, text, template[, options])",
           "The template with \\\\1 … replaced by what the groups matched; empty if no match.",
           _in_time(_substitution("")), ('regexps("(.*)@(.*)","u@h","\\\\2:\\\\1")', '"h:u"'),
           ('regexps("x","abc","\\\\0")', '""')),
    strict("replace", "replace(pattern, text, template[, options])",
           "The text with the first match replaced by the template.",
           _in_time(_substitution("f")), ('replace("b","abcb","X")', '"aXcb"'),
           ('replace("x","abcb","X")', '"abcb"'), ('replace("(b)","abcb","<\\\\1>")', '"a<b>cb"')),
    strict("replaceAll", "replaceAll(pattern, text, template[, options])",
           "The text with every match replaced by the template.",
           _in_time(_substitution("fg")), ('replaceAll("b","abcb","X")', '"aXcX"'),
           ('replaceAll("[ac]","abcb","")', '"bb"')),
)
# fmt: on
