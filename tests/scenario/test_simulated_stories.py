"""Troubles that seeds found, told one by one in a simulated pool."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.testing.simulation.children import run_in_child
from kettle.testing.simulation.jobs import hides
from kettle.testing.simulation.pool import SimulatedPool
from kettle.testing.simulation.processes import MortalLoop, watch_connections
from kettle.testing.simulation.run import Verdict, wait_for_the_end
from kettle.testing.simulation.shapes import Shape
from kettle.testing.simulation.users import Wish

Story = Callable[[SimulatedPool], Awaitable[None]]


def tell(folder: Path, story: Story, shape: Shape | None = None) -> None:
    """Tell a story in a pool of its own, in a child, which the dead leave behind."""

    async def whole(loop: MortalLoop) -> None:
        pool = SimulatedPool(loop, folder, 1, shape or Shape())
        pool.start()
        await asyncio.sleep(5)
        try:
            await story(pool)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *pool.log])) from error
        assert not pool.failures
        assert not pool.witness.violations

    def call() -> bytes:
        watch_connections()
        loop = MortalLoop()
        asyncio.set_event_loop(loop)
        loop.run_until_complete(whole(loop))
        return b""

    run_in_child(call)


def test_a_program_ends_with_the_lease_of_a_shadow_that_is_silent(tmp_path: Path) -> None:
    """Its schedd will start it anew: the starter may not wait until it notices the loss."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=4000.0, code=0, lease=60))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        pool.access_points[0].lose_power()
        lost_at = asyncio.get_running_loop().time()
        await asyncio.sleep(120)
        assert run.ended is not None
        assert run.ended - lost_at <= 61
        pool.access_points[0].regain_power()
        await asyncio.sleep(1000)
        assert len(pool.witness.executions) == 2

    tell(tmp_path, story)


@pytest.mark.parametrize("name", ["h2", "plain"])
def test_a_job_whose_machine_lost_all_daemons_is_not_started_elsewhere(
    name: str, tmp_path: Path
) -> None:
    """That nobody answers there any more proves nothing; the machine's next startd does."""

    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish(name, seconds=4000.0, code=0))
        await asyncio.sleep(30)
        [run] = pool.witness.executions
        assert hides(run.job) is (name == "h2")
        [machine] = [each for each in pool.machines if each.name == run.machine]
        machine.lose_daemons(and_programs=False)
        await asyncio.sleep(600)
        assert pool.witness.executions == [run]
        assert (run.ended is None) is (name == "h2")
        machine.regain_power()
        await asyncio.sleep(400)
        assert run.ended is not None
        assert len(pool.witness.executions) == 2

    tell(tmp_path, story, Shape(execution_points=2))


def test_a_clock_that_is_set_while_the_schedd_is_away_starts_nothing_twice(tmp_path: Path) -> None:
    async def story(pool: SimulatedPool) -> None:
        pool.users[0].submit(Wish("long", seconds=400.0, code=3))
        await asyncio.sleep(30)
        pool.access_points[0].daemons["SCHEDD"].kill()
        pool.access_points[0].clock.set_forward += 7200.0
        await asyncio.sleep(600)
        [run] = pool.witness.executions
        assert run.code == 3

    tell(tmp_path, story)


def test_the_end_of_a_story_is_not_before_what_its_users_were_late_with(tmp_path: Path) -> None:
    """Seeds 20587, 21012: long jobs that came last of all looked like a pool that stood still."""

    async def story(pool: SimulatedPool) -> None:
        late = Wish("late", seconds=400.0, code=0, procs=6)
        pool.later(200.0, lambda: pool.users[0].submit(late))
        verdict = Verdict(1)
        await wait_for_the_end(pool, verdict)
        assert not verdict.violations
        assert [pool.witness.runs_of(job)[0].code for job in late.jobs] == [0] * 6

    tell(tmp_path, story)
