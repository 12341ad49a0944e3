"""A daemon is asked to call, and whoever calls instead of it is heard only so often."""

from __future__ import annotations

import socket
from select import select as wait
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.client import reversed as module
from kettle.client.stream import BlockingStream
from kettle.errors import NotConnected
from kettle.wire.messages.brokering import CcbAd
from kettle.wire.sinful import Sinful

BEHIND_A_WALL = Sinful.parse("<127.0.0.1:9?CCBID=127.0.0.1:9618#7>")


class Broker:
    """Takes the request, says nothing, and has strangers call for the daemon."""

    local_host = "127.0.0.1"

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.callers: list[socket.socket] = []
        self.calls = 0

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._ours, self._theirs, *self.callers):
            each.close()

    def fileno(self) -> int:
        """Return the number of the connection to it."""
        return self._ours.fileno()

    def send(self, request: CcbAd) -> None:
        """Note where the daemon is to call."""
        self.address = Sinful.parse(request.ad.string("MyAddress") or "")

    def call(self) -> None:
        """Call as a stranger, who hangs up at once."""
        self.calls += 1
        assert self.calls <= 16
        caller = socket.create_connection((self.address.host, self.address.port), 5)
        caller.shutdown(socket.SHUT_WR)
        self.callers.append(caller)


def test_only_so_many_strangers_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever calls on and on would keep a tool from its answer."""
    broker = Broker()

    def select(*waiting: Any) -> object:
        broker.call()
        return wait(*waiting)

    monkeypatch.setattr("kettle.client.reversed.select", SimpleNamespace(select=select))
    with pytest.raises(NotConnected, match="only strangers called"):
        module.open_reversed(lambda *_: cast(BlockingStream, broker), BEHIND_A_WALL, 60)
    assert broker.calls == 16
