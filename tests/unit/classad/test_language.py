"""The rows R001 to R023 of the language, each shown once."""

from __future__ import annotations

import pytest

from kettle.classad import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    ClassAd,
    Context,
    RelativeTime,
    Value,
    parse_ad,
    parse_expression,
    parse_old_ad,
    unparse,
)
from kettle.errors import ClassAdSyntaxError
from stopwatch import cpu_seconds

shows = pytest.mark.shows


def value(text: str, ad: str = "[]", target: str | None = None) -> Value:
    other = None if target is None else parse_ad(target)
    return parse_expression(text).evaluate(parse_ad(ad), other)


@shows("R001")
def test_names_of_attributes_ignore_case_and_old_syntax_is_a_line_each() -> None:
    ad = parse_old_ad('memory = 512\nOwner = "alice"\n')
    assert ad.integer("MEMORY") == 512
    ad["Memory"] = 5
    assert ad.names() == ["memory", "Owner"]
    assert list(ad.lines()) == ["memory = 5", 'Owner = "alice"']


@shows("R002")
def test_new_syntax_nests_and_the_last_semicolon_may_be_missing() -> None:
    assert value("b", "[a=1;b=a+1]") == 2
    assert value("n.q", "[n=[p=1;q=p+1;]]") == 2


@shows("R003")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1000000000000", 1000000000000),
        ("1.5e3", 1500.0),
        (r'"a\"b"', 'a"b'),
        ('{1,"x"}', [1, "x"]),
        ("FALSE", False),
        ("Undefined", UNDEFINED),
        ("ERROR", ERROR),
    ],
)
def test_literals_are_read(text: str, wanted: Value) -> None:
    assert value(text) == wanted


@shows("R004")
def test_unknown_attributes_are_undefined_and_wrong_types_error() -> None:
    assert value("Nope + 1") is UNDEFINED
    assert value('"a" * 3') is ERROR
    assert value('10 == "a"') is ERROR


LOGIC = {"true": True, "false": False, "undefined": UNDEFINED, "error": ERROR}


@shows("R005")
@pytest.mark.parametrize("left", LOGIC)
@pytest.mark.parametrize("right", LOGIC)
def test_logic_has_four_values(left: str, right: str) -> None:
    one, other = LOGIC[left], LOGIC[right]
    both: Value
    for operator, decisive in (("&&", False), ("||", True)):
        if one is decisive or one is ERROR:
            both = one
        elif other is decisive or other is ERROR or one is not UNDEFINED:
            both = other
        else:
            both = UNDEFINED
        assert value(f"{left} {operator} {right}") is both


@shows("R006")
def test_is_never_gives_undefined_and_sees_case() -> None:
    assert value('"A" == "a"') is True
    assert value('"A" =?= "a"') is False
    assert value("undefined =?= undefined") is True
    assert value("10 =?= 10.0") is False
    assert value("x isnt 1") is True


@shows("R007")
def test_operators_bind_as_in_c() -> None:
    assert value("1+2==3") is True
    assert parse_expression("a < 60 == false") == parse_expression("a < 60 == false")
    assert value("a < 60 == false", "[a=70]") is True
    assert value("1 + 2 * 3 - 4 / 2") == 5
    assert value("true || false && false") is True


@shows("R008")
def test_booleans_are_numbers_and_numbers_booleans() -> None:
    assert value("true + true") == 2
    assert value("(undefined =!= true) * 0") == 0
    assert value("2 && true") is True


@shows("R009")
def test_the_conditional_and_its_short_form() -> None:
    assert value('(1==1) ? "a" : "b"') == "a"
    assert value("undefined ? 1 : 2") is UNDEFINED
    assert value("undefined ?: 5") == 5


@shows("R010")
def test_scopes_choose_the_ad_and_bare_names_fall_back_to_the_target() -> None:
    my, target = "[x=1]", "[x=2;y=3]"
    for text, wanted in (("MY.x", 1), ("Target.X", 2), ("y", 3), ("x", 1), ("MY.y", UNDEFINED)):
        assert value(text, my, target) == wanted


@shows("R011")
def test_the_clock_is_the_contexts() -> None:
    context = Context(lambda: 1234.9)
    for text in ("CurrentTime", "time()"):
        assert ClassAd().evaluate_expression(parse_expression(text), None, context) == 1234


@shows("R012")
def test_ifthenelse_evaluates_one_branch_only() -> None:
    assert value('ifThenElse(true,1,1/"a")') == 1
    assert value("ifThenElse(undefined,1,2)") is UNDEFINED
    assert value("ifThenElse(true,1)") is ERROR


@shows("R013")
def test_eval_evaluates_text_that_strcat_made() -> None:
    assert value('eval(strcat("slot",3-2,"_State"))', '[slot1_State="Claimed"]') == "Claimed"


@shows("R014")
@shows("R015")
@shows("R016")
@shows("R017")
@shows("R018")
def test_the_functions_that_policies_use() -> None:
    assert value("isUndefined(Nope)") is True
    assert value('isInteger("3")') is False
    assert value('int("12")') == 12
    assert value("quantize(130,{128})") == 256
    assert value("quantize(0,{4})") == 4
    assert value('quantize(3,{1,2,"A"})') is ERROR
    assert value('stringListMember("b","a,b")') is True
    assert value('stringListSum("1,2")') == 3
    assert value('stringListIMember("B","a,b")') is True


@shows("R019")
def test_circular_references_are_undefined_at_once() -> None:
    # As the vectors have it.
    assert value("a", "[a=b; b=a]") is UNDEFINED
    assert value("a", "[a=a+1]") is UNDEFINED
    assert value("TARGET.a", "[x=TARGET.a]", "[a=TARGET.x]") is UNDEFINED


@shows("R020")
@pytest.mark.parametrize(
    "text",
    [
        '(TARGET.Arch == "X86_64") && (TARGET.Memory >= RequestMemory)',
        "KeyboardIdle > 15 * 60 && LoadAvg < 0.3",
        "ifThenElse(isUndefined(x), { 1,2 }, [ a = 1 ].a) =?= y",
        "a ?: b ?: c ? d : e",
        "-(x + 1) % ~y >>> 2",
    ],
)
def test_what_is_printed_parses_to_the_same(text: str) -> None:
    expr = parse_expression(text)
    assert parse_expression(unparse(expr)) == expr
    assert parse_expression(unparse(expr, old=True), old=True) == expr


@shows("R021")
def test_comments_and_newlines_may_stand_in_ads() -> None:
    assert parse_ad("[ /* c */ a = 1; // d\nb = 2 ]").names() == ["a", "b"]


@shows("R023")
def test_an_error_names_the_place() -> None:
    with pytest.raises(ClassAdSyntaxError, match="column 8") as caught:
        parse_expression("a == b )c")
    assert caught.value.column == 7
    with pytest.raises(ClassAdSyntaxError, match="line 2"):
        parse_old_ad("a = 1\nb = (\n")


def test_times_are_values() -> None:
    assert value("absTime(0,3600)") == AbsoluteTime(0, 3600)
    assert value("relTime(90061)") == RelativeTime(90061)
    assert str(RelativeTime(90061)) == "1+01:01:01"


def test_values_of_nested_ads_are_evaluated_where_they_stand() -> None:
    nested = value("n", "[x=1;n=[y=x]]")
    assert isinstance(nested, ClassAd)
    assert nested.evaluate("y") == 1
    nested["y"] = 2
    assert nested.evaluate("y") == 2


@shows("R023")
@pytest.mark.parametrize(
    "text",
    [
        'Owner == "coltrane" || Owner == "tyner"',
        '(Owner == "coltrane") + (Owner == "tyner")',
        '(Owner == "coltrane" * 1000000000000) + Imagesize',
        'KeyboardIdle > 15 * 60 && Owner == "coltrane"',
        "(SlotID == 1) && (PolicyForSlot1)",
        "quantize(RequestMemory, {128})",
        'TARGET.JobUniverse =?= 5 && isUndefined(TARGET.WantApptainer) ? "yes" : "no"',
    ],
)
def test_policies_of_the_manual_parse(text: str) -> None:
    assert parse_expression(text, old=True) == parse_expression(text)


@pytest.mark.parametrize(
    ("first", "each"),
    [
        ("1", "X + X"),
        ("1", "MY.X + MY.X"),
        ("1", "X < X || X > X"),
        ('"abc"', "strcat(X, X)"),
        ('"abc"', 'join("", { X, X })'),
        ('"aaaa"', 'replaceAll("a", X, X)'),
        ('"aaaa"', 'replaceAll("(a*)", X, "\\\\1\\\\1\\\\1\\\\1")'),
    ],
)
def test_a_row_of_attributes_that_doubles_each_time_is_an_error_in_no_time(
    first: str, each: str
) -> None:
    """A user's job must not keep the schedd busy for ever; the reference has no such bound."""
    ad = ClassAd()
    ad.insert_text("A0", first)
    for number in range(1, 60):
        ad.insert_text(f"A{number}", each.replace("X", f"A{number - 1}"))

    def refused() -> None:
        assert ad.evaluate("A59") is ERROR

    assert cpu_seconds(refused, below=5) < 5


def test_what_a_policy_looks_at_is_far_below_the_bound() -> None:
    ad = ClassAd({"Text": "x" * 1_000_000})
    ad.insert_text("Both", "strcat(Text, Text)")
    assert len(ad.string("Both") or "") == 2_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ 1,2 }[4294967297]", 2),
        ('join(",","","","a","","b")', "a,,b"),
        ("max({ true,true })", 1),
        ("max({ true })", True),
        ('stringListSum("1-2,3")', 4),
        ('stringListMin("nan,inf")', 3.4028234663852886e38),
        ('stringListMax("nan,-1.5")', 1.1754943508222875e-38),
    ],
)
def test_what_the_reference_makes_of_odd_arguments(text: str, expected: Value) -> None:
    found = value(text)
    assert (type(found), found) == (type(expected), expected)


def test_of_a_long_template_the_beginning_is_filled_in() -> None:
    ad = ClassAd({"Template": "x" * 5000})
    found = ad.evaluate_expression(parse_expression("formatTime(0, Template)"))
    assert found == parse_expression("formatTime(0, substr(Template, 0, 1022))").evaluate(ad)
