"""A startd and its starters as a script, for scenarios of the shadow.

The startd side answers the claim's commands; what the starter says is a coroutine of the test that
is given the activation's connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from kettle.classad import ClassAd
from kettle.errors import WireError
from kettle.levels import Level
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.shadow.service import ShadowHost
from kettle.testing.world import World
from kettle.wire.commands import Command
from kettle.wire.messages import claims
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply, Shape
from kettle.wire.messages.shadow_host import (
    HostReady,
    ShadowExited,
    SignalShadow,
    StartShadow,
    UpdateJob,
    UpdateKept,
    read_host_message,
)
from kettle.wire.security.claim_id import (
    EXECUTE_SIDE,
    SUBMIT_SIDE,
    mint_claim_id,
)

Script = Callable[["StarterEnd", ClassAd], Awaitable[None]]


class StarterEnd:
    """The starter's end of a syscall connection."""

    def __init__(self, stream: Stream, place: ExecutionPoint) -> None:
        self.stream = stream
        self.place = place

    async def call(self, call: Call) -> Reply:
        """Make a call and return its reply."""
        await self.stream.send(call)
        if call.reply is Shape.NOTHING:
            return Reply(Shape.NOTHING)
        return call.read_answer(await self.stream.receive(60))

    async def register(self) -> ClassAd:
        """Say who we are and fetch the job."""
        job: ClassAd = (await self.call(calls.GetJobInfo())).result
        info = ClassAd({"Name": "slot1_1@ep", "StarterIpAddr": str(self.place.address)})
        info.update({"CondorScratchDir": "/scratch", "MachineResources": "Cpus Memory", "Cpus": 1})
        info["Memory"] = 128
        await self.call(calls.RegisterStarterInfo(info))
        given = ClassAd({"CpusProvisioned": 1, "MemoryProvisioned": 128})
        given["ProvisionedResources"] = "Cpus Memory"
        await self.call(calls.RegisterJobInfo(given))
        await self.call(calls.RequestGuidance(ClassAd({"RequestType": "JobSetup"})))
        return job

    async def begin(self) -> None:
        """Say that the program runs."""
        await self.call(calls.BeginExecution())

    async def exit(self, status: int = 0, reason: int = 100, **info: object) -> None:
        """Report the job's exit, the last call."""
        await self.call(calls.JobExit(status, reason, ClassAd(info)))
        self.stream.close()


async def run_to_the_end(starter: StarterEnd, _: ClassAd) -> None:
    """An ordinary job that ends with 0 after ten seconds."""
    await starter.register()
    await starter.begin()
    await asyncio.sleep(10)
    await starter.exit()


@dataclass
class ExecutionPoint:
    """A startd with one claim."""

    world: World
    script: Script = run_to_the_end
    # Answers to ACTIVATE_CLAIM, one after the other; 1 when there are no more.
    codes: list[int] = field(default_factory=list)
    failure: ClassAd | None = None
    # What CA_LOCATE_STARTER says, and whether the starter takes a reconnection.
    locate: str = "Success"
    # And why, with {} for the claim it was asked for.
    locate_error: str = ""
    story: list[str] = field(default_factory=list)
    deactivated: asyncio.Event = field(default_factory=asyncio.Event)
    suspended: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    reconnected: Script | None = None
    host: str = "10.0.0.2"
    port: int = 9600
    # What stands in its configuration; with CCB_ADDRESS it is reached through the broker alone.
    text: str = ""
    birthday: int = 1
    # How many times it hangs up on whoever deactivates its claim.
    deaf: int = 0

    async def start(self) -> None:
        """Listen as a startd, which is its own starter."""
        self.runtime, self.network, _ = self.world.runtime(
            "STARTD", self.text, name="ep", host=self.host
        )
        await self.network.listen(self.port)
        if self.text:
            self.world.hub.refused.add(str(self.network.address.endpoint))
            await self.network.register_with_brokers(self.runtime.files, 5.0)
        self.claim = mint_claim_id(str(self.address), self.birthday, 1, bytes(range(32)))
        self.network.add_session(
            self.claim, user=SUBMIT_SIDE, levels=(Level.DAEMON, Level.WRITE, Level.CLIENT)
        )
        for command, handler in (
            (Command.ACTIVATE_CLAIM, self._activate),
            (Command.DEACTIVATE_CLAIM, self._deactivate),
            (Command.DEACTIVATE_CLAIM_FORCIBLY, self._deactivate),
            (Command.DEACTIVATE_CLAIM_FINAL_XFER, self._deactivate),
            (Command.DEACTIVATE_CLAIM_JOB_DONE, self._deactivate),
            (Command.SUSPEND_CLAIM, self._suspend),
            (Command.CONTINUE_CLAIM, self._suspend),
            (Command.CA_CMD, self._ask),
        ):
            self.network.register(command, handler, levels=(Level.ALLOW,))
        self.network.begin_accepting()

    async def vanish(self) -> None:
        """Lose power: no connection goes on, and nobody refuses a new one."""
        self.world.hub.silent.add(str(self.network.address.endpoint))
        await self.network.close()

    @property
    def address(self) -> object:
        """Where it listens."""
        return self.network.address

    async def _activate(self, stream: Stream) -> None:
        message = claims.ActivateClaim.read(await stream.receive())
        assert message.claim_id == self.claim.text
        code = self.codes.pop(0) if self.codes else 1
        self.story.append(f"activate {code}")
        failure = self.failure if code == 0 else None
        await stream.send(claims.ActivateClaimReply(code, failure))
        if code == 1:
            await self._play(self.script, stream, message.job)

    async def _play(self, script: Script, stream: Stream, job: ClassAd) -> None:
        stream.timeout = None
        try:
            await script(StarterEnd(stream, self), job)
        except WireError as error:
            self.story.append(f"lost {type(error).__name__}")
        stream.close()

    async def _deactivate(self, stream: Stream) -> None:
        reader = await stream.receive()
        assert reader.secret() == self.claim.text
        self.story.append(Command(stream.command).name)
        if self.deaf:
            self.deaf -= 1
            return
        self.deactivated.set()
        await stream.send(claims.DeactivateClaimReply(ClassAd({"Start": True})))

    async def _suspend(self, stream: Stream) -> None:
        await stream.receive()
        self.story.append(Command(stream.command).name)
        self.suspended.put_nowait(Command(stream.command).name)

    async def _ask(self, stream: Stream) -> None:
        request = claims.ClaimCommand.read(await stream.receive()).request
        word = request.string("Command")
        self.story.append(str(word))
        reply = ClassAd({"MyType": "Reply", "Result": self.locate})
        if self.locate_error:
            reply["ErrorString"] = self.locate_error.format(request.string("ClaimId"))
        if word == "CA_LOCATE_STARTER":
            reply["StarterIpAddr"] = str(self.address)
            await stream.send(claims.ClaimCommandReply(reply))
            return
        reply["Result"] = "Success" if self.reconnected is not None else "Failure"
        await stream.send(claims.ClaimCommandReply(reply))
        if self.reconnected is not None:
            await self._play(self.reconnected, stream, request)


class ScheddEnd:
    """The schedd's end of a shadow host, and the host itself."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder
        self.updates: dict[str, str] = {}
        self.update_times: list[float] = []
        self.exits: asyncio.Queue[ShadowExited] = asyncio.Queue()

    async def start(self, text: str = "") -> None:
        """Start a host and listen to it."""
        self.runtime, self.network, _ = self.world.runtime("SHADOW", text)
        await self.network.listen()
        self.stream, theirs = Stream.pair()
        self.host = ShadowHost(self.runtime, Stream.over(theirs), schedd_address="<1.2.3.4:5>")
        await self.host.start()
        self.network.begin_accepting()
        tasks.spawn(self.host.serve(), "host")
        tasks.spawn(self._listen(), "schedd")

    async def _listen(self) -> None:
        while True:
            message = read_host_message(await self.stream.receive_forever())
            if isinstance(message, UpdateJob):
                self.update_times.append(self.world.clock.now())
                self.updates |= message.attributes
                if message.answered:
                    await self.stream.send(UpdateKept(message.cluster, message.proc))
            elif isinstance(message, ShadowExited):
                self.updates |= message.attributes
                self.exits.put_nowait(message)
            else:
                assert isinstance(message, HostReady)

    @property
    def log(self) -> Path:
        """The job's event log."""
        return self.folder / "job.log"

    async def close(self) -> None:
        """End the host and the connection to it."""
        self.stream.close()
        self.host.control.close()
        self.host.logs.close()
        await self.network.close()

    async def run(
        self,
        place: ExecutionPoint,
        *,
        reconnect: bool = False,
        proc: int = 3,
        **attributes: object,
    ) -> None:
        """Start the shadow of job 7.3; attributes that begin with `=` are expressions."""
        now = int(self.world.clock.now())
        job = ClassAd(
            {
                "ClusterId": 7,
                "ProcId": proc,
                "Iwd": str(self.folder),
                "Cmd": "/bin/job",
                "UserLog": "job.log",
                "ClaimId": place.claim.text,
                "GlobalJobId": "here#7.3#1",
                "JobStatus": 2,
                "JobCurrentStartDate": now,
                "ShadowBday": now,
                "LastJobLeaseRenewal": now,
                "RemoteHost": "slot1_1@ep",
                "JobLeaseDuration": 2400,
            }
        )
        for name, value in attributes.items():
            if isinstance(value, str) and value.startswith("="):
                job.insert_text(name, value[1:])
            else:
                job[name] = value
        slot = ClassAd({"Name": "slot1_1@ep", "Memory": 128})
        await self.stream.send(StartShadow(7, proc, str(place.address), job, slot, reconnect))

    async def signal(self, signal: str, reason: str = "", code: int = 0) -> None:
        """Pass a request on, as condor_hold and its kind make it."""
        await self.stream.send(SignalShadow(7, 3, signal, reason, code))

    async def ended(self) -> ShadowExited:
        """Wait for the end of the run."""
        return await self.exits.get()

    def numbers(self) -> list[str]:
        """The numbers of the events in the job's log."""
        lines = self.log.read_text().splitlines()
        return [line[:3] for line in lines if "(007.003.000)" in line]


__all__ = ["EXECUTE_SIDE", "ExecutionPoint", "ScheddEnd", "StarterEnd", "run_to_the_end"]
