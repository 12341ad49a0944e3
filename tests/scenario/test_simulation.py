"""A whole pool, many times, with troubles drawn from a seed; see docs/simulation.md."""

from __future__ import annotations

import pytest

from kettle.testing.simulation.run import isolated

_TOGETHER = 10


def _run(first: int, count: int) -> None:
    for seed in range(first, first + count):
        verdict = isolated(seed)
        story = "\n".join(verdict.log)
        assert not verdict.violations, f"seed {seed}: {verdict.violations}\n{story}"
        assert verdict.executions, f"seed {seed} ran nothing"


def test_a_pool_in_trouble_keeps_its_promises() -> None:
    _run(1, 4)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5, 105, _TOGETHER))
def test_a_hundred_seeds_keep_their_promises(first: int) -> None:
    _run(first, _TOGETHER)
