"""The collector's ad about itself: how many of what it holds, and how its work goes.

Attribute names are the reference's. Counting is here; publishing is `service.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.collector.ad_kinds import SLOT, SUBMITTER
from kettle.collector.ad_store import AdStore
from kettle.collector.ccb import BrokerCounts

# Universe names as the statistics spell them; only schedds that say so are counted.
_STATES = ("Claimed", "Owner", "Unclaimed")


@dataclass(slots=True)
class QueryCounts:
    """Queries answered since the start."""

    total: int = 0
    from_tools: int = 0
    dropped: int = 0
    machine_ads_peak: int = 0
    submitter_ads_peak: int = 0


def make_own_ad(
    store: AdStore, queries: QueryCounts, broker: BrokerCounts, listeners: int, reachable: int
) -> ClassAd:
    """Return the figures of the collector's ad; names and addresses are added by its sender."""
    slots = store.table(SLOT)
    submitters = store.table(SUBMITTER)
    queries.machine_ads_peak = max(queries.machine_ads_peak, len(slots))
    queries.submitter_ads_peak = max(queries.submitter_ads_peak, len(submitters))
    states = dict.fromkeys(_STATES, 0)
    for entry in slots.values():
        state = entry.ad.string("State") or ""
        if state in states:
            states[state] += 1
    running = idle = 0
    for entry in submitters.values():
        running += entry.ad.integer("RunningJobs") or 0
        idle += entry.ad.integer("IdleJobs") or 0
    ad = ClassAd({"MyType": "Collector"})
    figures: dict[str, object] = {
        "MachineAds": len(slots),
        "MachineAdsPeak": queries.machine_ads_peak,
        "SubmitterAds": len(submitters),
        "SubmitterAdsPeak": queries.submitter_ads_peak,
        "HostsTotal": len(slots),
        "HostsClaimed": states["Claimed"],
        "HostsOwner": states["Owner"],
        "HostsUnclaimed": states["Unclaimed"],
        "RunningJobs": running,
        "IdleJobs": idle,
        "ActiveQueryWorkers": 0,
        "PendingQueries": 0,
        "DroppedQueries": queries.dropped,
        "CCBEndpointsConnected": reachable,
        "CCBEndpointsRegistered": listeners,
        "CCBEndpointsRegisteredPeak": broker.registered_peak,
        "CCBReconnects": broker.reconnects,
        "CCBRequests": broker.requests,
        "CCBRequestsFailed": broker.failed,
        "CCBRequestsNotFound": broker.not_found,
        "CCBRequestsSucceeded": broker.succeeded,
        **_update_figures(store),
    }
    for name, value in figures.items():
        ad[name] = value
    return ad


def _update_figures(store: AdStore) -> dict[str, object]:
    total = sum(counts.total for counts in store.counts.values())
    initial = sum(counts.initial for counts in store.counts.values())
    lost = sum(counts.lost for counts in store.counts.values())
    figures: dict[str, object] = {
        "UpdatesTotal": total,
        "UpdatesInitial": initial,
        "UpdatesLost": lost,
        "UpdatesLostMax": max((entry.lost for entry in store.entries()), default=0),
        "UpdatesLostRatio": lost / (lost + total) if lost else 0.0,
    }
    for label, counts in store.counts.items():
        figures[f"UpdatesTotal_{label}"] = counts.total
        figures[f"UpdatesInitial_{label}"] = counts.initial
        figures[f"UpdatesLost_{label}"] = counts.lost
    return figures
