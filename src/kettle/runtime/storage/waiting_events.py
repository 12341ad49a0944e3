"""Events that cannot be written at once: their log's server may hang, or its disk is full.

They wait in memory, each log's in their order, and are written by a task of the log's own, with
its owner's rights: two owners who name the same file wait apart. A disk that is full or broken is
tried again until it takes them, as is an owner who cannot be found just now; any other fault is
reported and costs these events. Which logs those are is decided by `event_logs.py`. Whoever owns
the events is told which jobs have some waiting, so that the queue has them too and they outlive
this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from kettle.errors import StorageError
from kettle.named_tuples import NamedTuple
from kettle.records.unwritten_events import Unwritten
from kettle.runtime import tasks
from kettle.runtime.storage import files
from kettle.runtime.storage.files import FULL

# Limit: events that wait for one log; further ones are lost, and the log of the daemon says so.
MAX_WAITING = 10_000
RETRY_SECONDS = 2.0
# What keeps events waiting: what a disk says that may be mended, and that it cannot be said just
# now who their owner is here (EAGAIN).
PASSING = files.PASSING | {errno.EAGAIN}


class OwnedLog(NamedTuple):
    """A log as one owner has it; what another has open, or waits for, under its path is not it."""

    owner: str
    path: str


# A job, by its cluster and its number there.
Place = tuple[int, int]
# Appends bytes to a log of an owner's, with his rights; StorageError if that cannot be done. What
# is `unsure` may be in the log already, and is not written a second time.
Append = Callable[[str, str, bytes, bool], Awaitable[None]]
# Told of jobs of which something waits or no longer does, and whether it may be long.
Note = Callable[[set[Place], bool], None]


class Piece(NamedTuple):
    """Bytes to be written, and of which job they tell."""

    place: Place
    data: bytes
    # Whether an earlier process may have written it.
    unsure: bool = False


@dataclass(slots=True)
class _Queue:
    """What waits for one log, and the trouble it has, if it is known."""

    pieces: list[Piece] = field(default_factory=list)
    lost: int = 0
    trouble: StorageError | None = None
    # How many of the first pieces are being written just now.
    flying: int = 0
    # Ends the pause before the next try, and who wants to hear how that one went.
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    asking: list[asyncio.Future[None]] = field(default_factory=list)

    def answer(self) -> None:
        """Tell who asked that a try is over."""
        for asked in self.asking:
            if not asked.done():
                asked.set_result(None)
        self.asking.clear()


class WaitingEvents:
    """The logs that have events waiting."""

    def __init__(self, append: Append, report: Callable[[str], object], note: Note) -> None:
        self._append = append
        self._report = report
        self._note = note
        self._queues: dict[OwnedLog, _Queue] = {}
        self._of: dict[Place, list[Unwritten]] = {}
        self._writers: set[asyncio.Task[None]] = set()

    def __contains__(self, log: OwnedLog) -> bool:
        return log in self._queues

    def of(self, place: Place) -> list[Unwritten]:
        """Return what waits of a job, in its order."""
        return self._of.get(place, [])

    def trouble(self, log: OwnedLog) -> StorageError | None:
        """Return what keeps a log's events waiting, None if nothing is known to."""
        queue = self._queues.get(log)
        return None if queue is None else queue.trouble

    async def try_again(self, log: OwnedLog) -> StorageError | None:
        """Try at once, without the pause; return what keeps the log's events waiting then."""
        queue = self._queues.get(log)
        if queue is None:
            return None
        answer = asyncio.get_running_loop().create_future()
        queue.asking.append(answer)
        queue.hurry.set()
        await answer
        return self.trouble(log)

    def may_take(self, place: Place) -> bool:
        """Whether something waits of a job, and nothing of it is being written just now."""
        flying = (
            piece for queue in self._queues.values() for piece in queue.pieces[: queue.flying]
        )
        return place in self._of and all(piece.place != place for piece in flying)

    def let_go(self, place: Place) -> None:
        """Let go of what waits of a job: somebody else writes it. It must be free (`may_take`)."""
        for queue in self._queues.values():
            queue.pieces[:] = [piece for piece in queue.pieces if piece.place != place]
        if self._of.pop(place, None) is not None:
            self._note({place}, False)

    def add(
        self, log: OwnedLog, pieces: Sequence[Piece], trouble: StorageError | None = None
    ) -> None:
        """Let events wait; `trouble` is why they could not be written at once."""
        queue = self._queues.get(log)
        if queue is None:
            queue = self._queues[log] = _Queue()
            if trouble is not None:
                self._complain(queue, trouble)
            writer = tasks.spawn(self._write(log, queue), f"event log {log.path}")
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        room = MAX_WAITING - len(queue.pieces)
        taken = pieces[:room]
        queue.lost += len(pieces) - len(taken)
        queue.pieces += taken
        for piece in taken:
            self._of.setdefault(piece.place, []).append((log.path, piece.data))
        if taken:
            self._note({piece.place for piece in taken}, queue.trouble is not None)

    async def settle(self, seconds: float) -> None:
        """Wait until all is written, but no longer than so; what is not is said."""
        if self._writers:
            await asyncio.wait(self._writers, timeout=seconds)
        for log, queue in self._queues.items():
            self._report(f"{len(queue.pieces)} events were not written to {log.path}")

    def _complain(self, queue: _Queue, trouble: StorageError) -> None:
        if queue.trouble is None:
            until = "its owner is found" if trouble.errno == errno.EAGAIN else "there is room"
            self._report(f"{trouble.message}; its events wait until {until}")
            if queue.pieces:
                self._note({piece.place for piece in queue.pieces}, True)
        queue.trouble = trouble

    async def _write(self, log: OwnedLog, queue: _Queue) -> None:
        try:
            if queue.trouble is not None:
                await _pause(queue)
            while queue.pieces:
                await self._write_some(log, queue)
        finally:
            del self._queues[log]
            queue.answer()
            if queue.lost:
                self._report(
                    f"{queue.lost} events of {log.path} were too many to wait, and are lost"
                )

    async def _write_some(self, log: OwnedLog, queue: _Queue) -> None:
        first = queue.pieces[0]
        count = 1 if first.unsure else _sure(queue.pieces)
        data = b"".join(piece.data for piece in queue.pieces[:count])
        queue.flying = count
        try:
            await self._append(log.owner, log.path, data, first.unsure)
        except StorageError as error:
            if error.errno in PASSING:
                self._complain(queue, error)
                queue.flying = 0
                queue.answer()
                await _pause(queue)
                return
            self._report(str(error))
        except Exception as error:  # noqa: BLE001 - a bug costs these events, and no others
            self._report(f"{count} events of {log.path} are lost: {type(error).__name__}: {error}")
        else:
            if queue.trouble is not None:
                has = "has its owner" if queue.trouble.errno == errno.EAGAIN else "has room"
                self._report(f"{log.path} {has} again: {count} events that waited are written")
                queue.trouble = None
        queue.flying = 0
        self._forget(log, queue, count)

    def _forget(self, log: OwnedLog, queue: _Queue, count: int) -> None:
        """Let go of the first so many events, which are written, or never will be."""
        gone = queue.pieces[:count]
        del queue.pieces[:count]
        for piece in gone:
            waiting = self._of[piece.place]
            waiting.remove((log.path, piece.data))
            if not waiting:
                del self._of[piece.place]
        with tasks.reported("What follows written events"):
            self._note({piece.place for piece in gone}, False)


async def _pause(queue: _Queue) -> None:
    """Wait until the next try is due, or somebody wants it."""
    queue.hurry.clear()
    if not queue.asking:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RETRY_SECONDS):
                await queue.hurry.wait()


def _sure(pieces: Sequence[Piece]) -> int:
    """Return how many events come before one that may have been written."""
    return next((at for at, piece in enumerate(pieces) if piece.unsure), len(pieces))


__all__ = [
    "FULL",
    "MAX_WAITING",
    "PASSING",
    "RETRY_SECONDS",
    "Append",
    "Note",
    "OwnedLog",
    "Piece",
    "Place",
    "WaitingEvents",
]  # fmt: skip
