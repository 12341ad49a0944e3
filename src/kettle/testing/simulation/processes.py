"""Simulated processes: what runs for one of them stops dead when it is killed.

All of them share one event loop. Whatever is started on behalf of a process inherits it through
the context, so the loop knows whose every callback is. A killed process is not cancelled, which
would run its `finally` blocks as no SIGKILL does: it is never called again, and its connections
are closed under it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from typing import Any

from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.process.processes import Child
from kettle.runtime.sockets.transport import SocketTransport
from kettle.testing.virtual_loop import LIMIT_SECONDS, VirtualLoop

_current: ContextVar[SimulatedProcess | None] = ContextVar("process", default=None)

Life = Callable[["SimulatedProcess", bytes, list[int]], Awaitable[int]]
# Beyond any pid that the kernel hands out: nothing here may ever reach a process outside.
FIRST_PID = 5_000_000


class Killed(BaseException):
    """Ends what a process was doing when it was killed; nothing of ours catches it."""


def current_process() -> SimulatedProcess | None:
    """Return the process on whose behalf this runs; None for the simulation itself."""
    return _current.get()


def outside(call: Callable[..., Any], *arguments: object) -> Any:
    """Run something that belongs to no process, and so survives all of them."""
    return Context().run(call, *arguments)


def act() -> None:
    """Say that something is about to be done that others can see; a process may be killed here."""
    process = _current.get()
    if process is not None:
        process.act()


def _is_dead(context: Context) -> bool:
    process = context.get(_current)
    return process is not None and not process.alive


class MortalLoop(VirtualLoop):
    """A virtual loop that drops what the dead would still do."""

    def __init__(self, *, limit_seconds: float = LIMIT_SECONDS) -> None:
        super().__init__(limit_seconds=limit_seconds)
        self.set_exception_handler(_on_exception)
        # Called after each turn of the loop, by whoever checks that something always holds.
        self.after_step: Callable[[], None] = _nothing

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]
        self.after_step()

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback, unless it belongs to the dead."""
        context = context or copy_context()
        handle = super().call_soon(callback, *args, context=context)
        if _is_dead(context):
            handle.cancel()
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Schedule a callback for a moment, unless it belongs to the dead."""
        context = context or copy_context()
        handle = super().call_at(when, callback, *args, context=context)
        if _is_dead(context):
            handle.cancel()
        return handle

    def bury(self) -> None:
        """Drop everything that is scheduled for the dead."""
        waiting: list[asyncio.Handle] = [*self._ready, *self._scheduled]  # type: ignore[attr-defined]
        for handle in waiting:
            context: Context | None = getattr(handle, "_context", None)
            if context is not None and _is_dead(context):
                handle.cancel()


def _nothing() -> None:
    """Check nothing."""


def _on_exception(loop: asyncio.AbstractEventLoop, facts: dict[str, Any]) -> None:
    if not isinstance(facts.get("exception"), Killed):
        loop.default_exception_handler(facts)


class SimulatedChild(Child):
    """A process as its parent sees it."""

    __slots__ = ("process",)

    def __init__(self, process: SimulatedProcess) -> None:
        super().__init__(process.pid, process.name)
        self.process = process

    def signal(self, number: int) -> bool:
        """SIGKILL kills; the others are for programs, which ours are not."""
        if not self.running:
            return False
        if number == signal.SIGKILL:
            self.process.kill()
        return True


class ProcessTable:
    """Every process that was ever started, on all machines."""

    def __init__(self, loop: MortalLoop) -> None:
        self.loop = loop
        self.all: dict[int, SimulatedProcess] = {}
        self._next = FIRST_PID
        # What becomes of the next process whose name begins so: see `SimulatedProcess.doom`.
        self._doomed: dict[str, tuple[int, Callable[[SimulatedProcess], None]]] = {}

    def start(
        self,
        name: str,
        machine: str,
        life: Callable[[SimulatedProcess], Awaitable[int]],
        parent: SimulatedProcess | None = None,
    ) -> SimulatedProcess:
        """Start a process; what `life` returns is its exit code."""
        process = SimulatedProcess(self, self._next, name, machine, parent)
        self._next += 1
        self.all[process.pid] = process
        for prefix in list(self._doomed):
            if name.startswith(prefix):
                process.doom(*self._doomed.pop(prefix))
        process.begin(life)
        return process

    def doom_next(self, name: str, acts: int, end: Callable[[SimulatedProcess], None]) -> None:
        """Let the next process whose name begins so come to its end after so many acts."""
        self._doomed[name] = (acts, end)

    def spare_all(self) -> None:
        """Forget what was to become of processes."""
        self._doomed.clear()
        for process in self.living():
            process.spare()

    def living(self, machine: str = "") -> list[SimulatedProcess]:
        """Return the processes that run, on one machine or on all."""
        return [
            process
            for process in self.all.values()
            if process.alive and machine in ("", process.machine)
        ]


class SimulatedProcess:
    """One process. It ends when its life ends, or is killed at any moment between two steps."""

    def __init__(
        self,
        table: ProcessTable,
        pid: int,
        name: str,
        machine: str,
        parent: SimulatedProcess | None,
    ) -> None:
        self.table = table
        self.pid = pid
        self.name = name
        self.machine = machine
        self.parent = parent
        self.alive = True
        self.child = SimulatedChild(self)
        # What has to vanish with the process: connections, and listening ends.
        # In the order in which they were made: a seed tells the same each time.
        self.connections: weakref.WeakKeyDictionary[SocketTransport, None] = (
            weakref.WeakKeyDictionary()
        )
        self.descriptors: list[int] = []
        # Connections on their way to another process, by what tells a descriptor from a later one
        # of its number.
        self.given_away: list[tuple[int, int]] = []
        self.at_death: list[Callable[[], None]] = []
        self._acts_left = 0
        self._doom: Callable[[SimulatedProcess], None] | None = None
        self.context = Context()
        self.context.run(_current.set, self)
        self.context.run(tasks.scope.set, set())

    def begin(self, life: Callable[[SimulatedProcess], Awaitable[int]]) -> None:
        """Start the process's first task."""
        self.context.run(tasks.spawn, self._live(life), f"{self.machine} {self.name}")

    async def _live(self, life: Callable[[SimulatedProcess], Awaitable[int]]) -> None:
        code = 1
        try:
            code = await life(self)
        finally:
            self._end(code << 8)

    def run(self, coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start a further task of this process."""
        task: asyncio.Task[Any] = self.context.run(tasks.spawn, coroutine, name)
        return task

    def kill(self) -> None:
        """End as by SIGKILL: nothing of it runs any more, not even its clean-up."""
        self._end(signal.SIGKILL)

    def doom(self, acts: int, end: Callable[[SimulatedProcess], None]) -> None:
        """Come to an end just before the act after so many others; `end` kills."""
        self._acts_left, self._doom = acts, end

    def spare(self) -> None:
        """Forget its doom."""
        self._doom = None

    def act(self) -> None:
        """Do something that others can see; Killed if this process does nothing any more."""
        if self._doom is not None:
            self._acts_left -= 1
            if self._acts_left < 0:
                end, self._doom = self._doom, None
                end(self)
        if not self.alive:
            raise Killed

    def _end(self, status: int) -> None:
        if not self.alive:
            return
        self.alive = False
        self.table.loop.bury()
        for transport in list(self.connections):
            _close_under(transport, self.table.loop)
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._drop_given_away()
        for last in self.at_death:
            last()
        parent = self.parent
        if parent is None:
            self.child.finish(status, None)
        elif parent.alive:
            self.table.loop.call_soon(self.child.finish, status, None, context=parent.context)
        else:
            # What its parent would have done about it died with the parent.
            self.child.status = status

    def _drop_given_away(self) -> None:
        """Close the connections that nobody has taken yet, as the kernel does."""
        taken = {
            transport._socket.fileno()  # noqa: SLF001 - what the kernel sees, too
            for process in self.table.living()
            for transport in process.connections
            if transport._socket is not None  # noqa: SLF001
        }
        for descriptor, inode in self.given_away:
            with contextlib.suppress(OSError):
                if descriptor not in taken and os.fstat(descriptor).st_ino == inode:
                    os.close(descriptor)


def _close_under(transport: SocketTransport, loop: MortalLoop) -> None:
    """Close a dead process's connection, as the kernel does."""
    sock = transport._socket  # noqa: SLF001 - what the kernel takes away, it does not ask for
    if sock is None:
        return
    loop.remove_reader(sock.fileno())
    loop.remove_writer(sock.fileno())
    transport._socket = None  # noqa: SLF001
    sock.close()


def watch_connections() -> None:
    """Let every connection made from here on be known to its process, and each write be an act."""
    original, write = SocketTransport.__init__, SocketTransport.write
    release = SocketTransport.release

    def watched(self: SocketTransport, *arguments: Any, **names: Any) -> None:
        original(self, *arguments, **names)
        process = _current.get()
        if process is not None:
            process.connections[self] = None

    def acted(self: SocketTransport, data: bytes) -> None:
        act()
        write(self, data)

    def released(self: SocketTransport) -> int:
        descriptor = release(self)
        process = _current.get()
        if process is not None:
            process.given_away.append((descriptor, os.fstat(descriptor).st_ino))
        return descriptor

    SocketTransport.__init__ = watched  # type: ignore[method-assign]
    SocketTransport.release = released  # type: ignore[method-assign]
    SocketTransport.write = acted  # type: ignore[method-assign]


class SimulatedZygote:
    """Forks what a table of lives says instead of the real entry."""

    def __init__(self, owner: SimulatedProcess, lives: Mapping[str, Life]) -> None:
        self._owner = owner
        self._lives = lives

    async def fork(
        self,
        entry: str,
        arguments: bytes = b"",
        *,
        fds: Sequence[int] = (),
        title: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start the life known by this entry as a child of the zygote's owner."""
        del environment
        life = self._lives.get(entry)
        if life is None:
            raise KettleError(f"cannot fork {title or entry}: nobody said what it does")
        await asyncio.sleep(0.001)
        handed = [os.dup(fd) for fd in fds]

        async def begin(process: SimulatedProcess) -> int:
            return await life(process, arguments, handed)

        owner = self._owner
        return owner.table.start(title or entry, owner.machine, begin, owner).child


class SimulatedProcesses:
    """The `processes` of a simulated daemon's runtime."""

    def __init__(self, owner: SimulatedProcess, lives: Mapping[str, Life]) -> None:
        self.zygote = SimulatedZygote(owner, lives)
        self.table = owner.table
        self._owner = owner

    def spawn(self, argv: Sequence[str], **_: object) -> Child:
        """No programs here: what a starter runs is `jobs.py`'s."""
        raise FileNotFoundError(2, "No such file or directory", argv[0])

    def children(self) -> list[Child]:
        """Return the children that run."""
        table = self._owner.table
        return [process.child for process in table.living() if process.parent is self._owner]

    def orphans(self) -> list[int]:
        """Return nobody: whom a dead starter leaves is ended with it (`machines.py`)."""
        return []

    def cpu_seconds(self, root: int) -> float:
        """Return 0: nobody works here."""
        del root
        return 0.0
