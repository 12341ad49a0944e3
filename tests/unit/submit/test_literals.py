"""What is printed of an expression, and asked for, is found out once for all strings in it."""

from __future__ import annotations

import pytest

from kettle.classad import parse_expression, unparse
from kettle.classad.references import find_references
from kettle.errors import ClassAdSyntaxError
from kettle.submit import literals

STRINGS = ("", "a", "/a/b1.dat", "100%s %", "x == y", "' // /*", "\n\t", "\udc80\U00100000", "MY.a")
CODES = (
    "Machine!={}",
    "( TARGET.Name =?= {} )&&Memory>1||{}!={}",
    "regexp({}, MY.Owner) ? a.b : {}",
    "absTime({}) > 1",
    "strcat({},{}).c",
    "[a={}].a + [b=1].c",
    "{}.d",
    "'quoted' == {}",
    "{} // {}",
    "a /* {} */ + 1",
    '"\\"" + {}',
    "{} + ",
)


def printed(text: str) -> tuple[str | None, frozenset[str]]:
    try:
        tree = parse_expression(text, old=True)
    except ClassAdSyntaxError:
        return None, frozenset()
    return unparse(tree, old=True), frozenset(find_references(tree, None)[1])


@pytest.mark.parametrize("code", CODES)
def test_an_expression_is_printed_as_if_no_other_had_been(code: str) -> None:
    for string in STRINGS:
        text = code.replace("{}", f'"{string}"')
        try:
            normal = literals.normalize(text)
        except ClassAdSyntaxError:
            normal = None
        assert (normal, literals.asked_names(text)) == printed(text)


def test_signs_are_in_strings_where_nothing_depends_on_them() -> None:
    for text, answer in (
        ('Machine != "a@b"', True),
        ('Machine != "a" + @', False),
        ("@ + 1", False),
        ('[a="@"].a', False),
        ('absTime("@")', False),
        ('Machine != "@\\""', False),
    ):
        assert literals.has_in_strings(text, ["@"]) is answer
