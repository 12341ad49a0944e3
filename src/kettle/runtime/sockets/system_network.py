"""The machine's network: TCP and UDP sockets in and out, within the limits of one process.

Where to listen is decided in `listening.py`; what is said on a connection in `network.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kettle.config.knobs.network import NetworkKnobs
from kettle.runtime import tasks
from kettle.runtime.sockets.accepting import Accepting
from kettle.runtime.sockets.admission import Admission
from kettle.runtime.sockets.datagrams import DatagramPort, send_datagrams
from kettle.runtime.sockets.listening import (
    make_address,
    open_listeners,
    plan_listening,
    raise_descriptor_limit,
)
from kettle.runtime.sockets.network import CommandNetwork
from kettle.runtime.sockets.security_settings import read_security
from kettle.runtime.sockets.shared_port import (
    Endpoint,
    Rights,
    endpoint_folder,
    is_behind_shared_port,
    last_port,
    make_id,
    read_public_address,
)
from kettle.runtime.sockets.transport import SocketTransport, Transport, connect_socket, keep_alive
from kettle.runtime.storage.files import Files

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.identity import DaemonIdentity
    from kettle.runtime.logs import Log
    from kettle.wire.sinful import Endpoint as Place
    from kettle.wire.sinful import Sinful

# Limit: connections at once, of all descriptors this process may have; the rest is for files. Of
# these, those that nobody has authenticated yet or that wait for another command.
_SHARE_OF_DESCRIPTORS = 0.8
_SHARE_OF_STRANGERS = 0.5
_EXPIRE_SESSIONS_SECONDS = 600.0
# How long a daemon waits for the shared port before it takes a port of its own.
_SHARED_PORT_SECONDS = 10.0
_STARTED_LATER = frozenset({"STARTER", "SHADOW"})
_SHARED_PORT_CHECK_SECONDS = 0.01


class SystemNetwork(CommandNetwork):
    """The machine's network."""

    def __init__(self, config: Config, identity: DaemonIdentity, clock: Clock, log: Log) -> None:
        super().__init__(config, identity, clock, log)
        self._listeners: list[socket.socket] = []
        self._datagrams: DatagramPort | None = None
        self._accepting = Accepting((), self._on_connection)
        self._begun = False
        self._endpoint: Endpoint | None = None
        # Set by who works as a job's owner: the sockets' folder is the daemons' account's.
        self.folder_rights: Rights = contextlib.nullcontext
        # Set by whoever wants connections raw: the shared port.
        self.intercept: Callable[[socket.socket], None] | None = None
        self._served = 0
        self._most = max(16, int(raise_descriptor_limit() * _SHARE_OF_DESCRIPTORS))
        self.commands.admission = Admission(int(self._most * _SHARE_OF_STRANGERS))

    async def listen(self, port: int | None = None, *, socket_name: str = "") -> None:
        """Open the command port; `port` None means what the configuration says.

        `socket_name` is the wanted id behind the shared port.

        Whoever connects waits until `begin_accepting`, so that no command comes too early.
        """
        if (
            port is None
            and is_behind_shared_port(self.config)
            and await self._listen_behind(socket_name)
        ):
            return
        plan = (
            read_security(self.config).listening
            if port is None
            else plan_listening(self.config, port)
        )
        if self.config.subsystem == "SHARED_PORT" and plan.ports == (0,):
            plan = replace(plan, ports=(last_port(self.config, Files()), 0))
        self._listeners, datagrams = open_listeners(plan)
        self._accepting = Accepting(self._listeners, self._on_connection, self._tell)
        if datagrams:
            self._datagrams = DatagramPort(datagrams, self.commands.serve_datagram)
        self.standing.address = make_address(plan, self._listeners)

    async def _listen_behind(self, wanted: str) -> bool:
        """Take a place behind the shared port; False if no shared port is there in time."""
        files = Files()
        # Only a master starts a shared port; without one there is nothing to wait for. Starters
        # and shadow hosts are children of daemons that have waited already.
        inherited = "CONDOR_INHERIT" in self.config.environment
        inherited = inherited and self.config.subsystem not in _STARTED_LATER
        try:
            async with asyncio.timeout(_SHARED_PORT_SECONDS if inherited else 0):
                while True:
                    public = read_public_address(self.config, files)
                    if public is not None:
                        break
                    await asyncio.sleep(_SHARED_PORT_CHECK_SECONDS)
        except TimeoutError:
            self._log.problem("No shared port is running here; listening on a port of our own")
            return False
        name = make_id(self.config, wanted)
        self._endpoint = Endpoint(
            endpoint_folder(self.config), name, self.serve_socket, self._tell, self.folder_rights
        )
        self.standing.address = public.with_parameter("sock", name)
        return True

    def serve_socket(self, sock: socket.socket) -> None:
        """Answer a connection that was accepted elsewhere."""
        self._begin(self._transport(sock))

    def _transport(self, sock: socket.socket) -> SocketTransport:
        keep_alive(sock, self.config[NetworkKnobs.TCP_KEEPALIVE_INTERVAL])
        return SocketTransport(sock)

    def begin_accepting(self) -> None:
        """Answer commands from here on."""
        if self._endpoint is not None:
            self._endpoint.open()
        self._begun = True
        self._accepting.start()
        if self._datagrams is not None:
            self._datagrams.start()
        tasks.repeat(self._expire_sessions, "expire sessions")

    def restore(self) -> None:
        """Be reached through the shared port again if our socket was deleted; StorageError."""
        if self._endpoint is not None:
            self._endpoint.restore()
            self._follow_shared_port(self._endpoint)

    def _follow_shared_port(self, endpoint: Endpoint) -> None:
        """Say where we are now, if the shared port that was started again had to move."""
        public = read_public_address(self.config, Files())
        if public is None or (public.host, public.port) == (self.address.host, self.address.port):
            return
        address = public.with_parameter("sock", endpoint.name)
        contacts = self.address.parameter("CCBID")
        self.move(address.with_parameter("CCBID", contacts) if contacts else address)

    def _on_connection(self, sock: socket.socket) -> None:
        if self.intercept is not None:
            self.intercept(sock)
        else:
            self._begin(self._transport(sock))

    def _tell(self, error: OSError) -> None:
        self._log.problem(f"Cannot accept a connection: {error}")

    def _begin(self, transport: Transport) -> None:
        self._served += 1
        if self._served >= self._most:
            # The others wait in the kernel's queue until somebody leaves.
            self._accepting.stop()
        task = tasks.spawn(self.serve(transport), "connection")
        task.add_done_callback(self._on_served)

    def _on_served(self, _: asyncio.Task[None]) -> None:
        self._served -= 1
        if self._begun and self._served < self._most * 0.9:
            self._accepting.start()

    async def open_transport(self, sinful: Sinful, seconds: float) -> Transport:
        """Make a TCP connection."""
        transport = await connect_socket(sinful.host, sinful.port, seconds)
        transport.keep_alive(self.config[NetworkKnobs.TCP_KEEPALIVE_INTERVAL])
        return transport

    def send_message(self, target: Place, payload: bytes) -> None:
        """Send a message in UDP packets."""
        send_datagrams(target, payload)

    async def _expire_sessions(self) -> None:
        await asyncio.sleep(_EXPIRE_SESSIONS_SECONDS)
        self.expire_sessions()

    async def close(self) -> None:
        """Stop listening and end every connection that is being served."""
        self._begun = False
        self._accepting.stop()
        if self._datagrams is not None:
            self._datagrams.close()
        if self._endpoint is not None:
            self._endpoint.close()
        listeners, self._listeners = self._listeners, []
        for sock in listeners:
            sock.close()
        await super().close()
