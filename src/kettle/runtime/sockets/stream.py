"""Messages over one connection: the asyncio driver of `wire.channel` and `wire.dialog`.

A `Stream` is what a command handler is given and what `Network.connect` returns. It knows who
the peer is and how long to wait for it; it decides nothing about commands (`network.py`) or about
keys (`wire.security`). The blocking twin is `kettle.client.stream`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import secrets
import socket
from typing import TYPE_CHECKING, Any, TypeVar

from kettle.errors import ConnectionLost, LocalProtocolError
from kettle.runtime.sockets.transport import SocketTransport, Transport, adopt_descriptor
from kettle.wire import dialog as steps
from kettle.wire.channel import MAXIMUM_MESSAGE, Channel
from kettle.wire.codec import Reader, Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.wire.dialog import Dialog, Message
    from kettle.wire.security.session import Peer

T = TypeVar("T")

# How long a peer may be silent in the middle of a conversation (wire notes, Timeouts).
DEFAULT_TIMEOUT = 20.0
# Bytes of a dialog's messages that leave the process in one call.
_TOGETHER = 128 * 1024


class Stream:
    """One connection that carries messages.

    `timeout` is how many seconds a receive waits when its caller names no other; None waits for
    ever. `command` is the number that opened it. `peer` is None only before the handshake.
    """

    def __init__(
        self, transport: Transport, channel: Channel | None = None, *, peer: Peer | None = None
    ) -> None:
        self._transport = transport
        self._channel = channel or Channel(secrets.token_bytes)
        self._pending: Reader | None = None
        self._peer = peer
        self._prefix: int | None = None
        self._held: list[bytes] = []
        # Told how many bytes are kept whenever some have come, while the peer is a stranger.
        self.on_bytes: Callable[[int], None] | None = None
        self.command = 0
        self.timeout: float | None = DEFAULT_TIMEOUT
        self.session_id = ""
        self.kept = False
        self.closed = False

    @property
    def peer(self) -> Peer:
        """Who is at the other end, as the handshake found out."""
        if self._peer is None:
            raise LocalProtocolError("nobody has asked yet who is at the other end")
        return self._peer

    def accept(self, command: int, peer: Peer, maximum: int = MAXIMUM_MESSAGE) -> None:
        """Note what the handshake found: which command is run, for whom.

        `maximum` is how many bytes a message of this peer may have.
        """
        self.command = command
        self.on_bytes = None
        self._peer = peer
        self.session_id = peer.session_id
        self._channel.maximum_message = maximum

    def begin_bare(self, command: int) -> None:
        """Send `command` without negotiation: it goes at the head of the first message."""
        self._prefix = command

    @property
    def encrypted(self) -> bool:
        """Whether the session key is in use."""
        return self._channel.encrypted

    @property
    def remote_name(self) -> str:
        """The other end as `host:port`."""
        return self._transport.remote_name

    @property
    def local_name(self) -> str:
        """Our end as `host:port`."""
        return self._transport.local_name

    @property
    def congested(self) -> bool:
        """Whether so much is unsent that who posts without waiting had better wait."""
        return self._transport.congested

    def writer(self) -> Writer:
        """Return a writer for the next message."""
        writer = self._channel.writer()
        if self._prefix is not None:
            writer.integer(self._prefix)
            self._prefix = None
        return writer

    def _send_prefix(self) -> None:
        """Send a bare command that has no arguments."""
        if self._prefix is not None:
            self._write(self._channel.encode(self.writer()))

    def _write(self, data: bytes) -> None:
        """Send bytes after what was held back."""
        if self._held:
            data = b"".join((*self._held, data))
            self._held.clear()
        self._transport.write(data)

    def hold(self, message: Writer | Message) -> None:
        """Send one message with the next that is sent, or when this end waits for something.

        For answers to requests that came in one piece: they leave in one piece.
        """
        self._held.append(self._encode(message))

    async def send(self, message: Writer | Message) -> None:
        """Send one message: a filled writer, or anything that writes itself."""
        self._write(self._encode(message))
        await self._transport.drain(self.timeout)

    def post(self, message: Writer | Message) -> None:
        """Send one message without waiting for a slow peer; for small ones, from callbacks."""
        self._write(self._encode(message))

    def post_part(self, body: bytes, *, last: bool) -> None:
        """Send a part of a message, composed for this stream's encryption, without waiting."""
        self._write(self._channel.encode_part(body, last=last))

    async def drain(self) -> None:
        """Wait while a slow peer leaves too much unsent."""
        if self._held:
            self._write(b"")
        await self._transport.drain(self.timeout)

    async def flush(self) -> None:
        """Wait until everything has been given to the kernel."""
        if self._held:
            self._write(b"")
        await self._transport.flush(self.timeout)

    def _encode(self, message: Writer | Message) -> bytes:
        if isinstance(message, Writer):
            return self._channel.encode(message)
        writer = self.writer()
        message.write(writer)
        return self._channel.encode(writer)

    async def receive(self, timeout: float | None = None) -> Reader:  # noqa: ASYNC109
        """Return the next message; ConnectionLost at the end of the connection or too late.

        For a bare command the rest of its first message is the first one received. `timeout`
        None means the stream's own; the wait is for each arrival of bytes, not for the whole.
        """
        if self._pending is not None:
            reader, self._pending = self._pending, None
            return reader
        self._send_prefix()
        while (message := self._channel.next_message()) is None:
            await self._read_more(timeout)
        return message

    async def _read_more(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Take the next bytes of the connection, after sending what was held back."""
        if self._held:
            self._write(b"")
            await self._transport.drain(self.timeout)
        wait = self.timeout if timeout is None else timeout
        self._channel.receive(await self._transport.read(wait))
        if self.on_bytes is not None:
            self.on_bytes(self._channel.unread)

    async def receive_or_begin(self, is_long: Callable[[bytes], bool]) -> Reader | None:
        """Return the next message; None where one has begun that is to be taken part by part.

        `is_long` sees the first bytes of a message that has not come whole. `receive_part` takes
        its parts then.
        """
        if self._pending is not None:
            return await self.receive()
        self._send_prefix()
        while (message := self._channel.next_message()) is None:
            if is_long(self._channel.begun):
                return None
            await self._read_more()
        return message

    async def receive_part(self) -> tuple[bytes, bool]:
        """Return the next part of the message that has begun, and whether it is the last one."""
        while (part := self._channel.next_part()) is None:
            await self._read_more()
        return part

    async def receive_forever(self) -> Reader:
        """Return the next message whenever it comes."""
        timeout, self.timeout = self.timeout, None
        try:
            return await self.receive()
        finally:
            self.timeout = timeout

    def interrupt(self) -> bool:
        """End a `receive_forever` that has nothing to read yet: it raises WaitInterrupted.

        The connection stays as it is. False if nobody waits in vain.
        """
        return self._transport.interrupt()

    def push_back(self, reader: Reader) -> None:
        """Make `reader` the next thing received: the rest of a message that began a command."""
        assert self._pending is None
        self._pending = reader

    def at_end(self) -> bool:
        """Whether the peer has closed an idle connection, as far as the kernel knows now."""
        return self._transport.at_end()

    async def wait_for_end(self) -> None:
        """Return when an idle connection is over; nothing that the peer says is kept."""
        with contextlib.suppress(ConnectionLost):
            while True:
                await self._transport.read(None)

    async def send_raw(self, data: bytes) -> None:
        """Send bytes outside any packet."""
        if self.encrypted:
            raise LocalProtocolError("raw bytes on an encrypted connection")
        self._write(data)
        await self._transport.drain(self.timeout)

    async def receive_raw(self, limit: int) -> bytes:
        """Return at least one and at most `limit` bytes that stand outside any packet."""
        while True:
            data = self._channel.take_raw(limit)
            if data:
                return data
            self._channel.receive(await self._transport.read(self.timeout))

    def start_encryption(self, key: bytes) -> None:
        """Use a session key from here on, in both directions."""
        self._channel.start_encryption(key)

    def reset_digests(self) -> None:
        """Forget the clear bytes so far, after a word that was for somebody in between."""
        self._channel.reset_digests()

    async def run(self, dialog: Dialog[T]) -> T:
        """Drive a dialog to its result, performing each step; its exceptions come out here.

        Messages sent in a row leave together, before the next step that is none.
        """
        answer: Any = None
        failure: BaseException | None = None
        packets: list[bytes] = []
        unsent = 0
        while True:
            try:
                step = dialog.throw(failure) if failure is not None else dialog.send(answer)
            except StopIteration as end:
                await self._flush(packets)
                result: T = end.value
                return result
            except BaseException:
                # What the dialog said before it gave up is said: a refusal names its reason.
                with contextlib.suppress(ConnectionLost):
                    await self._flush(packets)
                raise
            answer, failure = None, None
            try:
                if isinstance(step, steps.Send) and unsent < _TOGETHER:
                    packets.append(self._encode(step.message))
                    unsent += len(packets[-1])
                    continue
                await self._flush(packets)
                unsent = 0
                answer = await self._perform(step)
            except asyncio.CancelledError:
                dialog.close()
                raise
            except Exception as error:  # noqa: BLE001 - the dialog decides what it means
                failure = error

    async def _flush(self, packets: list[bytes]) -> None:
        if packets:
            self._write(packets[0] if len(packets) == 1 else b"".join(packets))
            packets.clear()
            await self._transport.drain(self.timeout)

    async def _perform(self, step: steps.Step) -> Any:
        if isinstance(step, steps.Send):
            return await self.send(step.message)
        if isinstance(step, steps.Receive):
            return await self.receive(step.timeout)
        if isinstance(step, steps.SendRaw):
            return await self.send_raw(step.data)
        if isinstance(step, steps.ReceiveRaw):
            return await self.receive_raw(step.limit)
        if isinstance(step, steps.Do):
            result = step.action()
            return await result if inspect.isawaitable(result) else result
        if isinstance(step, steps.StartEncryption):
            return self.start_encryption(step.key)
        if isinstance(step, steps.IsEncrypted):
            return self.encrypted
        return self.reset_digests()

    def keep(self) -> None:
        """Go on living after the command's handler has returned; somebody else closes it."""
        self.kept = True

    def close(self) -> None:
        """End the connection; what was sent before is still delivered."""
        if self.closed:
            return
        with contextlib.suppress(ConnectionLost):
            self._send_prefix()
            if self._held:
                self._write(b"")
        self.closed = True
        self._transport.close()

    async def detach(self) -> tuple[int, bytes]:
        """Give the connection away: its descriptor and the state another process needs.

        What was sent is flushed first. The state holds the key; the stream is of no more use.
        """
        await self.flush()
        if self._pending is not None:
            raise LocalProtocolError("a message is half read: it cannot be handed over")
        state = self._channel.export()
        fd = self._transport.release()
        self.closed = True
        self.kept = True
        return fd, state

    @property
    def remote_host(self) -> str:
        """The IP address at the other end; empty for a connection that cannot leave the machine."""
        name = self._transport.remote_name
        return "" if name == "local" else name.rpartition(":")[0].strip("[]") or name

    def give_up(self) -> tuple[int, Channel]:
        """Give the flushed connection away within this process's own forks.

        Returns the descriptor, which the caller owns, and the state, of which only one process may
        go on making use. What the peer has said and nobody has read is lost.
        """
        fd = self._transport.release()
        self.closed = True
        self.kept = True
        return fd, self._channel

    @classmethod
    def attach(cls, fd: int, state: bytes, *, peer: Peer | None = None) -> Stream:
        """Take over a connection that another process detached."""
        return cls(adopt_descriptor(fd), Channel.restore(state, secrets.token_bytes), peer=peer)

    @classmethod
    def over(cls, fd: int) -> Stream:
        """Carry messages over a socket inherited from a process of ours: no key, no timeout."""
        return cls._private(adopt_descriptor(fd))

    @classmethod
    def _private(cls, transport: Transport) -> Stream:
        stream = cls(transport)
        stream._channel.forgo_encryption()
        stream.timeout = None
        return stream

    @classmethod
    def pair(cls) -> tuple[Stream, int]:
        """Make a private connection for a child: our end, and the descriptor to pass on."""
        ours, theirs = socket.socketpair()
        return cls._private(SocketTransport(ours)), theirs.detach()
