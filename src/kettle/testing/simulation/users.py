"""The people of a simulation: they submit, hold, release and remove, and remember what was said.

A job counts as acknowledged when the schedd has answered the commit. If the connection breaks
before, it may be there or not; but if it is, it is there whole.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.attributes.version import CONDOR_VERSION
from kettle.classad import ClassAd
from kettle.classad.text import quote_old
from kettle.client.spool import place_for
from kettle.errors import KettleError
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.beside_files import BesideFiles
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.testing.simulation.machines import Machine
from kettle.testing.simulation.processes import SimulatedProcess
from kettle.transfer.go_ahead import Terms
from kettle.transfer.plan import plan_input
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.queue_queries import (
    ActOnJobs,
    SpoolJobFiles,
    SpoolJobIds,
    SpoolReply,
    TransferData,
    TransferDataCount,
)
from kettle.wire.messages.rpc import Call, Reply

HOLD, RELEASE, REMOVE, VACATE, VACATE_FAST, SUSPEND, CONTINUE = 1, 2, 3, 5, 6, 8, 9


@dataclass
class Wish:
    """A job as its user wants it."""

    name: str
    seconds: float
    code: int
    # Its JobLeaseDuration, as an expression; empty for none at all.
    lease: str = "2400"
    # Whether its files travel; else it runs where its user's files are.
    transfers: bool = False
    # Whether they do so by way of the spool: sent with the job, and fetched after its end.
    spools: bool = False
    # How many jobs its cluster has; those of more than one are made late, two at a time.
    procs: int = 1
    # Attributes beside or instead of the usual ones, as expressions.
    more: dict[str, str] = field(default_factory=dict)
    # Whether its own policy may remove it.
    removes_itself: bool = False
    cluster: int = 0
    acknowledged: bool = False
    # Whether its user wanted it removed, and whether the schedd said that it was.
    to_be_removed: bool = False
    removed: bool = False
    # When it asked for that, on the clock of the simulation.
    removal_asked_at: float = math.inf

    @property
    def jobs(self) -> list[str]:
        """What the witness calls its jobs, by their numbers."""
        return [self.name] if self.procs == 1 else [f"{self.name}.{n}" for n in range(self.procs)]


@dataclass
class User:
    """Somebody with an access point."""

    name: str
    machine: Machine
    wishes: list[Wish] = field(default_factory=list)

    def submit(self, wish: Wish) -> None:
        """Begin to submit a job, as a program of its own."""
        self.wishes.append(wish)

        async def life(process: SimulatedProcess) -> int:
            try:
                await _submit(self, process, wish)
            except KettleError as error:
                self.machine.note(f"condor_submit of {wish.name}: {error}")
                return 1
            self.machine.note(f"{wish.name} is job {wish.cluster}.0")
            return 0

        self.machine.around.table.start("condor_submit", self.machine.name, life)

    def spool(self, wish: Wish) -> None:
        """Begin to send the input of a job that waits for it."""
        self._begin("condor_submit -spool", wish, _spool)

    def fetch(self, wish: Wish) -> None:
        """Begin to fetch the output of a job that has ended."""
        self._begin("condor_transfer_data", wish, _fetch)

    def _begin(
        self,
        title: str,
        wish: Wish,
        what: Callable[[User, SimulatedProcess, Wish], Awaitable[None]],
    ) -> None:
        async def life(process: SimulatedProcess) -> int:
            try:
                await what(self, process, wish)
            except KettleError as error:
                self.machine.note(f"{title} of {wish.name}: {error}")
                return 1
            self.machine.note(f"{title} of {wish.name} is done")
            return 0

        self.machine.around.table.start(title, self.machine.name, life)

    def act(self, action: int, wish: Wish) -> None:
        """Begin to act on a job; who removes it and is told so may rely on it."""

        async def life(process: SimulatedProcess) -> int:
            asked_at = asyncio.get_running_loop().time()
            try:
                done = await _act(self, process, action, wish)
            except KettleError as error:
                self.machine.note(f"action {action} on {wish.name}: {error}")
                return 1
            self.machine.note(f"action {action} on {wish.name}: {done}")
            if done and action == REMOVE:
                wish.removed = True
                wish.removal_asked_at = min(wish.removal_asked_at, asked_at)
            return 0

        if wish.acknowledged:
            wish.to_be_removed |= action == REMOVE
            self.machine.around.table.start("condor_act", self.machine.name, life)

    def edit(self, wish: Wish, name: str, text: str) -> None:
        """Begin to change an attribute of a job, or of the cluster of several."""

        async def life(process: SimulatedProcess) -> int:
            try:
                await _edit(self, process, wish, name, text)
            except KettleError as error:
                self.machine.note(f"condor_qedit of {wish.name}: {error}")
                return 1
            self.machine.note(f"{name} of {wish.name} is {text}")
            return 0

        self.machine.around.table.start("condor_qedit", self.machine.name, life)


def _tool(user: User, process: SimulatedProcess) -> Runtime:
    return user.machine.runtime("TOOL", process, f"SEC_CLAIMTOBE_USER = {user.name}@here\n")


async def _connect(user: User, process: SimulatedProcess, command: Command) -> Stream:
    runtime = _tool(user, process)
    schedd = user.machine.services.get("SCHEDD")
    if schedd is None:
        raise KettleError("there is no schedd")
    return await runtime.network.connect(
        schedd.runtime.network.address, command, force_authentication=True
    )


async def _call(stream: Stream, request: Call) -> Reply:
    await stream.send(request)
    return request.read_answer(await stream.receive())


# What a job is submitted with whose files are to come.
_WAITS_FOR_FILES = {
    "JobStatus": str(int(JobStatus.HELD)),
    "HoldReason": '"Spooling input data files"',
    "HoldReasonCode": str(int(HoldReasonCode.SpoolingInput)),
}


async def _submit(user: User, process: SimulatedProcess, wish: Wish) -> None:
    if wish.transfers:
        (user.machine.folder / f"{wish.name}.in").write_text(f"for {wish.name}")
    stream = await _connect(user, process, Command.QMGMT_WRITE_CMD)
    call = partial(_call, stream)
    cluster = (await call(calls.NewCluster())).value
    for name, text in _attributes(user.machine, wish).items():
        stream.post(calls.SetAttribute2(cluster, -1, text, name, 2))
    if wish.procs == 1:
        proc = (await call(calls.NewProc(cluster))).value
        for name, text in (_WAITS_FOR_FILES if wish.spools else {}).items():
            stream.post(calls.SetAttribute2(cluster, proc, text, name, 2))
    else:
        arguments = f"{wish.seconds:.3f} {wish.code} {wish.name}.$(Process)"
        digest = f"arguments={arguments}\nmax_materialize=2\n\nQueue {wish.procs}\n"
        await call(calls.SetJobFactory(cluster, 2, "", digest))
    wish.cluster = cluster
    answer = await call(calls.CommitTransactionNoFlags())
    stream.close()
    if answer.value != 0:
        wish.cluster = 0
        raise KettleError(f"the commit was refused: {answer.value}")
    wish.acknowledged = True
    if wish.spools:
        await _spool(user, process, wish)


async def _spool(user: User, process: SimulatedProcess, wish: Wish) -> None:
    stream = await _connect(user, process, Command.SPOOL_JOB_FILES_WITH_PERMS)
    job = ClassAd({"ClusterId": wish.cluster, "ProcId": 0})
    for name, text in _attributes(user.machine, wish).items():
        job.insert_text(name, text)
    await stream.send(SpoolJobFiles(CONDOR_VERSION, 1))
    await stream.send(SpoolJobIds([(wish.cluster, 0)]))
    storage = LocalFiles()
    plan = plan_input(job, storage)
    terms = Terms("SUBMIT", peer="the schedd")
    outcome = await stream.run(upload(plan.items, storage, terms, sandbox_bytes=plan.sandbox_bytes))
    if outcome.failure is not None:
        raise KettleError(outcome.failure.reason)
    if SpoolReply.read(await stream.receive()).code != 1:
        raise KettleError("the schedd did not take the files")
    stream.close()


async def _fetch(user: User, process: SimulatedProcess, wish: Wish) -> None:
    stream = await _connect(user, process, Command.TRANSFER_DATA_WITH_PERMS)
    await stream.send(TransferData(CONDOR_VERSION, f"ClusterId == {wish.cluster}"))
    count = TransferDataCount.read(await stream.receive()).jobs
    for _ in range(count):
        job = (await stream.receive()).ad()
        terms = Terms("TOOL", peer="the schedd")
        outcome = await stream.run(download(place_for(job), BesideFiles(), terms))
        if outcome.failure is not None:
            raise KettleError(outcome.failure.reason)
    await stream.send(stream.writer().integer(1))
    stream.close()


async def _edit(user: User, process: SimulatedProcess, wish: Wish, name: str, text: str) -> None:
    stream = await _connect(user, process, Command.QMGMT_WRITE_CMD)
    proc = 0 if wish.procs == 1 else -1
    for request in (
        calls.SetAttribute(wish.cluster, proc, text, name),
        calls.CommitTransactionNoFlags(),
    ):
        answer = await _call(stream, request)
        if answer.value < 0:
            raise KettleError(f"it was refused: {answer.value}")
    stream.close()


def _attributes(machine: Machine, wish: Wish) -> dict[str, str]:
    attributes = {
        "Owner": "undefined",
        "JobUniverse": "5",
        "Cmd": '"/bin/job"',
        "Arguments": quote_old(f"{wish.seconds:.3f} {wish.code} {wish.name}"),
        "Iwd": quote_old(str(machine.folder)),
        "In": '"/dev/null"',
        "Out": '"/dev/null"',
        "Err": '"/dev/null"',
        "UserLog": quote_old(f"{machine.folder}/{wish.name}.log"),
        "ShouldTransferFiles": '"NO"',
        "RequestCpus": "1",
        "RequestMemory": "100",
        "RequestDisk": "1",
        "Requirements": "TARGET.Memory >= RequestMemory",
        "OnExitRemove": "true",
        "OnExitHold": "false",
        "PeriodicHold": "false",
        "PeriodicRemove": "false",
        "PeriodicRelease": "false",
    }
    if wish.lease:
        attributes["JobLeaseDuration"] = wish.lease
    if wish.transfers:
        attributes |= {
            "ShouldTransferFiles": '"YES"',
            "WhenToTransferOutput": '"ON_EXIT"',
            "TransferExecutable": "false",
            "TransferInput": quote_old(f"{wish.name}.in"),
            "TransferOutput": quote_old(f"{wish.name}.out"),
        }
    if wish.spools:
        # Its log would be in the spool, too, where nobody could read it after its end.
        del attributes["UserLog"]
        attributes["LeaveJobInQueue"] = "JobStatus == 4 && StageOutFinish is undefined"
    if wish.procs > 1:
        del attributes["Arguments"]
        attributes["Args"] = quote_old(f"{wish.seconds:.3f} {wish.code} {wish.name}.0")
    return attributes | wish.more


async def _act(user: User, process: SimulatedProcess, action: int, wish: Wish) -> bool:
    stream = await _connect(user, process, Command.ACT_ON_JOBS)
    ids = f"{wish.cluster}.0" if wish.procs == 1 else str(wish.cluster)
    request = {"JobAction": action, "ActionResultType": 1, "ActionIds": ids}
    await stream.send(ActOnJobs(ClassAd(request)))
    answer = (await stream.receive()).ad()
    done = bool(answer.integer("ActionResult"))
    if done:
        await stream.send(stream.writer().integer(1))
        done = (await stream.receive()).integer() == 1
    stream.close()
    return done
