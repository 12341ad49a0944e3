"""Which slot updates are news for the negotiator: a slot is free, has grown, or is for others.

A slot that comes up while jobs wait must not wait for the next NEGOTIATOR_INTERVAL, whoever's
startd it belongs to, so the collector, which sees every slot, says so. Telling it is
`services/nudge.py`'s.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from kettle.classad import ClassAd
from kettle.named_tuples import NamedTuple

# Limit: slots remembered; a pool with more forgets all and may start a cycle too many.
MOST_SLOTS = 500_000


class Offer(NamedTuple):
    """What a slot offers: nothing unless it is unclaimed."""

    free: bool
    cpus: float
    memory: float
    started_at: int
    # Which jobs it is for; its owner may have another wish after a reconfiguration.
    start: str | None
    # Whether it has any room for a job's files. How much is new with each look at the disk.
    has_disk: bool = False


NOTHING = Offer(free=False, cpus=0.0, memory=0.0, started_at=0, start=None)


def read_offer(slot: ClassAd) -> Offer:
    """Return what a slot's ad offers to a job that waits."""
    if slot.string("State") != "Unclaimed" or slot.boolean("Offline"):
        return NOTHING
    return Offer(
        free=True,
        cpus=slot.real("Cpus") or 0.0,
        memory=slot.real("Memory") or 0.0,
        started_at=slot.integer("DaemonStartTime") or 0,
        start=slot.text("Start"),
        has_disk=(slot.real("Disk") or 0.0) > 0,
    )


class FreeSlots:
    """Remembers what each slot offered last."""

    def __init__(self) -> None:
        self._offers: dict[Hashable, Offer] = {}

    def is_news(self, key: Hashable, slot: ClassAd) -> bool:
        """Note an update; tell whether the slot offers what it did not offer before."""
        offer = read_offer(slot)
        before = self._offers.get(key, NOTHING)
        if len(self._offers) >= MOST_SLOTS:
            self._offers.clear()
        self._offers[key] = offer
        return offer.free and (
            not before.free
            or offer.started_at != before.started_at
            or offer.start != before.start
            or offer.cpus > before.cpus
            or offer.memory > before.memory
            or (offer.has_disk and not before.has_disk)
        )


def jobs_wait(submitters: Iterable[ClassAd]) -> bool:
    """Tell whether any submitter has idle jobs."""
    return any((ad.integer("IdleJobs") or 0) > 0 for ad in submitters)
