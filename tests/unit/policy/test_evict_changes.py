"""What a job that used too much asks for when it runs again."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.classad.text import quote_old
from kettle.policy.evict_changes import next_request

TOO_MUCH = {"VacateReasonCode": 34, "VacateReasonSubCode": 102}
ONLY = "REQUIREMENTS (VacateReasonCode==21 || VacateReasonCode == 34) && VacateReasonSubCode == 102"


def job(*lines: str, **expressions: str) -> ClassAd:
    ad = ClassAd({"RequestMemory": 100, "TransformOnEvict": "None RequestMemory"})
    ad.insert_text("TransformBody_RequestMemory", quote_old("\x1e".join((ONLY, *lines))))
    for name, text in expressions.items():
        ad.insert_text(name, text)
    return ad


def test_the_next_value_is_asked_for_once() -> None:
    ad = job("SET RequestMemory 400")
    assert next_request(ad, TOO_MUCH) == {"RequestMemory": "400"}
    ad["RequestMemory"] = 400
    assert next_request(ad, TOO_MUCH) == {}


def test_a_sequence_is_gone_through_to_its_end() -> None:
    ad = job(
        "EVALSET RequestMemory RetryRequestMemory[RetryRequestMemoryIndex?:0]",
        "EVALSET RetryRequestMemoryIndex "
        "MIN({size(RetryRequestMemory)-1, (RetryRequestMemoryIndex?:0)+1})",
        RetryRequestMemory="{ 400, 600 }",
    )
    asked = []
    while changes := next_request(ad, TOO_MUCH):
        for name, text in changes.items():
            ad.insert_text(name, text)
        asked.append(ad.integer("RequestMemory"))
    assert asked == [400, 600]


def test_a_growing_request_ends_at_the_most() -> None:
    ad = job(
        "EVALSET RequestMemory MIN({NextRequestMemory, MaxRequestMemory})",
        NextRequestMemory="RequestMemory * 2",
        MaxRequestMemory="300",
    )
    assert next_request(ad, TOO_MUCH) == {"RequestMemory": "200"}
    ad["RequestMemory"] = 200
    assert next_request(ad, TOO_MUCH) == {"RequestMemory": "300"}
    ad["RequestMemory"] = 300
    assert next_request(ad, TOO_MUCH) == {}


@pytest.mark.parametrize(
    "facts", [{"VacateReasonCode": 1022}, {**TOO_MUCH, "VacateReasonSubCode": 104}]
)
def test_another_end_changes_nothing(facts: dict[str, object]) -> None:
    assert next_request(job("SET RequestMemory 400"), facts) == {}


@pytest.mark.parametrize(
    "line",
    [
        "SET RequestMemory ((",
        "EVALSET RequestMemory Nosuch + 1",
        "EVALSET RequestMemory error",
        "COPY RequestMemory x",
        "SET RequestMemory $(x)",
        "SET Other 7",
        "SET RequestMemory 400\x1eDELETE",
        "SET RequestMemory 400\x1eSET a=b 1",
        "SET RequestMemory 400\x1eSET 1a 1",
        "SET RequestMemory 400\x1eSET Two\tWords 1",
        f"SET RequestMemory 400\x1eDELETE {'x' * 257}",
        "",
    ],
)
def test_what_comes_to_nothing_changes_nothing(line: str) -> None:
    assert next_request(job(line), TOO_MUCH) == {}


def test_a_change_whose_name_no_attribute_can_end_with_is_none() -> None:
    ad = ClassAd({"TransformOnEvict": "a-b a.b", "RequestMemory": 100})
    for name in ("a-b", "a.b"):
        ad.insert_text(f"TransformBody_{name}", quote_old("SET RequestMemory 400"))
    assert next_request(ad, TOO_MUCH) == {}


def test_a_job_that_names_no_changes_has_none() -> None:
    assert next_request(ClassAd({"TransformOnEvict": "A"}), TOO_MUCH) == {}
    assert next_request(ClassAd(), TOO_MUCH) == {}


def test_a_change_that_builds_and_builds_is_not_made() -> None:
    growing = ['SET A "x"', *["EVALSET A strcat(A,A,A,A)"] * 13, "SET RequestMemory 5"]
    assert next_request(job(*growing), TOO_MUCH) == {}
    assert next_request(job(*growing[:5], growing[-1]), TOO_MUCH)["RequestMemory"] == "5"


def test_the_lines_of_all_changes_together_are_bounded() -> None:
    ad = job("SET RequestMemory 5")
    ad["TransformOnEvict"] = "Slow Slow Slow RequestMemory"
    ad.insert_text("TransformBody_Slow", quote_old("\x1e".join(["SET A 1"] * 99)))
    assert next_request(ad, TOO_MUCH) == {}
    ad["TransformOnEvict"] = "Slow RequestMemory"
    assert next_request(ad, TOO_MUCH) == {"RequestMemory": "5"}
