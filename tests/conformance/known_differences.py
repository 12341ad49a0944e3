"""Cases that are known to differ fail, each for its reason; one that agrees now is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest


def numbered(cases: Sequence[object], differ: Mapping[int, str]) -> list[object]:
    """Return the numbers of all cases; those that differ are expected to fail, strictly."""
    assert set(differ) <= set(range(len(cases)))
    return [
        pytest.param(number, marks=pytest.mark.xfail(reason=differ[number], strict=True))
        if number in differ
        else number
        for number in range(len(cases))
    ]
