"""A shadow host and a scripted execution point on virtual time, and starters of several tempers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.testing.world import World, run_in_world
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import SendFile
from kettle.transfer.outcome import Outcome
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
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


async def obey(starter: StarterEnd, _: ClassAd) -> None:
    """A starter whose job runs until the claim is deactivated."""
    await starter.register()
    await starter.begin()
    await starter.place.deactivated.wait()
    await starter.exit(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)


async def hang(starter: StarterEnd, _: ClassAd) -> None:
    """A starter that runs its job and never says anything again."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(1_000_000)


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


async def end_with_three(starter: StarterEnd, _: ClassAd) -> None:
    await starter.register()
    await starter.begin()
    await starter.exit(768, ExitCode=3, ExitBySignal=False)


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


def slot_of(there: ExecutionPoint, name: str, began_at: int) -> ClassAd:
    ad = ClassAd({"MyType": "Machine", "Name": name, "MyAddress": str(there.address)})
    ad["DaemonStartTime"] = began_at
    return ad


def slow_disk(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have every file take so long until it is on disk."""

    async def sync(self: InlineSynchronizer, fd: int) -> None:
        del self, fd
        await asyncio.sleep(seconds)

    monkeypatch.setattr(InlineSynchronizer, "sync", sync)
