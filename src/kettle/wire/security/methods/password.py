"""PASSWORD, and the exchange it shares with TOKEN: both sides prove that they know a secret.

    C> int status, int len(a), str a, [str signed text,] int 256, bytes ra
    S> int status, int len(a), str a, int len(b), str b, int 256, ra, int 256, rb, int 20, hkt
    C> int status, int len(a), str a, int 256, rb, int 20, hk

    hkt = HMAC-SHA-1(K, a || " " || b || NUL || ra || rb)      hk = HMAC-SHA-1(K, a || NUL || rb)

Status 0 is fine, -1 "I cannot": then the strings are empty and the lengths 0. Source: wire
notes, PASSWORD, TOKEN.
"""

from __future__ import annotations

import hmac
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from kettle.errors import AuthenticationFailed, RemoteProtocolError
from kettle.wire.codec import Reader, Writer
from kettle.wire.dialog import Dialog, Do, Receive, Send, Step
from kettle.wire.security.keys import hmac_sha1
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    MethodFailed,
    ServerContext,
    ServerProof,
)
from kettle.wire.security.methods.seeds import SEED_A, SEED_B

NONCE_SIZE = 256
POOL_USER = "condor@password"
# Limit: names and signed texts from a peer that is not authenticated.
MAXIMUM_NAME = 64 * 1024

OK, CANNOT = 0, -1
# From this version on the pool's own identity is POOL_USER.
_NEW_POOL_USER = (23, 9, 0)


@dataclass(frozen=True, slots=True)
class SharedKeys:
    """What both sides derive from their secret: K for the proofs, and a way to the wrap key."""

    proof_key: bytes
    wrap_secret: bytes | None = None

    def server_proof(self, a: str, b: str, ra: bytes, rb: bytes) -> bytes:
        """Return hkt."""
        return hmac_sha1(self.proof_key, _bytes(f"{a} {b}") + b"\0" + ra + rb)

    def client_proof(self, a: str, rb: bytes) -> bytes:
        """Return hk."""
        return hmac_sha1(self.proof_key, _bytes(a) + b"\0" + rb)


def _bytes(name: str) -> bytes:
    """Return a name as it came: a peer may call itself anything."""
    return name.encode("utf-8", "surrogateescape")


def password_keys(password: bytes) -> SharedKeys:
    """Derive the keys of PASSWORD: the secret is the password twice."""
    secret = password * 2
    return SharedKeys(hmac_sha1(SEED_A, secret), hmac_sha1(SEED_B, secret))


def password_wrap_key(keys: SharedKeys, rb: bytes) -> bytes:
    """Derive the wrap key of PASSWORD."""
    assert keys.wrap_secret is not None
    return hmac_sha1(keys.wrap_secret, rb)


def pool_user(version: tuple[int, int, int], uid_domain: str) -> str:
    """Return the pool's own identity as a peer of this version knows it."""
    return POOL_USER if version >= _NEW_POOL_USER else f"condor_pool@{uid_domain}"


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's first message."""

    status: int
    a: str = ""
    ra: bytes = b""
    signed_text: str | None = None

    def write(self, writer: Writer) -> None:
        """Append the message."""
        writer.integer(self.status).integer(len(self.a)).string(self.a)
        if self.signed_text is not None:
            writer.string(self.signed_text)
        writer.integer(len(self.ra)).raw(self.ra)

    @classmethod
    def read(cls, reader: Reader, *, with_text: bool) -> Hello:
        """Read the message; `with_text` for TOKEN."""
        status = reader.integer()
        a = _sized_string(reader)
        text = reader.string() if with_text else None
        ra = reader.raw(reader.count(NONCE_SIZE))
        reader.finish()
        return cls(status, a, ra, text)


@dataclass(frozen=True, slots=True)
class Challenge:
    """The server's message."""

    status: int
    a: str = ""
    b: str = ""
    ra: bytes = b""
    rb: bytes = b""
    proof: bytes = b""

    def write(self, writer: Writer) -> None:
        """Append the message."""
        writer.integer(self.status).integer(len(self.a)).string(self.a)
        writer.integer(len(self.b)).string(self.b)
        for value in (self.ra, self.rb, self.proof):
            writer.integer(len(value)).raw(value)

    @classmethod
    def read(cls, reader: Reader) -> Challenge:
        """Read the message."""
        status = reader.integer()
        a, b = _sized_string(reader), _sized_string(reader)
        ra, rb, proof = (reader.raw(reader.count(NONCE_SIZE)) for _ in range(3))
        reader.finish()
        return cls(status, a, b, ra, rb, proof)


@dataclass(frozen=True, slots=True)
class Response:
    """The client's last message."""

    status: int
    a: str = ""
    rb: bytes = b""
    proof: bytes = b""

    def write(self, writer: Writer) -> None:
        """Append the message."""
        writer.integer(self.status).integer(len(self.a)).string(self.a)
        for value in (self.rb, self.proof):
            writer.integer(len(value)).raw(value)

    @classmethod
    def read(cls, reader: Reader) -> Response:
        """Read the message."""
        status = reader.integer()
        a = _sized_string(reader)
        rb, proof = (reader.raw(reader.count(NONCE_SIZE)) for _ in range(2))
        reader.finish()
        return cls(status, a, rb, proof)


def _sized_string(reader: Reader) -> str:
    """Read a string that is preceded by its own length, and check that they agree."""
    size = reader.count(MAXIMUM_NAME)
    text = reader.string()
    if len(text.encode("utf-8", "surrogateescape")) != size:
        raise RemoteProtocolError("a name in the password exchange has another length than said")
    return text


def exchange_as_client(
    a: str, keys: SharedKeys, ra: bytes, signed_text: str | None
) -> Generator[Step, Any, bytes | None]:
    """Run the three messages as the client; returns rb, None if the server cannot.

    Raises MethodFailed if the server does not know the secret.
    """
    yield Send(Hello(OK, a, ra, signed_text))
    challenge = Challenge.read((yield Receive()))
    if challenge.status != OK:
        yield Send(Response(CANNOT))
        return None
    expected = keys.server_proof(a, challenge.b, ra, challenge.rb)
    if (
        challenge.a != a
        or challenge.ra != ra
        or len(challenge.rb) != NONCE_SIZE
        or not hmac.compare_digest(expected, challenge.proof)
    ):
        yield Send(Response(CANNOT))
        raise MethodFailed("the server does not know the shared secret")
    yield Send(Response(OK, a, challenge.rb, keys.client_proof(a, challenge.rb)))
    return challenge.rb


def exchange_as_server(
    hello: Hello, b: str, keys: SharedKeys, rb: bytes
) -> Generator[Step, Any, bool]:
    """Answer a hello and check the client's proof; returns whether it holds.

    Raises MethodFailed if the client does not go on.
    """
    proof = keys.server_proof(hello.a, b, hello.ra, rb)
    yield Send(Challenge(OK, hello.a, b, hello.ra, rb, proof))
    response = Response.read((yield Receive()))
    if response.status != OK:
        raise MethodFailed("the client does not find our secret its own")
    expected = keys.client_proof(hello.a, rb)
    return (
        response.a == hello.a
        and response.rb == rb
        and hmac.compare_digest(expected, response.proof)
    )


def decline_as_client(signed_text: str | None = None) -> Generator[Step, Any, None]:
    """Say that this side has no secret; the three messages go all the same."""
    yield Send(Hello(CANNOT, signed_text=signed_text))
    yield Receive()
    yield Send(Response(CANNOT))


def decline_as_server() -> Generator[Step, Any, None]:
    """Answer a hello that leads nowhere, and take the client's last word."""
    yield Send(Challenge(CANNOT))
    yield Receive()


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Prove knowledge of the pool password."""
    password = yield Do(context.credentials.pool_password)
    if not password:
        yield from decline_as_client()
        return None
    keys = password_keys(password)
    a = pool_user(context.server_version, context.uid_domain)
    rb = yield from exchange_as_client(a, keys, context.random_bytes(NONCE_SIZE), None)
    return None if rb is None else ClientProof(password_wrap_key(keys, rb))


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Check that the client knows the pool password."""
    hello = Hello.read((yield Receive()), with_text=False)
    password = yield Do(context.credentials.pool_password)
    if hello.status != OK or len(hello.ra) != NONCE_SIZE or not password:
        yield from decline_as_server()
        return None
    keys = password_keys(password)
    rb = context.random_bytes(NONCE_SIZE)
    b = pool_user(context.client_version, context.uid_domain)
    if not (yield from exchange_as_server(hello, b, keys, rb)):
        raise AuthenticationFailed("the client does not know the pool password")
    wrap_key = password_wrap_key(keys, rb)
    return ServerProof(POOL_USER, principal=POOL_USER, wrap_key=wrap_key)
