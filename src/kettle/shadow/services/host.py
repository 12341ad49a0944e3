"""Where a forked shadow host begins: read the configuration, become the owner, serve.

Imported by the schedd's zygote, so that everything below is loaded before the first job starts.
Started as root the process works as the jobs' owner, so that every file is touched with the
owner's rights; checkpoints in the spool, its own log and the pool's event log take root back for a
moment (docs/accounts.md).
"""

from __future__ import annotations

import os

from kettle.config import Config
from kettle.errors import KettleError
from kettle.runtime import life
from kettle.runtime.arguments import DaemonArguments
from kettle.runtime.context import Runtime
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.life import Life, relax_collection
from kettle.runtime.log_settings import open_log
from kettle.runtime.logs import Log
from kettle.runtime.process import kernel
from kettle.runtime.process.aside import InlineAside, ThreadedAside
from kettle.runtime.process.inheritance import read_inheritance
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.remote_settings import load_for_child
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.storage.files import Files
from kettle.shadow.service import ShadowHost
from kettle.wire.messages.shadow_host import HostTrouble


def main(arguments: bytes, descriptors: list[int]) -> int:
    """Be the host of one user's shadows; the zygote calls this in a new process.

    `arguments` is the account of whose jobs these are, as the schedd has it (`Account.pack`);
    `descriptors[0]` is the schedd's socket pair.
    """
    config = load_for_child("SHADOW")
    log = open_log(config, DaemonArguments(), "SHADOW", needed=False)
    config.forgive(log.problem)
    privileges = settle(config, log, Account.unpack(arguments))
    log.privileged = privileges.as_root
    return life.run(_live(config, log, privileges, descriptors[0]))


def settle(config: Config, log: Log, account: Account) -> Privileges:
    """Work as the owner's account, where we can, with the way back to root.

    An owner without an account here has the rights of one that he is lent, never the daemon's own:
    a user whom only a token vouches for would read and write as root.
    """
    privileges = Privileges.find(config.get("CONDOR_IDS"))
    if privileges.can_switch:
        if account.lent:
            name, uid = account.name, account.uid
            log(f"there is no account {name!r} on this machine; it is lent the uid {uid}")
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


async def _live(config: Config, log: Log, privileges: Privileges, control: int) -> int:
    own = Life("SHADOW", log.problem)
    machine = config.get("FULL_HOSTNAME") or "localhost"
    identity = DaemonIdentity("SHADOW", machine, machine, own.clock.now())
    network = own.connect(config, identity, log)
    family = read_inheritance(os.environ).family
    if family:
        network.add_family(family)
    schedd = Stream.over(control)
    if log.trouble:
        # Jobs run all the same.
        await schedd.send(HostTrouble(f"its log {log.path} cannot be written: {log.trouble}"))
    network.folder_rights = privileges.as_root
    await network.listen(None)
    files = Files()
    runtime = Runtime(config, own.clock, network, own.processes, files, log, privileges, identity)
    log(f"A shadow host begins at {network.address} as {privileges.daemon.name}")
    # Threads beside a root that every switch of ours lends them would be no good.
    safe = not privileges.can_switch or kernel.can_switch_threads()
    host = ShadowHost(
        runtime,
        schedd,
        schedd_address=_schedd_address(config, files),
        aside=ThreadedAside() if safe else InlineAside(),
    )
    try:
        await host.start()
        network.begin_accepting()
        relax_collection()
        await host.serve()
    except KettleError as error:
        log.problem(f"The shadow host cannot go on: {error}")
        await schedd.send(HostTrouble(f"it cannot go on: {error}"))
        return 1
    finally:
        await own.end()
        log("The shadow host ends")
        log.close()
    return 0
