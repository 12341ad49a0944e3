"""An attribute whose name is empty can be asked for, and no ad can have it. Observed of 25.14."""

from __future__ import annotations

import pytest

from kettle.classad.forms import parse_ads
from kettle.classad.parser import parse_expression
from kettle.errors import ClassAdSyntaxError


@pytest.mark.parametrize("text", ["['' = 1]", "[a = 1; '' = 2; b = 3]", "[a = ['' = 1]]"])
def test_an_ad_with_an_empty_name_is_refused(text: str) -> None:
    for parse in (lambda ad: list(parse_ads(ad, "new")), parse_expression):
        with pytest.raises(ClassAdSyntaxError, match="an attribute needs a name before"):
            parse(text)


def test_an_empty_name_may_be_asked_for() -> None:
    assert str(parse_expression("a.''")) == "a."
