"""Expressions that a grammar put together, and what the wheel's classad2 makes of them.

Texts that the two once read, printed or evaluated differently, recorded with those around them
(tests/data/wheel_expressions.json); interop/test_languages_beside_wheel.py asks the wheel again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ERROR, ClassAd, Context, parse_ad, parse_expression, unparse
from kettle.classad.compile import evaluate, evaluate_lazily
from kettle.classad.forms import render_ads
from kettle.classad.references import find_references
from kettle.classad.state import new_state
from kettle.classad.unparse import render_value
from kettle.classad.values import HOT
from kettle.errors import ClassAdSyntaxError

RECORD = json.loads(
    (Path(__file__).parents[2] / "data" / "wheel_expressions.json").read_text(encoding="utf-8")
)
TOPICS = list(dict.fromkeys(case["topic"] for case in RECORD["cases"]))
CONTEXT = Context(utc_offset=lambda _: 0, zone_name=lambda _: "UTC")


def said(case: dict[str, Any]) -> dict[str, Any]:
    """What Kettle makes of a case."""
    try:
        expr = parse_expression(case["expr"])
    except ClassAdSyntaxError:
        return {"rejected": True}
    my = parse_ad(RECORD["my"]) if "m" in case.get("in", "") else None
    target = parse_ad(RECORD["target"]) if "t" in case.get("in", "") else None
    value = evaluate_lazily(expr, new_state(my, target, CONTEXT))
    return {"unparse": unparse(expr), "value": render_value(value)}


def check(topic: str) -> None:
    cases = [case for case in RECORD["cases"] if case["topic"] == topic]
    assert cases
    asked = {"topic", "expr", "in"}
    wanted = [
        (case, {key: value for key, value in case.items() if key not in asked}) for case in cases
    ]
    assert [(case, said(case)) for case in cases] == wanted


NAMED = {
    "numbers that start with 0",
    "moments made of numbers",
    "moments with an offset",
    "spans as numbers",
    "parts of spans",
    "versions of strange letters",
    "lists that are compared",
    "spans and moments of huge parts",
    "spans and moments whose text stays",
    "hexadecimal numbers with a point",
    "elements of lists in nested ads",
    "empty words of old arguments",
}


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic not in NAMED])
def test_an_expression_is_what_the_wheel_makes_of_it(topic: str) -> None:
    check(topic)


def test_numbers_that_start_with_0_are_read_behind_a_minus() -> None:
    check("numbers that start with 0")


def test_hexadecimal_numbers_with_a_point() -> None:
    check("hexadecimal numbers with a point")


def test_empty_words_of_old_arguments() -> None:
    check("empty words of old arguments")


def test_a_moment_made_of_a_number_has_32_bits() -> None:
    check("moments made of numbers")


def test_the_largest_offset_wraps_too() -> None:
    """One less does so in the wheel, too."""
    for offset, text in ((2**63 - 2, "08"), (2**63 - 1, "09")):
        value = evaluate(parse_expression(f"absTime(10, {offset})"), ClassAd(), None, CONTEXT)
        assert render_value(value) == f'absTime("1970-01-01T00:00:{text}-00:00")'


def test_what_has_an_offset_gets_no_other() -> None:
    check("moments with an offset")


def test_a_span_as_a_number() -> None:
    check("spans as numbers")


def test_parts_of_a_span_that_does_not_fit() -> None:
    check("parts of spans")


def test_spans_of_huge_parts() -> None:
    check("spans and moments of huge parts")
    stays = [case for case in RECORD["cases"] if case["topic"].endswith("whose text stays")]
    assert stays
    for case in stays:
        ours = said(case)
        # What the wheel prints of these it would not read back as the same.
        assert ours["value"] == case["value"], case
        assert said({"expr": ours["unparse"]}) == ours


def test_versions_of_strange_letters() -> None:
    check("versions of strange letters")


def test_functions_evaluate_elements_where_the_call_stands() -> None:
    check("elements of lists in nested ads")


@pytest.mark.parametrize("strict", [False, True])
def test_so_do_generated_functions(strict: bool) -> None:
    ad = parse_ad("[ x = 1; n = [ x = 10; l = { x }; inside = sum(l) ]; again = n.l ]")
    target = parse_ad("[ x = 5; n = [ x = 50; l = { x } ] ]")
    context = Context(strict=strict)
    # More often than it takes to get a function.
    for text, wanted in {
        "sum(n.l)": 1,
        "sum(again)": 1,
        "n.l[0]": 10,
        "n.inside": 10,
        "sum(TARGET.n.l)": 1,
        "TARGET.n.l[0]": 50,
    }.items():
        expr = parse_expression(text)
        values = [evaluate(expr, ad, target, context) for _ in range(2 * HOT)]
        assert set(values) == {wanted}, text


def test_nothing_is_compared_after_undefined() -> None:
    check("lists that are compared")


def test_a_call_for_a_span_without_arguments_is_printed_in_every_form() -> None:
    """It once ended the program that printed it as JSON."""
    ad = parse_ad('[ a = relTime(); b = relTime("1:00",2); c = { absTime() }; d = relTime(x) ]')
    for form in ("long", "new", "json", "xml"):
        assert "relTime()" in render_ads([ad], form)


def test_names_are_sorted_by_how_many_bytes_they_have_in_every_form_of_the_library() -> None:
    ad = ClassAd()
    for name in ("é", "bb", "ccc"):
        ad[name] = 1
    assert unparse(ad, old=True).split(" ")[0] == "bb"


def test_an_expression_in_ads_of_a_list_that_names_itself_has_an_end() -> None:
    ad = parse_ad("[ a = evalInEachContext(a,{ [ z = 1 ] }); b = countMatches(MY.b,{ [],[] }) ]")
    assert render_value(ad.evaluate("b")) == "0"
    assert render_value(ad.evaluate("a")) == "{ { undefined } }"


@pytest.mark.parametrize(
    "element",
    ["!l[0]", "l[0]", "l", "sum(l)", "member(1,l)", "listToArgs(l)", "l[1],l[0]", "max(l)"],
)
@pytest.mark.parametrize(
    "asked", ["l[0]", "sum(l)", "member(1,l)", "l == l", "max(l)", "listToArgs(l)", "l[0][0]"]
)
def test_a_list_that_looks_into_itself_has_an_answer(element: str, asked: str) -> None:
    """The wheel dies of half of these."""
    ad = parse_ad(f"[ l = {{ {element} }} ]")
    expr = parse_expression(asked)
    answers = {render_value(ad.evaluate_expression(expr)) for _ in range(3)}
    assert len(answers) == 1


@pytest.mark.parametrize("call", ["userHome()", 'userHome("a","b","c")', "unresolved(a,1)"])
def test_wrong_arguments_are_an_error_and_no_exception(call: str) -> None:
    """The wheel raises ClassAdException."""
    assert parse_ad("[a = b]").evaluate_expression(parse_expression(call)) is ERROR


def test_a_text_that_is_worked_out_is_a_time() -> None:
    ad = parse_ad('[d = "2024-01-01T00:00:00Z"; s = "1+00:00:01"]')
    assert ad.evaluate_expression(parse_expression("getYear(absTime(d))")) == 2024
    assert ad.evaluate_expression(parse_expression("relTime(s)")) == 86401.0


@pytest.mark.parametrize("text", ["8.9.10", "8-9-10", "8/9/10", "8.9.10T01:02:03", "00.00.00"])
def test_a_moment_that_would_not_be_read_back_is_printed_as_it_was_written(text: str) -> None:
    """The wheel prints 8-09-30 of the first three, which it reads as a day of the year 10."""
    expr = parse_expression(f'absTime("{text}")')
    assert unparse(expr) == f'absTime("{text}")'
    assert parse_expression(unparse(expr)).evaluate() == expr.evaluate() != ERROR


def test_a_selection_from_what_is_no_ad_still_says_what_it_needs() -> None:
    """The wheel's externalRefs raises ValueError for all of these."""
    ad = parse_ad("[a = 1]")
    assert find_references(parse_expression("f(a, b).x"), ad) == ({"a"}, {"b"})
    assert find_references(parse_expression('"x".y'), ad) == (set(), set())
    assert find_references(parse_expression("{ c, a }[1].x"), ad) == ({"a"}, {"c"})


def test_what_stands_behind_a_name_that_a_written_ad_lacks_is_used_too() -> None:
    """The wheel's internalRefs ends there, and says that nothing is used."""
    ad = parse_ad("[a = 1; d = a]")
    for text in ("[].x + d", "[].x ?: d", "{ [ y = 2 ].x, d }"):
        assert find_references(parse_expression(text), ad) == ({"a", "d"}, {"x"})
