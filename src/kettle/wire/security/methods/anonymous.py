"""ANONYMOUS: the server says yes; everybody is the same user without a domain.

    S> int 1

Source: wire notes, ANONYMOUS.
"""

from __future__ import annotations

from kettle.wire.dialog import Dialog, Receive, Send, Words
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    ServerContext,
    ServerProof,
)


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Be nobody in particular."""
    del context
    reply = yield Receive()
    accepted: bool = reply.integer() == 1
    reply.finish()
    return ClientProof() if accepted else None


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Take anybody."""
    yield Send(Words(1))
    return ServerProof(context.anonymous_user, principal=context.anonymous_user)
