"""What expressions were observed to need."""

from __future__ import annotations

from conformance.known_differences import differences
from kettle.classad import parse_expression
from kettle.classad.ad import parse_ad
from kettle.classad.references import find_references

from .vectors import load


def test_references_are_as_observed() -> None:
    wrong = {}
    for number, case in enumerate(load("references")["cases"]):
        internal, external = find_references(parse_expression(case["expr"]), parse_ad(case["ad"]))
        if "exception" in case:
            # Circular references and selections from what is no ad: the reference gives up.
            continue
        found = sorted(internal or {""}), sorted(external or {""})
        wanted = sorted(case["internal"]), sorted(case["external"])
        if found != wanted:
            wrong[number] = f"{case['expr']}: {found}, not {wanted}"
    assert set(wrong) == set(differences("classad/references")), wrong
