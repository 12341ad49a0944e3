"""Where the jobs of a starter connect for chirp, one after the other.

The port stays the same for all jobs of a claim; who is let in is `chirp.py`'s to say.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from kettle.runtime.sockets.accepting import Accepting

# How many connections may wait to be let in.
_BACKLOG = 16


class ChirpDoor:
    """Where a starter's jobs connect, one after the other: a port of the loopback interface."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._accepting = Accepting((), self._on_connection)
        self._let_in: Callable[[socket.socket], None] | None = None

    def open(self, let_in: Callable[[socket.socket], None]) -> tuple[str, int]:
        """Hand connections to `let_in` from now on; return host and port."""
        self._let_in = let_in
        if self._socket is None:
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            sock.bind(("127.0.0.1", 0))
            sock.listen(_BACKLOG)
            sock.setblocking(False)
            self._socket = sock
            self._accepting = Accepting((sock,), self._on_connection)
            self._accepting.start()
        host, port = self._socket.getsockname()
        return host, port

    def shut(self) -> None:
        """Let nobody in until the next job."""
        self._let_in = None

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            self._accepting.stop()
            self._socket.close()
            self._socket = None

    def _on_connection(self, connection: socket.socket) -> None:
        if self._let_in is None:
            connection.close()
        else:
            self._let_in(connection)
