"""Laws of the language over generated text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ERROR, ClassAd, parse_expression, parse_old_ad, unparse
from kettle.classad.forms_json import to_json
from kettle.classad.nodes import (
    AttributeReference,
    Binary,
    Call,
    Conditional,
    Expr,
    ListNode,
    Selection,
    Subscript,
    Unary,
    literal,
)
from kettle.classad.parser import PRECEDENCE, Parser, parse_old_value
from kettle.errors import ClassAdSyntaxError

NAMES = st.sampled_from(["a", "Memory", "x y", "true", "parent", "_1"])
LITERALS = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
).map(literal)
OPERATORS = sorted(set(PRECEDENCE) - {"is", "isnt"})


def _nest(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Unary, st.sampled_from("+!~"), inner),
        # The minus of a number prints like a negative number, as in the reference.
        st.builds(Unary, st.just("-"), st.builds(AttributeReference, NAMES)),
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(Conditional, inner, st.none() | inner, inner),
        st.builds(Selection, inner, st.sampled_from(["b", "Parent"])),
        st.builds(Subscript, inner, inner),
        st.builds(Call, st.sampled_from(["f", "strcat"]), st.lists(inner, max_size=3).map(tuple)),
        st.builds(ListNode, st.lists(inner, max_size=3).map(tuple)),
    )


EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(LITERALS, st.builds(AttributeReference, NAMES)), _nest, max_leaves=12
)


@given(EXPRESSIONS)
def test_what_is_printed_is_read_back_printed_the_same(expr: Expr) -> None:
    text = unparse(expr)
    again = parse_expression(text)
    assert unparse(again) == text
    assert parse_expression(unparse(again)) == again


@given(EXPRESSIONS)
def test_evaluation_always_has_an_answer(expr: Expr) -> None:
    ad = ClassAd({"a": 1, "Memory": [1, {"b": 2}]})
    value = ad.evaluate_expression(expr, ClassAd({"b": "x"}))
    assert value is not None


@given(st.text(max_size=60))
@example("(" * 200)
@example("a" + ".b" * 500)
def test_the_parser_refuses_or_accepts_any_text(text: str) -> None:
    try:
        expr = parse_expression(text)
    except ClassAdSyntaxError:
        return
    assert parse_expression(unparse(expr)) == parse_expression(unparse(expr))


@given(st.text("()[]{}.,;?:=!<>&|+-*/%^~\"\\' ab1", max_size=40))
def test_the_parser_survives_its_own_symbols(text: str) -> None:
    for old in (False, True):
        try:
            Parser(text, old=old).expression()
        except ClassAdSyntaxError:
            continue


@given(st.text(max_size=40))
def test_text_inserted_unchecked_never_raises(text: str) -> None:
    ad = ClassAd()
    ad.insert_text("A", text)
    value = ad.evaluate("A")
    assert value is ERROR or ad.lookup("A") is not None


_PLAIN = r'-?(0|[0-9]{1,20})(\.[0-9]{0,8})?([eE]-?[0-9]{1,2})?|"[a-z\\ ]{0,5}"'


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_what_is_plainly_a_literal_is_what_the_parser_makes_of_it(text: str) -> None:
    try:
        parsed = Parser(text, old=True).expression()
    except ClassAdSyntaxError:
        return
    assert unparse(parse_old_value(text), old=True) == unparse(parsed, old=True)


VALUES = st.one_of(
    st.from_regex(r'"[a\\" \t]{0,6}"?', fullmatch=True),
    st.from_regex(r"-?0?[0-9٣]{1,20}(\.[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["true", "undefined", "1 + 1", '"a" + 1', "1e3", "0x10", '""', "Other"]),
)


@example(text="010", chained=False)
@given(text=VALUES, chained=st.booleans())
def test_a_value_that_nobody_parsed_is_the_one_that_parsing_gives(text: str, chained: bool) -> None:
    parent = ClassAd({"Other": 7}) if chained else None
    fresh, parsed = ClassAd(parent=parent), ClassAd(parent=parent)
    fresh.insert_text("X", text)
    parsed.insert_text("X", text)
    parsed.lookup("X")
    for name in ("X", "x", "Other"):
        found = [(ad.string(name), ad.integer(name), ad.real(name)) for ad in (fresh, parsed)]
        assert repr(found[0]) == repr(found[1])
        assert fresh.boolean(name) is parsed.boolean(name)


@given(st.lists(st.tuples(st.sampled_from(["A", "B", "Name%s", "%"]), VALUES), max_size=4))
@example([("A", '"\x7f"'), ("B", '"é"')])
@example([("A", '"tab\t"'), ("B", '"a/b"')])
def test_an_ad_whose_values_were_kept_as_text_is_printed_as_one_that_was_read(
    entries: list[tuple[str, str]],
) -> None:
    lines = [f"{name} = {text}" for name, text in entries]
    try:
        kept, read = parse_old_ad(lines), parse_old_ad(lines)
    except ClassAdSyntaxError:
        return
    for name in read:
        read.lookup(name)
    assert unparse(kept, old=True) == unparse(read, old=True)
    # As a program prints them that looks at nothing, each anew.
    assert unparse(parse_old_ad(lines)) == unparse(read)
    assert to_json(parse_old_ad(lines)) == to_json(read)
