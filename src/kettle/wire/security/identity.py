"""Identities: `user@domain` text, reserved names, how a proof becomes an identity.

Decides with a mapfile's help what name an authenticated peer has. Which levels a name holds is
`authorization`'s. Source: wire notes, Map file, Names seen in the wild.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.octets import words_of
from kettle.wire.security.session import UNAUTHENTICATED

if TYPE_CHECKING:
    from kettle.wire.security.mapfile import MapFile

RESERVED_DOMAINS = frozenset(("family", "parent", "child", "matchsession", "password"))
"""Domains whose names only a session or a proof of a secret grants."""

_NEVER_DOMAINED = frozenset(("ANONYMOUS", "PASSWORD", "TOKEN"))
_NEVER_MAPPED = frozenset(("PASSWORD", "TOKEN"))
_UNMAPPED_METHODS = frozenset(("SSL", "SCITOKENS"))


def split_user(user: str) -> tuple[str, str]:
    """Split an identity at its last `@`: name and domain, the domain empty if there is none."""
    name, separator, domain = user.rpartition("@")
    return (name, domain) if separator else (user, "")


def is_one_word(user: str) -> bool:
    """Tell whether a name has no blanks; of another no accounts are kept, and no list has it."""
    return words_of(user) == [user]


def is_reserved(user: str) -> bool:
    """Tell whether a name is one that nobody may merely claim."""
    name, domain = split_user(user)
    return domain.lower() in RESERVED_DOMAINS or (name.lower() == "condor_pool" and bool(domain))


def same_user(first: str, second: str, *, pool_equivalence: bool = False) -> bool:
    """Tell whether two identities are the same, in any case.

    With `pool_equivalence` (USE_POOL_USERNAME_EQUIVALENT) `condor@...` and `condor_pool@...` are.
    """
    if first.lower() == second.lower():
        return True
    if not pool_equivalence:
        return False
    names = ("condor", "condor_pool")
    return split_user(first)[0].lower() in names and split_user(second)[0].lower() in names


def unmapped(method: str) -> str:
    """Return the identity of a proof that no mapping gives a name."""
    return f"{method.lower()}@unmapped"


def map_identity(
    method: str, name: str, principal: str, *, uid_domain: str, mapfile: MapFile | None
) -> str:
    """Return the identity of an authenticated peer.

    A mapfile line for the method and principal wins; tokens and the pool's password are never
    looked up. Else SSL and
    SCITOKENS proofs stay unmapped, the other methods' names get UID_DOMAIN if they have no domain.
    """
    if mapfile is not None and principal and method not in _NEVER_MAPPED:
        canonical = mapfile.map(method, principal)
        if canonical is not None:
            user, domain = split_user(canonical)
            mapped = f"{user}@{domain or uid_domain}"
            # A mapfile is the administrator's, yet its patterns copy text the peer chose.
            return unmapped(method) if is_reserved(mapped) else mapped
    if method in _UNMAPPED_METHODS:
        return name if name == UNAUTHENTICATED else unmapped(method)
    if "@" in name or method in _NEVER_DOMAINED:
        return name
    return f"{name}@{uid_domain}"
