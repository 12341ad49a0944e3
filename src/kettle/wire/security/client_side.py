"""The client's half of a security negotiation, from its first ad to the session.

Decides what is said and checked; the connection, the credentials and the session cache belong to
the shell. After the dialog the connection is ready for the command's own first message. Source:
wire notes, Commands, negotiation, sessions.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from kettle.attributes.version import CONDOR_VERSION, parse_version
from kettle.errors import (
    AuthenticationFailed,
    AuthorizationDenied,
    RemoteProtocolError,
    SessionUnknown,
)
from kettle.named_tuples import NamedTuple
from kettle.structs import Struct, field
from kettle.wire.codec import Writer
from kettle.wire.commands import Command, command_name
from kettle.wire.dialog import Dialog, Receive, Send, StartEncryption, Words
from kettle.wire.security.authenticate import IMPLEMENTED, authenticate_client, receive_key
from kettle.wire.security.keys import DATAGRAM_CIPHER, KeyPair, make_key_pair
from kettle.wire.security.methods.context import ClientContext, ClientCredentials
from kettle.wire.security.negotiation import Policy, Wish, canonical_method, display_method
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.proof import PROOF, SILENT
from kettle.wire.security.session import LONGEST_WORD, UNAUTHENTICATED, Session
from kettle.wire.sinful import Sinful

NONCE_SIZE = 33


class ClientSetup(Struct):
    """What a client brings to a negotiation; one per process, reused for every connection.

    `own_address` is the sinful of a daemon (it lets the server use the session back), `random` a
    source of random bytes, `make_keys` makes the ECDH key pair.
    """

    policy: Policy
    credentials: ClientCredentials
    random_bytes: Callable[[int], bytes]
    subsystem: str = "TOOL"
    process_id: int = 0
    own_address: str = ""
    parent_id: str = ""
    uid_domain: str = ""
    claims_domain: bool = True
    version: str = CONDOR_VERSION
    make_keys: Callable[[], KeyPair] = field(default_factory=lambda: make_key_pair)


class FirstMessage(NamedTuple):
    """DC_AUTHENTICATE and the client's ad."""

    ad: PolicyAd

    def write(self, writer: Writer) -> None:
        """Append the message."""
        writer.integer(Command.DC_AUTHENTICATE)
        self.ad.write(writer)


def client_handshake(
    setup: ClientSetup,
    address: Sinful,
    command: int,
    now: float,
    *,
    session: Session | None = None,
    authorized_command: int | None = None,
    force_authentication: bool = False,
    server_end: str = "",
) -> Dialog[Session]:
    """Negotiate a session for `command`, or resume `session`.

    `authorized_command` is the command that is really meant where `command` is DC_SEC_QUERY or
    DC_AUTHENTICATE; `server_end` the other end of a connection that the server made. Returns the
    session in use. Raises SessionUnknown if the server does not know the session to resume (connect
    again without it), AuthenticationFailed, AuthorizationDenied, RemoteProtocolError; a server that
    merely closes is ConnectionLost.
    """
    if session is not None:
        yield from _resume(setup, address, command, session, authorized_command, now)
        return session
    policy = setup.policy.forced() if force_authentication else setup.policy
    if policy.authentication is Wish.REQUIRED and IMPLEMENTED.isdisjoint(policy.methods):
        raise AuthenticationFailed(f"no method is left with which {address} could know us")
    keys = setup.make_keys() if policy.crypto else None
    ours = _first_ad(setup, policy, address, command, authorized_command, keys)
    yield Send(FirstMessage(ours))
    reply = yield Receive()
    theirs = PolicyAd.read(reply)
    reply.finish()
    key = _agreed_key(keys, theirs)
    method = ""
    if theirs.flag("Authentication"):
        method, key = yield from _authenticate(setup, policy, address, theirs, key, server_end)
    elif policy.authentication is Wish.REQUIRED:
        raise AuthenticationFailed(f"{address} does not authenticate, which is required here")
    if key is not None:
        yield StartEncryption(key)
    elif Wish.REQUIRED in (policy.encryption, policy.integrity):
        raise AuthenticationFailed(f"{address} agreed to no encryption, which is required here")
    return (yield from _finish(theirs, address, command, authorized_command, key, method, now))


def _first_ad(
    setup: ClientSetup,
    policy: Policy,
    address: Sinful,
    command: int,
    authorized_command: int | None,
    keys: KeyPair | None,
) -> PolicyAd:
    """Compose the client's ad."""
    methods = [name for name in policy.methods if name in IMPLEMENTED]
    # A session that nothing else is done in is one for datagrams.
    for_datagrams = command == Command.DC_AUTHENTICATE and bool(policy.crypto)
    crypto = (*policy.crypto, DATAGRAM_CIPHER) if for_datagrams else policy.crypto
    with_tokens = "TOKEN" in methods
    credentials = setup.credentials
    return PolicyAd(
        {
            "AuthMethods": ",".join(methods),
            "CryptoMethods": ",".join(crypto) or None,
            "OutgoingNegotiation": policy.negotiation.name,
            "Authentication": policy.strictest.name,
            "AuthenticationNew": policy.authentication.name,
            "Encryption": policy.encryption.name,
            "Integrity": policy.integrity.name,
            "Enact": "NO",
            "Subsystem": setup.subsystem,
            "ServerPid": setup.process_id,
            "SessionDuration": str(policy.session_seconds),
            "SessionLease": policy.lease_seconds,
            "NewSession": "YES",
            "NegotiatedSession": True,
            "RemoteVersion": setup.version,
            "ConnectSinful": str(address),
            "ServerCommandSock": setup.own_address or None,
            "ParentUniqueID": setup.parent_id or None,
            "TrustDomain": (credentials.trust_domain() or None) if with_tokens else None,
            "IssuerKeys": (", ".join(credentials.issuer_keys()) or None) if with_tokens else None,
            "Command": int(command),
            "AuthCommand": int(authorized_command) if authorized_command is not None else None,
            "ECDHPublicKey": keys.public if keys is not None else None,
        }
    )


def _authenticate(
    setup: ClientSetup,
    policy: Policy,
    address: Sinful,
    theirs: PolicyAd,
    key: bytes | None,
    server_end: str,
) -> Dialog[tuple[str, bytes | None]]:
    """Say who we are, as the server's ad wants it; return the method that succeeded and the key.

    Without one, where neither side requires it, the method is empty and the key what it was.
    Raises AuthenticationFailed.
    """
    required = theirs.flag("AuthRequired", default=True)
    context = ClientContext(
        setup.credentials,
        address,
        setup.random_bytes,
        server_trust_domain=theirs.text("TrustDomain"),
        server_issuer_keys=theirs.words("IssuerKeys"),
        server_version=parse_version(theirs.text("RemoteVersion")) or (0, 0, 0),
        uid_domain=setup.uid_domain,
        claims_domain=setup.claims_domain,
        server_end=server_end,
    )
    offered = theirs.words("AuthMethodsList") or theirs.words("AuthMethods")
    if not offered and required:
        raise AuthenticationFailed(f"{address} has no method in common with us")
    usable = [name for name in policy.methods if name in {one.upper() for one in offered}]
    reasons: list[str] = []
    proven = yield from authenticate_client(usable, context, first=policy.first, reasons=reasons)
    if proven is not None:
        method, proof = proven
        return method, (yield from receive_key(method, proof, key))
    if required or policy.authentication is Wish.REQUIRED:
        ordered = tuple(canonical_method(name) for name in offered)
        tried = tuple(name for name in ordered if name in usable)
        named = ", ".join(map(display_method, tried)) or "none that both sides have"
        message = "; ".join([f"{address} accepted no method (tried: {named})", *reasons])
        raise AuthenticationFailed(message, tried=tried)
    return "", key


def _agreed_key(keys: KeyPair | None, theirs: PolicyAd) -> bytes | None:
    """Return the ECDH key, if both sides sent a public key and a cipher was chosen."""
    public = theirs.text("ECDHPublicKey")
    if keys is None or not public:
        return None
    cipher = theirs.text("CryptoMethods").upper()
    if cipher != "AES":
        raise RemoteProtocolError(f"the server chose cipher {cipher or '(none)'}, not AES")
    return keys.shared_key(public)


def _finish(
    theirs: PolicyAd,
    address: Sinful,
    command: int,
    authorized_command: int | None,
    key: bytes | None,
    method: str,
    now: float,
) -> Dialog[Session]:
    """Take the post-authentication ad and make the session."""
    reply = yield Receive()
    ad = PolicyAd.read(reply)
    reply.finish()
    code = ad.text("ReturnCode").upper()
    user = ad.text("User") or UNAUTHENTICATED
    if code and code != "AUTHORIZED":
        meant = command_name(command if authorized_command is None else authorized_command)
        raise AuthorizationDenied(
            f"{address} does not let {user} run {meant} ({code})",
            code=code,
            user=user,
            method=method,
        )
    session_id = ad.text("Sid")
    if not session_id:
        raise RemoteProtocolError("the server's last ad has no session id")
    lease = theirs.number("SessionLease")
    session = Session(
        id=session_id,
        key=key,
        user=user,
        method=method,
        expires_at=now + theirs.number("SessionDuration", 60),
        lease_seconds=lease,
        valid_commands=frozenset(
            int(word) for word in ad.words("ValidCommands") if word.isdecimal() and len(word) < 19
        ),
        peer_version=theirs.text("RemoteVersion")[:LONGEST_WORD],
        peer_address=str(address),
        seals_datagrams=DATAGRAM_CIPHER in theirs.words("CryptoMethodsList"),
        common_methods=theirs.words("AuthMethodsList"),
        agreed=frozenset(
            name for name in ("Encryption", "Integrity") if theirs.text(name).upper() == "YES"
        ),
        said=theirs if command == Command.DC_SEC_QUERY else {},
    )
    session.renew(now)
    return session


def _resume(
    setup: ClientSetup,
    address: Sinful,
    command: int,
    session: Session,
    authorized_command: int | None,
    now: float,
) -> Dialog[None]:
    """Resume a session, asking the server to say whether it knows it."""
    nonce = base64.b64encode(setup.random_bytes(NONCE_SIZE)).decode("ascii")
    ad = PolicyAd(
        {
            "Command": int(command),
            "AuthCommand": int(authorized_command) if authorized_command is not None else None,
            "ConnectSinful": str(address),
            "CryptoMethods": "AES" if session.key is not None else None,
            "Nonce": nonce,
            "RemoteVersion": setup.version,
            "ResumeResponse": True,
            PROOF: True if session.key is not None and command in SILENT else None,
            "ServerCommandSock": setup.own_address or None,
            "Sid": session.id,
            "UseSession": "YES",
        }
    )
    yield Send(FirstMessage(ad))
    reply = yield Receive()
    answer = PolicyAd.read(reply)
    reply.finish()
    code = answer.text("ReturnCode").upper()
    if code == "SID_NOT_FOUND":
        raise SessionUnknown(f"{address} does not know session {session.id}")
    if code != "AUTHORIZED":
        raise AuthorizationDenied(f"{address} refused session {session.id} ({code or 'no code'})")
    if session.key is not None:
        yield StartEncryption(session.key)
        if answer.flag(PROOF):
            yield Send(Words(0))
    session.renew(now)


def begins_bare(policy: Policy, session: Session | None, authorized_command: int | None) -> bool:
    """Tell whether a command is sent without a handshake: as configured, unless it resumes one.

    A command that only asks what another would be allowed has no answer but the handshake's.
    """
    return session is None and authorized_command is None and policy.negotiation is Wish.NEVER


def authenticates_inline(command: int) -> bool:
    """Tell whether a bare command has its peer prove who it is, between it and its arguments.

    Both ends must agree about that, so it is the command's nature and nobody's wish.
    """
    try:
        return Command(command).force_authentication
    except ValueError:
        return False


def client_inline_authentication(setup: ClientSetup, address: Sinful, command: int) -> Dialog[str]:
    """Send a bare command that forces authentication: the first mask goes with the command.

    For peers whose negotiation is NEVER. Returns the method. Raises AuthenticationFailed.
    """
    context = ClientContext(
        setup.credentials,
        address,
        setup.random_bytes,
        uid_domain=setup.uid_domain,
        claims_domain=setup.claims_domain,
    )
    reasons: list[str] = []
    proven = yield from authenticate_client(
        setup.policy.methods, context, first_words=(int(command),), reasons=reasons
    )
    if proven is None:
        why = "; ".join(reasons) or "accepted no method"
        raise AuthenticationFailed(f"{address}: {why}")
    return proven[0]
