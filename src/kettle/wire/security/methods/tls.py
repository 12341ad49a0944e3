"""SSL: a TLS handshake carried in messages; afterwards the connection goes on without TLS.

    S> int 0    C> int 0                               (-1: this side cannot)
    then in turns, client first:  int status, int length, bytes of TLS records
    the handshake is over when both have said 4
    S> 256 random bytes as TLS application data: the wrap key

Status: -1 error, 0 ok, 1 sending, 2 receiving, 3 quitting, 4 holding. Source: wire notes, SSL.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from kettle.errors import AuthenticationFailed, RemoteProtocolError
from kettle.wire.dialog import Dialog, Do, Receive, Send, Step, Words
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    MethodFailed,
    ServerContext,
    ServerProof,
)

if TYPE_CHECKING:
    import ssl

Proof = TypeVar("Proof")

ERROR, OK, SENDING, RECEIVING, QUITTING, HOLDING = -1, 0, 1, 2, 3, 4
WRAP_KEY_SIZE = 256
# Limit: one message of TLS records, and the turns of one handshake.
MAXIMUM_RECORDS = 1 << 20
MAXIMUM_TURNS = 64

_SHORT_NAMES = {
    "countryName": "C",
    "stateOrProvinceName": "ST",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "commonName": "CN",
    "domainComponent": "DC",
    "emailAddress": "emailAddress",
    "userId": "UID",
}


class Engine:
    """A TLS engine on memory buffers."""

    def __init__(self, context: ssl.SSLContext, *, server: bool, host: str | None) -> None:
        import ssl

        self._ssl = ssl
        self._in = ssl.MemoryBIO()
        self._out = ssl.MemoryBIO()
        self._object = context.wrap_bio(
            self._in, self._out, server_side=server, server_hostname=host
        )
        self.done = False

    def step(self) -> None:
        """Go on with the handshake as far as the received records allow."""
        if self.done:
            return
        try:
            self._object.do_handshake()
            self.done = True
        except self._ssl.SSLWantReadError:
            pass
        except (self._ssl.SSLError, self._ssl.CertificateError) as error:
            raise AuthenticationFailed(f"TLS: {error}") from error

    def feed(self, records: bytes) -> None:
        """Take received records."""
        self._in.write(records)

    def take(self) -> bytes:
        """Return the records to send."""
        return self._out.read()

    def encrypt(self, data: bytes) -> None:
        """Make records of application data."""
        self._object.write(data)

    def decrypt(self, size: int) -> bytes:
        """Return application data received so far, at most `size` bytes."""
        try:
            return self._object.read(size)
        except self._ssl.SSLWantReadError:
            return b""
        except self._ssl.SSLError as error:
            raise AuthenticationFailed(f"TLS: {error}") from error

    def peer_subject(self) -> str | None:
        """Return the peer certificate's subject in one line, None without a certificate."""
        certificate: Any = self._object.getpeercert()
        if not certificate:
            return None
        return one_line_subject(certificate.get("subject", ()))

    def peer_names(self) -> tuple[str, ...]:
        """Return the host names of the peer's certificate: DNS alternatives, then common names."""
        certificate: Any = self._object.getpeercert() or {}
        names = [value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"]
        for part in certificate.get("subject", ()):
            names.extend(value for key, value in part if key == "commonName")
        return tuple(names)


def one_line_subject(subject: Iterable[Iterable[tuple[str, str]]]) -> str:
    """Write a subject as `/O=Test/CN=client`."""
    return "".join(
        f"/{_SHORT_NAMES.get(name, name)}={value}" for part in subject for name, value in part
    )


def host_matches(host: str, names: Iterable[str]) -> bool:
    """Tell whether a host is one of a certificate's names; `*.` stands for one label."""
    wanted = host.lower().rstrip(".")
    for name in names:
        pattern = name.lower().rstrip(".")
        if pattern == wanted:
            return True
        if pattern.startswith("*.") and wanted.partition(".")[2] == pattern[2:]:
            return True
    return False


def _say(status: int, records: bytes) -> Send:
    """Make one message of this method."""
    return Send(Words(status, len(records), records))


def _hear() -> Generator[Step, Any, tuple[int, bytes]]:
    """Wait for one message of this method."""
    reply = yield Receive()
    status: int = reply.integer()
    records: bytes = reply.raw(reply.count(MAXIMUM_RECORDS))
    reply.finish()
    if status in (ERROR, QUITTING):
        raise _PeerQuitError("the peer gave up the TLS handshake")
    return status, records


class _PeerQuitError(MethodFailed):
    """The peer has said that it does not go on."""


def _or_quit(engine: Engine, turns: Generator[Step, Any, Proof]) -> Generator[Step, Any, Proof]:
    """Run a side's turns; if this side does not go on, say so, so that another method may follow.

    Raises MethodFailed.
    """
    try:
        return (yield from turns)
    except _PeerQuitError:
        raise
    except AuthenticationFailed as error:
        # The records are the alert that tells the peer why.
        yield _say(QUITTING, engine.take())
        raise MethodFailed(str(error)) from error


def _offer(context: ssl.SSLContext | None, *, client: bool) -> Generator[Step, Any, bool]:
    """Say and hear whether both sides can do this at all; the server speaks first."""
    mine = OK if context is not None else ERROR
    if client:
        theirs = (yield Receive()).integer()
        yield Send(Words(mine))
    else:
        yield Send(Words(mine))
        theirs = (yield Receive()).integer()
    return mine == OK and theirs == OK


def _client_turns(engine: Engine) -> Generator[Step, Any, None]:
    """Run the handshake as the side that speaks first."""
    for _ in range(MAXIMUM_TURNS):
        engine.step()
        mine = HOLDING if engine.done else RECEIVING
        yield _say(mine, engine.take())
        theirs, records = yield from _hear()
        engine.feed(records)
        if mine == HOLDING and theirs == HOLDING:
            return
    raise RemoteProtocolError("the TLS handshake takes too many turns")


def _server_turns(engine: Engine) -> Generator[Step, Any, None]:
    """Run the handshake as the side that answers."""
    for _ in range(MAXIMUM_TURNS):
        theirs, records = yield from _hear()
        engine.feed(records)
        engine.step()
        mine = HOLDING if engine.done else RECEIVING
        yield _say(mine, engine.take())
        if mine == HOLDING and theirs == HOLDING:
            return
    raise RemoteProtocolError("the TLS handshake takes too many turns")


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Check the server's certificate, and show ours if we have one."""
    tls = yield Do(context.credentials.tls_context)
    if not (yield from _offer(tls, client=True)):
        return None
    engine = Engine(tls, server=False, host=context.address.alias)
    return (yield from _or_quit(engine, _client_proof(context, engine)))


def _client_proof(context: ClientContext, engine: Engine) -> Dialog[ClientProof]:
    """Run the handshake and take the wrap key, if the certificate is for the host we mean."""
    yield from _client_turns(engine)
    host = context.address.alias
    wanted = context.credentials.skip_host_check() or (
        host is not None and host_matches(host, engine.peer_names())
    )
    key = b""
    while len(key) < WRAP_KEY_SIZE:
        _, records = yield from _hear()
        if not wanted:
            raise AuthenticationFailed(f"the server's certificate is not for {host or 'this host'}")
        engine.feed(records)
        key += engine.decrypt(WRAP_KEY_SIZE - len(key))
        yield _say(HOLDING if len(key) == WRAP_KEY_SIZE else RECEIVING, b"")
    return ClientProof(key)


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Show our certificate, and learn the client's subject if it has one."""
    load: Callable[[], ssl.SSLContext | None] = context.credentials.tls_context
    tls = yield Do(load)
    if not (yield from _offer(tls, client=False)):
        return None
    engine = Engine(tls, server=True, host=None)
    return (yield from _or_quit(engine, _server_proof(context, engine)))


def _server_proof(context: ServerContext, engine: Engine) -> Dialog[ServerProof]:
    """Run the handshake, send the wrap key, and see whose certificate the client showed."""
    yield from _server_turns(engine)
    key = context.random_bytes(WRAP_KEY_SIZE)
    engine.encrypt(key)
    yield _say(HOLDING, engine.take())
    yield from _hear()
    subject = engine.peer_subject()
    if subject is None:
        # Compat: the reference looks such a client up in the map file too, where a pattern for
        # everybody makes it somebody. Shown in tests/unit/wire/test_tls_method.py.
        return ServerProof("unauthenticated@unmapped", wrap_key=key)
    return ServerProof("ssl@unmapped", principal=subject, wrap_key=key)
