"""Reading a long text takes a few bytes a character beside it, whatever it is written with."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from kettle.classad import parse_ad, parse_expression, unparse
from kettle.classad.ad import parse_old_ad
from kettle.classad.forms import parse_ads
from kettle.compat import classad2

SIZE = 48_000
# Bytes for each character of the text that is read, beside what is kept of it. A pattern that
# remembers each character took 300 of them, a list of the pieces between escapes 30.
MOST_BYTES = 24
BODIES = {
    "plain": "a" * SIZE,
    "escapes": r"\"a" * (SIZE // 3),
    "octal": r"\303\251" * (SIZE // 8),
    "line ends": r"ab\n" * (SIZE // 4),
    "not ASCII": "é" * SIZE,
}


def _json(body: str) -> str:
    return body.replace(r"\303\251", r"\u00e9")


def _json_expression(body: str) -> str:
    return body.replace("\\", r"\\").replace('"', r"\"")


READERS: dict[str, Callable[[str], tuple[Callable[[str], Any], str]]] = {
    "new": lambda body: (parse_expression, f'"{body}"'),
    "new, among others": lambda body: (parse_expression, f'1 + "{body}"'),
    "new, two side by side": lambda body: (parse_expression, f'"{body}" "{body}"'),
    "a quoted name": lambda body: (parse_expression, "'" + body + "'"),
    "an ad": lambda body: (parse_ad, f'[a = "{body}"; b = 1 + "{body}"]'),
    "an ad of the wheel's": lambda body: (classad2.parseOne, f'[a = "{body}"]'),
    "old": lambda body: (parse_old_ad, f'a = "{body}"\n'),
    "old, among others": lambda body: (parse_old_ad, f'a = 1 + "{body}"\n'),
    "JSON": lambda body: (_read_json, f'[{{"a": "{_json(body)}"}}]'),
    "JSON, an expression": lambda body: (
        _read_json,
        rf'[{{"a": "\/Expr(1 + \"{_json_expression(body)}\")\/"}}]',
    ),
    "XML": lambda body: (_read_xml, f'<classads><c><a n="a"><s>{body}</s></a></c></classads>'),
    "XML, an expression": lambda body: (
        _read_xml,
        f'<classads><c><a n="a"><e>1 + "{body}"</e></a></c></classads>',
    ),
    "blanks in JSON": lambda body: (_read_json, " " * len(body) + '[{"a": 1}]'),
}


def _read_json(text: str) -> object:
    return list(parse_ads(text, "json"))


def _read_xml(text: str) -> object:
    return list(parse_ads(text, "xml"))


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that the work has at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("reader", READERS)
def test_a_long_literal_is_read_in_memory_of_its_size(reader: str) -> None:
    for body in BODIES.values():
        read, text = READERS[reader](body[:24])
        # What is compiled when it is first used does not count.
        read(text)
        read, text = READERS[reader](body)
        assert peak(lambda: read(text)) < MOST_BYTES * len(text) + 50_000  # noqa: B023


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_long_literal_is_printed_in_memory_of_its_size(body: str) -> None:
    value = parse_expression(f'"{body}"')
    unparse(parse_expression(f'"{body[:24]}"'))
    size = max(len(body), len(unparse(value)))
    assert peak(lambda: unparse(value)) < MOST_BYTES * size + 50_000


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_what_was_read_is_what_the_wheel_reads(body: str) -> None:
    text = f'"{body}"'
    wanted = {
        BODIES["plain"]: "a" * SIZE,
        BODIES["escapes"]: '"a' * (SIZE // 3),
        BODIES["octal"]: "é" * (SIZE // 8),
        BODIES["line ends"]: "ab\n" * (SIZE // 4),
        BODIES["not ASCII"]: "é" * SIZE,
    }
    assert classad2.unquote(text) == wanted[body]
