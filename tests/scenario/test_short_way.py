"""A shadow and a starter of ours spare each other calls; the job's records are the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.shadow.services.calls import SHORT_RUN_SECONDS
from kettle.shadow.services.lines import KEPT_SECONDS
from kettle.testing.world import World
from kettle.wire.codec import Reader
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.shadow_host import HostMessage, StopHost, UpdateJob
from kettle.wire.messages.short_way import (
    BEGINS,
    GOES_ON,
    LAST_REPORT,
    NO_INPUT,
    NO_OUTPUT,
    NOTHING_TO_FETCH,
    SHORT_WAY,
    ActivationRefused,
    NextJob,
)
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import play

# A job whose program is on the execution point already, so that no file travels.
NO_FILES = {"ShouldTransferFiles": "YES", "TransferExecutable": False}


def began(starter: StarterEnd) -> ClassAd:
    """What a starter says at the beginning, on the short way."""
    ad = ClassAd({"Name": "slot1_1@ep", "StarterIpAddr": str(starter.place.address)})
    ad.update({"CondorScratchDir": "/scratch", "MachineResources": "Cpus", "Cpus": 1})
    ad.update({"CpusProvisioned": 1, "ProvisionedResources": "Cpus"})
    ad.update({BEGINS: True, NO_INPUT: True})
    return ad


def test_two_calls_write_the_events_of_ten(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, job: ClassAd) -> None:
        assert job.boolean(SHORT_WAY)
        assert job.boolean(NOTHING_TO_FETCH)
        assert job.string("ShadowIpAddr")
        assert (await starter.call(calls.RegisterStarterInfo(began(starter)))).value == 0
        await asyncio.sleep(10)
        last = {LAST_REPORT: True, NO_OUTPUT: True, "ImageSize": 7, "ExitCode": 3}
        await starter.exit(3 << 8, **last)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **NO_FILES)
        exited = await here.ended()
        assert exited.reason == 100
        text = here.log.read_text()
        assert here.numbers() == ["040", "040", "001", "006", "040", "005"]
        kinds = [line[38:] for line in text.splitlines() if line.startswith("040")]
        assert kinds == [
            "Started transferring input files",
            "Finished transferring input files",
            "Finished transferring output files",
        ]
        assert here.updates["NumJobStarts"] == "1"
        assert here.updates["ExitCode"] == "3"
        assert here.updates["CpusProvisioned"] == "1"
        assert here.updates["TransferringInput"] == "false"
        # As a real shadow has it of output that is none.
        assert not {"NumOutputTransferStarts", "TransferOutStarted"} & here.updates.keys()
        assert "TransferOutFinished" in here.updates
        # How large the input is says what submitted the job.
        assert "TransferInputSizeMB" not in here.updates
        assert here.updates["TransferInputFileCounts"] == "[  ]"

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize(
    ("seconds", "words"), [(SHORT_RUN_SECONDS / 2, []), (SHORT_RUN_SECONDS * 2, [True])]
)
def test_the_queue_hears_of_a_start_when_the_log_has_it_and_of_a_short_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, words: list[bool]
) -> None:
    told: list[bool] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        await asyncio.sleep(seconds)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        post = here.host.tell_schedd

        def listen(message: HostMessage) -> None:
            if isinstance(message, UpdateJob) and "NumJobStarts" in message.attributes:
                told.append("001" in here.numbers())
            post(message)

        monkeypatch.setattr(here.host, "tell_schedd", listen)
        await here.run(there, **NO_FILES)
        ended = await here.ended()
        assert ("NumJobStarts" in ended.attributes) is not bool(words)
        assert here.updates["NumJobStarts"] == "1"

    play(tmp_path, scenario, script=script)
    assert told == words


def test_a_host_that_is_stopped_tells_of_starts_that_it_kept_back(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        begun.set()
        await asyncio.sleep(10)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **NO_FILES)
        await begun.wait()
        await here.stream.send(StopHost("fast"))
        await asyncio.sleep(SHORT_RUN_SECONDS / 2)
        assert here.updates["NumJobStarts"] == "1"

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize(
    ("attributes", "nothing"),
    [(NO_FILES, True), ({"In": "data"}, False), ({"TransferInput": "a b"}, False)],
)
def test_the_shadow_says_whether_there_is_anything_to_fetch(
    attributes: dict[str, object], nothing: bool, tmp_path: Path
) -> None:
    seen: list[ClassAd] = []

    async def script(starter: StarterEnd, job: ClassAd) -> None:
        seen.append(job)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **{**NO_FILES, **attributes})
        await here.ended()

    play(tmp_path, scenario, script=script)
    assert [job.boolean(NOTHING_TO_FETCH) for job in seen] == [nothing]


def test_a_job_that_has_to_leave_does_not_begin(tmp_path: Path) -> None:
    answers: list[int] = []

    async def script(starter: StarterEnd, job: ClassAd) -> None:
        await starter.place.deactivated.wait()
        reply = await starter.call(calls.RegisterStarterInfo(began(starter)))
        answers.append(reply.value)
        starter.stream.close()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **NO_FILES)
        await asyncio.sleep(1)
        await here.signal("Hold", "enough", 1)
        await here.ended()
        assert answers == [-1]
        assert "001" not in here.numbers()

    play(tmp_path, scenario, script=script)


async def end_and_wait(starter: StarterEnd) -> ClassAd:
    """End a job as a starter that stays does, and return the ad of the next one."""
    last = ClassAd({LAST_REPORT: True, NO_OUTPUT: True, GOES_ON: True, "ExitCode": 0})
    await starter.call(calls.JobExit(0, 100, last))
    reader = await starter.stream.receive(60)
    assert reader.integer() == NextJob.word
    return Reader(NextJob.read(reader).job).ad()


def test_the_next_job_of_a_claim_begins_on_the_line_of_the_last_one(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, job: ClassAd) -> None:
        for proc in (3, 4):
            assert job.integer("ProcId") == proc
            assert job.string("ClaimId") == starter.place.claim.text
            await starter.call(calls.RegisterStarterInfo(began(starter)))
            job = await end_and_wait(starter)
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for proc in (3, 4, 5):
            await here.run(there, proc=proc, **NO_FILES)
            exited = await here.ended()
            assert exited.reason == 100
            assert exited.reusable is True
        assert there.story == ["activate 1", "DEACTIVATE_CLAIM_JOB_DONE"]
        assert here.log.read_text().count("\n005 ") + here.log.read_text().startswith("005") == 3

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_line_that_is_gone_leaves_the_ordinary_activation(when: str, tmp_path: Path) -> None:
    async def script(starter: StarterEnd, job: ClassAd) -> None:
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        if job.integer("ProcId") == 4:
            await starter.exit()
        elif when == "meanwhile":
            await end_and_wait(starter)
        else:
            last = ClassAd({LAST_REPORT: True, NO_OUTPUT: True, GOES_ON: True})
            await starter.call(calls.JobExit(0, 100, last))

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        for proc in (3, 4):
            await here.run(there, proc=proc, **NO_FILES)
            exited = await here.ended()
            assert exited.reason == 100
        assert there.story == ["activate 1", "activate 1", "DEACTIVATE_CLAIM_JOB_DONE"]

    play(tmp_path, scenario, script=script)


def test_a_startd_that_refuses_the_next_job_is_no_start(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, job: ClassAd) -> None:
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        await end_and_wait(starter)
        why = ClassAd({"VacateReason": "The slot is broken."})
        await starter.stream.send(ActivationRefused(0, why))

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **NO_FILES)
        await here.ended()
        await here.run(there, proc=4, **NO_FILES)
        exited = await here.ended()
        assert exited.reason == 108
        assert here.updates["VacateReason"] == '"The slot is broken."'

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("goes_on", [True, False])
def test_the_last_call_of_a_starter_that_stays_ends_the_activation(
    goes_on: bool, tmp_path: Path
) -> None:
    async def script(starter: StarterEnd, job: ClassAd) -> None:
        await starter.call(calls.RegisterStarterInfo(began(starter)))
        last = ClassAd({LAST_REPORT: True, NO_OUTPUT: True, GOES_ON: goes_on})
        await starter.call(calls.JobExit(0, 100, last))
        starter.stream.close()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, **NO_FILES)
        exited = await here.ended()
        assert (exited.reason, exited.reusable) == (100, goes_on)
        assert there.story == ["activate 1"]
        # A line that nobody takes is closed.
        await asyncio.sleep(KEPT_SECONDS + 1)

    play(tmp_path, scenario, script=script)
