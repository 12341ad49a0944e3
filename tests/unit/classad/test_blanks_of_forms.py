"""Between the parts of ads only ASCII's blanks are blanks."""

from __future__ import annotations

import pytest

from kettle.classad import parse_ads
from kettle.classad.forms import detect_form
from kettle.errors import ClassAdSyntaxError

NO_BREAK, LINE_SEPARATOR = "\N{NO-BREAK SPACE}", "\N{LINE SEPARATOR}"


@pytest.mark.parametrize("blank", [NO_BREAK, LINE_SEPARATOR])
def test_another_blank_is_not_skipped_before_an_ad(blank: str) -> None:
    assert detect_form(f"{blank}[ A = 1 ]") == "long"
    assert detect_form(" \t\n\v\f\r[ A = 1 ]") == "new"


@pytest.mark.parametrize("blank", [NO_BREAK, LINE_SEPARATOR])
def test_another_blank_between_tags_is_no_part_of_an_ad(blank: str) -> None:
    ad = '<c>{}<a n="A"><i>1</i></a></c>'
    assert [each.integer("A") for each in parse_ads(ad.format(" \n"), "xml")] == [1]
    with pytest.raises(ClassAdSyntaxError):
        list(parse_ads(ad.format(blank), "xml"))
    with pytest.raises(ClassAdSyntaxError):
        list(parse_ads(f'<c><a{blank}n="A"><i>1</i></a></c>', "xml"))
