"""Checkpoints that come to a shadow: kept in order, or the end of the run."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.testing.world import World
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import Item, SendFile
from kettle.transfer.outcome import Outcome
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.filetransfer import FileTransferDownload
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import exit_of, play, slow_disk, transfer


def told(here: ScheddEnd) -> list[str]:
    """The words of the events of output, in the log's order."""
    lines = here.log.read_text().splitlines()
    return [line.split()[4] for line in lines if line.endswith("transferring output files")]


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_each_transfer_is_over_in_the_log_before_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """However long the disk needs to have a checkpoint, and the output too waits for it."""

    slow_disk(monkeypatch, seconds)
    box = tmp_path / "box"
    box.mkdir()

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        key = job.string("TransferKey") or ""
        await starter.begin()
        for number in range(3):
            event = ClassAd({"EventType": "SuccessfulCheckpoint", "CheckpointNumber": number})
            assert (await transfer(starter, job, key, {"state": b"x"}, box, final=False)).success
            await starter.call(calls.EventNotification(event))
            await starter.call(calls.BeginExecution())
        assert (await transfer(starter, job, key, {"out": b"y"}, box)).success
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        assert exit_of(await here.ended()) == (100, True)
        assert told(here) == ["Started", "Finished"] * 4
        assert here.updates["NumCkpts"] == "3"

    play(tmp_path, scenario, script=script)


async def connect(starter: StarterEnd, job: ClassAd) -> Stream:
    stream = await starter.place.network.connect(
        job.string("TransferSocket") or "",
        Command.FILETRANS_DOWNLOAD,
        session=starter.place.claim,
    )
    await stream.send(FileTransferDownload(job.string("TransferKey") or ""))
    return stream


async def begin(starter: StarterEnd, job: ClassAd) -> Stream:
    """Begin a checkpoint, whose files are still to come."""
    stream = await connect(starter, job)
    await stream.send(Words(0, ClassAd()))
    return stream


async def send(starter: StarterEnd, job: ClassAd, items: list[Item] | None) -> Outcome | None:
    """Send a checkpoint of these items, or begin one and break it off."""
    if items is None:
        (await begin(starter, job)).close()
        return None
    stream = await connect(starter, job)
    try:
        return await stream.run(upload(items, LocalFiles(), Terms("STARTER", peer="<x>")))
    finally:
        stream.close()


def test_a_checkpoint_that_cannot_be_sent_holds_the_job_in_the_starter_s_words(
    tmp_path: Path,
) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        outcome = await send(starter, job, [SendFile(str(tmp_path / "gone"), "gone")])
        assert outcome is not None
        assert outcome.failure is not None
        error = {"MyType": "RemoteErrorEvent", "Daemon": "starter", "HoldReasonCode": 36}
        error |= {"HoldReasonSubCode": -1, "ErrorMsg": "Starter failed to upload checkpoint"}
        await starter.call(calls.UserLog(ClassAd({**error, "CriticalError": True})))
        await starter.place.deactivated.wait()
        await starter.exit(0, 108)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        assert (await here.ended()).reason == 112
        assert here.numbers()[-3:] == ["021", "004", "012"]
        assert here.updates["HoldReasonCode"] == "36"
        assert here.updates["HoldReasonSubCode"] == "-1"
        assert here.updates["HoldReason"].endswith(': Starter failed to upload checkpoint"')

    play(tmp_path, scenario, script=script)


def test_a_checkpoint_that_begins_while_an_older_one_still_comes_takes_its_place(
    tmp_path: Path,
) -> None:
    """The older one's connection may hang; the two would have one folder in the spool."""
    box = tmp_path / "box"
    box.mkdir()

    ended: list[str] = []

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        key = job.string("TransferKey") or ""
        await starter.begin()
        older = await begin(starter, job)
        await asyncio.sleep(1)
        assert (await transfer(starter, job, key, {"state": b"new"}, box, final=False)).success
        with contextlib.suppress(ConnectionLost):
            async with asyncio.timeout(60):
                while True:
                    await older.receive()
        ended.append("broken off")
        older.close()
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        assert exit_of(await here.ended()) == (100, True)

    play(tmp_path, scenario, script=script)
    assert ended == ["broken off"]
    (state,) = tmp_path.rglob("cluster*.subproc0/state")
    assert state.read_bytes() == b"new"


def test_a_checkpoint_that_broke_off_is_no_reason_of_a_run_that_went_on(tmp_path: Path) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        await send(starter, job, None)
        await asyncio.sleep(1)
        await starter.call(calls.EventNotification(ClassAd({"EventType": "FailedCheckpoint"})))
        await starter.begin()
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers()[-1] == "005"

    play(tmp_path, scenario, script=script)


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_starter_hears_of_a_checkpoint_is_what_the_disk_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """It gives its files up for what is kept, and for nothing else."""
    slow_disk(monkeypatch, 5.0)
    if fails:

        async def full(self: InlineSynchronizer, fd: int) -> None:
            del self, fd
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(InlineSynchronizer, "sync", full)
    box = tmp_path / "box"
    box.mkdir()
    kept: list[list[str]] = []

    def found() -> list[str]:
        """What lies in the spool when the starter has its answer."""
        spooled = [path for path in tmp_path.rglob("state") if path.parent != box]
        return [path.parent.suffix for path in spooled]

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        key = job.string("TransferKey") or ""
        outcome = await transfer(starter, job, key, {"state": b"x"}, box, final=False)
        kept.append(found())
        assert outcome.success is not fails
        if outcome.failure is not None:
            assert (outcome.failure.code, outcome.failure.subcode) == (12, errno.ENOSPC)
            assert "No space left on device" in outcome.detail
        await asyncio.sleep(1)
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, TransferExecutable=False)
        await here.ended()
        assert told(here) == ["Started", "Finished"]

    play(tmp_path, scenario, script=script)
    assert kept == [[] if fails else [".subproc0"]]
