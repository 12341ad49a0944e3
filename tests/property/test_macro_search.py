"""The search for macros finds what the plain definition finds, and does not read texts twice."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.config import Config
from kettle.config.expander import DEEPEST, DOLLAR, Expander
from kettle.config.macro_search import MacroSearch, Reference, closing_bracket
from kettle.config.metaknobs import parse_items
from kettle.errors import ConfigError

PIECES = [
    "$",
    "$$(",
    "$(A",
    "$(B",
    "$(",
    "$(:",
    "A",
    "B",
    "(",
    ")",
    ":",
    "$INT(",
    "$ENV(B",
    "IN",
    "x",
    ")",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
VALUES = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
START = re.compile(r"\$(ENV|INT)?\(")
NAME = re.compile(r"[A-Za-z0-9_.]*")
# CPU; a tenth of it is usual, and what looks twice takes minutes.
MOST_SECONDS = 10


def first_macro(text: str, position: int = 0) -> Reference | None:
    """Find the leftmost macro as the language defines it."""
    for match in START.finditer(text, position):
        start, body = match.span()
        # The second of two dollars begins nothing.
        if (start - len(text[:start].rstrip("$"))) % 2:
            continue
        function = match[1] or ""
        if function == "INT":
            close = text.find(")", body)
            if close >= 0:
                return Reference(start, close + 1, function, text[body:close])
            continue
        name = NAME.match(text, body)
        if name is None:
            continue
        if text.startswith(")", name.end()):
            return Reference(start, name.end() + 1, function, name[0])
        close = closing_bracket(text, name.end())
        if text.startswith(":", name.end()) and close >= 0:
            return Reference(start, close + 1, function, name[0], name.end() + 1)
    return None


@settings(deadline=None, max_examples=400)
@given(TEXTS, st.lists(VALUES, max_size=6))
def test_the_leftmost_macro_is_found_whatever_the_ones_before_became(
    text: str, values: list[str]
) -> None:
    search = MacroSearch(text)
    found = search.next()
    for value in values:
        assert found == first_macro(search.text)
        if found is None:
            return
        plain = search.text[: found.start] + value + search.text[found.end :]
        search.replace(found, value)
        assert search.text == plain
        found = search.look_again(found.start)


@settings(deadline=None, max_examples=400)
@given(TEXTS, st.lists(st.one_of(st.none(), VALUES), max_size=6))
def test_a_search_that_only_goes_on_finds_the_next_one(text: str, values: list[str | None]) -> None:
    search = MacroSearch(text)
    for value in values:
        found = search.next()
        assert found == first_macro(search.text, search.position)
        if found is None:
            return
        if value is None:
            search.position = found.start + 2
        else:
            search.replace(found, value)


def expand(text: str, **macros: str) -> str:
    expander = Expander(
        macros.get,
        lambda _: None,
        lambda: None,  # type: ignore[arg-type, return-value]
        on_problem=lambda _: None,
    )
    return expander.expand(text)


@pytest.mark.parametrize(
    "text",
    [
        "$(A:/" * 20_000,
        "$(A:/" * 20_000 + "$(B)" * 5_000,
        "$(A:(" * 20_000 + "$(B)" * 5_000 + ")",
        "$ENV(A:$INT(" * 10_000,
        "$(A:((((((((" + "$(B)" * 5_000,
    ],
)
def test_brackets_that_nothing_closes_take_no_time(text: str) -> None:
    began = time.process_time()
    expand(text, B=")(")
    Config.from_text(f"B = {text}\n")
    assert time.process_time() - began < MOST_SECONDS


def test_defaults_inside_defaults_are_looked_at_once() -> None:
    began = time.process_time()
    text = "$(A:" * 20_000 + ")" * 20_000
    assert Config.from_text(f"B = {text}$(B)\n").raw("B") == text
    assert len(parse_items("A(" * 20_000)) == 20_000
    assert time.process_time() - began < MOST_SECONDS


def test_names_inside_names_end_with_a_sentence() -> None:
    chain = {f"A{number}": f"$(A{number + 1})" for number in range(1000)}
    with pytest.raises(ConfigError, match=f"A0 mentions {DEEPEST} names"):
        expand("$(A0)", **chain)
    assert expand(f"$(A{1000 - DEEPEST})", **chain) == ""


def test_names_that_double_each_other_into_nothing_have_no_end() -> None:
    doubled = {f"A{number}": f"$(A{number + 1})" * 2 for number in range(60)}
    began = time.process_time()
    with pytest.raises(ConfigError, match="has no end"):
        expand("$(A0)", **doubled)
    assert time.process_time() - began < 5


def test_a_name_may_be_put_together_from_pieces_and_a_bracket_come_later() -> None:
    assert expand("$(A$(B))", B="C", AC="x") == "x"
    assert expand("$(A:b$(B)c", B=")") == "bc"
    assert expand("$$(DOLLAR)$(DOLLAR)(A)") == "$$(DOLLAR)$(A)"
    assert DOLLAR not in expand("$(DOLLAR)")
