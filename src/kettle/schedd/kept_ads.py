"""Which ads a shadow host keeps: what a cluster's jobs have in common travels once.

Pure. A host is sent a cluster's ad before the first job that needs it, and again when it has
changed; shadows that began with the older one go on with it. A slot's ad travels only with a job
that asks for something of it. The words are `wire.messages.shadow_host`'s, the host's half is
`kettle.shadow.services.kept_ads`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from kettle.classad import ClassAd
from kettle.named_tuples import NamedTuple
from kettle.policy.match_expansion import asks_slot
from kettle.wire.messages.shadow_host import DropAd, HostMessage, KeepAd, StartShadow

# Limit: ads that one host keeps; the one that was not needed for the longest time goes first.
MOST_KEPT = 256


class _Kept(NamedTuple):
    number: int
    # What the ad said when it was sent.
    table: Mapping[str, object]
    asks_slot: bool


class KeptAds:
    """The ads that one host keeps once it has read what it was sent."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._last = 0

    def words_for(self, message: HostMessage) -> list[HostMessage]:
        """Return what says a message to the host: itself, or a shorter one behind what it needs."""
        if not isinstance(message, StartShadow):
            return [message]
        words: list[HostMessage] = []
        job, common = message.job, 0
        wanted = asks_slot(job)
        if job.parent is not None:
            kept = self._keep(message.cluster, job.parent, words)
            wanted, common = wanted or kept.asks_slot, kept.number
            job = job.copy()
            job.parent = None
        words.append(
            StartShadow(
                message.cluster,
                message.proc,
                message.startd_address,
                job,
                message.slot if wanted else ClassAd(),
                message.reconnect,
                common,
            )
        )
        return words

    def _keep(self, cluster: int, ad: ClassAd, words: list[HostMessage]) -> _Kept:
        """Return how the host has a cluster's ad; `words` get what it has to be told first."""
        kept = self._kept.get(cluster)
        if kept is not None and kept.table == ad.table:
            self._kept.move_to_end(cluster)
            return kept
        self._drop(cluster, words)
        if len(self._kept) >= MOST_KEPT:
            self._drop(next(iter(self._kept)), words)
        self._last += 1
        kept = self._kept[cluster] = _Kept(self._last, dict(ad.table), asks_slot(ad))
        words.append(KeepAd(kept.number, ad))
        return kept

    def _drop(self, cluster: int, words: list[HostMessage]) -> None:
        kept = self._kept.pop(cluster, None)
        if kept is not None:
            words.append(DropAd(kept.number))
