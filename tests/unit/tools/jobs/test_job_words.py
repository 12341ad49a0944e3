"""What the words of condor_hold and its kin name."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import JobAction
from kettle.errors import UsageError
from kettle.tools.jobs.actions import Wish, check_wish, sort_word


@pytest.mark.parametrize("word", ["", "0", "0.0", "00.3"])
def test_there_is_no_cluster_zero(word: str) -> None:
    """Recorded from HTCondor 25.14.1: `condor_hold 0.0`."""
    wish = Wish(JobAction.HOLD)
    sort_word(wish, word)
    assert wish.invalid == [word]
    assert not wish.jobs
    with pytest.raises(UsageError) as raised:
        check_wish(wish)
    assert raised.value.message == (f"Invalid cluster # from {word}.\nYou did not specify any jobs")


def test_a_job_of_another_cluster_is_one() -> None:
    wish = Wish(JobAction.HOLD)
    sort_word(wish, "10.0")
    assert wish.jobs == ["10.0"]
    assert not wish.invalid


@pytest.mark.parametrize(
    "word",
    ["10.", "0.", "10,10", "10.0,10.1", "10.0,", "10.x", "10.0.0", "+10", " 10", "10.0 ", "."],
)
def test_what_is_not_wholly_an_id_is_a_users_name(word: str) -> None:
    """Recorded from HTCondor 25.14.1: `condor_rm $CLUSTER.$PROC` without a PROC removes nothing."""
    wish = Wish(JobAction.REMOVE)
    sort_word(wish, word)
    assert (wish.users, wish.jobs, wish.clusters, wish.invalid) == ([word], [], [], [])
