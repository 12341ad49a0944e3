"""What nobody thought of ends where it happened: in each test something raises that should not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NoReturn

import pytest

from kettle.attributes.codes import ShadowExit
from kettle.schedd.queue import kept_attributes
from kettle.shadow.services import ending, shadow
from kettle.startd import requests
from kettle.startd.services.claiming import Claiming
from kettle.startd.services.policy import PolicyWatch
from kettle.startd.slot_machine import Phase
from kettle.testing.world import World
from scenario import shadow_stage, slots_stage
from scenario.execution_point import ExecutionPoint, ScheddEnd
from scenario.slots_stage import FakeStarter, job
from unit.schedd.queue_fixture import Schedd

# One slot that is not divided.
STATIC = (
    "NUM_SLOTS = 1\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\nSLOT_TYPE_1_PARTITIONABLE = false\n"
)


def fails(*_: object, **__: object) -> NoReturn:
    raise OverflowError("nobody thought of it")


def test_a_job_that_cannot_be_read_is_taken_and_stops_no_later_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Schedd()
    (other,) = here.submit()
    monkeypatch.setattr(kept_attributes, "_priority", fails)
    (odd,) = here.submit()
    (edited,) = here.submit()
    here.queue.update(edited.id, {"JobPrio": "7"})
    after = here.replayed()
    assert set(after.jobs) == {other.id, odd.id, edited.id} == set(here.queue.jobs)
    for queue in (here.queue, after):
        assert {queue.jobs[each.id].status for each in (odd, edited)} == {1}
        assert queue.jobs[odd.id].user


def test_the_end_of_a_run_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "_write_last_events", fails)

    async def scenario(_: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, UserLog=str(here.log))
        async with asyncio.timeout(200_000):
            assert (await here.ended()).reason == ShadowExit.EXCEPTION
        assert not here.host.shadows

    shadow_stage.play(tmp_path, scenario)


def test_a_policy_that_failed_once_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, seen = shadow.decide_periodic, []

    def once(*arguments: object) -> object:
        seen.append(arguments)
        return fails() if len(seen) == 1 else judge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(shadow, "decide_periodic", once)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, UserLog=str(here.log), PeriodicRemove="=true")
        assert (await here.ended()).reason != ShadowExit.EXITED
        assert len(seen) >= 2
        assert "The policy of 7.3 failed" in world.failures[0]
        world.failures.clear()

    shadow_stage.play(tmp_path, scenario, "PERIODIC_EXPR_INTERVAL = 2\n")


def test_a_claim_that_fails_leaves_its_part_with_the_slot_it_was_cut_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank, asked = requests.rank_of, []

    def thrice(*arguments: object) -> float:
        asked.append(arguments)
        return fails() if len(asked) <= 3 else rank(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(requests, "rank_of", thrice)

    async def scenario(point: slots_stage.ExecutionPoint) -> None:
        whole = point.service.machine.find("slot1")
        assert whole is not None
        before = whole.pool
        for _ in range(3):
            assert not (await point.claim(job())).accepted
            assert whole.pool is not None
            assert before is not None
            assert whole.pool.children == before.children
            await asyncio.sleep(30)
        assert (await point.claim(job())).accepted
        assert "The claim of a part of slot1 failed" in point.world.failures[0]
        point.world.failures.clear()

    slots_stage.play(tmp_path, scenario, "", FakeStarter())


@pytest.mark.parametrize("where", ["rank_of", "with_limits"])
def test_a_claim_of_a_whole_slot_that_fails_leaves_the_slot_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    async def scenario(point: slots_stage.ExecutionPoint) -> None:
        whole = point.service.machine.find("slot1")
        assert whole is not None
        monkeypatch.setattr(requests, where, fails)
        for _ in range(2):
            assert not (await point.claim(job())).accepted
            assert (whole.job, whole.waiting_claim) == (None, None)
            assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        monkeypatch.undo()
        assert (await point.claim(job())).accepted
        assert "The claim of slot1 failed" in point.world.failures[0]
        point.world.failures.clear()

    slots_stage.play(tmp_path, scenario, STATIC, FakeStarter())


def test_a_claim_whose_grant_cannot_be_told_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(point: slots_stage.ExecutionPoint) -> None:
        monkeypatch.setattr(Claiming, "reply", fails)
        assert not (await point.claim(job())).accepted
        monkeypatch.undo()
        await asyncio.sleep(30)
        assert point.phase("slot1") is Phase.UNCLAIMED_IDLE
        assert (await point.claim(job())).accepted
        assert not point.released
        point.world.failures.clear()

    slots_stage.play(tmp_path, scenario, STATIC, FakeStarter())


def test_a_slot_whose_timers_fail_leaves_the_startd_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(point: slots_stage.ExecutionPoint) -> None:
        monkeypatch.setattr(PolicyWatch, "timers", fails)
        assert (await point.claim(job())).accepted
        await asyncio.sleep(1000)
        assert point.service.policy._timer is not None
        monkeypatch.undo()
        assert any("The timers of slot1" in each for each in point.world.failures)
        point.world.failures.clear()

    slots_stage.play(tmp_path, scenario, "", FakeStarter())
