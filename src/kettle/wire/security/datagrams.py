"""Commands in single UDP messages: who sent one, and whether it may be run.

    a session's payload:  int 60010, resume ad, the command's own fields, all encrypted
    without one:          int command, its fields

Decides what a message proves. Fragments and the crypto header are `wire.safesock`'s, sockets the
shell's. Source: wire notes, UDP.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from typing import Any

from kettle.errors import AuthenticationFailed, AuthorizationDenied, RemoteProtocolError
from kettle.levels import implied_levels
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command, command_name
from kettle.wire.dialog import Message
from kettle.wire.safesock import Protected, decode_payload, encode_payload
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

# Limit: nonces kept against replays; a datagram recorded longer ago than so many others counts.
MAXIMUM_NONCES = 20_000
_KEY_SIZE = 24


class Replays:
    """The nonces of the messages that came: a datagram counts once."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()

    def note(self, session_id: str, nonce: str) -> bool:
        """Remember a nonce; False if it was here before."""
        key = (session_id, nonce)
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > MAXIMUM_NONCES:
            self._seen.popitem(last=False)
        return True


def seal(
    setup: ClientSetup, session: Session, address: Sinful, command: int, body: Message
) -> bytes:
    """Compose a command's message in a session: its payload, ready to be cut into datagrams."""
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
    return encode_payload(Protected(encrypt(session.key, data), encryption_id=session.id))


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
    session, reader = _open(setup, decode_payload(payload), peer_address, now)
    command = _read_command(reader, session, peer_address, replays)
    if session is not None:
        # Its key was shown: what is only named lives no longer for that.
        setup.sessions.use(session, now)
    registered = setup.registered.get(command)
    if registered is None or command not in ANSWERED_BY_NOTHING:
        raise RemoteProtocolError(f"{peer_address} sent command {command}, not served over UDP")
    _check_policy(setup, registered, session, command, peer_address)
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


def _read_command(
    reader: Reader, session: Session | None, peer_address: str, replays: Replays
) -> int:
    """Return the command of a message, and refuse one that was moved or repeated."""
    command = reader.integer()
    if command != Command.DC_AUTHENTICATE:
        if session is not None:
            raise RemoteProtocolError(f"{peer_address} sealed a command without its session's ad")
        return command
    ad = PolicyAd.read(reader)
    if session is not None:
        if ad.text("Sid") != session.id:
            raise AuthenticationFailed(f"{peer_address} sealed one session into another's")
        nonce = ad.text("Nonce")
        if len(nonce) > LONGEST_WORD:
            raise RemoteProtocolError(f"{peer_address} sealed a datagram with an endless nonce")
        if not replays.note(session.id, nonce):
            raise AuthenticationFailed(f"{peer_address} sent a datagram that was here before")
    return ad.number("Command", -1)


def _check_policy(
    setup: ServerSetup,
    registered: Registered,
    session: Session | None,
    command: int,
    peer_address: str,
) -> None:
    """Refuse what the command's level demands and a message does not show."""
    policy = setup.policy_for(registered)
    name = command_name(command)
    if session is None:
        if registered.force_authentication or not policy.allows_bare:
            raise AuthenticationFailed(f"{peer_address} sent {name} over UDP without a session")
    elif session.user == UNAUTHENTICATED and (
        registered.force_authentication or policy.authentication is Wish.REQUIRED
    ):
        raise AuthenticationFailed(f"{peer_address} sent {name} over UDP unauthenticated")


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
