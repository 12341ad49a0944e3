"""A schedd in a world, with a scripted startd, shadow host and negotiator around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.levels import Level
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.jobs import Job
from kettle.schedd.service import ScheddService
from kettle.schedd.services.shadows import HOST_ENTRY
from kettle.testing.processes import FakeChild
from kettle.testing.world import World, WorldDaemon
from kettle.wire.commands import Command
from kettle.wire.messages import claims, negotiate
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.queue_queries import ActOnJobs
from kettle.wire.messages.rpc import Call, Reply
from kettle.wire.messages.shadow_host import (
    HostReady,
    ShadowExited,
    SignalShadow,
    StartShadow,
    StopHost,
    UpdateJob,
    read_host_message,
)
from kettle.wire.security.claim_id import ClaimId, mint_claim_id


@dataclass
class AccessPoint:
    """The schedd and what it talks to; `story` is what the others were told, in order."""

    world: World
    text: str = ""
    slots: int = 2
    story: list[str] = field(default_factory=list)
    # Seconds a job runs; None: until the test says otherwise.
    run_seconds: float | None = 10.0
    hosts: int = 0
    # Where the schedd's files are; the real disk if nobody says so.
    files: Files | None = None
    # What the startd answers a request; a grant if nobody says so.
    answer: Callable[[claims.RequestClaim], Awaitable[claims.RequestClaimReply]] | None = None

    async def start(self) -> None:
        """Start everything."""
        await self._start_startd()
        await self.start_schedd()

    async def start_schedd(self) -> None:
        """Start a schedd over the world's spool, after a crash of the last one too."""

        def service(runtime: Runtime) -> ScheddService:
            runtime.files = self.files or runtime.files
            made = ScheddService(runtime)
            zygote = runtime.processes.zygote
            zygote.entries[HOST_ENTRY] = self._host  # type: ignore[attr-defined]
            return made

        text = f"MAX_JOBS_RUNNING = 1000\n{self.text}"
        self.daemon: WorldDaemon[ScheddService] = await self.world.start("SCHEDD", service, text)
        self.client = self.world.client("alice@here")

    @property
    def schedd(self) -> ScheddService:
        """The service."""
        return self.daemon.service

    async def crash_schedd(self) -> None:
        """Let the schedd and its shadow host vanish."""
        await self.daemon.crash()
        self.schedd.shadows.forget()
        for child in self.daemon.processes.started:
            child.signal(9)
        self.schedd.on_disk.forget()
        self.schedd.departures.forget()
        for writer in self.schedd.events.logs._waiting._writers:
            writer.cancel()
        self.schedd.journal.close()

    # -- the execute side -------------------------------------------------------------------

    async def _start_startd(self) -> None:
        self.runtime, self.network, _ = self.world.runtime("STARTD", name="ep", host="10.0.0.2")
        await self.network.listen(9600)
        self.free = [
            mint_claim_id(str(self.network.address), 1, number, bytes([number]) * 32)
            for number in range(1, self.slots + 1)
        ]
        for claim in self.free:
            self.network.add_session(claim, user="submit-side@matchsession", lifetime=None)
        for command, handler in (
            (Command.REQUEST_CLAIM, self._on_request),
            (Command.RELEASE_CLAIM, self._on_release),
        ):
            self.network.register(command, handler, levels=(Level.ALLOW,))
        self.network.begin_accepting()

    async def _on_request(self, stream: Stream) -> None:
        request = claims.RequestClaim.read(await stream.receive())
        assert request.request.boolean("_condor_SEND_CLAIMED_AD")
        self.story.append("claim")
        if self.answer is not None:
            await stream.send(await self.answer(request))
            return
        slot = self.slot_ad()
        await stream.send(claims.RequestClaimReply(True, [(request.claim_id, slot)], None))

    async def _on_release(self, stream: Stream) -> None:
        released = claims.ReleaseClaim.read(await stream.receive()).claim_id
        self.story.append("release")
        self.free.append(ClaimId(released))

    def slot_ad(self) -> ClassAd:
        """Return a slot that takes every job."""
        return ClassAd(
            {
                "Name": "slot1_1@ep",
                "MyAddress": str(self.network.address),
                "Memory": 1024,
                "Cpus": 1,
                "Requirements": True,
            }
        )

    # -- the shadow host --------------------------------------------------------------------

    async def _host(self, child: FakeChild) -> int:
        """Be a shadow host whose jobs run for a while and end with 0."""
        self.hosts += 1
        stream = Stream.over(child.fds[0])
        stream.post(HostReady())
        tasks: dict[tuple[int, int], asyncio.Task[None]] = {}
        try:
            while True:
                message = read_host_message(await stream.receive_forever())
                if isinstance(message, StartShadow):
                    word = "reconnect" if message.reconnect else "start"
                    job = (message.cluster, message.proc)
                    self.story.append(f"{word} {job[0]}.{job[1]}")
                    tasks[job] = asyncio.get_running_loop().create_task(self._run(stream, job))
                elif isinstance(message, SignalShadow):
                    job = (message.cluster, message.proc)
                    self.story.append(f"{message.signal} {job[0]}.{job[1]}")
                    self._obey(stream, tasks, job, message.signal)
                elif isinstance(message, StopHost):
                    return 0
        except ConnectionLost:
            return 1
        finally:
            for task in tasks.values():
                task.cancel()
            stream.close()

    async def _run(self, stream: Stream, job: tuple[int, int]) -> None:
        stream.post(UpdateJob(*job, {"NumJobStarts": "1"}))
        if self.run_seconds is None:
            return
        await asyncio.sleep(self.run_seconds)
        ended = {"ExitCode": "0", "ExitBySignal": "false"}
        stream.post(ShadowExited(*job, 100, reusable=True, attributes=ended))

    def _obey(
        self,
        stream: Stream,
        tasks: dict[tuple[int, int], asyncio.Task[None]],
        job: tuple[int, int],
        signal: str,
    ) -> None:
        if signal in {"Suspend", "Continue"}:
            status = 7 if signal == "Suspend" else 2
            stream.post(UpdateJob(*job, {"JobStatus": str(status)}))
            return
        tasks[job].cancel()
        stream.post(ShadowExited(*job, 102 if signal == "Remove" else 107))

    # -- the negotiator ---------------------------------------------------------------------

    async def negotiate(self, submitter: str = "alice@here") -> list[ClassAd]:
        """Hold one round for a submitter and give out every free slot; returns the requests."""
        stream = await self.runtime.network.connect(self.daemon.network.address, Command.NEGOTIATE)
        header = ClassAd({"Owner": submitter, "AutoClusterAttrs": "RequestMemory"})
        await stream.send(negotiate.Negotiate(header))
        await stream.send(negotiate.SendResourceRequestList(200))
        requests = []
        while True:
            word = negotiate.read_word(negotiate.FROM_SCHEDD, await stream.receive())
            if isinstance(word, negotiate.NoMoreJobs):
                break
            assert isinstance(word, negotiate.JobInfo)
            requests.append(word.request)
        for request in requests:
            for _ in range(request.integer("_condor_RESOURCE_COUNT") or 1):
                if self.free:
                    await self._offer(stream, request)
        if requests:
            await stream.send(negotiate.EndNegotiate())
        stream.close()
        await asyncio.sleep(1)
        return requests

    async def _offer(self, stream: Stream, request: ClassAd) -> None:
        slot = self.slot_ad()
        slot["_condor_RESOURCE_CLUSTER"] = request.integer("ClusterId")
        slot["_condor_RESOURCE_PROC"] = request.integer("ProcId")
        await stream.send(negotiate.PermissionAndAd(self.free.pop(0).text, slot))

    # -- users ------------------------------------------------------------------------------

    async def submit(self, count: int = 1, log: Path | None = None, **attributes: str) -> int:
        """Submit a cluster; the texts are expressions. Returns its number."""
        stream = await self.client.network.connect(
            self.daemon.network.address, Command.QMGMT_WRITE_CMD, force_authentication=True
        )

        async def call(request: Call) -> Reply:
            await stream.send(request)
            return request.read_answer(await stream.receive())

        cluster = (await call(calls.NewCluster())).value
        shared = {"Owner": "undefined", "JobUniverse": "5", "JobLeaseDuration": "2400"}
        if log is not None:
            shared["UserLog"] = f'"{log}"'
        for name, text in {**shared, **attributes}.items():
            stream.post(calls.SetAttribute2(cluster, -1, text, name, 2))
        for _ in range(count):
            await call(calls.NewProc(cluster))
        assert (await call(calls.CommitTransactionNoFlags())).value == 0
        stream.close()
        return cluster

    async def edit(self, job: tuple[int, int], **attributes: str) -> None:
        """Set attributes of a job as an administrator; the texts are expressions."""
        stream = await self.world.client("condor@here").network.connect(
            self.daemon.network.address, Command.QMGMT_WRITE_CMD, force_authentication=True
        )
        for name, text in attributes.items():
            stream.post(calls.SetAttribute2(*job, text, name, 2))
        commit = calls.CommitTransactionNoFlags()
        await stream.send(commit)
        assert commit.read_answer(await stream.receive()).value == 0
        stream.close()

    async def act(self, action: int, ids: str, **more: object) -> ClassAd:
        """Act on jobs and wait until it is done."""
        stream = await self.client.network.connect(
            self.daemon.network.address, Command.ACT_ON_JOBS, force_authentication=True
        )
        request = {"JobAction": action, "ActionResultType": 1, "ActionIds": ids, **more}
        await stream.send(ActOnJobs(ClassAd(request)))
        answer = (await stream.receive()).ad()
        if answer.integer("ActionResult"):
            writer = stream.writer()
            await stream.send(writer.integer(1))
            assert (await stream.receive()).integer() == 1
        stream.close()
        await asyncio.sleep(0.1)
        return answer

    def job(self, cluster: int, proc: int = 0) -> Job:
        """Return a job that is in the queue."""
        found = self.schedd.queue.job(cluster, proc)
        assert found is not None
        return found

    def history(self) -> list[dict[str, str]]:
        """Return the finished jobs, oldest first, rotated files included."""
        from kettle.records.history import read_forwards

        folder = self.world.folder / "spool"
        paths = [*sorted(folder.glob("history.*")), folder / "history"]
        return [
            dict(line.split(" = ", 1) for line in record.lines)
            for path in paths
            if path.exists()
            for record in read_forwards(path.read_bytes())
        ]
