"""Commands in UDP messages: what a session proves, and what proves nothing."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kettle.errors import AuthenticationFailed, AuthorizationDenied, RemoteProtocolError
from kettle.levels import Level
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.safesock import (
    HEADER,
    MAGIC,
    MAXIMUM_PENDING_BYTES,
    Protected,
    Reassembly,
    decode_payload,
    encode_payload,
)
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.client_side import ClientSetup
from kettle.wire.security.datagrams import (
    Replays,
    accept_datagram,
    compose_bare,
    decrypt,
    encrypt,
    seal,
)
from kettle.wire.security.negotiation import Policy, Wish
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.session import UNAUTHENTICATED, Session, SessionCache
from kettle.wire.sinful import Sinful

ADDRESS = Sinful.parse("<127.0.0.1:9618>")
UPDATE = Command.UPDATE_SCHEDD_AD
SECRET = bytes(range(32))
NOW = 1000.0


def make_server(**settings: Any) -> ServerSetup:
    rules = {
        "ALLOW_READ": "*",
        "ALLOW_ADVERTISE_SCHEDD": "alice@pool",
        "ALLOW_DAEMON": "alice@pool",
    }
    setup: dict[str, Any] = {
        "policies": dict.fromkeys(Level, Policy()),
        "registered": {
            int(UPDATE): Registered((Level.ADVERTISE_SCHEDD,)),
            int(Command.DC_NOP_READ): Registered((Level.READ,)),
            int(Command.QUERY_SCHEDD_ADS): Registered((Level.READ,)),
        },
        "authorization": Authorization.from_settings(rules.get, "COLLECTOR"),
        "sessions": SessionCache(),
        "credentials": None,
        "addresses": (ADDRESS,),
        "random_bytes": Random(1).randbytes,
        "session_name": "here:1:2",
        "uid_domain": "pool",
    }
    server = ServerSetup(**(setup | settings))
    server.sessions.add(Session("here:1:2:3", SECRET, user="alice@pool", method="FS"))
    return server


def sealed(command: int = UPDATE, *, session: str = "here:1:2:3", key: bytes = SECRET) -> bytes:
    client = ClientSetup(Policy(), None, Random(7).randbytes)  # type: ignore[arg-type]
    return seal(client, Session(session, key), ADDRESS, command, Words("an ad"))


def accept(
    server: ServerSetup,
    payload: bytes,
    replays: Replays | None = None,
    *,
    here: tuple[str, ...] = (),
) -> Accepted:
    return accept_datagram(server, payload, "127.0.0.1", NOW, replays or Replays(), host_names=here)


def without_checksum(payload: bytes) -> bytes:
    """What the reference's client sends: encrypted, and nothing more."""
    protected = decode_payload(payload)
    return encode_payload(Protected(protected.data, encryption_id=protected.encryption_id))


def signed_only() -> Protected:
    """Signed as the reference's servers take it, and not encrypted."""
    writer = Writer().integer(Command.DC_AUTHENTICATE)
    ad = {"Command": int(UPDATE), "Sid": "here:1:2:3", "UseSession": "YES", "Nonce": "x"}
    PolicyAd(ad).write(writer)
    data = writer.getvalue()
    mac = hashlib.md5(SECRET + data, usedforsecurity=False).digest()
    return Protected(data, mac_id="here:1:2:3,<127.0.0.1:7>", mac=mac)


def integrity_required(**commands: Level) -> ServerSetup:
    policy = Policy()._replace(integrity=Wish.REQUIRED)
    registered = {int(Command[name]): Registered((level,)) for name, level in commands.items()}
    return make_server(policies=dict.fromkeys(Level, policy), registered=registered)


def test_a_message_sealed_in_a_session_is_its_users() -> None:
    accepted = accept(make_server(), sealed())
    assert (accepted.command, accepted.peer.user) == (UPDATE, "alice@pool")
    assert accepted.message is not None
    assert accepted.message.string() == "an ad"


def test_what_the_real_client_encrypted_is_opened_and_sealed_alike() -> None:
    path = Path(__file__).parents[3] / "data/vectors/cedar/udp_packets.json"
    (case,) = [one for one in json.loads(path.read_text())["cases"] if "plaintext" in one]
    protected = decode_payload(bytes.fromhex(case["packets"][0]))
    key = bytes.fromhex(case["session_key"])
    plain = decrypt(key, protected.data)
    assert plain == bytes.fromhex(case["plaintext"])
    assert encrypt(key, plain) == protected.data
    server = make_server()
    server.sessions.add(Session(case["enc_key_id"], key, user="alice@pool", method="FS"))
    accepted = accept(server, bytes.fromhex(case["packets"][0]))
    assert accepted.message is not None
    assert accepted.message.ad().string("MyType") == "Scheduler"


def test_a_session_named_in_the_clear_proves_nothing() -> None:
    writer = Writer().integer(Command.DC_AUTHENTICATE)
    PolicyAd({"Command": int(UPDATE), "Sid": "here:1:2:3", "UseSession": "YES"}).write(writer)
    with pytest.raises(AuthorizationDenied, match=UNAUTHENTICATED):
        accept(make_server(), writer.getvalue())


def test_a_datagram_counts_once() -> None:
    server, replays, payload = make_server(), Replays(), sealed()
    accept(server, payload, replays)
    with pytest.raises(AuthenticationFailed, match="before"):
        accept(server, payload, replays)


def test_a_message_that_was_changed_on_its_way_is_refused() -> None:
    server = make_server()
    captured = decode_payload(sealed())
    assert (captured.mac_id, captured.encryption_id) == ("here:1:2:3", "here:1:2:3")
    for at in range(len(captured.data)):
        data = bytearray(captured.data)
        data[at] ^= 1
        forged = Protected(bytes(data), captured.mac_id, captured.mac, captured.encryption_id)
        with pytest.raises(AuthenticationFailed, match="checksum"):
            accept(server, encode_payload(forged))


def test_a_message_without_checksum_is_refused_where_integrity_is_required() -> None:
    server = integrity_required(
        UPDATE_SCHEDD_AD=Level.ADVERTISE_SCHEDD,
        INVALIDATE_SCHEDD_ADS=Level.ADVERTISE_SCHEDD,
        RESCHEDULE=Level.DAEMON,
        DC_NOP_READ=Level.READ,
    )
    for command in (UPDATE, Command.INVALIDATE_SCHEDD_ADS):
        with pytest.raises(AuthenticationFailed, match="use TCP"):
            accept(server, without_checksum(sealed(command)))
    # Nobody is harmed by these.
    for command in (Command.RESCHEDULE, Command.DC_NOP_READ):
        assert accept(server, without_checksum(sealed(command))).command == command
    assert accept(server, sealed()).command == UPDATE


def test_what_this_host_says_in_a_session_made_here_needs_no_checksum() -> None:
    server = integrity_required(UPDATE_SCHEDD_AD=Level.ADVERTISE_SCHEDD)
    payload = without_checksum(sealed())
    for nearby, here in ((False, ()), (True, ()), (False, ("localhost",))):
        server.sessions.add(
            Session("here:1:2:3", SECRET, user="alice@pool", method="FS", nearby=nearby)
        )
        with pytest.raises(AuthenticationFailed, match="checksum"):
            accept(server, payload, here=here)
    server.sessions.add(Session("here:1:2:3", SECRET, user="alice@pool", method="FS", nearby=True))
    assert accept(server, payload, here=("localhost",)).command == UPDATE


@pytest.mark.parametrize("method", ["FS", ""])
def test_a_session_that_had_a_checksum_has_one_from_then_on(method: str) -> None:
    # One that nobody negotiated may have clients of both kinds.
    server = make_server()
    server.sessions.add(Session("here:1:2:3", SECRET, user="alice@pool", method=method))
    accept(server, without_checksum(sealed()))
    accept(server, sealed())
    if method:
        with pytest.raises(AuthenticationFailed, match="without the checksum"):
            accept(server, without_checksum(sealed()))
    else:
        accept(server, without_checksum(sealed()))


def test_what_is_only_signed_is_refused_where_encryption_is_required() -> None:
    server = make_server(policies=dict.fromkeys(Level, Policy()._replace(encryption=Wish.REQUIRED)))
    with pytest.raises(AuthenticationFailed, match="in the clear"):
        accept(server, encode_payload(signed_only()))


def test_what_came_is_remembered_in_bounds_and_each_session_keeps_its_share() -> None:
    replays, living = Replays(maximum=40), {"loud", "quiet"}
    for number in range(10):
        assert replays.note("gone", f"{number}", living)
    for number in range(5):
        assert replays.note("quiet", f"{number}", living)
    for number in range(1000):
        assert replays.note("loud", f"{number}", living)
        assert replays.size <= 40
    # Nobody's flood makes another's old messages count again.
    assert not any(replays.note("quiet", f"{number}", living) for number in range(5))
    assert not any(replays.note("loud", f"{number}", living) for number in range(985, 1000))


def test_more_sessions_than_there_is_room_for_keep_the_latest() -> None:
    replays, living = Replays(maximum=40), {f"{number}" for number in range(100)}
    for name in sorted(living):
        assert replays.note(name, "x", living)
        assert replays.size <= 40
    assert not replays.note("99", "x", living)


def test_a_wrong_key_or_an_unknown_session_opens_nothing() -> None:
    for payload in (
        sealed(key=bytes(32)),
        sealed(session="here:1:2:4"),
        encode_payload(Protected(b"x" * 40, encryption_id="here:1:2:3")),
    ):
        with pytest.raises((AuthenticationFailed, RemoteProtocolError)):
            accept(make_server(), payload)


def test_a_session_is_renewed_by_who_shows_its_key_alone() -> None:
    for payload, until in (
        (sealed(key=bytes(32)), NOW + 1),
        (encode_payload(Protected(b"x" * 40, encryption_id="here:1:2:3")), NOW + 1),
        (sealed(), NOW + 10),
    ):
        server = make_server()
        session = Session(
            "here:1:2:3",
            SECRET,
            user="alice@pool",
            method="FS",
            lease_seconds=10,
            lease_until=NOW + 1,
        )
        server.sessions.add(session)
        with suppress(AuthenticationFailed, RemoteProtocolError):
            accept(server, payload)
        assert session.lease_until == until


def test_a_session_cannot_be_sealed_into_anothers() -> None:
    server = make_server()
    server.sessions.add(Session("other", bytes(32), user="bob@pool", method="FS"))
    data = decrypt(SECRET, decode_payload(sealed()).data)
    forged = encode_payload(Protected(encrypt(bytes(32), data), encryption_id="other"))
    with pytest.raises(AuthenticationFailed, match="another"):
        accept(server, forged)


def test_a_checksum_is_checked_where_there_is_one() -> None:
    signed = signed_only()
    assert accept(make_server(), encode_payload(signed)).peer.user == "alice@pool"
    forged = replace(signed, data=signed.data + b"\0")
    with pytest.raises(AuthenticationFailed, match="checksum"):
        accept(make_server(), encode_payload(forged))


def test_only_commands_without_an_answer_come_by_datagram() -> None:
    assert accept(make_server(), compose_bare(Command.DC_NOP_READ, Words())).peer.user
    for command in (Command.QUERY_SCHEDD_ADS, Command.DC_NOP_WRITE, 424242):
        with pytest.raises(RemoteProtocolError, match="UDP"):
            accept(make_server(), compose_bare(command, Words("x")))


@pytest.mark.parametrize("feature", ["authentication", "encryption", "integrity", "negotiation"])
def test_a_bare_datagram_is_refused_where_something_is_required(feature: str) -> None:
    policy = Policy()._replace(**{feature: Wish.REQUIRED})
    server = make_server(policies=dict.fromkeys(Level, policy))
    with pytest.raises(AuthenticationFailed, match="without a session"):
        accept(server, compose_bare(Command.DC_NOP_READ, Words()))
    assert accept(server, sealed(Command.DC_NOP_READ)).peer.user == "alice@pool"


def test_fragments_that_contradict_each_other_are_an_error_not_a_crash() -> None:
    def fragment(number: int, last: int) -> bytes:
        return HEADER.pack(MAGIC, last, number, 1, 1, 2, 3, 4) + b"x"

    reassembly = Reassembly()
    reassembly.receive("here", fragment(5, 0), 0.0)
    reassembly.receive("here", fragment(7, 0), 0.0)
    with pytest.raises(RemoteProtocolError, match="after"):
        reassembly.receive("here", fragment(1, 1), 0.0)
    assert len(reassembly) == 0


def test_half_received_messages_are_bounded_in_bytes() -> None:
    reassembly = Reassembly()
    piece = bytes(60_000)
    for number in range(600):
        packet = HEADER.pack(MAGIC, 0, 0, len(piece), number, 0, 0, 0) + piece
        reassembly.receive("here", packet, 0.0)
    assert len(reassembly) * len(piece) <= MAXIMUM_PENDING_BYTES + len(piece)


def test_a_nonce_without_end_is_not_remembered() -> None:
    client = ClientSetup(Policy(), None, lambda size: bytes(size * 100))  # type: ignore[arg-type]
    session = Session("here:1:2:3", SECRET)
    payload = seal(client, session, ADDRESS, UPDATE, Words("an ad"))
    with pytest.raises(RemoteProtocolError, match="endless nonce"):
        accept(make_server(), payload)


def test_fragments_of_nothing_take_room_too() -> None:
    reassembly = Reassembly()
    for number in range(500):
        for piece in range(500):
            packet = HEADER.pack(MAGIC, 0, piece, 0, number, 0, 0, 0)
            reassembly.receive("here", packet, 0.0)
    assert len(reassembly) * 500 * 200 <= MAXIMUM_PENDING_BYTES + 500 * 200


def test_a_sealed_message_is_read_as_encrypted_text() -> None:
    data = decrypt(SECRET, decode_payload(sealed()).data)
    reader = Reader(data, True)
    assert reader.integer() == Command.DC_AUTHENTICATE
    assert PolicyAd.read(reader).text("CryptoMethods") == "BLOWFISH"
