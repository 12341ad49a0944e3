"""Behind the shared port: how an accepted connection gets from one process to another.

The shared_port daemon listens for everybody; each daemon has a socket in DAEMON_SOCKET_DIR, named
by its id, through which it is handed its connections as descriptors. Both ends of that hand-over
are here; which connection goes to whom is decided in `kettle.shared_port`. Source: wire
notes, Shared-port forwarding.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import select
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.classad import parse_old_ad
from kettle.config.knobs.places import PlaceKnobs
from kettle.errors import KettleError, RemoteProtocolError, StorageError
from kettle.runtime import tasks
from kettle.runtime.sockets.accepting import Accepting
from kettle.wire.codec import Writer
from kettle.wire.commands import Command
from kettle.wire.frames import encode_header
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.storage.files import Files

_BACKLOG = 1024
_HAND_OVER_SECONDS = 5.0
_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")
# Limit: what a process says before it hands a descriptor over is one number.
_LONGEST_WORD = 4096
_LOOK_AGAIN_SECONDS = 0.01


def endpoint_folder(config: Config) -> str:
    """Return the folder of the daemons' sockets: DAEMON_SOCKET_DIR, by default beside the locks."""
    named = config.get("DAEMON_SOCKET_DIR")
    if named and named.lower() != "auto":
        return named
    return os.path.join(config.value(PlaceKnobs.LOCK), "daemon_sock")


def is_behind_shared_port(config: Config) -> bool:
    """Whether this daemon takes its connections from the shared port.

    The master has a port of its own: it starts the shared port, and outlives it.
    """
    subsystem = config.subsystem
    if subsystem in {"SHARED_PORT", "MASTER", "TOOL", "SUBMIT"}:
        return False
    own = config.boolean(f"{subsystem}_USES_SHARED_PORT")
    if own is None:
        own = config.boolean(f"{subsystem}_USE_SHARED_PORT")
    return bool(config.boolean("USE_SHARED_PORT")) and own is not False


# What a socket's address can hold of a name.
_LONGEST_NAME = 107


def make_id(config: Config, wanted: str = "") -> str:
    """Return the id of a daemon behind the port: the wanted one, `collector`, or a fresh one.

    A collector that is configured under a name of its own is behind the port under that name.
    """
    if wanted:
        if not _ID.fullmatch(wanted):
            raise StorageError(f"{wanted!r} cannot be a shared-port id")
        return wanted
    subsystem = config.subsystem.lower()
    if subsystem == "collector":
        own = (config.local_name or "").lower()
        return own if _ID.fullmatch(own) else subsystem
    return f"{subsystem}_{os.getpid()}_{secrets.token_hex(2)}"


def read_public_address(config: Config, files: Files) -> Sinful | None:
    """Return where the shared port listens, from the ad it writes; None if it has not yet."""
    path = config.get("SHARED_PORT_DAEMON_AD_FILE")
    if path is None:
        return None
    try:
        ad = parse_old_ad(files.read_text(path, limit=64 * 1024))
        return Sinful.parse(ad.string("MyAddress") or "")
    except KettleError:
        return None


Rights = Callable[[], contextlib.AbstractContextManager[None]]


def last_port(config: Config, files: Files) -> int:
    """Return where the shared port listened before it died, as far as it is known; else 0.

    The kernel chose that port; whoever runs behind it still says so of himself.
    """
    path = _port_file(config)
    try:
        text = files.read_text(path, limit=16).strip() if path else ""
    except KettleError:
        return 0
    return int(text) if text.isdecimal() and int(text) < 65536 else 0


def note_port(config: Config, files: Files, port: int) -> None:
    """Have a later shared port know where this one listens; StorageError."""
    path = _port_file(config)
    if path:
        files.write_atomically(path, f"{port}\n")


def _port_file(config: Config) -> str:
    ad = config.get("SHARED_PORT_DAEMON_AD_FILE")
    return f"{ad}.port" if ad else ""


class Endpoint:
    """The daemon's end: takes descriptors from the shared port and gives them to `on_socket`."""

    def __init__(
        self,
        folder: str,
        name: str,
        on_socket: Callable[[socket.socket], None],
        tell: Callable[[OSError], None] | None = None,
        rights: Rights = contextlib.nullcontext,
    ) -> None:
        """`tell` why no connection can be taken; `rights` are those to change the folder."""
        self.name = name
        self.path = os.path.join(folder, name)
        self._on_socket = on_socket
        self._tell = tell
        self._rights = rights
        self._listener: socket.socket | None = None
        self._accepting = Accepting((), self._on_connection)

    def open(self) -> None:
        """Begin to listen; StorageError if the folder or the name cannot be used."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            with contextlib.suppress(PermissionError):
                os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with self._rights():
                self._bind(listener)
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            raise StorageError(f"cannot listen at {self.path}: {error.strerror}") from error
        self._listener = listener
        self._accepting = Accepting((listener,), self._on_connection, self._tell)
        self._accepting.start()

    def _bind(self, listener: socket.socket) -> None:
        """Give the listener its name, which is whose the folder is: the shared port's account's."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        with short_name(self.path) as name:
            listener.bind(name)
        os.chmod(self.path, 0o600)
        if os.geteuid() == 0:
            facts = os.stat(os.path.dirname(self.path))
            os.chown(self.path, facts.st_uid, facts.st_gid)

    def _is_there(self) -> bool:
        with self._rights():
            return os.path.lexists(self.path)

    def restore(self) -> None:
        """Listen anew if the name is gone: nobody comes to a socket without one; StorageError."""
        if self._listener is not None and not self._is_there():
            self._stop()
            self.open()

    def close(self) -> None:
        """Stop listening and remove the name."""
        if self._listener is None:
            return
        self._stop()
        with self._rights(), contextlib.suppress(OSError):
            os.unlink(self.path)

    def _stop(self) -> None:
        assert self._listener is not None
        self._accepting.stop()
        self._listener.close()
        self._listener = None

    def _on_connection(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        tasks.spawn(self._take(sock), "taking a connection from the shared port")

    async def _take(self, sock: socket.socket) -> None:
        with sock:
            try:
                async with asyncio.timeout(_HAND_OVER_SECONDS):
                    fd = await _receive_descriptor(sock)
            except (TimeoutError, OSError, RemoteProtocolError):
                return
        try:
            connection = socket.socket(fileno=fd)
        except OSError:
            # What was handed over is no socket.
            os.close(fd)
            return
        self._on_socket(connection)


@contextlib.contextmanager
def short_name(path: str) -> Iterator[str]:
    """Give a name for the socket at `path` that fits into a socket's address.

    The kernel takes 107 bytes; a folder of any length is reached through its descriptor.
    """
    if len(os.fsencode(path)) <= _LONGEST_NAME:
        yield path
        return
    folder, name = os.path.split(path)
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{name}"
    finally:
        os.close(fd)


async def _receive_descriptor(sock: socket.socket) -> int:
    """Return the descriptor that comes after the word; RemoteProtocolError if something else."""
    said = b""
    while True:
        await _wait(sock, write=False)
        data, fds, _, _ = socket.recv_fds(sock, 4096, 1)
        said += data
        if fds:
            return fds[0]
        if not data or len(said) > _LONGEST_WORD:
            raise RemoteProtocolError("the shared port handed nothing over")


async def pass_on(path: str, fd: int) -> None:
    """Hand a connection to the daemon whose socket is at `path`; OSError if nobody takes it.

    The caller still has its own copy of the descriptor to close.
    """
    body = Writer().integer(Command.SHARED_PORT_PASS_SOCK).getvalue()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
        async with asyncio.timeout(_HAND_OVER_SECONDS):
            with short_name(path) as name:
                await asyncio.get_running_loop().sock_connect(sock, name)
            sock.send(encode_header(len(body), last=True) + body)
            socket.send_fds(sock, [b"\0"], [fd])


async def _wait(sock: socket.socket, *, write: bool) -> None:
    """Wait until a socket can be read or written."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    add, remove = (
        (loop.add_writer, loop.remove_writer) if write else (loop.add_reader, loop.remove_reader)
    )

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    add(sock.fileno(), wake)
    try:
        await ready
    finally:
        remove(sock.fileno())


async def receive_word(sock: socket.socket, least: int) -> bytes:
    """Look at the first `least` bytes of a connection without taking them.

    Raises RemoteProtocolError if the connection ends before there are so many.
    """
    # The kernel wakes us when so much is there, or at the end; where it does not, we look again.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, least)
    delay = _LOOK_AGAIN_SECONDS
    try:
        while True:
            await _wait(sock, write=False)
            data = sock.recv(least, socket.MSG_PEEK)
            if len(data) >= least:
                return data
            if not data or _has_ended(sock):
                raise RemoteProtocolError("the connection ended before it said what it wants")
            await asyncio.sleep(delay)
            delay = min(2 * delay, 1.0)
    finally:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


def _has_ended(sock: socket.socket) -> bool:
    """Whether the other end will say nothing beyond what is here already."""
    poll = select.poll()
    poll.register(sock.fileno(), select.POLLRDHUP)
    return bool(poll.poll(0))


async def receive_exactly(sock: socket.socket, size: int) -> bytes:
    """Take exactly so many bytes, and leave what follows to whoever gets the connection."""
    data = b""
    while len(data) < size:
        await _wait(sock, write=False)
        piece = sock.recv(size - len(data))
        if not piece:
            raise RemoteProtocolError("the connection ended inside its first message")
        data += piece
    return data
