"""Tokens (JWT, HS256): read, mint, verify; key files and what a scope allows.

Bytes and claims only; files, clock and randomness are arguments. The exchange that uses a token's
signature as a secret is `methods.token`. What tokens are made of is loaded by those who have one:
a tool that proves itself otherwise starts sooner. Source: wire notes, TOKEN / IDTOKENS.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping

from kettle.errors import AuthenticationFailed
from kettle.levels import Level, implied_levels
from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes, to_text
from kettle.wire.security.keys import hkdf

POOL_KEY = "POOL"
_SCRAMBLE = bytes.fromhex("deadbeef")
_SCOPE_PREFIX = "condor:/"
# Limit: a token from a peer or a file.
MAXIMUM_TOKEN = 64 * 1024


def scramble(data: bytes) -> bytes:
    """Turn a key into its file's content, or back: XOR with four repeating bytes."""
    pattern = (_SCRAMBLE * (len(data) // 4 + 1))[: len(data)]
    return bytes(one ^ other for one, other in zip(data, pattern, strict=True))


def signing_key(key_id: str, file_content: bytes) -> bytes:
    """Return the signing key of a key file; POOL's counts twice."""
    key = scramble(file_content)
    return key * 2 if key_id == POOL_KEY else key


def pool_password(file_content: bytes) -> bytes:
    """Return the password of a pool password file: up to the first NUL."""
    return scramble(file_content).partition(b"\0")[0]


def jwt_key(key: bytes) -> bytes:
    """Derive the HMAC key of tokens from a signing key."""
    return hkdf(key, salt=b"htcondor", info=b"master jwt")


def _encode_part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode_part(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise AuthenticationFailed("a token has a part that is not base64") from error


class ParsedToken(NamedTuple):
    """A token taken apart; nothing about it has been verified."""

    signed_text: str
    signature: bytes
    header: Mapping[str, object]
    claims: Mapping[str, object]

    @property
    def key_id(self) -> str:
        """The id of the signing key; POOL if the header has none."""
        value = self.header.get("kid")
        return value if isinstance(value, str) else POOL_KEY

    @property
    def documents(self) -> tuple[str, str]:
        """The header and the claims as whoever signed them wrote them."""
        header, claims = self.signed_text.split(".")
        return to_text(_decode_part(header)), to_text(_decode_part(claims))

    def claim(self, name: str) -> str:
        """Return a string claim, empty if it is absent or something else."""
        value = self.claims.get(name)
        return value if isinstance(value, str) else ""

    def time(self, name: str) -> float | None:
        """Return a time claim in epoch seconds."""
        value = self.claims.get(name)
        return float(value) if isinstance(value, int | float) else None

    def plain_claims(self) -> dict[str, str | int]:
        """Return the claims that are strings and whole numbers, which expressions may ask for."""
        found = self.claims.items()
        return {name: value for name, value in found if isinstance(value, str | int)}


def parse_token(text: str) -> ParsedToken:
    """Take a token, or its signed text alone, apart.

    Raises AuthenticationFailed for anything that is not one.
    """
    import json

    parts = text.split(".")
    if len(text) > MAXIMUM_TOKEN or len(parts) not in (2, 3):
        raise AuthenticationFailed("this is not a token: it has not three parts")
    documents = []
    for part in parts[:2]:
        try:
            document = json.loads(_decode_part(part))
        except (ValueError, RecursionError) as error:
            raise AuthenticationFailed("a token has a part that is not JSON") from error
        if not isinstance(document, dict):
            raise AuthenticationFailed("a token has a part that is not a JSON object")
        documents.append(document)
    if documents[0].get("alg") != "HS256":
        raise AuthenticationFailed("a token is signed by an algorithm other than HS256")
    signature = _decode_part(parts[2]) if len(parts) == 3 else b""
    return ParsedToken(".".join(parts[:2]), signature, documents[0], documents[1])


def sign(signed_text: str, key: bytes) -> bytes:
    """Return the raw signature of a token's signed text under a signing key."""
    import hmac

    return hmac.digest(jwt_key(key), to_bytes(signed_text), "sha256")


def mint_token(
    key: bytes,
    *,
    key_id: str,
    issuer: str,
    subject: str,
    issued_at: int,
    token_id: str,
    lifetime_seconds: int | None = None,
    levels: Iterable[str] = (),
) -> str:
    """Make a token; `token_id` is 32 random hexadecimal digits, `levels` empty means no limit."""
    import json

    claims: dict[str, object] = {}
    if lifetime_seconds is not None and lifetime_seconds >= 0:
        claims["exp"] = issued_at + lifetime_seconds
    claims["iat"] = issued_at
    claims["iss"] = issuer
    claims["jti"] = token_id
    scope = " ".join(f"{_SCOPE_PREFIX}{level}" for level in levels)
    if scope:
        claims["scope"] = scope
    claims["sub"] = subject
    header = json.dumps({"alg": "HS256", "kid": key_id}, separators=(",", ":"))
    payload = json.dumps(claims, separators=(",", ":"))
    signed = f"{_encode_part(to_bytes(header))}.{_encode_part(to_bytes(payload))}"
    return f"{signed}.{_encode_part(sign(signed, key))}"


def scope_levels(scope: str) -> frozenset[Level] | None:
    """Return the levels a scope allows, with those they imply; None if it names none of ours.

    A scope without any `condor:/` word does not limit.
    """
    words = [word for word in scope.split() if word.startswith(_SCOPE_PREFIX)]
    if not words:
        return None
    found: set[Level] = set()
    for word in words:
        name = word[len(_SCOPE_PREFIX) :].upper()
        if name in Level.__members__:
            found.update(implied_levels(Level(name)))
    return frozenset(found)


def check_times(token: ParsedToken, now: float, maximum_age_seconds: int = 0) -> None:
    """Refuse a token that has expired, or is too old or undated where that matters.

    Raises AuthenticationFailed.
    """
    expires = token.time("exp")
    if expires is not None and now >= expires:
        raise AuthenticationFailed("the token has expired")
    if maximum_age_seconds > 0:
        issued = token.time("iat")
        if issued is None or now - issued > maximum_age_seconds:
            raise AuthenticationFailed("the token is older than SEC_TOKEN_MAX_AGE allows")


def end_of(token: ParsedToken, maximum_age_seconds: int = 0) -> float | None:
    """Return from when on `check_times` refuses a token, in epoch seconds; None for never."""
    expires, issued = token.time("exp"), token.time("iat")
    aged = issued + maximum_age_seconds if maximum_age_seconds > 0 and issued is not None else None
    return min((one for one in (expires, aged) if one is not None), default=None)


def fitting_tokens(
    texts: Iterable[str], trust_domain: str, issuer_keys: Iterable[str], now: float
) -> Iterator[ParsedToken]:
    """Yield the tokens of this issuer that say one of these keys signed them, in their order.

    `texts` are lines of token files; comments and lines that are no tokens are passed over.
    """
    keys = set(issuer_keys)
    for line in texts:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            token = parse_token(text)
            check_times(token, now)
        except AuthenticationFailed:
            continue
        if token.claim("iss") == trust_domain and token.key_id in keys and token.signature:
            yield token


def is_signed_by(token: ParsedToken, key: bytes) -> bool:
    """Tell whether a token has the signature of this key."""
    import hmac

    return hmac.compare_digest(token.signature, sign(token.signed_text, key))
