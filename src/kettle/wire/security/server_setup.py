"""What a daemon brings to the negotiations of its commands, what each is about, and ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kettle.attributes.version import CONDOR_VERSION
from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.wire.codec import Reader
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.keys import KeyPair, make_key_pair
from kettle.wire.security.mapfile import MapFile
from kettle.wire.security.methods.context import ServerCredentials
from kettle.wire.security.negotiation import Policy
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.session import Peer, Session, SessionCache
from kettle.wire.sinful import Sinful


class Registered(NamedTuple):
    """What a daemon has said about a command it answers: alternative levels, forced or not."""

    levels: tuple[Level, ...]
    force_authentication: bool = False


@dataclass(slots=True)
class ServerSetup:
    """What a daemon brings to every negotiation; made once, changed by reconfiguration.

    `addresses` are the sinfuls by which clients reach it, its own first; `session_name` begins the
    ids of its sessions (`host:pid:time`).
    """

    policies: dict[Level, Policy]
    registered: dict[int, Registered]
    authorization: Authorization
    sessions: SessionCache
    credentials: ServerCredentials
    addresses: tuple[Sinful, ...]
    random_bytes: Callable[[int], bytes]
    session_name: str
    uid_domain: str
    trust_domain: str = ""
    mapfile: MapFile | None = None
    fs_directory: str = "/tmp"  # noqa: S108 - the place both sides know
    fs_remote_directory: str = ""
    root_is_condor: bool = True
    anonymous_user: str = "CONDOR_ANONYMOUS_USER"
    token_maximum_age_seconds: int = 0
    claims_domain: bool = True
    ssl_needs_mapping: bool = False
    version: str = CONDOR_VERSION
    make_keys: Callable[[], KeyPair] = field(default=make_key_pair)
    sessions_made: int = 0

    def policy_for(self, registered: Registered) -> Policy:
        """Return the policy of a command: that of the first of its levels."""
        return self.policies.get(registered.levels[0]) or Policy()

    def first_allowed(
        self,
        registered: Registered,
        user: str,
        address: str,
        host_names: tuple[str, ...],
        limits: frozenset[Level] | None,
    ) -> Level | None:
        """Return the first of a command's levels that a peer holds, None if it holds none."""
        for level in registered.levels:
            if self.authorization.allows(level, user, address, host_names, limits=limits):
                return level
        return None

    def commands_for(self, levels: Iterable[Level]) -> list[int]:
        """Return the commands registered at any of these levels, ascending."""
        wanted = set(levels)
        return sorted(
            number for number, one in self.registered.items() if wanted.intersection(one.levels)
        )


class Accepted(NamedTuple):
    """A command that may be run.

    `message` is the rest of the first message of a bare command, None where the arguments are a
    message still to come. `session` is None for bare commands. `finished` means that the security
    layer has said everything (DC_SEC_QUERY, a session made for UDP): close. `resumed` means that
    the session is an earlier one.
    """

    command: int
    peer: Peer
    session: Session | None = None
    message: Reader | None = None
    finished: bool = False
    resumed: bool = False


class Request(NamedTuple):
    """What the steps of one negotiation share."""

    setup: ServerSetup
    ad: PolicyAd
    asked: int
    command: int
    registered: Registered
    peer_address: str
    now: float
    set_ahead: int
    host_names: tuple[str, ...]
    own_end: str = ""

    @property
    def date(self) -> float:
        """The time by the wall clock."""
        return self.now + self.set_ahead

    def allowed(self, user: str, limits: frozenset[Level] | None) -> Level | None:
        """Return the first of the command's levels that the peer holds."""
        return self.setup.first_allowed(
            self.registered, user, self.peer_address, self.host_names, limits
        )
