"""Standard files that are streamed: bytes between the job and files at the shadow, as they come.

Each streamed file is a pipe to the job on one side and remote open, read, write and close calls
on the other (wire notes, POSIX-like calls; stream_output and stream_input of a submit file).
"""

from __future__ import annotations

import asyncio
import os

from kettle.attributes.codes import HoldReasonCode
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.starter import syscalls
from kettle.starter.launch import CannotLaunch, LaunchPlan, StandardFile
from kettle.starter.services.shadow import ShadowLink
from kettle.wire.messages import syscalls as calls

# Limit: one remote read or write.
_PIECE = 64 * 1024
_WRITE_FLAGS = syscalls.wire_flags(os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


class StreamedFiles:
    """The streams of one job."""

    def __init__(self, shadow: ShadowLink) -> None:
        self._shadow = shadow
        self._child_ends: list[int] = []
        self._tasks: list[asyncio.Task[object]] = []

    async def open(self, plan: LaunchPlan) -> dict[int, int]:
        """Open what is streamed; return the job's descriptors by number.

        CannotLaunch with code 9 or 10 where the shadow cannot open its file.
        """
        made: dict[int, int] = {}
        for number, file in ((0, plan.stdin), (1, plan.stdout), (2, plan.stderr)):
            if not file.stream:
                continue
            flags = os.O_RDONLY if number == 0 else _WRITE_FLAGS
            reply = await self._shadow.call(
                lambda flags=flags, file=file: syscalls.invoke(  # type: ignore[misc]
                    calls.Open(flags, 0o644, file.path)
                )
            )
            if reply.value < 0:
                raise self._refused(number, file, reply.errno)
            made[number] = self._start(number, reply.value)
        return made

    def _refused(self, number: int, file: StandardFile, errno: int) -> CannotLaunch:
        code = (
            HoldReasonCode.UnableToOpenInputStream
            if number == 0
            else HoldReasonCode.UnableToOpenOutputStream
        )
        return CannotLaunch(
            f"cannot open the stream {file.path}: {os.strerror(errno)}", code, errno
        )

    def _start(self, number: int, remote: int) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        if number == 0:
            self._child_ends.append(read_end)
            os.set_blocking(write_end, False)
            self._tasks.append(tasks.spawn(self._feed(remote, write_end), "standard input"))
            return read_end
        self._child_ends.append(write_end)
        os.set_blocking(read_end, False)
        self._tasks.append(tasks.spawn(self._drain(read_end, remote), f"stream {number}"))
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

    async def _drain(self, descriptor: int, remote: int) -> None:
        try:
            while data := await _read_when_ready(descriptor):
                while data:
                    piece = data
                    reply = await self._shadow.call(
                        lambda piece=piece: syscalls.must(  # type: ignore[misc]
                            calls.Write(remote, piece)
                        )
                    )
                    data = data[max(1, reply.value) :]
        finally:
            os.close(descriptor)
        await self._close(remote)

    async def _feed(self, remote: int, descriptor: int) -> None:
        try:
            while True:
                reply = await self._shadow.call(lambda: syscalls.must(calls.Read(remote, _PIECE)))
                if not reply.result:
                    break
                await _write_when_ready(descriptor, reply.result)
        except BrokenPipeError:
            pass
        finally:
            os.close(descriptor)
        await self._close(remote)

    async def _close(self, remote: int) -> None:
        try:
            await self._shadow.call(lambda: syscalls.invoke(calls.Close(remote)))
        except KettleError:
            return


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
