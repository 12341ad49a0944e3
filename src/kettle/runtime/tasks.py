"""Background tasks that are kept alive, named, and heard when they fail.

asyncio holds tasks weakly and swallows their exceptions until somebody asks; daemons start all
of theirs here instead.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Container, Coroutine
from contextvars import ContextVar
from typing import Any

# The tasks of this process. A simulation, whose daemons share one process, gives each its own.
scope: ContextVar[set[asyncio.Task[Any]]] = ContextVar("scope")
_everything: set[asyncio.Task[Any]] = set()
_reporter: Callable[[str], None] | None = None


def set_reporter(reporter: Callable[[str], None] | None) -> None:
    """Choose who is told about a task that failed; None means standard error."""
    global _reporter
    _reporter = reporter


def spawn(coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Start a coroutine in the background; a failure is reported, never lost.

    The task's exception is also given to whoever awaits the returned task.
    """
    task = asyncio.get_running_loop().create_task(coroutine, name=name)
    scope.get(_everything).add(task)
    task.add_done_callback(_on_done)
    return task


def running() -> frozenset[asyncio.Task[Any]]:
    """Return the tasks that have not ended, for shutdown and for tests."""
    return frozenset(scope.get(_everything))


async def cancel_all(*, except_for: Container[asyncio.Task[Any]] = ()) -> None:
    """Cancel every task started here, except the caller, and wait until they have ended."""
    mine = asyncio.current_task()
    tasks = [task for task in scope.get(_everything) if task is not mine and task not in except_for]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)


def report(problem: str) -> None:
    """Tell the reporter about trouble nobody waits for."""
    if _reporter is None:
        sys.stderr.write(problem + "\n")
    else:
        _reporter(problem)


def _on_done(task: asyncio.Task[Any]) -> None:
    scope.get(_everything).discard(task)
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        lines = "".join(traceback.format_exception(error)).rstrip()
        report(f"Task {task.get_name()} failed: {lines}")
