"""Claim ids and other ids that carry their own session: parse, public form, session, mint.

    <startd sinful>#<startd birthday>#<sequence>#[session info]<secret>

The text before the last `#` is the session's id, the secret its key material; both ends know the
session without a word being said. Family and parent sessions have the same form. Source: wire
notes, Claim sessions, Family session.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.errors import RemoteProtocolError
from kettle.levels import Level
from kettle.patterns import late_pattern
from kettle.wire.security.keys import DATAGRAM_CIPHER, session_key
from kettle.wire.security.session import Session

# Limit: a claim id is an address, three numbers, a short ad and 64 digits.
MAXIMUM_TEXT = 64 * 1024

SUBMIT_SIDE = "submit-side@matchsession"
EXECUTE_SIDE = "execute-side@matchsession"
NEGOTIATOR_SIDE = "negotiator-side@matchsession"
COLLECTOR_SIDE = "collector-side@matchsession"
FAMILY = "condor@family"

ADMIN_CAPABILITY = "_condor_PrivRemoteAdminCapability"
"""The attribute of daemon ads whose id makes an administrator of whoever has it."""

CLAIM_SESSION_END_SECONDS = 600
"""A claim's session outlives the claim by so much."""

CLAIM_INFO = (
    '[Encryption="YES";Integrity="YES";ShortVersion="25.14.1";'
    'CryptoMethods="AES";CryptoMethodsList="AES";]'
)
"""The session info of claim ids made here."""

# Each letter is looked at once: a peer may send 64 KiB of them, or of blanks, without any value.
_INFO_ITEM = late_pattern(r'(?<!\w)([A-Za-z]\w*+)\s*+=\s*+(?:"([^"]*)"|([^;"]*))\s*;?')


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def public_claim_id(text: str) -> str:
    """Return the form of a claim id for logs and ads (PublicClaimId): its secret is three dots.

    What has no session before it is a secret as a whole.
    """
    return text.rpartition("#")[0] + "#..."


class ClaimId:
    """A claim id; its text is a secret, `public` is what may be logged."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        if len(text) > MAXIMUM_TEXT or "\n" in text:
            raise RemoteProtocolError("a claim id is malformed")
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClaimId) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.public

    def __repr__(self) -> str:
        return f"ClaimId({self.public!r})"

    @property
    def session_id(self) -> str:
        """Everything before the last `#`."""
        head, separator, _ = self.text.rpartition("#")
        return head if separator else self.text

    @property
    def public(self) -> str:
        """The form for logs and ads."""
        return public_claim_id(self.text)

    @property
    def address(self) -> str:
        """The sinful of the startd that made the id, empty if it has none."""
        end = self.text.find(">")
        return self.text[: end + 1] if self.text.startswith("<") else ""

    @property
    def birthday(self) -> int | None:
        """When the startd began that gave the claim out, by its own clock; None if it is not said.

        The startd's address may have a # of its own, before the number it has at its broker.
        Source: wire notes, Claim ids.
        """
        word = self.text[len(self.address) :].partition("#")[2].partition("#")[0]
        return int(word) if _is_number(word) else None

    @property
    def _tail(self) -> str:
        return self.text.rpartition("#")[2]

    @property
    def info(self) -> str:
        """The bracketed session info, empty if there is none."""
        tail = self._tail
        end = tail.rfind("]")
        return tail[: end + 1] if tail.startswith("[") and end > 0 else ""

    @property
    def secret(self) -> str:
        """The key material."""
        tail = self._tail
        return tail[len(self.info) :]

    def policy(self) -> dict[str, str]:
        """The session info as names (lower case) and values, lists with commas."""
        values: dict[str, str] = {}
        for name, quoted, bare in _INFO_ITEM.findall(self.info[1:-1]):
            values[name.lower()] = (quoted or bare).strip()
        for name in ("cryptomethods", "cryptomethodslist", "validcommands"):
            if name in values:
                values[name] = values[name].replace(".", ",")
        return values

    @classmethod
    def with_session(cls, text: str) -> ClaimId | None:
        """Return the id that a text is, if it carries a session."""
        claim = cls(text)
        return claim if claim.has_session else None

    @property
    def has_session(self) -> bool:
        """Whether the id carries a session."""
        return bool(self.info) and bool(self.secret)

    def session(
        self,
        user: str,
        *,
        limits: Iterable[Level] | None = None,
        expires_at: float | None = None,
        commands: Iterable[int] = (),
    ) -> Session:
        """Make the session of this id for a peer that will be known as `user`.

        It is good for `commands` alone where there are some and the id itself names none.
        Raises RemoteProtocolError if the id carries none, or none under AES.
        """
        policy = self.policy()
        ciphers = (policy.get("cryptomethodslist") or policy.get("cryptomethods") or "").upper()
        # An id without a word of ciphers, as those of administrators, leaves the usual one.
        if not self.has_session or "AES" not in (ciphers or "AES").split(","):
            raise RemoteProtocolError(f"claim id {self.public} carries no usable session")
        named = policy.get("validcommands", "").split(",")
        valid = frozenset(int(one) for one in named if _is_number(one))
        ends = policy.get("sessionexpires", "")
        if expires_at is None and _is_number(ends):
            expires_at = float(ends)
        return Session(
            id=self.session_id,
            key=session_key(self.secret.encode("utf-8", "surrogateescape")),
            user=user,
            expires_at=expires_at,
            valid_commands=valid or frozenset(map(int, commands)),
            limits=frozenset(limits) if limits is not None else None,
            peer_version=policy.get("shortversion", ""),
            peer_address=self.address,
            seals_datagrams=DATAGRAM_CIPHER in ciphers.split(","),
        )


def mint_claim_id(
    address: str, birthday: int, sequence: int, secret: bytes, info: str = CLAIM_INFO
) -> ClaimId:
    """Make a claim id; `secret` is 32 random bytes."""
    return ClaimId(f"{address}#{birthday}#{sequence}#{info}{secret.hex()}")


def mint_session_id(name: str, secret: bytes, info: str = CLAIM_INFO) -> ClaimId:
    """Make an id of the same form that is no claim: `family:<random>` and the like."""
    return ClaimId(f"{name}#{info}{secret.hex()}")
