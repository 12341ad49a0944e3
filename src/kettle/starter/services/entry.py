"""Where a forked starter begins: unpack the activation, make its surroundings, run the job.

What follows the first job is decided in `services/tenure.py`.

Imported by the startd's zygote, so everything below is loaded, and the configuration read, before
any job comes. A starter forked after a reconfiguration reads the configuration again.
"""

from __future__ import annotations

import os
import socket
import traceback
from dataclasses import dataclass, replace

from kettle.attributes.version import CONDOR_VERSION
from kettle.config import Config
from kettle.runtime import life, tasks
from kettle.runtime.identity import DaemonIdentity, this_platform
from kettle.runtime.life import Life
from kettle.runtime.log_settings import LogSettings, read_log_settings
from kettle.runtime.logs import Log
from kettle.runtime.process import kernel
from kettle.runtime.process.cgroups import Group, Hierarchy, find_hierarchy, group_name
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.remote_settings import load_for_child
from kettle.runtime.sockets.security_settings import read_security
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.files import Files
from kettle.starter.services.control import StartdControl
from kettle.starter.services.tenure import UMASK, Surroundings, Tenure
from kettle.starter.services.view import JobView
from kettle.starter.services.watch import SlotGroup
from kettle.starter.settings import StarterSettings, read_settings
from kettle.wire.codec import Reader
from kettle.wire.messages.starter_control import StarterActivation

# A starter behind a wall tells its address when its brokers know it, or when it has waited so long.
_BROKER_SECONDS = 5.0


@dataclass(frozen=True)
class Prepared:
    """What is the same for all starters of one generation of the configuration."""

    generation: int
    config: Config
    settings: StarterSettings
    privileges: Privileges
    log: LogSettings
    groups: Hierarchy | None


_prepared: Prepared | None = None


def warm(generation: int) -> Prepared:
    """Return what the configuration says, read once for each generation.

    The zygote calls this before any fork, for the first one.
    """
    global _prepared
    if _prepared is None or _prepared.generation != generation:
        config = load_for_child("STARTER")
        read_security(config)
        settings = read_settings(config, version=CONDOR_VERSION, platform=this_platform())
        _prepared = Prepared(
            generation,
            config,
            settings,
            Privileges.find(settings.condor_ids or None, settings.minimum_uid),
            read_log_settings(config, "STARTER"),
            find_hierarchy() if settings.limits.base_group else None,
        )
    return _prepared


def _for_slot(prepared: Prepared, execute: str) -> Prepared:
    """Return the same with the place for sandboxes that the startd, or the schedd, has said."""
    if execute == prepared.settings.execute:
        return prepared
    return replace(prepared, settings=replace(prepared.settings, execute=execute))


def run(arguments: bytes, descriptors: list[int]) -> int:
    """Be the starter of a claim's jobs, one after the other; the zygote calls this."""
    activation = StarterActivation.read(Reader(arguments))
    kernel.become_subreaper()
    os.umask(UMASK)
    return life.run(_live(activation, descriptors))


async def _live(activation: StarterActivation, descriptors: list[int]) -> int:
    prepared = _for_slot(warm(activation.generation), activation.execute)
    log = _open_log(prepared, activation)
    try:
        prepared.config.forgive(log.problem)
        return await _serve(prepared, log, activation, descriptors)
    except Exception as error:
        # The zygote says it too, but where all daemons do: whoever looks for a job looks here.
        log.problem("ERROR: " + "".join(traceback.format_exception(error)).rstrip())
        raise


async def _serve(
    prepared: Prepared, log: Log, activation: StarterActivation, descriptors: list[int]
) -> int:
    if prepared.settings.own_keyring and prepared.privileges.can_switch:
        # Jobs of different accounts share none. Where all are one account's they share its keys.
        prepared.privileges.leave_keyring()
    own = Life("STARTER", log)
    # The starter of a local job belongs to the schedd, which has no second job for it.
    connections = socket.socket(fileno=descriptors[2]) if len(descriptors) > 2 else None
    control = StartdControl(Stream.over(descriptors[1]), connections)
    tasks.spawn(control.serve(), "control")
    own_group = _group_of(prepared, activation) if connections else None
    group = SlotGroup(prepared.privileges, own_group, log)
    view = JobView(
        prepared.privileges,
        f"{prepared.settings.execute}/.private_{os.getpid()}",
        own_pids=prepared.settings.own_pids,
        tell=log,
    )
    network = own.connect(prepared.config, _identify(prepared, activation, own.clock.now()), log)
    await network.listen(None)
    if prepared.config.get("CCB_ADDRESS"):
        # Before the address is told: without its brokers nobody could reach it.
        await network.register_with_brokers(Files(), _BROKER_SECONDS)
    network.begin_accepting()
    surroundings = Surroundings(
        prepared.settings,
        own.clock,
        log,
        own.processes,
        prepared.privileges,
        network,
        control,
        group,
        view,
    )
    tenure = Tenure(surroundings, stays=connections is not None)
    try:
        await tenure.serve(activation, Stream.attach(descriptors[0], activation.channel))
    finally:
        await own.end()
        group.close()
        view.close()
    return 0


def _identify(prepared: Prepared, activation: StarterActivation, now: float) -> DaemonIdentity:
    settings = prepared.settings
    return DaemonIdentity(
        "STARTER",
        activation.slot_name,
        activation.host,
        now,
        version=settings.version,
        platform=settings.platform,
    )


def _group_of(prepared: Prepared, activation: StarterActivation) -> Group | None:
    if prepared.groups is None:
        return None
    settings = prepared.settings
    name = group_name(settings.execute, activation.slot_name)
    return prepared.groups.group(f"{settings.limits.base_group}/{name}")


def _open_log(prepared: Prepared, activation: StarterActivation) -> Log:
    settings = prepared.log
    log = Log(
        prepared.settings.log_of(activation.slot_name, activation.job) or None,
        verbosity=settings.verbosity,
        truncate=settings.truncate,
        # A job is worth more than what would be said of it.
        needed=False,
    )
    settings.apply(log)
    log.banner(
        [
            "condor_starter (CONDOR_STARTER) STARTING UP",
            CONDOR_VERSION,
            f"PID = {os.getpid()} RealUID = {os.getuid()}",
        ]
    )
    return log
