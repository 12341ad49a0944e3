"""A whole pool in one process, on one virtual clock.

    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client("alice@here")
        ...

    run_in_world(tmp_path, scenario)

Each daemon gets a `Runtime` whose network, processes and clock are those of the world; its
service cannot tell the difference. Daemons of one world share a family session, clients prove
any name they like.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.config import Config
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.daemon import Service
from kettle.runtime.generic_commands import GenericCommands
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log, parse_verbosity
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.remote_settings import RemoteSettings
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.files import Files
from kettle.testing.network import Hub, MemoryNetwork
from kettle.testing.processes import FakeProcesses
from kettle.testing.virtual_loop import LIMIT_SECONDS, VirtualClock, run_virtually
from kettle.wire.security.claim_id import mint_session_id

S = TypeVar("S", bound=Service)
T = TypeVar("T")

_CONFIGURATION = """\
LOCAL_DIR = {folder}
LOG = $(LOCAL_DIR)/log
SPOOL = $(LOCAL_DIR)/spool
EXECUTE = $(LOCAL_DIR)/execute
LOCK = $(LOCAL_DIR)/lock
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = 127.0.0.1:9618
USE_SHARED_PORT = false
UID_DOMAIN = here
TRUST_DOMAIN = here
FULL_HOSTNAME = here
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = REQUIRED
ALLOW_DEFAULT = *
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_NEGOTIATOR = *
ALLOW_ADMINISTRATOR = *
ALLOW_CLIENT = *
"""


@dataclass(slots=True)
class WorldDaemon(Generic[S]):
    """A daemon of a world; `stop` ends it in order, `crash` as a power cut would."""

    runtime: Runtime
    service: S
    network: MemoryNetwork
    processes: FakeProcesses
    instance_id: str = "0123456789abcdef"
    peaceful: bool = False
    stopped: str = ""

    def request_shutdown(self, how: str) -> None:
        """Stop, as a command asks for it."""
        self.stopped = how
        tasks.spawn(self.stop(how), "shutdown")

    def request_reconfigure(self) -> None:
        """Hand the service its configuration again."""
        tasks.spawn(self.service.reconfigure(self.runtime.config), "reconfigure")

    async def stop(self, how: str = "graceful") -> None:
        """Shut the service down and leave the network."""
        await self.service.shut_down(how)
        await self.network.close()

    def abort(self) -> None:
        """Vanish, as a daemon does that cannot believe its own memory any more."""
        self.stopped = "abort"
        tasks.spawn(self.network.close(), "abort")

    async def crash(self) -> None:
        """Leave the network without a word; the service object is left as it is."""
        await self.network.close()


class World:
    """Where a test's daemons live. `log` holds every line they wrote, with their names."""

    def __init__(self, folder: Path, *, seed: int = 0, start: float = 1_700_000_000.0) -> None:
        self.folder = folder
        self.clock = VirtualClock(start)
        self.random = Random(seed)  # noqa: S311 - a test is to be repeatable
        self.hub = Hub(seed)
        self.log: list[str] = []
        self._family = mint_session_id("family:world", secrets.token_bytes(32)).text
        for name in ("log", "spool", "execute", "lock"):
            (folder / name).mkdir(exist_ok=True)
        set_ambient(Context(self.clock.now, self.random))
        tasks.set_reporter(self._on_failure)
        self.failures: list[str] = []

    def config(self, subsystem: str, text: str = "") -> Config:
        """Return the configuration of a daemon of this world."""
        whole = _CONFIGURATION.format(folder=self.folder) + text
        return Config.from_text(whole, subsystem=subsystem)

    def runtime(
        self, subsystem: str, text: str = "", *, name: str = "", host: str = "127.0.0.1"
    ) -> tuple[Runtime, MemoryNetwork, FakeProcesses]:
        """Make a runtime of this world, with its network and processes by their own types."""
        config = self.config(subsystem, text)
        identity = DaemonIdentity(subsystem, name or "here", "here", self.clock.now())
        identity.pid = 1000 + len(self.log) % 1000
        label = name or subsystem
        log = Log(
            now=self.clock.now,
            verbosity=parse_verbosity("D_FULLDEBUG D_COMMAND"),
            sink=lambda line: self.log.append(f"{label}: {line.rstrip()}"),
        )
        network = MemoryNetwork(self.hub, config, identity, self.clock, log, host=host)
        processes = FakeProcesses()
        files = Files(InlineSynchronizer(really=False))
        runtime = Runtime(
            config=config,
            clock=self.clock,
            network=network,
            processes=processes,
            files=files,
            log=log,
            privileges=Privileges(account_of(0), can_switch=False),
            identity=identity,
            random=self.random,
            remote_settings=RemoteSettings.begin(config, files, os.geteuid()),
        )
        return runtime, network, processes

    async def start(
        self,
        subsystem: str,
        service_class: Callable[[Runtime], S],
        text: str = "",
        *,
        port: int = 0,
        name: str = "",
    ) -> WorldDaemon[S]:
        """Start a service as a daemon of this world; it is ready when this returns."""
        runtime, network, processes = self.runtime(subsystem, text, name=name)
        await network.listen(port)
        network.add_family(self._family)
        daemon = WorldDaemon(runtime, service_class(runtime), network, processes)
        runtime.stop = daemon.request_shutdown
        runtime.reconfigure = daemon.request_reconfigure
        runtime.abort = daemon.abort
        GenericCommands(daemon).register()
        await daemon.service.start()
        network.begin_accepting()
        return daemon

    def client(self, user: str = "alice@here") -> Runtime:
        """Return the runtime of a tool that claims to be `user`."""
        runtime, _, _ = self.runtime("TOOL", f"SEC_CLAIMTOBE_USER = {user}\n", name=user)
        return runtime

    def _on_failure(self, problem: str) -> None:
        self.failures.append(problem)


def run_in_world(
    folder: Path,
    scenario: Callable[[World], Awaitable[T]],
    *,
    seed: int = 0,
    limit_seconds: float = LIMIT_SECONDS,
) -> T:
    """Run a scenario to its end in virtual time; a background task that failed fails it."""
    world = World(folder, seed=seed)

    async def main() -> T:
        try:
            return await scenario(world)
        finally:
            await tasks.cancel_all()

    try:
        result = run_virtually(main(), limit_seconds=limit_seconds)
    finally:
        tasks.set_reporter(None)
    assert not world.failures, "\n".join(world.failures)
    return result
