"""A running job's files: input, output, checkpoints, and keys that open nothing."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.testing.world import World
from kettle.transfer.outcome import Outcome
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.filetransfer import FileTransferDownload
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import (
    exit_of,
    play,
    slow_disk,
    transfer,
)


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
        for direction in ("Input", "Output"):
            ended = here.updates[f"JobCurrentFinishTransfer{direction}Date"]
            assert int(ended) >= int(here.updates[f"JobCurrentStartTransfer{direction}Date"]) > 0

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
        # As the reference has it of a transfer that came to nothing.
        assert here.updates["JobCurrentFinishTransferInputDate"] == "-1"
        assert int(here.updates["TransferInFinished"]) > 0

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_what_comes_before_the_end_waits_in_the_spool_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """However long the disk needs to have it: neither the next files nor the run's end is first."""

    slow_disk(monkeypatch, seconds)
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


@pytest.mark.parametrize("where", ["spool", "full spool", "home"])
def test_output_whose_only_copy_is_here_is_on_disk_before_its_machine_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    synced: list[str] = []

    async def sync(self: InlineSynchronizer, fd: int) -> None:
        del self
        path = os.readlink(f"/proc/self/fd/{fd}")
        if where == "full spool" and path.endswith("/out"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced.append(path)

    box = tmp_path / "box"
    box.mkdir()
    spool = tmp_path / "spool" / "7" / "3" / "cluster7.proc3.subproc0"
    spool.mkdir(parents=True)
    sent: list[Outcome] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        monkeypatch.setattr(InlineSynchronizer, "sync", sync)
        key = job.string("TransferKey") or ""
        sent.append(await transfer(starter, job, key, {"out": b"x"}, box))
        arrived = {f"{spool}.output.tmp", f"{spool}.output.tmp/out", str(spool.parent)}
        assert arrived & set(synced) == (arrived if where == "spool" else set()), synced
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        folder = {} if where == "home" else {"Iwd": str(spool), "StageInStart": 1}
        await here.run(there, TransferExecutable=False, **folder)
        await here.ended()
        (outcome,) = sent
        if where == "full spool":
            assert outcome.failure is not None
            assert (outcome.failure.code, outcome.failure.subcode) == (12, errno.ENOSPC)
            assert outcome.detail.endswith(f"{spool}.output in place: No space left on device")
        else:
            assert outcome.success
            assert ((spool if where == "spool" else tmp_path) / "out").read_bytes() == b"x"

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


def test_a_job_puts_a_file_in_two_steps_and_goes_on(tmp_path: Path) -> None:
    """However long its bytes are on their way."""

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        put = calls.PutFile("f", 0o600, 5)
        assert (await starter.call(put)).value >= 0
        await asyncio.sleep(600)
        await starter.stream.send(Words(b"hello"))
        assert put.read_answer(await starter.stream.receive(60)).value == 5
        assert (await starter.call(calls.GetFile("f"))).result == b"hello"
        assert (await starter.call(calls.PutFile("nowhere/f", 0o600, 5))).errno == 2
        assert (await starter.call(calls.PutFile("empty", 0o600, 0))).value >= 0
        assert (await starter.call(calls.GetDir("."))).value > 0
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, WantIOProxy=True, TransferExecutable=False)
        assert (await here.ended()).reason == 100

    play(tmp_path, scenario, script=script)
    assert (tmp_path / "f").read_bytes() == b"hello"
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_starter_that_has_sent_a_checkpoint_is_told_to_go_on(tmp_path: Path) -> None:
    """Unless it says that its claim is closing."""

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        for context, command in ({}, "Restart"), ({"EPCheckpointRestart": True}, "DontRestart"):
            request = ClassAd({"RequestType": "CheckpointTaken", "ContextAd": ClassAd(context)})
            reply = await starter.call(calls.RequestGuidance(request))
            assert (reply.value, reply.result.string("Command")) == (0, command)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        assert (await here.ended()).reason == 100

    play(tmp_path, scenario, script=script)
