"""A process that writes one owner's event logs where writing may hang, for a daemon that must not.

A thread beside the daemon's loop would not do: a daemon that works for many owners switches its
rights as a whole, and one thread that hangs in the kernel would stop that. Both ends are here: the
process (`main`, forked from the daemon's zygote) and what the daemon holds (`LogWriters`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.errors import KettleError, NotKnownNow, StorageError
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.event_logs import append_once

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.processes import Child

ENTRY = "kettle.runtime.storage.log_writer:main"
# How long a writer without work stays.
_IDLE_SECONDS = 60.0
# Lengths of path and data, whether they may be there already; then errno and length of what is said
# of it.
_REQUEST, _ANSWER = struct.Struct("<II?"), struct.Struct("<iI")


def main(arguments: bytes, descriptors: list[int]) -> int:
    """Append what the daemon sends as the account in `arguments`, until it hangs up."""
    account = Account.unpack(arguments)
    if account.uid != 0:
        Privileges(account, can_switch=os.getuid() == 0).become(account)
    with socket.socket(fileno=descriptors[0]) as line, line.makefile("rb") as requests:
        while len(head := requests.read(_REQUEST.size)) == _REQUEST.size:
            *sizes, unsure = _REQUEST.unpack(head)
            path, data = (requests.read(size) for size in sizes)
            number, said = 0, b""
            try:
                append_once(os.fsdecode(path), data, unsure=unsure)
            except StorageError as error:
                number, said = error.errno, error.message.encode("utf-8", "surrogateescape")
            line.sendall(_ANSWER.pack(number, len(said)) + said)
    return 0


@dataclass(eq=False)
class _Writer:
    """One owner's process; it does one thing at a time."""

    line: socket.socket
    child: Child
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    timer: asyncio.TimerHandle | None = None


class LogWriters:
    """The writers of a daemon, one for each owner who has logs where writing may hang."""

    def __init__(self, runtime: Runtime, account_of: Callable[[str], Account]) -> None:
        """`account_of` says as whom an owner's logs are written; NotFoundError if as nobody."""
        self._runtime = runtime
        self._account_of = account_of
        self._writers: dict[str, asyncio.Task[_Writer]] = {}

    async def append(self, owner: str, path: str, data: bytes, unsure: bool = False) -> None:
        """Have bytes appended with the owner's rights; StorageError. Waits as long as it takes.

        What is `unsure` is appended only where the log does not have it.
        """
        if owner not in self._writers:
            self._writers[owner] = asyncio.ensure_future(self._start(owner))
        starting = self._writers[owner]
        try:
            writer = await asyncio.shield(starting)
            async with writer.busy:
                await self._ask(owner, writer, os.fsencode(path), data, unsure=unsure)
        except (KettleError, OSError) as error:
            if isinstance(error, StorageError):
                raise
            self._forget(owner, starting)
            # Whose it is may be known later.
            number = errno.EAGAIN if isinstance(error, NotKnownNow) else 0
            text = f"cannot write the event log {path}: {error}"
            raise StorageError(text, errno=number) from error

    async def _start(self, owner: str) -> _Writer:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            child = await self._runtime.processes.zygote.fork(
                ENTRY,
                self._account_of(owner).pack(),
                fds=(theirs.fileno(),),
                title=f"condor_log_writer: logs of {owner}",
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return _Writer(ours, child)

    async def _ask(
        self, owner: str, writer: _Writer, path: bytes, data: bytes, *, unsure: bool
    ) -> None:
        loop = asyncio.get_running_loop()
        if writer.timer is not None:
            writer.timer.cancel()
        head = _REQUEST.pack(len(path), len(data), unsure)
        await loop.sock_sendall(writer.line, head + path + data)
        head = await _receive(writer.line, _ANSWER.size)
        number, size = _ANSWER.unpack(head)
        said = await _receive(writer.line, size)
        writer.timer = loop.call_later(_IDLE_SECONDS, self._forget, owner, self._writers[owner])
        if number:
            raise StorageError(said.decode("utf-8", "surrogateescape"), errno=number)

    def _forget(self, owner: str, starting: asyncio.Task[_Writer]) -> None:
        """Let a writer end, which has no work or is dead."""
        if self._writers.get(owner) is starting:
            del self._writers[owner]
        if starting.done() and not starting.cancelled() and starting.exception() is None:
            starting.result().line.close()

    def stop(self) -> None:
        """End every writer, one that hangs as well."""
        for starting in self._writers.values():
            if starting.done() and not starting.cancelled() and starting.exception() is None:
                writer = starting.result()
                if writer.timer is not None:
                    writer.timer.cancel()
                with contextlib.suppress(OSError):
                    writer.child.signal(9)
                writer.line.close()
        self._writers.clear()


async def _receive(line: socket.socket, size: int) -> bytes:
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < size:
        piece = await loop.sock_recv(line, size - len(data))
        if not piece:
            raise OSError("the process that writes it has died")
        data += piece
    return data
