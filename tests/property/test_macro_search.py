"""The search for macros finds what the plain definition finds, and does not read texts twice."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.config import Config
from kettle.config.expander import DOLLAR, Expander
from kettle.config.macro_search import MacroSearch, Reference, closing_bracket
from kettle.config.metaknobs import parse_items
from kettle.errors import ConfigError
from stopwatch import cpu_seconds

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
    def read() -> None:
        expand(text, B=")(")
        Config.from_text(f"B = {text}\n")

    assert cpu_seconds(read, below=MOST_SECONDS) < MOST_SECONDS


def test_defaults_inside_defaults_are_looked_at_once() -> None:
    text = "$(A:" * 20_000 + ")" * 20_000

    def read() -> None:
        assert Config.from_text(f"B = {text}$(B)\n").raw("B") == text
        assert len(parse_items("A(" * 20_000)) == 20_000

    assert cpu_seconds(read, below=MOST_SECONDS) < MOST_SECONDS


@pytest.mark.parametrize("text", ["$(A{})", "$(NONE:$(A{}))", "<$(A{}:no)>"])
def test_names_inside_names_have_no_bound_but_time(text: str) -> None:
    # The reference makes 1,000 at least.
    count = 5000
    chain = {f"A{number}": text.format(number + 1) for number in range(count)} | {f"A{count}": "x"}
    ends = count if text[0] == "<" else 0

    def read() -> None:
        assert expand("$(A0)", **chain) == "<" * ends + "x" + ">" * ends

    assert cpu_seconds(read, below=MOST_SECONDS) < MOST_SECONDS


def test_a_long_circle_is_told_by_its_ends() -> None:
    count = 20_000
    ring = {f"A{number}": f"$(A{(number + 1) % count})" for number in range(count)}

    def refused() -> None:
        with pytest.raises(ConfigError) as raised:
            expand("$(A7)", **ring)
        assert raised.value.message == (
            "A7 refers to itself: A7 -> A8 -> A9 -> A10 -> 19,993 more -> A4 -> A5 -> A6 -> A7"
        )
        assert len(raised.value.circle) == 8

    assert cpu_seconds(refused, below=MOST_SECONDS) < MOST_SECONDS


@pytest.mark.parametrize("text", ["$INT(A{})", "$(NO:$INT(A{}))", "-$SUBSTR(A{},0)"])
def test_functions_inside_each_other_have_no_bound_but_time(text: str) -> None:
    """As names; the reference makes 10,000 and, of more, its stack ends."""
    count = 10_000
    chain = {f"A{number}": text.format(number + 1) for number in range(count)} | {f"A{count}": "7"}

    def read() -> None:
        assert expand("$(A0)", **chain) == "-" * (count if text[0] == "-" else 0) + "7"

    assert cpu_seconds(read, below=MOST_SECONDS) < MOST_SECONDS


def test_a_function_inside_itself_is_a_circle() -> None:
    with pytest.raises(ConfigError, match="A refers to itself: A -> B -> A"):
        expand("$(A)", A="$INT(B)", B="$STRING(A)")


def test_what_a_function_lacks_is_told_once_whatever_it_asks_for() -> None:
    config = Config.from_text("A = $CHOICE(NO,L)\nL = $(M)\nM = a,b\n")
    assert config.get("A") == "a"
    assert [problem.text for problem in config.problems] == [
        "ERROR \"$CHOICE() error: 'NO' is invalid index\""
    ]


def test_defaults_inside_each_other_end_with_a_sentence() -> None:
    assert expand("$(A:" * 3000 + "x" + ")" * 3000) == "x"
    with pytest.raises(ConfigError, match="defaults inside defaults are too long"):
        expand("$(A:" * 100_000 + ")" * 100_000)


def test_defaults_inside_each_other_are_looked_through_once() -> None:
    text = "$(A:" * 5000 + "x" + ")" * 5000
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="defaults inside defaults are too long"):
            expand(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 << 20, peak


@settings(deadline=None, max_examples=400)
@given(TEXTS)
def test_the_search_of_a_default_finds_what_a_search_of_its_text_finds(text: str) -> None:
    search = MacroSearch(text)
    found = search.next()
    while found is not None:
        if found.default_start:
            part, alone = search.of_default(found), MacroSearch(found.default(text))
            one = part.next()
            assert one == alone.next()
            if one is not None:
                for each in (part, alone):
                    each.replace(one, "$(A:x")
                again = [each.look_again(one.start) for each in (part, alone)]
                assert again[0] == again[1]
        search.position = found.end
        found = search.next()


def test_names_that_double_each_other_into_nothing_have_no_end() -> None:
    doubled = {f"A{number}": f"$(A{number + 1})" * 2 for number in range(60)}

    def refused() -> None:
        with pytest.raises(ConfigError, match="has no end"):
            expand("$(A0)", **doubled)

    assert cpu_seconds(refused, below=MOST_SECONDS) < MOST_SECONDS


def test_a_name_may_be_put_together_from_pieces_and_a_bracket_come_later() -> None:
    assert expand("$(A$(B))", B="C", AC="x") == "x"
    assert expand("$(A:b$(B)c", B=")") == "bc"
    assert expand("$$(DOLLAR)$(DOLLAR)(A)") == "$$(DOLLAR)$(A)"
    assert DOLLAR not in expand("$(DOLLAR)")
