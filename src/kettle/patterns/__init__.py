"""Regular expressions that are compiled when they are first used.

A pattern takes a tenth of a millisecond to compile, and a tool that starts for one question has a
hundred of them in its modules and uses ten. A module says what its patterns are where it says
everything else; what is compiled is what a run needs.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")

# PCRE2's numbers for what is wrong with a pattern, by the words of `re` and of `patterns.perl`; the
# first that fits. Source: observed of HTCondor 25.14.1.
ERROR_NUMBERS = (
    ("bad escape (end of pattern)", 101),
    ("bad escape", 103),
    ("min repeat greater than max repeat", 104),
    ("number too big in {} quantifier", 105),
    ("unterminated character set", 106),
    ("bad character range", 108),
    ("nothing to repeat", 109),
    ("multiple repeat", 109),
    ("unknown extension ?<", 142),
    ("unknown extension", 111),
    ("unterminated subpattern", 114),
    ("invalid group reference", 115),
    ("there is no group", 115),
    ("unknown group name", 115),
    ("bad group number", 115),
    ("unexpected end of pattern", 114),
    ("unbalanced parenthesis", 122),
    ("unknown POSIX class name", 130),
    ("unterminated name", 142),
)


def error_number(error: re.error) -> int | None:
    """Return the number by which HTCondor tells what is wrong with a pattern, None if unknown."""
    return next((number for words, number in ERROR_NUMBERS if words in error.msg), None)


class LatePattern:
    """Stands for a compiled pattern; from the first use on its methods are the pattern's own."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what serves as `re.compile(source, flags)` and is compiled when it is first used.

    A pattern that is wrong says so then: each has a test that uses it.
    """
    return cast("re.Pattern[str]", LatePattern(source, flags))


def replace_each(pattern: re.Pattern[str], make: Callable[[re.Match[str]], str], text: str) -> str:
    """Return the text with what is made of each match in its place, as `pattern.sub` does.

    It takes a few bytes a character; `sub` holds a text of its own for each match and for what is
    between two of them, which is tens of bytes where every third character is escaped.
    """
    out, position = io.StringIO(), 0
    for found in pattern.finditer(text):
        out.write(text[position : found.start()])
        out.write(make(found))
        position = found.end()
    out.write(text[position:])
    return out.getvalue()
