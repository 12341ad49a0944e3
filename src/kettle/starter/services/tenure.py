"""A starter's time with its claim: one job after the other, until one goes wrong or none comes.

If a job ended by itself and left nothing behind, its starter waits for the next one of the claim,
whose user, session and slot are the same; to fork anew for every short job would cost more than the
job. The next one comes from the startd, with a connection of its own, or from the shadow on the
connection of the job before; then the startd is asked (decisions 0008, 0009). Everything about a
job is made anew for the next one. What happens within one job is `service.py`'s.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, RemoteProtocolError, WaitInterrupted
from kettle.runtime import tasks
from kettle.runtime.clock import Clock
from kettle.runtime.logs import Log
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.starter.place import Place
from kettle.starter.service import Starter
from kettle.starter.services.control import StartdControl
from kettle.starter.services.view import JobView
from kettle.starter.services.watch import SlotGroup
from kettle.starter.services.world import StarterWorld
from kettle.starter.settings import StarterSettings
from kettle.wire.codec import Reader
from kettle.wire.messages.short_way import ActivationRefused, NextJob
from kettle.wire.messages.starter_control import StarterActivation
from kettle.wire.security.claim_id import ClaimId

# Limit: jobs of one claim in one process, so that whatever it might lose does not add up. What it
# does lose: the mounts of one job more in each view (`curtain.py`).
MOST_ACTIVATIONS = 200
UMASK = 0o022


@dataclass(frozen=True)
class Surroundings:
    """What is the same for all jobs of one starter process."""

    settings: StarterSettings
    clock: Clock
    log: Log
    processes: SystemProcesses
    privileges: Privileges
    network: SystemNetwork
    control: StartdControl
    slot_group: SlotGroup
    view: JobView


class Tenure:
    """Runs the jobs of one claim. `stays` is whether the startd has a second one at all."""

    def __init__(self, around: Surroundings, *, stays: bool) -> None:
        self._around = around
        self._stays = stays
        # What all slots of the machine share; it comes again when it has changed.
        self._machine: ClassAd | None = None
        # What is the same for all jobs, until the startd says otherwise.
        self._place: Place | None = None
        # Whose session the network has.
        self._claim_id = ""

    async def serve(self, activation: StarterActivation, shadow: Stream) -> None:
        """Run this job and those that follow."""
        world = self.make_world()
        try:
            await self._serve(world, activation, shadow)
        finally:
            world.close()

    async def _serve(
        self, world: StarterWorld, activation: StarterActivation, shadow: Stream
    ) -> None:
        # What belongs to the process and not to a job.
        lasting = tasks.running()
        for count in range(1, MOST_ACTIVATIONS + 1):
            may_stay = self._stays and count < MOST_ACTIVATIONS
            starter = await self._run_one(world, activation, shadow, may_stay=may_stay)
            await tasks.cancel_all(except_for=lasting)
            if not starter.end.stays or self._around.processes.children():
                return
            following = await self._following(starter.end.line)
            if following is None:
                return
            activation, shadow = following
            os.umask(UMASK)

    async def _run_one(
        self, world: StarterWorld, activation: StarterActivation, shadow: Stream, *, may_stay: bool
    ) -> Starter:
        around = self._around
        around.log.turn_to(around.settings.log_of(activation.slot_name, activation.job))
        if activation.claim_id != self._claim_id:
            self._claim_id = activation.claim_id
            world.accept_session(ClaimId(activation.claim_id))
        if activation.account:
            # The program runs as the job's account (R087), but where root submits, root's folders
            # take its output, as they do in the scheduler universe.
            world.submitter = Account.unpack(activation.account)
        place = self._place_of(world, activation)
        world.begin(shadow, activation.slot.string("ClientMachine") or "")
        starter = Starter(activation, place, world, around.control, shadow, may_stay=may_stay)
        try:
            await starter.run()
        finally:
            world.leave()
        return starter

    def _place_of(self, world: StarterWorld, activation: StarterActivation) -> Place:
        """Return the place of the jobs, and complete the activation's slot."""
        self._machine = activation.machine or self._machine
        if self._place is None or "Name" in activation.slot:
            activation.slot.parent = self._machine
            self._place = world.place_of(activation.slot, activation.slot_name, activation.cores)
        else:
            activation.slot = self._place.slot_for(activation.slot, activation.job)
        return self._place

    def make_world(self) -> StarterWorld:
        """Return what all jobs have around them."""
        around = self._around
        return StarterWorld(
            around.settings,
            around.clock,
            around.processes,
            around.privileges,
            around.network,
            around.log,
            slot_group=around.slot_group,
            view=around.view,
        )

    async def _following(self, line: Stream | None) -> tuple[StarterActivation, Stream] | None:
        """Wait for the next job; None when the startd lets us go."""
        if line is not None:
            activation = await self._asked_for_on(line)
            if activation is not None:
                return activation, line
            line.close()
        control = self._around.control
        while not control.startd_gone:
            try:
                found = control.next_activation()
            except ConnectionLost as error:
                # Our end tells the startd, which has the job queued again.
                self._around.log.problem(f"Cannot take the next job: {error}")
                return None
            if found is not None:
                return found[0], Stream.attach(found[1], found[0].channel)
            await control.hear()
        return None

    async def _asked_for_on(self, line: Stream) -> StarterActivation | None:
        """Wait until a shadow asks for a job on `line` and the startd grants it.

        None if the startd says something first, if it refuses, or if the line is closed.
        """
        control = self._around.control
        if control.has_news():
            return None
        # No task of its own: that would cost a short job several turns of the loop.
        control.on_news = line.interrupt
        try:
            job = await _receive_job(line)
        finally:
            control.on_news = None
        if job is None:
            return None
        answer = await control.ask_activation(job)
        if isinstance(answer, StarterActivation):
            return answer
        code = (answer.content.integer("Code") or 0) if answer is not None else -1
        if answer is not None and code >= 0:
            wants = Reader(job).ad().boolean("_condor_send_activation_failure_ad") is True
            failure = ClassAd()
            for name in ("VacateReasonCode", "VacateReason"):
                failure[name] = answer.content.lookup(name)
            # A shadow that has gone meanwhile needs no answer; the startd has the claim still.
            with contextlib.suppress(ConnectionLost):
                line.post(ActivationRefused(code, failure if wants else None))
        return None


async def _receive_job(line: Stream) -> bytes | None:
    """Return the job that a shadow asks for; None if it closes the line, or at other news."""
    try:
        reader = await line.receive_forever()
        if reader.integer() != NextJob.word:
            return None
        return NextJob.read(reader).job
    except (ConnectionLost, RemoteProtocolError, WaitInterrupted):
        return None
