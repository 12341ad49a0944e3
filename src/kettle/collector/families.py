"""What the ads of a pool's machines have in common, kept once.

Most of what slots say of themselves (policies, versions, abilities) they all say alike. A
`Family` learns from the ads of one type what that is; ads that come after are chained to it and
keep only what is their own: of 180 attributes perhaps 90, in a table half as large.
"""

from __future__ import annotations

from typing import Final

from kettle.classad import ClassAd

# Ads from which a family learns; and so many in a row to which it is of little use let it learn
# again: the pool has become another one.
_LESSONS: Final = 16
_PATIENCE: Final = 64
# A family is worth its while with a quarter of an ad's attributes, and is of little use to an ad
# that says a quarter of them in another way.
_WORTH_IT: Final = 4
_SMALLEST: Final = 32
# What is looked for in the ads' own tables.
_ALWAYS_OWN: Final = frozenset({"absent", "offline"})


class Family:
    """The ads of one type: what nearly all of them say, as an ad that they are chained to."""

    __slots__ = ("_common", "_last", "_lessons", "_misses", "_texts")

    def __init__(self) -> None:
        self._common: ClassAd | None = None
        # The texts of it: in the ad itself those that are asked for become expressions.
        self._texts: dict[str, str] = {}
        self._lessons = 0
        self._misses = 0
        # The ad from which it learnt last.
        self._last: object = None

    def adopt(self, ad: ClassAd, who: object) -> None:
        """Chain an ad to what it has in common with those before, and learn from it.

        The ad means the same before and after. `who` is what it is known by: the same ad sent again
        is no lesson.
        """
        if ad.parent is not None or len(ad.table) < _SMALLEST or not ad.spelled_as_usual:
            return
        if self._common is None:
            self._learn(ad, who)
            return
        table, texts = ad.table, self._texts
        if not texts.keys() <= table.keys():
            # What the ad does not say must not show through.
            self._miss()
            return
        common = texts.get
        own = {key: raw for key, raw in table.items() if common(key) != raw}
        ad.chain(own, self._common)
        shared = len(table) - len(own)
        if (len(texts) - shared) * _WORTH_IT > len(texts):
            self._miss()
        else:
            self._misses = 0

    def _miss(self) -> None:
        self._misses += 1
        if self._misses >= _PATIENCE:
            self._common, self._texts, self._lessons, self._misses = None, {}, 0, 0

    def _learn(self, ad: ClassAd, who: object) -> None:
        if who == self._last:
            return
        self._last = who
        if not self._lessons:
            self._texts = {
                key: raw
                for key, raw in ad.table.items()
                if isinstance(raw, str) and key not in _ALWAYS_OWN
            }
        else:
            said = ad.table.get
            self._texts = {key: text for key, text in self._texts.items() if said(key) == text}
        self._lessons += 1
        if self._lessons < _LESSONS:
            return
        if len(self._texts) * _WORTH_IT < len(ad.table):
            self._lessons = 0
            return
        self._common = ClassAd()
        self._common.table.update(self._texts)
