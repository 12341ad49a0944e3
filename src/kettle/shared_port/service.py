"""One port for all daemons of a host: looks at how a connection begins and hands it on.

A connection that begins with SHARED_PORT_CONNECT goes to the daemon it names; one for `self` is
answered here; one that begins as HTTP or TLS goes to SHARED_PORT_HTTP_FORWARDING_ID, where that is
set; any other goes, untouched, to SHARED_PORT_DEFAULT_ID (the collector). An id that nobody has
costs the connection, and nothing is said. How a connection is handed over is
`kettle.runtime.sockets.shared_port`'s. Source: wire notes, Shared-port forwarding.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.config.knobs.shared_port import SharedPortKnobs
from kettle.errors import RemoteProtocolError, StorageError
from kettle.runtime import tasks
from kettle.runtime.sockets.admission import Admission
from kettle.runtime.sockets.listening import raise_descriptor_limit
from kettle.runtime.sockets.network_commands import host_of
from kettle.runtime.sockets.shared_port import (
    endpoint_folder,
    note_port,
    pass_on,
    receive_exactly,
    receive_word,
)
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.sockets.transport import name_of
from kettle.runtime.storage.files import PASSING
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.frames import HEADER_SIZE, decode_header
from kettle.wire.shared_port import FIRST_BYTES, SELF, is_web_request, peek_command, read_connect

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.context import Runtime
    from kettle.wire.messages.brokering import SharedPortConnect

_FIRST_MESSAGE_SECONDS = 20.0
# How soon a disk without room is tried again.
_RETRY_SECONDS = 2.0
# Limit: the word that names a daemon is one short packet.
_LONGEST_WORD = 64 * 1024
# Limit: what a client calls itself is for the log only, and as long as the reference reads.
_LONGEST_NAME = 1023
# Limit: connections that have not said whom they want, of all descriptors this process may have.
_SHARE_OF_DESCRIPTORS = 0.4


class SharedPortService:
    """One condor_shared_port."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._folder = endpoint_folder(runtime.config)
        self._read_ids(runtime.config)
        self._ad_file: str | None = None
        self._rewriting: asyncio.TimerHandle | None = None
        most = int(raise_descriptor_limit() * _SHARE_OF_DESCRIPTORS)
        self._strangers: Admission[asyncio.Task[None]] = Admission(most)
        self.forwarded = 0
        self.refused = 0
        self._pending = 0
        self._most_pending = 0

    async def start(self) -> None:
        """Take every connection before anybody reads it, and tell the others where we are."""
        network = self._runtime.network
        assert isinstance(network, SystemNetwork)
        network.intercept = self._on_socket
        self._write_ad()

    async def reconfigure(self, config: Config) -> None:
        """The default may be another daemon now."""
        self._read_ids(config)
        self._write_ad()

    async def shut_down(self, how: str) -> None:
        """Nobody shall look for us here any more."""
        del how
        if self._rewriting is not None:
            self._rewriting.cancel()
        if self._ad_file is not None:
            self._runtime.files.remove(self._ad_file)

    def _read_ids(self, config: Config) -> None:
        self._default = config.value(SharedPortKnobs.SHARED_PORT_DEFAULT_ID)
        # The reference has no default for it, but for a daemon of that name.
        daemons = (word.upper() for word in config.words("DAEMON_LIST"))
        api = "http_api" if "HTTP_API" in daemons else ""
        self._web = config.get("SHARED_PORT_HTTP_FORWARDING_ID") or api

    def _write_ad(self) -> None:
        runtime = self._runtime
        self._ad_file = runtime.config.get("SHARED_PORT_DAEMON_AD_FILE")
        if self._ad_file is None:
            return
        address = str(runtime.network.address)
        ad = ClassAd(
            {
                "MyType": "SharedPort",
                "MyAddress": address,
                "SharedPortCommandSinfuls": address,
                "RequestsSucceeded": self.forwarded,
                "RequestsFailed": self.refused,
                **runtime.identity.attributes(address, runtime.clock.now()),
            }
        )
        try:
            note_port(runtime.config, runtime.files, runtime.network.address.port)
            runtime.files.write_atomically(self._ad_file, "\n".join(ad.lines()) + "\n")
        except StorageError as error:
            if error.errno not in PASSING:
                raise
            runtime.log.problem(f"{error}: trying again")
            later = asyncio.get_running_loop().call_later
            self._rewriting = later(_RETRY_SECONDS, self._write_ad)

    def _on_socket(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        name = name_of(sock, remote=True)
        task = tasks.spawn(self._forward(sock, name), "shared port connection")
        task.add_done_callback(self._strangers.leave)
        crowded_out = self._strangers.enter(task, host_of(name))
        if crowded_out is not None:
            crowded_out.cancel()

    async def _forward(self, sock: socket.socket, name: str) -> None:
        """Find out who is meant and hand the connection over; our own copy is closed."""
        handed = False
        try:
            handed = await self._hand_on(sock, name)
        except RemoteProtocolError as error:
            said = f"Closing the connection from {name}: {error}"
            self._runtime.log.stranger("connections that could not be understood", said)
        except (TimeoutError, OSError) as error:
            self._runtime.log.debug("D_NETWORK", f"{name} is not handed on: {error}")
        finally:
            self.refused += not handed
            sock.close()

    async def _hand_on(self, sock: socket.socket, name: str) -> bool:
        """Give a connection to whom it means; True once somebody has it."""
        network = self._runtime.network
        assert isinstance(network, SystemNetwork)
        async with asyncio.timeout(_FIRST_MESSAGE_SECONDS):
            first = await receive_word(sock, FIRST_BYTES)
            word = await self._read_word(sock, first)
        if word is None:
            wanted = self._web if self._web and is_web_request(first) else self._default
        else:
            wanted = word.shared_port_id
            who = (
                f"{word.client_name[:_LONGEST_NAME]} on <{name}>"
                if word.client_name
                else f"<{name}>"
            )
            self._runtime.log.full(
                f"SharedPortServer: request from {who} to connect to {wanted}. "
                f"(CurPending={self._pending} PeakPending={self._most_pending})",
            )
        if wanted == SELF:
            network.serve_socket(sock.dup())
            return True
        self._pending += 1
        self._most_pending = max(self._most_pending, self._pending)
        try:
            await pass_on(os.path.join(self._folder, wanted), sock.fileno())
        finally:
            self._pending -= 1
        self.forwarded += 1
        return True

    @staticmethod
    async def _read_word(sock: socket.socket, first: bytes) -> SharedPortConnect | None:
        """Take the word off that names a daemon, and nothing else; None if there is none."""
        if peek_command(first) != Command.SHARED_PORT_CONNECT:
            return None
        last, length = decode_header(first, 0)
        if not last or length > _LONGEST_WORD:
            raise RemoteProtocolError("the word that names a daemon is too long")
        packet = await receive_exactly(sock, HEADER_SIZE + length)
        return read_connect(Reader(packet[HEADER_SIZE:]))
