"""The server's half of a security negotiation, from the first message to an authorized command.

Decides what is answered to whom; handlers, sockets and files belong to the shell. A dialog that
returns has authorized the command; one that raises costs the peer its connection. Source: wire
notes, Commands, negotiation, sessions.
"""

from __future__ import annotations

import base64
from functools import lru_cache

from kettle.attributes.version import parse_version
from kettle.errors import AuthenticationFailed, AuthorizationDenied, RemoteProtocolError
from kettle.levels import Level, implied_levels
from kettle.wire.codec import Reader
from kettle.wire.commands import Command, command_name
from kettle.wire.dialog import Dialog, Receive, Send, StartEncryption
from kettle.wire.security.authenticate import IMPLEMENTED, authenticate_server, send_key
from kettle.wire.security.identity import map_identity
from kettle.wire.security.keys import AES_KEY_SIZE, DATAGRAM_CIPHER, KeyPair
from kettle.wire.security.methods.context import ServerContext, ServerProof
from kettle.wire.security.negotiation import NO_METHOD, Agreement, Policy, Wish, agree
from kettle.wire.security.policy_ad import PolicyAd
from kettle.wire.security.proof import PROOF, SILENT, knows_enough
from kettle.wire.security.server_setup import Accepted, Request, ServerSetup
from kettle.wire.security.session import (
    LONGEST_WORD,
    SERVER_SLOP_SECONDS,
    UNAUTHENTICATED,
    Peer,
    Session,
)

FIRST_MESSAGE_SECONDS = 20.0
NONCE_SIZE = 33


def server_handshake(
    setup: ServerSetup,
    peer_address: str,
    now: float,
    *,
    set_ahead: int = 0,
    host_names: tuple[str, ...] = (),
    first: Reader | None = None,
    own_end: str = "",
) -> Dialog[Accepted]:
    """Take the first message of a connection and everything up to an authorized command.

    `peer_address` is the peer's IP address, `own_end` our end as `ip:port`; `first` a message the
    shell has received already.
    Sessions live by `now`; what has a date, such as a token, by a clock that is `set_ahead`.
    Raises AuthenticationFailed, AuthorizationDenied, RemoteProtocolError.
    """
    message = first if first is not None else (yield Receive(FIRST_MESSAGE_SECONDS))
    number = message.integer()
    if number != Command.DC_AUTHENTICATE:
        return (
            yield from _bare(
                setup, number, message, peer_address, now, set_ahead, host_names, own_end
            )
        )
    ad = PolicyAd.read(message)
    message.finish()
    asked = ad.number("Command", -1)
    meta = asked in (Command.DC_SEC_QUERY, Command.DC_AUTHENTICATE)
    command = ad.number("AuthCommand", -1) if meta else asked
    registered = setup.registered.get(command)
    if registered is None:
        raise RemoteProtocolError(f"{peer_address} asked for command {command}, unknown here")
    request = Request(
        setup, ad, asked, command, registered, peer_address, now, set_ahead, host_names, own_end
    )
    if ad.flag("UseSession"):
        return (yield from _resume(request))
    return (yield from _negotiate(request))


def _bare(
    setup: ServerSetup,
    number: int,
    message: Reader,
    peer_address: str,
    now: float,
    set_ahead: int,
    host_names: tuple[str, ...],
    own_end: str,
) -> Dialog[Accepted]:
    """Accept a command without negotiation, if its level's policy allows that."""
    registered = setup.registered.get(number)
    if registered is None:
        raise RemoteProtocolError(f"{peer_address} sent command {number}, unknown here")
    policy = setup.policy_for(registered)
    if not policy.allows_bare and not _only_authentication(policy):
        raise AuthenticationFailed(
            f"{peer_address} sent {command_name(number)} without the negotiation required here"
        )
    proof, method, user = None, "", UNAUTHENTICATED
    rest: Reader | None = message
    if registered.force_authentication:
        context = _method_context(setup, PolicyAd(), now + set_ahead, own_end)
        proven = yield from authenticate_server(policy.methods, context, first_mask=message)
        if proven is None:
            raise AuthenticationFailed(f"{peer_address} and this daemon share no method")
        method, proof = proven
        user = _identity(setup, method, proof)
        rest = None
    elif policy.authentication is Wish.REQUIRED:
        raise AuthenticationFailed(f"{peer_address} sent {command_name(number)} unauthenticated")
    request = Request(
        setup, PolicyAd(), number, number, registered, peer_address, now, set_ahead, host_names
    )
    limits = proof.limits if proof is not None else None
    level = request.allowed(user, limits)
    if level is None:
        raise AuthorizationDenied(f"{user} from {peer_address} may not {command_name(number)}")
    peer = Peer(user, peer_address, method, frozenset(implied_levels(level)), limits=limits)
    return Accepted(number, peer, message=rest)


def _only_authentication(policy: Policy) -> bool:
    """Tell whether all this policy demands is what an in-line authentication gives."""
    return Wish.REQUIRED not in (policy.encryption, policy.integrity, policy.negotiation)


def _method_context(setup: ServerSetup, ad: PolicyAd, now: float, own_end: str) -> ServerContext:
    """Make what the methods of one connection may know."""
    return ServerContext(
        setup.credentials,
        setup.addresses,
        setup.random_bytes,
        now,
        setup.uid_domain,
        trust_domain=setup.trust_domain,
        client_version=parse_version(ad.text("RemoteVersion")) or (0, 0, 0),
        fs_directory=setup.fs_directory,
        fs_remote_directory=setup.fs_remote_directory,
        root_is_condor=setup.root_is_condor,
        anonymous_user=setup.anonymous_user,
        token_maximum_age_seconds=setup.token_maximum_age_seconds,
        claims_domain=setup.claims_domain,
        own_end=own_end,
    )


def _identity(setup: ServerSetup, method: str, proof: ServerProof) -> str:
    """Give a proof its name; AuthenticationFailed for a certificate that has none and needs it."""
    identity = map_identity(
        method, proof.name, proof.principal, uid_domain=setup.uid_domain, mapfile=setup.mapfile
    )
    if setup.ssl_needs_mapping and method == "SSL" and identity.endswith("@unmapped"):
        raise AuthenticationFailed(f"no line of the map file is for {proof.principal or 'nobody'}")
    return identity


def _negotiate(request: Request) -> Dialog[Accepted]:
    """Answer a new negotiation."""
    setup, ad = request.setup, request.ad
    policy = setup.policy_for(request.registered)
    if request.registered.force_authentication:
        policy = policy.forced()
    agreement = _drop_unimplemented(agree(ad, policy))
    if agreement.failed == NO_METHOD:
        # The client hears that there is none, and says so to its user.
        yield Send(_reply_ad(setup, agreement._replace(authenticate=True), None))
    if agreement.failed:
        raise AuthenticationFailed(
            f"{request.peer_address} and this daemon disagree about {agreement.failed}"
        )
    key = yield from _exchange_keys(request, agreement)
    method, proof = "", None
    if agreement.authenticate:
        context = _method_context(setup, ad, request.date, request.own_end)
        proven = yield from authenticate_server(agreement.methods, context)
        if proven is None:
            if agreement.authentication_required:
                raise AuthenticationFailed(f"{request.peer_address} proved nothing")
        else:
            method, proof = proven
            fresh = setup.random_bytes(AES_KEY_SIZE) if agreement.crypto else None
            key = yield from send_key(proof, key, fresh)
    if key is not None:
        yield StartEncryption(key)
    elif Wish.REQUIRED in (policy.encryption, policy.integrity):
        raise AuthenticationFailed(f"{request.peer_address} cannot encrypt, which is required")
    return (yield from _conclude(request, agreement, method, proof, key))


def _exchange_keys(request: Request, agreement: Agreement) -> Dialog[bytes | None]:
    """Tell the client what was agreed on, with our half of a key if it sent its own."""
    setup, ad = request.setup, request.ad
    client_public = ad.text("ECDHPublicKey")
    if client_public and not ad.text("CryptoMethods"):
        raise RemoteProtocolError("a client sent an ECDH key without any cipher")
    keys = setup.make_keys() if client_public and agreement.crypto else None
    offered = ad.text("CryptoMethods").upper().replace(",", " ").split()
    if ad.text("Enact").upper() == "NO":
        yield Send(_reply_ad(setup, agreement, keys, datagrams=DATAGRAM_CIPHER in offered))
    return keys.shared_key(client_public) if keys is not None else None


def _drop_unimplemented(agreement: Agreement) -> Agreement:
    """Leave methods out that have no code here; without any left there is no authentication."""
    methods = tuple(name for name in agreement.methods if name.upper() in IMPLEMENTED)
    if methods == agreement.methods:
        return agreement
    failed = agreement.failed
    if not methods and agreement.authentication_required:
        failed = failed or NO_METHOD
    return Agreement(
        agreement.authenticate and bool(methods),
        agreement.encrypt,
        agreement.integrity,
        agreement.authentication_required,
        methods,
        agreement.crypto,
        agreement.session_seconds,
        agreement.lease_seconds,
        failed,
    )


def _reply_ad(
    setup: ServerSetup, agreement: Agreement, keys: KeyPair | None, *, datagrams: bool = False
) -> PolicyAd:
    """Compose the server's answer; `datagrams` if the session's may be sealed, too."""
    crypto = agreement.crypto
    if datagrams and crypto:
        crypto = (*crypto, DATAGRAM_CIPHER)
    token_keys = ", ".join(setup.credentials.issuer_keys())
    optional = agreement.authenticate and not agreement.authentication_required

    def yes(value: bool) -> str:
        return "YES" if value else "NO"

    return PolicyAd(
        {
            "Authentication": yes(agreement.authenticate),
            "Encryption": yes(agreement.encrypt),
            "Integrity": yes(agreement.integrity),
            "AuthRequired": False if optional else None,
            "AuthMethodsList": ",".join(agreement.methods) or None,
            "AuthMethods": agreement.methods[0] if agreement.methods else "",
            "CryptoMethodsList": ",".join(crypto) or None,
            "CryptoMethods": agreement.crypto[0] if agreement.crypto else None,
            "SessionDuration": str(agreement.session_seconds),
            "SessionLease": agreement.lease_seconds,
            "Enact": "YES",
            "NegotiatedSession": True,
            "RemoteVersion": setup.version,
            "TrustDomain": setup.trust_domain or None if token_keys else None,
            "IssuerKeys": token_keys or None,
            "ECDHPublicKey": keys.public if keys is not None else None,
        }
    )


def _conclude(
    request: Request,
    agreement: Agreement,
    method: str,
    proof: ServerProof | None,
    key: bytes | None,
) -> Dialog[Accepted]:
    """Authorize, make the session, and tell the client."""
    setup = request.setup
    session = _make_session(request, agreement, method, proof, key)
    user = session.user
    level = request.allowed(user, session.limits)
    valid = _valid_commands(setup, level or request.registered.levels[0], request.command)
    session.valid_commands = _shared(tuple(valid))
    if request.ad.flag("NewSession"):
        yield Send(
            PolicyAd(
                {
                    "Sid": session.id,
                    "User": user,
                    "ValidCommands": ",".join(map(str, valid)),
                    "ReturnCode": "AUTHORIZED" if level is not None else "DENIED",
                    "TriedAuthentication": True if agreement.authenticate else None,
                }
            )
        )
        if level is not None:
            setup.sessions.add(session)
    if level is None:
        raise AuthorizationDenied(
            f"{user} from {request.peer_address} may not {command_name(request.command)}"
        )
    return (yield from _accept(request, session, level))


def _make_session(
    request: Request,
    agreement: Agreement,
    method: str,
    proof: ServerProof | None,
    key: bytes | None,
) -> Session:
    """Return the session of whoever was proven, or of nobody; which commands it has is open yet."""
    setup, now = request.setup, request.now
    setup.sessions_made += 1
    name = f"{setup.session_name}:{setup.sessions_made}"
    if key is None:
        # Nothing but its name shows that somebody has the session: nobody guesses it.
        name = f"{name}:{setup.random_bytes(NONCE_SIZE).hex()}"
    session = Session(
        id=name,
        key=key,
        only_from=request.peer_address if key is None else "",
        nearby=bool(request.host_names),
        method=method,
        expires_at=now + agreement.session_seconds + SERVER_SLOP_SECONDS,
        lease_seconds=agreement.lease_seconds,
        peer_version=request.ad.text("RemoteVersion")[:LONGEST_WORD],
        subsystem=request.ad.text("Subsystem")[:LONGEST_WORD].upper(),
    )
    if proof is not None:
        session.user = _identity(setup, method, proof)
        session.limits = proof.limits
        session.attributes = dict(proof.attributes)
        session.claims = proof.claims
        ends_at = proof.ends_at
        session.proof_until = None if ends_at is None else ends_at - request.set_ahead
    session.renew(now)
    return session


def _valid_commands(setup: ServerSetup, level: Level, command: int) -> list[int]:
    """Return what the client may also run in this session; never empty.

    For silent commands it makes a new one each time, unless it can show this one's key.
    """
    commands = setup.commands_for(implied_levels(level))
    resumed = [each for each in commands if each not in SILENT]
    return resumed if command in resumed or (resumed and command in SILENT) else [command, *resumed]


@lru_cache(maxsize=64)
def _shared(commands: tuple[int, ...]) -> frozenset[int]:
    """Return one set for all sessions with these commands: there may be very many sessions."""
    return frozenset(commands)


def _resume(request: Request) -> Dialog[Accepted]:
    """Answer the resumption of a session."""
    setup, ad = request.setup, request.ad
    answered = ad.flag("ResumeResponse")
    can_prove = answered and ad.flag(PROOF)
    session = setup.sessions.look_up(ad.text("Sid"), request.now)
    if session is not None and not _may_resume(request, session, can_prove=can_prove):
        session = None
    if session is None:
        if answered:
            yield Send(PolicyAd({"ReturnCode": "SID_NOT_FOUND"}))
        raise AuthenticationFailed(f"{request.peer_address} resumed a session unknown here")
    nonce = base64.b64encode(setup.random_bytes(NONCE_SIZE)).decode("ascii")
    wants_proof = can_prove and session.key is not None and request.command in SILENT
    if answered:
        yield Send(
            PolicyAd(
                {
                    "ReturnCode": "AUTHORIZED",
                    "RemoteVersion": setup.version,
                    "Nonce": nonce,
                    PROOF: True if wants_proof else None,
                }
            )
        )
    if session.key is not None:
        yield StartEncryption(session.key)
    level = request.allowed(session.user, session.limits)
    if level is None or not session.permits(request.command):
        raise AuthorizationDenied(
            f"{session.user} from {request.peer_address} may not "
            f"{command_name(request.command)} in its session"
        )
    if wants_proof:
        # What is not sealed with the session's key ends the connection here.
        yield Receive()
    # Who is refused has only named it.
    setup.sessions.use(session, request.now)
    accepted = yield from _accept(request, session, level)
    return accepted._replace(resumed=True)


def _may_resume(request: Request, session: Session, *, can_prove: bool) -> bool:
    """Tell whether a session is good for who names it, and for the command.

    Compat: the reference resumes a session without a key for whoever names it, and its names can be
    guessed; here they cannot, and it is resumed from where it was made, for what need not be
    encrypted (test_a_session_without_a_key_is_its_makers_alone).
    """
    if session.key is not None:
        return knows_enough(request.command, session.user, can_prove=can_prove)
    policy = request.setup.policy_for(request.registered)
    if Wish.REQUIRED in (policy.encryption, policy.integrity):
        return False
    return session.only_from in ("", request.peer_address)


def _accept(request: Request, session: Session, level: Level) -> Dialog[Accepted]:
    """Say what is left to say, and describe the accepted command."""
    peer = Peer(
        session.user,
        request.peer_address,
        session.method,
        frozenset(implied_levels(level)),
        request.ad.text("RemoteVersion") or session.peer_version,
        session.id,
        session.limits,
        tuple(session.attributes.items()),
        session.subsystem,
        session.claims,
    )
    finished = request.asked != request.command
    if request.asked == Command.DC_SEC_QUERY:
        yield Send(PolicyAd({"AuthorizationSucceeded": True, **session.attributes}))
    return Accepted(request.command, peer, session, finished=finished)


def authorize_next(
    setup: ServerSetup,
    accepted: Accepted,
    command: int,
    now: float,
    host_names: tuple[str, ...] = (),
) -> Peer:
    """Authorize a further bare command on a connection that is already accepted.

    Raises RemoteProtocolError for an unknown command, AuthorizationDenied, AuthenticationFailed
    where the token has ended or was revoked meanwhile.
    """
    registered = setup.registered.get(command)
    if registered is None:
        raise RemoteProtocolError(f"command {command} is unknown here")
    peer = accepted.peer
    level = setup.first_allowed(registered, peer.user, peer.address, host_names, peer.limits)
    session = accepted.session
    if session is not None and not session.is_proven(now):
        raise AuthenticationFailed(f"the token of {peer.user} from {peer.address} is good no more")
    if level is None or (session is not None and not session.permits(command)):
        name = command_name(command)
        raise AuthorizationDenied(f"{peer.user} from {peer.address} may not {name}")
    return peer._replace(levels=frozenset(implied_levels(level)))
