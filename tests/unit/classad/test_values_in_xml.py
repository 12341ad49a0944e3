"""Values as XML has them: empty elements, and what counts as a number (recorded)."""

from __future__ import annotations

import math

import pytest

from kettle.classad.forms_xml import parse_xml_ads
from kettle.classad.values import ERROR
from kettle.errors import ClassAdSyntaxError


def value_of(element: str) -> object:
    text = f'<classads><c><a n="A">{element}</a><a n="B"><s>after</s></a></c></classads>'
    (ad,) = parse_xml_ads(text)
    assert ad.string("B") == "after"
    return ad.evaluate("A")


@pytest.mark.parametrize("element", ["<s/>", '<s a="1"/>', "<s></s>"])
def test_an_empty_string_may_be_an_empty_element(element: str) -> None:
    assert value_of(element) == ""


def test_an_empty_list_may_be_an_empty_element() -> None:
    """The reference's bindings never return from it."""
    assert str(value_of("<l/>")) == str(value_of("<l></l>"))


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("<i> 5 </i>", 5),
        ("<i>5x</i>", 5),
        ("<i>5 6</i>", 5),
        ("<i>0x10</i>", 0),
        ("<i>010</i>", 10),
        ("<i>1.5</i>", 1),
        ("<i>1e3</i>", 1),
        ("<i>9223372036854775807</i>", 2**63 - 1),
        ("<i>-9223372036854775808</i>", -(2**63)),
        ("<i>9223372036854775808</i>", ERROR),
        (f"<i>{'9' * 5000}</i>", ERROR),
        ("<i>+5</i>", ERROR),
        ("<i>x</i>", ERROR),
        ("<i>\uff15</i>", ERROR),
        ("<r>1</r>", 1.0),
        ("<r>1.5x</r>", 1.5),
        ("<r>0x1p3</r>", 8.0),
        ("<r>1e400</r>", math.inf),
        ("<r>-INF</r>", -math.inf),
        ("<r>x</r>", ERROR),
    ],
)
def test_a_number_is_what_its_text_begins_with(element: str, value: object) -> None:
    found = value_of(element)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(("element", "value"), [("<n>5</n>", 5), ("<n>1.5</n>", 1.5)])
def test_a_number_of_either_kind(element: str, value: float) -> None:
    found = value_of(element)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("element", ["<i/>", "<r></r>", "<e/>", "<at/>", "<rt/>"])
def test_what_needs_a_text_is_refused_without_one(element: str) -> None:
    with pytest.raises(ClassAdSyntaxError):
        value_of(element)
