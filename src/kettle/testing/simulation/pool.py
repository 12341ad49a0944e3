"""The simulated pool: a central manager, access points, execution points, users."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.runtime import tasks
from kettle.testing.simulation.cables import SimulatedHub
from kettle.testing.simulation.disk import watch_event_logs
from kettle.testing.simulation.jobs import Witness, spare_the_system
from kettle.testing.simulation.machines import (
    COLLECTOR,
    NEGOTIATOR,
    SCHEDD,
    STARTD,
    Machine,
    Surroundings,
)
from kettle.testing.simulation.names import WatchedNames
from kettle.testing.simulation.processes import (
    MortalLoop,
    ProcessTable,
    current_process,
    outside,
)
from kettle.testing.simulation.shapes import Shape, draw_shape
from kettle.testing.simulation.users import User, Wish
from kettle.testing.virtual_loop import VirtualClock

_CENTRAL = "10.0.0.1"
# The central manager of another pool, what its machines say beside, and who sends it jobs.
_OTHER = "10.0.0.9"
_OF_OTHER = f"CONDOR_HOST = {_OTHER}\nCOLLECTOR_HOST = {_OTHER}:9618\n"
_TO_OTHER = f"FLOCK_TO = {_OTHER}:9618\n"


class SimulatedPool:
    """Everything that exists in one simulation."""

    def __init__(
        self, loop: MortalLoop, folder: Path, seed: int, shape: Shape | None = None
    ) -> None:
        self.random = random.Random(seed)  # noqa: S311 - trouble that can be repeated
        self.table = ProcessTable(loop)
        self.hub = SimulatedHub(seed)
        self.clock = VirtualClock()
        self.witness = Witness()
        self.log: list[str] = []
        self.failures: list[str] = []
        # When everything that was planned has happened, and all that was broken is mended.
        self.quiet_from = 0.0
        set_ambient(Context(self._now, self.random))
        tasks.set_reporter(self._on_failure)
        around = Surroundings(
            self.table,
            self.hub,
            self.witness,
            self.random,
            _CENTRAL,
            self.log,
        )
        self.shape = shape = shape or draw_shape(self.random)

        def make(name: str, number: int, more: str = "") -> Machine:
            address, text = f"10.0.0.{number}", shape.text + more
            return Machine(around, folder / name, name, address, text, shape.datagrams)

        flocking = _TO_OTHER if shape.flocks else ""
        self.centrals = [make("cm", 1)]
        self.access_points = [
            make(f"ap{n}", n + 1, flocking) for n in range(1, shape.access_points + 1)
        ]
        self.execution_points = [
            make(f"ep{n}", n + shape.access_points + 1)
            for n in range(1, shape.execution_points + 1)
        ]
        if shape.flocks:
            self.centrals.append(make("cm2", 9, _OF_OTHER))
            self.execution_points.append(make("fp1", 10, _OF_OTHER))
        self._by_name = {machine.name: machine for machine in self.machines}
        spare_the_system()
        names = {top: names for each in self.machines for top, names in each.disk.names.items()}
        WatchedNames(names).install()
        watch_event_logs(lambda process: self._by_name[process.machine].home)
        self.users = [User(name, self.access_points[at]) for name, at in shape.users]
        if shape.skewed:
            for machine in self.machines:
                machine.clock.set_forward = self.random.uniform(-5.0, 5.0)
        self.hub.loss = self.hub.repeated = 0.1 if shape.datagrams else 0.0

    @property
    def machines(self) -> list[Machine]:
        """Return all machines, in a fixed order."""
        return [*self.centrals, *self.access_points, *self.execution_points]

    def wishes(self) -> Iterator[tuple[User, Wish]]:
        """Yield every job that anybody wished for."""
        for user in self.users:
            for wish in user.wishes:
                yield user, wish

    def _now(self) -> float:
        """Return the time on the machine of whoever asks."""
        process = current_process()
        return (self.clock if process is None else self._by_name[process.machine].clock).now()

    def machine(self, name: str) -> Machine:
        """Return a machine by its name."""
        return self._by_name[name]

    def start(self) -> None:
        """Start all daemons; the collector has to be there first, as for any pool."""
        for machine in self.centrals:
            machine.add(COLLECTOR, NEGOTIATOR)
        for machine in self.access_points:
            machine.add(SCHEDD)
        for machine in self.execution_points:
            machine.add(STARTD)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call something after a while, whoever has died by then."""
        self.quiet_from = max(self.quiet_from, self.table.loop.time() + seconds)
        outside(self.table.loop.call_later, seconds, call)

    def note(self, text: str) -> None:
        """Write a line into the log that tells the story of this seed."""
        self.log.append(f"{self.clock.monotonic():10.3f} ---- {text}")

    def _on_failure(self, problem: str) -> None:
        self.failures.append(problem)
        self.note(problem)
