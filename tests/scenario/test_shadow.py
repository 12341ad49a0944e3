"""Whole lives of running jobs: a shadow host, a scripted execution point, virtual time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.shadow import job_events
from kettle.testing.world import World, run_in_world
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import SendFile
from kettle.transfer.outcome import Outcome
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.levels import Level
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.filetransfer import FileTransferDownload, FileTransferUpload
from kettle.wire.messages.shadow_host import ShadowExited
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd

Scenario = Callable[[World, ExecutionPoint, ScheddEnd], Awaitable[Any]]


def play(folder: Path, scenario: Scenario, text: str = "", **place: Any) -> Any:
    """Run a scenario with an execution point and a shadow host."""

    async def main(world: World) -> Any:
        there = ExecutionPoint(world, **place)
        await there.start()
        here = ScheddEnd(world, folder)
        await here.start(text)
        try:
            return await scenario(world, there, here)
        finally:
            await here.close()
            await there.network.close()

    return run_in_world(folder, main)


def exit_of(message: ShadowExited) -> tuple[int, bool]:
    return message.reason, message.reusable


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


async def obey(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose job runs until the claim is deactivated."""
    await starter.register()
    await starter.begin()
    await starter.place.deactivated.wait()
    await starter.exit(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)


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


async def hang(starter: StarterEnd, _: ClassAd) -> None:
    """A starter that runs its job and never says anything again."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(1_000_000)


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


async def break_off(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose connection breaks while the job runs."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(5)
    starter.stream.close()


async def come_back(starter: StarterEnd, _: ClassAd) -> None:
    """The same starter after it was found again."""
    await asyncio.sleep(20)
    await starter.exit(768, ExitCode=3, ExitBySignal=False)


def test_a_lost_starter_is_found_again_and_the_job_is_not_started_twice(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["001", "022", "023", "005"]
        assert there.story[:3] == ["activate 1", "CA_LOCATE_STARTER", "CA_RECONNECT_JOB"]
        assert here.updates["NumJobStarts"] == "1"
        assert here.updates["NumJobReconnects"] == "1"

    play(tmp_path, scenario, script=break_off, reconnected=come_back)


def test_a_job_that_the_startd_has_forgotten_goes_back_into_the_queue(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004"]

    play(tmp_path, scenario, script=break_off, locate="Failure")


def test_an_execution_point_that_is_gone_is_waited_for_until_the_lease_ends(
    tmp_path: Path,
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.vanish()
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004"]
        assert "JobLeaseDuration (600 seconds) expired" in here.log.read_text()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


@pytest.mark.parametrize("how", ["found", "forgotten", "too late"])
def test_how_the_search_for_a_lost_starter_ended_is_a_line_of_its_own(
    tmp_path: Path, how: str
) -> None:
    log = tmp_path / "reconnections"

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600, JobCurrentStartDate=int(began))
        if how == "too late":
            await asyncio.sleep(4)
            await there.vanish()
        await here.ended()
        return began

    place: dict[str, Any] = {"reconnected": come_back} if how == "found" else {}
    if how == "forgotten":
        place["locate"] = "Failure"
    config = f"SHADOW_RECONNECT_LOG = {log}\nSHADOW_RECONNECT_TIMEOUT_VERSION = two\n"
    began: float = play(tmp_path, scenario, config, script=break_off, **place)
    [line] = log.read_text().splitlines()
    job, activated, heard, found, over, lease, version, dead = line.split(",")
    assert (job.count("."), lease, version) == (1, "600", "two")
    assert int(activated) == int(began)
    assert int(activated) <= int(heard) <= int(over)
    assert (found, dead) == ("true" if how == "found" else "false", str(how == "forgotten").lower())
    assert (int(over) - int(heard) >= 590) == (how == "too late")


def test_an_execution_point_whose_port_refuses_is_waited_for_as_well(tmp_path: Path) -> None:
    """The job may live on where all daemons were killed."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.network.close()
        assert exit_of(await here.ended()) == (116, False)
        assert "JobLeaseDuration (600 seconds) expired" in here.log.read_text()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


async def start_collector(world: World, *slots: ClassAd) -> None:
    """Answer, as the pool's collector, with these slots."""
    _, network, _ = world.runtime("COLLECTOR")

    async def on_query(stream: Stream) -> None:
        query = Query.read(await stream.receive()).query
        found = [slot for slot in slots if query.evaluate("Requirements", slot) is True]
        await stream.send(QueryReply(found))

    network.register(Command.QUERY_STARTD_ADS, on_query, levels=(Level.ALLOW,))
    await network.listen(9618)
    network.begin_accepting()


def slot_of(there: ExecutionPoint, name: str, began_at: int) -> ClassAd:
    ad = ClassAd({"MyType": "Machine", "Name": name, "MyAddress": str(there.address)})
    ad["DaemonStartTime"] = began_at
    return ad


@pytest.mark.parametrize(
    ("host", "name", "began_at", "is_gone"),
    [
        pytest.param("10.0.0.2", "slot1@ep", 2, True, id="its successor"),
        pytest.param("10.0.0.2", "slot1@ep", 1, False, id="itself"),
        pytest.param("10.0.0.2", "slot1@other", 2, False, id="another startd"),
        pytest.param("10.0.0.9", "slot1@ep", 2, False, id="the same name elsewhere"),
    ],
)
def test_a_job_is_gone_when_its_startd_s_successor_does_not_know_it(
    host: str, name: str, began_at: int, is_gone: bool, tmp_path: Path
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.network.close()
        later = ExecutionPoint(world, host=host, port=9700, locate="Failure")
        await later.start()
        await start_collector(
            world, slot_of(there, "slot1_1@ep", 1), slot_of(later, name, began_at)
        )
        assert exit_of(await here.ended()) == (116, False)
        assert ("no longer knows the job" in here.log.read_text()) is is_gone
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert (waited < 20) is is_gone


def test_a_new_host_takes_over_a_running_job(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        told = {"NumJobStarts": 1, "JobCurrentStartExecutingDate": int(world.clock.now())}
        await here.run(there, reconnect=True, **told)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "005"]
        assert "Local schedd and job shadow died" in here.log.read_text()
        assert "NumJobStarts" not in here.updates

    play(tmp_path, scenario, reconnected=come_back)


def test_a_run_that_is_taken_over_late_is_looked_for_before_it_is_given_up(tmp_path: Path) -> None:
    """Recorded leases are old, and clocks are set: the starter may be there after all."""

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        told = {"NumJobStarts": 1, "JobCurrentStartExecutingDate": int(world.clock.now())}
        long_ago = int(world.clock.now()) - 7200
        await here.run(there, reconnect=True, LastJobLeaseRenewal=long_ago, **told)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "005"]

    play(tmp_path, scenario, reconnected=come_back)


def test_a_clock_that_is_set_ends_no_lease(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = asyncio.get_running_loop().time()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.vanish()
        await asyncio.sleep(60)
        world.clock.set_forward = 7200.0
        assert exit_of(await here.ended()) == (116, False)
        return asyncio.get_running_loop().time() - began

    waited: float = play(tmp_path, scenario, script=break_off)
    assert 600 <= waited <= 640


@pytest.mark.parametrize("signal", ["Hold", "Vacate"])
def test_who_may_be_started_again_waits_for_the_lease_of_a_lost_starter(
    tmp_path: Path, signal: str
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.now()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(6)
        await there.vanish()
        await here.signal(signal, "now", 1 if signal == "Hold" else 0)
        await here.ended()
        return world.clock.now() - began

    waited: float = play(tmp_path, scenario, script=break_off, locate="UnknownError")
    assert 600 <= waited <= 640


async def end_with_three(starter: StarterEnd, _: ClassAd) -> None:
    await starter.register()
    await starter.begin()
    await starter.exit(768, ExitCode=3, ExitBySignal=False)


def test_a_new_host_believes_the_log_of_a_job_that_tells_of_its_end(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert exit_of(await here.ended()) == (100, True)
        told = here.log.read_bytes()
        await here.run(there, reconnect=True, NumJobStarts=1)
        ended = await here.ended()
        assert exit_of(ended) == (100, False)
        assert ended.attributes["ExitCode"] == "3"
        assert here.log.read_bytes() == told

    play(tmp_path, scenario, script=end_with_three)


@pytest.mark.parametrize("committed", [True, False])
def test_a_new_host_believes_the_log_of_a_job_that_tells_of_an_end_and_another_run(
    tmp_path: Path, committed: bool
) -> None:
    """If the queue knows of that end it was an earlier run's, and this one is looked for."""
    wants = {"OnExitRemove": "=ExitCode == 0"}

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **wants)
        assert exit_of(await here.ended()) == (107, True)
        assert here.numbers() == ["001", "004"]
        told = here.log.read_bytes()
        counts = {"NumJobStarts": 1, "NumJobCompletions": 1} if committed else {}
        await here.run(there, reconnect=True, **wants, **counts)
        ended = await here.ended()
        if committed:
            assert exit_of(ended)[0] == 116
            assert here.numbers() == ["001", "004", "022", "024", "004"]
            return
        assert exit_of(ended) == (107, False)
        assert here.log.read_bytes() == told
        for name in ("NumJobStarts", "NumJobCompletions"):
            assert ended.attributes[name] == "1"
        assert ended.attributes["ExitCode"] == "3"

    play(tmp_path, scenario, script=end_with_three, locate="Failure")


@pytest.mark.parametrize("committed", [True, False])
def test_a_start_that_only_a_dead_host_heard_of_is_told_and_counted_once(
    tmp_path: Path, committed: bool
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        now = int(world.clock.now())
        more = {"JobCurrentStartExecutingDate": now, "NumJobStarts": 1} if committed else {}
        await here.run(there, reconnect=True, JobCurrentStartDate=now, **more)
        ended = await here.ended()
        assert exit_of(ended) == (100, True)
        starts = here.updates.get("NumJobStarts", ended.attributes.get("NumJobStarts"))
        assert starts == (None if committed else "1")
        assert here.numbers() == ["022", "023", *([] if committed else ["001"]), "005"]

    play(tmp_path, scenario, reconnected=come_back)


@pytest.mark.parametrize("counted", [0, 1])
def test_a_start_that_only_the_log_knows_is_counted_though_the_starter_is_gone(
    tmp_path: Path, counted: int
) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        # As if the schedd had died before it had the word of the start, and its host after it.
        await here.run(there)
        await here.ended()
        told = {"JobCurrentStartExecutingDate": int(world.clock.now())} if counted else {}
        here.updates.clear()
        await here.run(there, reconnect=True, NumJobStarts=counted, **told)
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004", "022", "024", "004"]
        assert here.updates.get("NumJobStarts") == (None if counted else "1")

    play(tmp_path, scenario, script=break_off, locate="Failure")


def test_a_new_host_has_a_job_begin_whose_start_nobody_heard_of(tmp_path: Path) -> None:
    async def begin_again(starter: StarterEnd, _: ClassAd) -> None:
        """The call that was lost is made again, and its answer is lost too."""
        await starter.begin()
        await starter.begin()
        await asyncio.sleep(5)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, reconnect=True)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["022", "023", "001", "005"]
        assert here.updates["NumJobStarts"] == "1"

    play(tmp_path, scenario, reconnected=begin_again)


def test_a_removal_while_the_starter_is_lost_does_not_wait_for_the_lease(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        await here.run(there)
        await asyncio.sleep(6)
        await there.vanish()
        asked_at = world.clock.now()
        await here.signal("Remove", "no more")
        assert (await here.ended()).reason == 102
        return world.clock.now() - asked_at

    waited: float = play(tmp_path, scenario, script=break_off, locate="UnknownError")
    assert waited < 120


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
        await here.run(there, UserLog="/no/such/folder/job.log")
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


async def transfer(
    starter: StarterEnd,
    job: ClassAd,
    key: str,
    outputs: dict[str, bytes] | None,
    box: Path,
    *,
    final: bool = True,
    arrived: Callable[[str], object] = str,
) -> Outcome:
    """Move files as a starter does: input into `box`, or `outputs` from it."""
    network = starter.place.network
    command = Command.FILETRANS_UPLOAD if outputs is None else Command.FILETRANS_DOWNLOAD
    word = FileTransferUpload if outputs is None else FileTransferDownload
    stream = await network.connect(
        job.string("TransferSocket") or "", command, session=starter.place.claim
    )
    try:
        await stream.send(word(key))
        terms = Terms("STARTER", peer="<x>", code=13)
        if outputs is None:
            place = download(lambda name: str(box / name), LocalFiles(), terms, arrived=arrived)
            return await stream.run(place)
        for name, data in outputs.items():
            (box / name).write_bytes(data)
        items = [SendFile(str(box / name), name) for name in outputs]
        return await stream.run(upload(items, LocalFiles(), terms, final=final))
    finally:
        stream.close()


def test_the_removal_of_a_job_breaks_its_output_off(tmp_path: Path) -> None:
    """At once, and nothing more is taken from that starter."""
    ends: list[float] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        began = starter.place.world.clock.now()
        for _ in range(2):
            stream = await starter.place.network.connect(
                job.string("TransferSocket") or "",
                Command.FILETRANS_DOWNLOAD,
                session=starter.place.claim,
            )
            await stream.send(FileTransferDownload(job.string("TransferKey") or ""))
            with pytest.raises(ConnectionLost):
                await stream.receive(3000)
            stream.close()
            ends.append(starter.place.world.clock.now() - began)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        await asyncio.sleep(20)
        await here.signal("Remove", "enough")
        await here.ended()
        assert [round(end) for end in ends] == [20, 20]

    play(tmp_path, scenario, script=script)


def test_files_travel_both_ways_with_their_events_and_counts(tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.mkdir()
    (tmp_path / "in.txt").write_text("input")

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        key = job.string("TransferKey") or ""
        assert (await transfer(starter, job, key, None, box)).success
        guidance = await starter.call(
            calls.RequestGuidance(ClassAd({"RequestType": "JobEnvironment"}))
        )
        assert guidance.result.string("Command") == "StartJob"
        await starter.begin()
        outputs = {"_condor_stdout": b"out", "res": b"12345"}
        assert (await transfer(starter, job, key, outputs, box)).success
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(
            there,
            TransferInput="in.txt",
            TransferExecutable=False,
            Out="stdout.txt",
            StreamOut=False,
            TransferOutputRemaps="res=result.txt",
        )
        assert exit_of(await here.ended()) == (100, True)
        assert (box / "in.txt").read_text() == "input"
        assert (tmp_path / "stdout.txt").read_bytes() == b"out"
        assert (tmp_path / "result.txt").read_bytes() == b"12345"
        assert here.numbers() == ["040", "040", "001", "040", "040", "005"]
        assert "\t8  -  Run Bytes Sent By Job\n" in here.log.read_text()
        assert "\t5  -  Run Bytes Received By Job\n" in here.log.read_text()
        assert here.updates["NumInputTransferStarts"] == "1"
        assert here.updates["TransferringOutput"] == "false"

    play(tmp_path, scenario, script=script)


def test_a_missing_input_file_holds_the_job_by_name(tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.mkdir()

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        outcome = await transfer(starter, job, job.string("TransferKey") or "", None, box)
        assert outcome.failure is not None
        guidance = await starter.call(
            calls.RequestGuidance(ClassAd({"RequestType": "JobEnvironment"}))
        )
        assert guidance.result.string("Command") == "Abort"
        error = {"MyType": "RemoteErrorEvent", "Daemon": "starter", "HoldReasonCode": 13}
        error |= {"ErrorMsg": f"Failed to transfer files: {outcome.failure.reason}"}
        await starter.call(calls.UserLog(ClassAd(error)))
        await starter.place.deactivated.wait()
        await starter.exit(0, 108)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferInput="nope.txt", TransferExecutable=False)
        assert (await here.ended()).reason == 112
        assert here.numbers() == ["040", "040", "021", "004", "012"]
        assert here.updates["HoldReasonCode"] == "13"
        assert here.updates["HoldReasonSubCode"] == "2"
        assert here.updates["VacateReasonCode"] == "13"
        assert here.updates["VacateReason"] == here.updates["HoldReason"]
        assert here.updates["HoldReason"].startswith(
            '"Transfer input files failure at access point here while sending files to execution'
        )
        assert "nope.txt" in here.updates["HoldReason"]

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_what_comes_before_the_end_waits_in_the_spool_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """However long the disk needs to have it: neither the next files nor the run's end is first."""

    async def sync(self: InlineSynchronizer, fd: int) -> None:
        del self, fd
        await asyncio.sleep(seconds)

    monkeypatch.setattr(InlineSynchronizer, "sync", sync)
    box = tmp_path / "box"
    box.mkdir()
    spool = tmp_path / "spool" / "7" / "3" / "cluster7.proc3.subproc0"
    received: list[list[str]] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        key = job.string("TransferKey") or ""
        names: list[str] = []
        await transfer(starter, job, key, None, box, arrived=names.append)
        received.append(sorted(names))
        await starter.begin()
        for files in ({"state": b"one", "first": b"1"}, {"state": b"two"}):
            assert (await transfer(starter, job, key, files, box, final=False)).success
        await starter.exit(9, 107, VacateReason="PREEMPT", VacateReasonCode=1011)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for _ in range(2):
            await here.run(there, TransferExecutable=False)
            assert exit_of(await here.ended()) == (107, True)
        assert received == [[], ["first", "state"]]
        assert (spool / "state").read_bytes() == b"two"
        assert [path.name for path in spool.parent.iterdir()] == [spool.name]
        assert not (tmp_path / "state").exists()
        assert "JobStatus" not in here.updates

    play(tmp_path, scenario, script=script)


def test_a_wrong_transfer_key_moves_nothing(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        with pytest.raises((ConnectionLost, Exception)):
            await transfer(starter, job, "1#guess", None, tmp_path)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferInput="in.txt")
        await here.ended()
        assert "040" not in here.numbers()

    play(tmp_path, scenario, script=script)


def test_two_hundred_jobs_live_side_by_side(tmp_path: Path) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for proc in range(200):
            await here.run(there, proc=proc)
        for _ in range(200):
            assert exit_of(await here.ended()) == (100, True)
        assert here.log.read_text().count("\n...\n") == 400

    play(tmp_path, scenario)
