"""The starter's line to its shadow: calls one at a time, loss, and what follows a loss.

The calls are `syscalls.py`. When the connection breaks the job runs on for its lease; a shadow
that comes back (CA_RECONNECT_JOB) brings a new connection, and the call that was lost is made
again (wire notes, Disconnect and reconnect).

The lease is what keeps a job from running twice: the shadow starts the job anew when it has not
heard of it for so long. So it is counted here from the moment at which the last answered call
began, which is before the shadow heard it, and a return alone does not renew it. A call that hangs
does not stretch it: who asks with `call_once`, as the job's updates do, waits for the line as well
no longer than the lease allows, and breaks it off then. A job without a lease is over with its
shadow: whether that is there is looked at every moment, and silence has an end for it, too
(`kettle.policy.lease`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kettle.errors import ConnectionLost
from kettle.policy.lease import longest_silence
from kettle.runtime.clock import Clock
from kettle.runtime.sockets.stream import Stream
from kettle.wire.dialog import Dialog

T = TypeVar("T")

# How long an answer is waited for at least: a shadow that has come back is not lost at once.
_LEAST_SECONDS = 1.0
# How often the shadow of a job without a lease is looked after, which costs one question of the
# kernel.
_LOOK_SECONDS = 1.0


class LeaseOver(ConnectionLost):
    """The shadow did not come back within the job lease."""


class ShadowLink:
    """The syscall socket, replaced when the shadow reconnects.

    `lease_seconds` None means that the job has no lease, or is not known yet: a lost shadow is the
    end.
    """

    def __init__(self, stream: Stream, clock: Clock) -> None:
        self._stream: Stream | None = stream
        self._clock = clock
        self._lock = asyncio.Lock()
        self._came_back = asyncio.Event()
        self._news = asyncio.Event()
        self.lease_seconds: int | None = None
        # When the last call began that was answered.
        self.heard_at = clock.steady()
        # How often a shadow came back; what the one before gave us is then worth nothing.
        self.returns = 0
        self.on_loss: Callable[[], None] = _nothing
        # When waiting for a shadow that is away ends, lease or no lease.
        self._patience_ends_at = float("inf")
        self._waiting: asyncio.Timeout | None = None

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._stream is not None

    @property
    def encrypted(self) -> bool:
        """Whether calls are encrypted."""
        return self._stream is not None and self._stream.encrypted

    async def call(self, make: Callable[[], Dialog[T]]) -> T:
        """Run a dialog of calls; after a loss wait for the shadow and run it again.

        Raises LeaseOver when the shadow stays away. Who may be cancelled calls `beside`.
        """
        async with self._lock:
            while True:
                stream = self._stream
                if stream is not None:
                    began = self._clock.steady()
                    try:
                        result = await stream.run(make())
                    except ConnectionLost:
                        self.lose(stream)
                        continue
                    self.heard_at = began
                    return result
                await self._wait_for_return()

    async def beside(self, make: Callable[[], Dialog[T]]) -> T:
        """Do what `call` does for somebody who may be cancelled, and leave the line in step.

        What was asked is answered before anybody asks again: an answer that nobody had read would
        be taken for the next one.
        """
        return await _to_its_end(self.call(make))

    async def call_once(self, make: Callable[[], Dialog[T]]) -> T:
        """Run a dialog if the shadow is there; ConnectionLost otherwise, without waiting.

        A shadow that does not answer within the lease, us or those before us, is not there. The
        caller may be cancelled.
        """
        return await _to_its_end(self._call_once(make))

    async def _call_once(self, make: Callable[[], Dialog[T]]) -> T:
        asked_at = self._clock.steady()
        await self._wait_for_turn(asked_at)
        try:
            stream = self._stream
            if stream is None:
                raise ConnectionLost("the shadow is away")
            began = self._clock.steady()
            try:
                async with asyncio.timeout(self._answer_seconds(asked_at)):
                    result = await stream.run(make())
            except (ConnectionLost, TimeoutError) as error:
                self.lose(stream)
                raise ConnectionLost(f"the shadow did not answer: {error}") from error
            self.heard_at = began
            return result
        finally:
            self._lock.release()

    async def _wait_for_turn(self, asked_at: float) -> None:
        """Take the lock; when the lease ends before, end the connection that somebody waits on."""
        while True:
            try:
                async with asyncio.timeout(self._answer_seconds(asked_at)):
                    await self._lock.acquire()
                return
            except TimeoutError:
                # Those before us may have been answered meanwhile.
                if self._answer_seconds(asked_at) > 0:
                    continue
                if self._stream is not None:
                    self.lose(self._stream)
                raise ConnectionLost("the shadow did not answer the call before") from None

    def _answer_seconds(self, asked_at: float) -> float:
        """Return how long who asked then still waits for an answer.

        Until the lease ends, but a moment at least: a shadow that answers has not started the job
        anew, however late it is asked.
        """
        return max(asked_at + _LEAST_SECONDS - self._clock.steady(), self.lease_left())

    async def wait_for_news(self, seconds: float) -> None:
        """Wait so long, but no longer than until the shadow comes back or the lease ends."""
        self._news.clear()
        ends_at = self._clock.steady() + min(seconds, max(0.0, self.lease_left()))
        while not self._news.is_set():
            left = ends_at - self._clock.steady()
            if left <= 0 or self._has_ended_with_its_shadow():
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._until_next_look(left)):
                    await self._news.wait()

    def _until_next_look(self, left: float) -> float:
        """Return how long nobody looks whether the shadow is there; who has a lease need not."""
        return min(left, _LOOK_SECONDS) if self.lease_seconds is None else left

    def _has_ended_with_its_shadow(self) -> bool:
        """Whether the shadow is gone of a job that has no lease; then the connection is, too."""
        if self.lease_seconds is not None:
            return False
        if self._stream is not None and self._stream.at_end():
            self.lose(self._stream)
        return self._stream is None

    @property
    def lease_is_over(self) -> bool:
        """Whether the shadow may have started the job anew by now."""
        return self.lease_left() <= 0

    def lose(self, stream: Stream) -> None:
        """The connection is gone."""
        if stream is self._stream:
            self._stream = None
            self._came_back.clear()
            stream.close()
            self.on_loss()

    def reconnect(self, stream: Stream) -> None:
        """The shadow came back on a new connection."""
        old, self._stream = self._stream, stream
        if old is not None:
            old.close()
        self.returns += 1
        self._came_back.set()
        self._news.set()

    def lease_left(self) -> float:
        """Return the seconds the shadow still has to come back."""
        if self.lease_seconds is None and self._stream is None:
            return 0.0
        silence = longest_silence(self.lease_seconds)
        ends_at = min(self.heard_at + silence, self._patience_ends_at)
        return ends_at - self._clock.steady()

    def hurry(self, seconds: float) -> None:
        """Give a shadow that is away, now or later, no more than so many seconds from now."""
        self._patience_ends_at = self._clock.steady() + seconds
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time() + seconds)

    async def _wait_for_return(self) -> None:
        left = self.lease_left()
        if left <= 0:
            raise LeaseOver("the shadow is gone")
        try:
            async with asyncio.timeout(left) as self._waiting:
                await self._came_back.wait()
        except TimeoutError:
            raise LeaseOver("the shadow did not come back in time") from None
        finally:
            self._waiting = None

    async def closed(self) -> None:
        """Wait until the shadow closes its side; nothing may be asked meanwhile."""
        stream = self._stream
        if stream is None:
            return
        try:
            async with self._lock:
                await stream.receive_forever()
        except ConnectionLost:
            self.lose(stream)

    def give_away(self) -> Stream | None:
        """Return the connection, if there is one, for whatever follows this job on it."""
        stream, self._stream = self._stream, None
        return stream

    def close(self) -> None:
        """End the connection."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _nothing() -> None:
    return None


async def _to_its_end(calling: Coroutine[Any, Any, T]) -> T:
    """Wait for a call; it goes on without us if we are cancelled, and nobody hears how it ends."""
    task = asyncio.ensure_future(calling)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_forget)
        raise


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
