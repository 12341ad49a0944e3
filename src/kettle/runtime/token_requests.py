"""Tokens for others: issued to whoever may have one, asked for, listed and approved.

`TokenBook` decides (who may approve what, how long a request waits); `TokenCommands` are the
handlers. Keys are read by `credentials.py`, tokens made by `wire.security.tokens`. Source: wire
notes, DC_GET_SESSION_TOKEN to DC_AUTO_APPROVE_TOKEN_REQUEST.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.levels import Level
from kettle.runtime.credentials import SigningKeys
from kettle.wire.commands import Command
from kettle.wire.messages.daemoncore import TokenReply, TokenRequest
from kettle.wire.security.identity import is_one_word
from kettle.wire.security.tokens import POOL_KEY, mint_token

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream

# Limit: requests that wait, those from one host, so that none takes all, rules of automatic
# approval, and the length of what a stranger names.
MOST_REQUESTS = 2000
MOST_REQUESTS_OF_HOST = 200
MOST_RULES = 100
MOST_CHARACTERS = 256
# Limit: a request that nobody has approved or fetched is forgotten after so many seconds.
REQUEST_SECONDS = 3600.0
# Only these levels are granted by a rule, to clients that have proved nothing.
_AUTOMATIC_LEVELS = frozenset(
    {Level.ADVERTISE_STARTD, Level.ADVERTISE_SCHEDD, Level.ADVERTISE_MASTER, Level.READ}
)
# The codes that the reference's tools print beside the reason.
_NO_KEY, _NOT_ALLOWED, _NOT_FOUND, _FULL, _BAD = 2, 3, 4, 5, 6


@dataclass(slots=True)
class Wish:
    """A token that somebody asked for.

    `identity` is whose token it is to be; `proved` who asked, from `location`. `levels` empty
    means all that the identity has; `lifetime` -1 means no end. `token` is there once approved.
    """

    number: str
    client_id: str
    identity: str
    proved: str
    location: str
    levels: tuple[str, ...]
    lifetime: int
    asked_at: float
    token: str = ""

    def describe(self) -> ClassAd:
        """Return what a listing shows."""
        ad = ClassAd(
            {
                "RequestId": self.number,
                "ClientId": self.client_id,
                "RequestedIdentity": self.identity,
                "AuthenticatedIdentity": self.proved,
                "PeerLocation": self.location,
                "TokenLifetime": self.lifetime,
            }
        )
        if self.levels:
            ad["LimitAuthorization"] = ",".join(self.levels)
        return ad


@dataclass(frozen=True, slots=True)
class Rule:
    """Requests from a network are approved at once, until a moment."""

    network: ipaddress.IPv4Network | ipaddress.IPv6Network
    until: float


@dataclass(slots=True)
class TokenBook:
    """The requests of one daemon; `now` is in epoch seconds. Refusals are RefusedError."""

    requests: dict[str, Wish] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def ask(self, wish: Wish, now: float) -> None:
        """Enter a request."""
        self.forget_old(now)
        if len(self.requests) >= MOST_REQUESTS:
            raise RefusedError("too many token requests are waiting here", code=_FULL)
        own = sum(1 for each in self.requests.values() if each.location == wish.location)
        if own >= MOST_REQUESTS_OF_HOST:
            raise RefusedError("too many token requests of this host are waiting", code=_FULL)
        while wish.number in self.requests:
            wish.number = str(int(wish.number) + 1)
        self.requests[wish.number] = wish

    def is_automatic(self, wish: Wish, now: float) -> bool:
        """Tell whether a rule approves the request without anybody looking at it."""
        if not wish.levels or not _AUTOMATIC_LEVELS.issuperset(wish.levels):
            return False
        try:
            address = ipaddress.ip_address(wish.location)
        except ValueError:
            return False
        return any(now < rule.until and address in rule.network for rule in self.rules)

    def find(self, number: str, client_id: str, now: float) -> Wish:
        """Return a request that both its number and its client's id are known of."""
        self.forget_old(now)
        wish = self.requests.get(number)
        if wish is None or not _is_same(wish.client_id, client_id):
            raise RefusedError(
                f"there is no token request {number} of this client", code=_NOT_FOUND
            )
        return wish

    def visible(self, who: str, *, administrator: bool, number: str = "") -> list[Wish]:
        """Return the requests that still wait and that `who` may see, oldest first."""
        return [
            wish
            for wish in self.requests.values()
            if not wish.token
            and (administrator or wish.identity == who)
            and number in ("", wish.number)
        ]

    def may_approve(
        self,
        wish: Wish,
        who: str,
        *,
        administrator: bool,
        limits: frozenset[Level] | None = None,
    ) -> bool:
        """Tell whether somebody may approve: an administrator, or whose token it is to be.

        `limits` are the only levels that the latter's own proof is good for: nobody approves for
        themselves what they could not do.
        """
        if administrator:
            return True
        within = limits is None or (bool(wish.levels) and limits.issuperset(wish.levels))
        return wish.identity == who and within

    def add_rule(self, text: str, seconds: int, now: float) -> None:
        """Approve requests from a network for a while."""
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise RefusedError(f"{text!r} is no network", code=_BAD) from None
        if seconds <= 0:
            raise RefusedError("a rule needs a lifetime", code=_BAD)
        self.rules = [rule for rule in self.rules if now < rule.until][: MOST_RULES - 1]
        self.rules.append(Rule(network, now + seconds))

    def forget_old(self, now: float) -> None:
        """Drop requests that nobody cared about for too long."""
        for number, wish in list(self.requests.items()):
            if now - wish.asked_at >= REQUEST_SECONDS:
                del self.requests[number]


class TokenCommands:
    """The handlers, bound to one daemon."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.book = TokenBook()

    def register(self) -> None:
        """Make the daemon's network answer these commands."""
        register = self._runtime.network.register
        register(Command.DC_GET_SESSION_TOKEN, self._get)
        register(Command.DC_START_TOKEN_REQUEST, self._start)
        register(Command.DC_FINISH_TOKEN_REQUEST, self._finish)
        register(Command.DC_LIST_TOKEN_REQUEST, self._list)
        register(Command.DC_APPROVE_TOKEN_REQUEST, self._approve)
        register(Command.DC_AUTO_APPROVE_TOKEN_REQUEST, self._approve_automatically)

    async def _answer(self, stream: Stream, decide: Callable[[Stream, ClassAd], ClassAd]) -> None:
        """Read a request and send what `decide` makes of it, or its refusal."""
        request = TokenRequest.read(await stream.receive()).request
        try:
            reply = decide(stream, request)
        except RefusedError as error:
            reply = ClassAd({"ErrorCode": error.code or _BAD, "ErrorString": error.message})
        await stream.send(TokenReply(reply))

    async def _get(self, stream: Stream) -> None:
        await self._answer(stream, self._issue)

    async def _start(self, stream: Stream) -> None:
        await self._answer(stream, self._enter)

    async def _finish(self, stream: Stream) -> None:
        await self._answer(stream, self._hand_out)

    async def _approve(self, stream: Stream) -> None:
        await self._answer(stream, self._grant)

    async def _approve_automatically(self, stream: Stream) -> None:
        await self._answer(stream, self._add_rule)

    async def _list(self, stream: Stream) -> None:
        request = TokenRequest.read(await stream.receive()).request
        self.book.forget_old(self._runtime.clock.now())
        found = self.book.visible(
            stream.peer.user,
            administrator=self._is_administrator(stream),
            number=request.string("RequestId") or "",
        )
        for wish in found:
            await stream.send(TokenReply(wish.describe()))
        await stream.send(TokenReply(ClassAd({"ErrorCode": 0, "Owner": 0})))

    def _issue(self, stream: Stream, request: ClassAd) -> ClassAd:
        peer = stream.peer
        if not peer.authenticated or not stream.encrypted:
            raise RefusedError("prove who you are, on an encrypted connection", code=_NOT_ALLOWED)
        key = _short(request, "RequestedKey") or POOL_KEY
        allowed = self._runtime.config.words("SEC_TOKEN_FETCH_ALLOWED_SIGNING_KEYS")
        if key not in (allowed or (POOL_KEY,)):
            raise RefusedError(f"tokens signed with {key} are not given out", code=_NOT_ALLOWED)
        levels = narrowed(_levels(request), peer.limits)
        token = self._mint(peer.user, levels, _lifetime(request), key)
        self._runtime.log(f"Issued a token to {peer.user} at {stream.remote_name}")
        return ClassAd({"Token": token})

    def _enter(self, stream: Stream, request: ClassAd) -> ClassAd:
        now = self._runtime.clock.now()
        peer = stream.peer
        if not stream.encrypted:
            raise RefusedError("tokens travel on encrypted connections only", code=_NOT_ALLOWED)
        client_id = _short(request, "ClientId")
        if not client_id:
            raise RefusedError("a token request needs a ClientId", code=_BAD)
        identity = _short(request, "User") or peer.user
        if not is_one_word(identity):
            # Compat: the reference takes it, and jobs of its bearer are idle for ever
            # (test_a_request_for_a_name_with_blanks_is_refused).
            raise RefusedError(f"nobody can be {identity!r}: a name has no blanks", code=_BAD)
        wish = Wish(
            number=str(1_000_000 + secrets.randbelow(9_000_000)),
            client_id=client_id,
            identity=identity,
            proved=peer.user,
            location=peer.address,
            levels=_levels(request),
            lifetime=_lifetime(request),
            asked_at=now,
        )
        if self.book.is_automatic(wish, now):
            self._runtime.log(f"Token for {wish.identity} at {wish.location}: approved by rule")
            return ClassAd({"Token": self._mint(wish.identity, wish.levels, wish.lifetime)})
        self.book.ask(wish, now)
        self._runtime.log(f"Token request {wish.number} for {wish.identity} waits")
        return ClassAd({"RequestId": wish.number})

    def _find(self, request: ClassAd) -> Wish:
        return self.book.find(
            _short(request, "RequestId"), _short(request, "ClientId"), self._runtime.clock.now()
        )

    def _hand_out(self, _: Stream, request: ClassAd) -> ClassAd:
        wish = self._find(request)
        if wish.token:
            del self.book.requests[wish.number]
        return ClassAd({"Token": wish.token})

    def _grant(self, stream: Stream, request: ClassAd) -> ClassAd:
        wish, who = self._find(request), stream.peer.user
        if not self.book.may_approve(
            wish, who, administrator=self._is_administrator(stream), limits=stream.peer.limits
        ):
            raise RefusedError(f"{who} may not approve this request", code=_NOT_ALLOWED)
        wish.token = self._mint(wish.identity, wish.levels, wish.lifetime)
        self._runtime.log(f"{who} approved token request {wish.number} for {wish.identity}")
        return ClassAd({"ErrorCode": 0})

    def _add_rule(self, stream: Stream, request: ClassAd) -> ClassAd:
        network, seconds = _short(request, "Subnet"), request.integer("Lifetime") or 0
        self.book.add_rule(network, seconds, self._runtime.clock.now())
        self._runtime.log(f"{stream.peer.user}: token requests from {network} are approved")
        return ClassAd({"ErrorCode": 0})

    def _is_administrator(self, stream: Stream) -> bool:
        return self._runtime.network.allows(stream, Level.ADMINISTRATOR)

    def _mint(
        self, identity: str, levels: tuple[str, ...], lifetime: int, key_id: str = POOL_KEY
    ) -> str:
        """Make a token; RefusedError if this daemon has no such key."""
        config = self._runtime.config
        key = SigningKeys(config).key(key_id)
        if key is None:
            raise RefusedError(f"this daemon has no signing key {key_id}", code=_NO_KEY)
        longest = config.integer("SEC_ISSUED_TOKEN_EXPIRATION")
        if longest is not None and longest > 0:
            lifetime = longest if lifetime < 0 else min(lifetime, longest)
        return mint_token(
            key,
            key_id=key_id,
            issuer=config.get("TRUST_DOMAIN") or "",
            subject=identity,
            issued_at=int(self._runtime.clock.now()),
            token_id=secrets.token_hex(16),
            lifetime_seconds=lifetime if lifetime >= 0 else None,
            levels=levels,
        )


def narrowed(wanted: tuple[str, ...], limits: frozenset[Level] | None) -> tuple[str, ...]:
    """Return the levels of a token for somebody whose own proof is good for `limits` only.

    A token that names no level has no limit, so where nothing is left the answer is RefusedError.
    """
    if limits is None:
        return wanted
    kept = tuple(level for level in wanted or sorted(limits) if level in limits)
    if not kept:
        raise RefusedError("a limited token gets none that can do more", code=_NOT_ALLOWED)
    return kept


def _is_same(one: str, other: str) -> bool:
    """Compare two texts of clients in a time that does not tell where they differ."""
    # As bytes: texts beyond ASCII are not compared.
    return secrets.compare_digest(
        one.encode("utf-8", "surrogateescape"), other.encode("utf-8", "surrogateescape")
    )


def _short(ad: ClassAd, name: str) -> str:
    text = ad.string(name) or ""
    if len(text) > MOST_CHARACTERS or not text.isprintable():
        raise RefusedError(f"{name} is too long or not printable", code=_BAD)
    return text


def _levels(ad: ClassAd) -> tuple[str, ...]:
    """Read LimitAuthorization; only levels that exist, each with its own name."""
    words = (ad.string("LimitAuthorization") or "").replace(",", " ").upper().split()
    unknown = [word for word in words if word not in Level.__members__]
    if unknown:
        raise RefusedError(f"{unknown[0]} is no authorization level", code=_BAD)
    return tuple(dict.fromkeys(words))


def _lifetime(ad: ClassAd) -> int:
    seconds = ad.integer("TokenLifetime")
    return -1 if seconds is None else max(-1, seconds)
