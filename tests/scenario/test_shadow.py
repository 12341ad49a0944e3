"""Whole lives of running jobs: a shadow host, a scripted execution point, virtual time."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.shadow import job_events
from kettle.testing.world import World
from kettle.wire.codec import is_private_attribute
from kettle.wire.messages import syscalls as calls
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import (
    come_back,
    exit_of,
    hang,
    obey,
    play,
)


def test_an_ordinary_job_is_started_logged_and_reported(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        assert there.story == ["activate 1", "DEACTIVATE_CLAIM_JOB_DONE"]
        assert here.numbers() == ["001", "005"]
        assert here.updates["NumJobStarts"] == "1"
        assert here.updates["ExitCode"] == "0"
        text = here.log.read_text()
        assert "\tSlotName: slot1_1@ep\n" in text
        assert "\t   TimeExecute (s)      :       10                    \n" in text
        assert here.host.shadows == {}

    play(tmp_path, scenario)


def test_the_starter_gets_the_job_with_the_shadows_additions(tmp_path: Path) -> None:
    seen: list[ClassAd] = []

    async def script(starter: StarterEnd, given: ClassAd) -> None:
        seen.append(await starter.register())
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.ended()
        [job] = seen
        assert job.string("ShadowIpAddr") == str(here.host.address)
        assert job.string("TransferSocket") == str(here.host.address)
        assert job.string("TransferKey")
        assert job.string("ClaimId") == there.claim.text
        assert job.string("UidDomain") == "here"

    play(tmp_path, scenario, script=script)


def test_where_the_starter_of_a_job_is_nobody_reads_in_the_queue(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        await asyncio.sleep(60)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(30)
        address = f'"{there.address}"'
        assert [n for n, text in here.updates.items() if text == address] == [STARTER_ADDRESS]
        assert is_private_attribute(STARTER_ADDRESS)
        await here.ended()
        assert here.updates[STARTER_ADDRESS] == "undefined"

    play(tmp_path, scenario, script=script)


def test_how_an_earlier_run_was_ended_stays_beside_how_this_one_ended(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, ExitBySignal=True, ExitSignal=15)
        assert exit_of(await here.ended()) == (100, True)
        # Observed of a real pool: a job killed first and then ended by itself has both in its
        # record, and so has one the other way around.
        assert (here.updates["ExitBySignal"], here.updates["ExitCode"]) == ("false", "0")
        assert "ExitSignal" not in here.updates

    play(tmp_path, scenario)


def test_a_startd_that_is_still_cleaning_up_is_asked_again(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        assert there.story[:3] == ["activate 2", "activate 2", "activate 1"]

    play(tmp_path, scenario, codes=[2, 2])


def test_a_refused_activation_is_no_start_and_says_why(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (108, False)
        assert here.updates["VacateReason"] == '"The slot is broken."'
        assert here.updates["VacateReasonCode"] == "1031"
        assert "NumJobStarts" not in here.updates
        assert here.numbers() == []

    failure = ClassAd({"VacateReason": "The slot is broken.", "VacateReasonCode": 1031})
    play(tmp_path, scenario, codes=[0], failure=failure)


def test_a_startd_that_is_gone_is_no_start(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await there.network.close()
        await here.run(there)
        assert exit_of(await here.ended()) == (108, False)

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("signal", "command", "exit_reason", "numbers"),
    [
        ("Hold", "DEACTIVATE_CLAIM", 112, ["001", "004", "012"]),
        ("Remove", "DEACTIVATE_CLAIM", 102, ["001", "004"]),
        ("TransferAndRemove", "DEACTIVATE_CLAIM_FINAL_XFER", 102, ["001", "004"]),
        ("Vacate", "DEACTIVATE_CLAIM", 107, ["001", "004"]),
        ("VacateFast", "DEACTIVATE_CLAIM_FORCIBLY", 107, ["001", "004"]),
    ],
)
def test_a_request_takes_the_job_off_its_machine(
    tmp_path: Path, signal: str, command: str, exit_reason: int, numbers: list[str]
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal(signal, "said so", 1 if signal == "Hold" else 0)
        assert exit_of(await here.ended()) == (exit_reason, True)
        assert there.story == ["activate 1", command]
        assert here.numbers() == numbers
        assert "\tReason: said so\n" in here.log.read_text()

    play(tmp_path, scenario, script=obey)


def test_a_starter_that_does_not_end_the_job_is_given_up(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal("Remove", "no more")
        assert (await here.ended()).reason == 102
        assert there.story[1:] == ["DEACTIVATE_CLAIM", "DEACTIVATE_CLAIM_FORCIBLY"]

    play(tmp_path, scenario, script=hang)


def test_a_request_before_the_activation_ends_the_run_at_its_beginning(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.signal("Hold", "at once", 1)
        assert (await here.ended()).reason == 112

    play(tmp_path, scenario, script=obey)


def test_suspending_stops_the_job_and_both_are_logged(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        for state in ("Suspended", "Running"):
            await starter.place.suspended.get()
            report = ClassAd({"JobState": state, "NumPids": 2})
            await starter.call(calls.RegisterJobInfo(report))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await asyncio.sleep(5)
        await here.signal("Suspend")
        await asyncio.sleep(30)
        assert here.updates["JobStatus"] == "7"
        await here.signal("Continue")
        await here.ended()
        assert there.story[1:3] == ["SUSPEND_CLAIM", "CONTINUE_CLAIM"]
        assert here.numbers() == ["001", "010", "011", "005"]
        assert here.updates["CumulativeSuspensionTime"] == "30"
        assert here.updates["TotalSuspensions"] == "1"

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("continued", [False, True])
def test_a_job_that_is_suspended_before_the_startd_has_it_begins_suspended(
    tmp_path: Path, *, continued: bool
) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        await asyncio.sleep(30)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        # The slot still cleans up behind its last job: it has none that could be stopped.
        there.codes = [2]
        await here.run(there)
        await asyncio.sleep(0.1)
        assert there.story == ["activate 2"]
        await here.signal("Suspend")
        if continued:
            await here.signal("Continue")
        await here.ended()
        stopped = [] if continued else ["SUSPEND_CLAIM"]
        assert there.story[1:3] == ["activate 1", *stopped, "DEACTIVATE_CLAIM_JOB_DONE"][:2]

    play(tmp_path, scenario, script=script)


def test_which_attributes_a_job_sets_with_delay_is_the_configuration_s_to_say(
    tmp_path: Path,
) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        delayed = ClassAd()
        delayed.insert_text("ChirpDelayedAttrs", "[ ChirpX = 1; MyX = 2 ]")
        await starter.call(calls.RegisterJobInfo(delayed))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.ended()
        assert here.updates["MyX"] == "2"
        assert "ChirpX" not in here.updates

    play(tmp_path, scenario, "CHIRP_DELAYED_UPDATE_PREFIX = my*", script=script)


def test_a_malformed_call_costs_the_connection_and_not_the_job(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        writer = starter.stream.writer()
        writer.integer(-9999)
        await starter.stream.send(writer)
        with pytest.raises(ConnectionLost):
            await starter.stream.receive(10)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["001", "022", "023", "005"]

    play(tmp_path, scenario, script=script, reconnected=come_back)


def test_a_periodic_expression_holds_a_running_job(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, PeriodicHold="=time() - JobCurrentStartExecutingDate > 100")
        assert (await here.ended()).reason == 112
        assert here.numbers() == ["001", "012"]
        assert here.updates["HoldReasonCode"] == "3"
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=obey)
    assert 100 < waited <= 160


def test_a_policy_is_looked_at_when_the_machine_says_what_the_job_uses(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        await asyncio.sleep(8)
        await starter.call(calls.RegisterJobInfo(ClassAd({"MemoryUsage": 500})))
        await starter.place.deactivated.wait()
        await starter.exit(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, PeriodicHold="=MemoryUsage > 400")
        assert (await here.ended()).reason == 112
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=script)
    assert 8 <= waited < 12


def test_no_periodic_expression_is_looked_at_where_the_interval_is_0(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, PeriodicHold=True, AllowedJobDuration=900)
        await here.ended()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, "PERIODIC_EXPR_INTERVAL = 0\n", script=obey)
    assert 900 <= waited <= 902


def test_an_allowed_duration_ends_to_the_second(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, AllowedJobDuration=90)
        await here.ended()
        assert here.updates["HoldReasonCode"] == "46"
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=obey)
    assert 90 <= waited <= 92


def test_a_starter_writes_no_event_of_the_jobs_life(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        for event in (
            {"MyType": "JobTerminatedEvent", "EventTypeNumber": 5, "TerminatedNormally": True},
            {"MyType": "JobAbortedEvent", "EventTypeNumber": 9, "Reason": "no"},
            {"MyType": "JobHeldEvent", "EventTypeNumber": 12, "HoldReason": "no"},
            {"MyType": "ExecuteEvent", "EventTypeNumber": 1, "ExecuteHost": "there"},
            {"MyType": "SubmitEvent", "EventTypeNumber": 0, "SubmitHost": "there"},
            {"MyType": "GenericEvent", "EventTypeNumber": 8, "Info": "a\n...\n005 (007.003.000) x"},
        ):
            await starter.call(calls.UserLog(ClassAd(event)))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.ended()
        assert here.numbers() == ["001", "008", "005"]

    play(tmp_path, scenario, script=script)


def test_a_critical_error_of_the_starter_holds_the_job_with_its_code(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        error = {"MyType": "RemoteErrorEvent", "Daemon": "starter", "ErrorMsg": "Failed to execute"}
        error |= {"ExecuteHost": "slot1_1@ep", "HoldReasonCode": 6, "HoldReasonSubCode": 13}
        await starter.call(calls.UserLog(ClassAd(error)))
        await starter.place.deactivated.wait()
        await starter.exit(0, 108)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert (await here.ended()).reason == 112
        assert here.numbers() == ["021", "004", "012"]
        assert here.updates["HoldReasonSubCode"] == "13"
        assert here.updates["HoldReason"] == '"Error from slot1_1@ep: Failed to execute"'

    play(tmp_path, scenario, script=script)


def test_an_unresolvable_expansion_holds_the_job_before_it_starts(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, Args="$$(Nope)")
        assert exit_of(await here.ended()) == (112, True)
        assert there.story == []
        assert "\tCannot expand $$ expression (Nope).\n" in here.log.read_text()

    play(tmp_path, scenario)


@pytest.mark.parametrize("age", [-10, 10])
def test_a_dataflow_job_is_skipped_if_its_output_is_newer_than_all_that_it_reads(
    tmp_path: Path, age: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for name in ("in", "program", "out"):
            (here.folder / name).touch()
        changed = (here.folder / "in").stat().st_mtime_ns + age * 10**9
        os.utime(here.folder / "out", ns=(changed, changed))
        wishes = {"TransferInput": "in", "TransferOutput": "out", "SkipIfDataflow": True}
        await here.run(there, Cmd=str(here.folder / "program"), **wishes)
        assert exit_of(await here.ended()) == (100, True)
        skipped = age > 0
        assert here.updates["DataflowJobSkipped"] == str(skipped).lower()
        assert here.updates["ExitCode"] == "0"
        assert (there.story == []) is skipped
        assert ("NumJobStarts" not in here.updates) is skipped
        assert here.numbers() == (["046", "005"] if skipped else ["001", "005"])

    play(tmp_path, scenario)


def test_a_job_that_needs_credentials_is_held_as_there_are_none(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, OAuthServicesNeeded="scitokens")
        assert exit_of(await here.ended()) == (112, True)
        assert here.updates["HoldReasonCode"] == "4"
        assert here.updates["HoldReason"] == '"Job credentials are not available"'
        assert there.story == []

    play(tmp_path, scenario)


def test_an_expansion_is_filled_in_for_the_starter(tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        seen.append((await starter.register()).string("Args"))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, Args="$$(Memory)")
        await here.ended()
        assert seen == ["128"]

    play(tmp_path, scenario, script=script)


def test_a_log_that_cannot_be_written_holds_the_job(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, UserLog="/dev/null/job.log")
        assert exit_of(await here.ended()) == (112, True)
        assert here.updates["HoldReasonCode"] == "22"
        assert there.story == []

    play(tmp_path, scenario)


def test_a_shadow_that_meets_a_bug_says_so_and_the_job_waits_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boom(_: object) -> object:
        raise ValueError("nobody thought of this")

    monkeypatch.setattr(job_events, "image_size_event", boom)

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        await starter.call(calls.RegisterJobInfo(ClassAd({"ImageSize": 100})))

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert (await here.ended()).reason == 4
        assert here.numbers() == ["001", "007"]
        body = here.log.read_text().split("...\n")[-2]
        assert body.split(" ", 4)[4] == (
            "Shadow exception!\n"
            "\tValueError: nobody thought of this\n"
            "\t0  -  Run Bytes Sent By Job\n"
            "\t0  -  Run Bytes Received By Job\n"
        )
        assert here.updates["VacateReasonCode"] == "1002"

    play(tmp_path, scenario, script=script)


def test_updates_wait_for_each_other_and_the_lease_is_renewed(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        for second in range(1000):
            await asyncio.sleep(1)
            await starter.call(calls.RegisterJobInfo(ClassAd({"RemoteUserCpu": float(second)})))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        began = int(world.clock.now())
        await here.run(there)
        await here.ended()
        assert len(here.update_times) < 600
        assert int(here.updates["LastJobLeaseRenewal"]) > began + 300

    play(tmp_path, scenario, script=script)


def test_two_hundred_jobs_live_side_by_side(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for proc in range(200):
            await here.run(there, proc=proc)
        for _ in range(200):
            assert exit_of(await here.ended()) == (100, True)
        assert here.log.read_text().count("\n...\n") == 400

    play(tmp_path, scenario)
