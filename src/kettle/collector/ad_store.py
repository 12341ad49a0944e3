"""What the collector knows: every ad by kind and name, how old it is, and when it has to go.

Decides how an update replaces or joins what was there, what an invalidation removes, which ads
have outlived themselves, and how many updates were lost on the way. It neither reads a socket
nor a clock: `commands.py` decodes, `service.py` calls with the time. What a query sees of all
this is `ad_query.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Final

from kettle.classad import ClassAd, Expr
from kettle.classad.text import quote_old
from kettle.collector.ad_kinds import COLLECTOR, KINDS, SLOT, START, AdKey, AdKind
from kettle.collector.families import Family
from kettle.errors import RefusedError
from kettle.remembered import Answers
from kettle.statistics.windows import Recent
from kettle.wire.codec import has_secrets, is_private_attribute
from kettle.wire.security.claim_id import ADMIN_CAPABILITY

# Bits of UpdatesHistory: one for each update, newest first, set when it was lost.
HISTORY_BITS = 128
_HISTORY_MASK = (1 << HISTORY_BITS) - 1

# Limit: ads of one type, and attributes of one ad.
MOST_ADS = 100_000
MOST_ATTRIBUTES = 20_000
# Limit: types that daemons do not have, which anybody can think of. All of them together have as
# many ads as one other type, so nobody's take the room of machines.
MOST_OTHER_TYPES = 200
_OUR_TYPES = frozenset(kind.my_type.lower() for kind in KINDS)

# What a machine that goes to sleep no longer is or does, whatever its last ad said.
_ASLEEP: dict[str, object] = {
    "State": "Unclaimed",
    "Activity": "Idle",
    "LoadAvg": 0.0,
    "CondorLoadAvg": 0.0,
    "TotalLoadAvg": 0.0,
    "TotalCondorLoadAvg": 0.0,
    "CpuIsBusy": False,
    "CpuBusyTime": 0,
    "KeyboardIdle": 2**31 - 1,
    "ConsoleIdle": 2**31 - 1,
}

# What the store writes into an ad itself; a sender cannot claim it.
_OURS = ("AuthenticatedIdentity", "AuthenticationMethod", "LastHeardFrom")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """What configuration says about keeping ads; times in seconds."""

    lifetime_seconds: int = 900
    # An ad is taken only if this is true of it; None takes everything.
    requirements: Expr | None = None
    # An expiring slot ad of which this is true stays, marked Absent.
    absent_requirements: Expr | None = None
    absent_lifetime_seconds: int = 30 * 86400
    offline_lifetime_seconds: int = 2**31 - 1
    one_negotiator: bool = False
    expire_invalidated: bool = False
    update_statistics: bool = True
    # The accounting groups of the pool, in lower case.
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sender:
    """Who an update came from, as far as the connection tells."""

    identity: str = "unauthenticated@unmapped"
    method: str = ""
    # Where the connection comes from; empty within the machine.
    host: str = ""
    # Whether it may do everything in this pool.
    administrator: bool = False
    # What the sender's token says, where one proved who it is.
    claims: Mapping[str, str | int] = field(default_factory=dict)

    def may_replace(self, before: Sender) -> bool:
        """Tell whether an ad of `before` may be replaced by one of this sender's.

        Compat: the reference lets everybody who may advertise at all replace any ad; here who had
        to prove who he is keeps his ads from others, except for those on the same host and
        administrators (test_an_ad_of_a_proven_sender_is_not_replaced_by_a_stranger).
        """
        if self.administrator or before.method.upper() in _PROVES_NOTHING:
            return True
        return self.identity == before.identity or (bool(self.host) and self.host == before.host)

    def may_merge(self, before: Sender) -> bool:
        """Tell whether this sender may add to an ad of `before`.

        Whoever gets so far is a negotiator by the command's level; he must have proven it where the
        ad's sender has.
        """
        return self.method.upper() not in _PROVES_NOTHING or self.may_replace(before)


# Methods of authentication after which anybody can be anybody.
_PROVES_NOTHING = frozenset(("", "CLAIMTOBE", "ANONYMOUS"))


# What of an ad is asked for: the names, and whether the connection is encrypted.
Projection = tuple[tuple[str, ...], bool]
# Limit: answers that are remembered with each ad: those of a pool's table, its sums, some script.
_MOST_SHOWN = 8


@dataclass(slots=True)
class StoredAd:
    """An ad and what the collector remembers beside it."""

    kind: AdKind
    key: AdKey
    ad: ClassAd
    heard_at: float
    expires_at: float
    # Claim ids and their like, answered only to the negotiator and to administrators.
    private: ClassAd | None = None
    # The key with which its daemon can be commanded, answered only to administrators who ask.
    capability: str = ""
    # The start of the sending daemon and the number of its last update, to see gaps.
    sender_started: int | None = None
    sequence: int | None = None
    updates: int = 0
    sequenced: int = 0
    lost: int = 0
    history: int = 0
    sender: Sender = field(default_factory=Sender)
    # Whether the log has said that nobody can be sent this ad.
    told_unsent: bool = False
    # What was answered to those who asked for some of its attributes, as long as it is unchanged.
    _shown: dict[Projection, bytes] | None = None

    def shown(self, projection: Projection) -> bytes | None:
        """Return what was sent of this ad when that was asked for last, if it is known."""
        return self._shown.get(projection) if self._shown is not None else None

    def note_shown(self, projection: Projection, encoded: bytes) -> None:
        """Remember what is sent of this ad."""
        if self._shown is None or len(self._shown) >= _MOST_SHOWN:
            self._shown = {}
        self._shown[projection] = encoded

    def forget_shown(self) -> None:
        """Forget what was sent: the ad has changed."""
        self._shown = None


@dataclass(slots=True)
class UpdateCounts:
    """How many updates of one kind came, were the first of their ad, and never arrived."""

    total: int = 0
    initial: int = 0
    lost: int = 0


COUNT_WORDS = ("Total", "Initial", "Lost")
"""How attributes name these counts: Updates<word>_<label>."""


@dataclass(slots=True)
class AdStore:
    """All ads of a pool; the one owner of its tables."""

    settings: StoreSettings = field(default_factory=StoreSettings)
    counts: dict[str, UpdateCounts] = field(default_factory=dict)
    # Those of types of which there is no ad any more.
    forgotten: UpdateCounts = field(default_factory=UpdateCounts)
    # The same, lately: UpdatesTotal, UpdatesTotal_<label>, …
    recent: Recent = field(default_factory=lambda: Recent(1200, 240))
    # The wall clock, by which ads are dated, is so many seconds ahead of the `now` given here.
    set_ahead: int = 0
    _tables: dict[str, dict[AdKey, StoredAd]] = field(default_factory=dict)
    _kinds: dict[str, AdKind] = field(default_factory=dict)
    # Of the types that daemons have; anybody can think of others.
    _families: dict[str, Family] = field(
        default_factory=lambda: {kind.my_type: Family() for kind in KINDS}
    )

    def table(self, kind: AdKind) -> dict[AdKey, StoredAd]:
        """Return the entries of one kind in the order in which they first came."""
        return self._tables.get(kind.my_type.lower(), {})

    def kinds(self) -> list[AdKind]:
        """Return the kinds of which anything is or was stored, in order of appearance."""
        return list(self._kinds.values())

    def entries(self) -> Iterator[StoredAd]:
        """Go through everything, kind after kind."""
        for table in self._tables.values():
            yield from table.values()

    def update(
        self,
        kind: AdKind,
        ad: ClassAd,
        *,
        now: float,
        private: ClassAd | None = None,
        sender: Sender | None = None,
        asleep: bool = False,
    ) -> StoredAd | None:
        """Store an ad in place of the one with its name; None if it is not acceptable.

        Not acceptable is an ad that lacks what would name it, or one that the site's
        COLLECTOR_REQUIREMENTS does not hold for. RefusedError tells of one that is too large, one
        too many, or another sender's. `asleep` marks the last word of a machine that
        is about to hibernate: its ad stays as an offline one.
        """
        key = kind.key(ad)
        if key is None or not _holds(self.settings.requirements, ad):
            return None
        capability = _take_capability(ad)
        private = _take_private(ad, private)
        # As its first ad spelled a type, so it is counted.
        kind = self._kinds.get(kind.my_type.lower(), kind)
        sender = sender or Sender()
        self._check_room(kind, ad, key, sender)
        table = self._table(kind)
        before = table.get(key)
        if self.settings.one_negotiator and kind.my_type == "Negotiator":
            _drop_others(table, key, sender)
        entry = StoredAd(kind, key, ad, now, now, private, capability, sender=sender)
        self._count(entry, before)
        counted = self.settings.update_statistics and _counts_updates(kind, ad)
        _sign(ad, sender, entry, now + self.set_ahead, statistics=counted)
        if asleep and kind is SLOT:
            self._lay_down(entry, now)
        else:
            entry.expires_at = now + (_lifetime(ad) or self.settings.lifetime_seconds)
        if private is not None:
            _introduce_private(private, ad)
        elif before is not None:
            # A startd sends its claim ids along with every ad, but need not.
            entry.private = before.private
        family = self._families.get(kind.my_type)
        if family is not None:
            family.adopt(ad, key)
        table[key] = entry
        if kind is SLOT:
            self._stand_in_for_startd(ad, sender, now)
        return entry

    def merge(self, kind: AdKind, ad: ClassAd, *, sender: Sender | None = None) -> StoredAd | None:
        """Add attributes to the ad of the same name; None if there is no such ad.

        RefusedError tells of another sender's ad and of one that would become too large.
        """
        key = kind.key(ad)
        entry = self.table(kind).get(key) if key is not None else None
        if entry is None:
            return None
        if not (sender or Sender()).may_merge(entry.sender):
            raise _not_yours(sender or Sender(), "add to", entry)
        if len({*ad.table, *map(str.lower, entry.ad.names())}) > MOST_ATTRIBUTES:
            raise RefusedError(f"an ad would get more than {MOST_ATTRIBUTES} attributes")
        private = _take_private(ad, None)
        for name in _OURS:
            if name in ad:
                del ad[name]
        entry.ad.update(ad)
        entry.forget_shown()
        if private is not None:
            if entry.private is None:
                entry.private = private
            else:
                entry.private.update(private)
            _introduce_private(entry.private, entry.ad)
        return entry

    def invalidate(
        self, kind: AdKind, query: ClassAd, *, now: float, sender: Sender | None = None
    ) -> int:
        """Remove the named ad, else all that satisfy Requirements; return how many went.

        Other senders' ads stay; RefusedError if nothing else was meant.
        """
        table = self.table(kind)
        sender = sender or Sender()
        gone = _meant(table, kind, query)
        theirs = [key for key in gone if not sender.may_replace(table[key].sender)]
        if theirs:
            gone = [key for key in gone if key not in set(theirs)]
            if not gone:
                raise _not_yours(sender, "withdraw", table[theirs[0]])
        for key in gone:
            if self.settings.expire_invalidated and self._keep_absent(table[key], now):
                continue
            entry = table.pop(key)
            if kind is SLOT:
                self._drop_stand_in(entry)
        self._forget_type_if_empty(kind.my_type.lower())
        return len(gone)

    def expire(self, now: float) -> list[StoredAd]:
        """Remove and return what has outlived itself; what ABSENT_REQUIREMENTS wants stays."""
        gone = []
        for name, table in list(self._tables.items()):
            stale = [entry for entry in table.values() if entry.expires_at <= now]
            for entry in stale:
                if self._keep_absent(entry, now):
                    continue
                del table[entry.key]
                gone.append(entry)
            self._forget_type_if_empty(name)
        return gone

    def restore(self, ad: ClassAd, *, now: float) -> None:
        """Take back an offline or absent slot ad from the persistent log."""
        key = SLOT.key(ad)
        if key is None:
            return
        heard = ad.integer("LastHeardFrom")
        at = float(now if heard is None else heard - self.set_ahead)
        entry = StoredAd(SLOT, key, ad, at, now)
        entry.expires_at = entry.heard_at + (_lifetime(ad) or self.settings.lifetime_seconds)
        self._table(SLOT)[key] = entry

    def _table(self, kind: AdKind) -> dict[AdKey, StoredAd]:
        name = kind.my_type.lower()
        self._kinds.setdefault(name, kind)
        return self._tables.setdefault(name, {})

    def _forget_type_if_empty(self, name: str) -> None:
        """Forget a type that no daemon has, and what was counted of it, with its last ad."""
        if name in _OUR_TYPES or self._tables.get(name, True):
            return
        del self._tables[name]
        label = self._kinds.pop(name).label
        if any(kind.label == label for kind in self._kinds.values()):
            return
        counts = self.counts.pop(label, UpdateCounts())
        self.forgotten.total += counts.total
        self.forgotten.initial += counts.initial
        self.forgotten.lost += counts.lost
        for word in COUNT_WORDS:
            self.recent.forget(f"Updates{word}_{label}")

    def _check_room(self, kind: AdKind, ad: ClassAd, key: AdKey, sender: Sender) -> None:
        """Raise RefusedError for an ad that the store cannot or must not take."""
        if len(ad.table) > MOST_ATTRIBUTES:
            raise RefusedError(f"an ad of {len(ad.table)} attributes, more than {MOST_ATTRIBUTES}")
        table = self.table(kind)
        before = table.get(key)
        if before is not None:
            if not sender.may_replace(before.sender):
                raise _not_yours(sender, "replace", before)
        elif kind.my_type.lower() in _OUR_TYPES:
            if len(table) >= MOST_ADS:
                raise RefusedError(f"there are {MOST_ADS} ads of its type already")
        else:
            others = self._tables.keys() - _OUR_TYPES
            if not table and len(others) >= MOST_OTHER_TYPES:
                raise RefusedError(f"there are {MOST_OTHER_TYPES} types of no daemon already")
            if sum(len(self._tables[name]) for name in others) >= MOST_ADS:
                raise RefusedError(f"there are {MOST_ADS} ads of types of no daemon already")

    def _count(self, entry: StoredAd, before: StoredAd | None) -> None:
        """Count an update and the gap before it (R077, UpdatesLost)."""
        label, now = entry.kind.label, int(entry.heard_at)
        counts = self.counts.setdefault(label, UpdateCounts())
        counts.total += 1
        self._count_recent("Total", label, 1, now)
        entry.sender_started = entry.ad.integer("DaemonStartTime")
        entry.sequence = entry.ad.integer("UpdateSequenceNumber")
        if before is None:
            counts.initial += 1
            self._count_recent("Initial", label, 1, now)
            entry.updates = 1
            return
        entry.updates = before.updates + 1
        entry.sequenced, entry.lost = before.sequenced, before.lost
        missed = 0
        if (
            entry.sequence is not None
            and before.sequence is not None
            and entry.sender_started == before.sender_started
        ):
            entry.sequenced += 1
            missed = max(0, entry.sequence - before.sequence - 1)
        entry.lost += missed
        counts.lost += missed
        if missed:
            self._count_recent("Lost", label, missed, now)
        # A gap longer than the bitmap fills it and no more.
        shift = min(missed, HISTORY_BITS)
        entry.history = ((before.history << shift) | ((1 << shift) - 1)) & _HISTORY_MASK
        entry.history = (entry.history << 1) & _HISTORY_MASK

    def _count_recent(self, word: str, label: str, amount: int, now: int) -> None:
        self.recent.add(f"Updates{word}", amount, now)
        self.recent.add(f"Updates{word}_{label}", amount, now)

    def _lay_down(self, entry: StoredAd, now: float) -> None:
        for name, value in _ASLEEP.items():
            if name in entry.ad:
                entry.ad[name] = value
        entry.ad["Offline"] = True
        entry.expires_at = now + self.settings.offline_lifetime_seconds
        if "ClassAdLifetime" not in entry.ad:
            entry.ad["ClassAdLifetime"] = self.settings.offline_lifetime_seconds

    def _keep_absent(self, entry: StoredAd, now: float) -> bool:
        wanted = self.settings.absent_requirements
        if entry.kind is not SLOT or wanted is None or entry.ad.boolean("Absent"):
            return False
        if not _holds(wanted, entry.ad):
            return False
        entry.forget_shown()
        entry.ad["Absent"] = True
        entry.ad["ClassAdLifetime"] = self.settings.absent_lifetime_seconds
        entry.expires_at = now + self.settings.absent_lifetime_seconds
        entry.private = None
        return True

    def _stand_in_for_startd(self, slot: ClassAd, sender: Sender | None, now: float) -> None:
        """Make a StartD ad out of slot 1 of a startd too old to send one itself."""
        if slot.integer("SlotID") != 1 or slot.boolean("HasStartDaemonAd"):
            return
        machine = slot.string("Machine")
        if not machine or slot.integer("DSlotId"):
            return
        ad = ClassAd({"MyType": "StartD", "Name": machine, "KettleStandIn": True})
        for name in _STAND_IN_ATTRIBUTES:
            expression = slot.lookup(name)
            if expression is not None:
                ad.insert(name, expression)
        existing = self.table(START).get((machine,))
        if existing is None or existing.ad.boolean("KettleStandIn"):
            counted = self.counts.get(START.label)
            counted = (
                UpdateCounts(counted.total, counted.initial, counted.lost) if counted else None
            )
            # The slot's own ad was taken: its sender hears nothing of the one that we make of it,
            # as where another sender's stands for the machine already.
            with contextlib.suppress(RefusedError):
                self.update(START, ad, now=now, sender=sender)
            if counted is not None:
                self.counts[START.label] = counted

    def _drop_stand_in(self, slot: StoredAd) -> None:
        machine = slot.ad.string("Machine")
        existing = self.table(START).get((machine,)) if machine else None
        if existing is None or not existing.ad.boolean("KettleStandIn"):
            return
        if slot.sender.may_replace(existing.sender):
            del self._table(START)[existing.key]


_STAND_IN_ATTRIBUTES = (
    "Machine",
    "MyAddress",
    "AddressV1",
    "StartdIpAddr",
    "CondorVersion",
    "CondorPlatform",
    "Arch",
    "OpSys",
    "OpSysAndVer",
    "DaemonStartTime",
    "DaemonLastReconfigTime",
    "UpdateSequenceNumber",
    "MyCurrentTime",
    "DetectedCpus",
    "DetectedMemory",
    "TotalCpus",
    "TotalMemory",
    "TotalDisk",
    "TotalSlots",
    "UidDomain",
    "FileSystemDomain",
)


def _counts_updates(kind: AdKind, ad: ClassAd) -> bool:
    """Whether the updates of an ad are counted in it.

    Not those of our own ad: what it says of updates is of those of all ads. Nor of one that names
    no daemon, as those of the accountant.
    """
    return kind is not COLLECTOR and ("MyAddress" in ad or "Machine" in ad)


def _drop_others(table: dict[AdKey, StoredAd], key: AdKey, sender: Sender) -> None:
    """Leave no other ad in a table; RefusedError, and nothing goes, if one is another sender's."""
    others = [name for name in table if name != key]
    for name in others:
        if not sender.may_replace(table[name].sender):
            raise _not_yours(sender, "replace", table[name])
    for name in others:
        del table[name]


def _meant(table: dict[AdKey, StoredAd], kind: AdKind, query: ClassAd) -> list[AdKey]:
    """Return what a withdrawal names, else what satisfies its Requirements."""
    key = kind.key(query)
    if key is not None:
        return [key] if key in table else []
    requirements = query.lookup("Requirements")
    if requirements is None:
        return []
    return [key for key, entry in table.items() if _holds(requirements, entry.ad)]


def _not_yours(sender: Sender, what: str, entry: StoredAd) -> RefusedError:
    return RefusedError(
        f"{sender.identity} at {sender.host or 'this host'} may not {what} the ad of "
        f"{entry.sender.identity}: {', '.join(entry.key)}"
    )


def _holds(expression: Expr | None, ad: ClassAd) -> bool:
    return expression is None or ad.satisfies(expression, target=ad)


def _lifetime(ad: ClassAd) -> int | None:
    lifetime = ad.integer("ClassAdLifetime")
    return lifetime if lifetime is not None and lifetime > 0 else None


def _take_capability(ad: ClassAd) -> str:
    """Take the key of administrators out of an ad; empty if it has none."""
    if ADMIN_CAPABILITY not in ad:
        return ""
    capability = ad.string(ADMIN_CAPABILITY) or ""
    ad.discard(ADMIN_CAPABILITY)
    return capability


def _take_private(ad: ClassAd, private: ClassAd | None) -> ClassAd | None:
    """Move what is secret out of a public ad into the private one, made if there is none."""
    if not has_secrets(ad):
        return private
    for name in [name for name in ad.own_names() if is_private_attribute(name)]:
        expression = ad.lookup(name)
        if private is None:
            private = ClassAd()
        if expression is not None:
            private.insert(name, expression)
        del ad[name]
    return private


def _introduce_private(private: ClassAd, ad: ClassAd) -> None:
    """Give a private ad what ties it to its public one."""
    for name in ("MyType", "MyAddress", "Name", "Machine"):
        expression = ad.lookup(name)
        if expression is not None:
            private.insert(name, expression)


def _sign(ad: ClassAd, sender: Sender, entry: StoredAd, now: float, *, statistics: bool) -> None:
    """Add what the collector says about an ad; whatever its sender said there is overwritten.

    As texts, which is what most of it is ever asked for.
    """
    ad.insert_text("LastHeardFrom", str(int(now)))
    ad.insert_text("AuthenticatedIdentity", _quoted[sender.identity])
    if sender.method:
        ad.insert_text("AuthenticationMethod", _quoted[sender.method])
    else:
        ad.discard("AuthenticationMethod")
    if statistics:
        ad.insert_text("UpdatesTotal", str(entry.updates))
        ad.insert_text("UpdatesSequenced", str(entry.sequenced))
        ad.insert_text("UpdatesLost", str(entry.lost))
        ad.insert_text("UpdatesHistory", quote_old(f"{entry.history:0{HISTORY_BITS // 4}x}"))


# Strings in old syntax; a pool's daemons go by few names.
# Limit: the bytes of the names that are remembered, each in both forms.
_quoted: Final = Answers(quote_old, 512 * 1024, cost=lambda text: 3 * getsizeof(text))
