"""A daemon's network: commands in, commands out, sessions, brokers.

`Network` is what services are given. `CommandNetwork` is everything but the sockets, put together
from `network_sessions`, `network_commands`, `network_calls` and `ccb`; `system_network` adds TCP
and UDP; `kettle.testing.network` adds connections in memory, so that tests run the same handshakes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Protocol

from kettle.errors import KettleError
from kettle.levels import Level
from kettle.runtime.sockets.admission import Admission
from kettle.runtime.sockets.ccb import Brokers, Reversed, Ways
from kettle.runtime.sockets.network_calls import CONNECT_SECONDS, CommandClient
from kettle.runtime.sockets.network_commands import CommandServer, Handler
from kettle.runtime.sockets.network_sessions import Standing
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.transport import Transport
from kettle.wire.dialog import Message
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Endpoint, Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.identity import DaemonIdentity
    from kettle.runtime.logs import Log
    from kettle.runtime.storage.files import Files

# Limit: connections of strangers and resting ones, where no other number is given.
_MOST_STRANGERS = 4000


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
        """Answer a command; see `CommandServer.register`."""
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
        """Open a connection for a command; see `CommandClient.connect`."""
        ...

    async def post(self, address: Sinful | str, command: int, message: Message) -> None:
        """Send a command that nothing answers, by UDP if it can be; see `CommandClient.post`."""
        ...

    def add_family(self, secret: str) -> None:
        """Join the family of the master's daemons; see `Standing.add_family`."""
        ...

    def add_session(
        self,
        claim: ClaimId,
        *,
        user: str,
        levels: Iterable[Level] = (),
        commands: Iterable[int] = (),
        lifetime: float | None = None,
    ) -> None:
        """Let whoever knows the claim's secret be `user`; see `Standing.add_session`."""
        ...

    def remove_session(self, claim: ClaimId) -> None:
        """Forget a claim's session."""
        ...

    def allows(self, stream: Stream, level: Level) -> bool:
        """Whether the peer holds a level beyond that of its command."""
        ...

    def commands_at(self, levels: Collection[Level]) -> list[int]:
        """Return the commands that this daemon answers to who holds one of these levels."""
        ...

    def reconfigure(self, config: Config) -> None:
        """Take over policies and lists; sessions stay, but for those of revoked tokens."""
        ...

    def on_moved(self, tell: Callable[[], None]) -> None:
        """Call this whenever `address` has become another one: what says the old leads nowhere."""
        ...


class CommandNetwork:
    """Handshakes, dispatch and sessions over any transport.

    What services ask of a `Network` its parts answer themselves: the standing with others,
    commands in, commands out, and the brokers.
    """

    def __init__(self, config: Config, identity: DaemonIdentity, clock: Clock, log: Log) -> None:
        self._log = log
        self.standing = standing = Standing(config, identity, clock)
        name = f"{identity.subsystem} {identity.name}"
        calls = Reversed(self, name)
        self.commands = CommandServer(standing, log, calls, Admission(_MOST_STRANGERS))
        self.client = CommandClient(standing, self, calls)
        ways = Ways(self, self.client.dial, self.commands.serve_stream)
        self.brokers = Brokers(ways, name, log, self._on_contact)
        self.add_family = standing.add_family
        self.add_session = standing.add_session
        self.remove_session = standing.remove_session
        self.expire_sessions = standing.expire_sessions
        self.register = self.commands.register
        self.serve = self.commands.serve
        self.hang_up = self.commands.close
        self.connect = self.client.connect
        self._told: list[Callable[[], None]] = []
        self.on_moved = self._told.append
        self.post = self.client.post

    @property
    def config(self) -> Config:
        """The configuration as it was read last."""
        return self.standing.config

    @property
    def address(self) -> Sinful:
        """Where this daemon can be reached."""
        return self.standing.address

    def reconfigure(self, config: Config) -> None:
        """Take over policies and lists; sessions stay, but for those of revoked tokens."""
        gone = self.standing.reconfigure(config)
        for whose in sorted({f"{one.user} ({one.claims.get('jti')})" for one in gone}):
            self._log(f"The token of {whose} is revoked: its sessions are no more")

    def allows(self, stream: Stream, level: Level) -> bool:
        """Whether the peer holds a level beyond that of its command."""
        return self.commands.allows(stream.peer, level)

    def commands_at(self, levels: Collection[Level]) -> list[int]:
        """Return the commands that this daemon answers to who holds one of these levels."""
        return self.commands.at_levels(levels)

    async def register_with_brokers(self, files: Files, seconds: float) -> None:
        """Register with the brokers of CCB_ADDRESS; see `Brokers.register`."""
        await self.brokers.register(self.config, files, seconds)

    def _on_contact(self, contacts: str) -> None:
        """Tell others, from now on, through whom we can be called."""
        self.move(self.address.with_parameter("CCBID", contacts))

    def move(self, address: Sinful) -> None:
        """Be at another address from now on, and have everybody told."""
        self.standing.address = address
        for tell in self._told:
            try:
                tell()
            except (KettleError, OSError) as error:
                # One file on a full disk: the others, and the registration itself, go on.
                self._log.problem(f"Not everybody knows that we are at {address}: {error}")

    async def open_transport(self, sinful: Sinful, seconds: float) -> Transport:
        """Make a connection; the part that differs between networks."""
        raise NotImplementedError

    def send_message(self, target: Endpoint, payload: bytes) -> None:
        """Send a message in datagrams; the part that differs between networks."""
        raise NotImplementedError

    async def close(self) -> None:
        """End every connection that is being served."""
        self.hang_up()
