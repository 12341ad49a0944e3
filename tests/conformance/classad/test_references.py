"""What expressions were observed to need."""

from __future__ import annotations

from kettle.classad import parse_expression
from kettle.classad.ad import parse_ad
from kettle.classad.references import find_references

from .vectors import load


def test_references_are_as_observed() -> None:
    wrong = {}
    differs = {
        # Circular, which the reference sees only from inside the ad.
        ("[x=MY.y;y=TARGET.y;MY=5;a=b;b=a;n=[x=1;y=a;zz=nosuch]]", "[z=a].z"),
    }
    for case in load("references")["cases"]:
        internal, external = find_references(parse_expression(case["expr"]), parse_ad(case["ad"]))
        if "exception" in case:
            # Circular references and selections from what is no ad: the reference gives up.
            continue
        found = sorted(internal or {""}), sorted(external or {""})
        wanted = sorted(case["internal"]), sorted(case["external"])
        if found != wanted:
            wrong[case["ad"], case["expr"]] = f"{found}, not {wanted}"
    assert set(wrong) == differs, wrong
