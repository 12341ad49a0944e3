"""A real startd on a virtual clock, with starters that are scripts and a submit side of tests."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from kettle.classad import ClassAd
from kettle.collector.service import CollectorService
from kettle.errors import ConnectionLost
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.startd.service import StartdService
from kettle.startd.slot_machine import Phase
from kettle.testing.processes import FakeChild
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages import claims
from kettle.wire.messages import starter_control as words
from kettle.wire.security.claim_id import ClaimId

ENTRY = "kettle.starter.services.entry:run"
SMALL = "NUM_CPUS = 4\nMEMORY = 4096\nPOLLING_INTERVAL = 1\n"


def job(**attributes: object) -> ClassAd:
    return ClassAd(
        {
            "MyType": "Job",
            "User": "alice@here",
            "Owner": "alice",
            "ClusterId": 1,
            "ProcId": 0,
            "JobUniverse": 5,
            "RequestCpus": 1,
            "RequestMemory": 100,
            "RequestDisk": 1,
            "Requirements": True,
            "_condor_SEND_LEFTOVERS": True,
            "_condor_SEND_CLAIMED_AD": True,
            "JobLeaseDuration": 90,
            **attributes,
        }
    )


class FakeStarter:
    """Plays a starter: remembers orders, leaves when told, unless it is stubborn."""

    def __init__(self, *, stubborn: bool = False, stays: bool = False) -> None:
        self.stays = stays
        self.processes = 0
        self.orders: list[words.ControlMessage] = []
        self.claim_goes_on: list[bool] = []
        self.activations: list[words.StarterActivation] = []
        self.stubborn = stubborn
        self.finish = asyncio.Event()
        self.die = asyncio.Event()

    async def __call__(self, child: FakeChild) -> int:
        self.finish.clear()
        connection, control, connections = child.fds
        self.processes += 1
        self.activations.append(words.StarterActivation.read(Reader(child.arguments)))
        os.close(connection)
        self.stream = stream = Stream.over(control)
        with socket.socket(fileno=connections) as hand:
            return await self._work(stream, hand)

    async def ask(self, wanted: ClassAd) -> words.ControlMessage:
        """Ask for an activation, and return the answer."""
        writer = Writer()
        writer.ad(wanted, private=True)
        before = len(self.orders)
        await self.stream.send(words.AskActivation(ClassAd(), writer.getvalue()))
        await asyncio.sleep(0.01)
        return self.orders[before]

    async def _work(self, stream: Stream, hand: socket.socket) -> int:
        listening = asyncio.ensure_future(self._listen(stream, hand))
        ended = asyncio.ensure_future(self.finish.wait())
        died = asyncio.ensure_future(self.die.wait())
        await asyncio.wait((ended, died), return_when=asyncio.FIRST_COMPLETED)
        if not died.done():
            done = ClassAd({"ExitCode": 0, "Stays": self.stays})
            await stream.send(words.StarterDone(done))
        if self.stays:
            with contextlib.suppress(ConnectionLost):
                await listening
        for task in (listening, ended, died):
            task.cancel()
        stream.close()
        return 0

    async def _listen(self, stream: Stream, hand: socket.socket) -> None:
        while True:
            order = words.read_control_message(await stream.receive_forever())
            if isinstance(order, words.NextActivation):
                if order.content.boolean("Asked") is not True:
                    _, (connection,), _, _ = socket.recv_fds(hand, 1, 1)
                    os.close(connection)
                if order.activation:
                    activation = words.StarterActivation.read(Reader(order.activation))
                    self.activations.append(activation)
                await stream.send(words.StarterDone(ClassAd({"ExitCode": 0, "Stays": True})))
            if isinstance(order, words.ClaimAnswer):
                self.claim_goes_on.append(order.content.boolean("Start") is True)
            else:
                self.orders.append(order)
            leave = isinstance(order, words.KillJob | words.VacateJob)
            if leave and not (self.stubborn and isinstance(order, words.VacateJob)):
                self.finish.set()


class ExecutionPoint:
    """A startd with a collector beside it, and a submit side that talks to it."""

    def __init__(
        self,
        world: World,
        collector: WorldDaemon[CollectorService],
        startd: WorldDaemon[StartdService],
        schedd: Runtime,
    ) -> None:
        self.world = world
        self.collector = collector
        self.startd = startd
        self.schedd = schedd
        self.service = startd.service
        self.alives = 0
        self.knows_claim = True
        self.released: list[str] = []

    def phase(self, name: str = "slot1_1") -> Phase | None:
        record = self.service.machine.find(name)
        return record.slot.phase if record is not None else None

    def advertised(self, name: str = "slot1") -> ClassAd | None:
        """Return the slot's ad as the collector has it."""
        entries = self.collector.service.store.entries()
        full_name = f"{name}@{self.service.machine.name}"
        found = (
            entry.ad
            for entry in entries
            if entry.ad.string("MyType") == "Machine" and entry.ad.string("Name") == full_name
        )
        return next(found, None)

    def offered(self, name: str = "slot1") -> str:
        record = self.service.machine.find(name)
        assert record is not None
        assert record.claim is not None
        return record.claim.claim_id

    async def open(self, command: Command, claim_id: str) -> Stream:
        return await self.schedd.network.connect(
            self.startd.network.address, command, session=ClaimId(claim_id)
        )

    async def claim(
        self, ad: ClassAd, slot: str = "slot1", *, claim_id: str = "", session: str = ""
    ) -> claims.RequestClaimReply:
        """Ask for a slot by an id (the one that it offers) in the session of an id (the same)."""
        claim_id = claim_id or self.offered(slot)
        session = session or claim_id
        self.schedd.network.add_session(
            ClaimId(session), user="execute-side@matchsession", lifetime=None
        )
        stream = await self.open(Command.REQUEST_CLAIM, session)
        address = str(self.schedd.network.address)
        await stream.send(claims.RequestClaim(claim_id, ad, address, 300, []))
        reply = claims.RequestClaimReply.read(await stream.receive(600))
        stream.close()
        self.service.machine.check()
        return reply

    async def activate(self, claim_id: str, ad: ClassAd) -> tuple[int, ClassAd | None]:
        stream = await self.open(Command.ACTIVATE_CLAIM, claim_id)
        try:
            await stream.send(claims.ActivateClaim(claim_id, 2, ad))
            reply = claims.ActivateClaimReply.read(await stream.receive())
        finally:
            stream.close()
        await asyncio.sleep(0.1)
        self.service.machine.check()
        return reply.code, reply.failure

    async def deactivate(self, claim_id: str, command: Command) -> ClassAd:
        stream = await self.open(command, claim_id)
        await stream.send(claims.DeactivateClaim(claim_id))
        reply = claims.DeactivateClaimReply.read(await stream.receive(60)).response
        stream.close()
        await asyncio.sleep(0.1)
        return reply

    async def tell(self, command: Command, claim_id: str) -> None:
        stream = await self.open(command, claim_id)
        await stream.send(claims.ReleaseClaim(claim_id))
        stream.close()
        await asyncio.sleep(0.1)

    async def on_alive(self, stream: Stream) -> None:
        claims.Alive.read(await stream.receive())
        self.alives += 1
        await stream.send(claims.AliveReply(300 if self.knows_claim else -1))

    async def on_release(self, stream: Stream) -> None:
        self.released.append(claims.ReleaseClaim.read(await stream.receive()).claim_id)


Scenario = Callable[[ExecutionPoint], Awaitable[None]]


def play(
    folder: Path, scenario: Scenario, text: str = "", starter: FakeStarter | None = None
) -> None:
    async def run(world: World) -> None:
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        startd = await world.start("STARTD", StartdService, SMALL + text)
        if starter is not None:
            startd.processes.zygote.entries[ENTRY] = starter
        schedd, network, _ = world.runtime("SCHEDD")
        await network.listen(0)
        point = ExecutionPoint(world, collector, startd, schedd)
        network.register(Command.ALIVE, point.on_alive)
        network.register(Command.RELEASE_CLAIM, point.on_release)
        network.begin_accepting()
        await scenario(point)
        point.service.machine.check()
        await startd.stop("fast")
        await network.close()
        assert not world.failures

    run_in_world(folder, run)
