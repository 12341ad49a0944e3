"""What expressions and ads are where the reference is knowingly not followed."""

from __future__ import annotations

from kettle.classad import ERROR, UNDEFINED, Context, parse_ads, parse_expression, unparse
from kettle.classad.ad import parse_ad
from kettle.classad.compile import evaluate_lazily
from kettle.classad.state import new_state


def _read(text: str, form: str) -> list[str]:
    return [unparse(ad) for ad in parse_ads(text, form)]


def test_a_context_of_a_list_may_be_a_reference() -> None:
    ad = parse_ad("[n = [p = 1]; m = evalInEachContext(p,{n,[p = 4]})]")
    value = evaluate_lazily(
        parse_expression("m[0] + m[1]"), new_state(ad, parse_ad("[]"), Context(strict=True))
    )
    assert value == 5


def test_escaped_characters_of_json_are_read_whole() -> None:
    (ad,) = parse_ads('{"a":"\\u00e9"}', "json")
    assert ad.string("a") == "é"


def test_the_form_of_what_begins_with_a_bracket_is_guessed_right() -> None:
    assert _read("[\na = 1;\n]\n[\nb=2\n]\n", "auto") == ["[ a = 1 ]", "[ b = 2 ]"]
    for form in ("new", "auto"):
        assert _read("{[a=1],[b=2]}", form) == ["[ a = 1 ]", "[ b = 2 ]"]
    assert _read("[a=1],[b=2]", "auto") == ["[ a = 1 ]", "[ b = 2 ]"]
    assert _read("[]\n[]", "auto") == ["[  ]", "[  ]"]


def test_a_name_within_names_that_are_not_there_is_undefined_at_any_depth() -> None:
    for depth in (3, 500, 5000):
        expr = parse_expression("a" + ".a" * depth)
        assert evaluate_lazily(expr, new_state(None, None, Context())) is UNDEFINED
    assert evaluate_lazily(parse_expression("(1).a"), new_state(None, None, Context())) is ERROR
