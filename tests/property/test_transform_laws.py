"""A rule that is applied twice does twice what its statements promise, and nothing else."""

from __future__ import annotations

import contextlib
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.errors import TransformError
from kettle.transforms.editor import Journal
from kettle.transforms.macros import TransformMacros
from kettle.transforms.source import read_transform

NAMES = st.sampled_from(["A", "b", "C", "dd", "E_1"])
Statements = list[tuple[str, str, str]]
STATEMENT = st.one_of(
    st.tuples(st.just("SET"), NAMES, st.integers(0, 99).map(str)),
    st.tuples(st.just("DEFAULT"), NAMES, st.integers(0, 99).map(str)),
    st.tuples(st.sampled_from(["COPY", "RENAME"]), NAMES, NAMES),
    st.tuples(st.just("DELETE"), NAMES, st.just("")),
    # One more than another attribute, by its value and by its text.
    st.tuples(st.just("EVALSET"), NAMES, NAMES),
    st.tuples(st.just("EVALMACRO"), NAMES, NAMES),
)
ADS = st.dictionaries(NAMES, st.integers(0, 99), max_size=4)


def macros() -> TransformMacros:
    return TransformMacros(lambda _: None, {}.get, lambda: random.Random(1))


def written(statement: tuple[str, str, str]) -> str:
    word, name, rest = statement
    if word == "EVALSET":
        return f"EVALSET {name} ifThenElse({rest} is undefined, -1, {rest} + 1)"
    if word == "EVALMACRO":
        return f"EVALMACRO m ifThenElse({rest} is undefined, -1, {rest} + 1)\nSET {name} $(m)"
    return f"{word} {name} {rest}"


def promised(statements: Statements, ad: dict[str, int]) -> dict[str, int]:
    """What the statements say, on a dictionary of numbers by upper-case name."""
    ad = dict(ad)
    for word, written_name, rest in statements:
        name, other = written_name.upper(), rest.upper()
        if word == "SET" or (word == "DEFAULT" and name not in ad):
            ad[name] = int(rest)
        elif word in {"COPY", "RENAME"} and name in ad:
            value = ad.pop(name) if word == "RENAME" else ad[name]
            ad[other] = value
        elif word == "DELETE":
            ad.pop(name, None)
        elif word in {"EVALSET", "EVALMACRO"}:
            ad[name] = ad[other] + 1 if other in ad else -1
    return ad


@settings(deadline=None)
@given(st.lists(STATEMENT, min_size=1, max_size=8), ADS)
def test_twice_is_as_promised(statements: Statements, start: dict[str, int]) -> None:
    rule = read_transform("\n".join(map(written, statements)), "rules")
    ad = ClassAd(start)
    expected = {name.upper(): value for name, value in start.items()}
    for _ in range(2):
        before = {name.upper(): ad[name] for name in ad.names()}
        changed = rule.apply(ad, macros(), Journal())
        expected = promised(statements, expected)
        now = {name.upper(): ad[name] for name in ad.names()}
        assert now == expected
        touched = {name.upper() for name in changed}
        assert {n for n in {*before, *now} if before.get(n) != now.get(n)} <= touched


@settings(deadline=None)
@given(st.lists(STATEMENT, min_size=1, max_size=8), ADS)
def test_what_only_sets_and_deletes_does_nothing_the_second_time(
    statements: Statements, start: dict[str, int]
) -> None:
    kept = [each for each in statements if each[0] in {"SET", "DELETE"}]
    rule = read_transform("\n".join(map(written, kept)), "rules")
    ad = ClassAd(start)
    rule.apply(ad, macros(), Journal())
    once = ad.copy()
    rule.apply(ad, macros(), Journal())
    assert ad == once


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60))
def test_any_text_is_a_rule_or_an_error(text: str) -> None:
    with contextlib.suppress(TransformError):
        rule = read_transform(text, "rules")
        rule.apply(ClassAd({"A": 1}), macros(), Journal())
