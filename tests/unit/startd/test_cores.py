"""Which cores a new slot's jobs are bound to."""

from __future__ import annotations

import pytest

from kettle.startd.cores import choose_cores


@pytest.mark.parametrize(
    ("slots", "wanted", "cores", "chosen"),
    [
        ([], 2, 4, (0, 1)),
        ([(0, 1)], 2, 4, (2, 3)),
        # A partitionable slot has all of them once, its dynamic slots some of them twice.
        ([(0, 1, 2, 3)], 1, 4, (0,)),
        ([(0, 1, 2, 3), (0,)], 1, 4, (1,)),
        ([(0, 1, 2, 3), (0,), (1, 2, 3)], 2, 4, (0, 1)),
        ([(0, 1, 2, 3), (1,)], 4, 4, (0, 1, 2, 3)),
        # More slots or larger ones than cores.
        ([], 8, 2, (0, 1)),
        ([(0,), (1,), (0,)], 1, 2, (1,)),
        ([], 0.5, 2, ()),
        ([], 2, 0, ()),
    ],
)
def test_a_slot_gets_the_cores_that_fewest_have(
    slots: list[tuple[int, ...]], wanted: float, cores: int, chosen: tuple[int, ...]
) -> None:
    assert choose_cores(slots, wanted, cores) == chosen
