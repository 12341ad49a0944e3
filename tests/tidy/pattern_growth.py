"""Which patterns of the source take time that grows with the square of a text, or worse.

A pattern is tried on texts that repeat what it speaks of: its own letters, one of each of its
classes, and pairs of them. No structure is guessed at, so a pattern that is quadratic only for
words of three letters is not found; `tests/unit/test_linear_time.py` has the texts that somebody
thought of.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from kettle.patterns import LatePattern

SOURCE = Path(importlib.import_module("kettle").__path__[0])
# How often a word is repeated: at first what costs nothing, then what tells a square from a line.
SHORT, LONG = 3_000, 24_000
# Seconds of processor time. A square takes 4 to 80 ms at the short length, and seconds at the long
# one; what grows with the length takes half a millisecond and three.
SUSPICIOUS, TOO_LONG = 0.002, 0.5
# Limit: so many letters of a pattern are paired; those of long lists of words say nothing new.
MOST_LETTERS = 10
_FUNCTIONS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
_BLANKS_DIGITS_LETTERS = (" ", "0", "a")


@dataclass(frozen=True)
class Found:
    """A pattern of the source: where it stands, what it is called, and how it is used."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


def patterns_of_source() -> Iterator[Found]:
    """Yield the patterns that modules and their classes hold, and those inside functions."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        if path.stem == "__main__" or ("re." not in text and "late_pattern" not in text):
            continue
        inner = path.relative_to(SOURCE).with_suffix("")
        module = importlib.import_module(
            ".".join(("kettle", *inner.parts)).removesuffix(".__init__")
        )
        yield from _held(module, text, str(inner))
        yield from _written(ast.parse(text), str(inner))


def _held(module: Any, text: str, place: str) -> Iterator[Found]:
    holders = [module]
    holders += [
        each
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    ]
    for holder in holders:
        for name, value in list(vars(holder).items()):
            defined = re.search(rf"^\s*{re.escape(name)}\b[^=\n]*=", text, re.MULTILINE)
            if isinstance(value, re.Pattern | LatePattern) and defined:
                used = set(re.findall(rf"\b{re.escape(name)}\.(\w+)\b", text))
                methods = tuple(sorted(_kinds(used))) or ("search",)
                pattern = (
                    value
                    if isinstance(value, re.Pattern)
                    else re.compile(value.pattern, value.flags)
                )
                yield Found(f"{place}:{name}", pattern, methods)


def _written(tree: ast.Module, place: str) -> Iterator[Found]:
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or not node.args
        ):
            continue
        of_module = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        first = node.args[0]
        if of_module and node.func.attr in _FUNCTIONS and isinstance(first, ast.Constant):
            yield Found(
                f"{place}:{first.value!r}", re.compile(first.value), tuple(_kinds({node.func.attr}))
            )


def _kinds(used: set[str]) -> set[str]:
    """Return the ways of trying a pattern that differ in cost."""
    kinds = used & {"match", "fullmatch"}
    return kinds | ({"search"} if used & {*_FUNCTIONS} - kinds else set())


def growing_texts(found: Found) -> Iterator[str]:
    """Yield for each way of use the first text by which a pattern shows that it is not linear."""
    for method in found.methods:
        attempt = getattr(found.pattern, method)
        for words in _words(found.pattern):
            if _seconds(attempt, found.pattern, words, SHORT) < SUSPICIOUS:
                continue
            # Once more, as something else may have run meanwhile; then the length that tells.
            if _seconds(attempt, found.pattern, words, SHORT) < SUSPICIOUS:
                continue
            if all(_seconds(attempt, found.pattern, words, LONG) > TOO_LONG for _ in range(2)):
                yield f"{method} of {words[0]!r} + {words[1]!r} * n + {words[2]!r}"
                break


def _seconds(
    attempt: Callable[[Any], object],
    pattern: re.Pattern[Any],
    words: tuple[str, str, str],
    times: int,
) -> float:
    text: Any = words[0] + words[1] * times + words[2]
    if isinstance(pattern.pattern, bytes):
        text = text.encode()
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, 2 * TOO_LONG)
    began = time.process_time()
    try:
        attempt(text)
    except _TooLongError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - began


class _TooLongError(BaseException):
    """A pattern was still being tried after twice the time that is too long."""


def _stop(_number: int, _frame: object) -> None:
    raise _TooLongError


def _words(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    letters = list(dict.fromkeys([*_BLANKS_DIGITS_LETTERS, *_letters(pattern)]))[:MOST_LETTERS]
    pairs = [a + b for a, b in itertools.permutations(letters, 2)]
    for before in ("", *letters):
        for repeated in letters:
            yield before, repeated, "\x01"
    for repeated in pairs:
        yield "", repeated, "\x01"
        yield letters[-1], repeated, "\x01"


def _letters(pattern: re.Pattern[Any]) -> Iterator[str]:
    source = pattern.pattern
    tree = parser.parse(
        source, pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    )
    yield from _of_tree(tree)


def _of_tree(node: Any) -> Iterator[str]:
    if isinstance(node, parser.SubPattern | list):
        for each in node:
            yield from _of_tree(each)
    elif isinstance(node, tuple):
        operation, *rest = node
        if operation in (codes.LITERAL, codes.NOT_LITERAL) and rest[0] < 128:
            yield chr(rest[0])
        elif operation is codes.RANGE:
            yield chr(rest[0][0])
        else:
            for each in rest:
                yield from _of_tree(each)
