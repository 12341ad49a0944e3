"""Starting, signalling and reaping processes.

Programs are started with posix_spawn, never with fork and exec of a large process; daemons and
starters are forked from a warmed zygote (`zygote.py`). Every child is reaped here, known or not:
a daemon is a child subreaper, so the orphans of its children become its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import resource
import signal
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from kettle.errors import KettleError
from kettle.runtime.process import kernel
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.privileges import for_good
from kettle.runtime.process.signalling import send_signal
from kettle.runtime.storage.small_files import read_small

# A program finds every signal as the kernel made it, whatever we ignore or handle. To name all of
# them costs less than to name some: the C library looks at what is left out.
_DEFAULT_SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}

# Limit: exits of strangers remembered while a zygote's answer is on its way.
_UNCLAIMED_EXITS = 256
# Limit: processes of a tree whose work is asked for at once.
_MOST_MEASURED = 1000
_TICKS = os.sysconf("SC_CLK_TCK")


class Child:
    """A process of ours, from its start until it is reaped.

    `status` is the wait status (see os.waitstatus_to_exitcode) and None while it runs; `usage`
    is what it and its waited-for children used.
    """

    __slots__ = ("_callbacks", "_waiters", "name", "pid", "status", "usage")

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self.name = name
        self.status: int | None = None
        self.usage: resource.struct_rusage | None = None
        self._waiters: list[asyncio.Future[int]] = []
        self._callbacks: list[Callable[[Child], None]] = []

    @property
    def running(self) -> bool:
        """Whether the process has not been reaped yet."""
        return self.status is None

    async def wait(self) -> int:
        """Return the wait status once the process has ended."""
        if self.status is not None:
            return self.status
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return await waiter

    def on_exit(self, callback: Callable[[Child], None]) -> None:
        """Call back once, with this child, when it has been reaped (at once if it has)."""
        if self.status is None:
            self._callbacks.append(callback)
        else:
            callback(self)

    def signal(self, number: int) -> bool:
        """Send a signal, whoever it runs as; False if it is gone, or refused (`send_signal`)."""
        return self.status is None and send_signal(self.pid, number)

    def finish(self, status: int, usage: resource.struct_rusage | None) -> None:
        """Record the end of the process; called by whoever reaps it, once."""
        assert self.status is None, f"{self.name} ended twice"
        self.status = status
        self.usage = usage
        waiters, self._waiters = self._waiters, []
        callbacks, self._callbacks = self._callbacks, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(status)
        for callback in callbacks:
            callback(self)


class Forker(Protocol):
    """Something that forks a warmed interpreter: a `Zygote`, or a fake."""

    async def fork(
        self,
        entry: str,
        arguments: bytes = b"",
        *,
        fds: Sequence[int] = (),
        title: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Run `module:function(arguments, fds)` in a new process and return it."""
        ...


class OwnForker(Forker, Protocol):
    """A forker that was started before the loop, and whose children are reaped here."""

    def attach(self, processes: SystemProcesses) -> None:
        """Join the running event loop; `processes` reaps the forker and its children."""

    def close(self) -> None:
        """End the forker."""


class Processes(Protocol):
    """What a service may do with processes."""

    @property
    def zygote(self) -> Forker:
        """The warmed interpreter of this daemon; KettleError if it asked for none."""
        ...

    def spawn(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | None = None,
        fds: Mapping[int, int] | None = None,
        new_session: bool = False,
        name: str = "",
    ) -> Child:
        """Start a program; see `SystemProcesses.spawn`."""
        ...

    def children(self) -> Sequence[Child]:
        """Return the children that run."""
        ...

    def orphans(self) -> list[int] | None:
        """Return our children that nobody here started; see `SystemProcesses.orphans`."""
        ...

    def cpu_seconds(self, root: int) -> float:
        """Return how long a process and those below it have worked; see `SystemProcesses`."""
        ...


class SystemProcesses:
    """The machine's processes. Call `start` inside the running event loop."""

    def __init__(self) -> None:
        self._children: dict[int, Child] = {}
        self._unclaimed: dict[int, tuple[int, resource.struct_rusage]] = {}
        self._expected = 0
        self._zygote: OwnForker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.orphans_reaped = 0
        # The most memory that one of them had; who wants to know of some only sets it back.
        self.orphans_peak_kib = 0

    @property
    def zygote(self) -> OwnForker:
        """Return the warmed interpreter; KettleError if this daemon has none."""
        if self._zygote is None:
            raise KettleError("this daemon forked no zygote: give its service a `preload`")
        return self._zygote

    def start(self, zygote: OwnForker | None = None) -> None:
        """Begin to reap children, and adopt a zygote that was forked before the loop.

        Descriptors that whoever started us left open are sealed: no child of ours sees them.
        """
        seal_descriptors()
        self._loop = asyncio.get_running_loop()
        # Not the loop's own signal handlers: uvloop keeps SIGCHLD for itself, and never uses it.
        signal.signal(signal.SIGCHLD, self._on_signal)
        if zygote is not None:
            self._zygote = zygote
            zygote.attach(self)

    def stop(self) -> None:
        """Stop reaping; the zygote ends."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
        if self._loop is not None:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._loop = None

    def _on_signal(self, *_: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.reap)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | None = None,
        fds: Mapping[int, int] | None = None,
        new_session: bool = False,
        name: str = "",
        keeps_root: bool = False,
    ) -> Child:
        """Start a program and return it.

        It is for good whoever we work as at this moment, and root only inside `as_root`;
        `keeps_root` leaves it our way back, and is for our own code. `fds` maps the child's
        descriptors to ours; 0, 1 and 2 are /dev/null unless mapped, and nothing else is inherited.
        The program starts with default signals. OSError if it cannot be executed (not found, not
        executable, bad format); then there is no child.
        """
        mapping, copies = _without_conflicts({} if fds is None else dict(fds))
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0)
            for number in (0, 1, 2)
            if number not in mapping
        ]
        actions += [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in mapping.items()]
        try:
            with contextlib.ExitStack() as stack:
                if not keeps_root:
                    stack.enter_context(for_good())
                if cwd is not None:
                    # posix_spawn has no directory of its own here; one thread, so nobody sees it.
                    stack.enter_context(_working_in(cwd))
                pid = os.posix_spawnp(
                    argv[0],
                    list(argv),
                    dict(environment),
                    file_actions=actions,
                    setsigdef=_DEFAULT_SIGNALS,
                    setsigmask=(),
                    setsid=new_session,
                )
        finally:
            for copy in copies:
                os.close(copy)
        return self.adopt(pid, name or argv[0])

    def adopt(self, pid: int, name: str) -> Child:
        """Take charge of a child process that something else started on our behalf."""
        child = Child(pid, name)
        ended = self._unclaimed.pop(pid, None)
        if ended is None:
            self._children[pid] = child
        else:
            child.finish(*ended)
        return child

    def expect(self, count: int) -> None:
        """Announce (+1) or settle (-1) a child whose pid is not known yet."""
        self._expected += count
        if self._expected == 0:
            self._unclaimed.clear()

    def children(self) -> list[Child]:
        """Return the children that run, in the order of their start."""
        return list(self._children.values())

    def orphans(self) -> list[int] | None:
        """Return our children that nobody here started: they fell to us, a subreaper.

        One that has ended is among them until it is reaped: only then all that was below it is
        ours to see. None while that cannot be told: the zygote has forked a child of ours, which
        is in our session, and has not said its pid yet.
        """
        unknown = [pid for pid in children_of(os.getpid()) if pid not in self._children]
        if self._expected and any(map(_in_our_session, unknown)):
            return None
        return unknown

    def cpu_seconds(self, root: int) -> float:
        """Return how long a process and those below it have worked, also those that have ended.

        What was not waited for when it ended is not known; of very many processes some are not.
        """
        found, waiting = 0.0, deque([root])
        for _ in range(_MOST_MEASURED):
            if not waiting:
                break
            pid = waiting.popleft()
            found += _worked_seconds(pid)
            waiting.extend(children_of(pid))
        return found

    def reap(self) -> None:
        """Collect every child that has ended; called on SIGCHLD."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG | kernel.WAIT_ALL)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                child.finish(status, usage)
                continue
            self.orphans_reaped += 1
            self.orphans_peak_kib = max(self.orphans_peak_kib, usage.ru_maxrss)
            if self._expected and len(self._unclaimed) < _UNCLAIMED_EXITS:
                self._unclaimed[pid] = (status, usage)


def _without_conflicts(mapping: dict[int, int]) -> tuple[dict[int, int], list[int]]:
    """Move sources out of the way of targets, so that the order of dup2 does not matter."""
    copies: list[int] = []
    highest = max(mapping, default=2) + 1
    for theirs, ours in mapping.items():
        if ours in mapping and ours != theirs:
            copy = fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, max(highest, 10))
            copies.append(copy)
            mapping[theirs] = copy
    return mapping, copies


def seal_descriptors() -> None:
    """Close everything above standard error when a program is executed."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the listing's own descriptor is gone already
                os.set_inheritable(int(name), False)


def descendants(root: int) -> list[int]:
    """Return the pids below `root`, nearest first, as they are at this moment."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        pid = waiting.pop(0)
        for child in children_of(pid):
            found.append(child)
            waiting.append(child)
    return found


def _worked_seconds(pid: int) -> float:
    """Return the time of a process, and of its children that it has waited for."""
    try:
        words = read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return sum(map(int, words[11:15])) / _TICKS
    except (OSError, ValueError):
        return 0.0


def _in_our_session(pid: int) -> bool:
    try:
        return os.getsid(pid) == os.getsid(0)
    except ProcessLookupError:
        return False


def is_childless() -> bool:
    """Whether this process has no child, living or dead; then a subreaper has nothing below it.

    The init of a PID namespace is no such child, and has children of its own.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def processes_of(uid: int) -> list[int]:
    """Return the pids of every process of an account."""
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == uid:
                found.append(int(name))
    return found


def title_of(pid: int) -> str:
    """Return the words that a process goes by; empty if it is gone or on its way."""
    try:
        return read_small(f"/proc/{pid}/cmdline").decode(errors="replace")
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    """Return whose child a process is; 0 if it is gone."""
    try:
        return int(read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def real_uid_of(pid: int) -> int:
    """Return who started a process, whoever it works as; -1 if it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(read_small(f"/proc/{pid}/status").partition(b"\nUid:")[2].split()[0])
    return -1


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    """Work in a folder for a moment; OSError. Ours may have no name any more."""
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        try:
            yield
        finally:
            os.fchdir(here)
    finally:
        os.close(here)


def children_of(pid: int) -> list[int]:
    """Return the pids of a process's own children."""
    children: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return children
    for thread in threads:
        with contextlib.suppress(OSError):
            words = read_small(f"/proc/{pid}/task/{thread}/children").split()
            children += [int(word) for word in words]
    return children


def children_of_one(pid: int) -> list[int]:
    """Return the pids of the children of a process that has one thread; none if it is gone."""
    try:
        return [int(word) for word in read_small(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:
        return []


def kill_tree(root: int, number: int = signal.SIGKILL, *, rounds: int = 10) -> int:
    """Signal everything below `root`, then `root`; return how many signals were sent.

    For SIGKILL the root is stopped first, so that it cannot react to the end of its children, and
    the tree is walked again until nothing is left to signal, because a process may fork while it
    is being killed; `rounds` bounds that. Of a caller that dies meanwhile the limit of
    `kill_together` holds.
    """
    sent = 0
    if number == signal.SIGKILL:
        send_signal(root, signal.SIGSTOP)
    for _ in range(rounds if number == signal.SIGKILL else 1):
        living = [pid for pid in descendants(root) if not is_zombie(pid)]
        for pid in living:
            sent += send_signal(pid, number)
        if not living:
            break
    return sent + send_signal(root, number)


def kill_together(pids: Collection[int]) -> None:
    """SIGKILL to all; they are stopped first, so that none reacts to the end of another.

    Limit: who dies between the two leaves them stopped, for whoever ends leftovers after him. Not
    to stop them would have those that start each other again win against any number of rounds.
    """
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            send_signal(pid, number)
