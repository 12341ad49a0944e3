"""Takes the connections that come to listening sockets, and pauses where it cannot.

Without a free descriptor, or memory, a connection stays where it is and its socket can be read all
the time: whoever only went on would do nothing else.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable

# Limit: connections that are taken before others have their turn.
_AT_ONCE = 64
_PAUSE_SECONDS = 0.5


class Accepting:
    """The sockets of one listener, which must not block."""

    def __init__(
        self,
        sockets: Iterable[socket.socket],
        on_connection: Callable[[socket.socket], None],
        tell: Callable[[OSError], None] | None = None,
    ) -> None:
        """`tell` why none can be taken: once, until one is."""
        self._sockets = tuple(sockets)
        self._on_connection = on_connection
        self._tell = tell
        self._told = False
        self.is_wanted = False
        self._pause: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Hand connections on from now on."""
        if not self.is_wanted:
            self.is_wanted = True
            self._watch()

    def stop(self) -> None:
        """Leave those that come where they are."""
        if not self.is_wanted:
            return
        self.is_wanted = False
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        else:
            self._unwatch()

    def _watch(self) -> None:
        self._pause = None
        loop = asyncio.get_running_loop()
        for sock in self._sockets:
            loop.add_reader(sock.fileno(), self._accept, sock)

    def _unwatch(self) -> None:
        loop = asyncio.get_running_loop()
        for sock in self._sockets:
            loop.remove_reader(sock.fileno())

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_AT_ONCE):
            if not self.is_wanted:
                return
            try:
                sock, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return
            except OSError as error:
                self._rest(error)
                return
            self._told = False
            self._on_connection(sock)

    def _rest(self, error: OSError) -> None:
        if self._tell is not None and not self._told:
            self._told = True
            self._tell(error)
        if self._pause is None:
            self._unwatch()
            self._pause = asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._watch)
