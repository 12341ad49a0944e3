"""Background tasks that are kept alive, named, and heard when they fail.

asyncio holds tasks weakly and swallows their exceptions until somebody asks; daemons start all
of theirs here instead.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Container, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

_T = TypeVar("_T")

# How long after a round that failed the next one begins: it may have failed before its pause.
FAILED_PAUSE_SECONDS = 5.0
# Limit: trouble that comes again and again is told this often.
TOLD_AGAIN_SECONDS = 600.0
# Limit: how long one piece of work goes on before others have their turn; one step of it may take
# longer (an expression of a user's takes up to 0.3 s).
TURN_SECONDS = 0.05
# Limit: short steps that are taken in one turn.
MOST_IN_A_TURN = 500
# Limit: places of trouble that are remembered.
_MOST_PLACES = 1000

# The tasks of this process. A simulation, whose daemons share one process, gives each its own.
scope: ContextVar[set[asyncio.Task[Any]]] = ContextVar("scope")
_everything: set[asyncio.Task[Any]] = set()
_reporter: Callable[[str], None] | None = None
# Trouble that was told: when, and how often it has come since.
_told: dict[tuple[str, ...], tuple[float, int]] = {}


def set_reporter(reporter: Callable[[str], None] | None) -> None:
    """Choose who is told about a task that failed; None means standard error."""
    global _reporter
    _reporter = reporter
    _told.clear()


def spawn(coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
    """Start a coroutine in the background; a failure is reported, never lost.

    The task's exception is also given to whoever awaits the returned task.
    """
    task = asyncio.get_running_loop().create_task(coroutine, name=name)
    scope.get(_everything).add(task)
    task.add_done_callback(_on_done)
    return task


def repeat(
    turn: Callable[[], Awaitable[object]],
    name: str,
    *,
    ended: Callable[[], bool] = lambda: False,
) -> asyncio.Task[Any]:
    """Start a background task that does something round after round, each with its own pause.

    A round that fails is reported, and the next one comes: one job's odd ad must not end what is
    done for all the others. `ended` is asked before each round.
    """
    return spawn(_go_round(turn, name, ended), name)


async def _go_round(
    turn: Callable[[], Awaitable[object]], name: str, ended: Callable[[], bool]
) -> None:
    while not ended():
        succeeded = False
        with reported(f"A round of {name}"):
            await turn()
            succeeded = True
        if not succeeded:
            await asyncio.sleep(FAILED_PAUSE_SECONDS)


class reported:  # noqa: N801 - read as a word of the language
    """Report whatever fails inside, and go on behind it.

    The same trouble (of the same `what`, at the same line) is told again after a while only.
    """

    # A class, as each job enters several: a generator costs three times as much.
    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        # It is told, with where it happened.
        _report_again(self._what, error)
        return True


def do_with_each(do: Callable[[list[_T]], object], things: Iterable[_T], what: str) -> None:
    """Do something with all things together; where that fails, with each by itself.

    One with which it fails is reported and keeps no other back.
    """
    together = list(things)
    try:
        do(together)
    except Exception:  # noqa: BLE001 - told below, of the thing that it is about
        for each in together:
            with reported(what):
                do([each])


async def in_turns(steps: Iterator[object], at_a_time: int = 1) -> Any:
    """Do long work, with the others' turns in between; return what it returns.

    A turn is so many steps, and no longer than TURN_SECONDS: what a step costs may be a stranger's
    to say. The loop's clock counts, which stands still where a run has to be as the one before.
    """
    clock = asyncio.get_running_loop()
    while True:
        ends = clock.time() + TURN_SECONDS
        for _ in range(at_a_time):
            try:
                next(steps)
            except StopIteration as end:
                return end.value
            if clock.time() >= ends:
                break
        await asyncio.sleep(0)


async def choose_in_turns(things: Iterable[_T], wanted: Callable[[_T], bool]) -> list[_T]:
    """Return those of the things that are wanted, with the others' turns in between.

    For questions whose answers a stranger may make expensive.
    """
    chosen: list[_T] = []

    def steps() -> Iterator[None]:
        for each in things:
            if wanted(each):
                chosen.append(each)
            yield

    await in_turns(steps(), MOST_IN_A_TURN)
    return chosen


def _report_again(what: str, error: Exception) -> None:
    if _ends_daemon(error):
        return
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = (what, type(error).__name__, frame.filename, str(frame.lineno))
    now = asyncio.get_running_loop().time()
    at, times = _told.get(place, (float("-inf"), 0))
    if now - at < TOLD_AGAIN_SECONDS:
        _told[place] = at, times + 1
        return
    if place not in _told and len(_told) >= _MOST_PLACES:
        _told.clear()
    _told[place] = now, 0
    lines = "".join(traceback.format_exception(error)).rstrip()
    again = f" ({times} more times since it was told)" if times else ""
    report(f"{what} failed{again}: {lines}")


def _ends_daemon(error: BaseException) -> bool:
    """Tell whether the daemon ends for an error, and its log has it: a StorageError, or its kin."""
    return bool(getattr(error, "ends_daemon", False))


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
    if error is not None and not _ends_daemon(error):
        lines = "".join(traceback.format_exception(error)).rstrip()
        report(f"Task {task.get_name()} failed: {lines}")
