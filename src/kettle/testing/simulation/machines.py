"""Simulated machines and the daemons on them: the real services, started, killed and restarted.

A machine keeps its daemons as a master does: one that died is started again after a while. What
a zygote would fork, shadow hosts and starters, are the real ones too; only the program that a
starter runs is simulated (`jobs.py`).
"""

from __future__ import annotations

import asyncio
import marshal
import os
import random
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kettle.collector.service import CollectorService
from kettle.config import Config
from kettle.errors import KettleError
from kettle.negotiator.service import NegotiatorService
from kettle.runtime.context import Runtime
from kettle.runtime.daemon import Service
from kettle.runtime.generic_commands import GenericCommands
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log, parse_verbosity
from kettle.runtime.process.privileges import Account, Privileges, account_of
from kettle.runtime.process.snapshot import InlineSnapshots
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.fences import Fence
from kettle.schedd.service import ScheddService
from kettle.shadow.service import ShadowHost
from kettle.startd.service import StartdService
from kettle.startd.services.starters import Starters
from kettle.starter.services.control import StartdControl
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.tenure import Surroundings as StarterSurroundings
from kettle.starter.services.tenure import Tenure
from kettle.starter.services.view import JobView
from kettle.starter.services.watch import SlotGroup
from kettle.starter.services.world import StarterWorld
from kettle.starter.settings import read_settings
from kettle.testing.network import MemoryNetwork
from kettle.testing.simulation.cables import SimulatedHub
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.simulation.jobs import SimulatedJobProcesses, Witness
from kettle.testing.simulation.names import NameJournal
from kettle.testing.simulation.processes import (
    Life,
    ProcessTable,
    SimulatedProcess,
    SimulatedProcesses,
    outside,
)
from kettle.testing.virtual_loop import VirtualClock
from kettle.testing.world import WorldDaemon
from kettle.wire.codec import Reader
from kettle.wire.messages.starter_control import StarterActivation

SHADOW_HOST = "kettle.shadow.services.host:main"
STARTER = "kettle.starter.services.entry:run"
PROGRAM = "kettle.schedd.services.program:run"
COLLECTOR_PORT = 9618
# How long a dead daemon is left alone before it is started again.
_RESTART_SECONDS = (0.5, 15.0)

_CONFIGURATION = """\
LOCAL_DIR = {folder}
LOG = $(LOCAL_DIR)/log
SPOOL = $(LOCAL_DIR)/spool
EXECUTE = $(LOCAL_DIR)/execute
LOCK = $(LOCAL_DIR)/lock
FULL_HOSTNAME = {name}
CONDOR_HOST = {central}
COLLECTOR_HOST = {central}:9618
USE_SHARED_PORT = false
UID_DOMAIN = here
FILESYSTEM_DOMAIN = here
TRUST_DOMAIN = here
TRUST_UID_DOMAIN = true
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_DEFAULT_ENCRYPTION = OPTIONAL
SEC_DEFAULT_INTEGRITY = OPTIONAL
ALLOW_DEFAULT = *
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_NEGOTIATOR = *
ALLOW_ADMINISTRATOR = *
ALLOW_CLIENT = *
ENABLE_CHIRP = false
MAX_JOBS_RUNNING = 1000
DETECTED_CPUS = 2
DETECTED_MEMORY = 4096
NUM_CPUS = 2
MEMORY = 4096
UPDATE_INTERVAL = 300
POLLING_INTERVAL = 30
SCHEDD_INTERVAL = 300
NEGOTIATOR_INTERVAL = 60
NEGOTIATOR_MIN_INTERVAL = 0
NEGOTIATOR_CYCLE_DELAY = 0
"""


@dataclass(frozen=True)
class DaemonKind:
    """A daemon a machine may run."""

    subsystem: str
    service: Callable[[Runtime], Service]
    port: int = 0


COLLECTOR = DaemonKind("COLLECTOR", CollectorService, COLLECTOR_PORT)
NEGOTIATOR = DaemonKind("NEGOTIATOR", NegotiatorService)
SCHEDD = DaemonKind("SCHEDD", ScheddService)
STARTD = DaemonKind("STARTD", StartdService)


@dataclass
class Surroundings:
    """What all machines of a simulation share."""

    table: ProcessTable
    hub: SimulatedHub
    witness: Witness
    random: random.Random
    central: str
    log: list[str]


class Machine:
    """One machine with its disk and daemons."""

    def __init__(
        self,
        around: Surroundings,
        folder: Path,
        name: str,
        address: str,
        text: str = "",
        datagrams: bool = False,
    ) -> None:
        self.around = around
        self._datagrams = datagrams
        self.name = name
        self.address = address
        # Where the daemons have their files, and where users have the logs of their jobs.
        parts = [f"{folder}/{part}" for part in ("log", "spool", "execute", "lock")]
        names = {part: NameJournal(f"{part}.graves") for part in parts}
        self.disk, self.home = SimulatedDisk(around.random, names), SimulatedDisk(around.random)
        self.clock = VirtualClock()
        self.was_set_back = False
        self.up = True
        self.daemons: dict[str, SimulatedProcess] = {}
        self.services: dict[str, Any] = {}
        # Which process runs the service of a daemon.
        self._served: dict[str, SimulatedProcess] = {}
        self._stops: dict[str, Callable[[str], None]] = {}
        self._kinds: list[DaemonKind] = []
        self._configs: dict[tuple[str, str], Config] = {}
        for part in parts:
            os.makedirs(part, exist_ok=True)
        self.folder = folder
        self._text = _CONFIGURATION.format(folder=folder, name=name, central=around.central) + text
        self._lives: dict[str, Life] = {
            SHADOW_HOST: self._live_shadow_host,
            STARTER: self._live_starter,
            PROGRAM: self._live_program,
        }

    # ---- power and daemons --------------------------------------------------------------------

    def add(self, *kinds: DaemonKind) -> None:
        """Run these daemons from here on, as long as there is power."""
        for kind in kinds:
            self._kinds.append(kind)
            self.start(kind)

    def service(self, subsystem: str) -> Any:
        """Return what a daemon of this machine runs; None while it is dead or only starting."""
        process = self.daemons.get(subsystem)
        if process is None or not process.alive or process is not self._served.get(subsystem):
            return None
        return self.services[subsystem]

    def start(self, kind: DaemonKind) -> None:
        """Start a daemon; when it dies it will be started again."""
        process = self.around.table.start(kind.subsystem, self.name, partial(self._live, kind))
        self.daemons[kind.subsystem] = process
        process.at_death.append(partial(self._on_death, kind, process))

    def _on_death(self, kind: DaemonKind, process: SimulatedProcess) -> None:
        self.note(f"{kind.subsystem} (pid {process.pid}) ends")
        if self.up:
            pause = self.around.random.uniform(*_RESTART_SECONDS)
            outside(self.around.table.loop.call_later, pause, self._restart, kind, process)

    def _restart(self, kind: DaemonKind, dead: SimulatedProcess) -> None:
        if self.up and self.daemons[kind.subsystem] is dead:
            self.note(f"{kind.subsystem} is started again")
            self.start(kind)

    def stop(self, subsystem: str, how: str) -> None:
        """Ask a daemon to leave, as condor_off or a restart does."""
        process = self.daemons[subsystem]
        process.context.run(self._stops[subsystem], how)

    def reconfigure(self, subsystem: str) -> None:
        """Have a daemon read its configuration again."""
        service = self.service(subsystem)
        if service is not None:
            config = self._config(subsystem)
            self.daemons[subsystem].run(service.reconfigure(config), "reconfigure")

    def lose_power(self) -> None:
        """Stop everything at once, and let the disk forget what it had not promised to keep."""
        self.up = False
        self.around.hub.weather.dark.add(self.address)
        for process in self.around.table.living(self.name):
            process.kill()
        for cable in self.around.hub.touched(self.address):
            cable.lose_an_end()
        for lost in self.disk.lose_power():
            self.note(f"lost with the power: {lost}")

    def lose_daemons(self, *, and_programs: bool) -> None:
        """Kill everything, and the master with it: nobody starts anything again."""
        self.up = False
        for process in self.around.table.living(self.name):
            if and_programs or not process.name.startswith("job "):
                process.kill()

    def regain_power(self) -> None:
        """Start the machine's daemons."""
        if self.up:
            return
        self.up = True
        self.around.hub.weather.dark.discard(self.address)
        for kind in self._kinds:
            self.start(kind)

    def set_clock(self, seconds: float) -> None:
        """Have the clock jump by so many seconds."""
        self.clock.set_forward += seconds
        self.was_set_back |= seconds < 0

    def note(self, text: str) -> None:
        """Write a line into the simulation's log."""
        self.around.log.append(f"{self.clock.monotonic():10.3f} {self.name}: {text}")

    # ---- runtimes -----------------------------------------------------------------------------

    def runtime(self, subsystem: str, process: SimulatedProcess, text: str = "") -> Runtime:
        """Make the surroundings of a daemon, a shadow host or a tool."""
        config = self._config(subsystem, text)
        clock = self.clock
        identity = DaemonIdentity(subsystem, self.name, self.name, clock.now())
        identity.pid = process.pid
        return Runtime(
            config=config,
            clock=clock,
            network=self.network(config, identity, subsystem),
            processes=SimulatedProcesses(process, self._lives),
            files=SimulatedFiles(self.disk),
            log=self._log(subsystem, process),
            privileges=Privileges(account_of(0), can_switch=False),
            identity=identity,
            random=self.around.random,
            # What is done in one go must not depend on how busy this machine is.
            snapshots=InlineSnapshots(lambda: 0.0),
        )

    def _config(self, subsystem: str, text: str = "") -> Config:
        """Return a configuration; as they never change, each text is read once."""
        config = self._configs.get((subsystem, text))
        if config is None:
            config = Config.from_text(self._text + text, subsystem=subsystem)
            self._configs[subsystem, text] = config
        return config

    def network(self, config: Config, identity: DaemonIdentity, label: str) -> MemoryNetwork:
        """Make a network at this machine's address."""
        log = Log(now=self.clock.now, sink=lambda line: self.note(f"{label} {line}"))
        network = MemoryNetwork(
            self.around.hub, config, identity, self.clock, log, host=self.address
        )
        network.with_datagrams = self._datagrams
        return network

    def _log(self, label: str, process: SimulatedProcess) -> Log:
        return Log(
            now=self.clock.now,
            verbosity=parse_verbosity(""),
            sink=lambda line: self.note(f"{label}[{process.pid}] {line.rstrip()}"),
        )

    # ---- lives --------------------------------------------------------------------------------

    async def _live(self, kind: DaemonKind, process: SimulatedProcess) -> int:
        runtime = self.runtime(kind.subsystem, process)
        network = runtime.network
        assert isinstance(network, MemoryNetwork)
        await network.listen(kind.port)
        service = kind.service(runtime)
        self.services[kind.subsystem] = service
        if isinstance(service, ScheddService):
            # The kernel closes what a process had open, and locks go with it.
            process.at_death.append(service.journal.close)
            self._end_leftovers()
        if isinstance(service, NegotiatorService):
            # Nothing here depends on it, and it would be a third of what happens at all.
            service.bookkeeping_seconds = 10.0
        if isinstance(service, StartdService):
            service.starters.__class__ = _SimulatedStarters
            self._end_leftovers()
        daemon = WorldDaemon(runtime, service, network, runtime.processes)  # type: ignore[arg-type]
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def stop(how: str) -> None:
            if not ended.done():
                ended.set_result(how)

        runtime.stop = self._stops[kind.subsystem] = stop
        runtime.reconfigure = partial(self.reconfigure, kind.subsystem)
        runtime.abort = partial(outside, self.around.table.loop.call_soon, process.kill)
        GenericCommands(daemon).register()
        try:
            await service.start()
        except KettleError as error:
            runtime.log.problem(f"does not start: {error}")
            return 1
        network.begin_accepting()
        self._served[kind.subsystem] = process
        how = await ended
        await service.shut_down(how)
        await network.close()
        return 0

    def _end_leftovers(self) -> None:
        """End programs without a starter, as a startd does, or without a schedd, as a master."""
        for process in self.around.table.living(self.name):
            if process.parent is not None and not process.parent.alive:
                process.kill()

    async def _live_shadow_host(
        self, process: SimulatedProcess, arguments: bytes, descriptors: list[int]
    ) -> int:
        del arguments
        runtime = self.runtime("SHADOW", process)
        network = runtime.network
        assert isinstance(network, MemoryNetwork)
        await network.listen()
        schedd: ScheddService = self.services["SCHEDD"]
        address = str(schedd.runtime.network.address)
        host = ShadowHost(runtime, Stream.over(descriptors[0]), schedd_address=address)
        await host.start()
        network.begin_accepting()
        await host.serve()
        return 0

    async def _live_starter(
        self, process: SimulatedProcess, arguments: bytes, descriptors: list[int]
    ) -> int:
        activation = StarterActivation.read(Reader(arguments))
        connections = socket.socket(fileno=descriptors[2])
        process.at_death.append(connections.close)
        control = StartdControl(Stream.over(descriptors[1]), connections)
        process.run(control.serve(), "control")
        config = self._config("STARTER")
        identity = DaemonIdentity(
            "STARTER", activation.slot_name, activation.host, self.clock.now()
        )
        network = self.network(config, identity, f"STARTER[{process.pid}]")
        await network.listen()
        network.begin_accepting()
        processes: Any = SimulatedProcesses(process, {})
        privileges = Privileges(account_of(0), can_switch=False)
        simulated_network: Any = network
        around = StarterSurroundings(
            read_settings(config, version=identity.version, platform=identity.platform),
            self.clock,
            self._log("STARTER", process),
            processes,
            privileges,
            simulated_network,
            control,
            SlotGroup(privileges, None),
            JobView(privileges, ""),
        )
        tenure = _SimulatedTenure(around, process, self.around.witness)
        await tenure.serve(activation, Stream.attach(descriptors[0], activation.channel))
        await network.close()
        return 0

    async def _live_program(
        self, process: SimulatedProcess, arguments: bytes, descriptors: list[int]
    ) -> int:
        """Be a job of the scheduler universe."""
        # What our own schedd sends to itself.
        argv, *_ = marshal.loads(arguments)  # noqa: S302
        seconds, code, name = float(argv[1]), int(argv[2]), argv[3]
        process.name = f"job {name}"
        execution = self.around.witness.watch(process, name)
        os.write(descriptors[0], b"+")
        os.close(descriptors[0])
        await asyncio.sleep(seconds)
        execution.code = code
        return code


class _SimulatedStarters(Starters):
    """A startd's starters, whose programs are in the simulation's process table."""

    def _left_behind(self, starter_pid: int) -> list[int]:
        processes: Any = self._runtime.processes
        table: ProcessTable = processes.table
        for process in table.living():
            if process.parent is not None and process.parent.pid == starter_pid:
                process.kill()
        return []

    def kill_tree(self, number: int) -> None:
        """Kill a starter and its program."""
        starter = self._running.get(number)
        if starter is not None and starter.child is not None:
            starter.child.signal(signal.SIGKILL)
            self._left_behind(starter.pid)


class _SimulatedTenure(Tenure):
    """A starter's time with its claim, in which programs are simulated."""

    def __init__(
        self, around: StarterSurroundings, process: SimulatedProcess, witness: Witness
    ) -> None:
        super().__init__(around, stays=True)
        self._process = process
        self._witness = witness

    def make_world(self) -> StarterWorld:
        """Return what all jobs have around them."""
        world = _SimulatedStarterWorld(**vars(super().make_world()))
        world.pid, world.process, world.witness = self._process.pid, self._process, self._witness
        return world


class _SimulatedStarterWorld(StarterWorld):
    """A starter's surroundings, in which programs are simulated."""

    process: SimulatedProcess
    witness: Witness

    def job_processes(
        self,
        account: Account,
        fence: Fence | None = None,  # noqa: ARG002
    ) -> JobProcesses:
        """Return what runs simulated programs."""
        processes: Any = self.processes
        return SimulatedJobProcesses(
            processes, self.privileges, account, self.process, self.witness
        )
