"""What a service is given instead of the operating system.

One `Runtime` a daemon. The real one is built by `daemon.run`, the virtual one by
`kettle.testing.world`; services cannot tell them apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.runtime.process.snapshot import InlineSnapshots, Snapshots
from kettle.runtime.remote_settings import RemoteSettings

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.identity import DaemonIdentity
    from kettle.runtime.logs import Log
    from kettle.runtime.process.privileges import Privileges
    from kettle.runtime.process.processes import Processes
    from kettle.runtime.sockets.network import Network
    from kettle.runtime.storage.files import Files


@dataclass(slots=True)
class Runtime:
    """The world as one daemon sees it.

    `config` is replaced on reconfiguration, so read knobs from here when they are needed, or
    in the service's `reconfigure`. `stop` begins the daemon's own shutdown: `graceful`, `fast`
    or `peaceful`; `reconfigure` has it read its configuration again, soon; `abort` ends the daemon
    on the spot, as a crash would, because only what is on disk can be believed. `replace_with`, if
    a service sets it, is the program that takes this process's place once everything is down;
    `stays_off`, if it sets that, asks the master not to start this daemon again by itself.
    """

    config: Config
    clock: Clock
    network: Network
    processes: Processes
    files: Files
    log: Log
    privileges: Privileges
    identity: DaemonIdentity
    random: random.Random = field(default_factory=random.SystemRandom)
    snapshots: Snapshots = field(default_factory=InlineSnapshots)
    remote_settings: RemoteSettings = field(default_factory=RemoteSettings)
    stop: Callable[[str], None] = lambda how: None  # noqa: ARG005 - replaced by the daemon
    reconfigure: Callable[[], None] = lambda: None
    abort: Callable[[], None] = lambda: None
    replace_with: list[str] | None = None
    stays_off: bool = False
    # What this daemon's ads say about its own process (`runtime.self_monitor`).
    self_figures: Callable[[], dict[str, object]] = dict
