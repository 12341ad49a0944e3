"""What a daemon brings to every negotiation: its policies, its sessions, whom it takes for whom.

One `Standing` a daemon, shared by commands in (`network_commands`) and commands out
(`network_calls`). It follows the configuration and the daemon's own address; what is negotiated
is decided in `wire.security`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kettle.errors import RemoteProtocolError
from kettle.levels import Level
from kettle.runtime.credentials import (
    SystemClientCredentials,
    SystemServerCredentials,
    find_revocation,
)
from kettle.runtime.sockets.security_settings import read_security
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.security.client_side import ClientSetup
from kettle.wire.security.server_setup import Registered, ServerSetup
from kettle.wire.security.session import Session, SessionCache
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.identity import DaemonIdentity

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


class Standing:
    """A daemon as its peers meet it; `registered` are the commands it answers.

    `sessions` are those that peers resume here, `outgoing` those that this daemon resumes there.
    """

    def __init__(self, config: Config, identity: DaemonIdentity, clock: Clock) -> None:
        self.config = config
        self.identity = identity
        self.clock = clock
        self.registered: dict[int, Registered] = {}
        self.sessions = SessionCache()
        self.outgoing = SessionCache()
        self._address = Sinful("127.0.0.1", 0)
        self._family: Session | None = None
        self._strangers: set[str] = set()
        # Which session grants what to whom: a hole is closed with the last session that opened it.
        self._grants: dict[str, tuple[tuple[Level, str], ...]] = {}
        self._server: ServerSetup | None = None
        self._client: ClientSetup | None = None

    # Address, policies, credentials.

    @property
    def address(self) -> Sinful:
        """Where this daemon can be reached."""
        return self._address

    @address.setter
    def address(self, address: Sinful) -> None:
        """Tell peers this address from now on."""
        self._address = address
        self._client = None
        if self._server is not None:
            self._server.addresses = self._reachable_at()

    @property
    def server(self) -> ServerSetup:
        """What this daemon brings to a negotiation as the server."""
        if self._server is None:
            self._server = self._make_server()
        return self._server

    @property
    def client(self) -> ClientSetup:
        """What this daemon brings to a negotiation as the client."""
        if self._client is None:
            self._client = self._make_client()
        return self._client

    def reconfigure(self, config: Config) -> list[Session]:
        """Take over policies and lists; registrations and sessions stay.

        Except for those whose token SEC_TOKEN_REVOCATION_EXPR names now: they are returned, gone.
        """
        self.config = config
        self._server = None
        self._client = None
        self._strangers.clear()
        is_revoked = find_revocation(config)
        return [] if is_revoked is None else self.sessions.end_proofs(is_revoked)

    def _make_server(self) -> ServerSetup:
        settings = read_security(self.config)
        authorization = settings.authorization()
        for grants in self._grants.values():
            for level, user in grants:
                authorization.add_hole(level, user)
        identity = self.identity
        started = f"{int(identity.started_at)}.{secrets.token_hex(3)}"
        return ServerSetup(
            policies=dict(settings.policies),
            registered=self.registered,
            authorization=authorization,
            sessions=self.sessions,
            credentials=SystemServerCredentials(self.config),
            addresses=self._reachable_at(),
            random_bytes=secrets.token_bytes,
            session_name=f"{identity.machine}:{identity.pid}:{started}",
            uid_domain=settings.uid_domain,
            trust_domain=settings.trust_domain,
            mapfile=settings.mapfile,
            fs_directory=settings.fs_directory,
            fs_remote_directory=settings.fs_remote_directory,
            root_is_condor=settings.root_is_condor,
            token_maximum_age_seconds=settings.token_maximum_age_seconds,
            claims_domain=settings.claims_domain,
            ssl_needs_mapping=settings.ssl_needs_mapping,
            version=identity.version,
        )

    def _make_client(self) -> ClientSetup:
        config = self.config
        settings = read_security(config)
        return ClientSetup(
            policy=settings.policies[Level.CLIENT],
            credentials=SystemClientCredentials(config, self.clock.now),
            random_bytes=secrets.token_bytes,
            subsystem=config.subsystem,
            process_id=os.getpid(),
            own_address=str(self._address) if self._address.port else "",
            parent_id=config.environment.get("CONDOR_PARENT_ID", ""),
            uid_domain=settings.uid_domain,
            claims_domain=settings.claims_domain,
        )

    def _reachable_at(self) -> tuple[Sinful, ...]:
        """Every form in which a client may have dialed us."""
        own = self._address
        hosts = [endpoint.host for endpoint in own.addresses] + ["127.0.0.1", "::1"]
        return (own, *(Sinful(host, own.port, own.parameters) for host in hosts))

    # Whose names and addresses are ours.

    def names_of(self, host: str) -> tuple[str, ...]:
        """Return the names by which the lists may mean a peer: those of this host for its own.

        Limit: other hosts' names are not looked up, so that a name server that hangs hangs nobody;
        lists name them by address or network.
        """
        loopback = host.startswith("127.") or host == "::1"
        if not loopback and not self._is_own(host):
            return ()
        names = (self.identity.machine, self.identity.machine.partition(".")[0])
        return (*names, "localhost") if loopback else names

    def is_near(self, host: str) -> bool:
        """Whether an address is on this host, where the family lives."""
        return host.startswith("127.") or host == "::1" or self._is_own(host)

    def _is_own(self, host: str) -> bool:
        return host == self._address.host or any(
            host == endpoint.host for endpoint in self._address.addresses
        )

    # Sessions that nobody negotiates.

    def add_family(self, secret: str) -> None:
        """Join the family of the master's daemons, whose shared secret this is."""
        claim = ClaimId(secret)
        self._family = claim.session(FAMILY_USER)
        theirs = claim.session(FAMILY_USER)
        theirs.nearby = True
        self.sessions.add(theirs)
        self._grant(claim.session_id, _FAMILY_LEVELS, FAMILY_USER)

    def add_session(
        self,
        claim: ClaimId,
        *,
        user: str,
        levels: Iterable[Level] = (),
        commands: Iterable[int] = (),
        lifetime: float | None = None,
    ) -> None:
        """Let whoever knows the claim's secret be `user`, for `lifetime` seconds (None: for good).

        The session is good for `commands` alone; without any, for all that its user may do.
        `levels` are granted to that user name as such, for as long as the session is there; use it
        for `…@matchsession` names only. Raises RemoteProtocolError if the claim carries no session.
        """
        ends = None if lifetime is None else self.clock.steady() + lifetime
        session = claim.session(user, expires_at=ends, commands=commands)
        # A startd may think of any id, such as a user's.
        if self.sessions.add(session, named_by_peer=True):
            self._grant(claim.session_id, levels, user)

    def remove_session(self, claim: ClaimId) -> None:
        """Forget a claim's session, in both directions."""
        try:
            session = claim.session("")
        except RemoteProtocolError:
            return
        self.sessions.forget_this(session)
        self.outgoing.forget_this(session)
        if claim.session_id not in self.sessions:
            self._revoke(claim.session_id)

    def expire_sessions(self) -> None:
        """Forget sessions that nobody can use any more, and what they granted."""
        now = self.clock.steady()
        self.sessions.expire(now)
        self.outgoing.expire(now)
        for session_id in [one for one in self._grants if one not in self.sessions]:
            self._revoke(session_id)

    def _grant(self, session_id: str, levels: Iterable[Level], user: str) -> None:
        self._revoke(session_id)
        grants = tuple((level, user) for level in levels)
        if not grants:
            return
        self._grants[session_id] = grants
        if self._server is not None:
            for level, who in grants:
                self._server.authorization.add_hole(level, who)

    def _revoke(self, session_id: str) -> None:
        grants = self._grants.pop(session_id, ())
        if self._server is not None:
            for level, who in grants:
                self._server.authorization.remove_hole(level, who)

    # Which session to use.

    def claim_session(self, claim: ClaimId) -> Session:
        """Return the session of a claim, as its client."""
        known = self.outgoing.find(claim.session_id, self.clock.steady())
        # One that has a user was negotiated: what another server called its session has nothing to
        # do with the claim.
        if known is None or known.user:
            known = claim.session("")
            self.outgoing.add(known)
        return known

    def choose_session(self, sinful: Sinful, command: int, *, forced: bool) -> Session | None:
        """Return the family's or a cached session for a command to an address, None if none fits.

        `forced` means that the command needs a session that somebody proved.
        """
        key = str(sinful)
        if self._family is not None and key not in self._strangers and self.is_near(sinful.host):
            return self._family
        found = self.outgoing.find_for(key, command, self.clock.steady())
        if found is not None and forced and not found.method:
            return None
        return found

    def is_family(self, session: Session) -> bool:
        """Whether this is the session of the master's daemons."""
        return session is self._family

    def forget(self, sinful: Sinful, session: Session) -> None:
        """Do not try this session at that address again."""
        if self.is_family(session):
            self._strangers.add(str(sinful))
        else:
            self.outgoing.forget(session.id)
