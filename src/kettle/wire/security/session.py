"""Sessions and peers: what both sides keep after a negotiation, and the cache they keep it in.

Decides when a session ends and which one a client uses again; no clock here, `now` is an argument
(epoch seconds). Source: wire notes, Session cache and resume.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.structs import Struct, field

# Limit: sessions kept by one process; who has most of them loses the least recently used one, so
# that nobody's flood costs others theirs.
MAXIMUM_SESSIONS = 200_000
# Limit: characters of what a peer says of itself that its session keeps.
LONGEST_WORD = 256
# A server keeps a session so much longer than it says, for clients that are just about to use it.
SERVER_SLOP_SECONDS = 20

UNAUTHENTICATED = "unauthenticated@unmapped"


class Session(Struct):
    """A security session, as both sides remember it.

    `user` is the identity of the *client* side as the server sees it. `method` is empty for
    sessions that nobody negotiated (claims, family). `limits` are the only levels it may grant,
    None for no such limit; `valid_commands` what the server says the client may run.
    """

    id: str
    key: bytes | None
    user: str = UNAUTHENTICATED
    method: str = ""
    expires_at: float | None = None
    lease_seconds: int = 0
    lease_until: float | None = None
    # What the token says that proved the user, and from when on it proves nothing any more.
    claims: Mapping[str, str | int] = {}
    proof_until: float | None = None
    valid_commands: frozenset[int] = frozenset()
    limits: frozenset[Level] | None = None
    peer_version: str = ""
    peer_address: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    # The IP address that alone may resume it, where no key shows whose it is; empty for any.
    only_from: str = ""
    # What kind of daemon or tool the client said it is; empty if nobody negotiated.
    subsystem: str = ""
    # Whether the peer opens datagrams of this session: both have named the cipher for them.
    seals_datagrams: bool = False
    # Whether its peers are on this host, as the server knows.
    nearby: bool = False
    # Whether its one client puts checksums on its datagrams: from then on those without are forged.
    signs_datagrams: bool = False
    # The methods that both sides have, in the server's order, as a client heard them.
    common_methods: tuple[str, ...] = ()
    # Of Encryption and Integrity, what the server said YES to; a connection with a key has both.
    agreed: frozenset[str] = frozenset()
    # All that the server's ad said, for a client that asks about nothing else (DC_SEC_QUERY).
    said: Mapping[str, str | int | float | bool] = {}

    def alive(self, now: float) -> bool:
        """Tell whether the session can still be used."""
        if self.expires_at is not None and now >= self.expires_at:
            return False
        if not self.is_proven(now):
            return False
        return self.lease_until is None or now < self.lease_until

    def is_proven(self, now: float) -> bool:
        """Tell whether the token that proved the user is still good.

        Compat: the reference's sessions outlive their tokens; here a session ends
        with its token (test_a_session_ends_with_its_token).
        """
        return self.proof_until is None or now < self.proof_until

    def permits(self, command: int) -> bool:
        """Tell whether what the session says of its commands lets this one through.

        A negotiated session is authorized command by command; the list is its client's hint.
        """
        return not self.valid_commands or bool(self.method) or command in self.valid_commands

    def renew(self, now: float) -> None:
        """Note a use: the lease begins anew."""
        if self.lease_seconds > 0:
            self.lease_until = now + self.lease_seconds


class Peer(NamedTuple):
    """Who is at the other end of a connection.

    `user` is `name@domain`; `address` the IP address it connects from; `levels` what it was found
    to hold when that was decided (a handler may ask for more); `version` its RemoteVersion text.
    """

    user: str = UNAUTHENTICATED
    address: str = ""
    method: str = ""
    levels: frozenset[Level] = frozenset()
    version: str = ""
    session_id: str = ""
    limits: frozenset[Level] | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    # What kind of daemon or tool it says it is, where a session knows.
    subsystem: str = ""
    # What the token says that proved the user, where one did.
    claims: Mapping[str, str | int] = MappingProxyType({})

    @property
    def authenticated(self) -> bool:
        """Whether a method or a session proved the user."""
        return self.user != UNAUTHENTICATED


class SessionCache:
    """The sessions of one process: by id, and for clients by the address they lead to."""

    def __init__(self, maximum: int = MAXIMUM_SESSIONS) -> None:
        self._maximum = maximum
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        # User → the ids of the user's sessions, least recently used first.
        self._of_user: dict[str, OrderedDict[str, None]] = {}
        self._by_address: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._sessions

    def add(
        self, session: Session, *, address: str | None = None, named_by_peer: bool = False
    ) -> bool:
        """Keep a session; with `address` a client will find it for commands to that address.

        What was `named_by_peer` takes nobody else's place: an id says who made it and when, and
        whoever guesses one could otherwise put an end to others' sessions. Returns False then, and
        the session is good for the connection on which it was made.
        """
        known = self._sessions.get(session.id)
        if known is not None:
            own = address is not None and known.peer_address == address
            if named_by_peer and known.key != session.key and not own:
                return False
            if known.user != session.user:
                self._leave(known)
            if address is not None:
                self._leave_address(known)
        self._sessions[session.id] = session
        self._note_use(session)
        if address is not None:
            session.peer_address = address
            ids = self._by_address.setdefault(address, [])
            if session.id not in ids:
                ids.append(session.id)
        while len(self._sessions) > self._maximum:
            greediest = max(self._of_user, key=lambda user: len(self._of_user[user]))
            self.forget(next(iter(self._of_user[greediest])))
        return True

    def _note_use(self, session: Session) -> None:
        """Note that a session is the one that was used last."""
        self._sessions.move_to_end(session.id)
        own = self._of_user.setdefault(session.user, OrderedDict())
        own[session.id] = None
        own.move_to_end(session.id)

    def _leave(self, session: Session) -> None:
        """Take a session off its user's."""
        own = self._of_user[session.user]
        del own[session.id]
        if not own:
            del self._of_user[session.user]

    def _leave_address(self, session: Session) -> None:
        """Have a session found no more where it led to."""
        ids = self._by_address.get(session.peer_address)
        if ids is not None and session.id in ids:
            ids.remove(session.id)
            if not ids:
                del self._by_address[session.peer_address]

    def look_up(self, session_id: str, now: float) -> Session | None:
        """Return a live session that somebody names; a dead one is forgotten."""
        session = self._sessions.get(session_id)
        if session is None or session.alive(now):
            return session
        self.forget(session_id)
        return None

    def use(self, session: Session, now: float) -> None:
        """Renew the lease of a session that is used, and note that it was the last one."""
        session.renew(now)
        if self._sessions.get(session.id) is session:
            self._note_use(session)

    def find(self, session_id: str, now: float) -> Session | None:
        """Return a live session that is used from now on."""
        session = self.look_up(session_id, now)
        if session is not None:
            self.use(session, now)
        return session

    def find_for(self, address: str, command: int, now: float) -> Session | None:
        """Return a live session that a client may use for `command` to `address`."""
        for session_id in tuple(self._by_address.get(address, ())):
            session = self.look_up(session_id, now)
            if session is not None and command in session.valid_commands:
                self.use(session, now)
                return session
        return None

    def forget_this(self, session: Session) -> None:
        """Drop a session, but not another's of the same id."""
        known = self._sessions.get(session.id)
        if known is not None and known.key == session.key:
            self.forget(session.id)

    def forget(self, session_id: str) -> None:
        """Drop a session, if it is there."""
        session = self._sessions.pop(session_id, None)
        if session is None:
            return
        self._leave(session)
        self._leave_address(session)

    def expire(self, now: float) -> int:
        """Drop every dead session; returns how many."""
        dead = [one.id for one in self._sessions.values() if not one.alive(now)]
        for session_id in dead:
            self.forget(session_id)
        return len(dead)

    def end_proofs(self, is_revoked: Callable[[Mapping[str, str | int]], bool]) -> list[Session]:
        """Drop the sessions whose token is revoked, and end what goes on in them; return them.

        Compat: the reference refuses new sessions alone, and those that there are live on
        (test_a_member_whose_token_is_revoked_leaves_the_pool_at_once).
        """
        verdicts: dict[tuple[tuple[str, str | int], ...], bool] = {}
        gone = []
        for session in self._sessions.values():
            claims = tuple(session.claims.items())
            if claims and claims not in verdicts:
                verdicts[claims] = is_revoked(session.claims)
            if claims and verdicts[claims]:
                session.proof_until = -math.inf
                gone.append(session)
        for session in gone:
            self.forget(session.id)
        return gone

    def sessions(self) -> Iterable[Session]:
        """Iterate over all sessions, least recently used first."""
        return tuple(self._sessions.values())
