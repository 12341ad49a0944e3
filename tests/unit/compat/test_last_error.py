"""How far the reason of an error is looked for."""

from __future__ import annotations

import pytest

from kettle.classad import ERROR, parse_expression
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
