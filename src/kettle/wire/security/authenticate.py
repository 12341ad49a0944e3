"""The method handshake: the two sides take methods one by one until one succeeds.

    C> int mask of the methods it can still try, or of the one that it wants to try before others
    S> int the bit of the chosen one, or 0
    ... the method's own messages ...
    failure: the client clears that bit and sends a new mask

Which user a proof means is decided by `identity`, what it may do by `authorization`. Source: wire
notes, Method handshake, Key exchange message.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TypeVar

from kettle.errors import AuthenticationFailed, RemoteProtocolError
from kettle.wire.codec import Reader
from kettle.wire.dialog import Dialog, Receive, Send, Words
from kettle.wire.security.keys import AES_KEY_SIZE, unwrap, wrap
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    MethodFailed,
    ServerContext,
    ServerProof,
)
from kettle.wire.security.negotiation import (
    METHOD_BITS,
    METHOD_NAMES,
    canonical_method,
    display_method,
)

Proof = TypeVar("Proof")

_MODULES = {
    "FS": "fs",
    "FS_REMOTE": "fs_remote",
    "TOKEN": "token",
    "PASSWORD": "password",
    "CLAIMTOBE": "claimtobe",
    "ANONYMOUS": "anonymous",
    "SSL": "tls",
}
"""The file of each method; only the one that is used is imported."""

IMPLEMENTED = frozenset(_MODULES)

# Protocol numbers of the key exchange.
_AES = 3
# Limit: tries of one handshake; every method once, and some patience.
MAXIMUM_TRIES = 16
_MAXIMUM_WRAPPED = 4096


def _module(method: str) -> ModuleType:
    return importlib.import_module(f"kettle.wire.security.methods.{_MODULES[method]}")


def authenticate_client(
    methods: Iterable[str],
    context: ClientContext,
    *,
    first: Sequence[str] = (),
    first_words: tuple[int, ...] = (),
    reasons: list[str] | None = None,
) -> Dialog[tuple[str, ClientProof] | None]:
    """Try methods until one succeeds; returns its name and proof, None if none does.

    Those of `first` that are among them are offered one by one, and have to be known to the server.
    `first_words` go in front of the first mask: a bare command that authenticates in line. Why
    methods failed is added to `reasons`.
    """
    left = [name for name in map(canonical_method, methods) if name in IMPLEMENTED]
    reasons = [] if reasons is None else reasons
    words = first_words
    for _ in range(MAXIMUM_TRIES):
        alone = next((name for name in first if name in left), None)
        offered = left if alone is None else [alone]
        yield Send(Words(*words, sum(METHOD_BITS[name] for name in offered)))
        words = ()
        reply = yield Receive()
        bit = reply.integer()
        reply.finish()
        if bit == 0:
            return None
        chosen = METHOD_NAMES.get(bit)
        if chosen is None or chosen not in offered:
            raise RemoteProtocolError(f"the server chose method {bit}, which was not offered")
        proof = yield from _attempt(_module(chosen).client(context), chosen, reasons)
        if proof is not None:
            return chosen, proof
        left.remove(chosen)
    return None


def _attempt(method: Dialog[Proof | None], name: str, reasons: list[str]) -> Dialog[Proof | None]:
    """Run one method; None if it failed so that another may follow, its reason is kept."""
    try:
        return (yield from method)
    except MethodFailed as error:
        reasons.append(f"{display_method(name)}: {error}")
        return None


def authenticate_server(
    methods: Sequence[str], context: ServerContext, *, first_mask: Reader | None = None
) -> Dialog[tuple[str, ServerProof] | None]:
    """Answer masks until a method succeeds; returns its name and proof, None if none can.

    `methods` are what this side accepts, in its order; `first_mask` a message whose next integer
    is the first mask. Raises AuthenticationFailed for a proof that does not hold.
    """
    ours = [name for name in map(canonical_method, methods) if name in IMPLEMENTED]
    reasons: list[str] = []
    for _ in range(MAXIMUM_TRIES):
        message = first_mask if first_mask is not None else (yield Receive())
        first_mask = None
        mask = message.integer()
        message.finish()
        chosen = next((name for name in ours if METHOD_BITS[name] & mask), None)
        yield Send(Words(METHOD_BITS[chosen] if chosen else 0))
        if chosen is None:
            if reasons:
                raise AuthenticationFailed("; ".join(reasons))
            return None
        proof = yield from _attempt(_module(chosen).server(context), chosen, reasons)
        if proof is not None:
            return chosen, proof
    raise AuthenticationFailed("the client tried too many methods")


def receive_key(method: str, proof: ClientProof, agreed: bytes | None) -> Dialog[bytes | None]:
    """Take the key exchange message, as the client; `agreed` is the ECDH key, if there is one."""
    reply = yield Receive()
    has_key = reply.integer()
    reply.finish()
    if not has_key:
        return agreed
    reply = yield Receive()
    length, protocol, _duration = reply.integer(), reply.integer(), reply.integer()
    wrapped = reply.raw(reply.count(_MAXIMUM_WRAPPED))
    reply.finish()
    key = unwrap(proof.wrap_key, wrapped) if proof.wrap_key else wrapped
    if protocol != _AES or length != AES_KEY_SIZE or len(key) < AES_KEY_SIZE:
        raise AuthenticationFailed(f"the server sent a key for cipher {protocol} after {method}")
    return key[:AES_KEY_SIZE]


def send_key(proof: ServerProof, agreed: bytes | None, fresh: bytes | None) -> Dialog[bytes | None]:
    """Send the key exchange message, as the server.

    `agreed` is the ECDH key; without one `fresh` is sent, None where no cipher was chosen.
    """
    if agreed is not None or fresh is None:
        yield Send(Words(0))
        return agreed
    yield Send(Words(1))
    wrapped = wrap(proof.wrap_key, fresh) if proof.wrap_key else fresh
    yield Send(Words(len(fresh), _AES, 0, len(wrapped), wrapped))
    return fresh
