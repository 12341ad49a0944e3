"""Messages over one connection, blocking: the tools' driver of `wire.channel` and `wire.dialog`.

The twin of `runtime.sockets.stream`; both drive the same machines. A connection is made by
`client.connector`.
"""

from __future__ import annotations

import contextlib
import os
import socket
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kettle.errors import ConnectionLost, LocalProtocolError
from kettle.wire import dialog as steps
from kettle.wire.channel import Channel
from kettle.wire.codec import Reader, Writer
from kettle.wire.sinful import Endpoint

# macOS has no such flag.
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kettle.wire.dialog import Dialog, Message
    from kettle.wire.security.session import Session

T = TypeVar("T")

RECEIVED_AT_ONCE = 1 << 18
# What is posted waits until so many bytes have come together, or until something is received.
POSTED_BYTES = 1 << 16


class BlockingStream:
    """One connection that carries messages; `timeout` in seconds bounds each wait for the peer.

    Errors of the connection are ConnectionLost, of what the peer says RemoteProtocolError. A
    context manager that closes.
    """

    def __init__(
        self, sock: socket.socket, *, remote_name: str = "", timeout: float = 20.0
    ) -> None:
        self._socket = sock
        self._channel = Channel(os.urandom)
        self._outgoing = bytearray()
        self._bare: int | None = None
        self.remote_name = remote_name
        self.timeout = timeout
        self.session: Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def encrypted(self) -> bool:
        """Whether the session key is in use."""
        return self._channel.encrypted

    @property
    def user(self) -> str:
        """Who the daemon says we are; empty where nothing was negotiated."""
        return self.session.user if self.session is not None else ""

    @property
    def local_host(self) -> str:
        """Our address on this connection: that by which the peer's network reaches us."""
        return str(self._socket.getsockname()[0]).partition("%")[0]

    @property
    def remote_end(self) -> str:
        """The peer's end of this connection, `ip:port`; empty once it is gone."""
        try:
            host, port = self._socket.getpeername()[:2]
        except OSError:
            return ""
        return str(Endpoint(str(host).partition("%")[0], port))

    def begin_bare(self, command: int) -> None:
        """Put the command's number in front of the next message: nothing was negotiated."""
        self._bare = command

    def writer(self) -> Writer:
        """Return a writer for the next message."""
        writer = self._channel.writer()
        if self._bare is not None:
            writer.integer(self._bare)
            self._bare = None
        return writer

    def send(self, message: Writer | Message) -> None:
        """Send one message now, after what was posted."""
        self.post(message)
        self.flush()

    def post(self, message: Writer | Message) -> None:
        """Compose one message; it is sent with later ones, before anything is received."""
        if not isinstance(message, Writer):
            writer = self.writer()
            message.write(writer)
            message = writer
        self._outgoing += self._channel.encode(message)
        if len(self._outgoing) >= POSTED_BYTES:
            self.flush()

    def post_part(self, part: bytes, *, last: bool) -> None:
        """Send, with what follows, a part of a message's body; `last` ends the message."""
        self._outgoing += self._channel.encode_part(part, last=last)
        if len(self._outgoing) >= POSTED_BYTES:
            self.flush()

    def post_body(self, body: bytes) -> None:
        """Send, with later ones, a message whose body was composed for this stream's state."""
        self._outgoing += self._channel.encode_body(body)
        if len(self._outgoing) >= POSTED_BYTES:
            self.flush()

    def post_bodies(self, bodies: Sequence[bytes]) -> None:
        """Send, with later ones, messages as `post_body` one after the other would."""
        self._outgoing += self._channel.encode_bodies(bodies)
        if len(self._outgoing) >= POSTED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send what was posted."""
        if not self._outgoing:
            return
        try:
            self._socket.settimeout(self.timeout)
            # Whoever reads a tool's output no more may end it (SIGPIPE), a peer that went may not.
            self._socket.sendall(self._outgoing, _NO_SIGNAL)
        except OSError as error:
            raise self._lost(error) from None
        self._outgoing.clear()

    def finish_bare(self) -> None:
        """Send a bare command that has no arguments of its own."""
        if self._bare is not None:
            self.send(steps.Words())

    def receive(self, timeout: float | None = None) -> Reader:
        """Return the next message."""
        self.flush()
        while True:
            message = self._channel.next_message()
            if message is not None:
                return message
            self._channel.receive(self._read(timeout))

    def receive_bodies(self) -> list[bytes]:
        """Return the bodies of the next messages, as many as have come: at least one."""
        self.flush()
        while True:
            bodies = self._channel.next_bodies()
            if bodies:
                return bodies
            self._channel.receive(self._read())

    def _read(self, timeout: float | None = None) -> bytes:
        try:
            self._socket.settimeout(self.timeout if timeout is None else timeout)
            data = self._socket.recv(RECEIVED_AT_ONCE)
        except OSError as error:
            raise self._lost(error) from None
        if not data:
            raise ConnectionLost(f"{self.remote_name} closed the connection")
        return data

    def _lost(self, error: OSError) -> ConnectionLost:
        if isinstance(error, TimeoutError):
            return ConnectionLost(f"{self.remote_name} did not answer in time")
        return ConnectionLost(f"the connection to {self.remote_name} broke: {error.strerror}")

    def send_raw(self, data: bytes) -> None:
        """Send bytes outside any packet."""
        if self.encrypted:
            raise LocalProtocolError("raw bytes on an encrypted connection")
        self._outgoing += data
        if len(self._outgoing) >= POSTED_BYTES:
            self.flush()

    def receive_raw(self, limit: int) -> bytes:
        """Return at least one and at most `limit` bytes that stand outside any packet."""
        self.flush()
        while True:
            data = self._channel.take_raw(limit)
            if data:
                return data
            self._channel.receive(self._read())

    def reset_digests(self) -> None:
        """Forget the clear bytes so far, after a word that was for somebody in between."""
        self._channel.reset_digests()

    def run(self, dialog: Dialog[T]) -> T:
        """Drive a dialog to its result, performing each step; its exceptions come out here."""
        answer: Any = None
        failure: Exception | None = None
        while True:
            try:
                step = dialog.throw(failure) if failure is not None else dialog.send(answer)
            except StopIteration as end:
                self.flush()
                result: T = end.value
                return result
            except Exception:
                # Its last words often say why to the peer.
                with contextlib.suppress(ConnectionLost):
                    self.flush()
                raise
            answer, failure = None, None
            try:
                answer = self._perform(step)
            except Exception as error:  # noqa: BLE001 - the dialog decides what it means
                failure = error

    def _perform(self, step: steps.Step) -> Any:
        match step:
            case steps.Send():
                return self.post(step.message)
            case steps.Receive():
                return self.receive(step.timeout)
            case steps.SendRaw():
                return self.send_raw(step.data)
            case steps.ReceiveRaw():
                return self.receive_raw(step.limit)
            case steps.Do():
                return step.action()
            case steps.StartEncryption():
                return self._channel.start_encryption(step.key)
            case steps.IsEncrypted():
                return self.encrypted
            case _:
                return self.reset_digests()

    def take_rest(self) -> bytes:
        """Return what has come after the last message, for somebody who goes on with the socket."""
        return self._channel.take_rest()

    def fileno(self) -> int:
        """Return the socket's descriptor, for waiting on it."""
        return self._socket.fileno()

    def close(self) -> None:
        """End the connection; what was posted and not sent is dropped."""
        self._socket.close()
