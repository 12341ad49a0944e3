"""CLAIMTOBE: the client says who it is, and is believed.

    C> int 1, str user[@domain]    (int 0: no name)
    S> int 1 ok | 0

Without SEC_CLAIMTOBE_INCLUDE_DOMAIN a client names no domain of its own accord, and the map file is
asked for the name as it came.

Names of domains that only sessions grant are refused: a claimed `condor@family` would otherwise
hold every level. Source: wire notes, CLAIMTOBE.
"""

from __future__ import annotations

from kettle.wire.dialog import Dialog, Do, Receive, Send, Words
from kettle.wire.security.identity import is_reserved
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    ServerContext,
    ServerProof,
)


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Claim this process's user name."""
    name = yield Do(context.credentials.user_name)
    if not name:
        yield Send(Words(0))
        return None
    if context.claims_domain and "@" not in name and context.uid_domain:
        name = f"{name}@{context.uid_domain}"
    yield Send(Words(1, name))
    reply = yield Receive()
    accepted: bool = reply.integer() == 1
    reply.finish()
    return ClientProof() if accepted else None


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Believe the client, except in reserved names."""
    reply = yield Receive()
    has_name = reply.integer() == 1
    name = reply.string() if has_name else ""
    reply.finish()
    full = name if "@" in name or not name else f"{name}@{context.uid_domain}"
    # Compat: the reference believes reserved names too
    # (test_claimtobe_refuses_names_that_only_sessions_grant).
    believed = bool(name) and not is_reserved(full)
    if has_name:
        yield Send(Words(int(believed)))
    principal = full if context.claims_domain else name
    return ServerProof(full, principal=principal) if believed else None
