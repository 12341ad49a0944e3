"""Whole protocols against a peer that says anything: negotiations and file transfers, both sides.

A sample is what the honest peer of such a dialog says, from the first byte to the last. The keys of
both sides are always the same, so that what is encrypted can be read as long as it is left alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from kettle.errors import RefusedError
from kettle.levels import Level
from kettle.testing.dialogs import Player
from kettle.testing.fuzz.decoder import Decoder
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import Item, SendDirectory, SendFile
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.channel import UNACCEPTED_MESSAGE, Channel
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.client_side import ClientSetup, client_handshake
from kettle.wire.security.keys import make_key_pair
from kettle.wire.security.methods.context import DirectoryFacts, Token
from kettle.wire.security.negotiation import Policy, Wish
from kettle.wire.security.server_setup import Registered, ServerSetup
from kettle.wire.security.server_side import server_handshake
from kettle.wire.security.session import SessionCache
from kettle.wire.security.tokens import mint_token, parse_token
from kettle.wire.sinful import Sinful

_KEY = bytes(range(64))
_NOW = 1_800_000_000.0
_ADDRESS = Sinful.parse("<127.0.0.1:9618?addrs=127.0.0.1-9618&noUDP>")
_TOKEN = mint_token(
    _KEY, key_id="POOL", issuer="pool", subject="a@pool", issued_at=int(_NOW), token_id="0" * 32
)


class _Credentials:
    """Both sides' credentials, on a disk that has every folder they ask for."""

    def refresh_folder(self, path: str) -> None:
        del path

    def make_directory(self, path: str) -> None:
        del path

    def remove_directory(self, path: str) -> None:
        del path

    def inspect_directory(self, path: str) -> DirectoryFacts | None:
        del path
        return DirectoryFacts(True, 0o700, 2, 1234)

    def user_of(self, uid: int) -> str | None:
        return "alice" if uid == 1234 else None

    def user_name(self) -> str:
        return "alice"

    def find_token(
        self, trust_domain: str, issuer_keys: tuple[str, ...], address: Sinful
    ) -> Token | None:
        del address
        if trust_domain != "pool" or "POOL" not in issuer_keys:
            return None
        token = parse_token(_TOKEN)
        return Token(token.signed_text, token.signature, token.claim("sub"))

    def issuer_keys(self) -> tuple[str, ...]:
        return ("POOL",)

    def trust_domain(self) -> str:
        return "pool"

    def signing_key(self, key_id: str) -> bytes | None:
        return _KEY if key_id == "POOL" else None

    def token_is_revoked(self, claims: Mapping[str, str | int]) -> bool:
        del claims
        return False

    def pool_password(self) -> bytes | None:
        return b"open sesame"

    def tls_context(self) -> None:
        return None

    def skip_host_check(self) -> bool:
        return True


def _policy(method: str, *, encrypted: bool) -> Policy:
    crypto = ("AES",) if encrypted else ()
    return Policy(methods=(method,), authentication=Wish.REQUIRED, crypto=crypto)


def _server(method: str, encrypted: bool) -> Dialog[Any]:
    command = Command.QUERY_JOB_ADS
    registered = {int(command): Registered(command.levels(), command.force_authentication)}
    setup = ServerSetup(
        policies=dict.fromkeys(Level, _policy(method, encrypted=encrypted)),
        registered=registered,
        authorization=Authorization.from_settings({"ALLOW_READ": "*"}.get, "SCHEDD"),
        sessions=SessionCache(),
        credentials=_Credentials(),
        addresses=(_ADDRESS,),
        random_bytes=random.Random(1).randbytes,  # noqa: S311 - it has to be repeatable
        session_name="host:1:2",
        uid_domain="pool",
        trust_domain="pool",
        make_keys=partial(make_key_pair, 11),
    )
    return server_handshake(setup, "10.0.0.1", _NOW)


def _client(method: str, encrypted: bool) -> Dialog[Any]:
    setup = ClientSetup(
        _policy(method, encrypted=encrypted),
        _Credentials(),
        random.Random(2).randbytes,  # noqa: S311 - it has to be repeatable
        uid_domain="pool",
        process_id=7,
        make_keys=partial(make_key_pair, 13),
    )
    return client_handshake(setup, _ADDRESS, Command.QUERY_JOB_ADS, _NOW)


class _Storage:
    """A disk that takes everything and keeps nothing."""

    size, mode = 5, 0o644

    def __init__(self) -> None:
        self._left = b"bytes"

    def open_source(self, path: str) -> _Storage:
        del path
        return _Storage()

    def open_target(self, path: str, mode: int, size: int = 0) -> _Storage:
        del path, mode, size
        return self

    def make_directory(self, path: str, mode: int) -> None:
        del path, mode

    def read(self, size: int) -> bytes:
        piece, self._left = self._left[:size], self._left[size:]
        return piece

    def write(self, data: bytes) -> None:
        del data

    def close(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        """Do anything else that a transfer may ask of a disk: nothing."""
        return lambda *_, **__: None


def _place(name: str) -> str:
    if name.startswith("/") or ".." in name:
        raise RefusedError(f"{name} is not ours")
    return f"/box/{name}"


def _sender() -> Dialog[Any]:
    items: list[Item] = [SendFile("/a", "a"), SendDirectory("d", 0o755), SendFile("/b", "d/b")]
    return upload(items, _Storage(), Terms("STARTER"), final=True, sandbox_bytes=5)


def _receiver() -> Dialog[Any]:
    return download(_place, _Storage(), Terms("SHADOW"))


def _channel() -> Channel:
    channel = Channel(random.Random(3).randbytes)  # noqa: S311 - it has to be repeatable
    channel.maximum_message = UNACCEPTED_MESSAGE
    return channel


def _hear(begin: partial[Dialog[Any]], data: bytes) -> None:
    """Let a dialog hear these bytes, and then the end of the connection."""
    player = Player(begin(), _channel())
    player.run()
    player.channel.receive(data)
    player.run()
    player.lose_connection()
    player.run()
    assert player.outcome is not None
    if player.outcome.error is not None:
        raise player.outcome.error


def _said(speaker: partial[Dialog[Any]], listener: partial[Dialog[Any]]) -> bytes:
    """Return everything that one side says to another."""
    one, other = Player(speaker(), _channel()), Player(listener(), _channel())
    said = b""
    while True:
        spoken, answer = one.run(), other.run()
        said += spoken
        if not spoken and not answer:
            return said
        one.channel.receive(answer)
        other.channel.receive(spoken)


def dialog_rows() -> Iterator[Decoder]:
    """Yield a row for each side of each protocol, with what its honest peer says."""
    for method in ("PASSWORD", "TOKEN", "CLAIMTOBE", "ANONYMOUS", "FS"):
        for encrypted in (False, True):
            client = partial(_client, method, encrypted)
            server = partial(_server, method, encrypted)
            name = f"{method.lower()}{'-sealed' if encrypted else ''}"
            yield Decoder(f"server-{name}", partial(_hear, server), (_said(client, server),))
            yield Decoder(f"client-{name}", partial(_hear, client), (_said(server, client),))
    sender, receiver = partial(_sender), partial(_receiver)
    yield Decoder("download", partial(_hear, receiver), (_said(sender, receiver),))
    yield Decoder("upload", partial(_hear, sender), (_said(receiver, sender),))
