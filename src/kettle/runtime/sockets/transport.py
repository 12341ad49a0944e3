"""Bytes over one connection, with or without a real socket below.

`SocketTransport` reads only when somebody waits for bytes: a peer that sends faster than it is
read meets the kernel's buffer and no memory of ours, and a connection can be handed to another
process with nothing lost in between. What the bytes mean is decided in `stream.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from functools import partial
from typing import Protocol

from kettle.errors import ConnectionLost, LocalProtocolError, WaitInterrupted
from kettle.runtime.sockets.resolving import ask_resolver

_PIECE = 256 * 1024
# Who has sent less than that has most likely sent no more: its next bytes are waited for before
# they are asked for, as the question in vain costs more than a turn of the loop.
_LITTLE = 16 * 1024
# How often, and at what intervals, a silent machine is asked whether it is still there.
_PROBES = 5
_PROBE_SECONDS = 5
# Limit: unsent bytes kept for a peer that does not read; a sender waits in `drain` beyond it.
HIGH_WATER = 1024 * 1024
# Limit: a closed connection still delivers what was written before, for so long.
LINGER_SECONDS = 20.0


class Transport(Protocol):
    """One connection. Every method may raise ConnectionLost."""

    @property
    def local_name(self) -> str:
        """Our end, `host:port` or a word for sockets without one."""
        ...

    @property
    def remote_name(self) -> str:
        """The other end, `host:port`."""
        ...

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109
        """Return at least one byte; ConnectionLost at the end or after `timeout` seconds."""
        ...

    def at_end(self) -> bool:
        """Whether the other end has closed and everything it sent has been read."""
        ...

    @property
    def congested(self) -> bool:
        """Whether more than HIGH_WATER bytes are unsent."""
        ...

    def write(self, data: bytes) -> None:
        """Send soon and in order."""
        ...

    async def drain(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Wait while too much is unsent."""
        ...

    async def flush(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Wait until everything has been given to the kernel."""
        ...

    def interrupt(self) -> bool:
        """End the wait for bytes, if there is one: it hears WaitInterrupted."""
        ...

    def release(self) -> int:
        """Give the descriptor away and forget it; everything must be flushed."""
        ...

    def close(self) -> None:
        """End the connection; what was written before is still delivered."""
        ...


class SocketTransport:
    """A connected stream socket on the running event loop."""

    def __init__(self, sock: socket.socket, *, names: tuple[str, str] | None = None) -> None:
        """Take a connected socket; `names` replace those of its two ends, ours first."""
        sock.setblocking(False)
        if sock.family in {socket.AF_INET, socket.AF_INET6}:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket: socket.socket | None = sock
        self._fd = sock.fileno()
        self._loop = asyncio.get_running_loop()
        self._reader: asyncio.Future[None] | None = None
        self._watching = False
        # Whether the last bytes that came were probably all there were.
        self._emptied = False
        self._unsent = bytearray()
        self._writers: list[asyncio.Future[None]] = []
        self._closing = False
        self._local_name, self._remote_name = names or (
            name_of(sock, remote=False),
            name_of(sock, remote=True),
        )

    @property
    def local_name(self) -> str:
        """Our end."""
        return self._local_name

    @property
    def remote_name(self) -> str:
        """The other end."""
        return self._remote_name

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109
        """Return at least one byte; ConnectionLost at the end or after `timeout` seconds."""
        if self._emptied and self._socket is not None:
            self._emptied = False
            await self._wait_readable(timeout)
        while True:
            if self._socket is None:
                raise ConnectionLost("the connection was closed here")
            try:
                data = self._socket.recv(_PIECE)
            except (BlockingIOError, InterruptedError):
                await self._wait_readable(timeout)
                continue
            except OSError as error:
                raise ConnectionLost(f"{self._remote_name}: {error.strerror}") from error
            if not data:
                raise ConnectionLost(f"{self._remote_name} closed the connection")
            self._emptied = len(data) < _LITTLE
            return data

    async def _wait_readable(self, timeout: float | None) -> None:  # noqa: ASYNC109
        assert self._reader is None, "two readers on one connection"
        waiter = self._loop.create_future()
        self._reader = waiter
        if not self._watching:
            self._loop.add_reader(self._fd, self._on_readable)
            self._watching = True
        timer = None
        if timeout is not None:
            timer = self._loop.call_later(timeout, self._on_timeout, waiter, timeout)
        try:
            await waiter
        finally:
            self._reader = None
            if timer is not None:
                timer.cancel()

    def _on_readable(self) -> None:
        if self._reader is None:
            # Nobody waits: stop watching, or a level-triggered loop would spin.
            self._loop.remove_reader(self._fd)
            self._watching = False
        elif not self._reader.done():
            self._reader.set_result(None)

    def _on_timeout(self, waiter: asyncio.Future[None], seconds: float) -> None:
        if not waiter.done():
            waiter.set_exception(
                ConnectionLost(f"{self._remote_name} said nothing for {seconds:g} seconds")
            )

    def keep_alive(self, seconds: int) -> None:
        """Have the kernel notice a vanished peer; see the function of this name."""
        if self._socket is not None:
            keep_alive(self._socket, seconds)

    def interrupt(self) -> bool:
        """End the wait for bytes, if there is one: it hears WaitInterrupted. The connection stays.

        False if nobody waits, or if there is something to read.
        """
        if self._reader is None or self._reader.done():
            return False
        self._reader.set_exception(WaitInterrupted("there is news from elsewhere"))
        return True

    def at_end(self) -> bool:
        """Whether the other end has closed and everything it sent has been read."""
        if self._socket is None:
            return True
        try:
            return not self._socket.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            return True

    @property
    def congested(self) -> bool:
        """Whether more than HIGH_WATER bytes are unsent."""
        return len(self._unsent) > HIGH_WATER

    def write(self, data: bytes) -> None:
        """Send as much as the kernel takes now, the rest as it goes on taking."""
        if self._socket is None or self._closing:
            raise ConnectionLost("the connection was closed here")
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            raise ConnectionLost(f"{self._remote_name}: {error.strerror}") from error
        if sent < len(data):
            self._unsent += memoryview(data)[sent:]
            self._loop.add_writer(self._fd, self._on_writable)

    def _on_writable(self) -> None:
        assert self._socket is not None
        try:
            sent = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(ConnectionLost(f"{self._remote_name}: {error.strerror}"))
            return
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._fd)
            if self._closing:
                self._shut()
        if len(self._unsent) <= HIGH_WATER:
            self._wake_writers(None)

    def _wake_writers(self, error: ConnectionLost | None) -> None:
        writers, self._writers = self._writers, []
        for waiter in writers:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)

    def _fail(self, error: ConnectionLost) -> None:
        self._unsent.clear()
        self._loop.remove_writer(self._fd)
        self._wake_writers(error)
        if self._closing:
            self._shut()

    async def drain(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Wait while more than HIGH_WATER bytes are unsent."""
        await self._wait_unsent(HIGH_WATER, timeout)

    async def flush(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Wait until nothing is unsent."""
        await self._wait_unsent(0, timeout)

    async def _wait_unsent(self, most: int, timeout: float | None) -> None:  # noqa: ASYNC109
        while len(self._unsent) > most:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._writers.append(waiter)
            timer = None
            if timeout is not None:
                timer = self._loop.call_later(timeout, self._on_timeout, waiter, timeout)
            try:
                await waiter
            finally:
                if timer is not None:
                    timer.cancel()

    def release(self) -> int:
        """Give the descriptor away; the caller owns it."""
        if self._socket is None:
            raise LocalProtocolError("the connection was closed or given away before")
        if self._unsent:
            raise LocalProtocolError("flush the connection before giving it away")
        self._unwatch()
        sock, self._socket = self._socket, None
        return sock.detach()

    def close(self) -> None:
        """End the connection; what is unsent gets LINGER_SECONDS to go out."""
        if self._socket is None or self._closing:
            return
        self._closing = True
        if self._reader is not None and not self._reader.done():
            self._reader.set_exception(ConnectionLost("the connection was closed here"))
        if not self._unsent:
            self._shut()
        else:
            self._loop.call_later(LINGER_SECONDS, self._shut)

    def _shut(self) -> None:
        if self._socket is None:
            return
        self._unwatch()
        sock, self._socket = self._socket, None
        self._wake_writers(ConnectionLost("the connection was closed here"))
        with contextlib.suppress(OSError):
            sock.close()

    def _unwatch(self) -> None:
        if self._watching:
            self._loop.remove_reader(self._fd)
            self._watching = False
        if self._unsent:
            self._loop.remove_writer(self._fd)
            self._unsent.clear()


# What the end of a connection is called that the kernel does not know any more.
UNKNOWN_NAME = "?"


def name_of(sock: socket.socket, *, remote: bool) -> str:
    """Return one end of a connection as `host:port`."""
    try:
        address = sock.getpeername() if remote else sock.getsockname()
    except OSError:
        return UNKNOWN_NAME
    if sock.family == socket.AF_INET:
        return f"{address[0]}:{address[1]}"
    if sock.family == socket.AF_INET6:
        return f"[{address[0].partition('%')[0]}]:{address[1]}"
    return "local"


def keep_alive(sock: socket.socket, seconds: int) -> None:
    """Have the kernel notice, in about `seconds`, that the machine at the other end is gone.

    Whoever only listens would wait for ever for a machine that lost its power, and who has sent
    something for a quarter of an hour. 0 leaves the system's own rules, less does not ask at all
    (TCP_KEEPALIVE_INTERVAL).
    """
    if seconds < 0 or sock.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if seconds == 0:
        return
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    unanswered = (seconds + _PROBE_SECONDS * _PROBES) * 1000
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unanswered)


async def connect_socket(host: str, port: int, timeout: float) -> SocketTransport:  # noqa: ASYNC109
    """Open a TCP connection; ConnectionLost if it is refused or takes longer than `timeout`.

    `host` is an address or a name; names are looked up in the system's resolver, aside.
    """
    try:
        async with asyncio.timeout(timeout):
            family, address = await _resolve(host, port)
            sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                await _connect(sock, address)
            except BaseException:
                sock.close()
                raise
    except TimeoutError:
        raise ConnectionLost(f"no connection to {host}:{port} in {timeout:g} seconds") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConnectionLost(f"no connection to {host}:{port}: {reason}") from error
    return SocketTransport(sock)


async def _connect(sock: socket.socket, address: tuple[str, int]) -> None:
    """Connect a socket that does not block; OSError.

    The loop's own `sock_connect` looks the address up once more, in threads of libuv's, which ends
    the whole process where the system grants it none.
    """
    try:
        sock.connect(address)
        return
    except (BlockingIOError, InterruptedError):
        pass
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    loop.add_writer(sock.fileno(), _note, done)
    try:
        await done
    finally:
        loop.remove_writer(sock.fileno())
    number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if number:
        raise OSError(number, os.strerror(number))


def _note(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


async def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return family, (host, port)
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    family, _, _, _, address = (await ask_resolver(look_up))[0]
    return family, (str(address[0]), int(address[1]))


def adopt_descriptor(fd: int) -> SocketTransport:
    """Make a transport of a connected socket's descriptor, which it owns from now on."""
    os.set_inheritable(fd, False)
    return SocketTransport(socket.socket(fileno=fd))
