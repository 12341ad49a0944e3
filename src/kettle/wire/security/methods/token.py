"""TOKEN (IDTOKENS): the password exchange with a token's signature as the shared secret.

The client sends the token without its signature; the server makes the signature anew with the key
the token names. The signature itself never travels. Source: wire notes, TOKEN / IDTOKENS.
"""

from __future__ import annotations

from kettle.errors import AuthenticationFailed
from kettle.octets import to_bytes
from kettle.wire.dialog import Dialog, Do, Receive
from kettle.wire.security.keys import hkdf
from kettle.wire.security.methods.context import (
    ClientContext,
    ClientProof,
    ServerContext,
    ServerProof,
)
from kettle.wire.security.methods.password import (
    NONCE_SIZE,
    OK,
    Hello,
    SharedKeys,
    decline_as_client,
    decline_as_server,
    exchange_as_client,
    exchange_as_server,
    pool_user,
)
from kettle.wire.security.methods.seeds import SEED_A
from kettle.wire.security.tokens import check_times, end_of, parse_token, scope_levels, sign


def token_keys(signature: bytes, signed_text: str) -> SharedKeys:
    """Derive the proof key from a token's signature."""
    key = hkdf(signature, salt=SEED_A + to_bytes(signed_text), info=b"master ka")
    return SharedKeys(key)


def token_wrap_key(rb: bytes) -> bytes:
    """Derive the wrap key."""
    return hkdf(rb, salt=b"session key", info=b"htcondor")


def client(context: ClientContext) -> Dialog[ClientProof | None]:
    """Use a token that suits the server, its trust domain and keys."""
    token = yield Do(
        lambda: context.credentials.find_token(
            context.server_trust_domain, context.server_issuer_keys, context.address
        )
    )
    if token is None:
        yield from decline_as_client(signed_text="")
        return None
    keys = token_keys(token.signature, token.signed_text)
    nonce = context.random_bytes(NONCE_SIZE)
    rb = yield from exchange_as_client(token.subject, keys, nonce, token.signed_text)
    return None if rb is None else ClientProof(token_wrap_key(rb))


def server(context: ServerContext) -> Dialog[ServerProof | None]:
    """Check the client's token.

    Raises AuthenticationFailed when the proof or the token does not hold. The reference says
    nothing at all then and lets the client wait for its timeout; closing tells it sooner.
    """
    hello = Hello.read((yield Receive()), with_text=True)
    if hello.status != OK or len(hello.ra) != NONCE_SIZE:
        yield from decline_as_server()
        return None
    token = parse_token(hello.signed_text or "")
    key = yield Do(lambda: context.credentials.signing_key(token.key_id))
    if key is None:
        yield from decline_as_server()
        return None
    keys = token_keys(sign(token.signed_text, key), token.signed_text)
    b = pool_user(context.client_version, context.uid_domain)
    rb = context.random_bytes(NONCE_SIZE)
    if not (yield from exchange_as_server(hello, b, keys, rb)):
        raise AuthenticationFailed("the client does not know the signature of its token")
    check_times(token, context.now, context.token_maximum_age_seconds)
    subject = token.claim("sub")
    if subject != hello.a or not subject:
        raise AuthenticationFailed("the client is not the subject of its token")
    if context.trust_domain and token.claim("iss") != context.trust_domain:
        raise AuthenticationFailed("the token was issued for another trust domain")
    claims = token.plain_claims()
    if (yield Do(lambda: context.credentials.token_is_revoked(claims))):
        raise AuthenticationFailed("the token has been revoked")
    attributes = {
        "AuthTokenIssuer": token.claim("iss"),
        "AuthTokenSubject": subject,
        "AuthTokenScopes": token.claim("scope").replace(" ", ","),
        "AuthTokenId": token.claim("jti"),
    }
    return ServerProof(
        subject,
        wrap_key=token_wrap_key(rb),
        limits=scope_levels(token.claim("scope")),
        attributes={name: value for name, value in attributes.items() if value},
        claims=claims,
        ends_at=end_of(token, context.token_maximum_age_seconds),
    )
