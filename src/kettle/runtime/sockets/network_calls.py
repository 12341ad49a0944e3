"""Commands out: reaching a daemon, having a command accepted there, one-way messages.

Which session is used is `network_sessions.Standing`'s choice, what is said to agree on a new one
`wire.security`'s. How bytes get there differs between networks: `open_transport` makes a
connection, `send_message` sends a message in datagrams.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol

from kettle.errors import ConnectionLost, SessionUnknown
from kettle.runtime.sockets.addresses import choose_route
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.transport import Transport
from kettle.wire.commands import Command
from kettle.wire.dialog import Message
from kettle.wire.security.client_side import (
    authenticates_inline,
    begins_bare,
    client_handshake,
    client_inline_authentication,
)
from kettle.wire.security.datagrams import compose_bare, seal
from kettle.wire.security.session import Peer, Session
from kettle.wire.shared_port import connect_through
from kettle.wire.sinful import Endpoint, Sinful

if TYPE_CHECKING:
    from kettle.runtime.sockets.ccb import Reversed
    from kettle.runtime.sockets.network_sessions import Standing
    from kettle.wire.security.claim_id import ClaimId

# Wire notes, Timeouts.
CONNECT_SECONDS = 20.0
# A datagram is not answered, so nobody says that its session is not known any more, as to a daemon
# that was started anew: after so long one is made anew over TCP, where it is known.
TRUSTED_SECONDS = 300.0


class Carrier(Protocol):
    """What carries bytes: the machine's network, or one in memory."""

    def open_transport(self, sinful: Sinful, seconds: float) -> Awaitable[Transport]:
        """Make a connection to an address; ConnectionLost if it cannot be made in time."""
        ...

    def send_message(self, target: Endpoint, payload: bytes) -> None:
        """Send one message in datagrams; ConnectionLost if they cannot be sent."""
        ...


class CommandClient:
    """Opens connections that begin with a command."""

    def __init__(self, standing: Standing, carrier: Carrier, calls: Reversed) -> None:
        self._standing = standing
        self._carrier = carrier
        self._calls = calls
        # By address, the session that was agreed on for datagrams, and when.
        self._agreed: dict[str, tuple[str, float]] = {}

    async def connect(
        self,
        address: Sinful | str,
        command: int,
        *,
        session: ClaimId | None = None,
        timeout: float = CONNECT_SECONDS,  # noqa: ASYNC109 - of the connection's parts, too
        force_authentication: bool = False,
    ) -> Stream:
        """Open a connection to a daemon and have `command` accepted there.

        What is sent next are the command's arguments. A claim's session is used if given;
        otherwise a cached or the family session, or a new one is negotiated. A session that the
        peer has forgotten is negotiated anew, once. Raises ConnectionLost,
        AuthenticationFailed, AuthorizationDenied, RemoteProtocolError, and SessionUnknown where a
        claim's session is not known to the peer.
        """
        sinful = Sinful.parse(address) if isinstance(address, str) else address
        standing = self._standing
        if session is not None:
            known = standing.claim_session(session)
            return await self._connect_with(sinful, command, known, timeout, force_authentication)
        cached = standing.choose_session(sinful, command, forced=force_authentication)
        if cached is not None:
            try:
                return await self._connect_with(
                    sinful, command, cached, timeout, force_authentication
                )
            except SessionUnknown:
                standing.forget(sinful, cached)
            except ConnectionLost:
                # A peer that never answers resumptions just closes: ask it without a session.
                if standing.is_family(cached):
                    raise
                standing.forget(sinful, cached)
        return await self._connect_with(sinful, command, None, timeout, force_authentication)

    async def _connect_with(
        self,
        sinful: Sinful,
        command: int,
        session: Session | None,
        seconds: float,
        force_authentication: bool,
    ) -> Stream:
        standing = self._standing
        stream = await self._reach(sinful, seconds)
        stream.timeout = seconds
        try:
            setup = standing.client
            if begins_bare(setup.policy, session, None):
                method = ""
                if authenticates_inline(command):
                    method = await stream.run(client_inline_authentication(setup, sinful, command))
                else:
                    stream.begin_bare(command)
                stream.accept(command, Peer(address=sinful.host, method=method))
                return stream
            used = await stream.run(
                client_handshake(
                    setup,
                    sinful,
                    command,
                    standing.clock.steady(),
                    session=session,
                    force_authentication=force_authentication,
                    server_end=stream.remote_name if self._calls_back(sinful) else "",
                )
            )
        except BaseException:
            stream.close()
            raise
        if session is None:
            standing.outgoing.add(used, address=str(sinful), named_by_peer=True)
        stream.accept(
            command,
            Peer(
                address=sinful.host,
                method=used.method,
                version=used.peer_version,
                session_id=used.id,
            ),
        )
        return stream

    async def post(self, address: Sinful | str, command: int, message: Message) -> None:
        """Send a command that nothing answers in datagrams, if the daemon has a UDP port.

        A session is made over TCP first where there is none yet. That it is sent does not mean
        that it arrives. To daemons without a UDP port it goes over TCP. Raises as `connect`.
        """
        sinful = Sinful.parse(address) if isinstance(address, str) else address
        if sinful.no_udp:
            stream = await self.connect(sinful, command)
            try:
                await stream.send(message)
            finally:
                stream.close()
            return
        standing = self._standing
        setup = standing.client
        session = standing.choose_session(sinful, command, forced=False)
        if session is not None and not self._is_trusted(sinful, session):
            session = None
        if session is None and not begins_bare(setup.policy, None, None):
            session = await self._make_session(sinful, command)
        payload = (
            compose_bare(command, message)
            if session is None
            else seal(setup, session, sinful, command, message)
        )
        self._carrier.send_message(self.route(sinful).endpoint, payload)

    def _is_trusted(self, sinful: Sinful, session: Session) -> bool:
        """Whether a session may seal a datagram, and the peer has shown lately that it knows it."""
        standing = self._standing
        if session.key is None or standing.is_family(session):
            return True
        agreed, when = self._agreed.get(str(sinful), ("", 0.0))
        lately = agreed == session.id and standing.clock.steady() - when < TRUSTED_SECONDS
        return session.seals_datagrams and lately

    async def _make_session(self, sinful: Sinful, command: int) -> Session:
        """Agree on a session for a command over TCP, and do nothing else there."""
        standing = self._standing
        stream = await self._reach(sinful, CONNECT_SECONDS)
        try:
            session = await stream.run(
                client_handshake(
                    standing.client,
                    sinful,
                    Command.DC_AUTHENTICATE,
                    standing.clock.steady(),
                    authorized_command=command,
                    server_end=stream.remote_name if self._calls_back(sinful) else "",
                )
            )
        finally:
            stream.close()
        standing.outgoing.add(session, address=str(sinful), named_by_peer=True)
        self._agreed[str(sinful)] = (session.id, standing.clock.steady())
        return session

    def route(self, sinful: Sinful) -> Sinful:
        """Return the address to dial for a daemon's, from this host's networks."""
        return choose_route(self._standing.config, sinful)

    async def _reach(self, sinful: Sinful, seconds: float) -> Stream:
        """Open a connection in whichever direction it goes, up to the daemon's first ear."""
        if self._calls_back(sinful):
            return await self._calls.open(sinful.ccb_contacts, seconds)
        return await self.dial(sinful, seconds)

    async def dial(self, sinful: Sinful, seconds: float) -> Stream:
        """Open a connection to an address as it stands, through a shared port if it names one."""
        stream = Stream(await self._carrier.open_transport(self.route(sinful), seconds))
        try:
            name = f"{self._standing.config.subsystem} {self._standing.address}"
            await stream.run(connect_through(sinful, name))
        except BaseException:
            stream.close()
            raise
        return stream

    def _calls_back(self, sinful: Sinful) -> bool:
        """Whether it is the daemon that makes the connection."""
        return bool(sinful.ccb_contacts) and not self._is_in_our_network(sinful)

    def _is_in_our_network(self, sinful: Sinful) -> bool:
        network = self._standing.config.get("PRIVATE_NETWORK_NAME") or ""
        return bool(network) and sinful.parameter("PrivNet") == network
