"""Standard files that are streamed: bytes between the job and files at the shadow, as they come.

Each streamed file is a pipe to the job on one side and remote open, read, write and close calls
on the other (wire notes, POSIX-like calls; stream_output and stream_input of a submit file).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Callable

from kettle.attributes.codes import HoldReasonCode
from kettle.errors import KettleError, RefusedError
from kettle.runtime import tasks
from kettle.starter import syscalls
from kettle.starter.launch import CannotLaunch, LaunchPlan
from kettle.starter.limits import Excess
from kettle.starter.services.shadow import ShadowLink
from kettle.wire.dialog import Dialog
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

# Limit: one remote read or write.
_PIECE = 64 * 1024
_NAMES = ("input", "output", "error")
_READ_FLAGS = syscalls.wire_flags(os.O_RDONLY)
_WRITE_FLAGS = syscalls.wire_flags(os.O_WRONLY | os.O_CREAT)
_NEW_FLAGS = syscalls.wire_flags(os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


class _Remote:
    """One streamed file at the shadow.

    A shadow that has come back knows nothing of it: it is opened once more, and what the one
    before may not have answered is done again at the same place.
    """

    def __init__(self, shadow: ShadowLink, number: int, path: str) -> None:
        self._shadow = shadow
        self.number = number
        self.path = path
        # Its number at the shadow.
        self._fd = -1
        # The shadow that has it open, by how often one had come back before.
        self._opened_by = -1
        self._offset = 0

    async def open(self) -> None:
        """Open it; CannotLaunch with code 9 or 10 where the shadow cannot."""
        try:
            await self._shadow.beside(self._open)
        except RefusedError as error:
            excess = self.explain("open", error)
            # Compat: the reference does not say why (test_a_stream_that_cannot_be_opened).
            what = f"unable to establish standard {_NAMES[self.number]} stream"
            raise CannotLaunch(f"{what}: {excess.message}", excess.code) from error

    async def read(self) -> bytes:
        """Return what comes next, empty at the end; RefusedError with the errno."""
        reply = await self._shadow.beside(lambda: self._ask(lambda: calls.Read(self._fd, _PIECE)))
        data: bytes = reply.result or b""
        self._offset += len(data)
        return data

    async def write(self, data: bytes) -> None:
        """Append all of it; RefusedError with the errno."""
        while data:
            piece = data
            reply = await self._shadow.beside(
                lambda: self._ask(lambda: calls.Write(self._fd, piece))  # noqa: B023
            )
            done = max(1, reply.value)
            self._offset += done
            data = data[done:]

    async def finish(self) -> None:
        """See that it is on disk, and close it; RefusedError with the errno."""
        if self.number != 0:
            try:
                await self._shadow.beside(lambda: self._ask(lambda: calls.Fsync(self._fd)))
            except RefusedError as error:
                # Devices and pipes have no disk.
                if error.code != errno.EINVAL:
                    raise
        with contextlib.suppress(KettleError):
            await self._shadow.call_once(lambda: syscalls.invoke(calls.Close(self._fd)))

    def explain(self, doing: str, error: RefusedError) -> Excess:
        """Return what holds a job whose stream fails."""
        code = (
            HoldReasonCode.UnableToOpenInputStream
            if self.number == 0
            else HoldReasonCode.UnableToOpenOutputStream
        )
        why = os.strerror(error.code)
        return Excess(f"cannot {doing} the stream {self.path}: {why}", code, error.code)

    def _ask(self, make: Callable[[], Call]) -> Dialog[Reply]:
        yield from self._open()
        reply = yield from syscalls.must(make())
        return reply

    def _open(self) -> Dialog[None]:
        returns = self._shadow.returns
        if self._opened_by == returns:
            return
        flags = _READ_FLAGS if self.number == 0 else _WRITE_FLAGS if self._offset else _NEW_FLAGS
        reply = yield from syscalls.must(calls.Open(flags, 0o644, self.path))
        if self._offset:
            yield from syscalls.must(calls.Lseek(reply.value, self._offset, os.SEEK_SET))
        self._fd, self._opened_by = reply.value, returns


class StreamedFiles:
    """The streams of one job; `on_failure` is told why one cannot go on."""

    def __init__(self, shadow: ShadowLink, on_failure: Callable[[Excess], None]) -> None:
        self._shadow = shadow
        self._on_failure = on_failure
        self._opened: dict[int, _Remote] = {}
        self._child_ends: list[int] = []
        self._tasks: list[asyncio.Task[object]] = []

    async def open_remote(self, plan: LaunchPlan) -> None:
        """Open what is streamed at the shadow, before anybody is told that the program begins.

        CannotLaunch with code 9 or 10 where the shadow cannot open its file.
        """
        for number, file in ((0, plan.stdin), (1, plan.stdout), (2, plan.stderr)):
            if file.stream:
                remote = _Remote(self._shadow, number, file.path)
                await remote.open()
                self._opened[number] = remote

    async def open(self, plan: LaunchPlan) -> dict[int, int]:
        """Open what is streamed, if it is not yet; return the job's descriptors by number.

        CannotLaunch as `open_remote`.
        """
        if not self._opened:
            await self.open_remote(plan)
        opened, self._opened = self._opened, {}
        return {number: self._start(remote) for number, remote in opened.items()}

    def _start(self, remote: _Remote) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        if remote.number == 0:
            self._child_ends.append(read_end)
            os.set_blocking(write_end, False)
            self._tasks.append(tasks.spawn(self._feed(remote, write_end), "standard input"))
            return read_end
        self._child_ends.append(write_end)
        os.set_blocking(read_end, False)
        self._tasks.append(tasks.spawn(self._drain(read_end, remote), f"stream {remote.number}"))
        return write_end

    def close_child_ends(self) -> None:
        """The job has its own copies now."""
        for descriptor in self._child_ends:
            os.close(descriptor)
        self._child_ends.clear()

    async def finish(self) -> None:
        """Wait until everything the job wrote has arrived; input that nobody reads is dropped."""
        for task in self._tasks:
            if task.get_name() == "standard input":
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _drain(self, descriptor: int, remote: _Remote) -> None:
        try:
            while data := await _read_when_ready(descriptor):
                await remote.write(data)
            await remote.finish()
        except RefusedError as error:
            # What the job writes is not thrown away behind its back.
            self._on_failure(remote.explain("write", error))
        finally:
            os.close(descriptor)

    async def _feed(self, remote: _Remote, descriptor: int) -> None:
        try:
            while data := await remote.read():
                await _write_when_ready(descriptor, data)
            await remote.finish()
        except RefusedError as error:
            self._on_failure(remote.explain("read", error))
        except BrokenPipeError:
            await remote.finish()
        finally:
            os.close(descriptor)


async def _read_when_ready(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    while True:
        try:
            return os.read(descriptor, _PIECE)
        except BlockingIOError:
            ready = loop.create_future()
            loop.add_reader(descriptor, _settle, ready)
            try:
                await ready
            finally:
                loop.remove_reader(descriptor)


async def _write_when_ready(descriptor: int, data: bytes) -> None:
    loop = asyncio.get_running_loop()
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            ready = loop.create_future()
            loop.add_writer(descriptor, _settle, ready)
            try:
                await ready
            finally:
                loop.remove_writer(descriptor)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
