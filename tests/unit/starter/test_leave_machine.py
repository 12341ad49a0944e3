"""What an order to leave means for a job, by how far it is."""

from __future__ import annotations

import itertools

import pytest

from kettle.starter.leave_machine import ORDERS, Effect, Order, Stage, choose_stage


def test_every_order_means_something_at_every_stage() -> None:
    assert set(ORDERS) == set(itertools.product(Stage, Order))


@pytest.mark.parametrize(
    ("started", "ended", "sent", "stage"),
    [
        (False, False, False, Stage.PREPARING),
        (True, False, False, Stage.RUNNING),
        (True, True, False, Stage.SENDING),
        # Told to leave before its program was started.
        (False, True, False, Stage.SENDING),
        (True, True, True, Stage.TELLING),
    ],
)
def test_how_far_a_job_is(started: bool, ended: bool, sent: bool, stage: Stage) -> None:
    assert choose_stage(started=started, ended=ended, sent=sent) is stage


def test_a_job_that_has_ended_is_signalled_no_more_and_one_that_is_told_of_is_left_alone() -> None:
    for order in Order:
        assert not {Effect.SIGNAL, Effect.KILL} & set(ORDERS[Stage.SENDING, order])
        assert ORDERS[Stage.TELLING, order] == ()


def test_whoever_has_to_leave_at_once_moves_no_more_files() -> None:
    for stage in (Stage.PREPARING, Stage.RUNNING, Stage.SENDING):
        assert Effect.BREAK_OFF in ORDERS[stage, Order.NOW]


def test_output_has_the_seconds_that_the_job_would_have_had() -> None:
    assert ORDERS[Stage.SENDING, Order.SOON] == (Effect.SET_TIMER,)
    assert Effect.SET_TIMER in ORDERS[Stage.RUNNING, Order.SOON]
