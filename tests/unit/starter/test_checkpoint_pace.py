"""How soon a job goes on after a checkpoint."""

from __future__ import annotations

import pytest

from kettle.starter.checkpoint_pace import FREE, SECONDS, CheckpointPace


def play(took: list[float]) -> list[float]:
    """Return the pauses after runs that took so long, checkpoint and all."""
    pace, now, pauses = CheckpointPace(), 100.0, []
    for seconds in took:
        pace.begin(now)
        now += seconds
        pauses.append(pace.pause(now))
        now += pauses[-1]
    return pauses


def test_a_few_checkpoints_in_a_row_wait_for_nothing() -> None:
    assert play([0.01] * FREE) == [0.0] * FREE


def test_a_job_that_goes_on_making_them_has_one_a_second() -> None:
    """The reference starts it anew as fast as it can."""
    pauses = play([0.1] * (FREE + 20))[FREE:]
    assert pauses == [pytest.approx(SECONDS - 0.1)] * 20


def test_a_run_as_long_as_that_makes_a_new_beginning() -> None:
    pauses = play([*[0.0] * (FREE + 1), SECONDS, *[0.0] * (FREE + 1)])
    assert pauses == [*[0.0] * FREE, SECONDS, 0.0, *[0.0] * FREE, SECONDS]
