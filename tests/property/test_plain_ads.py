"""An ad in new syntax means the same whether its entries are read by a pattern or by the parser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ClassAd, parse_ad, parse_expression, unparse
from kettle.classad.parser import Parser
from kettle.classad.plain_ads import find_plain_ad
from kettle.errors import ClassAdSyntaxError

_PIECES = (
    *("a", "A", "Name", "b1", "_x", "true", "Is", "error", "'q'", "1x", "é"),
    *(
        "=",
        "==",
        ";",
        ";;",
        " ",
        "\n",
        "\t",
        "\f",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ",",
        "?",
        ":",
        ".",
    ),
    *("1", "-1", "0", "-0", "007", "0x1F", "12345678901234567890", "1.5", "-0.0", "1.5E+01", "1."),
    *("1e5", ".5", '"s"', '"a;b"', '"]"', '"\\""', '"\\', '"é"', '"', "'", "/", "//", "/*", "*/"),
    *(
        "+",
        "-",
        "!",
        "&&",
        "=?=",
        "is",
        "size(a)",
        "{ 1,a }",
        "[ c = 1; d = 2 ]",
        "\\",
        "\0",
        "\xa0",
        "\x1f",
    ),
)
_ENTRIES = st.builds(
    "{}={};".format,
    st.sampled_from(_PIECES),
    st.lists(st.sampled_from(_PIECES), max_size=4).map("".join),
)
_PLAIN = st.builds(
    "{} = {};".format,
    st.sampled_from(["a", "B", "c_1", "A"]),
    st.sampled_from(
        ["1", "-17", "2.50", "-1.0E-03", '"x y"', "a + b", '{ 1,"s" }', "a ? 1 : 2", "undefined"]
    ),
)
_IN_BRACKETS = st.lists(st.one_of(_PLAIN, _PLAIN, _PLAIN, _ENTRIES), max_size=5).map(
    lambda entries: "[" + " ".join(entries) + "]"
)
# As ads are printed, with whatever may stand there.
_PRINTED = st.lists(
    st.builds(
        "{} = {}".format,
        st.sampled_from(["a", "B", "c_1", "A", "true", "'q'", " a"]),
        st.one_of(
            st.sampled_from(
                ["1", "-17", "2.50", "-1.0E-03", '"x y"', "a + b", '{ 1,"s" }', "undefined", "-0"]
            ),
            st.sampled_from(
                ['"a; b = 1"', '"x', 'y"', "[ c = 1; d = 2 ]", "f(1; 2)", "1 // 2", "/* ", " */ 1"]
            ),
            st.lists(st.sampled_from(_PIECES), max_size=3).map("".join),
        ),
    ),
    max_size=5,
).map(lambda entries: "[ " + "; ".join(entries) + " ]")
_ADS = st.one_of(_IN_BRACKETS, _PRINTED)


def _by_parser(text: str) -> ClassAd:
    parser = Parser(text)
    node = parser.outermost_ad()
    parser.expect_end()
    return ClassAd.view_of(node, None)


def _outcome(parse: Callable[[str], ClassAd], text: str) -> ClassAd | str:
    """Return the ad, or what the parser says is wrong."""
    try:
        return parse(text)
    except ClassAdSyntaxError as error:
        return str(error)


@given(_ADS)
@example("[a=1]")
@example("[]")
@example("[;;]")
@example("[a=1;A=2]")
@example("[a=1;;b=2;] ")
@example("[a=1;b=2] x")
@example("[a=1//;\n;b=2]")
@example("[a=-0;b=-0.0;c=00]")
@example('[a="x" "y";b="]"]')
@example("[is=1]")
@example("[a==1]")
@example("[a=\xa01]")
@example("[a=b\x1c]")
@example("[a=\u20031+\u0661]")
@example('[ a = "x; A = 1; y" ]')
@example('[ a = "x"//; B = 2 ]')
@example("[ a = f(1; B = 2) ]")
@example("[ a = [ B = 1 ]")
@example('[ a = "x ]')
@example("[ a = 1; a = 2; A = -0; B = 007 ]")
@example("[ ]")
@example("[  ]")
@example("[ a = 1;  ]")
def test_every_ad_is_what_the_parser_says(text: str) -> None:
    wanted = _outcome(_by_parser, text)
    found = _outcome(parse_ad, text)
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    assert unparse(found) == unparse(wanted)
    assert found.names() == wanted.names()
    assert all(found.lookup(name) == wanted.lookup(name) for name in wanted.names())


def test_most_ads_are_read_by_the_pattern() -> None:
    text = (
        '[ Requirements = (TARGET.Arch == "X86_64") && Memory > 1; Memory = 5; L = { 1,2 } ] tail'
    )
    found = find_plain_ad(text)
    assert found is not None
    assert text[found[1] :] == " tail"
    assert found[0].table["requirements"] is parse_expression(
        '(TARGET.Arch == "X86_64") && Memory > 1'
    )


@pytest.mark.parametrize("levels", [160, 164, 165, 166, 200])
def test_what_is_nested_is_as_deep_as_for_the_parser(levels: int) -> None:
    text = "[ a = " + "(" * levels + "1" + ")" * levels + " ]"
    test_every_ad_is_what_the_parser_says.hypothesis.inner_test(text)  # type: ignore[attr-defined]
