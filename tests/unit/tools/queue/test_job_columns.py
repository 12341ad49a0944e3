"""What a job's columns show of its ad."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.tools.queue.job_columns import show_status


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"JobStatus": 1}, "I "),
        ({"JobStatus": 1, "JobCoolDownExpiration": 90}, "I "),
        ({"JobStatus": 1, "JobCoolDownExpiration": 101}, "Ic"),
        ({"JobStatus": 5, "JobCoolDownExpiration": 101}, "Hc"),
        ({"JobStatus": 5, "JobCoolDownExpiration": 101.5}, "H "),
        ({"JobStatus": 5, "ServerTime": -5}, "H "),
        ({"JobStatus": 2, "TransferringInput": True}, "< "),
        ({}, None),
    ],
)
def test_the_status_of_a_job_that_cools_down_has_a_c(
    facts: dict[str, object], shown: str | None
) -> None:
    assert show_status(ClassAd({"ServerTime": 100, **facts})) == shown


def test_nothing_of_a_history_cools_down() -> None:
    assert show_status(ClassAd({"JobStatus": 4, "JobCoolDownExpiration": 90})) == "C "


def test_each_status_has_its_letter() -> None:
    shown = {int(status): show_status(ClassAd({"JobStatus": int(status)})) for status in JobStatus}
    # As 25.14.1's `condor_q -nobatch -jobads` has them.
    letters = ["I ", "R ", "X ", "C ", "H ", " >", "S ", "F ", "B ", "P "]
    assert shown == dict(enumerate(letters, 1))
    assert [show_status(ClassAd({"JobStatus": number})) for number in (-1, 0, 11)] == ["  "] * 3
