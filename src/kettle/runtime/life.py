"""What every process of ours does first and last on its event loop: daemon, shadow host, starter.

Which configuration it reads, whose rights it works with and what it then serves is its own:
`daemon.run`, `shadow.services.host` and `starter.services.entry`.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine
from random import SystemRandom
from typing import Any, TypeVar

import uvloop

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.config import Config
from kettle.runtime import pattern_limit, profiling, tasks
from kettle.runtime.clock import SystemClock
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.process.zygote import Zygote
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.user_maps import install_user_maps

T = TypeVar("T")

# New objects before the youngest generation is looked through, and how often the older ones are.
RELAXED_COLLECTION = (20_000, 20, 50)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a process's whole life on an event loop of its own; return what comes of it.

    The loop is one that every signal wakes: asyncio's own sleeps through a SIGCHLD that comes just
    before it begins to wait.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


class Life:
    """The clock, the children and the network of this process. Made on the loop, ended there."""

    def __init__(
        self, subsystem: str, report: Callable[[str], None], zygote: Zygote | None = None
    ) -> None:
        """Begin: `report` is told of tasks that fail where nobody waits for them."""
        self.clock = SystemClock()
        _settle_context(self.clock)
        tasks.set_reporter(report)
        profiling.start(subsystem)
        self.processes = SystemProcesses()
        self.processes.start(zygote)
        self._network: SystemNetwork | None = None

    def connect(self, config: Config, identity: DaemonIdentity, log: Log) -> SystemNetwork:
        """Return the network of this process, which listens nowhere yet, and read the user maps."""
        install_user_maps(config, log.problem)
        self._network = SystemNetwork(config, identity, self.clock, log)
        return self._network

    async def end(self) -> None:
        """Hear and start nothing any more; tasks that still run are cancelled."""
        if self._network is not None:
            await self._network.close()
        await tasks.cancel_all()
        self.processes.stop()
        profiling.stop()


def _settle_context(clock: SystemClock) -> None:
    """Give expressions their time, their luck, and no pattern that never ends."""
    pattern_limit.install()
    set_ambient(
        Context(
            clock.now,
            SystemRandom,
            utc_offset=lambda moment: time.localtime(moment).tm_gmtoff,
            zone_name=lambda moment: time.localtime(moment).tm_zone,
        )
    )


def relax_collection() -> None:
    """What exists now stays; jobs and ads come and go, and few of their objects form cycles.

    Looking for those often would cost more than it frees.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RELAXED_COLLECTION)
