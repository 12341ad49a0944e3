"""Which jobs a machine wants held that its PREEMPT drives away."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.startd.hold_wish import HoldWish, read_hold_wish

PREEMPTED = int(VacateReasonCode.StartdPreemptExpression)


def policy(**texts: str) -> ClassAd:
    ad = ClassAd({"Memory": 100})
    for name, text in texts.items():
        ad.insert_text(name, text)
    return ad


def test_the_words_are_the_owners() -> None:
    ad = policy(
        WANT_HOLD="MemoryUsage > Memory",
        WANT_HOLD_REASON='ifThenElse(MemoryUsage > Memory, "too large", undefined)',
        WANT_HOLD_SUBCODE="102",
    )
    job = ClassAd({"MemoryUsage": 200})
    assert read_hold_wish(PREEMPTED, ad, job) == HoldWish("too large", 102)
    assert read_hold_wish(PREEMPTED, ad, ClassAd({"MemoryUsage": 50})) is None


def test_without_words_the_expression_is_told() -> None:
    wish = read_hold_wish(PREEMPTED, policy(WANT_HOLD="Memory > 1"), ClassAd())
    assert wish == HoldWish(
        "The startd put this job on hold.  "
        "(At preemption time, WANT_HOLD evaluated to true: WANT_HOLD = Memory > 1)",
        0,
    )


@pytest.mark.parametrize("text", ["undefined", "false", '"yes"', "error"])
def test_anything_but_true_holds_nobody(text: str) -> None:
    assert read_hold_wish(PREEMPTED, policy(WANT_HOLD=text), ClassAd()) is None


def test_a_job_that_leaves_for_another_reason_is_not_held() -> None:
    code = int(VacateReasonCode.StartdDraining)
    assert read_hold_wish(code, policy(WANT_HOLD="true"), ClassAd()) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('real("INF")', 0),
        ('real("NaN")', 0),
        ("1e300", 2**31 - 1),
        ("-9223372036854775807", -(2**31 - 1)),
        ("7.9", 7),
        ('"seven"', 0),
    ],
)
def test_a_subcode_that_is_no_code_keeps_no_job_on_the_machine(text: str, code: int) -> None:
    wish = read_hold_wish(PREEMPTED, policy(WANT_HOLD="true", WANT_HOLD_SUBCODE=text), None)
    assert wish is not None
    assert wish.subcode == code
