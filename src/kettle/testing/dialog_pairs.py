"""Two dialogs that move files against each other, and a recorded peer against one.

Like `dialogs.py`, with delivery in small pieces and an error for two sides that wait for each
other. What one side sends becomes bytes and is parsed by the other, so the wire form is tested
along with the logic; `say` plays recorded bytes to one dialog.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any, TypeVar

from kettle.errors import ConnectionLost
from kettle.wire import dialog as steps
from kettle.wire.channel import Channel
from kettle.wire.dialog import Dialog

Left = TypeVar("Left")
Right = TypeVar("Right")


class Side:
    """One dialog with its channel; `sent` keeps every byte it produced."""

    def __init__(self, dialog: Dialog[Any], key: bytes | None = None) -> None:
        self.dialog = dialog
        self.channel = Channel(secrets.token_bytes)
        if key is not None:
            self.channel.start_encryption(key)
        self.sent = bytearray()
        self._out = bytearray()
        self._step: steps.Step | None = None
        self._started = False
        self.done = False
        self.result: Any = None

    def take_output(self) -> bytes:
        """Return what was sent since the last time."""
        out = bytes(self._out)
        self._out.clear()
        return out

    def advance(self) -> bool:
        """Run until the dialog has to wait; tell whether anything happened."""
        moved = False
        while not self.done:
            if self._step is None:
                self._next(None)
                moved = True
                continue
            try:
                ready, answer = self._perform(self._step)
            except Exception as error:  # noqa: BLE001 - the dialog decides what it means
                self._throw(error)
                moved = True
                continue
            if not ready:
                return moved
            self._next(answer)
            moved = True
        return moved

    def lose(self) -> None:
        """Tell a waiting dialog that its peer is gone."""
        if not self.done:
            self._throw(ConnectionLost("the other side is gone"))

    def _next(self, answer: Any) -> None:
        try:
            self._step = self.dialog.send(answer if self._started else None)
            self._started = True
        except StopIteration as end:
            self.done, self.result = True, end.value

    def _throw(self, error: Exception) -> None:
        try:
            self._step = self.dialog.throw(error)
        except StopIteration as end:
            self.done, self.result = True, end.value

    def _perform(self, step: steps.Step) -> tuple[bool, Any]:
        if isinstance(step, steps.Send):
            writer = self.channel.writer()
            step.message.write(writer)
            self._emit(self.channel.encode(writer))
            return True, None
        if isinstance(step, steps.Receive):
            reader = self.channel.next_message()
            return reader is not None, reader
        if isinstance(step, steps.SendRaw):
            self._emit(step.data)
            return True, None
        if isinstance(step, steps.ReceiveRaw):
            data = self.channel.take_raw(step.limit)
            return bool(data), data
        if isinstance(step, steps.Do):
            return True, step.action()
        if isinstance(step, steps.StartEncryption):
            self.channel.start_encryption(step.key)
            return True, None
        if isinstance(step, steps.IsEncrypted):
            return True, self.channel.encrypted
        self.channel.reset_digests()
        return True, None

    def _emit(self, data: bytes) -> None:
        self._out += data
        self.sent += data


def run_pair(
    left: Dialog[Left], right: Dialog[Right], *, key: bytes | None = None, piece: int = 65_536
) -> tuple[Left, Right]:
    """Run both dialogs against each other and return their results.

    Bytes are delivered in pieces of `piece`. ConnectionLost goes to whoever still waits when the
    other has ended; an exception of either comes out.
    """
    one, other = Side(left, key), Side(right, key)
    while not (one.done and other.done):
        moved = one.advance() | other.advance()
        for sender, receiver in ((one, other), (other, one)):
            data = sender.take_output()
            moved |= bool(data)
            for start in range(0, len(data), piece):
                receiver.channel.receive(data[start : start + piece])
                if piece < 65_536:
                    receiver.advance()
        if not moved:
            for side in (one, other):
                side.lose()
            if not (one.done and other.done):
                raise AssertionError("two dialogs wait for each other")
    return one.result, other.result


def say(dialog: Dialog[Left], recorded: Iterable[bytes]) -> tuple[Left, bytes]:
    """Play a recorded peer's bytes to a dialog; return its result and all that it sent."""
    side = Side(dialog)
    side.advance()
    for data in recorded:
        side.channel.receive(data)
        side.advance()
    if not side.done:
        side.lose()
    return side.result, bytes(side.sent)
