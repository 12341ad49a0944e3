"""Generated functions say what the closures say, of any ads, or nothing at all."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ERROR, ClassAd, Context, hot, parse_expression
from kettle.classad.compile import evaluate, evaluate_lazily, finished
from kettle.classad.context import ambient
from kettle.classad.functions import library, regex
from kettle.classad.functions.library import families
from kettle.classad.functions.table import Function, StrictFunction, strict
from kettle.classad.generated import generate
from kettle.classad.generated_source import Writer
from kettle.classad.state import State, new_state, resolve
from kettle.classad.unparse import render_value
from kettle.classad.values import HOT, MISSED, ExprList, Hot, Tree, Value

NAMES = ("A", "B", "C", "D", "Memory", "My", "Target")
VALUES = (
    *("0", "1", "-1", "7", "9223372036854775807", "-9223372036854775807 - 1", "2", "64"),
    *("0.0", "0.5", "1.0", "-2.5", "1.0e308", 'real("INF")', 'real("NaN")', 'real("-INF")'),
    *("true", "false", "undefined", "error", '""', '"a"', '"A"', '"X86_64"', '"x86_64"', '"7"'),
    *('"' + letter * 1500 + '"' for letter in "aA"),
    '"' + "a" * 2500 + '"',
    *('relTime("1+00:00:00")', 'absTime("2020-01-01T00:00:00Z")', '{ 1,"a",2.5 }', "{}"),
)
BINARY = (
    *("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "=?=", "=!=", "&&", "||"),
    *("&", "|", "^", "<<", ">>", ">>>", "&&", "||", "==", "<="),
)
REFERENCES = (
    *NAMES[:5],
    *(f"TARGET.{name}" for name in NAMES[:5]),
    *(f"MY.{name}" for name in NAMES[:5]),
)
FUNCTIONS = ("size", "isUndefined", "isError", "floor", "int", "toLower", "string", "real")
# Functions with ways of their own for arguments that are constants.
PAIRS = (
    *("regexp", "member", "identicalMember", "strcat", "stringListSubsetMatch"),
    *("stringListMember", "stringListIMember", "stringListISubsetMatch", "stringListsIntersect"),
)
CONSTANTS = (
    *('"a"', '"A,b 7"', '"^[aA]"', '"[a"', '".*a.*a"', '""', "undefined", "error", "7", "true"),
    *('{ "a",7,2.5,"B",undefined }', "{}", "{ A }", '"' + "a," * 1500 + '"', '{ { "a" } }'),
)


def _nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({}({}))".format, st.sampled_from(("-", "+", "!", "~")), inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("({} ?: {})".format, inner, inner),
        st.builds("ifThenElse({}, {}, {})".format, inner, inner, inner),
        st.builds("{}({})".format, st.sampled_from(FUNCTIONS), inner),
        st.builds("strcat({}, {})".format, inner, inner),
        st.builds("member({}, {})".format, inner, inner),
        st.builds("regexp({}, {})".format, inner, inner),
        st.builds("{}({}, {})".format, st.sampled_from(PAIRS), inner, inner),
        st.builds("{}({}, {})".format, st.sampled_from(PAIRS), st.sampled_from(CONSTANTS), inner),
        st.builds("{}({}, {})".format, st.sampled_from(PAIRS), inner, st.sampled_from(CONSTANTS)),
    )


_LEAVES = st.one_of(
    st.sampled_from(VALUES), st.sampled_from(REFERENCES), st.sampled_from(REFERENCES)
)
EXPRESSIONS = st.recursive(_LEAVES, _nest, max_leaves=10)
_ENTRIES = st.one_of(
    st.sampled_from(VALUES), st.sampled_from(VALUES), st.recursive(_LEAVES, _nest, max_leaves=3)
)


@st.composite
def ads(draw: st.DrawFn) -> ClassAd:
    """Return an ad, chained to another or not, whose attributes are parsed or not."""
    parent = None
    if draw(st.booleans()):
        parent = ClassAd()
        for name, text in draw(st.dictionaries(st.sampled_from(NAMES[:4]), _ENTRIES)).items():
            parent.insert_text(name, text)
    ad = ClassAd(parent=parent)
    names = st.one_of(
        st.sampled_from(NAMES[:5]), st.sampled_from(NAMES[:5]), st.sampled_from(NAMES)
    )
    for name, text in draw(st.dictionaries(names, _ENTRIES, max_size=5)).items():
        ad.insert_text(name, text)
        if draw(st.booleans()):
            ad.lookup(name)
    return ad


def by_closures(text: str, ad: ClassAd, target: ClassAd | None) -> Value:
    """Return the value by the reference evaluator."""
    state = new_state(ad, target)
    return finished(evaluate_lazily(parse_expression(text), state), state)


def by_generated(text: str, model: list[ClassAd], ad: ClassAd, target: ClassAd | None) -> object:
    """Return the value by the function that is generated for the ads of the model, or MISSED."""
    other = None if target is None else model[1]
    made = generate(parse_expression(text), model[0], other)
    if made is None:
        return MISSED
    value = made[0](ad, target, ambient())
    return finished(value, new_state(ad, target)) if isinstance(value, ExprList) else value


@given(EXPRESSIONS, st.lists(ads(), min_size=4, max_size=4))
@example("A", [ClassAd(), ClassAd({"A": 1}), ClassAd({"A": 2}), ClassAd()])
@example("TARGET.A", [ClassAd(), ClassAd({"A": 1}), ClassAd({"Target": 2}), ClassAd({"A": 3})])
@example("A =?= undefined", [ClassAd()] * 4)
@example("5 =?= A", [ClassAd()] * 4)
@example("9223372036854775807 + A", [ClassAd({"A": 1})] * 4)
def test_what_is_generated_for_some_ads_says_of_any_what_the_closures_say(
    text: str, some: list[ClassAd]
) -> None:
    for ad, target in ((some[0], some[1]), (some[2], some[3]), (some[1], some[1])):
        for chosen in (target, None):
            found = by_generated(text, some, ad, chosen)
            if found is not MISSED:
                assert repr(found) == repr(by_closures(text, ad, chosen))


PLAIN = ClassAd({"A": 5, "Arch": "x86_64", "R": 0.5, "Flag": True, "L": [1, 2]})
PLAIN.insert_text("Formula", "A > TARGET.B || Flag")
PLAIN.insert_text("Circle", "Circle2 + 1")
PLAIN.insert_text("Circle2", "Circle + 1")
OTHER = ClassAd({"B": 3, "Name": "slot1@host"})
OTHER.insert_text("Back", "TARGET.A + B + Arch2")


@pytest.mark.parametrize(
    "text",
    [
        *("A", "A + 1", "A * R", "A - 1 > 3", "A / 2", "R / 2.0", "A / 2.0", "-A", "!Flag", "~A"),
        *('Arch == "X86_64"', 'Arch =?= "x86_64"', 'Arch != "INTEL" && A >= 5', "R <= 0.5"),
        *("Formula", "TARGET.Back", "Back", "B + MY.A", "TARGET.Nope =?= undefined", "Nope ?: 7"),
        *("ifThenElse(Flag, A, R)", "A > 3 ? R : A", "isUndefined(Nope) || Nope > 3"),
        *('member("a", { "b","A" })', 'regexp("^slot", Name)', 'strcat(Name, "/")', "size(Name)"),
        *("15 * 60 + A", "A =!= 5", "Flag =?= true", "{ 1,2 }", 'split("a b")'),
        *("1 / 0 == A", "A % 2 == 1 && (Nope || Flag)", "Formula && TARGET.Nope"),
    ],
)
def test_usual_expressions_have_functions_with_the_same_values(text: str) -> None:
    found = by_generated(text, [PLAIN, OTHER], PLAIN, OTHER)
    assert found is not MISSED
    assert repr(found) == repr(by_closures(text, PLAIN, OTHER))


def test_no_function_is_generated_for_a_call_that_nobody_knows_yet() -> None:
    assert by_generated("nosuch(1)", [PLAIN, OTHER], PLAIN, OTHER) is MISSED


@pytest.mark.parametrize(
    "text",
    [
        *("Circle", ".A", "A.B", "L[0]", "MY", "TARGET", "CurrentTime", "random(5)", 'eval("A")'),
        *("[ a = 1 ]", "{ A,1 }", 'debug("x")', "unresolved(A)", "self", "TARGET.MY"),
        " && ".join(["A > 1"] * 200),
        "!(" * 30 + "A" + ")" * 30 + " && " + "(A && " * 41 + "A" + ")" * 41,
        '"' + "a" * 10_000 + '" == A',
    ],
)
def test_what_a_function_could_say_otherwise_has_none(text: str) -> None:
    assert by_generated(text, [PLAIN, OTHER], PLAIN, OTHER) is MISSED


def test_an_expression_that_is_asked_often_gets_a_function() -> None:
    expr = parse_expression("HotName > TARGET.HotLimit")
    ads_seen = [ClassAd({"HotName": number}) for number in range(HOT + 5)]
    target = ClassAd({"HotLimit": HOT // 2})
    found = [evaluate(expr, ad, target) for ad in ads_seen]
    assert found == [number > HOT // 2 for number in range(HOT + 5)]
    heat = expr.heat
    assert isinstance(heat, Hot)
    assert len(heat.matched) == 1
    assert not heat.alone
    assert heat.matched[0](ads_seen[0], target, ambient()) is False


def test_ads_of_another_kind_get_a_function_of_their_own() -> None:
    expr = parse_expression("HotStart && HotKind")
    kinds = []
    for text in ("Number > 1", "Number > 2"):
        ad = ClassAd({"Number": 2, "HotKind": True})
        ad.insert_text("HotStart", text)
        kinds.append(ad)
    for _ in range(4 * HOT):
        assert [evaluate(expr, ad) for ad in kinds] == [True, False]
    heat = expr.heat
    assert isinstance(heat, Hot)
    assert len(heat.alone) == 2


# Their examples are more than the call: what generated code knows nothing of.
BY_CLOSURES = {"splitTime"}
ROWS = [row for rows in families().values() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_function_says_the_same_of_its_examples_when_generated_code_takes_over(
    row: Function,
) -> None:
    ad = ClassAd({"Known": True})
    taken_over = set()
    for text, value in row.examples:
        # The name keeps the whole from being a constant.
        expr = parse_expression(f"Known ? ({text}) : 0")
        for _ in range(HOT + 5):
            assert render_value(evaluate(expr, ad)) == value, text
        heat = expr.heat
        assert isinstance(heat, Hot)
        taken_over.add(bool(heat.alone))
    may = row.name not in BY_CLOSURES and getattr(row.apply, "may_repeat", False)
    assert (True in taken_over) is (may or row.name == "ifThenElse")


def test_what_a_function_calls_its_state_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(_state: State, values: list[Value]) -> Value:
        return ERROR if _state.ad is None else resolve(_state, _state.ad, "own", alternate=False)

    row = strict("readsOwn", "readsOwn()", "What it reads.", own)
    monkeypatch.setitem(library._functions, "readsown", row)
    ad = ClassAd({"Known": True, "Own": 7})
    assert by_closures("Known ? readsOwn() : 0", ad, None) == 7
    assert by_generated("Known ? readsOwn() : 0", [ad], ad, None) == 7


def test_functions_are_tried_for_only_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(hot, "HOT", 1)
    monkeypatch.setattr(hot, "generate", lambda *_: tried.append(1))
    expr = cast(Tree, parse_expression("HotOdd.Attribute > 1"))
    hot.cool(expr, HOT, PLAIN, None)
    for _ in range(1000):
        assert isinstance(expr.heat, Hot)
        hot.cool(expr, expr.heat, PLAIN, None)
    assert len(tried) == 6


def test_strict_evaluation_is_the_closures() -> None:
    expr = parse_expression("HotStrict ?: 1")
    ad, target = ClassAd(), ClassAd({"HotStrict": 2})
    for _ in range(HOT + 5):
        assert evaluate(expr, ad, target) == 2
    assert isinstance(expr.heat, Hot)
    assert evaluate(expr, ad, target, Context(strict=True)) == 1


def test_an_attribute_that_changes_is_read_anew() -> None:
    expr = parse_expression("HotPolicy")
    ad = ClassAd({"Number": 1})
    ad.insert_text("HotPolicy", "Number + 1")
    for _ in range(HOT + 5):
        assert evaluate(expr, ad) == 2
    ad.insert_text("HotPolicy", "Number + 2")
    assert evaluate(expr, ad) == 3
    ad["Number"] = 5
    assert evaluate(expr, ad) == 7
    ad["HotPolicy"] = "text"
    assert evaluate(expr, ad) == "text"
    del ad["HotPolicy"]
    assert repr(evaluate(expr, ad)) == "UNDEFINED"


@pytest.mark.parametrize(
    "text", ["toLower(Text)", "Text < Text", "size(Text) == 7", '"x" =?= Text']
)
def test_a_text_that_counts_is_left_to_the_closures(text: str) -> None:
    """Else generated code would read what no evaluation may."""
    short, long = ClassAd({"Text": "a" * 2048}), ClassAd({"Text": "a" * 2049})
    assert by_generated(text, [short], short, None) is not MISSED
    assert by_generated(text, [short], long, None) is MISSED


# Functions of values whose calls mean nothing besides their value; what two evaluations may see
# otherwise is left out, and what is read as a literal and is no call.
_CHANGING = {
    "reltime",
    "random",
    "time",
    "currenttime",
    "daytime",
    "timezoneoffset",
    "abstime",
    "formattime",
}
_PURE = sorted(
    function.name
    for family in families().values()
    for function in family
    if isinstance(function.apply, StrictFunction)
    and function.apply.may_repeat
    and function.name.lower() not in _CHANGING
)
_SOME = (
    *("undefined", "error", "true", "false", "0", "7", "-2.5", '""', '"a"', '"A,b 7"', '"b,B"'),
    *('"^[aA]"', '"[a"', '"7.10"', '{ "a",7,2.5,"B",undefined }', 'relTime("1+00:00:00")'),
    '"' + "a" * 2500 + '"',
)


@pytest.mark.parametrize("name", _PURE)
def test_a_function_means_the_same_whichever_of_its_arguments_are_constants(name: str) -> None:
    calls = [f"{name}({one})" for one in ("X", 'split("a b")', *_SOME)]
    for one in _SOME:
        calls += [f"{name}({one}, X)", f"{name}(X, {one})", f"{name}({one}, split(X))"]
    answers = 0
    for text in calls:
        made = None
        for value in _SOME:
            ad = ClassAd()
            ad.insert_text("X", value)
            said = by_closures(text, ad, None)
            # Made when the closures have been asked, as in life.
            made = made or generate(parse_expression(text), ad, None)
            if made is None:
                break
            found = made[0](ad, None, ambient())
            if found is not MISSED:
                answers += 1
                found = finished(found, new_state(ad, None))
                assert repr(found) == repr(said), (text, value)
    assert answers


def _names_lists(count: int, elements: int) -> str:
    numbers = ", ".join(map(str, range(elements)))
    return " || ".join(f"member(A, {{ {numbers} }})" for _ in range(count))


def test_many_elements_are_left_to_the_closures_which_count_them() -> None:
    ad = ClassAd({"A": 0.5})
    ad.insert_text("L", f"{{ {', '.join(map(str, range(90)))} }}")
    assert generate(parse_expression(_names_lists(4, 90)), ad, None) is not None
    assert generate(parse_expression(_names_lists(5, 90)), ad, None) is None
    # Also where it is one and the same list many times.
    assert generate(parse_expression(" || ".join(["member(A, L)"] * 5)), ad, None) is None
    long = " || ".join(f'"{letter * 1500}"' for letter in "ab").replace(" || ", ", ")
    assert generate(parse_expression(f"member(A, {{ {long} }})"), ad, None) is None


def test_no_pattern_is_compiled_for_a_function_that_is_made() -> None:
    text = 'B && regexp("^never[0-9]+compiled@", A)'
    ad = ClassAd({"A": "never1compiled@", "B": False})
    assert by_generated(text, [ad], ad, None) is False
    assert ("^never[0-9]+compiled@", 0) not in regex._compiled
    ad["B"] = True
    assert by_closures(text, ad, None) is True
    assert by_generated(text, [ad], ad, None) is True


def test_a_text_that_makes_a_quick_pattern_slow_is_left_to_the_closures() -> None:
    text = 'regexp("^slot[0-9]+@", A)'
    ad = ClassAd({"A": "slot1@"})
    assert by_closures(text, ad, None) is True
    for length, answer in ((500, False), (2000, MISSED)):
        assert by_generated(text, [ad], ClassAd({"A": "x" * length}), None) is answer
    # One that takes the square of the length is not prepared at all.
    slow = 'regexp("node[0-9]+[.]cluster", A)'
    assert by_closures(slow, ad, None) is False
    writer = Writer(ad, None)
    writer.write(parse_expression(slow), 0)
    assert writer.calls


def test_a_list_that_a_function_makes_is_read_by_the_closures_which_count_it() -> None:
    ad = ClassAd({"A": "a b c"})
    assert by_generated("split(A)", [ad], ad, None) == ["a", "b", "c"]
    assert by_generated("size(split(A))", [ad], ad, None) is MISSED
