"""How far the reason of an error is looked for."""

from __future__ import annotations

import pytest

from kettle.classad import ERROR, ClassAd, parse_expression
from kettle.classad.state import MOST_STEPS, State
from kettle.classad.values import Value
from kettle.compat.classad2.comparisons import note_error
from kettle.compat.classad2.names import LAST_ERROR


@pytest.mark.parametrize(("levels", "said"), [(31, True), (32, False)])
def test_only_so_many_parts_of_an_expression_are_asked_for_an_errors_reason(
    monkeypatch: pytest.MonkeyPatch, levels: int, said: bool
) -> None:
    """Two parts a level, and each may be as much work as the whole."""
    monkeypatch.setattr(LAST_ERROR, "text", "")
    expr = parse_expression("-(" * levels + '"a" < 1' + ")" * levels)
    note_error(ERROR, expr, None, None)
    assert (LAST_ERROR.text == "strings can only be compared to strings") is said


def test_the_reason_of_an_error_costs_no_more_than_an_evaluation_may() -> None:
    """Counted, not timed: each row names the next twice, and each part was worked out anew."""
    ad = ClassAd()
    for row in range(40):
        ad.insert_text(f"A{row}", f"A{row + 1} + A{row + 1}")
    ad.insert_text("A40", "1")
    tree = ad.lookup("A39")
    assert tree is not None
    whole = tree.closure
    asked = 0

    def counted(state: State) -> Value:
        nonlocal asked
        asked += 1
        return whole(state)

    tree._closure = counted
    try:
        note_error(ERROR, parse_expression("A0"), ad, None)
    finally:
        tree._closure = whole
    assert 0 < asked <= MOST_STEPS
