"""A starter's connection cut at every message: the job goes on, starts once and ends once."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.testing.world import World
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import SendFile
from kettle.transfer.outcome import Outcome
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.filetransfer import FileTransferDownload, FileTransferUpload
from kettle.wire.messages.rpc import Call
from kettle.wire.messages.shadow_host import ShadowExited
from kettle.wire.sinful import Sinful
from scenario.execution_point import ExecutionPoint, ScheddEnd, StarterEnd
from scenario.shadow_stage import play


def _calls(place: ExecutionPoint) -> list[Call]:
    info = ClassAd({"Name": "slot1_1@ep", "StarterIpAddr": str(place.address), "Cpus": 1})
    return [
        calls.GetJobInfo(),
        calls.RegisterStarterInfo(info),
        calls.RegisterJobInfo(ClassAd({"CpusProvisioned": 1, "ProvisionedResources": "Cpus"})),
        calls.RequestGuidance(ClassAd({"RequestType": "JobSetup"})),
        calls.RequestGuidance(ClassAd({"RequestType": "JobEnvironment"})),
        calls.BeginExecution(),
        calls.RegisterJobInfo(ClassAd({"JobState": "Running", "ImageSize": 100})),
        calls.EventNotification(ClassAd({"EventType": "ActivationExecutionExit"})),
        calls.RegisterJobInfo(ClassAd({"JobState": "Exited", "ExitCode": 3})),
        calls.JobExit(3 << 8, 100, ClassAd({"ExitCode": 3, "ExitBySignal": False})),
    ]


COUNT = 10


class Cutting:
    """A starter that makes its calls in order and loses its connection once, at one of them."""

    def __init__(self, at: int, *, sent: bool) -> None:
        self.at = at
        self.sent = sent
        self.next = 0

    async def begin(self, starter: StarterEnd, _: ClassAd) -> None:
        """Go up to the cut."""
        todo = _calls(starter.place)
        while self.next < self.at:
            await starter.call(todo[self.next])
            self.next += 1
        if self.sent:
            # It arrives and is acted on, but the answer never comes.
            await starter.stream.send(todo[self.next])
        starter.stream.close()

    async def go_on(self, starter: StarterEnd, _: ClassAd) -> None:
        """Repeat what was not answered, then the rest."""
        for call in _calls(starter.place)[self.next :]:
            await starter.call(call)
        starter.stream.close()


@pytest.mark.parametrize("sent", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(COUNT))
def test_a_cut_at_any_call_costs_nothing_but_time(tmp_path: Path, at: int, sent: bool) -> None:
    starter = Cutting(at, sent=sent)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        ended: ShadowExited = await here.ended()
        assert ended.reason == 100
        assert here.updates["NumJobStarts"] == "1"
        assert here.updates["ExitCode"] == "3"
        numbers = here.numbers()
        assert numbers.count("001") == 1
        assert numbers[-1] == "005"
        assert numbers.count("005") == 1
        assert numbers.count("022") == numbers.count("023")
        last = sent and at == COUNT - 1
        # What was said before the line broke is known: nobody is looked for.
        assert numbers.count("022") == (0 if last else 1)
        assert "024" not in numbers
        await asyncio.sleep(5000)
        assert here.exits.empty()

    play(tmp_path, scenario, script=starter.begin, reconnected=starter.go_on)


def test_an_exit_that_was_reported_counts_though_its_answer_cannot_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        (shadow,) = hosts[0].shadows.values()

        async def fail(_: object) -> None:
            raise ConnectionLost("reset by peer")

        assert shadow.stream is not None
        monkeypatch.setattr(shadow.stream, "send", fail)
        await starter.stream.send(calls.JobExit(0, 100, ClassAd()))

    hosts = []

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        hosts.append(here.host)
        await here.run(there)
        assert (await here.ended()).reason == 100
        assert here.numbers() == ["001", "005"]

    play(tmp_path, scenario, script=script)


def cut_after(dialog: Any, steps: int) -> Any:
    """Go through a dialog's first steps, then lose the connection."""
    answer = None
    for _ in range(steps):
        try:
            answer = yield dialog.send(answer)
        except StopIteration as end:
            return end.value
    dialog.close()
    raise ConnectionLost("cut")


STARTER = Terms("STARTER", peer="<10.0.0.1:1>", code=13)


@pytest.mark.parametrize("at", [*range(0, 28, 2), 60])
def test_a_cut_anywhere_in_the_input_is_made_good_by_another_try(tmp_path: Path, at: int) -> None:
    arrived = tmp_path / "arrived"
    arrived.mkdir()
    (tmp_path / "in1").write_text("one")
    (tmp_path / "in2").write_text("two")

    async def fetch(starter: StarterEnd, job: ClassAd, steps: int) -> Outcome | None:
        stream = await starter.place.network.connect(
            Sinful.parse(job.string("TransferSocket") or ""), Command.FILETRANS_UPLOAD
        )
        await stream.send(FileTransferUpload(job.string("TransferKey") or ""))
        dialog = download(lambda name: str(arrived / name), LocalFiles(), STARTER)
        try:
            return await stream.run(cut_after(dialog, steps))  # type: ignore[no-any-return]
        except ConnectionLost:
            return None
        finally:
            stream.close()

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        if await fetch(starter, job, at) is None:
            await asyncio.sleep(1)
            assert await fetch(starter, job, 1000) is not None
        command = await starter.call(
            calls.RequestGuidance(ClassAd({"RequestType": "JobEnvironment"}))
        )
        assert command.result.string("Command") == "StartJob"
        await starter.begin()
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(
            there, TransferInput="in1,in2", TransferExecutable=False, ShouldTransferFiles="YES"
        )
        assert (await here.ended()).reason == 100
        assert (arrived / "in1").read_text() == "one"
        assert (arrived / "in2").read_text() == "two"
        assert here.numbers()[-1] == "005"

    play(tmp_path, scenario, script=script)


def test_a_job_that_leaves_while_its_input_travels_has_its_end_told_but_no_exit(
    tmp_path: Path,
) -> None:
    """As a real 25.14.1: event 040 tells that the transfer is over, then the job leaves."""
    (tmp_path / "in1").write_text("one")

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        stream = await starter.place.network.connect(
            Sinful.parse(job.string("TransferSocket") or ""), Command.FILETRANS_UPLOAD
        )
        await stream.send(FileTransferUpload(job.string("TransferKey") or ""))
        with contextlib.suppress(ConnectionLost):
            dialog = download(lambda name: str(tmp_path / "arrived"), LocalFiles(), STARTER)
            await stream.run(cut_after(dialog, 12))
        await starter.place.deactivated.wait()
        stream.close()
        await starter.exit(0, 107, VacateReason="Claim deactivated", VacateReasonCode=1009)

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(
            there, TransferInput="in1", TransferExecutable=False, ShouldTransferFiles="YES"
        )
        await asyncio.sleep(5)
        await here.signal("Hold", "no more", 1)
        await here.ended()
        assert here.numbers() == ["040", "040", "004", "012"]
        assert "Finished transferring input files" in here.log.read_text()
        assert not {"ExitCode", "ExitBySignal", "ExitSignal"} & here.updates.keys()
        assert here.updates["TransferringInput"] == "false"

    play(tmp_path, scenario, script=script)


@pytest.mark.shows("M031")
@pytest.mark.parametrize("at", [*range(0, 20, 2), 60])
def test_a_cut_anywhere_in_the_output_is_made_good_by_another_try(tmp_path: Path, at: int) -> None:
    made = tmp_path / "made"
    made.write_text("result")
    home = tmp_path / "home"
    home.mkdir()

    async def send(starter: StarterEnd, job: ClassAd, steps: int) -> Outcome | None:
        stream = await starter.place.network.connect(
            Sinful.parse(job.string("TransferSocket") or ""), Command.FILETRANS_DOWNLOAD
        )
        await stream.send(FileTransferDownload(job.string("TransferKey") or ""))
        dialog = upload([SendFile(str(made), "made")], LocalFiles(), STARTER, final=True)
        try:
            return await stream.run(cut_after(dialog, steps))  # type: ignore[no-any-return]
        except ConnectionLost:
            return None
        finally:
            stream.close()

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        job = await starter.register()
        await starter.begin()
        if await send(starter, job, at) is None:
            await asyncio.sleep(1)
            assert await send(starter, job, 1000) is not None
        await starter.exit()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, Iwd=str(home), UserLog=str(here.log), ShouldTransferFiles="YES")
        assert (await here.ended()).reason == 100
        assert (home / "made").read_text() == "result"
        assert here.numbers()[-1] == "005"

    play(tmp_path, scenario, script=script)


def test_the_events_of_a_reconnection_are_the_references_to_the_byte(tmp_path: Path) -> None:
    """Wire notes, Job event log, 022 to 024."""

    async def script(starter: StarterEnd, _: ClassAd) -> None:
        await starter.register()
        await starter.begin()
        starter.stream.close()

    async def come_back(starter: StarterEnd, _: ClassAd) -> None:
        starter.stream.close()
        starter.place.locate = "Failure"

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there)
        await here.ended()
        bodies = [part.partition(" ")[2] for part in here.log.read_text().split("...\n")]
        bodies = [part.split(" ", 3)[3] for part in bodies if part.startswith("(007")]
        lost, found, again, failed = (body for body in bodies if "onnect" in body)
        assert (
            lost
            == again
            == (
                "Job disconnected, attempting to reconnect\n"
                "    Socket between submit and execute hosts closed unexpectedly\n"
                f"    Trying to reconnect to slot1_1@ep {there.address}\n"
            )
        )
        assert found == (
            "Job reconnected to slot1_1@ep\n"
            f"    startd address: {there.address}\n"
            f"    starter address: {there.address}\n"
        )
        assert failed.splitlines()[0] == "Job reconnection failed"
        assert failed.splitlines()[2] == "    Can not reconnect to slot1_1@ep, rescheduling job"

    play(tmp_path, scenario, script=script, reconnected=come_back)
