"""What two sides agree on: authentication, encryption, integrity, methods, ciphers, durations.

A table and pure choices over it; the messages that carry them are in `client_handshake` and
`server_handshake`. Source: wire notes, Negotiation table, Client security ad, Server reply ad.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum

from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.wire.security.policy_ad import PolicyAd


class Wish(IntEnum):
    """How much one side wants a feature; the wire and the configuration use the names."""

    NEVER = 0
    OPTIONAL = 1
    PREFERRED = 2
    REQUIRED = 3

    @classmethod
    def parse(cls, text: str | None, default: Wish | None = None) -> Wish:
        """Read a wish by its first letter; missing or unknown is `default`, else NEVER."""
        found = parse_wish(text)
        if found is None:
            return default if default is not None else cls.NEVER
        return found


def parse_wish(text: str | None) -> Wish | None:
    """Return the wish that a text names by its first letter, None if it names none."""
    return _WISHES.get((text or "")[:1].upper())


_WISHES = {
    "R": Wish.REQUIRED,
    "Y": Wish.REQUIRED,
    "T": Wish.REQUIRED,
    "P": Wish.PREFERRED,
    "O": Wish.OPTIONAL,
    "N": Wish.NEVER,
    "F": Wish.NEVER,
}


class Verdict(Enum):
    """What becomes of a feature."""

    YES = "YES"
    NO = "NO"
    FAIL = "FAIL"


_N, _O, _P, _R = Wish.NEVER, Wish.OPTIONAL, Wish.PREFERRED, Wish.REQUIRED
_YES, _NO, _FAIL = Verdict.YES, Verdict.NO, Verdict.FAIL
VERDICTS: dict[tuple[Wish, Wish], Verdict] = {
    (_R, _R): _YES, (_R, _P): _YES, (_R, _O): _YES, (_R, _N): _FAIL,
    (_P, _R): _YES, (_P, _P): _YES, (_P, _O): _YES, (_P, _N): _NO,
    (_O, _R): _YES, (_O, _P): _YES, (_O, _O): _NO, (_O, _N): _NO,
    (_N, _R): _FAIL, (_N, _P): _NO, (_N, _O): _NO, (_N, _N): _NO,
}  # fmt: skip
"""(client's wish, server's wish) → what happens."""

DEFAULT_METHODS = ("FS", "TOKEN")
CRYPTO_METHODS = ("AES",)
DEFAULT_LEASE_SECONDS = 3600
TOOL_SESSION_SECONDS = 60
DAEMON_SESSION_SECONDS = 86400

METHOD_BITS = {
    "CLAIMTOBE": 2,
    "FS": 4,
    "FS_REMOTE": 8,
    "NTSSPI": 16,
    "KERBEROS": 64,
    "ANONYMOUS": 128,
    "SSL": 256,
    "PASSWORD": 512,
    "MUNGE": 1024,
    "TOKEN": 2048,
    "SCITOKENS": 4096,
}
"""The bit of each method in the method handshake."""

METHOD_NAMES = {bit: name for name, bit in METHOD_BITS.items()}

_METHOD_ALIASES = {
    "IDTOKENS": "TOKEN",
    "IDTOKEN": "TOKEN",
    "TOKENS": "TOKEN",
    "SCITOKEN": "SCITOKENS",
}


def canonical_method(name: str) -> str:
    """Return a method's name as the wire has it: a peer that reads IDTOKENS knows no such thing."""
    upper = name.upper()
    return _METHOD_ALIASES.get(upper, upper)


def display_method(name: str) -> str:
    """Return a method's name as configuration and tools have it."""
    return "IDTOKENS" if name.upper() == "TOKEN" else name


class Policy(NamedTuple):
    """One side's wishes for one command level, or for all it does as a client.

    `methods` and `crypto` are in preference order; durations in seconds. A client offers those of
    `first` alone before it offers the rest: among what is offered at once the server chooses.
    """

    authentication: Wish = Wish.OPTIONAL
    encryption: Wish = Wish.OPTIONAL
    integrity: Wish = Wish.OPTIONAL
    negotiation: Wish = Wish.PREFERRED
    methods: tuple[str, ...] = DEFAULT_METHODS
    crypto: tuple[str, ...] = CRYPTO_METHODS
    session_seconds: int = DAEMON_SESSION_SECONDS
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    first: tuple[str, ...] = ()

    def forced(self) -> Policy:
        """Return this policy with authentication required."""
        return self._replace(authentication=Wish.REQUIRED)

    @property
    def strictest(self) -> Wish:
        """The highest of the three wishes: what authentication is raised to for old servers."""
        return max(self.authentication, self.encryption, self.integrity)

    @property
    def allows_bare(self) -> bool:
        """Whether a command without negotiation satisfies this side."""
        return Wish.REQUIRED not in (
            self.authentication,
            self.encryption,
            self.integrity,
            self.negotiation,
        )


def read_policy(
    lookup: Callable[[str], str | None], level: Level, *, subsystem: str = ""
) -> Policy:
    """Read a level's policy from the SEC_ settings; CLIENT is what a client wishes.

    `lookup` returns a setting's expanded text, None if unset. A setting of the level beats
    SEC_DEFAULT_; one with the subsystem in its name beats both for the session's duration.
    """

    def setting(feature: str) -> str | None:
        for name in (f"SEC_{level}_{feature}", f"SEC_DEFAULT_{feature}"):
            text = lookup(name)
            if text is not None and text.strip():
                return text.strip()
        return None

    def wish(feature: str, default: Wish) -> Wish:
        text = setting(feature)
        # Compat: the reference's daemons end at a word that is none; ours want what protects most
        # (test_a_wish_that_nobody_can_read_is_the_strictest).
        return default if text is None else Wish.parse(text, Wish.REQUIRED)

    def number(feature: str, default: int) -> int:
        named = lookup(f"SEC_{subsystem}_{level}_{feature}") if subsystem else None
        text = named or setting(feature)
        return int(text) if text is not None and text.isdecimal() else default

    methods = setting("AUTHENTICATION_METHODS")
    crypto = setting("CRYPTO_METHODS")
    chosen = tuple(
        name for name in (crypto or "AES").replace(",", " ").upper().split() if name == "AES"
    )
    tool = level is Level.CLIENT and subsystem in ("TOOL", "SUBMIT")
    duration = TOOL_SESSION_SECONDS if tool else DAEMON_SESSION_SECONDS
    return Policy(
        authentication=wish("AUTHENTICATION", Wish.OPTIONAL),
        encryption=wish("ENCRYPTION", Wish.OPTIONAL),
        integrity=wish("INTEGRITY", Wish.OPTIONAL),
        negotiation=wish("NEGOTIATION", Wish.PREFERRED),
        methods=_read_methods(methods) if methods else DEFAULT_METHODS,
        crypto=chosen or CRYPTO_METHODS,
        session_seconds=number("SESSION_DURATION", duration),
        lease_seconds=number("SESSION_LEASE", DEFAULT_LEASE_SECONDS),
        first=_read_methods(lookup("KETTLE_CLIENT_METHODS_FIRST") or ""),
    )


def _read_methods(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(canonical_method, text.replace(",", " ").split())))


NO_METHOD = "the method of authentication"
"""What the sides fail to agree on where both want to authenticate and know no common way."""


class Agreement(NamedTuple):
    """What a negotiation came to.

    `failed` names the feature on which the sides cannot agree (the server closes in silence, but
    for NO_METHOD, which it tells);
    `authentication_required` is false where both sides would go on without.
    """

    authenticate: bool
    encrypt: bool
    integrity: bool
    authentication_required: bool
    methods: tuple[str, ...]
    crypto: tuple[str, ...]
    session_seconds: int
    lease_seconds: int
    failed: str = ""


def agree(client: PolicyAd, server: Policy) -> Agreement:
    """Decide, as the server, what a client's ad and the level's policy come to."""
    wishes = {
        "Authentication": (
            Wish.parse(client.text("AuthenticationNew") or client.text("Authentication")),
            server.authentication,
        ),
        "Encryption": (Wish.parse(client.text("Encryption")), server.encryption),
        "Integrity": (Wish.parse(client.text("Integrity")), server.integrity),
    }
    yes = {name for name, pair in wishes.items() if VERDICTS[pair] is Verdict.YES}
    methods, crypto = _common_methods(client, server), _common_crypto(client, server)
    authenticate = "Authentication" in yes and bool(methods)
    keyed = bool(crypto) and (authenticate or bool(client.text("ECDHPublicKey")))
    duration = client.number("SessionDuration", server.session_seconds)
    leases = (client.number("SessionLease"), server.lease_seconds)
    return Agreement(
        authenticate=authenticate,
        encrypt=keyed and (authenticate or "Encryption" in yes),
        integrity=keyed and (authenticate or "Integrity" in yes),
        authentication_required=Wish.REQUIRED in wishes["Authentication"],
        methods=methods,
        crypto=crypto if keyed else (),
        session_seconds=max(0, min(duration, server.session_seconds)),
        lease_seconds=min((lease for lease in leases if lease > 0), default=0),
        failed=_first_failure(wishes, has_method=bool(methods), keyed=keyed),
    )


def _first_failure(wishes: dict[str, tuple[Wish, Wish]], *, has_method: bool, keyed: bool) -> str:
    """Name what one side demands and the two cannot have, "" if nothing."""
    for name, pair in wishes.items():
        if VERDICTS[pair] is Verdict.FAIL:
            return name
    demanded = [name for name, pair in wishes.items() if Wish.REQUIRED in pair]
    if "Authentication" in demanded and not has_method:
        return NO_METHOD
    in_clear = [] if keyed else [name for name in demanded if name != "Authentication"]
    return in_clear[0] if in_clear else ""


def _common_methods(client: PolicyAd, server: Policy) -> tuple[str, ...]:
    """The methods both have, in the server's order and the client's spelling."""
    offered = {canonical_method(name): name for name in client.words("AuthMethods")}
    return tuple(offered[name] for name in server.methods if name in offered)


def _common_crypto(client: PolicyAd, server: Policy) -> tuple[str, ...]:
    """The ciphers both have, in the server's order."""
    offered = {name.upper() for name in client.words("CryptoMethods")}
    return tuple(name for name in server.crypto if name in offered)
