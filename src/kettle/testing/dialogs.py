"""Two dialogs against each other in memory: no socket, no clock, every byte through the channels.

For tests of protocols (`wire`, `transfer`, `schedd`): `converse` runs both sides until they are
done or stuck, and says what each came to.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kettle.errors import ConnectionLost
from kettle.wire.channel import Channel
from kettle.wire.dialog import (
    Dialog,
    Do,
    IsEncrypted,
    Receive,
    ReceiveRaw,
    ResetDigests,
    Send,
    SendRaw,
    StartEncryption,
    Step,
)

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


@dataclass(slots=True)
class Outcome(Generic[T]):
    """What one side came to: its value, or the error it ended with."""

    value: T | None = None
    error: Exception | None = None

    def result(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Player(Generic[T]):
    """One side: a dialog, its channel, and the step it is stuck at."""

    def __init__(self, dialog: Dialog[T], channel: Channel | None = None) -> None:
        self.dialog = dialog
        self.channel = channel or Channel(secrets.token_bytes)
        self.sent = b""
        self.outcome: Outcome[T] | None = None
        self._step: Step | None = None
        self._advance(None)

    def _advance(self, value: Any, error: Exception | None = None) -> None:
        """Resume the dialog with a step's result or error."""
        try:
            self._step = self.dialog.throw(error) if error else self.dialog.send(value)
        except StopIteration as end:
            self.outcome = Outcome(end.value)
        except Exception as failure:  # noqa: BLE001 - whatever ended the dialog is its outcome
            self.outcome = Outcome(error=failure)

    def run(self) -> bytes:
        """Perform steps until the dialog waits for bytes; returns what it sent."""
        self.sent = b""
        while self.outcome is None and self._perform():
            pass
        return self.sent

    def _perform(self) -> bool:
        """Perform one step; False if it must wait."""
        channel = self.channel
        result: Any = None
        match self._step:
            case Send(message):
                writer = channel.writer()
                message.write(writer)
                self.sent += channel.encode(writer)
            case SendRaw(data):
                self.sent += data
            case Receive():
                try:
                    result = channel.next_message()
                except Exception as failure:  # noqa: BLE001
                    self._advance(None, failure)
                    return True
                if result is None:
                    return False
            case ReceiveRaw(limit):
                result = channel.take_raw(limit)
                if not result:
                    return False
            case StartEncryption(key):
                channel.start_encryption(key)
            case ResetDigests():
                channel.reset_digests()
            case IsEncrypted():
                result = channel.encrypted
            case Do(action):
                try:
                    result = action()
                except Exception as failure:  # noqa: BLE001
                    self._advance(None, failure)
                    return True
        self._advance(result)
        return True

    def lose_connection(self) -> None:
        """Tell a waiting dialog that nothing more will come."""
        if self.outcome is None:
            self._advance(None, ConnectionLost("the peer has closed"))


def converse(
    first: Dialog[A],
    second: Dialog[B],
    *,
    channels: tuple[Channel, Channel] | None = None,
    chunk: int = 1 << 30,
) -> tuple[Outcome[A], Outcome[B]]:
    """Run two dialogs against each other; `chunk` is how many bytes arrive at once.

    A side that ends with an error closes the connection, as the shells do. Two sides that wait for
    each other both lose it.
    """
    one = Player(first, channels[0] if channels else None)
    other = Player(second, channels[1] if channels else None)
    while True:
        moved = _deliver(one, other, chunk) + _deliver(other, one, chunk)
        if not moved:
            for side in (one, other):
                side.lose_connection()
                side.run()
            if one.outcome is not None and other.outcome is not None:
                return one.outcome, other.outcome


def _deliver(sender: Player[Any], receiver: Player[Any], chunk: int) -> int:
    """Run one side and hand what it sent to the other, piece by piece."""
    data = sender.run()
    for start in range(0, len(data), chunk):
        receiver.channel.receive(data[start : start + chunk])
    return len(data)
