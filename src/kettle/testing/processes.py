"""Processes that are only told about: started, signalled and ended by the test.

The same names as `kettle.runtime.process.processes`. A program may have a behaviour (`programs`):
how it is to end, or a coroutine that lives its life. What a zygote would fork runs as a coroutine
that the test registers for the entry.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.process.processes import Child

Behaviour = Callable[["FakeChild"], Awaitable[int]]
_FIRST_PID = 5000


class FakeChild(Child):
    """A process that exists only here; `signals` are the ones it got.

    SIGKILL ends it; other signals end it unless `ignores` has them.
    """

    __slots__ = ("arguments", "environment", "fds", "ignores", "signals", "task")

    def __init__(self, pid: int, name: str) -> None:
        super().__init__(pid, name)
        self.signals: list[int] = []
        self.ignores: set[int] = {signal.SIGCONT, signal.SIGSTOP, signal.SIGHUP}
        self.arguments: bytes = b""
        self.environment: dict[str, str] = {}
        self.fds: list[int] = []
        self.task: asyncio.Task[None] | None = None

    def signal(self, number: int) -> bool:
        """Note the signal; end, if it is one that ends a process."""
        if not self.running:
            return False
        self.signals.append(number)
        if number == signal.SIGKILL or number not in self.ignores:
            self.end_by(number)
        return True

    def exit(self, code: int = 0) -> None:
        """End with an exit code."""
        self._end(code << 8)

    def end_by(self, number: int) -> None:
        """End by a signal."""
        self._end(number)

    def _end(self, status: int) -> None:
        if not self.running:
            return
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
        self.finish(status, None)


@dataclass
class FakeZygote:
    """Runs registered coroutines instead of forking."""

    owner: FakeProcesses
    entries: dict[str, Behaviour] = field(default_factory=dict)

    async def fork(
        self,
        entry: str,
        arguments: bytes = b"",
        *,
        fds: Sequence[int] = (),
        title: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start the coroutine registered for the entry as a process."""
        behaviour = self.entries.get(entry)
        if behaviour is None:
            raise KettleError(f"cannot fork {title or entry}: no behaviour is registered for it")
        child = self.owner.make_child(title or entry)
        child.arguments = arguments
        # As the real one does: the copies are the child's to close.
        child.fds = [os.dup(fd) for fd in fds]
        child.environment = dict(environment or {})
        self.owner.live(child, behaviour)
        return child


class FakeProcesses:
    """All processes of one daemon in a test."""

    def __init__(self) -> None:
        self.zygote = FakeZygote(self)
        self.programs: dict[str, Behaviour] = {}
        self.started: list[FakeChild] = []
        self.worked: dict[int, float] = {}
        self._next_pid = _FIRST_PID

    def spawn(
        self, argv: Sequence[str], *, environment: Mapping[str, str], name: str = "", **_: object
    ) -> Child:
        """Start a program; FileNotFoundError for one that `programs` does not have."""
        behaviour = self.programs.get(argv[0])
        if behaviour is None:
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        child = self.make_child(name or argv[0])
        child.arguments = "\0".join(argv).encode()
        child.environment = dict(environment)
        self.live(child, behaviour)
        return child

    def make_child(self, name: str) -> FakeChild:
        """Make a process that does nothing yet."""
        child = FakeChild(self._next_pid, name)
        self._next_pid += 1
        self.started.append(child)
        return child

    def live(self, child: FakeChild, behaviour: Behaviour) -> None:
        """Let a process live its life; what the coroutine returns is its exit code."""

        async def life() -> None:
            child.exit(await behaviour(child))

        child.task = tasks.spawn(life(), f"process {child.name}")

    def children(self) -> list[FakeChild]:
        """Return the processes that run, in the order of their start."""
        return [child for child in self.started if child.running]

    def orphans(self) -> list[int]:
        """Return nobody: what a process started ends with it here."""
        return []

    def cpu_seconds(self, root: int) -> float:
        """Return what a test says that a process has worked."""
        return self.worked.get(root, 0.0)
