"""What readers of others' text cost grows with its length, not with the square of it.

Each text is one that once took a repetition twice: unfinished strings, comments and classes,
blanks that two repetitions in turn could take, and an ad that was copied for each attribute. At
this length the square costs minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import pytest

from kettle.classad.calendar import parse_moment, parse_span
from kettle.classad.lexer import tokenize
from kettle.compat.classad2 import parseOne
from kettle.config import Config
from kettle.config.c_format import is_integer_format, is_real_format
from kettle.config.reader import STATEMENT
from kettle.errors import KettleError
from kettle.patterns.perl import compile_perl
from kettle.records.event_forms_reader import AdReader
from kettle.records.history import _FIELD, parse_banner
from kettle.runtime.remote_settings import _SETTING
from kettle.startd.slots import _items
from kettle.submit.item_lines import join_continued
from kettle.tools.printing.print_format import parse_print_format
from stopwatch import cpu_seconds

MANY = 60_000
# Seconds of processor time; one takes two, and most of them less than half a second.
_MOST_SECONDS = 15.0


def _old(text: str) -> object:
    return tokenize(text, old=True)


def _moment(text: str) -> object:
    return parse_moment(text, lambda _moment: 0)


def _ad_events(text: str) -> object:
    return AdReader("xml").feed(text.encode())


def _print_format(text: str) -> object:
    return parse_print_format(text, {})


def _items_joined(text: str) -> object:
    return join_continued(text.split("\n"))


def _perl(text: str) -> object:
    return compile_perl(text.encode())


def _lazy_perl(text: str) -> object:
    return compile_perl(text.encode(), lazy=True)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (tokenize, '"' + '\\"' * MANY),
        (_old, '"' + '\\"' * MANY + " x"),
        (tokenize, "'" + "\\'" * MANY),
        (tokenize, "/* " * MANY),
        (_old, "/* " * MANY),
        (parse_span, " " * 300 + "x"),
        (parse_span, "-" + " " * MANY + "x"),
        (parse_span, "1d" + " " * MANY + "x"),
        (_moment, "2020" + " " * MANY + "x"),
        (_perl, "[" * MANY),
        (_perl, "a{" + " " * MANY),
        (_perl, "[" * MANY + "\\"),
        (_perl, "[[." * MANY),
        (_perl, "\\h" + "(?#" * MANY),
        (_lazy_perl, "[^" * MANY),
        (_FIELD.findall, "a" * MANY),
        (parse_banner, "*** " + "a" * MANY),
        (_SETTING.fullmatch, "A = b" + " " * MANY + "x\n\nx"),
        (STATEMENT.match, "use" + " " * 4 * MANY + "="),
        (_items, "cpus" + " " * 4 * MANY + "1"),
        (Config.from_text, "include x" + " " * MANY + "y"),
        (is_integer_format, "%" + "0" * MANY + "x%"),
        (is_real_format, "%" + "0" * MANY + "f%"),
        (_ad_events, "<?xml\n" * 8 * MANY + "</c>\n"),
        (_ad_events, "<c><" + " " * MANY + "\x01</c>\n"),
        (_ad_events, "<c>" + "".join(f"<a n='x-{n}'><i>1</i></a>" for n in range(MANY)) + "</c>\n"),
        (_print_format, "SELECT\n" + "a \\\n" * 4 * MANY),
        (_items_joined, "a \\\n" * 8 * MANY),
        (parseOne, '[ a = "' + '\\"' * MANY),
        (parseOne, "[ a = 1 /* " + "/* " * MANY),
    ],
)
def test_a_long_text_of_what_nothing_ends_is_read_in_time(
    read: Callable[[str], object], text: str
) -> None:
    def read_it() -> None:
        # Most of them are no sense; that they are told apart in time is what counts.
        with suppress(KettleError, re.error, RecursionError):
            read(text)

    assert cpu_seconds(read_it, below=_MOST_SECONDS) < _MOST_SECONDS
