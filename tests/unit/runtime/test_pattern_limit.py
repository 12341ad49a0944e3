"""Patterns that would match for years end, and cost nothing the second time."""

from __future__ import annotations

import gc
import re
import signal
import time
import weakref
from collections.abc import Iterator

import pytest

from kettle.classad import ERROR, ClassAd, parse_expression
from kettle.classad.functions import regex
from kettle.classad.state import new_state
from kettle.errors import AuthenticationFailed
from kettle.runtime import pattern_limit
from kettle.wire.security.mapfile import parse_mapfile
from stopwatch import cpu_seconds


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    before = signal.getsignal(signal.SIGVTALRM)
    pattern_limit.install()
    yield
    signal.signal(signal.SIGVTALRM, before)
    regex.set_bound(regex.unbounded)


def test_nothing_is_collected_in_the_time_of_a_pattern() -> None:
    """A look through the objects of a large queue takes longer than a pattern may."""
    assert gc.isenabled()
    assert not pattern_limit.in_time(gc.isenabled, new_state(ClassAd()))
    assert gc.isenabled()
    with pytest.raises(TimeoutError):
        pattern_limit.in_time(lambda: re.match("(a+)+$", "a" * 40 + "b"), new_state(ClassAd()))
    assert gc.isenabled()


def test_a_timer_that_goes_off_in_a_callback_of_a_dying_thing_goes_off_again() -> None:
    """What is raised in such a callback is lost: the search would never end."""

    def slow(_dead: object) -> None:
        until = time.process_time() + 1.5 * pattern_limit.PATTERN_SECONDS
        while time.process_time() < until:
            pass

    def search() -> object:
        thing = ClassAd()
        watcher = weakref.ref(thing, slow)
        del thing
        assert watcher() is None
        return re.search("^(a+)+$", "a" * 60 + "!")

    with pytest.raises(TimeoutError):
        pattern_limit.in_time(search, new_state(ClassAd()))


@pytest.mark.parametrize(
    "text",
    [
        'regexp("^(a+)+$", "{0}b")',
        'regexp("(a|aa)+$", "{0}b")',
        'regexpMember("^(a*)*$", { "{0}b" })',
        'replaceAll("(a|a)*c", "{0}b", "")',
        'stringList_regexpMember("^(a+)+!$", "x,{0}b")',
        '[ R = {0}b; U = unresolved(R, "^((a+)+)+!$") ].U',
    ],
)
def test_a_pattern_that_backtracks_without_end_is_an_error(text: str) -> None:
    expression = parse_expression(text.replace("{0}", "a" * 60))
    assert ClassAd().evaluate_expression(expression) is ERROR

    def evaluate_again() -> None:
        assert ClassAd().evaluate_expression(expression) is ERROR

    # It is known by then.
    half = pattern_limit.PATTERN_SECONDS / 2
    assert cpu_seconds(evaluate_again, below=half) < half


def test_choices_without_a_repetition_are_bounded_too() -> None:
    ad = ClassAd({"P": "(.|a)" * 28 + "c", "T": "a" * 29})

    def evaluate() -> None:
        regex._SEARCHING.too_slow.clear()
        assert ad.evaluate_expression(parse_expression("regexp(P, T)")) is ERROR

    bound = 4 * pattern_limit.PATTERN_SECONDS
    assert cpu_seconds(evaluate, below=bound) < bound


@pytest.mark.parametrize(
    "call",
    [
        # Each time another pattern, of which nothing can be known from before.
        'regexp(strcat("(a|a)*b", string(random(1000000000))), T)',
        # What is slow is the compiling.
        'regexp(strcat(P, string(random(1000000000))), "x")',
        'replaceAll(strcat("(a|a)*b", string(random(1000000000))), T, "")',
    ],
)
def test_all_patterns_of_one_evaluation_have_one_bound_together(call: str) -> None:
    ad = ClassAd({"T": "a" * 18, "P": "[[:^alpha:]]" * 5000})
    ad.insert_text("A0", call)
    for row in range(1, 9):
        ad.insert_text(f"A{row}", f"A{row - 1} is 5 || A{row - 1} is 5")

    def evaluate() -> None:
        assert ad.evaluate("A8") is False

    bound = 12 * pattern_limit.PATTERN_SECONDS
    assert cpu_seconds(evaluate, below=bound) < bound


def test_a_pattern_that_had_no_time_left_is_not_known_as_slow() -> None:
    ad = ClassAd({"T": "a" * 60})
    both = 'regexp("^(a+)+$", strcat(T,"!")) =!= true && regexp("^x(a|b)+$", "xab")'
    regex._SEARCHING.too_slow.clear()
    assert ad.evaluate_expression(parse_expression(both)) is ERROR
    # The next time the slow one is known, and takes nothing.
    assert ad.evaluate_expression(parse_expression(both)) is True


def test_one_repetition_is_bounded_too_where_the_text_is_long() -> None:
    ad = ClassAd({"T": "a" * 200_000})
    assert ad.evaluate_expression(parse_expression('regexp("a*b", T)')) is ERROR
    # What a long text did does not spoil the pattern for others.
    assert ad.evaluate_expression(parse_expression('regexp("a*b", "aab")')) is True


def test_many_names_have_one_bound_together() -> None:
    pattern = regex.compile_pattern("^(([A-Z_]+)+)+!$", "i")
    assert pattern is not None
    names = [f"AN_ORDINARY_{number:03}" for number in range(1000)]
    assert regex.matching(pattern, [*names[:2], "A_B!"]) == ["A_B!"]

    def look_twice() -> None:
        regex._SEARCHING.too_slow.clear()
        for _ in range(2):
            with pytest.raises(TimeoutError):
                regex.matching(pattern, names)

    bound = 2 * pattern_limit.PATTERN_SECONDS
    assert cpu_seconds(look_twice, below=bound) < bound


def test_an_expression_of_a_map_file_that_takes_too_long_lets_nobody_in() -> None:
    mapfile = parse_mapfile('SSL "^/CN=(a+)+$" bad@x\nSSL (.*) anybody@x\n')
    with pytest.raises(AuthenticationFailed, match="takes too long"):
        mapfile.map("SSL", "/CN=" + "a" * 60 + "!")
    # One stranger's name does not keep others out.
    assert mapfile.map("SSL", "/CN=aa") == "bad@x"
    assert mapfile.map("SSL", "/CN=b") == "anybody@x"


def test_unresolved_and_member_lists_still_match() -> None:
    for text in (
        '[ R = Abc; U = unresolved(R, "^a(b+|x+)c$") ].U',
        'stringList_regexpMember("^a(b+|x+)c$", "x,abbc")',
    ):
        assert ClassAd().evaluate_expression(parse_expression(text)) is True
    no_pattern = '[ R = Abc; U = unresolved(R, "(") ].U'
    assert ClassAd().evaluate_expression(parse_expression(no_pattern)) is ERROR


def test_a_pattern_with_repetitions_still_matches() -> None:
    expression = parse_expression('regexp("^slot[0-9]+(_[0-9]+)?@.*$", "slot1_2@host")')
    assert ClassAd().evaluate_expression(expression) is True
