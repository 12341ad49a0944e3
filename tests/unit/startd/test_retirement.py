"""How long a job may stay once somebody wants the slot."""

from __future__ import annotations

import pytest

from kettle.startd.retirement import (
    Grants,
    retirement_left,
    seconds_until_soft_kill,
    vacate_seconds,
)


@pytest.mark.shows("B124")
def test_the_job_may_only_lower_its_retirement() -> None:
    assert retirement_left(Grants(60, 10), 0) == 10
    assert retirement_left(Grants(60, 600), 0) == 60


def test_a_job_that_had_its_time_gets_none_on_top() -> None:
    assert retirement_left(Grants(60), 100) == -40


@pytest.mark.shows("B126")
def test_the_soft_kill_comes_ahead_so_that_the_hard_kill_falls_on_the_limit() -> None:
    assert seconds_until_soft_kill(Grants(60, machine_vacate_seconds=20), 10) == 30


@pytest.mark.shows("B132")
def test_a_job_may_ask_for_less_vacate_time() -> None:
    assert vacate_seconds(Grants(machine_vacate_seconds=60, job_vacate_seconds=3), 0) == 3


@pytest.mark.shows("B133")
def test_more_vacate_time_is_bought_with_retirement_only() -> None:
    rich = Grants(100, machine_vacate_seconds=5, job_vacate_seconds=40)
    poor = Grants(0, machine_vacate_seconds=5, job_vacate_seconds=40)
    assert vacate_seconds(rich, 0) == 40
    assert vacate_seconds(poor, 0) == 5
