"""What the words of condor_hold and its kin name."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import JobAction
from kettle.errors import UsageError
from kettle.tools.jobs.actions import Wish, check_wish, sort_word


@pytest.mark.parametrize("word", ["0", "0.", "0.0", "00.3"])
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
