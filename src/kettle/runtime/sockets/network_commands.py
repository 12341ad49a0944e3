"""Commands in: handshakes with whoever connects, and the handlers that answer.

A connection is a stranger's until its command is accepted; `admission.py` decides how many of
them there may be. What is negotiated is decided in `wire.security`, who may run what in
`wire.security.authorization`, what a command does in its handler.
"""

from __future__ import annotations

import asyncio
import secrets
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    RemoteProtocolError,
    WireError,
)
from kettle.levels import Level
from kettle.runtime.clock import set_ahead
from kettle.runtime.sockets.admission import Admission
from kettle.runtime.sockets.ccb import Reversed, read_call
from kettle.runtime.sockets.datagrams import Datagram
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.transport import Transport
from kettle.wire.channel import UNACCEPTED_MESSAGE, Channel
from kettle.wire.codec import Reader
from kettle.wire.commands import Daemon, command_name, find_command
from kettle.wire.message_sizes import longest_message
from kettle.wire.safesock import Reassembly
from kettle.wire.security.datagrams import Replays, accept_datagram
from kettle.wire.security.notes import note_server
from kettle.wire.security.server_setup import Accepted, Registered
from kettle.wire.security.server_side import FIRST_MESSAGE_SECONDS, authorize_next, server_handshake
from kettle.wire.security.session import Peer

if TYPE_CHECKING:
    from kettle.runtime.logs import Log
    from kettle.runtime.sockets.network_sessions import Standing

Handler = Callable[[Stream], Awaitable[None]]

# Wire notes, Timeouts.
NEGOTIATION_SECONDS = 120.0
# Limit: a connection whose commands may be followed by others is closed after so long a silence.
# Daemons say something every few minutes.
IDLE_SECONDS = 3600.0

_DAEMONS = {daemon.name: daemon for daemon in Daemon}

# The kinds of lines that strangers cause, as the log tells of those beyond its allowance.
_NOT_UNDERSTOOD = "connections and packets that could not be understood"
_DENIED = "permissions denied"
_SLOW = "connections that took too long to say what they want"
_CROWDED = "connections closed so that there is room"
_FAILED = "commands that failed"


@dataclass(frozen=True, slots=True)
class Registration:
    """A command and who answers it; `again` means that further commands may follow it."""

    handler: Handler
    again: bool


class CommandServer:
    """Everything between an accepted connection and a command's handler."""

    def __init__(
        self, standing: Standing, log: Log, calls: Reversed, admission: Admission[Stream]
    ) -> None:
        self._standing = standing
        self._log = log
        self._stranger = log.stranger
        self._calls = calls
        self._registrations: dict[int, Registration] = {}
        self.admission = admission
        self._reassembly = Reassembly()
        self._replays = Replays()
        self.connections: set[Stream] = set()
        self.handled = 0
        self.refused = 0

    def register(
        self,
        command: int,
        handler: Handler,
        *,
        levels: Iterable[Level] | None = None,
        force_authentication: bool | None = None,
        again: bool = False,
    ) -> None:
        """Answer a command with a handler.

        The levels (any of them suffices) and whether authentication is forced come from the table
        of commands unless given. When the handler returns, the stream is closed, unless it was
        kept or detached, or `again` is set: then the next bare command on it is awaited.
        """
        row = find_command(command)
        if levels is None:
            assert row is not None, f"command {command} is not in the table: give its levels"
            levels = row.levels(_DAEMONS.get(self._standing.config.subsystem))
        if force_authentication is None:
            force_authentication = row is not None and row.force_authentication
        self._standing.registered[int(command)] = Registered(tuple(levels), force_authentication)
        self._registrations[int(command)] = Registration(handler, again)

    def at_levels(self, levels: Collection[Level]) -> list[int]:
        """Return the commands that are answered to who holds one of these levels."""
        known = self._standing.registered
        return sorted(one for one in known if any(level in levels for level in known[one].levels))

    def allows(self, peer: Peer, level: Level) -> bool:
        """Whether a peer holds a level beyond that of its command."""
        names = self._standing.names_of(peer.address)
        return self._standing.server.authorization.allows(
            level, peer.user, peer.address, names, limits=peer.limits
        )

    # Connections.

    async def serve(self, transport: Transport) -> None:
        """Answer one connection from its first message to its end."""
        channel = Channel(secrets.token_bytes)
        channel.maximum_message = UNACCEPTED_MESSAGE
        await self.serve_stream(Stream(transport, channel))

    async def serve_stream(self, stream: Stream) -> None:
        """Answer a connection on which something else was said before, such as a call back."""
        self.connections.add(stream)
        crowded_out = self.admission.enter(stream, host_of(stream.remote_name))
        if crowded_out is not None:
            name = crowded_out.remote_name
            self._stranger(_CROWDED, f"Closing the connection from {name}: too many of them")
            crowded_out.close()
        stream.on_bytes = partial(self._note_bytes, stream)
        try:
            serving = self._serve(stream)
            await self._reporting(stream.remote_name, stream, serving, "Closing the connection")
        finally:
            # It holds the stream: a refused stranger's bytes would wait for the collector of rings.
            stream.on_bytes = None
            self.admission.leave(stream)
            self.connections.discard(stream)
            if not stream.kept:
                stream.close()

    def _note_bytes(self, stream: Stream, size: int) -> None:
        greediest = self.admission.hold(stream, size)
        if greediest is not None:
            name = greediest.remote_name
            self._stranger(
                _CROWDED, f"Closing the connection from {name}: strangers have sent too much"
            )
            greediest.close()

    async def _reporting(
        self, name: str, stream: Stream, serving: Awaitable[None], ending: str
    ) -> None:
        """Say in one line what ended a peer's command, if it was not its own end."""
        try:
            await serving
        except (AuthenticationFailed, AuthorizationDenied) as error:
            self.refused += 1
            self._stranger(_DENIED, f"PERMISSION DENIED: {error}")
        except RemoteProtocolError as error:
            self._stranger(_NOT_UNDERSTOOD, f"{ending} from {name}: {error}")
        except TimeoutError:
            self._stranger(_SLOW, f"{ending} from {name}: it takes too long to say what it wants")
        except WireError as error:
            self._log.debug("D_NETWORK", str(error))
        except Exception as error:  # noqa: BLE001 - one connection must not end the daemon
            lines = "".join(traceback.format_exception(error)).rstrip()
            said = f"{command_name(stream.command)} failed: {lines}"
            self._stranger(_FAILED, said, problem=True)

    async def _serve(self, stream: Stream) -> None:
        standing = self._standing
        host = host_of(stream.remote_name)
        async with asyncio.timeout(NEGOTIATION_SECONDS):
            first = await stream.receive(FIRST_MESSAGE_SECONDS)
            if self._calls.waiting and not stream.encrypted:
                body = first.rest()
                called = read_call(body)
                if called is not None:
                    self._calls.offer(stream, called)
                    return
                first = Reader(body)
            accepted = await stream.run(
                server_handshake(
                    standing.server,
                    host,
                    standing.clock.steady(),
                    set_ahead=set_ahead(standing.clock),
                    host_names=standing.names_of(host),
                    first=first,
                    own_end=_numeric(stream.local_name),
                )
            )
        if self._log.enabled("D_SECURITY"):
            for note in note_server(accepted, stream.remote_name, standing.clock.steady()):
                self._log.debug("D_SECURITY", note)
        self._accept(stream, accepted.command, accepted.peer)
        if accepted.finished:
            return
        if accepted.message is not None and accepted.message.remaining:
            stream.push_back(accepted.message)
        await self._dispatch(stream, accepted)

    def _accept(self, stream: Stream, command: int, peer: Peer) -> None:
        """Take a stranger for who it is, and let it say as much as such peers need to."""
        stream.accept(command, peer, longest_message(peer.levels))
        self.admission.promote(stream)

    async def _dispatch(self, stream: Stream, accepted: Accepted) -> None:
        names = self._standing.names_of(accepted.peer.address)
        while True:
            registration = self._registrations[stream.command]
            await self._handle(stream, registration)
            if not registration.again or stream.closed or stream.kept:
                return
            self.admission.rest(stream)
            reader = await stream.receive(IDLE_SECONDS)
            command = reader.integer()
            now = self._standing.clock.steady()
            peer = authorize_next(self._standing.server, accepted, command, now, names)
            self._accept(stream, command, peer)
            if reader.remaining:
                stream.push_back(reader)

    async def _handle(self, stream: Stream, registration: Registration, way: str = "") -> None:
        self.handled += 1
        if self._log.enabled("D_COMMAND"):
            self._log.debug(
                "D_COMMAND",
                f"Calling handler for {command_name(stream.command)} from"
                f" {stream.peer.user} at {stream.remote_name}{way}",
            )
        await registration.handler(stream)

    # Datagrams.

    async def serve_datagram(self, data: bytes, name: str) -> None:
        """Take one UDP packet from `name`, and run the command that it completes, if any."""
        stream = Stream(Datagram(str(self._standing.address.endpoint), name))
        try:
            serving = self._serve_datagram(stream, data, name)
            await self._reporting(name, stream, serving, "Dropping the packet")
        finally:
            stream.close()

    async def _serve_datagram(self, stream: Stream, data: bytes, name: str) -> None:
        standing = self._standing
        now = standing.clock.steady()
        payload = self._reassembly.receive(name, data, now)
        if payload is None:
            return
        host = host_of(name)
        accepted = accept_datagram(
            standing.server,
            payload,
            host,
            now,
            self._replays,
            host_names=standing.names_of(host),
        )
        stream.accept(accepted.command, accepted.peer)
        if accepted.message is not None and accepted.message.remaining:
            stream.push_back(accepted.message)
        await self._handle(stream, self._registrations[accepted.command], " by UDP")

    def close(self) -> None:
        """End every connection that is being served."""
        for stream in list(self.connections):
            stream.close()


def _numeric(name: str) -> str:
    """Return one end of a connection, empty if it has no `host:port`."""
    return name if ":" in name else ""


def host_of(name: str) -> str:
    """Take the address out of `host:port` or `[host]:port`."""
    host = name.rpartition(":")[0] if ":" in name else name
    return host.strip("[]")
