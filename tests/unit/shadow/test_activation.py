"""How long the parts of an activation took."""

from __future__ import annotations

from kettle.shadow.activation import Activation


def test_an_ordinary_run_has_three_parts() -> None:
    run = Activation(accepted=100)
    assert run.begin(103) == {"ActivationSetupDuration": 3}
    assert run.end_program(110) == {"ActivationExecutionDuration": 7}
    assert run.end_program(111) == {}
    assert run.end(112) == {"ActivationDuration": 12, "ActivationTeardownDuration": 2}


def test_an_end_that_is_told_at_once_tells_of_the_program_too() -> None:
    run = Activation(accepted=100)
    run.begin(101)
    assert run.end(105) == {
        "ActivationExecutionDuration": 4,
        "ActivationDuration": 5,
        "ActivationTeardownDuration": 0,
    }


def test_each_stretch_between_checkpoints_is_told_and_the_beginning_once() -> None:
    run = Activation(accepted=100)
    run.begin(101)
    assert run.end_program(110) == {"ActivationExecutionDuration": 9}
    assert run.begin(112) == {}
    assert run.end_program(115) == {"ActivationExecutionDuration": 3}


def test_what_was_not_seen_is_not_told() -> None:
    taken_over = Activation()
    assert taken_over.begin(5) == {}
    assert taken_over.end(9) == {"ActivationExecutionDuration": 4}
    assert Activation(accepted=1).end(9) == {}
