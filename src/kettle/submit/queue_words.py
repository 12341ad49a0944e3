"""The words of a queue statement: what stands before, at and behind its keyword.

As in the reference the keyword is found first, then what qualifies it, then the items; how many
jobs there are to be is read last, so that it is the last to be complained of.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from kettle.config.knob import parse_integer, parse_real
from kettle.digits import whole
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.structs import Struct, field
from kettle.submit.arguments import split_list
from kettle.submit.tables import Table, read_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.errors import SubmitError

    Fail = Callable[[str], SubmitError]

KEYWORDS = ("in", "from", "matching")
KEYWORD = late_pattern(r"(?:^|(?<=[\s(]))(in|from|matching)(?=[\s(])", re.IGNORECASE | re.ASCII)
# A number may have blanks before it, and nothing but the next mark behind it.
_BOUND = r"((?:\s*[+-]?\d+)?)"
SLICE = late_pattern(rf"\[{_BOUND}(?::{_BOUND})?(?::{_BOUND})?\]", re.ASCII)
# A word behind the keyword; the last of a statement is an item, whatever it is.
_WORD = late_pattern(r"[^\s(]+(?=[\s(])", re.ASCII)
# What can be part of variables' names, from behind: digits need a letter in front of them.
# Compat: the reference takes `my_1` for how many jobs there are to be, which it is not; here it is
# a name as `my1` is (test_a_name_may_end_in_a_number).
_NAMES_FROM_BEHIND = late_pattern(r"(?:\d*+[A-Za-z_]|[\s,.])*", re.ASCII)
_KINDS = frozenset({"files", "dirs", "any"})

# Limit: more jobs than any schedd takes; a typing error must not fill the memory.
MOST_JOBS = 100_000_000


class QueueWords(Struct):
    """A queue statement whose items are not read yet; `rest` is what is said of them."""

    count: int = 1
    variables: tuple[str, ...] = ()
    how: str = ""
    # Which names `matching` is about: files, dirs or any; empty where nothing is said.
    kind: str = ""
    selected: slice = field(default_factory=lambda: slice(None))
    table: Table | None = None
    rest: str = ""


def read_words(text: str, fail: Fail, no_statement: Fail) -> QueueWords:
    """Take a statement apart whose macros are replaced; raise the error of one of the two.

    `no_statement` is for a count or a slice that is none, `fail` for what does not go together.
    """
    text = text.lstrip(BLANKS)
    keyword = KEYWORD.search(text)
    words = QueueWords()
    left = text
    if keyword is not None:
        words.how = keyword[1].lower()
        rest = text[keyword.end() :].lstrip(BLANKS)
        words.rest = _read_qualifiers(words, rest, fail, no_statement)
        left, names = split_left(text[: keyword.start()].rstrip(BLANKS))
        words.variables = names or ("Item",)
    words.count = read_count(left.strip(BLANKS), no_statement)
    step = words.selected.step
    if step is not None and step < 1:
        # Compat: the reference dies of an assertion, where there are items
        # (test_a_slice_that_goes_backwards_is_refused).
        raise fail(f"a slice cannot go in steps of {step}")
    return words


def _read_qualifiers(words: QueueWords, rest: str, fail: Fail, no_statement: Fail) -> str:
    """Take over what stands between the keyword and the items; return what is left."""
    while (found := _WORD.match(rest)) is not None:
        word = found[0].lower()
        if word[0] == "[":
            words.selected, rest = _read_slice(rest, no_statement)
        elif word in _KINDS:
            if words.how != "matching" or words.kind:
                raise fail("Queue keyword conflict")
            words.kind, rest = word, rest[found.end() :]
        elif word == "table":
            if words.how != "from":
                raise fail("Queue keyword conflict")
            words.table, rest = read_options(rest[found.end() :], fail)
        else:
            break
        rest = rest.lstrip(BLANKS)
    return rest


def _read_slice(rest: str, fail: Fail) -> tuple[slice, str]:
    found = SLICE.match(rest)
    if found is None:
        raise fail("Invalid [::] statement")
    start, stop, step = (whole(part) if part else None for part in found.groups())
    rest = rest[found.end() :]
    if found[3] is not None:
        # As in the reference a second bracket behind steps is one too many, and nothing else.
        rest = rest.removeprefix("]")
    return slice(start, stop, step), rest


def split_left(left: str) -> tuple[str, tuple[str, ...]]:
    """Return what stands before the keyword as how many jobs and as variables.

    The variables are all at the end that can be names.
    """
    found = _NAMES_FROM_BEHIND.match(left[::-1])
    begin = len(left) - (found.end() if found is not None else 0)
    return left[:begin], tuple(split_list(left[begin:]))


def read_count(text: str, fail: Fail) -> int:
    """Read how many jobs are made, of each item if there are any; raise `fail`'s error."""
    if not text:
        return 1
    number = parse_integer(text)
    if number is None:
        real = parse_real(text)
        number = None if real is None or not math.isfinite(real) else int(real)
    if number is None:
        raise fail("Invalid Queue count expression")
    if not 0 <= number <= MOST_JOBS:
        raise fail("Queue count out of range")
    # Compat: `queue 0` makes one job (test_a_count_of_nothing_is_one_job).
    return max(1, number)
