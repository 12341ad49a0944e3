"""Where a forked starter begins: unpack the activation, make a world, run the job, end.

Imported by the startd's zygote, so everything below is loaded, and the configuration read, before
any job comes. A starter forked after a reconfiguration reads the configuration again.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace

import uvloop

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.config import Config, load_config
from kettle.runtime import kernel, tasks
from kettle.runtime.clock import SystemClock
from kettle.runtime.files import SystemSources
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log, parse_limit, parse_verbosity
from kettle.runtime.network import SystemNetwork
from kettle.runtime.privileges import Privileges
from kettle.runtime.processes import SystemProcesses
from kettle.runtime.stream import Stream
from kettle.starter.service import Starter
from kettle.starter.service_control import StartdControl
from kettle.starter.service_world import StarterWorld
from kettle.starter.settings import StarterSettings, read_settings
from kettle.wire.codec import Reader
from kettle.wire.levels import Level
from kettle.wire.messages.starter_control import StarterActivation
from kettle.wire.security.claim_id import SUBMIT_SIDE, ClaimId

_warm: tuple[int, Config, StarterSettings] | None = None


def warm(generation: int, host: str, name: str) -> tuple[Config, StarterSettings]:
    """Return the configuration, read once for each generation."""
    global _warm
    if _warm is None or _warm[0] != generation:
        config = load_config(SystemSources(), dict(os.environ), subsystem="STARTER")
        _warm = (generation, config, read_settings(config, host=host, startd_name=name))
    return _warm[1], _warm[2]


def run(arguments: bytes, descriptors: list[int]) -> int:
    """Be the starter of one activation; the zygote calls this in a new process."""
    activation = StarterActivation.read(Reader(arguments))
    kernel.become_subreaper()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_live(activation, descriptors))


async def _live(activation: StarterActivation, descriptors: list[int]) -> int:
    config, settings = warm(activation.generation, activation.host, activation.startd_name)
    clock = SystemClock()
    set_ambient(
        Context(
            clock.now,
            utc_offset=lambda moment: time.localtime(moment).tm_gmtoff,
            zone_name=lambda moment: time.localtime(moment).tm_zone,
        )
    )
    log = _open_log(config, activation)
    tasks.set_reporter(log)
    processes = SystemProcesses()
    processes.start()
    identity = DaemonIdentity(
        "STARTER", activation.slot_name, settings.host or "localhost", clock.now()
    )
    network = SystemNetwork(config, identity, clock, log)
    await network.listen(None)
    shadow = Stream.attach(descriptors[0], activation.channel)
    control = StartdControl(Stream.over(descriptors[1]))
    world = StarterWorld(
        _complete(settings, identity),
        clock,
        processes,
        Privileges.find(settings.condor_ids or None),
        network,
        log,
        shadow,
    )
    claim = ClaimId(activation.claim_id)
    if claim.has_session:
        network.add_session(claim, user=SUBMIT_SIDE, levels=(Level.DAEMON, Level.CLIENT))
    try:
        return await Starter(activation, world, control).run()
    finally:
        await network.close()
        await tasks.cancel_all()
        processes.stop()


def _complete(settings: StarterSettings, identity: DaemonIdentity) -> StarterSettings:
    return replace(settings, version=identity.version, platform=identity.platform)


def _open_log(config: Config, activation: StarterActivation) -> Log:
    path = config.get("STARTER_LOG")
    slot = activation.slot_name.partition("@")[0]
    log = Log(f"{path}.{slot}" if path else None)
    log.configure(
        verbosity=parse_verbosity(config.get("ALL_DEBUG"), config.get("STARTER_DEBUG")),
        limit=parse_limit(config.get("MAX_STARTER_LOG") or config.get("MAX_DEFAULT_LOG")),
        keep=1,
    )
    return log
