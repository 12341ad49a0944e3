"""When what jobs left is ended without a startd."""

from __future__ import annotations

import pytest

from kettle.policy.lease import SHORTEST_SECONDS
from kettle.startd.vigil import (
    GRACE_SECONDS,
    STARTER_SECONDS,
    Verdict,
    is_needed,
    judge,
    pause_after,
)


@pytest.mark.parametrize(
    ("seconds", "starters", "verdict"),
    [
        (0.0, False, Verdict.WAIT),
        (GRACE_SECONDS - 0.1, False, Verdict.WAIT),
        (GRACE_SECONDS, False, Verdict.END),
        (GRACE_SECONDS, True, Verdict.WAIT),
        (STARTER_SECONDS - 0.1, True, Verdict.WAIT),
        (STARTER_SECONDS, True, Verdict.END),
    ],
)
def test_a_next_startd_may_come_and_starters_may_finish_but_not_for_ever(
    seconds: float, starters: bool, verdict: Verdict
) -> None:
    assert judge(seconds, starters=starters, same_folder=True) is verdict


@pytest.mark.parametrize("seconds", [0.0, GRACE_SECONDS, 100.0])
def test_the_jobs_of_another_folder_are_left_alone(seconds: float) -> None:
    assert judge(seconds, starters=True, same_folder=False) is Verdict.LEAVE


def test_it_is_over_long_before_the_job_may_begin_elsewhere() -> None:
    assert GRACE_SECONDS <= STARTER_SECONDS <= SHORTEST_SECONDS / 2


def test_only_where_the_kernel_ends_what_jobs_leave_is_it_not_needed() -> None:
    needed = [
        (root, own_pids, namespaces)
        for root in (False, True)
        for own_pids in (False, True)
        for namespaces in (False, True)
        if not is_needed(root=root, own_pids=own_pids, namespaces=namespaces)
    ]
    assert needed == [(True, True, True)]


def test_one_that_dies_again_and_again_is_started_ever_more_seldom() -> None:
    assert [pause_after(deaths) for deaths in (1, 2, 3, 7, 1000)] == [1, 2, 4, 60, 60]
