"""When a deferred job begins."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.starter.deferral import deferral_time, seconds_to_wait
from kettle.starter.launch import CannotLaunch


def test_a_job_without_a_time_begins_at_once() -> None:
    assert deferral_time(ClassAd()) is None


@pytest.mark.shows("N006")
def test_a_future_time_is_waited_for() -> None:
    assert seconds_to_wait(ClassAd(), 130, 100.5) == 29.5


@pytest.mark.shows("N003")
def test_an_expression_counts() -> None:
    ad = ClassAd({"QDate": 100})
    ad.insert_text("DeferralTime", "(QDate + 30)")
    assert deferral_time(ad) == 130


@pytest.mark.shows("N011", "N012", "N013")
def test_exactly_the_window_is_in_time_and_a_second_more_is_not() -> None:
    ad = ClassAd({"DeferralWindow": 20})
    assert seconds_to_wait(ad, 100, 120.9) == 0
    with pytest.raises(CannotLaunch, match="missed by 21 seconds") as failure:
        seconds_to_wait(ad, 100, 121.0)
    assert failure.value.code == HoldReasonCode.MissedDeferredExecutionTime


@pytest.mark.shows("N007")
def test_the_past_without_a_window_holds_the_job() -> None:
    with pytest.raises(CannotLaunch):
        seconds_to_wait(ClassAd(), 90, 100.0)


@pytest.mark.parametrize("moment", ["abc", -1, 1.5, True])
@pytest.mark.shows("N023")
def test_what_is_no_time_holds_the_job_with_a_clear_reason(moment: object) -> None:
    with pytest.raises(CannotLaunch, match="no time in seconds"):
        deferral_time(ClassAd({"DeferralTime": moment}))
