"""How a shadow has its job asked to leave: what the startd is told, in which order, how long.

The orders of a scripted execution point are read, on virtual time. What the starter makes of them
is in `tests/unit/starter/test_leave_machine.py`, and with real programs in
`tests/pool/test_soft_kills.py`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.starter.outcome import remote_error
from kettle.testing.world import World
from kettle.wire.messages import syscalls as calls
from scenario.execution_point import ExecutionPoint, ScheddEnd, Script, StarterEnd
from scenario.shadow_stage import break_off, come_back, hang, obey, play

GENTLY, AT_ONCE = "DEACTIVATE_CLAIM", "DEACTIVATE_CLAIM_FORCIBLY"


async def take_time(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose job takes forty seconds to leave."""
    await starter.register()
    await starter.begin()
    await starter.place.deactivated.wait()
    await asyncio.sleep(40)
    await starter.exit(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)


async def send_output(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose program ends after ten seconds, and whose output takes forty."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(10)
    await starter.call(calls.RegisterJobInfo(ClassAd({"ExitBySignal": False, "ExitCode": 0})))
    await asyncio.sleep(40)
    await starter.exit()


async def checkpoint(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose program leaves a checkpoint after ten seconds, and goes on after fifty."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(10)
    ended = ClassAd({"EventType": "ActivationExecutionExit"})
    await starter.call(calls.EventNotification(ended))
    await asyncio.sleep(40)
    await starter.begin()
    await asyncio.sleep(30)
    await starter.exit()


@pytest.mark.parametrize(
    ("word", "wants", "pool", "order"),
    [
        ("Remove", None, "", GENTLY),
        ("Remove", False, "", AT_ONCE),
        ("Remove", None, "GRACEFULLY_REMOVE_JOBS = false\n", AT_ONCE),
        ("Remove", True, "GRACEFULLY_REMOVE_JOBS = false\n", GENTLY),
        ("Forget", True, "", AT_ONCE),
        ("TransferAndRemove", False, "", "DEACTIVATE_CLAIM_FINAL_XFER"),
        ("Hold", False, "", AT_ONCE),
        ("Hold", None, "GRACEFULLY_REMOVE_JOBS = false\n", AT_ONCE),
        ("Vacate", False, "GRACEFULLY_REMOVE_JOBS = false\n", GENTLY),
    ],
)
def test_job_and_pool_say_whether_it_may_end_by_itself(
    tmp_path: Path, word: str, wants: bool | None, pool: str, order: str
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        said = {} if wants is None else {"WantGracefulRemoval": wants}
        await here.run(there, **said)
        await asyncio.sleep(5)
        await here.signal(word, "no more", 1)
        await here.ended()
        assert there.story == ["activate 1", order]

    play(tmp_path, scenario, pool, script=obey)


def test_a_startd_that_did_not_hear_it_is_told_again(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal("Vacate", "elsewhere", 1004)
        began = asyncio.get_running_loop().time()
        await here.ended()
        assert asyncio.get_running_loop().time() - began < 30
        assert there.story == ["activate 1", GENTLY, GENTLY, GENTLY]

    play(tmp_path, scenario, script=obey, deaf=2)


def test_what_is_told_again_is_what_is_wanted_by_then(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal("Vacate", "elsewhere", 1004)
        await asyncio.sleep(2)
        await here.signal("VacateFast", "at once", 1004)
        await here.ended()
        assert there.story == ["activate 1", GENTLY, AT_ONCE, AT_ONCE]

    play(tmp_path, scenario, script=obey, deaf=2)


@pytest.mark.parametrize("before", [(), ("Remove",), ("Hold",)])
def test_nothing_more_is_written_of_a_job_that_is_forgotten(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        for word in (*before, "Forget"):
            await asyncio.sleep(5)
            await here.signal(word, "no more", 1)
        assert (await here.ended()).reason == 102
        assert here.numbers() == ["001"]
        assert there.story[-1] == AT_ONCE

    play(tmp_path, scenario, script=take_time)


@pytest.mark.parametrize("verdict", ["PeriodicRemove", "PeriodicHold", "PeriodicVacate"])
@pytest.mark.parametrize("wants", [True, False])
def test_a_job_s_own_policy_takes_it_off_as_the_job_wants(
    tmp_path: Path, verdict: str, wants: bool
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, WantGracefulRemoval=wants, **{verdict: "=NumJobStarts > 0"})
        await here.ended()
        assert there.story == ["activate 1", GENTLY if wants else AT_ONCE]

    play(tmp_path, scenario, script=obey)


@pytest.mark.parametrize(
    ("words", "orders", "reason"),
    [
        (("Remove", "Remove"), [GENTLY], 102),
        (("Hold", "Remove"), [GENTLY], 102),
        (("Vacate", "Hold"), [GENTLY], 112),
        (("Hold", "Release"), [GENTLY], 107),
        (("Hold", "Release", "Hold"), [GENTLY], 112),
        (("Vacate", "Remove"), [GENTLY], 102),
        (("Vacate", "VacateFast"), [GENTLY, AT_ONCE], 107),
        (("Remove", "Forget"), [GENTLY, AT_ONCE], 102),
        (("Forget", "Remove"), [AT_ONCE], 102),
        (("Hold", "VacateFast"), [GENTLY, AT_ONCE], 112),
    ],
)
def test_who_asks_again_is_heard_only_if_he_asks_for_more(
    tmp_path: Path, words: tuple[str, ...], orders: list[str], reason: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        for word in words:
            await asyncio.sleep(5)
            await here.signal(word, "no more", 1)
        assert (await here.ended()).reason == reason
        assert there.story == ["activate 1", *orders]

    play(tmp_path, scenario, script=take_time)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (("Hold",), ["004", "012"]),
        (("Vacate", "Hold"), ["004", "012"]),
        (("Hold", "Release"), ["004"]),
        (("Hold", "Release", "Hold"), ["004", "012"]),
        (("Release",), []),
    ],
)
@pytest.mark.parametrize("pause", [5, 0])
def test_a_log_ends_with_a_hold_only_if_the_job_is_held_by_then(
    tmp_path: Path, words: tuple[str, ...], last: list[str], pause: int
) -> None:
    """Whether the host reads the words one after the other or all in one turn."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        for word in words:
            if pause:
                await asyncio.sleep(pause)
            await here.signal(word, "no more", 1)
        await asyncio.sleep(100)
        assert here.numbers() == ["001", *last]

    play(tmp_path, scenario, script=take_time)


def test_a_second_removal_gives_a_starter_that_hangs_no_more_time(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, KillSigTimeout=50)
        await asyncio.sleep(5)
        began = world.clock.now()
        await here.signal("Remove", "no more")
        await asyncio.sleep(300)
        await here.signal("Remove", "no more")
        await here.ended()
        # Ten minutes more than the job wanted for itself.
        assert 650 <= world.clock.now() - began <= 660
        assert there.story == ["activate 1", GENTLY, AT_ONCE]

    play(tmp_path, scenario, script=hang)


@pytest.mark.parametrize(
    ("word", "orders", "exit_reason"),
    [
        ("Remove", [AT_ONCE], 102),
        ("Hold", [GENTLY], 112),
        ("Vacate", [GENTLY], 107),
        ("TransferAndRemove", ["DEACTIVATE_CLAIM_FINAL_XFER"], 102),
    ],
)
def test_nobody_waits_for_the_output_of_a_removed_job(
    tmp_path: Path, word: str, orders: list[str], exit_reason: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, JobMaxVacateTime=500)
        await asyncio.sleep(20)
        await here.signal(word, "no more", 1)
        assert (await here.ended()).reason == exit_reason
        assert there.story == ["activate 1", *orders]

    play(tmp_path, scenario, script=send_output)


@pytest.mark.parametrize(("word", "more"), [("Remove", [AT_ONCE]), ("Hold", []), ("Vacate", [])])
def test_a_program_that_ends_while_it_is_asked_to_leave_has_no_output_to_be_waited_for_if_removed(
    tmp_path: Path, word: str, more: list[str]
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, JobMaxVacateTime=500)
        await asyncio.sleep(5)
        await here.signal(word, "no more", 1)
        await here.ended()
        assert there.story == ["activate 1", GENTLY, *more]

    play(tmp_path, scenario, script=send_output)


@pytest.mark.parametrize(("seconds", "order"), [(30, AT_ONCE), (60, GENTLY)])
def test_a_checkpoint_of_a_removed_job_is_broken_off_and_a_program_that_goes_on_is_asked(
    tmp_path: Path, seconds: int, order: str
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, JobMaxVacateTime=500)
        await asyncio.sleep(seconds)
        await here.signal("Remove", "no more")
        await here.ended()
        assert there.story == ["activate 1", order]

    play(tmp_path, scenario, script=checkpoint)


async def fail_and_go(starter: StarterEnd, _: ClassAd) -> None:
    """A starter that tells of an error which ends the run, and leaves without another word."""
    await starter.register()
    await starter.begin()
    error = remote_error("slot1_1@ep", "no such program", 6, 2, critical=True)
    await starter.call(calls.UserLog(error))
    starter.stream.close()


@pytest.mark.parametrize(("script", "is_told"), [(fail_and_go, False), (break_off, True)])
def test_a_connection_is_told_to_be_lost_where_nobody_expects_its_end(
    tmp_path: Path, script: Script, is_told: bool
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.ended()
        assert ("The starter's connection is lost" in "\n".join(world.log)) is is_told

    play(tmp_path, scenario, script=script, reconnected=come_back)


async def be_held(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose machine wants its job held, which takes forty seconds to leave."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(5)
    error = remote_error("slot1_1@ep", "too greedy", 21, 104, critical=True)
    await starter.call(calls.UserLog(error))
    await asyncio.sleep(40)
    await starter.call(calls.RegisterJobInfo(ClassAd({"ImageSize": 100})))
    await starter.exit(9, 107, VacateReason="PREEMPT", VacateReasonCode=1009)


@pytest.mark.parametrize(
    ("words", "reason", "last"),
    [
        ((), 112, []),
        (("Remove",), 102, []),
        (("Release",), 107, []),
        (("Release", "Hold"), 112, ["012"]),
        (("Forget",), 102, []),
    ],
)
def test_a_job_that_its_machine_wants_held_is_held_before_it_has_left(
    tmp_path: Path, words: tuple[str, ...], reason: int, last: list[str]
) -> None:
    """The queue has it, then the log, which has nothing more of this run."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(10)
        told = {name: here.updates.get(name) for name in ("JobStatus", "HoldReasonCode")}
        assert told == {"JobStatus": "5", "HoldReasonCode": "21"}
        assert here.updates["HoldReason"] == '"Error from slot1_1@ep: too greedy"'
        assert here.numbers() == ["001", "021", "004", "012"]
        for word in words:
            await here.signal(word, "no more", 1)
            await asyncio.sleep(1)
        assert (await here.ended()).reason == reason
        assert world.clock.now() - here.update_times[0] > 40
        assert here.numbers() == ["001", "021", "004", "012", *last]

    play(tmp_path, scenario, script=be_held)


@pytest.mark.parametrize("word", ["Hold", "VacateFast"])
def test_a_shadow_that_takes_over_a_job_held_before_it_has_left_does_not_write_it_again(
    tmp_path: Path, word: str
) -> None:
    """Its schedd repeats what is wanted: the hold, or that a job which was released leaves."""
    log = tmp_path / "job.log"
    said = "".join(
        f"{number} (007.003.000) 2026-11-23 03:12:09 Job was told.\n...\n"
        for number in ("001", "021", "004", "012", *(["013"] if word != "Hold" else []))
    )
    log.write_text(said)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        now = int(world.clock.now())
        status = 5 if word == "Hold" else 1
        await here.run(there, reconnect=True, JobStatus=status, JobCurrentStartExecutingDate=now)
        await here.signal(word, "Error from slot1_1@ep: too greedy", 21)
        await here.ended()
        assert log.read_text() == said

    play(tmp_path, scenario, script=obey, reconnected=obey)
