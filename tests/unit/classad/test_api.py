"""The names other rooms use, each once."""

from __future__ import annotations

import pytest

from kettle.classad import ERROR, UNDEFINED, ClassAd, parse_expression, symmetric_match, unparse


def test_text_is_parsed_when_it_is_needed_and_bad_text_is_error() -> None:
    ad = ClassAd()
    ad.insert_text("A", "1 +  2")
    ad.insert_text("B", "1 +")
    assert ad.text("a") == "1 +  2"
    assert ad.evaluate("A") == 3
    assert ad.text("A") == "1 + 2"
    assert ad.evaluate("B") is ERROR
    assert ad.evaluate("C") is UNDEFINED


def test_a_chained_ad_supplies_what_is_not_there() -> None:
    cluster = ClassAd({"Owner": "alice", "Prio": 1})
    job = ClassAd({"Prio": 5}, parent=cluster)
    assert job.string("owner") == "alice"
    assert job.integer("prio") == 5
    assert job.names() == ["Prio", "Owner"]
    assert len(job) == 2
    assert job.own_names() == ["Prio"]


def test_two_ads_match_when_each_wants_the_other() -> None:
    job = ClassAd({"RequestMemory": 10})
    job.insert_text("Requirements", "TARGET.Memory >= RequestMemory")
    slot = ClassAd({"Memory": 20, "Requirements": True})
    assert symmetric_match(job, slot)
    slot["Memory"] = 5
    assert not symmetric_match(job, slot)


def test_expressions_print_as_the_reference_prints_them() -> None:
    expr = parse_expression("a=?=b&&-c")
    assert unparse(expr) == "a is b &&  -c"
    assert unparse(expr, old=True) == "a =?= b &&  -c"


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("true", True), ("Cpus", True), ("Cpus - 2", False), ("0.5", True), ("Cpus > 1", True),
        ("undefined", False), ("1 / 0", False), ('"true"', False), ("TARGET.Memory > 1", True),
    ],
)  # fmt: skip
def test_an_ad_satisfies_what_is_true_or_another_number_than_zero(
    condition: str, answer: bool
) -> None:
    ad, other = ClassAd({"Cpus": 2}), ClassAd({"Memory": 2})
    assert ad.satisfies(parse_expression(condition), other) is answer
