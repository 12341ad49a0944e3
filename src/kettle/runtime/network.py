"""Commands in and out: listening, handshakes, dispatch, connecting, sessions.

`CommandNetwork` is everything but the sockets: it takes connections that `_open` or a listener
made. `system_network` adds TCP; `kettle.testing.network` adds connections in memory, so that tests
run the same handshakes. What is negotiated is decided in `wire.security`; who may run what in
`wire.security.authorization`; what a command does in its handler.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import traceback
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    ConnectionLost,
    RemoteProtocolError,
    SessionUnknown,
    WireError,
)
from kettle.runtime import tasks
from kettle.runtime.addresses import find_collectors
from kettle.runtime.ccb import Listening, Reversed
from kettle.runtime.credentials import SystemClientCredentials, SystemServerCredentials
from kettle.runtime.security_settings import read_security
from kettle.runtime.stream import Stream
from kettle.runtime.transport import Transport
from kettle.wire.channel import UNACCEPTED_MESSAGE, Channel
from kettle.wire.codec import Reader
from kettle.wire.commands import Command, Daemon, command_name, find_command
from kettle.wire.dialog import Words
from kettle.wire.levels import Level
from kettle.wire.messages.brokering import CcbReverseConnect
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.security.client_side import ClientSetup, client_handshake
from kettle.wire.security.negotiation import Wish
from kettle.wire.security.server_side import (
    FIRST_MESSAGE_SECONDS,
    Accepted,
    Registered,
    ServerSetup,
    authorize_next,
    server_handshake,
)
from kettle.wire.security.session import Peer, Session, SessionCache
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.files import Files
    from kettle.runtime.identity import DaemonIdentity
    from kettle.runtime.logs import Log

Handler = Callable[[Stream], Awaitable[None]]

# Wire reference, Timeouts.
CONNECT_SECONDS = 20.0
NEGOTIATION_SECONDS = 120.0

FAMILY_USER = "condor@family"
_FAMILY_LEVELS = (
    Level.ADMINISTRATOR,
    Level.DAEMON,
    Level.ADVERTISE_STARTD,
    Level.ADVERTISE_SCHEDD,
    Level.ADVERTISE_MASTER,
    Level.NEGOTIATOR,
    Level.CLIENT,
)

_DAEMONS = {daemon.name: daemon for daemon in Daemon}


@dataclass(frozen=True, slots=True)
class Registration:
    """A command and who answers it; `again` means that further commands may follow it."""

    handler: Handler
    again: bool


class Network(Protocol):
    """What a service may do with the network."""

    @property
    def address(self) -> Sinful:
        """Where this daemon can be reached."""
        ...

    def register(
        self,
        command: int,
        handler: Handler,
        *,
        levels: Iterable[Level] | None = None,
        force_authentication: bool | None = None,
        again: bool = False,
    ) -> None:
        """Answer a command; see `CommandNetwork.register`."""
        ...

    async def connect(
        self,
        address: Sinful | str,
        command: int,
        *,
        session: ClaimId | None = None,
        timeout: float = CONNECT_SECONDS,  # noqa: ASYNC109
        force_authentication: bool = False,
    ) -> Stream:
        """Open a connection for a command; see `CommandNetwork.connect`."""
        ...

    def add_family(self, secret: str) -> None:
        """Join the family of the master's daemons; see `CommandNetwork.add_family`."""
        ...

    def add_session(
        self,
        claim: ClaimId,
        *,
        user: str,
        levels: Iterable[Level] = (),
        lifetime: float | None = None,
    ) -> None:
        """Let whoever knows the claim's secret be `user`; see `CommandNetwork.add_session`."""
        ...

    def remove_session(self, claim: ClaimId) -> None:
        """Forget a claim's session."""
        ...

    def allows(self, stream: Stream, level: Level) -> bool:
        """Whether the peer holds a level beyond that of its command."""
        ...

    def reconfigure(self, config: Config) -> None:
        """Take over policies and lists; sessions and registrations stay."""
        ...


class CommandNetwork:
    """Handshakes, dispatch and sessions over any transport."""

    def __init__(self, config: Config, identity: DaemonIdentity, clock: Clock, log: Log) -> None:
        self._config = config
        self._identity = identity
        self._clock = clock
        self._log = log
        self._address = Sinful("127.0.0.1", 0)
        self._registrations: dict[int, Registration] = {}
        self._registered: dict[int, Registered] = {}
        self._sessions = SessionCache()
        self._outgoing = SessionCache()
        self._family: Session | None = None
        self._strangers: set[str] = set()
        self._holes: list[tuple[Level, str]] = []
        self._connections: set[Stream] = set()
        self._setup: ServerSetup | None = None
        self._client: ClientSetup | None = None
        self._reversed = Reversed(self, f"{identity.subsystem} {identity.name}")
        self._brokers: list[Listening] = []
        self.commands_handled = 0
        self.connections_refused = 0

    # What this daemon is.

    @property
    def address(self) -> Sinful:
        """Where this daemon can be reached."""
        return self._address

    @property
    def server(self) -> ServerSetup:
        """What this daemon brings to a negotiation as the server."""
        if self._setup is None:
            self._setup = self._make_server()
        return self._setup

    @property
    def client(self) -> ClientSetup:
        """What this daemon brings to a negotiation as the client."""
        if self._client is None:
            self._client = self._make_client()
        return self._client

    def reconfigure(self, config: Config) -> None:
        """Take over policies and lists; sessions and registrations stay."""
        self._config = config
        self._setup = None
        self._client = None
        self._strangers.clear()

    def _make_server(self) -> ServerSetup:
        settings = read_security(self._config)
        authorization = settings.authorization()
        for level, user in self._holes:
            authorization.add_hole(level, user)
        identity = self._identity
        started = f"{int(identity.started_at)}.{secrets.token_hex(3)}"
        return ServerSetup(
            policies=dict(settings.policies),
            registered=self._registered,
            authorization=authorization,
            sessions=self._sessions,
            credentials=SystemServerCredentials(self._config),
            addresses=self._reachable_at(),
            random_bytes=secrets.token_bytes,
            session_name=f"{identity.machine}:{identity.pid}:{started}",
            uid_domain=settings.uid_domain,
            trust_domain=settings.trust_domain,
            mapfile=settings.mapfile,
            fs_directory=settings.fs_directory,
            root_is_condor=settings.root_is_condor,
            token_maximum_age_seconds=settings.token_maximum_age_seconds,
            version=identity.version,
        )

    def _make_client(self) -> ClientSetup:
        config = self._config
        settings = read_security(config)
        return ClientSetup(
            policy=settings.policies[Level.CLIENT],
            credentials=SystemClientCredentials(config, self._clock.now),
            random_bytes=secrets.token_bytes,
            subsystem=config.subsystem,
            process_id=os.getpid(),
            own_address=str(self._address) if self._address.port else "",
            parent_id=config.environment.get("CONDOR_PARENT_ID", ""),
            uid_domain=settings.uid_domain,
        )

    def _reachable_at(self) -> tuple[Sinful, ...]:
        """Every form in which a client may have dialed us."""
        own = self._address
        hosts = [endpoint.host for endpoint in own.addresses] + ["127.0.0.1", "::1"]
        return (own, *(Sinful(host, own.port, own.parameters) for host in hosts))

    # Sessions that nobody negotiates.

    def add_family(self, secret: str) -> None:
        """Join the family of the master's daemons, whose shared secret this is."""
        claim = ClaimId(secret)
        session = claim.session(FAMILY_USER)
        self._sessions.add(session)
        self._family = claim.session(FAMILY_USER)
        for level in _FAMILY_LEVELS:
            self._add_hole(level, FAMILY_USER)

    def add_session(
        self,
        claim: ClaimId,
        *,
        user: str,
        levels: Iterable[Level] = (),
        lifetime: float | None = None,
    ) -> None:
        """Let whoever knows the claim's secret be `user`, for `lifetime` seconds (None: for good).

        `levels` are granted to that user name as such; use it for `…@matchsession` names only.
        Raises RemoteProtocolError if the claim carries no session.
        """
        ends = None if lifetime is None else self._clock.now() + lifetime
        self._sessions.add(claim.session(user, expires_at=ends))
        for level in levels:
            self._add_hole(level, user)

    def remove_session(self, claim: ClaimId) -> None:
        """Forget a claim's session, in both directions."""
        self._sessions.forget(claim.session_id)
        self._outgoing.forget(claim.session_id)

    def _add_hole(self, level: Level, user: str) -> None:
        if (level, user) not in self._holes:
            self._holes.append((level, user))
            if self._setup is not None:
                self._setup.authorization.add_hole(level, user)

    # Commands in.

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
            levels = row.levels(_DAEMONS.get(self._config.subsystem))
        if force_authentication is None:
            force_authentication = row is not None and row.force_authentication
        self._registered[int(command)] = Registered(tuple(levels), force_authentication)
        self._registrations[int(command)] = Registration(handler, again)

    def allows(self, stream: Stream, level: Level) -> bool:
        """Whether the peer holds a level beyond that of its command."""
        peer = stream.peer
        names = self._names_of(peer.address)
        return self.server.authorization.allows(
            level, peer.user, peer.address, names, limits=peer.limits
        )

    def _names_of(self, host: str) -> tuple[str, ...]:
        """Return the names by which the lists may mean a peer: those of this host for its own.

        Limit: other hosts' names are not looked up, so that a name server that hangs hangs nobody;
        lists name them by address or network.
        """
        own = self._address
        loopback = host.startswith("127.") or host == "::1"
        if not loopback and host not in {own.host, *(one.host for one in own.addresses)}:
            return ()
        names = (self._identity.machine, self._identity.machine.partition(".")[0])
        return (*names, "localhost") if loopback else names

    async def serve(self, transport: Transport) -> None:
        """Answer one connection from its first message to its end."""
        channel = Channel()
        channel.maximum_message = UNACCEPTED_MESSAGE
        await self.serve_stream(Stream(transport, channel))

    async def serve_stream(self, stream: Stream) -> None:
        """Answer a connection on which something else was said before, such as a call back."""
        self._connections.add(stream)
        try:
            await self._serve(stream)
        except (AuthenticationFailed, AuthorizationDenied) as error:
            self.connections_refused += 1
            self._log(f"PERMISSION DENIED: {error}")
        except RemoteProtocolError as error:
            self._log(f"Closing the connection from {stream.remote_name}: {error}")
        except WireError as error:
            self._log.debug("D_NETWORK", str(error))
        except Exception as error:  # noqa: BLE001 - one connection must not end the daemon
            lines = "".join(traceback.format_exception(error)).rstrip()
            self._log.problem(f"{command_name(stream.command)} failed: {lines}")
        finally:
            self._connections.discard(stream)
            if not stream.kept:
                stream.close()

    async def _serve(self, stream: Stream) -> None:
        host = _host_of(stream.remote_name)
        async with asyncio.timeout(NEGOTIATION_SECONDS):
            first = await stream.receive(FIRST_MESSAGE_SECONDS)
            if self._reversed.waiting and not stream.encrypted:
                body = first.rest()
                called = _read_call(body)
                if called is not None:
                    self._reversed.offer(stream, called)
                    return
                first = Reader(body)
            accepted = await stream.run(
                server_handshake(
                    self.server,
                    host,
                    self._clock.now(),
                    host_names=self._names_of(host),
                    first=first,
                )
            )
        stream.accept(accepted.command, accepted.peer)
        if accepted.finished:
            return
        if accepted.message is not None and accepted.message.remaining:
            stream.push_back(accepted.message)
        await self._dispatch(stream, accepted)

    async def _dispatch(self, stream: Stream, accepted: Accepted) -> None:
        names = self._names_of(accepted.peer.address)
        while True:
            registration = self._registrations[stream.command]
            self.commands_handled += 1
            if self._log.enabled("D_COMMAND"):
                self._log.debug(
                    "D_COMMAND",
                    f"Calling handler for {command_name(stream.command)} from"
                    f" {stream.peer.user} at {stream.remote_name}",
                )
            await registration.handler(stream)
            if not registration.again or stream.closed or stream.kept:
                return
            reader = await stream.receive_forever()
            command = reader.integer()
            stream.accept(command, authorize_next(self.server, accepted, command, names))
            if reader.remaining:
                stream.push_back(reader)

    # Commands out.

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
        if session is not None:
            known = self._outgoing.find(session.session_id, self._clock.now())
            if known is None:
                known = session.session("")
                self._outgoing.add(known)
            return await self._connect_with(sinful, command, known, timeout, force_authentication)
        cached = self._choose_session(sinful, command, force_authentication)
        if cached is not None:
            try:
                return await self._connect_with(
                    sinful, command, cached, timeout, force_authentication
                )
            except SessionUnknown:
                self._forget(sinful, cached)
            except ConnectionLost:
                # A peer that never answers resumptions just closes: ask it without a session.
                if cached is self._family:
                    raise
                self._forget(sinful, cached)
        return await self._connect_with(sinful, command, None, timeout, force_authentication)

    def _choose_session(self, sinful: Sinful, command: int, forced: bool) -> Session | None:
        key = str(sinful)
        if self._family is not None and key not in self._strangers and self._is_near(sinful):
            return self._family
        found = self._outgoing.find_for(key, command, self._clock.now())
        if found is not None and forced and not found.method:
            return None
        return found

    def _is_near(self, sinful: Sinful) -> bool:
        """Whether the address is on this host, where the family lives."""
        return sinful.host.startswith("127.") or sinful.host in {
            "::1",
            self._address.host,
            *(endpoint.host for endpoint in self._address.addresses),
        }

    def _forget(self, sinful: Sinful, session: Session) -> None:
        if session is self._family:
            self._strangers.add(str(sinful))
        else:
            self._outgoing.forget(session.id)

    async def _connect_with(
        self,
        sinful: Sinful,
        command: int,
        session: Session | None,
        seconds: float,
        force_authentication: bool,
    ) -> Stream:
        stream = await self._reach(sinful, seconds)
        stream.timeout = seconds
        try:
            setup = self.client
            if session is None and setup.policy.negotiation is Wish.NEVER:
                stream.begin_bare(command)
                stream.accept(command, Peer(address=sinful.host))
                return stream
            used = await stream.run(
                client_handshake(
                    setup,
                    sinful,
                    command,
                    self._clock.now(),
                    session=session,
                    force_authentication=force_authentication,
                )
            )
        except BaseException:
            stream.close()
            raise
        if session is None:
            self._outgoing.add(used, address=str(sinful))
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

    async def _reach(self, sinful: Sinful, seconds: float) -> Stream:
        """Open a connection in whichever direction it goes, up to the daemon's first ear."""
        contacts = sinful.ccb_contacts
        if contacts and not self._is_in_our_network(sinful):
            return await self._reversed.open(contacts, seconds)
        return await self._dial(sinful, seconds)

    async def _dial(self, sinful: Sinful, seconds: float) -> Stream:
        stream = Stream(await self._open(sinful, seconds))
        try:
            await self._pass_shared_port(stream, sinful)
        except BaseException:
            stream.close()
            raise
        return stream

    def _is_in_our_network(self, sinful: Sinful) -> bool:
        network = self._config.get("PRIVATE_NETWORK_NAME") or ""
        return bool(network) and sinful.parameter("PrivNet") == network

    async def register_with_brokers(self, files: Files, seconds: float) -> None:
        """Register with every broker of CCB_ADDRESS, and wait a while for the first answers.

        Whatever is late or lost is tried again for as long as the daemon lives.
        """
        count = len(self._config.words("CCB_ADDRESS"))
        if not count or self._brokers:
            return

        def broker(number: int) -> Sinful | None:
            found = find_collectors(self._config, files, knob="CCB_ADDRESS")
            return found[number] if number < len(found) else None

        for number in range(count):
            listening = Listening(
                self,
                partial(broker, number),
                f"{self._identity.subsystem} {self._identity.name}",
                self._log,
                dial=self._dial,
                serve=self.serve_stream,
                on_contact=self._on_contact,
            )
            self._brokers.append(listening)
            tasks.spawn(listening.run(), f"CCB broker {number}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(one.registered.wait() for one in self._brokers))

    def _on_contact(self) -> None:
        """Tell others, from now on, through whom we can be called."""
        contacts = " ".join(one.contact for one in self._brokers if one.contact)
        self._address = self._address.with_parameter("CCBID", contacts)
        self._client = None
        if self._setup is not None:
            self._setup.addresses = self._reachable_at()

    async def _pass_shared_port(self, stream: Stream, sinful: Sinful) -> None:
        """Say whom we want behind a shared port; this is no part of the conversation."""
        port_id = sinful.shared_port_id
        if port_id is None:
            return
        name = f"{self._config.subsystem} {self._address}"
        await stream.send(Words(int(Command.SHARED_PORT_CONNECT), port_id, name, -1, 0))
        if port_id != "self":
            stream.reset_digests()

    async def _open(self, sinful: Sinful, seconds: float) -> Transport:
        """Make a connection; the part that differs between networks."""
        raise NotImplementedError

    def expire_sessions(self) -> None:
        """Forget sessions that nobody can use any more."""
        now = self._clock.now()
        self._sessions.expire(now)
        self._outgoing.expire(now)

    async def close(self) -> None:
        """End every connection that is being served."""
        for stream in list(self._connections):
            stream.close()


def _read_call(body: bytes) -> CcbReverseConnect | None:
    """Read a first message as a call back; None if it is anything else."""
    if len(body) < 8 or int.from_bytes(body[:8], "big") != Command.CCB_REVERSE_CONNECT:
        return None
    return CcbReverseConnect.read_bare(Reader(body))


def _host_of(name: str) -> str:
    """Take the address out of `host:port` or `[host]:port`."""
    host = name.rpartition(":")[0] if ":" in name else name
    return host.strip("[]")
