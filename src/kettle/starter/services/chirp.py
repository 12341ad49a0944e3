"""The chirp server: what a running job may ask of its access point, on the loopback interface.

A cookie in a file that only the job's account can read opens a connection. The words are
`chirp.py`; file requests become remote calls to the shadow.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import string
from typing import TypeVar

from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import ConnectionLost, KettleError, RemoteProtocolError
from kettle.octets import to_bytes
from kettle.policy.attribute_protection import may_set_delayed
from kettle.runtime import tasks
from kettle.runtime.sockets.loopback import uid_of_peer
from kettle.starter import chirp, syscalls
from kettle.starter.services.chirp_door import ChirpDoor
from kettle.starter.services.parts import Starter
from kettle.starter.services.sandbox import SmallFile
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

T = TypeVar("T")

# What needs no call, or a call without a reply.
_OWN = frozenset({"set_job_attr_delayed", "get_job_attr_delayed", "ulog", "phase", "version"})

# 31 of 16 letters are 124 bits.
_COOKIE_LETTERS = 31
# Each byte as one of 16 letters.
_AS_LETTERS = string.ascii_lowercase[:16].encode("ascii") * 16
# Limit: connections of one job at a time, how many of them may not have shown the cookie yet, and
# how long they may take for it.
_MOST_CONNECTIONS = 100
_MOST_STRANGERS = 8
_COOKIE_SECONDS = 10.0


def _make_cookie() -> str:
    """Return letters that nobody can guess."""
    return secrets.token_bytes(_COOKIE_LETTERS).translate(_AS_LETTERS).decode("ascii")


class ChirpServer:
    """Answers one job, and nobody else."""

    def __init__(self, starter: Starter, door: ChirpDoor) -> None:
        self._starter = starter
        self._door = door
        self._cookie = _make_cookie()
        self._open = 0
        self._strangers = 0
        settings, job = starter.settings, starter.job
        wanted = job.boolean("WantIOProxy") is True
        self._rights = chirp.Rights(
            files=settings.chirp_io and wanted,
            updates=settings.chirp_updates and (wanted or job.boolean("WantRemoteUpdates") is True),
            delayed=settings.chirp_delayed and job.boolean("WantDelayedUpdates") is not False,
        )

    def start(self) -> list[SmallFile]:
        """Listen; return the file that tells the job where, if it is to know."""
        if not self._starter.settings.enable_chirp:
            return []
        host, port = self._door.open(self._let_in)
        text = f"{host} {port} {self._cookie}\n"
        return [SmallFile(self._starter.sandbox.chirp_config, text, 0o700)]

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.shut()

    def _let_in(self, connection: socket.socket) -> None:
        full = self._open >= _MOST_CONNECTIONS or self._strangers >= _MOST_STRANGERS
        # Any account of the machine can connect; the job's own shall not have to wait for that.
        if full or uid_of_peer(connection) not in {None, 0, self._starter.keeper.account.uid}:
            connection.close()
            return
        tasks.spawn(self._serve(connection), "chirp")

    async def _serve(self, connection: socket.socket) -> None:
        self._open += 1
        reader, writer = await asyncio.open_connection(sock=connection, limit=chirp.LONGEST_LINE)
        try:
            if await self._admit(reader, writer):
                while line := await reader.readline():
                    await self._answer(line.decode("utf-8", "surrogateescape"), reader, writer)
                    await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, KettleError) as error:
            self._starter.log(f"chirp: {error}")
        finally:
            self._open -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Wait for the cookie, but not for long."""
        self._strangers += 1
        try:
            async with asyncio.timeout(_COOKIE_SECONDS):
                return await self._authenticate(reader, writer)
        finally:
            self._strangers -= 1

    async def _authenticate(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        words = chirp.split_line((await reader.readline()).decode("utf-8", "replace"))
        good = (
            len(words) == 2
            and words[0] == "cookie"
            and secrets.compare_digest(to_bytes(words[1]), to_bytes(self._cookie))
        )
        writer.write(b"0\n" if good else b"%d\n" % chirp.ChirpError.NOT_AUTHENTICATED)
        await writer.drain()
        return good

    async def _answer(
        self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        words = chirp.split_line(line)
        if not words:
            return
        command, arguments = words[0], words[1:]
        data = b""
        request = chirp.REQUESTS.get(command)
        if request is not None and request.data >= 0 and len(arguments) > request.data:
            data = await reader.readexactly(_size(arguments[request.data]))
        if not self._rights.allow(command):
            writer.write(b"%d\n" % chirp.ChirpError.NOT_AUTHORIZED)
        elif command == "putfile":
            await self._put_file(arguments, reader, writer)
        elif command in _OWN:
            await self._own(command, arguments, writer)
        elif request is None or len(arguments) < request.arguments:
            writer.write(b"%d\n" % chirp.ChirpError.INVALID_REQUEST)
        else:
            # What a text holds may have blanks; the last argument takes all that is left.
            arguments[request.arguments - 1 :] = [" ".join(arguments[request.arguments - 1 :])]
            try:
                call = request.make(arguments, data)
            except RemoteProtocolError:
                writer.write(b"%d\n" % chirp.ChirpError.INVALID_REQUEST)
                return
            reply = await self._call(call)
            self._render(reply, request.answer, writer)
            if command == "open" and reply.value >= 0:
                # Who has opened a file is told at once what it is.
                facts = await self._call(calls.Fstat(reply.value))
                writer.write(_line_of(facts))

    async def _call(self, call: Call) -> Reply:
        return await self._starter.call(lambda: syscalls.invoke(call))

    def _render(self, reply: Reply, answer: str, writer: asyncio.StreamWriter) -> None:
        if reply.value < 0:
            writer.write(b"%d\n" % chirp.error_for(reply.errno))
        elif answer == chirp.Answer.NUMBER:
            writer.write(b"%d\n" % reply.value)
        elif answer == chirp.Answer.DATA:
            writer.write(b"%d\n" % len(reply.result) + reply.result)
        elif answer == chirp.Answer.TEXT:
            text = str(reply.result).encode("utf-8", "surrogateescape")
            writer.write(b"%d\n" % len(text) + text)
        else:
            writer.write(b"%d\n" % reply.value + _line_of(reply))

    async def _put_file(
        self, words: list[str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Write a whole file: open, write, close."""
        if len(words) < 3:
            writer.write(b"%d\n" % chirp.ChirpError.INVALID_REQUEST)
            return
        size = _size(words[2])
        flags = syscalls.wire_flags(chirp.open_flags("wct"))
        opened = await self._call(calls.Open(flags, int(words[1]), words[0]))
        if opened.value < 0:
            # The bytes do not come.
            writer.write(b"%d\n" % chirp.error_for(opened.errno))
            return
        writer.write(b"0\n")
        await writer.drain()
        if size:
            written = await self._call(calls.Write(opened.value, await reader.readexactly(size)))
            result = written.value if written.value >= 0 else chirp.error_for(written.errno)
            # What is not asked for is not answered: an empty file has one reply.
            writer.write(b"%d\n" % result)
        await self._call(calls.Close(opened.value))

    async def _own(self, command: str, words: list[str], writer: asyncio.StreamWriter) -> None:
        """Answer what needs no call, or a call without a reply."""
        starter = self._starter
        if command == "ulog":
            event = ClassAd({"MyType": "GenericEvent", "EventTypeNumber": 8})
            event["Info"] = " ".join(words)
            with contextlib.suppress(ConnectionLost):
                await self._call(calls.UserLog(event))
            writer.write(b"0\n")
        elif command == "version":
            writer.write(b"%d\n" % chirp.VERSION)
        elif command == "phase" and words:
            code = self._set_delayed("ChirpPhase", quote_line(" ".join(words)), own=True)
            writer.write(b"%d\n" % code)
        elif command == "get_job_attr_delayed" and words:
            data = to_bytes(chirp.visible_text(words[0], starter.delayed, starter.job))
            writer.write(b"%d\n" % len(data) + data)
        elif command == "set_job_attr_delayed" and len(words) >= 2:
            writer.write(b"%d\n" % self._set_delayed(words[0], " ".join(words[1:])))
        else:
            writer.write(b"%d\n" % chirp.ChirpError.INVALID_REQUEST)

    def _set_delayed(self, name: str, text: str, *, own: bool = False) -> int:
        """Keep an attribute for the next report; `own` is one that the starter chose."""
        starter = self._starter
        if not own and not may_set_delayed(name, starter.settings.chirp_prefix):
            return chirp.ChirpError.NOT_AUTHORIZED
        room = starter.settings.chirp_max_attributes - len(starter.delayed)
        refusal = chirp.judge_delayed(name, text, starter.delayed, room)
        if not refusal:
            starter.delayed[name] = text
        return refusal


def _line_of(reply: Reply) -> bytes:
    """Return the line of a reply; an empty one where it has none."""
    text = str(reply.result).strip() if reply.value >= 0 else ""
    return to_bytes(text + "\n")


def _size(text: str) -> int:
    if not text.isdecimal() or len(text) > 18 or int(text) > chirp.LARGEST_DATA:
        raise RemoteProtocolError(f"{text!r} bytes of data cannot be taken")
    return int(text)
