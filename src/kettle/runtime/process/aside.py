"""Work on files that may take long, done beside the event loop.

A file on a network file system, a large file, a chirp call: one that hangs must not stop the
shadows of other jobs in the same process. The threads here only ever run with the rights that the
process has settled for (`Privileges.thread_only`). They are daemons: one that hangs keeps nobody
from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

# Limit: actions under way at once; further ones wait for one of these to end.
MAX_THREADS = 64


class Aside(Protocol):
    """Somewhere to run an action."""

    def run(self, action: Callable[[], T]) -> asyncio.Future[T]:
        """Run an action; its result or exception is the future's."""
        ...


class InlineAside:
    """Runs each action at once in the loop: for virtual time, and where no threads may be."""

    def run(self, action: Callable[[], T]) -> asyncio.Future[T]:
        """Run the action now."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(action())
        except Exception as error:  # noqa: BLE001 - whoever awaits it is told
            future.set_exception(error)
            # Not everybody asks.
            future.exception()
        return future


class ThreadedAside:
    """Runs actions in threads, which are started as they are needed and stay."""

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads = 0
        self._busy = 0
        self._lock = threading.Lock()

    def run(self, action: Callable[[], T]) -> asyncio.Future[T]:
        """Run the action in a thread; OSError for it where the system grants us none."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            self._busy += 1
            more = self._busy > self._threads and self._threads < self._limit
            self._threads += more
        if more and not self._start() and not self._threads:
            with self._lock:
                self._busy -= 1
            none = OSError(errno.EAGAIN, f"no thread: {os.strerror(errno.EAGAIN)}")
            _settle(future, None, none)
            return future
        self._work.put(partial(self._do, loop, future, action))
        return future

    def _start(self) -> bool:
        """Start the thread that was counted; False if there can be none."""
        try:
            threading.Thread(target=self._serve, name="aside", daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
            return False
        return True

    def _serve(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._busy -= 1

    @staticmethod
    def _do(
        loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], action: Callable[[], Any]
    ) -> None:
        result: Any = None
        failure: Exception | None = None
        try:
            result = action()
        except Exception as error:  # noqa: BLE001 - whoever awaits it is told
            failure = error
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, result, failure)


def _settle(future: asyncio.Future[Any], result: Any, failure: Exception | None) -> None:
    if future.cancelled():
        return
    if failure is None:
        future.set_result(result)
    else:
        future.set_exception(failure)
        # Not everybody asks.
        future.exception()
