"""One connection to a Chirp server: lines of words, numbers, and bytes of a known length."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Final

from kettle.compat.htcondor2.htchirp.errors import InvalidRequest, TooBig, error_of
from kettle.octets import to_bytes, to_text

# Limit: what a server of HTCondor's takes as one line.
LONGEST_LINE: Final = 5120
_PIECE: Final = 64 * 1024
_QUOTED: Final = re.compile(r"[\\ \t\r]")


class Connection:
    """A socket to the server. A request is answered by a number, and by data where it says so."""

    def __init__(self, host: str, port: int, timeout: float | None) -> None:
        self._socket = socket.create_connection((host, port), timeout)
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()

    def ask(self, command: str, *words: str | int, data: bytes = b"") -> int:
        """Send a request, with data behind it; return its number, or raise for a negative one."""
        line = to_bytes(" ".join((command, *map(_quoted, words))))
        if b"\n" in line:
            # Compat: the wheel sends it, and what follows is a request of its own (shown by
            # test_several_lines_are_never_another_request).
            raise InvalidRequest(f"{command}: no request can say several lines")
        line += b"\n"
        if len(line) > LONGEST_LINE:
            raise TooBig(f"{command}: the request is too large: {len(line)} bytes")
        self._socket.sendall(line + data)
        return self.number(command)

    def number(self, command: str) -> int:
        """Read the number that a request is answered with."""
        line = self.line()
        try:
            number = int(line)
        except ValueError as error:
            raise RuntimeError(f"{command}: the Chirp server answered {line!r}") from error
        if number < 0:
            raise error_of(command, number)
        return number

    def line(self) -> str:
        """Read a line."""
        found = self._file.readline(_PIECE)
        if not found.endswith(b"\n"):
            raise RuntimeError("the Chirp server has closed the connection")
        return to_text(found).rstrip()

    def ask_data(self, command: str, *words: str | int) -> bytes:
        """Send a request that is answered by a length and so many bytes, and return these."""
        return b"".join(self.pieces(self.ask(command, *words)))

    def pieces(self, length: int) -> Iterator[bytes]:
        """Yield so many bytes of what comes, a piece at a time."""
        while length > 0:
            piece = self._file.read(min(length, _PIECE))
            if not piece:
                raise RuntimeError("the Chirp server has closed the connection")
            length -= len(piece)
            yield piece

    def send(self, data: bytes) -> None:
        """Send what a request has announced."""
        self._socket.sendall(data)


def _quoted(word: str | int) -> str:
    return _QUOTED.sub(r"\\\g<0>", str(word))
