"""Who asks, and whose jobs they may touch.

A connection's authenticated user becomes an `Actor`; the rule for every change is here: owners
change their own jobs, queue super users everybody's (QUEUE_SUPER_USERS). Authentication itself is
`wire.security`'s. Source: wire notes, Attribute protection rules (R067, R069).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

# Users that a daemon's own sessions carry; the schedd's siblings may do what the schedd may.
DAEMON_USERS = frozenset(("condor", "condor_pool"))
FAMILY_DOMAIN = "family"


@dataclass(frozen=True, slots=True)
class Actor:
    """An authenticated user of the queue; `user` is empty for somebody unknown."""

    user: str
    owner: str
    super_user: bool = False

    @property
    def known(self) -> bool:
        """Whether the connection was authenticated."""
        return bool(self.owner)

    def may_change(self, user: str) -> bool:
        """Tell whether this actor may change jobs of `user` (`name@domain`)."""
        return self.known and (self.super_user or user == self.user)

    def acting_for(self, user: str, owner: str) -> Actor:
        """Return the actor once it has taken another's place (SetEffectiveOwner)."""
        return replace(self, user=user, owner=owner, super_user=False)


UNKNOWN = Actor("", "")


@dataclass(frozen=True, slots=True)
class ActorRules:
    """What a configuration says about users.

    `super_users` are names with or without a domain; `own_user` is the account the daemon runs as.

    Compat: the reference obeys a super user of another domain only once it has an account or a
    record of its name; ours obeys whoever is named (tests/unit/schedd/queue/test_actors.py).
    """

    uid_domain: str
    super_users: frozenset[str]
    own_user: str

    def actor(self, peer_user: str) -> Actor:
        """Return the actor of an authenticated name; an empty or unmapped one is nobody."""
        name, _, domain = peer_user.partition("@")
        if not name or name in {"unauthenticated", "anonymous"} or domain == "unmapped":
            return UNKNOWN
        # Whoever proves to be the account of the daemon is local, whatever domain the method says.
        user = f"{name}@{self.uid_domain}" if domain in {"", self.uid_domain} else peer_user
        return Actor(user, name, self._is_super(user, name, domain))

    def _is_super(self, user: str, name: str, domain: str) -> bool:
        if domain == FAMILY_DOMAIN or user in self.super_users:
            return True
        local = domain in {"", self.uid_domain}
        return local and (name in self.super_users or name in DAEMON_USERS or name == self.own_user)
