"""Which ads were observed to match."""

from __future__ import annotations

from kettle.classad import Context, matches, symmetric_match
from kettle.classad.ad import parse_ad

from .vectors import load


def test_ads_match_as_observed() -> None:
    wrong = []
    for case in load("match")["cases"]:
        left, right = parse_ad(case["left"]), parse_ad(case["right"])
        for strict in (False, True):
            wanted = case.get("strict", case) if strict else case
            context = Context(strict=strict)
            found = {
                "left_matches_right": matches(left, right, context),
                "right_matches_left": matches(right, left, context),
                "symmetric": symmetric_match(left, right, context),
            }
            wrong += [
                f"{case['left']} {case['right']} {key} strict={strict}"
                for key, value in found.items()
                if wanted.get(key, value) != value
            ]
    assert wrong == []
