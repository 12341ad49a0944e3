"""The process that ends what jobs leave when all daemons of a machine are killed at once.

Programs die with their starter (`tether.py`), what falls from them to the daemon above is hunted,
and what is left the next startd ends. But where starters, startd and master are killed in one
moment and do not come back, nobody is there for a process that left its group, and the job's lease
runs out beside it. So the startd has a child that does nothing but read from a pipe whose other
end is the startd's alone. It ends when the startd dies, however that dies, and then what would be
the next startd's first work is done here, after a moment in which that one may come (`vigil.py`).

A startd that shuts down takes the child with it, and a startd that begins ends one that an earlier
one left. It is known by its name and by where it stands, which is the execute folder.
Limit: who kills this process too, which without root its jobs can, leaves nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Sequence

import setproctitle

from kettle.config.knobs.starter import StarterKnobs
from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.runtime import life, tasks
from kettle.runtime.context import Runtime
from kettle.runtime.log_settings import read_log_settings
from kettle.runtime.logs import Log
from kettle.runtime.process import kernel
from kettle.runtime.process.abandoned import Abandoned, hierarchy_of
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.namespaces import MountNamespace, PidNamespace
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import Child, title_of
from kettle.runtime.process.signalling import send_signal
from kettle.runtime.process.zygote_process import waits_for_handlers
from kettle.startd.vigil import Verdict, is_needed, judge, pause_after

_MODULE = "kettle.startd.services.procd"
ENTRY = f"{_MODULE}:begin"
TITLE = "condor_procd: ends what jobs leave"
_NAME = "condor_procd"

_ROUND_SECONDS = 0.1
# How long one that was killed may take to go before a startd begins without that.
_GONE_SECONDS = 5.0
_DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


class Orders(NamedTuple):
    """What the process is told when it begins; afterwards it hears nothing but the end."""

    execute: str
    base_group: str
    condor_ids: str
    own_pids: bool
    # The startd's log, where what was ended is told; its size and age, and how many are kept.
    log: str
    log_limit: Sequence[int]
    logs_kept: int
    # The startd, and when it began: where it lives, nothing is to be ended.
    startd: int
    birth: int


class Procd:
    """The startd's side: the process lives while the startd does."""

    def __init__(self, runtime: Runtime, leftovers: Leftovers) -> None:
        self._runtime = runtime
        self._leftovers = leftovers
        self._pipe: tuple[int, int] | None = None
        self._child: Child | None = None
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """See that there is one, unless the kernel itself ends what jobs leave."""
        if self._keeping is None or self._keeping.done():
            self._keeping = tasks.spawn(self._keep(), _NAME)

    async def stop(self) -> None:
        """Take it away: no job is left that could leave anything."""
        if self._keeping is not None:
            self._keeping.cancel()
        child, self._child = self._child, None
        if child is not None and child.signal(signal.SIGKILL):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GONE_SECONDS):
                    await child.wait()
        self._close()

    def _close(self) -> None:
        pipe, self._pipe = self._pipe, None
        for descriptor in pipe or ():
            os.close(descriptor)

    async def _keep(self) -> None:
        deaths = 0
        while True:
            try:
                status = await self._live()
                if status == 0:
                    return
                self._runtime.log(f"{_NAME} ended with status {status}; it is started again")
            except (KettleError, OSError) as error:
                self._close()
                self._runtime.log.full(f"{_NAME} cannot be started: {error}")
            deaths += 1
            await asyncio.sleep(pause_after(deaths))

    async def _live(self) -> int:
        """Start one and wait for its end, of which it is the status; 0 if it is not needed."""
        if self._pipe is None:
            self._pipe = os.pipe2(os.O_CLOEXEC)
        self._child = await self._runtime.processes.zygote.fork(
            ENTRY, json.dumps(self._orders()).encode("ascii"), fds=self._pipe[:1], title=TITLE
        )
        return await self._child.wait()

    def _orders(self) -> Orders:
        config, log = self._runtime.config, self._runtime.log
        settings = read_log_settings(config, "STARTD")
        return Orders(
            self._leftovers.execute,
            self._leftovers.base_group,
            config.get("CONDOR_IDS") or "",
            config.value(StarterKnobs.USE_PID_NAMESPACES),
            log.path or "",
            settings.limit,
            settings.keep,
            os.getpid(),
            birth_of(os.getpid()),
        )


async def end_earlier(runtime: Runtime, execute: str) -> None:
    """End those that earlier startds of this execute folder left: the folder is ours now."""
    deadline = asyncio.get_running_loop().time() + _GONE_SECONDS
    for pid in find_earlier(execute, runtime.privileges):
        send_signal(pid, signal.SIGKILL)
        while not is_zombie(pid):
            if asyncio.get_running_loop().time() > deadline:
                runtime.log(f"{_NAME} {pid} of an earlier startd does not end")
                break
            await asyncio.sleep(_ROUND_SECONDS)


def find_earlier(execute: str, privileges: Privileges) -> list[int]:
    """Return the processes of this kind that stand in an execute folder."""
    with privileges.as_root():
        everybody = map(int, filter(str.isdecimal, os.listdir("/proc")))
        return [pid for pid in everybody if _is_procd(pid) and _stands_in(execute, pid)]


def _is_procd(pid: int) -> bool:
    title = title_of(pid)
    return title.startswith(_NAME) or f"\0{_MODULE}\0" in title


def _stands_in(folder: str, pid: int) -> bool:
    try:
        return os.path.samestat(os.stat(f"/proc/{pid}/cwd"), os.stat(folder))
    except OSError:
        return False


@waits_for_handlers
def begin(arguments: bytes, descriptors: list[int]) -> None:
    """Become the process that waits, which the zygote calls this for: a shell that reads.

    A fork of the zygote would have a copy of its own of whatever the zygote changes later.
    """
    os.setsid()
    for number in _DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _DEAF_TO)
    orders = Orders(*json.loads(arguments))
    privileges = Privileges.find(orders.condor_ids or None)
    namespaces = privileges.can_switch and orders.own_pids and _may_have_pids(privileges)
    if not is_needed(root=privileges.can_switch, own_pids=orders.own_pids, namespaces=namespaces):
        return
    os.chdir(orders.execute)
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    python = [sys.executable, "-P", "-m", _MODULE, arguments.decode("ascii")]
    _prepare_descriptors(descriptors[0], f"read -r _ <&3; exec {shlex.join(python)} <&3 3<&-\n")
    # The shell reads what it is to do, too: its arguments would be seen behind its title.
    os.execv("/bin/sh", [TITLE])  # noqa: S606


def _prepare_descriptors(pipe: int, script: str) -> None:
    """Make a script standard input, the pipe number 3, and close all others."""
    reading, writing = os.pipe()
    os.write(writing, os.fsencode(script))
    os.dup2(reading, 0)
    os.dup2(pipe, 3)
    # It may have been that already, and closed by an exec.
    os.set_inheritable(3, True)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.closerange(4, max(pipe, reading, writing, null) + 1)


def main() -> int:
    """End what a dead startd's jobs left: what the shell runs when its reading ends."""
    setproctitle.setproctitle(TITLE)
    # Whatever the shell read, this comes back when nobody has the other end.
    while os.read(0, 1024):
        pass
    orders = Orders(*json.loads(sys.argv[1]))
    privileges = Privileges.find(orders.condor_ids or None)
    privileges.settle()
    return life.run(_stay_behind(orders, privileges))


def _may_have_pids(privileges: Privileges) -> bool:
    """Whether the kernel gives root PID namespaces here: one is made, as a starter does, and ended.

    A kernel may give other namespaces and not these, or no /proc of their own.
    """
    try:
        with privileges.as_root():
            view = MountNamespace.make()
            try:
                PidNamespace.make(view).close()
            finally:
                view.close()
    except OSError:
        return False
    finally:
        # Its first process is our only child, whether that came to be or not.
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_ALL, 0, os.WEXITED | kernel.WAIT_ALL)
    return True


async def _stay_behind(orders: Orders, privileges: Privileges) -> int:
    """The startd is dead: end what its jobs left, unless somebody comes who does.

    Where it lives, and only could not keep this process (its fork was answered by nobody), it has
    another one.
    """
    if birth_of(orders.startd) == orders.birth and not is_zombie(orders.startd):
        return 0
    log = Log(
        orders.log or None,
        limit=(orders.log_limit[0], orders.log_limit[1]),
        keep=orders.logs_kept,
        needed=False,
    )
    abandoned = Abandoned(
        orders.execute, orders.base_group, privileges, log, hierarchy_of(orders.base_group)
    )
    began = time.monotonic()
    while True:
        # Those of another kind of startd, which does not know that it should end us, are its own.
        starters = abandoned.starters()
        verdict = judge(
            time.monotonic() - began,
            starters=any(map(abandoned.lives, starters)),
            same_folder=_stands_in(orders.execute, os.getpid()),
        )
        if verdict is not Verdict.WAIT:
            break
        await asyncio.sleep(_ROUND_SECONDS)
    if verdict is Verdict.LEAVE:
        return 0
    for pid in filter(abandoned.lives, starters):
        abandoned.kill_starter(pid)
    if found := abandoned.inhabitants(starters):
        log(f"{_NAME}: the startd is gone, and nobody came; killing what its jobs left: {found}")
    await abandoned.end(starters)
    return 0


if __name__ == "__main__":
    sys.exit(main())
