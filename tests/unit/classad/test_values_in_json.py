"""Numbers and lists in JSON, beside what 25.14.1's classad2 reads."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.classad.forms import parse_ads
from kettle.errors import ClassAdSyntaxError


def ad_of(value: str) -> ClassAd:
    (ad,) = parse_ads(f'{{"A": {value}}}', "json")
    return ad


@pytest.mark.parametrize(
    ("written", "value"),
    [(".5", 0.5), ("-.5", -0.5), ("-5", -5), ("1e3", 1000.0), ("0.1E-2", 0.001)],
)
def test_a_number_may_begin_with_its_point(written: str, value: float) -> None:
    found = ad_of(written).evaluate("A")
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("written", ["+5", ".", "1.", "5.5.5", "1.5x", ".5.", "--5", '"a" "b"'])
def test_what_is_no_number_is_refused(written: str) -> None:
    with pytest.raises(ClassAdSyntaxError):
        ad_of(written)


def test_a_comma_behind_the_last_element() -> None:
    """The reference takes it in an object and not in a list."""
    assert str(ad_of("[1,]").lookup("A")) == str(ad_of("[1]").lookup("A"))
    assert ad_of('{"B": 1,}').lookup("A") is not None
