"""Commands in single UDP messages: who sent one, and whether it may be run.

    a session's payload:  int 60010, resume ad, the command's own fields, all encrypted, and a MAC
    without one:          int command, its fields

Decides what a message proves: what is encrypted alone can be changed, bit by bit, by whoever hears
it. Fragments and the crypto header are `wire.safesock`'s, sockets the shell's. Source: wire notes,
UDP.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Container
from typing import Any

from kettle.errors import AuthenticationFailed, AuthorizationDenied, RemoteProtocolError
from kettle.levels import implied_levels
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command, command_name
from kettle.wire.dialog import Message
from kettle.wire.safesock import Protected, decode_payload, encode_payload, sign
from kettle.wire.security.client_side import NONCE_SIZE, ClientSetup
from kettle.wire.security.keys import DATAGRAM_CIPHER, cfb64
from kettle.wire.security.negotiation import Wish
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.session import LONGEST_WORD, UNAUTHENTICATED, Peer, Session
from kettle.wire.sinful import Sinful

ANSWERED_BY_NOTHING = frozenset(
    command
    for command in Command
    if command.name.startswith(("UPDATE_", "INVALIDATE_", "MERGE_", "DC_NOP"))
    and command not in (Command.UPDATE_STARTD_AD_WITH_ACK, Command.UPDATE_GSI_CRED)
) | {
    Command.RESCHEDULE,
    Command.MATCH_INFO,
    Command.ALIVE,
    Command.DC_RAISESIGNAL,
    Command.DC_CHILDALIVE,
    Command.DC_RECONFIG,
    Command.DC_RECONFIG_FULL,
    Command.DC_OFF_GRACEFUL,
    Command.DC_OFF_FAST,
    Command.DC_OFF_PEACEFUL,
    Command.DC_SET_PEACEFUL_SHUTDOWN,
}
"""The commands that may come by UDP: the others answer, and a datagram can carry no answer."""

# What may come again, or changed into this, and harms nobody.
_HARMLESS = frozenset(
    command
    for command in ANSWERED_BY_NOTHING
    if command is Command.RESCHEDULE or command.name.startswith("DC_NOP")
)

# Limit: nonces kept against replays, in all. Whose session has sent the most loses its oldest, and
# of a message that was sent so long ago nobody knows any more that it came.
MAXIMUM_NONCES = 200_000
_NONCE_BYTES = 8
_KEY_SIZE = 24


class Replays:
    """The nonces of the messages that came: a datagram counts once while its session lives."""

    def __init__(self, maximum: int = MAXIMUM_NONCES) -> None:
        self._maximum = maximum
        # Session id → digests of its nonces, in the order in which they came.
        self._seen: dict[str, dict[bytes, None]] = {}
        self.size = 0

    def note(self, session_id: str, nonce: str, living: Container[str]) -> bool:
        """Remember a nonce; False if it was here before.

        `living` are the ids of all sessions: nothing is remembered of those that are gone.
        """
        seen = self._seen.setdefault(session_id, {})
        digest = hashlib.blake2b(nonce.encode("utf-8", "replace"), digest_size=_NONCE_BYTES)
        if digest.digest() in seen:
            return False
        seen[digest.digest()] = None
        self.size += 1
        if self.size > self._maximum:
            self._make_room(living)
        return True

    def _make_room(self, living: Container[str]) -> None:
        """Forget dead sessions, then the oldest of those that have more than their share."""
        kept = {name: seen for name, seen in self._seen.items() if name in living}
        room = self._maximum * 3 // 4
        names = list(kept)[-room:]
        share = room
        for left, size in zip(
            range(len(names), 0, -1), sorted(len(kept[name]) for name in names), strict=True
        ):
            share = room // left
            if size > share:
                break
            room -= size
        self._seen = {name: dict.fromkeys(list(kept[name])[-share:]) for name in names}
        self.size = sum(map(len, self._seen.values()))


def seal(
    setup: ClientSetup, session: Session, address: Sinful, command: int, body: Message
) -> bytes:
    """Compose a command's message in a session: its payload, ready to be cut into datagrams.

    Compat: the reference sends no MAC by UDP, but takes it; here there is one
    (test_a_message_that_was_changed_on_its_way_is_refused).
    """
    writer = Writer(session.key is not None)
    writer.integer(Command.DC_AUTHENTICATE)
    nonce = base64.b64encode(setup.random_bytes(NONCE_SIZE)).decode("ascii")
    PolicyAd(
        {
            "AuthCommand": int(command),
            "Command": int(command),
            "ConnectSinful": str(address),
            "CryptoMethods": DATAGRAM_CIPHER,
            "Nonce": nonce,
            "RemoteVersion": setup.version,
            "ServerCommandSock": setup.own_address or None,
            "Sid": session.id,
            "UseSession": "YES",
        }
    ).write(writer)
    body.write(writer)
    data = writer.getvalue()
    if session.key is None:
        return data
    sealed = Protected(encrypt(session.key, data), encryption_id=session.id)
    return encode_payload(sign(session.key, sealed))


def compose_bare(command: int, body: Message) -> bytes:
    """Compose a command's message where nothing is ever negotiated."""
    writer = Writer().integer(int(command))
    body.write(writer)
    return writer.getvalue()


def accept_datagram(
    setup: ServerSetup,
    payload: bytes,
    peer_address: str,
    now: float,
    replays: Replays,
    *,
    host_names: tuple[str, ...] = (),
) -> Accepted:
    """Authorize the command of one message; its fields are the rest of `Accepted.message`.

    Raises AuthenticationFailed, AuthorizationDenied, RemoteProtocolError.

    Compat: the reference believes the session id of a message in the clear; here only what is
    encrypted or signed with a session's key counts as its user's. Shown in
    tests/unit/wire/security/test_datagrams.py.
    """
    protected = decode_payload(payload)
    session, reader = _open(setup, protected, peer_address, now)
    command, nonce = _read_command(reader, session, peer_address)
    registered = setup.registered.get(command)
    if registered is None or command not in ANSWERED_BY_NOTHING:
        raise RemoteProtocolError(f"{peer_address} sent command {command}, not served over UDP")
    if session is None:
        _check_bare(setup, registered, command, peer_address)
    else:
        near = session.nearby and bool(host_names)
        _check_seal(setup, registered, session, command, peer_address, protected, near=near)
        if not replays.note(session.id, nonce, setup.sessions):
            raise AuthenticationFailed(f"{peer_address} sent a datagram that was here before")
        # Its key was shown: what is only named lives no longer for that.
        setup.sessions.use(session, now)
    user = UNAUTHENTICATED if session is None else session.user
    limits = None if session is None else session.limits
    level = setup.first_allowed(registered, user, peer_address, host_names, limits)
    if level is None or (session is not None and not session.permits(command)):
        raise AuthorizationDenied(f"{user} from {peer_address} may not {command_name(command)}")
    method = "" if session is None else session.method
    session_id = "" if session is None else session.id
    levels = frozenset(implied_levels(level))
    claims = {} if session is None else session.claims
    peer = Peer(
        user, peer_address, method, levels, session_id=session_id, limits=limits, claims=claims
    )
    return Accepted(command, peer, session, message=reader)


def _open(
    setup: ServerSetup, protected: Protected, peer_address: str, now: float
) -> tuple[Session | None, Reader]:
    """Return the session whose key a message shows, None without a key, and what it says."""
    named = {text.partition(",")[0] for text in (protected.mac_id, protected.encryption_id) if text}
    if not named:
        return None, Reader(protected.data, encrypted=False)
    session = setup.sessions.look_up(named.pop(), now)
    if named or session is None or session.key is None:
        raise AuthenticationFailed(f"{peer_address} sealed a datagram for a session unknown here")
    if protected.mac_id and not protected.verify(session.key):
        raise AuthenticationFailed(f"{peer_address} sent a datagram with a wrong checksum")
    data = decrypt(session.key, protected.data) if protected.encrypted else protected.data
    return session, Reader(data, protected.encrypted)


def _read_command(reader: Reader, session: Session | None, peer_address: str) -> tuple[int, str]:
    """Return the command of a message and its nonce, and refuse one that was moved."""
    command = reader.integer()
    if command != Command.DC_AUTHENTICATE:
        if session is not None:
            raise RemoteProtocolError(f"{peer_address} sealed a command without its session's ad")
        return command, ""
    ad = PolicyAd.read(reader)
    nonce = ad.text("Nonce")
    if session is not None:
        if ad.text("Sid") != session.id:
            raise AuthenticationFailed(f"{peer_address} sealed one session into another's")
        if len(nonce) > LONGEST_WORD:
            raise RemoteProtocolError(f"{peer_address} sealed a datagram with an endless nonce")
    return ad.number("Command", -1), nonce


def _check_bare(
    setup: ServerSetup, registered: Registered, command: int, peer_address: str
) -> None:
    """Refuse what proves nothing where the command's level demands something."""
    if registered.force_authentication or not setup.policy_for(registered).allows_bare:
        name = command_name(command)
        raise AuthenticationFailed(f"{peer_address} sent {name} over UDP without a session")


def _check_seal(
    setup: ServerSetup,
    registered: Registered,
    session: Session,
    command: int,
    peer_address: str,
    protected: Protected,
    *,
    near: bool,
) -> None:
    """Refuse what the command's level demands and a sealed message does not show.

    `near` is a message from this host in a session that was made here: nobody else hears it.

    Compat: the reference's clients never send a MAC by UDP, and its servers never ask for one. Here
    one without is taken where integrity is not REQUIRED, from this host, or if it harms nobody; and
    no more in a session that had one. Who must have it is told to use TCP, as all do by default
    (test_a_message_without_checksum_is_refused_where_integrity_is_required).
    """
    policy = setup.policy_for(registered)
    what = f"{peer_address} sent {command_name(command)} over UDP"
    if session.user == UNAUTHENTICATED and (
        registered.force_authentication or policy.authentication is Wish.REQUIRED
    ):
        raise AuthenticationFailed(f"{what} unauthenticated")
    if policy.encryption is Wish.REQUIRED and not protected.encrypted:
        raise AuthenticationFailed(f"{what} in the clear")
    if protected.mac_id:
        # One that nobody negotiated may have several clients, and not all of one kind.
        session.signs_datagrams = bool(session.method)
    elif session.signs_datagrams:
        raise AuthenticationFailed(f"{what} without the checksum that this session has")
    elif policy.integrity is Wish.REQUIRED and not near and command not in _HARMLESS:
        raise AuthenticationFailed(f"{what} without a checksum, which is required here: use TCP")


def encrypt(key: bytes, data: bytes) -> bytes:
    """Encrypt a message under a session's key, as UDP has it: BLOWFISH, CFB-64, zero IV."""
    encryptor = _cipher(key).encryptor()
    return bytes(encryptor.update(data) + encryptor.finalize())


def decrypt(key: bytes, data: bytes) -> bytes:
    """Decrypt what `encrypt` encrypted; nothing tells whether the key was right but the content."""
    decryptor = _cipher(key).decryptor()
    return bytes(decryptor.update(data) + decryptor.finalize())


def _cipher(key: bytes) -> Any:
    """Make the cipher; only datagrams need it."""
    from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish

    return cfb64(Blowfish(key[:_KEY_SIZE]))
