"""Long work on the state of one moment, done by a forked child while the daemon goes on.

A child has the daemon's memory as it was when it was forked, for the price of a page table: it can
write a queue log anew or answer a query over 100,000 ads, and whatever the daemon does meanwhile it
does not see. The fsync worker is quiet while the fork happens, so only one thread is copied. What
is written or answered is the callers' business.
"""

from __future__ import annotations

import asyncio
import gc
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NoReturn, Protocol

import setproctitle

from kettle.errors import ConnectionLost, KettleError
from kettle.runtime import tasks
from kettle.runtime.process import kernel
from kettle.wire.channel import Channel

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child, SystemProcesses
    from kettle.runtime.sockets.stream import Stream
    from kettle.runtime.storage.files import Files

# How long a child waits for a peer that does not read, and how long it may live at all; work that
# says that it goes on lives on.
SEND_SECONDS = 20.0
LIFE_SECONDS = 600
# Bytes that leave a child in one call.
_TOGETHER = 256 * 1024
# What a slice of work in the daemon's own loop may take before others have their turn.
SLICE_SECONDS = 0.01
_MOST_REPORTED = 2000

# Bodies of packets, composed for the connection's state (encrypted or not), each with whether its
# message ends there: a long message need never be held whole. An empty part that ends nothing says
# that the work goes on.
Part = tuple[bytes, bool]
Parts = Callable[[bool], Iterator[Part]]


class Snapshots(Protocol):
    """How a service has long work done; `most` children answer queries at any time.

    `running` are the children that answer one now.
    """

    most: int
    running: int

    async def run(
        self, make: Callable[[], Callable[[], None]], name: str, seconds: int = LIFE_SECONDS
    ) -> None:
        """Do what `make` returns, which is called at the moment whose state counts.

        Work that stands still for so many seconds is ended. KettleError with the child's own words
        if it failed, and not before it does nothing any more.
        """
        ...

    async def answer(self, stream: Stream, parts: Parts, *, ads: int) -> bool:
        """Send the messages that `parts` yields, about `ads` of them, and close the stream.

        Few are sent by the daemon itself, slice by slice; then the stream stays open. True if a
        child took the answer over.
        """
        ...


class InlineSnapshots:
    """Does everything in the daemon itself: for tests on the virtual clock, and for small work.

    `seconds` measures the slices; where one run has to be as the last one it stands still.
    """

    def __init__(self, seconds: Callable[[], float] = time.perf_counter) -> None:
        self._seconds = seconds
        self.most = 0
        self.running = 0

    async def run(
        self, make: Callable[[], Callable[[], None]], name: str, seconds: int = LIFE_SECONDS
    ) -> None:
        """Do the work now."""
        del name, seconds
        make()()

    async def answer(self, stream: Stream, parts: Parts, *, ads: int) -> bool:
        """Send the messages slice by slice."""
        del ads
        began = self._seconds()
        for body, last in parts(stream.encrypted):
            if body or last:
                stream.post_part(body, last=last)
            if self._seconds() - began > SLICE_SECONDS:
                await stream.drain()
                # Other connections have their turn, however fast this one reads.
                await asyncio.sleep(0)
                began = self._seconds()
        await stream.drain()
        return False


class ForkedSnapshots:
    """Does long work in forked children, at most `most` at a time; the rest is done inline."""

    def __init__(self, files: Files, processes: SystemProcesses, *, most: int = 8) -> None:
        self._files = files
        self._processes = processes
        self._inline = InlineSnapshots()
        self.most = most
        # An answer of fewer ads costs less than a fork.
        self.fork_from = 1000
        self.running = 0

    async def run(
        self, make: Callable[[], Callable[[], None]], name: str, seconds: int = LIFE_SECONDS
    ) -> None:
        """Do the work in a child and wait for its end."""
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        try:
            async with self._files.quiet():
                work = make()
                # Known before anybody else has a turn, who could take it for an orphan or reap it.
                child = self._processes.adopt(
                    _fork(partial(_be_worker, work, write_end, name, seconds)), name
                )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            status = await child.wait()
            said = pipe.read(_MOST_REPORTED).decode("utf-8", "replace")
        if status:
            code = os.waitstatus_to_exitcode(status)
            raise KettleError(f"{name}: {said or f'the child ended with status {code}'}")

    async def answer(self, stream: Stream, parts: Parts, *, ads: int) -> bool:
        """Have a child send the messages, unless they are few or `most` children are busy."""
        if ads < self.fork_from or self.running >= self.most:
            return await self._inline.answer(stream, parts, ads=ads)
        self.running += 1
        try:
            await stream.flush()
            async with self._files.quiet():
                fd, channel = stream.give_up()
                try:
                    pid = _fork(lambda: _be_speaker(fd, channel, parts))
                    child = self._processes.adopt(pid, "answer to a query")
                finally:
                    os.close(fd)
        except BaseException:
            self.running -= 1
            raise
        child.on_exit(self._on_exit)
        return True

    def _on_exit(self, child: Child) -> None:
        self.running -= 1
        if child.status:
            tasks.report(f"A child that answered a query ended with status {child.status}")


# Whether this process is such a child, and of whom.
_is_child = False
_parent = 0


def is_child() -> bool:
    """Tell whether this process is one that a daemon forked, whose logs are the daemon's alone."""
    return _is_child


def note_progress() -> None:
    """Say, in work that `run` has done, that it goes on: only work that stands still is ended."""
    if _is_child:
        signal.alarm(LIFE_SECONDS)


def stay_with_parent() -> None:
    """End with the daemon also from now on, in work that `run` does.

    With the account that a process works as the kernel forgets whose death ends it, and a schedd
    that begins anew could not know that the one before is still at work.
    """
    if _is_child:
        kernel.die_with_parent()
        if os.getppid() != _parent:
            os._exit(1)


def _fork(be_child: Callable[[], NoReturn]) -> int:
    """Fork; no signal may find the child with the parent's handlers and wake-up descriptor."""
    everything = set(signal.Signals)
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                _settle(parent)
                be_child()
            finally:
                # Whatever went wrong: there must never be two of the daemon.
                os._exit(1)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


def _settle(parent: int) -> None:
    """Stop being the daemon: its signals, its death, its garbage collector."""
    gc.disable()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    kernel.die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    global _is_child, _parent
    _is_child, _parent = True, parent
    note_progress()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _close_others(keep: int) -> None:
    """Close what is the daemon's alone: its sockets, its locks, the connections of others."""
    os.closerange(3, keep)
    os.closerange(keep + 1, max(map(int, os.listdir("/proc/self/fd"))) + 1)


def _be_worker(work: Callable[[], None], pipe: int, name: str, seconds: int) -> NoReturn:
    code = 1
    try:
        signal.alarm(seconds)
        _take_title(name)
        _close_others(pipe)
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - told to the parent, which raises it
        # Names of files and texts of ads may have bytes that are no text.
        os.write(pipe, f"{error}".encode("utf-8", "backslashreplace")[:_MOST_REPORTED])
    finally:
        os._exit(code)


def _take_title(work: str) -> None:
    """Be called as the daemon is, with what is done here; some processes have no name."""
    words = setproctitle.getproctitle().split()
    setproctitle.setproctitle(f"{words[0] if words else 'kettle'}: {work}")


def _be_speaker(fd: int, channel: Channel, parts: Parts) -> NoReturn:
    code = 1
    try:
        _take_title("answer")
        _close_others(fd)
        _send_all(fd, channel, parts(channel.encrypted))
        code = 0
    except (ConnectionLost, OSError):
        code = 0  # the peer's own affair
    except BaseException:  # noqa: BLE001 - the last frame of a child; its parent reports the status
        sys.stderr.write(traceback.format_exc())
    finally:
        os._exit(code)


def _send_all(fd: int, channel: Channel, parts: Iterable[Part]) -> None:
    bodies: list[bytes] = []
    size = 0
    inside = False  # a message of which a part has been written
    for body, last in parts:
        if inside or not last:
            if body or last:
                _write(fd, channel.encode_bodies(bodies) + channel.encode_part(body, last=last))
                bodies.clear()
                size = 0
                inside = not last
            continue
        bodies.append(body)
        size += len(body)
        if size >= _TOGETHER:
            _write(fd, channel.encode_bodies(bodies))
            bodies.clear()
            size = 0
    _write(fd, channel.encode_bodies(bodies))


def _write(fd: int, data: bytes) -> None:
    """Write to a socket that does not block, waiting for a slow peer as long as is allowed."""
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            if not poll.poll(SEND_SECONDS * 1000):
                raise ConnectionLost("the peer does not read") from None
