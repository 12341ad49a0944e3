"""Whatever form an ad is printed in, it is read back as it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ClassAd, parse_expression, unparse
from kettle.classad.forms import parse_ads, render_ads

# Pieces of what one form or another takes for something of its own.
PIECES = st.lists(
    st.sampled_from(
        ["/", "Expr(", "expr(", ")", "\\", '"', "'", "<", "&amp;", "1", "[", "a;", "é"]
    ),
    max_size=6,
).map("".join)
# In old syntax a backslash before the closing quote is no escape.
TEXTS = PIECES.filter(lambda text: not text.endswith("\\"))
EXPRESSIONS = st.one_of(
    TEXTS.map(lambda text: unparse(ClassAd({"A": text}).lookup("A"))),  # type: ignore[arg-type]
    st.integers(-(1 << 40), 1 << 40).map(str),
    st.sampled_from(["true", "undefined", "error", "1.5", "B + 1", "{1, C}", "[x = 1; y = B]"]),
).flatmap(lambda text: st.sampled_from([text, f"strcat({text}, B)", f"{{{text}}}"]))


@pytest.mark.parametrize("form", ["json", "xml", "new", "long"])
@given(texts=st.lists(EXPRESSIONS, min_size=1, max_size=3))
@example(texts=['"/Expr(1)/"'])
@example(texts=['"/Expr(1)//Expr(1)/"', 'strcat("/x", "</s>")'])
def test_an_ad_is_read_back_from_each_form_as_it_was(form: str, texts: list[str]) -> None:
    ad = ClassAd({f"N{number}": parse_expression(text) for number, text in enumerate(texts)})
    [again] = parse_ads("".join(render_ads([ad], form)), form)
    assert unparse(again) == unparse(ad)
