"""FS: the client makes a directory that the server names, and its owner says who the client is.

    S> str path            nothing exists there yet; "" = the server cannot
    C> int 0 | -1 [, str suffix]
    S> int 0 ok | -1 refused

A path that ends in `_` asks for binding to the address: the client appends the server's address as
it dialed it and makes *that* directory, so that a man in the middle gains nothing. Where the server
called the client, it is the server's end of that connection. A client that appends nothing makes
the directory that was named: it is an old one, or was told not to (SEC_FS_ENFORCE_CHANNEL_BINDING).
Source: wire notes, FS.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.errors import RemoteProtocolError
from kettle.wire.dialog import Dialog, Do, Receive, Send, Words
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    ServerContext,
    ServerProof,
)
from kettle.wire.sinful import Endpoint, Sinful

_RANDOM_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RANDOM_LENGTH = 9
# Limit: a path from an unauthenticated server.
MAXIMUM_PATH = 4096


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Prove this user to the server by a directory."""
    reply = yield Receive()
    path = reply.string()
    reply.finish()
    if not path:
        return None
    suffix = _check_path(path, _dialed(context))
    full = path + suffix
    words = (suffix,) if path.endswith("_") else ()
    made = False
    try:
        yield Do(lambda: context.credentials.make_directory(full))
        made = True
    except OSError:
        pass
    try:
        yield Send(Words(0 if made else -1, *words))
        verdict = yield Receive()
        accepted: bool = verdict.integer() == 0
        verdict.finish()
    finally:
        if made:
            context.credentials.remove_directory(full)
    return ClientProof() if accepted and made else None


def _dialed(context: ClientContext) -> Sinful:
    """Return the server's address as this connection has it."""
    if not context.server_end:
        return context.address
    shared_port_id = context.address.shared_port_id
    there = Sinful.parse(f"<{context.server_end}>")
    return there.with_parameter("sock", shared_port_id) if shared_port_id else there


def _check_path(path: str, address: Sinful) -> str:
    """Return what this client appends to the server's path.

    A server could ask for a directory anywhere; only the names of this method are made.
    """
    name = path.rpartition("/")[2]
    if len(path) > MAXIMUM_PATH or not path.startswith("/") or "/../" in path:
        raise RemoteProtocolError("the server's FS path is malformed")
    if path.endswith("_"):
        if not name.startswith("FS_"):
            raise RemoteProtocolError(f"the server's FS path ends in {name!r}, not FS_...")
        return binding(address)
    if not name.startswith(f"FS_{address.host}_{address.port}_"):
        raise RemoteProtocolError("the server's FS path is for another server")
    return ""


def binding(address: Sinful) -> str:
    """Return an address as the suffix has it: `ip:port`, and `?sock=id` behind a shared port."""
    text = str(address.endpoint)
    return f"{text}?sock={address.shared_port_id}" if address.shared_port_id else text


def accepted_bindings(addresses: Iterable[Sinful], own_end: str = "") -> frozenset[str]:
    """Return every suffix that means one of these addresses, or this end of the connection."""
    found = {own_end} if own_end else set()
    for address in addresses:
        ends = [str(endpoint) for endpoint in (address.endpoint, *address.addresses)]
        for endpoint in [*ends, own_end] if own_end else ends:
            found.add(endpoint)
            if address.shared_port_id:
                found.add(f"{endpoint}?sock={address.shared_port_id}")
    return frozenset(found)


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Learn who the client is from the owner of the directory it makes."""
    return (yield from serve(context, context.fs_directory, "FS"))


def _own_endpoint(context: ServerContext) -> Endpoint:
    """Return where the client sees this server: clients that append nothing may look for it."""
    if context.own_end:
        return Sinful.parse(f"<{context.own_end}>").endpoint
    return context.addresses[0].endpoint


def serve(context: ServerContext, folder: str, prefix: str) -> Dialog[ServerProof | None]:
    """Ask for a directory in a folder that both sides see, and learn who owns it."""
    own = _own_endpoint(context)
    letters = "".join(
        _RANDOM_LETTERS[byte % len(_RANDOM_LETTERS)]
        for byte in context.random_bytes(_RANDOM_LENGTH)
    )
    path = f"{folder.rstrip('/')}/{prefix}_{own.host}_{own.port}_{letters}_"
    yield Send(Words(path))
    reply = yield Receive()
    made = reply.integer() == 0
    suffix = reply.string() if reply.remaining else ""
    reply.finish()
    name = None
    bound = not suffix or suffix in accepted_bindings(context.addresses, context.own_end)
    if made and bound:
        try:
            facts = yield Do(lambda: context.credentials.inspect_directory(path + suffix))
        except OSError:
            facts = None
        if (
            facts is not None
            and facts.is_directory
            and facts.mode == 0o700
            and facts.links in (1, 2)
        ):
            name = yield Do(lambda: context.credentials.user_of(facts.uid))
            if facts.uid == 0 and context.root_is_condor:
                name = "condor"
    yield Send(Words(0 if name else -1))
    return ServerProof(name, principal=name) if name else None
