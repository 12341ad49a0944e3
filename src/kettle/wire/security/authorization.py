"""Who may do what: ALLOW_ and DENY_ lists, implied levels, automatic holes.

`Authorization.allows` is the decision, in the order of the reference's rules; it knows lists as
text and names of hosts as given, and looks nothing up. Source: wire notes, Authorization
levels.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

from kettle.levels import Level, implied_levels, implying_levels
from kettle.named_tuples import NamedTuple
from kettle.wire.security.identity import same_user
from kettle.wire.security.session import UNAUTHENTICATED
from kettle.wire.sinful import parse_ip

_OPEN_BY_IMPLICATION = (Level.READ, Level.WRITE)
_ADVERTISE = (Level.ADVERTISE_STARTD, Level.ADVERTISE_SCHEDD, Level.ADVERTISE_MASTER)
# Limit: answers that are remembered; a daemon has no more peers at a time, as a rule.
_MOST_ANSWERS = 4000


class Entry(NamedTuple):
    """One entry of a list: a pattern for the user, and one for the host."""

    user: str = "*"
    host: str = "*"
    network: IPv4Network | IPv6Network | None = None

    @property
    def everyone(self) -> bool:
        """Whether the entry is `*` or `*/*`."""
        return self.user == "*" and self.host == "*"

    def matches(
        self, user: str, address: str, host_names: Iterable[str], *, pool_equivalence: bool
    ) -> bool:
        """Tell whether the entry is about this peer."""
        return self._matches_user(user, pool_equivalence) and self._matches_host(
            address, host_names
        )

    def _matches_user(self, user: str, pool_equivalence: bool) -> bool:
        if self.user == "*":
            return True
        if fnmatch.fnmatchcase(user.lower(), _escape(self.user.lower())):
            return True
        return pool_equivalence and same_user(user, self.user, pool_equivalence=True)

    def _matches_host(self, address: str, host_names: Iterable[str]) -> bool:
        if self.host == "*":
            return True
        if self.network is not None:
            ip = parse_ip(address)
            mapped = getattr(ip, "ipv4_mapped", None)
            return (mapped or ip) in self.network if ip is not None else False
        pattern = _escape(self.host.lower())
        if fnmatch.fnmatchcase(address.lower(), pattern):
            return True
        return any(fnmatch.fnmatchcase(name.lower(), pattern) for name in host_names)


def _escape(pattern: str) -> str:
    """Keep `*` alone special."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def parse_entry(text: str) -> Entry:
    """Read one entry of a list."""
    user, host = "*", text
    head, separator, tail = text.partition("/")
    if separator and (head == "*" or "@" in head or head.startswith("+")):
        user, host = head, tail
    elif "@" in text:
        user, host = text, "*"
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    network = None
    if bare not in ("*", "") and ("/" in bare or parse_ip(bare) is not None):
        try:
            network = ip_network(bare, strict=False)
        except ValueError:
            network = None
    return Entry(user, bare or "*", network)


def parse_entries(text: str | None) -> tuple[Entry, ...]:
    """Read a list: entries separated by commas and blanks."""
    return tuple(parse_entry(word) for word in (text or "").replace(",", " ").split())


class LevelRules(NamedTuple):
    """The lists of one level; None where the configuration has none."""

    allow: tuple[Entry, ...] | None = None
    deny: tuple[Entry, ...] | None = None


def read_rules(
    lookup: Callable[[str], str | None], level: Level, subsystem: str = ""
) -> LevelRules:
    """Read the lists of a level, with the levels they fall back on.

    `lookup` returns a setting's expanded text, None if unset.
    """
    chain = [level]
    if level in _ADVERTISE:
        chain.append(Level.DAEMON)
    chain.append(Level.DEFAULT)

    def setting(kind: str) -> tuple[Entry, ...] | None:
        for one in chain:
            for name in (f"{kind}_{one}_{subsystem}", f"{kind}_{one}"):
                text = lookup(name) if not name.endswith("_") else None
                if text is not None and text.strip():
                    return parse_entries(text)
        return None

    return LevelRules(setting("ALLOW"), setting("DENY"))


class Authorization:
    """The decision; holes can be added while it runs."""

    def __init__(self, rules: dict[Level, LevelRules], *, pool_equivalence: bool = True) -> None:
        self._rules = rules
        self._pool_equivalence = pool_equivalence
        self._holes: dict[Level, Counter[str]] = {}
        # Lists never change, so an answer holds until a hole does: a pool's daemons ask for the
        # same things all the time.
        self._answers: dict[tuple[Level, str, str, tuple[str, ...]], bool] = {}

    @classmethod
    def from_settings(
        cls, lookup: Callable[[str], str | None], subsystem: str = ""
    ) -> Authorization:
        """Read every level's lists; see `read_rules`."""
        equivalence = lookup("USE_POOL_USERNAME_EQUIVALENT")
        return cls(
            {level: read_rules(lookup, level, subsystem) for level in Level},
            pool_equivalence=(equivalence or "true").strip().lower() in ("true", "1", "yes"),
        )

    def add_hole(self, level: Level, who: str) -> None:
        """Grant a level, and what it implies, to `user`, `user/ip` or `ip`."""
        self._answers.clear()
        for one in implied_levels(level):
            self._holes.setdefault(one, Counter())[who.lower()] += 1

    def remove_hole(self, level: Level, who: str) -> None:
        """Take a hole back; what another hole of the same name grants stays."""
        self._answers.clear()
        for one in implied_levels(level):
            holes = self._holes.get(one)
            if holes is None:
                continue
            holes[who.lower()] -= 1
            if holes[who.lower()] <= 0:
                del holes[who.lower()]

    def allows(
        self,
        level: Level,
        user: str,
        address: str,
        host_names: Iterable[str] = (),
        *,
        limits: frozenset[Level] | None = None,
    ) -> bool:
        """Decide whether a peer holds a level.

        `limits` are the only levels its proof is good for (a token's scope).
        """
        if level is Level.ALLOW:
            return True
        if limits is not None and level not in limits:
            return False
        key = (level, user, address, tuple(host_names))
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            answer = self._answers[key] = self._allows(*key)
        return answer

    def _allows(self, level: Level, user: str, address: str, names: tuple[str, ...]) -> bool:
        """Apply the rules in order; see the wire notes, Authorization levels."""
        holes = self._holes.get(level, ())
        if any(who in holes for who in _hole_names(user, address)):
            return True
        answer = self._answer_of_lists(level, user, address, names)
        if answer is not None:
            return answer
        return any(self._allows(holder, user, address, names) for holder in implying_levels(level))

    def _answer_of_lists(
        self, level: Level, user: str, address: str, names: tuple[str, ...]
    ) -> bool | None:
        """Return what the level's own lists say; None leaves it to the levels that imply it."""

        def matches(entries: tuple[Entry, ...] | None) -> bool:
            return any(
                entry.matches(user, address, names, pool_equivalence=self._pool_equivalence)
                for entry in entries or ()
            )

        allow, deny = self._rules.get(level, LevelRules())
        if _has_everyone(deny):
            return False
        if allow is None and level not in _OPEN_BY_IMPLICATION:
            return False
        # Names cost look-ups: nobody is compared with a list that allows all and denies none.
        if _has_everyone(allow) and deny is None:
            return True
        if matches(deny):
            return False
        return True if _has_everyone(allow) or matches(allow) else None

    def levels_of(
        self,
        user: str,
        address: str,
        host_names: Iterable[str] = (),
        *,
        limits: frozenset[Level] | None = None,
    ) -> frozenset[Level]:
        """Return every level a peer holds."""
        names = tuple(host_names)
        return frozenset(
            level
            for level in Level
            if level not in (Level.DEFAULT, Level.CLIENT)
            and self.allows(level, user, address, names, limits=limits)
        )


def _has_everyone(entries: tuple[Entry, ...] | None) -> bool:
    return any(entry.everyone for entry in entries or ())


def _hole_names(user: str, address: str) -> tuple[str, ...]:
    """The forms in which a hole may name a peer."""
    who = user.lower()
    if user == UNAUTHENTICATED:
        return (address, f"{who}/{address}")
    return (who, f"{who}/{address}", address)
