"""The code tables carry the wire's numbers and a sentence each."""

from __future__ import annotations

import pytest

from kettle.attributes import codes


@pytest.mark.parametrize(
    "table",
    [
        item
        for item in vars(codes).values()
        if isinstance(item, type) and item.__mro__[1] is codes.Code
    ],
    ids=lambda table: table.__name__,
)
def test_every_code_has_a_sentence_and_its_own_number(table: type[codes.Code]) -> None:
    members = list(table)
    assert members
    assert len({int(member) for member in members}) == len(table.__members__)
    for member in members:
        assert member.doc[0].isupper()
        assert member.doc.endswith(".")


def test_job_statuses_have_the_letters_of_the_queue_listing() -> None:
    letters = "".join(status.letter for status in codes.JobStatus)
    assert letters.startswith("IRXCH>S")


def test_hold_and_vacate_codes_are_told_apart_by_their_range() -> None:
    assert max(codes.HoldReasonCode) < 1000 <= min(codes.VacateReasonCode)
    assert codes.HoldReasonCode.SpoolingInput == 16
    assert codes.VacateReasonCode.ScheddVacate == 1022


def test_a_code_can_be_shown_in_words() -> None:
    assert codes.JobStatus.TRANSFERRING_OUTPUT.label == "Transferring output"
    assert codes.HoldReasonCode.JobPolicy.label == "JobPolicy"
