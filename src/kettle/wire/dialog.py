"""Protocols of several messages, written as generators that say what should be done next.

A dialog yields steps and receives their results, so it reads from top to bottom, and touches no
socket, file or clock. Two drivers perform the steps: `runtime.sockets.stream` with asyncio in
daemons, `client.stream` with blocking calls in tools; tests run two dialogs against each other in
memory.

    def ask(question: ClassAd) -> Dialog[int]:
        yield Send(Words(516, question))
        reply = yield Receive()
        return reply.integer()

An exception that a step meets (the peer is gone, an `Do` action failed) is raised at the `yield`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeAlias, TypeVar

from kettle.classad import ClassAd
from kettle.named_tuples import NamedTuple
from kettle.wire.codec import Writer

T = TypeVar("T")


class Message(Protocol):
    """Anything that can write itself as the body of one message."""

    def write(self, writer: Writer) -> object:
        """Append the message's fields."""


class Send(NamedTuple):
    """Send one message; the step's result is None."""

    message: Message


class Receive(NamedTuple):
    """Wait for one message; the result is its Reader.

    `timeout` is in seconds; None leaves the connection's own. Too late is ConnectionLost.
    """

    timeout: float | None = None


class SendRaw(NamedTuple):
    """Send bytes outside any packet: a piece of a file on an unencrypted connection."""

    data: bytes


class ReceiveRaw(NamedTuple):
    """Receive bytes outside any packet: at least one and at most `limit`; the result is bytes."""

    limit: int


class StartEncryption(NamedTuple):
    """Install a session key on the connection, for both directions; the result is None."""

    key: bytes


class ResetDigests:
    """Forget the clear bytes so far (after a shared-port or reversed-connection word)."""

    __slots__ = ()


class IsEncrypted:
    """Ask whether encryption is on; the result is a bool."""

    __slots__ = ()


class Do(NamedTuple):
    """Have the shell call `action`; the result is what it returns.

    Actions touch files and the like; they are quick. `blocking` ones may take noticeable time, and
    an asynchronous shell may run them aside.
    """

    action: Callable[[], Any]
    blocking: bool = False


Step: TypeAlias = (
    Send | Receive | SendRaw | ReceiveRaw | StartEncryption | ResetDigests | IsEncrypted | Do
)
Dialog: TypeAlias = Generator[Step, Any, T]


class Words:
    """A message given by its values in order.

    int → integer, str or None → string, bytes → raw bytes, float → real, ClassAd → ad without
    private attributes. Anything else belongs in a message class with named fields.
    """

    __slots__ = ("values",)

    def __init__(self, *values: int | str | bytes | float | ClassAd | None) -> None:
        self.values = values

    def write(self, writer: Writer) -> None:
        """Append the values."""
        for value in self.values:
            if value is None or isinstance(value, str):
                writer.string(value)
            elif isinstance(value, int):
                writer.integer(int(value))
            elif isinstance(value, bytes):
                writer.raw(value)
            elif isinstance(value, float):
                writer.real(value)
            else:
                writer.ad(value)
