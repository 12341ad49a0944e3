"""Jobs whose run would be in vain, or is not wanted: they leave before their program begins."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.starter.outcome import remote_error
from kettle.testing.world import World
from kettle.wire.messages import syscalls as calls
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import play


@pytest.mark.parametrize(("is_file", "why", "number"), [(False, "No such", 2), (True, "Not a", 20)])
def test_a_directory_that_is_gone_holds_its_job_before_it_runs(
    tmp_path: Path, why: str, number: int, *, is_file: bool
) -> None:
    """In the words and with the codes of the reference, and as no run that ended early."""
    gone = tmp_path / "gone"
    if is_file:
        gone.touch()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, Iwd=str(gone), UserLog=str(here.log))
        assert (await here.ended()).reason == 112
        assert there.story == []
        assert here.numbers() == ["012"]
        assert here.updates["HoldReasonCode"] == "14"
        assert here.updates["HoldReasonSubCode"] == str(number)
        begins = f'"Cannot access initial working directory {gone}: {why}'
        assert here.updates["HoldReason"].startswith(begins)
        assert "VacateReasonCode" not in here.updates

    play(tmp_path, scenario)


async def prepare(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose job has input that takes forty seconds, unless it has to leave."""
    await starter.register()
    with suppress(TimeoutError):
        await asyncio.wait_for(starter.place.deactivated.wait(), 40)
        # What was broken off failed, and is told as every failure.
        words = remote_error(
            "slot1_1@ep", "the shadow said Abort at JobSetup", 12, 0, critical=True
        )
        await starter.call(calls.UserLog(words))
        await starter.exit(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)
        return
    await starter.begin()
    await starter.exit()


@pytest.mark.parametrize(
    ("attribute", "reason", "numbers"),
    [
        ("PeriodicHold", 112, ["012"]),
        ("PeriodicRemove", 113, []),
        ("PeriodicVacate", 107, ["004"]),
    ],
)
def test_what_a_policy_wants_of_every_running_job_it_wants_before_the_program_begins(
    tmp_path: Path, attribute: str, reason: int, numbers: list[str]
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        began = world.clock.now()
        await here.run(there, **{attribute: "=JobStatus == 2"})
        assert (await here.ended()).reason == reason
        assert world.clock.now() - began < 5
        assert here.numbers() == numbers
        assert here.updates.get("NumJobStarts", "0") == "0"

    play(tmp_path, scenario, script=prepare)


@pytest.mark.parametrize(
    ("word", "reason", "numbers"),
    [("Remove", 102, ["004"]), ("Hold", 112, ["004", "012"]), ("Vacate", 107, ["004"])],
)
def test_what_fails_as_a_job_leaves_before_it_began_is_no_news(
    tmp_path: Path, word: str, reason: int, numbers: list[str]
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal(word, "no more", 1)
        assert (await here.ended()).reason == reason
        assert here.numbers() == numbers

    play(tmp_path, scenario, script=prepare)
