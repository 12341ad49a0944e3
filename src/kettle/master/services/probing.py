"""Asks the master's own daemons a question that costs nothing, to learn who is silent.

That a daemon's process is there says little: one that is stopped, or that waits for a disk that
does not answer, is as alive as ever. Asked when somebody wants to know, and never twice at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kettle.errors import ConnectionLost, KettleError
from kettle.runtime import tasks
from kettle.runtime.clock import Clock
from kettle.wire.sinful import Sinful

# One that is busy for less than this is not silent; nobody who asks waits longer.
SILENT_SECONDS = 3.0
# How long an answer is good for.
FRESH_SECONDS = 2.0
# Limit: how long one question stays open. Who is silent then is asked anew when somebody asks us.
QUESTION_SECONDS = 20.0
# How soon a connection that broke is tried again: the daemon may have been refusing a flood.
_AGAIN_SECONDS = 0.5
# Timers may come this much before their time.
_SLACK = 0.05


@dataclass(slots=True)
class _Question:
    """What is known of one daemon; `asked` is the first moment since its last answer."""

    pid: int
    asked: float
    task: asyncio.Task[None]
    answered: float | None = None


class Prober:
    """Knows which daemons do not answer. `ask` returns when the one at an address has answered."""

    def __init__(self, ask: Callable[[Sinful], Awaitable[None]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._known: dict[str, _Question] = {}

    async def find_silent(self, daemons: Mapping[str, tuple[int, Sinful]]) -> dict[str, float]:
        """Return which daemons, given by pid and address, are silent, and for how many seconds.

        Takes no longer than SILENT_SECONDS.
        """
        for name in [name for name in self._known if name not in daemons]:
            self._known.pop(name).task.cancel()
        for name, (pid, address) in daemons.items():
            self._question(name, pid, address)
        young = [
            known
            for known in self._known.values()
            if not known.task.done() and self._left(known) > 0
        ]
        if young:
            longest = max(map(self._left, young))
            await asyncio.wait([known.task for known in young], timeout=longest)
        now = self._clock.steady()
        return {
            name: now - known.asked
            for name, known in self._known.items()
            if known.answered is None and now - known.asked >= SILENT_SECONDS - _SLACK
        }

    def _left(self, known: _Question) -> float:
        """Return how long the daemon may still take before it is silent."""
        return known.asked + SILENT_SECONDS - self._clock.steady()

    def _question(self, name: str, pid: int, address: Sinful) -> None:
        """Ask a daemon, unless it is being asked or has answered just now."""
        now = self._clock.steady()
        known = self._known.get(name)
        if known is not None and known.pid != pid:
            known.task.cancel()
            known = None
        if known is not None and not known.task.done():
            return
        if known is not None and known.answered is not None:
            if now - known.answered < FRESH_SECONDS:
                return
            known = None
        asked = now if known is None else known.asked
        task = tasks.spawn(self._hear(name, pid, address), f"asking whether {name} answers")
        self._known[name] = _Question(pid, asked, task)

    async def _hear(self, name: str, pid: int, address: Sinful) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(QUESTION_SECONDS):
                while not await self._is_answered(address):  # noqa: ASYNC110
                    await asyncio.sleep(_AGAIN_SECONDS)
                known = self._known.get(name)
                if known is not None and known.pid == pid:
                    known.answered = self._clock.steady()

    async def _is_answered(self, address: Sinful) -> bool:
        try:
            await self._ask(address)
        except (ConnectionLost, OSError):
            return False
        except KettleError:
            pass  # A refusal is an answer.
        return True
