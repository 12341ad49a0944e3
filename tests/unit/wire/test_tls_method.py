"""SSL inside messages: certificates, the host check, the client's subject."""

from __future__ import annotations

import random
import ssl
from pathlib import Path

import pytest

from certificates import Authority
from kettle.errors import AuthenticationFailed
from kettle.testing.dialogs import Outcome, converse
from kettle.wire.security.identity import map_identity
from kettle.wire.security.mapfile import parse_mapfile
from kettle.wire.security.methods import tls
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    MethodFailed,
    ServerContext,
    ServerProof,
)
from kettle.wire.sinful import Sinful

ADDRESS = Sinful.parse("<127.0.0.1:9618?alias=submit.example>")


class Credentials:
    """Either side's credentials: a context, or none."""

    def __init__(self, context: ssl.SSLContext | None, *, skip: bool = False) -> None:
        self.context = context
        self.skip = skip

    def tls_context(self) -> ssl.SSLContext | None:
        return self.context

    def skip_host_check(self) -> bool:
        return self.skip


def client_tls(authority: Authority, pair: tuple[str, str] | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(authority.folder / "ca.pem")
    if pair:
        context.load_cert_chain(*pair)
    return context


def server_tls(authority: Authority, pair: tuple[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    context.load_verify_locations(authority.folder / "ca.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def handshake(
    client: Credentials, server: Credentials, address: Sinful = ADDRESS
) -> tuple[Outcome[ClientProof | None], Outcome[ServerProof | None]]:
    ours = ClientContext(client, address, random.Random(1).randbytes)  # type: ignore[arg-type]
    theirs = ServerContext(
        server,  # type: ignore[arg-type]
        (address,),
        random.Random(2).randbytes,
        0.0,
        "pool",
    )
    return converse(tls.client(ours), tls.server(theirs))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def test_both_sides_get_the_same_wrap_key_and_no_subject_without_a_certificate(
    authority: Authority,
) -> None:
    server = server_tls(authority, authority.make("server", "CN=x", "submit.example"))
    ours, theirs = handshake(Credentials(client_tls(authority)), Credentials(server))
    proof, seen = ours.result(), theirs.result()
    assert proof is not None
    assert seen is not None
    assert proof.wrap_key == seen.wrap_key
    assert len(seen.wrap_key or b"") == 256
    assert seen.name == "unauthenticated@unmapped"
    everybody = parse_mapfile("SSL (.*) somebody@pool\n")
    assert map_identity("SSL", seen.name, seen.principal, uid_domain="x", mapfile=everybody) == (
        "unauthenticated@unmapped"
    )


def test_the_clients_subject_is_mapped(authority: Authority) -> None:
    server = server_tls(authority, authority.make("server", "CN=submit.example"))
    pair = authority.make("client", "CN=client,O=Test")
    ours, theirs = handshake(Credentials(client_tls(authority, pair)), Credentials(server))
    assert ours.result() is not None
    seen = theirs.result()
    assert seen is not None
    assert seen.principal == "/O=Test/CN=client"
    mapfile = parse_mapfile('SSL "CN=(.*)$" \\1@pool\n')
    mapped = map_identity("SSL", seen.name, seen.principal, uid_domain="pool", mapfile=mapfile)
    assert mapped == "client@pool"
    assert map_identity("SSL", seen.name, seen.principal, uid_domain="x", mapfile=None) == (
        "ssl@unmapped"
    )


@pytest.mark.parametrize("text", ["<127.0.0.1:1?alias=other.example>", "<127.0.0.1:1>"])
def test_a_certificate_for_another_host_is_refused_unless_that_is_not_checked(
    authority: Authority, text: str
) -> None:
    server = Credentials(server_tls(authority, authority.make("s", "CN=submit.example")))
    address = Sinful.parse(text)
    ours, theirs = handshake(Credentials(client_tls(authority)), server, address)
    assert isinstance(ours.error, AuthenticationFailed)
    assert theirs.error is not None
    ours, _ = handshake(Credentials(client_tls(authority), skip=True), server, address)
    assert ours.result() is not None


def test_a_certificate_of_a_stranger_is_refused(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other")
    server = server_tls(stranger, stranger.make("server", "CN=submit.example"))
    ours, theirs = handshake(Credentials(client_tls(authority)), Credentials(server))
    assert isinstance(ours.error, AuthenticationFailed)
    assert theirs.error is not None


def test_a_side_without_certificates_lets_the_next_method_try(authority: Authority) -> None:
    ours, theirs = handshake(Credentials(client_tls(authority)), Credentials(None))
    assert ours.result() is None
    assert theirs.result() is None


def test_wildcards_stand_for_one_label() -> None:
    assert tls.host_matches("a.example.org", ["*.example.org"])
    assert not tls.host_matches("a.b.example.org", ["*.example.org"])
    assert not tls.host_matches("example.org", ["*.example.org"])


def test_a_handshake_that_fails_leaves_both_sides_ready_for_the_next_method(
    authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other")
    good = server_tls(authority, authority.make("server", "CN=submit.example"))
    bad = server_tls(stranger, stranger.make("server", "CN=submit.example"))
    elsewhere = Sinful.parse("<127.0.0.1:1?alias=other.example>")
    strange_user = client_tls(authority, stranger.make("user", "CN=mallory"))
    for client, server, address in (
        (client_tls(authority), bad, ADDRESS),
        (client_tls(authority), good, elsewhere),
        (strange_user, good, ADDRESS),
    ):
        ours, theirs = handshake(Credentials(client), Credentials(server), address)
        assert isinstance(ours.error, MethodFailed)
        assert isinstance(theirs.error, MethodFailed)
