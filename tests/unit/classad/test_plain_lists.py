"""Lists of nothing but values: what is known of one is worked out once, and changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ERROR, ClassAd, Value, parse_ad, parse_expression
from kettle.classad.state import new_state
from kettle.classad.values import ExprList, PlainValues

_ELEMENTS = st.lists(
    st.sampled_from(['"a"', '"A"', '"Ä"', '"ä"', "1", "1.0", "true", "undefined", "error"]),
    max_size=12,
)
_CALLS = [
    "member({value}, {items})",
    "identicalMember({value}, {items})",
    'anyCompare("==", {items}, {value})',
    'allCompare("is", {items}, {value})',
    "size({items})",
    "sum({items})",
    'join("-", {items})',
    'regexpMember("a", {items})',
]


@pytest.mark.parametrize("call", _CALLS)
@given(elements=_ELEMENTS, value=st.sampled_from(['"a"', '"ä"', "1", "1.0", "true", "error"]))
def test_a_list_of_values_answers_as_one_that_has_to_be_evaluated(
    call: str, elements: list[str], value: str
) -> None:
    plain = "{" + ",".join(elements) + "}"
    evaluated = "{" + ",".join(f"({element})" for element in elements) + "}"
    answers = [
        parse_expression(call.format(items=items, value=value)).evaluate(ClassAd())
        for items in (plain, evaluated)
    ]
    assert repr(answers[0]) == repr(answers[1])


def test_a_list_of_values_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def known(self: PlainValues, values: tuple[Value, ...]) -> None:
        looked.append(values)
        original(self, values)

    original = PlainValues.__init__
    monkeypatch.setattr(PlainValues, "__init__", known)
    expression = parse_expression('member(X, { "a", "b", 3 })')
    for name in ("a", "B", "c"):
        ad = ClassAd({"X": name})
        assert expression.evaluate(ad) is (name != "c")
    assert looked == [("a", "b", 3)]


def test_a_list_of_values_is_one_and_the_same_in_every_ad() -> None:
    closure = parse_expression("{ 1, 2 }").closure
    one, other = (closure(new_state(ClassAd())) for _ in range(2))
    assert one is other
    assert isinstance(one, ExprList)


def test_a_list_that_names_something_is_evaluated_in_its_own_ad() -> None:
    ad = parse_ad("[ x = 1; items = { x, 2 }; inner = [ x = 5; found = member(5, { x, 2 }) ] ]")
    assert ad.evaluate("items") == [1, 2]
    assert parse_expression("inner.found").evaluate(ad) is True


def test_a_long_list_of_values_still_counts_as_what_it_is() -> None:
    items = ",".join(f'"{number:0100}"' for number in range(1000))
    calls = " + ".join(f"size({{{items}}})" for _ in range(60))
    assert parse_expression(f"size({{{items}}})").evaluate(ClassAd()) == 1000
    assert parse_expression(calls).evaluate(ClassAd()) is ERROR
