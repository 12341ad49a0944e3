"""Cases that are known to differ fail, each for its reason; one that agrees now is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


@cache
def read_differences() -> dict[str, dict[str, str]]:
    """Return why cases differ, by the file's name without its ending and by the case's name."""
    found: dict[str, dict[str, str]] = {}
    for line in (VECTORS / "differences.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, case, _, reason = line.split("\t")
            found.setdefault(name, {})[case] = reason
    return found


def differences(name: str) -> dict[int, str]:
    """Return why cases of one file differ, by their numbers."""
    return {int(case): reason for case, reason in read_differences().get(name, {}).items()}


def numbered(cases: Sequence[object], differ: Mapping[int, str]) -> list[object]:
    """Return the numbers of all cases; those that differ are expected to fail, strictly."""
    assert set(differ) <= set(range(len(cases)))
    return [
        pytest.param(number, marks=pytest.mark.xfail(reason=differ[number], strict=True))
        if number in differ
        else number
        for number in range(len(cases))
    ]
