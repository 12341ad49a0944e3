"""Of a stream of ads that does not parse the line of the whole is told, after the ads before it."""

from __future__ import annotations

import pytest

from kettle.classad import parse_ads
from kettle.classad.pointing import point_at
from kettle.errors import ClassAdSyntaxError

NEW = '[a=1]\n[ b = "x"q"; ]\n[c=3]\n'
LONG = "x = 1\n\n# two\na = 1\n# one more\nb = foo(2,\nc = 3\n\nd = 1\n"
JSON = '[{"a":1},\n{"b":"c"d"}]\n'
XML = '<classads>\n<c><a n="x"><i>1</i></a></c>\n<c><a n="x"><i>1</b></a></c></classads>\n'


@pytest.mark.parametrize(
    ("text", "line", "place", "drawn"),
    [
        (NEW, 2, "line 2, column 10: expected ; or ]", '[ b = "x"q"; ]'),
        (LONG, 6, "line 6: expected a value", "b = foo(2,"),
        (JSON, 2, "line 2, column 9: expected , or }", '{"b":"c"d"}]'),
        (XML, 3, "line 3, column 16: <i> is not closed", '<c><a n="x"><i>1</b></a></c></classads>'),
    ],
    ids=["new", "long", "json", "xml"],
)
def test_the_line_of_the_stream_is_told_and_drawn(
    text: str, line: int, place: str, drawn: str
) -> None:
    ads = parse_ads(text)
    assert len(next(ads)) == 1
    with pytest.raises(ClassAdSyntaxError) as caught:
        list(ads)
    error = caught.value
    assert error.line == line
    assert error.message.startswith(place)
    shown, caret = point_at(error, "").split("\n")
    assert shown == drawn
    assert caret.lstrip()[:1] == "^"
    assert caret.index("^") > 0
    named = error.in_file("machines.ads")
    assert named.message == f"machines.ads, {error.message}"
    assert (named.source, named.line, named.column) == ("machines.ads", line, error.column)
