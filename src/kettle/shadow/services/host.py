"""Where a forked shadow host begins: read the configuration, become the owner, serve.

Imported by the schedd's zygote, so that everything below is loaded before the first job starts.
Started as root the process works as the jobs' owner, so that every file is touched with the
owner's rights; only checkpoints in the spool take root back for a moment.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time

import uvloop

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.config import Config, load_config
from kettle.errors import KettleError, NotFoundError
from kettle.runtime import pattern_limit, profiling, tasks
from kettle.runtime.arguments import DaemonArguments
from kettle.runtime.clock import SystemClock
from kettle.runtime.context import Runtime
from kettle.runtime.daemon import RELAXED_COLLECTION
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.log_settings import open_log
from kettle.runtime.logs import Log
from kettle.runtime.process import kernel
from kettle.runtime.process.aside import InlineAside, ThreadedAside
from kettle.runtime.process.inheritance import read_inheritance
from kettle.runtime.process.privileges import Privileges, find_account
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.storage.files import Files, SystemSources
from kettle.shadow.service import ShadowHost


def main(arguments: bytes, descriptors: list[int]) -> int:
    """Be the host of one user's shadows; the zygote calls this in a new process.

    `arguments` is the owner whose jobs these are; `descriptors[0]` is the schedd's socket pair.
    """
    config = load_config(SystemSources(), dict(os.environ), subsystem="SHADOW")
    log = open_log(config, DaemonArguments(), "SHADOW")
    owner = arguments.decode("utf-8", "surrogateescape")
    privileges = settle(config, log, owner)
    log.privileged = privileges.as_root
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_live(config, log, privileges, owner, descriptors[0]))


def settle(config: Config, log: Log, owner: str) -> Privileges:
    """Become the owner, where we can; an owner without an account here has nobody's rights.

    Never the daemon's own: a user whom only a token vouches for would read and write as root.
    """
    privileges = Privileges.find(config.get("CONDOR_IDS"))
    if privileges.can_switch and owner:
        try:
            account = find_account(owner)
        except NotFoundError as error:
            account = find_account("nobody")
            log.problem(f"{error}; its jobs' files are touched as {account.name}")
        privileges = Privileges(account, can_switch=True, thread_only=kernel.can_switch_threads())
    privileges.settle()
    return privileges


def _schedd_address(config: Config, files: Files) -> str:
    """Return the address that startds know our schedd by; it is in the schedd's address file."""
    path = config.get("SCHEDD_ADDRESS_FILE")
    if not path:
        return ""
    try:
        return files.read_text(path).partition("\n")[0].strip()
    except KettleError:
        return ""


async def _live(config: Config, log: Log, privileges: Privileges, owner: str, control: int) -> int:
    clock = SystemClock()
    pattern_limit.install()
    set_ambient(
        Context(
            clock.now,
            utc_offset=lambda moment: time.localtime(moment).tm_gmtoff,
            zone_name=lambda moment: time.localtime(moment).tm_zone,
        )
    )
    tasks.set_reporter(log.problem)
    profiling.start("SHADOW")
    machine = config.get("FULL_HOSTNAME") or "localhost"
    identity = DaemonIdentity("SHADOW", machine, machine, clock.now())
    processes = SystemProcesses()
    processes.start()
    network = SystemNetwork(config, identity, clock, log)
    family = read_inheritance(os.environ).family
    if family:
        network.add_family(family)
    await network.listen(None)
    files = Files()
    runtime = Runtime(config, clock, network, processes, files, log, privileges, identity)
    log(f"A shadow host begins at {network.address} as {privileges.daemon.name}")
    # Threads beside a root that every switch of ours lends them would be no good.
    safe = not privileges.can_switch or kernel.can_switch_threads()
    host = ShadowHost(
        runtime,
        Stream.over(control),
        schedd_address=_schedd_address(config, files),
        owner=owner,
        aside=ThreadedAside() if safe else InlineAside(),
    )
    try:
        await host.start()
        network.begin_accepting()
        # What exists now stays; jobs come and go in their hundreds, and few of their objects form
        # cycles, so looking for those often would cost more than it frees.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*RELAXED_COLLECTION)
        await host.serve()
    finally:
        await network.close()
        await tasks.cancel_all()
        processes.stop()
        log("The shadow host ends")
        log.close()
        profiling.stop()
    return 0
