"""A few pages over HTTP, for programs that watch a pool: GET and HEAD, no more.

Bounded in everything: connections, the size of a request, the time it may take. Who says nothing
keeps nobody out: the oldest of them goes when there is one too many. A connection gets one answer
and is closed. What the pages say is their makers'. A request must name this machine in its Host, so
that no web page elsewhere can have a browser read us under a name of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from kettle.octets import to_bytes
from kettle.runtime import tasks

# Limit: what a request may take, who else may ask meanwhile, and how long it may last.
MAX_REQUEST_BYTES = 8192
MAX_CONNECTIONS = 32
REQUEST_SECONDS = 5.0
ANSWER_SECONDS = 15.0

_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: its code, its text and what kind of text it is."""

    status: int
    text: str
    kind: str = "text/plain; charset=utf-8"


Maker = Callable[[], Awaitable[Page]]


class WebPages:
    """A server of pages by their paths."""

    def __init__(self, pages: dict[str, Maker], hosts: Iterable[str]) -> None:
        self._pages = pages
        self._hosts = {"localhost", *(name.lower() for name in hosts)}
        self._server: asyncio.Server | None = None
        self._connections = 0
        # Who has not yet said what it wants, the oldest first.
        self._silent: dict[asyncio.StreamWriter, None] = {}

    async def listen(self, address: str, port: int) -> tuple[str, int]:
        """Begin to serve; return where. OSError if the port is taken."""
        self._server = await asyncio.start_server(
            self._serve, address, port, limit=MAX_REQUEST_BYTES, backlog=MAX_CONNECTIONS
        )
        host, chosen, *_ = self._server.sockets[0].getsockname()
        return host, chosen

    async def close(self) -> None:
        """Serve no longer."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections > MAX_CONNECTIONS and not self._send_one_away():
                return
            self._silent[writer] = None
            page, whole = await self._answer(reader, writer)
            if writer.is_closing():
                # Who asked has gone, or was sent away.
                return
            body = to_bytes(page.text)
            head = (
                f"HTTP/1.1 {page.status} {_REASONS[page.status]}\r\n"
                f"Content-Type: {page.kind}\r\nContent-Length: {len(body)}\r\n"
                "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                "Connection: close\r\n\r\n"
            )
            writer.write(to_bytes(head) + (body if whole else b""))
            async with asyncio.timeout(ANSWER_SECONDS):
                await writer.drain()
        except (OSError, TimeoutError):
            pass
        finally:
            self._connections -= 1
            self._silent.pop(writer, None)
            with contextlib.suppress(OSError):
                writer.close()

    def _send_one_away(self) -> bool:
        """Make room by ending the oldest that says nothing; False if all are being answered."""
        for writer in self._silent:
            del self._silent[writer]
            writer.transport.abort()
            return True
        return False

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[Page, bool]:
        """Return the page that is asked for, and whether more than its head is wanted."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return Page(431, "The request is too long.\n"), True
        except (asyncio.IncompleteReadError, TimeoutError):
            return Page(400, "This is no request.\n"), True
        self._silent.pop(writer, None)
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return Page(400, "This is no request.\n"), True
        if words[0] not in {"GET", "HEAD"}:
            return Page(405, "Pages can only be read.\n"), True
        if not self._names_us(lines[1:]):
            return Page(403, "This machine has another name.\n"), True
        maker = self._pages.get(words[1].partition("?")[0])
        if maker is None:
            known = " ".join(sorted(self._pages))
            return Page(404, f"There is no such page; there are {known}\n"), words[0] == "GET"
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await maker(), words[0] == "GET"
        except Exception as error:  # noqa: BLE001 - a page's bug must not end the daemon
            tasks.report(f"The page {words[1]}: {type(error).__name__}: {error}")
            return Page(500, "The page cannot be made.\n"), words[0] == "GET"

    def _names_us(self, headers: Iterable[str]) -> bool:
        for line in headers:
            name, _, value = line.partition(":")
            if name.strip().lower() == "host":
                return self._is_ours(value.strip())
        return True

    def _is_ours(self, host: str) -> bool:
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.split(":")[0]
        if name.lower() in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
