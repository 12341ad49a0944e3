"""What becomes of one request of queue management: the reply, the wait for the disk, the end."""

from __future__ import annotations

from dataclasses import dataclass

from kettle.wire.dialog import Message
from kettle.wire.messages.rpc import Reply, Shape


@dataclass(slots=True)
class Answer:
    """What becomes of a request.

    `reply` is the message to send (None: nothing). `durable` means it waits until the journal is on
    disk. `close` ends the connection after it.
    """

    reply: Message | None = None
    durable: bool = False
    close: bool = False


SILENCE = Answer()
CLOSE = Answer(close=True)


def code(value: int, error: int = 0) -> Answer:
    """Answer a result, and why it is negative."""
    return Answer(Reply(Shape.VALUE, value, errno=error))
