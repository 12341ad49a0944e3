"""The people who look after execution points: they drain them, and end a drain that ends nothing.

Each tool runs on the execution point itself, so that an order is carried out soon or never.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.testing.simulation.machines import Machine
from kettle.testing.simulation.processes import SimulatedProcess
from kettle.wire.commands import Command
from kettle.wire.messages.claims import CancelDrainJobs, DrainCompletion, DrainHowFast, DrainJobs

if TYPE_CHECKING:
    from kettle.testing.simulation.pool import SimulatedPool

# How soon is looked whether a drain that was ended is over.
_LOOK_SECONDS = 10.0


def drain(machine: Machine, how_fast: DrainHowFast, then: DrainCompletion) -> None:
    """Begin to drain an execution point; what it does `then` is its own business."""
    request = ClassAd({"HowFast": int(how_fast), "ResumeOnCompletion": int(then)})
    _tell(machine, DrainJobs(request))


def end_drain(pool: SimulatedPool, machine: Machine) -> None:
    """End the drain of an execution point, and look again; one started anew drains nothing."""
    startd = machine.service("STARTD")
    if startd is None:
        return
    if startd.machine.drain is None:
        running = machine.around.table.living(machine.name)
        if any(process.name == "condor_drain" for process in running):
            # On a slow network the word that begins it may still be on its way.
            pool.later(_LOOK_SECONDS, partial(end_drain, pool, machine))
        return
    _tell(machine, CancelDrainJobs(ClassAd()))
    pool.later(_LOOK_SECONDS, partial(end_drain, pool, machine))


def _tell(machine: Machine, message: DrainJobs | CancelDrainJobs) -> None:
    command = Command.DRAIN_JOBS if isinstance(message, DrainJobs) else Command.CANCEL_DRAIN_JOBS

    async def life(process: SimulatedProcess) -> int:
        startd = machine.service("STARTD")
        if startd is None:
            return 1
        network = machine.runtime("TOOL", process).network
        try:
            stream = await network.connect(startd.runtime.network.address, command)
            await stream.send(message)
            answer = (await stream.receive()).ad()
            stream.close()
        except KettleError as error:
            machine.note(f"condor_drain: {error}")
            return 1
        machine.note(f"condor_drain: {answer.string('ErrorString') or 'done'}")
        return 0

    machine.around.table.start("condor_drain", machine.name, life)
