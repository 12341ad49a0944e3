"""Which statistics a daemon's ad shows: STATISTICS_TO_PUBLISH and STATISTICS_TO_PUBLISH_LIST.

A collection is what one word of the setting means; each says which attributes are its own and from
which level on they are shown. What belongs to none is shown always, as in the reference, whose
collector, startd, negotiator and master show what they show whatever the setting says.
Compat: DC asks for figures of the reference's event loop (timers, signals, pipes), which ours has
not; its words are read and show nothing (test_what_a_setting_shows_is_what_the_reference_shows).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kettle.classad import ClassAd

BASIC, VERBOSE, HIGHEST = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Collection:
    """Attributes that are shown or left out together."""

    # What it is called in the setting, in capitals.
    words: tuple[str, ...]
    # Its attributes; `verbose` are those of level 2.
    names: re.Pattern[str]
    verbose: frozenset[str] = frozenset()
    # Counts that Z leaves out when they and their recent sums are 0.
    if_any: frozenset[str] = frozenset()


SCHEDD = Collection(
    ("SCHEDD", "SCHEDULER"),
    re.compile(
        r"(Recent)?((Jobs|Shadows)\w+|Autoclusters|ResourceRequestsSent|StatsLifetime)"
        r"|RecentWindowMax|RecentStatsTickTime|StatsLastUpdateTime"
    ),
    verbose=frozenset(
        (
            *("RecentWindowMax", "RecentStatsTickTime", "StatsLastUpdateTime"),
            *("ShadowsRecycled", "RecentShadowsRecycled"),
            *("ShadowsReconnections", "RecentShadowsReconnections"),
        )
    ),
    if_any=frozenset(
        f"Jobs{word}"
        for word in (
            *("Checkpointed", "CoolDown", "Coredumped", "DebugLogError", "ExitedAndClaimClosing"),
            *("MissedDeferralTime", "NotStarted", "ShadowNoMemory"),
            *("ShouldHold", "ShouldRemove", "ShouldRequeue"),
        )
    ),
)
TRANSFER = Collection(("TRANSFER",), re.compile(r"FileTransfer\w+|TransferQueue\w+"))


@dataclass(frozen=True, slots=True)
class Publication:
    """How much of one collection is shown."""

    level: int = BASIC
    recent: bool = True
    # Counts that are 0.
    zeros: bool = True

    def together(self, other: Publication) -> Publication:
        """Return what shows all that either of the two shows."""
        return Publication(
            max(self.level, other.level),
            (self.recent and self.level > 0) or (other.recent and other.level > 0),
            (self.zeros and self.level > 0) or (other.zeros and other.level > 0),
        )


NOTHING = Publication(level=0)


def read_publication(text: str | None, collection: Collection) -> Publication:
    """Return what a setting says of a collection; None or `DEFAULT` is what is usual.

    Items `WORD` or `WORD:OPTIONS`, separated by commas and blanks; of several for one collection
    the last counts, and a collection without any shows nothing. Options are 0 to 3, R, Z, D and L,
    and `!` before the last three; what is none of them is passed over.
    Compat: as in the reference, other than in its manual, Z leaves zeros out and !Z shows them; L
    and D change nothing here (test_what_a_setting_shows_is_what_the_reference_shows).
    """
    if text is None or text.strip().upper() == "DEFAULT":
        return Publication()
    found = NOTHING
    for item in text.replace(",", " ").split():
        word, separator, options = item.partition(":")
        if word.upper() in (*collection.words, "DEFAULT", "ALL"):
            found = _read_options(options) if separator else Publication()
    return found


def _read_options(options: str) -> Publication:
    found = Publication()
    if options.upper() == "NONE":
        return NOTHING
    without = False
    for letter in options.upper():
        if letter in "0123":
            found = replace(found, level=int(letter))
        elif letter == "!":
            # For all letters that follow, as in the reference.
            without = True
        elif letter == "R":
            found = replace(found, recent=not without)
        elif letter == "Z":
            found = replace(found, zeros=without)
    return found


def thin_out(
    ad: ClassAd, collection: Collection, published: Publication, listed: Iterable[str] = ()
) -> None:
    """Take out of an ad what is not to be shown of a collection.

    `listed` are attributes that are shown from level 1 on, whatever level is theirs.
    """
    wanted = {name.lower() for name in listed}
    for name in ad.own_names():
        if collection.names.fullmatch(name) is None:
            continue
        level = VERBOSE if name in collection.verbose and name.lower() not in wanted else BASIC
        if published.level < level or not (published.recent or not name.startswith("Recent")):
            del ad[name]
    if published.zeros:
        return
    for name in collection.if_any:
        if not (ad.real(name) or ad.real(f"Recent{name}")):
            ad.discard(name)
            ad.discard(f"Recent{name}")
