"""Periodic policy is looked at in a share of the time, and each user's in rounds of his own."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.config import Config
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services.policy_rounds import PolicyRounds
from kettle.schedd.settings import read_service_settings
from kettle.testing.virtual_loop import run_virtually
from unit.schedd.queue_fixture import BOB, Schedd

# About what one evaluation takes that has no end.
COSTLY = 0.3
HOUR = 3600.0


class Looks:
    """Jobs of two users, those of one of them costly, looked at for a while on a virtual clock."""

    def __init__(self, costly: int, cheap: int, cost: float = COSTLY) -> None:
        self.schedd = Schedd()
        self.cost = cost
        self.costly = {job.id for job in self.schedd.submit(costly)}
        self.cheap = {job.id for job in self.schedd.submit(cheap, actor=BOB)}
        self.spent = 0.0
        self.at: list[float] = []
        self.seen: Counter[Any] = Counter()

    def look(self, jobs: list[Job]) -> None:
        [job] = jobs
        self.seen[job.id] += 1
        if job.id in self.costly:
            self.spent += self.cost
        else:
            self.at.append(asyncio.get_running_loop().time())

    def go_on(self, seconds: float, text: str = "") -> None:
        config = Config.from_text(f"MAX_JOBS_RUNNING = 9\n{text}", subsystem="SCHEDD")
        given = read_service_settings(config)

        async def rounds() -> None:
            loop = asyncio.get_running_loop()
            idle = loop.time
            loop.time = lambda: idle() + self.spent  # type: ignore[method-assign]
            looked = PolicyRounds(self.look)
            while loop.time() < seconds:
                await looked.go(self.schedd.queue, given)

        run_virtually(rounds())


def test_costly_policy_of_one_user_takes_its_share_of_the_time_and_keeps_no_other_waiting() -> None:
    """Ten thousand jobs were an hour of the schedd's time in every round."""
    looks = Looks(50, 3)
    looks.go_on(HOUR)
    assert 0.8 * 0.01 * HOUR < looks.spent <= 0.01 * HOUR + COSTLY
    # All of them have their turn, one after the other.
    counts = [looks.seen[job] for job in looks.costly]
    assert max(counts) - min(counts) <= 1
    assert min(counts) >= 2
    pauses = [later - sooner for sooner, later in zip(looks.at[::3], looks.at[3::3], strict=False)]
    assert max(pauses) <= 60 + COSTLY / 0.01 + COSTLY


def test_policy_that_costs_little_is_looked_at_every_interval() -> None:
    looks = Looks(3, 1000, cost=0.00001)
    looks.go_on(HOUR, "PERIODIC_EXPR_INTERVAL = 20\n")
    assert set(looks.seen.values()) <= {HOUR // 20, HOUR // 20 - 1}


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("PERIODIC_EXPR_TIMESLICE = 0.0001\nMAX_PERIODIC_EXPR_INTERVAL = 100\n", 101.0),
        ("PERIODIC_EXPR_TIMESLICE = 0\nPERIODIC_EXPR_INTERVAL = 1\n", 1.5),
        ("PERIODIC_EXPR_TIMESLICE = 0.5\nPERIODIC_EXPR_INTERVAL = 1\n", 2.0),
    ],
)
def test_the_knobs_say_how_much_of_the_time_and_how_long_a_pause_at_most(
    text: str, longest: float
) -> None:
    looks = Looks(40, 1)
    looks.go_on(HOUR, text)
    pauses = [later - sooner for sooner, later in zip(looks.at, looks.at[1:], strict=False)]
    assert longest / 2 < max(pauses) <= longest


def test_a_look_that_fails_keeps_no_other_job_from_its_own() -> None:
    looks = Looks(0, 3)
    first = min(looks.cheap)

    def fail(jobs: list[Job]) -> None:
        looks.look(jobs)
        if jobs[0].id == first:
            raise OverflowError("no float holds that")

    one = PolicyRounds(fail)
    given: Any = SimpleNamespace(policy_seconds=60, policy_share=0.01, longest_policy_seconds=60)

    async def rounds() -> None:
        for _ in range(3):
            await one.go(looks.schedd.queue, given)

    run_virtually(rounds())
    assert set(looks.seen.values()) == {2}
