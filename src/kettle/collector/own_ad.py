"""The collector's ad about itself: how many of what it holds, and how its work goes.

Attribute names are the reference's. Counting is here; publishing is `service.py`'s.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.collector.ad_kinds import SLOT, SUBMITTER
from kettle.collector.ad_store import COUNT_WORDS, AdStore
from kettle.collector.ccb import Broker
from kettle.statistics.counters import Counters, Kind, Row
from kettle.statistics.windows import RecentTotals
from kettle.wire.security.session import Peer

_STATES = ("Claimed", "Owner", "Unclaimed")
# How the reference spells the universes in these names.
_UNIVERSES = {
    int(universe): {"VANILLA": "Vanilla", "SCHEDULER": "Scheduler", "LOCAL": "Local"}.get(
        universe.name, universe.name if len(universe.name) <= 4 else universe.name.capitalize()
    )
    for universe in JobUniverse
} | {int(JobUniverse.GRID): "Grid", int(JobUniverse.JAVA): "Java", int(JobUniverse.PIPE): "Pipe"}
UNIVERSE_LABELS = ("All", "Unknown", *_UNIVERSES.values())

ROWS = (
    Row("DroppedQueries", "Queries that were refused."),
    Row("ActiveQueryWorkers", "Children that answer a query.", Kind.LEVEL),
    Row("PendingQueries", "Queries that are being answered in this process.", Kind.LEVEL),
    Row("MachineAds", "Slots that are known.", Kind.LEVEL),
    Row("SubmitterAds", "Submitters that are known.", Kind.LEVEL),
    Row("CCBEndpointsConnected", "Daemons that can be called back.", Kind.LEVEL),
    Row("CCBEndpointsRegistered", "Daemons that may come back to be called.", Kind.LEVEL),
)
"""What is counted here. The broker's counts are its own, those of updates the store's."""

BROKER_COUNTS = {
    "CCBReconnects": "reconnects",
    "CCBRequests": "requests",
    "CCBRequestsFailed": "failed",
    "CCBRequestsNotFound": "not_found",
    "CCBRequestsSucceeded": "succeeded",
}
"""Attributes that come of the broker's counts; each has a recent value too."""


# Who is told apart among those who ask; anybody else is UNKNOWN.
ASKERS = frozenset(
    (
        *("ANNEXD", "COLLECTOR", "CREDD", "DAGMAN", "DEFRAG", "GAHP", "GANGLIAD", "GRIDMANAGER"),
        *("HAD", "JOB_ROUTER", "KBDD", "MASTER", "METRICD", "NEGOTIATOR", "REPLICATION", "ROOSTER"),
        *("SCHEDD", "SHADOW", "SHARED_PORT", "STARTD", "STARTER", "SUBMIT", "TOOL", "TRANSFERD"),
        "TRANSFERER",
    )
)


def name_asker(peer: Peer) -> str:
    """Return the word for who asks in ForkQueriesFrom<word> and InProcQueriesFrom<word>.

    Compat: as in the reference, daemons that share the family's session are the collector's own
    (test_queries_are_counted_by_who_asks).
    """
    if peer.session_id and not peer.subsystem:
        return "COLLECTOR"
    return peer.subsystem if peer.subsystem in ASKERS else "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Census:
    """What the ads say of the pool at one moment."""

    states: dict[str, int]
    running_by_universe: dict[str, int]
    running: int
    idle: int


def take_census(store: AdStore) -> Census:
    """Count slots by their state, jobs by their universe, and what submitters have."""
    states: Counter[str] = Counter()
    universes: Counter[str] = Counter()
    for entry in store.table(SLOT).values():
        state = entry.ad.string("State") or ""
        states[state] += 1
        if state == "Claimed" and "JobId" in entry.ad:
            universe = entry.ad.integer("JobUniverse")
            universes[_UNIVERSES.get(universe or 0, "Unknown")] += 1
    universes["All"] = universes.total()
    submitters = store.table(SUBMITTER).values()
    return Census(
        {state: states[state] for state in _STATES},
        {label: universes[label] for label in UNIVERSE_LABELS},
        sum(entry.ad.integer("RunningJobs") or 0 for entry in submitters),
        sum(entry.ad.integer("IdleJobs") or 0 for entry in submitters),
    )


class OwnAd:
    """Counts what the collector does, and says so."""

    def __init__(self, started: int, *, window_seconds: int, quantum_seconds: int) -> None:
        self.counters = Counters(
            ROWS, started, window_seconds=window_seconds, quantum_seconds=quantum_seconds
        )
        self._recent_calls = RecentTotals(window_seconds, quantum_seconds)
        # Queries that were answered, by the attribute that counts them.
        self._answered: Counter[str] = Counter()
        self._most_running = dict.fromkeys(UNIVERSE_LABELS, 0)

    def on_query(self, *, inside: int, children: int) -> None:
        """Take the levels of a moment at which a query is being answered."""
        self.counters.set("PendingQueries", inside)
        self.counters.set("ActiveQueryWorkers", children)

    def on_answered(self, peer: Peer, *, forked: bool) -> None:
        """Count an answer, by who had asked and whether a child gave it."""
        self._answered[f"{'Fork' if forked else 'InProc'}QueriesFrom{name_asker(peer)}"] += 1

    def on_dropped(self, now: int) -> None:
        """Count a query that was refused."""
        self.counters.add("DroppedQueries", now)

    def make(self, store: AdStore, broker: Broker, now: int) -> ClassAd:
        """Return the ad's figures; names and addresses are added by its sender."""
        counters = self.counters
        counters.set("MachineAds", len(store.table(SLOT)))
        counters.set("SubmitterAds", len(store.table(SUBMITTER)))
        counters.set("CCBEndpointsConnected", broker.connected)
        counters.set("CCBEndpointsRegistered", len(broker.listeners))
        ad = ClassAd({"MyType": "Collector"})
        counters.publish(ad, now)
        ad["CCBEndpointsRegisteredPeak"] = broker.counts.registered_peak
        calls = {name: getattr(broker.counts, key) for name, key in BROKER_COUNTS.items()}
        calls.update(self._answered)
        for name, recent in self._recent_calls.observe(calls, now).items():
            ad[name] = calls[name]
            ad[f"Recent{name}"] = recent
        ad["StatsLastUpdateTime"] = now
        census = take_census(store)
        ad["HostsTotal"] = len(store.table(SLOT))
        for state, count in census.states.items():
            ad[f"Hosts{state}"] = count
        ad["RunningJobs"] = census.running
        ad["IdleJobs"] = census.idle
        for label, count in census.running_by_universe.items():
            self._most_running[label] = max(self._most_running[label], count)
            ad[f"CurrentJobsRunning{label}"] = count
            ad[f"MaxJobsRunning{label}"] = self._most_running[label]
        for name, value in _update_figures(store, now).items():
            ad[name] = value
        return ad


def _update_figures(store: AdStore, now: int) -> dict[str, object]:
    recent = store.recent
    recent.advance(now)
    everything = (*store.counts.values(), store.forgotten)
    total = sum(counts.total for counts in everything)
    lost = sum(counts.lost for counts in everything)
    recent_total = recent.total("UpdatesTotal")
    recent_lost = recent.total("UpdatesLost")
    most_lost = max((entry.lost for entry in store.entries()), default=0)
    figures: dict[str, object] = {
        "UpdatesTotal": total,
        "UpdatesInitial": sum(counts.initial for counts in everything),
        "UpdatesLost": lost,
        "UpdatesLostMax": most_lost,
        "UpdatesLostRatio": lost / (lost + total) if lost else 0.0,
        "RecentUpdatesTotal": int(recent_total),
        "RecentUpdatesInitial": int(recent.total("UpdatesInitial")),
        "RecentUpdatesLost": int(recent_lost),
        "RecentUpdatesLostMax": int(
            max((recent.total(f"UpdatesLost_{label}") for label in store.counts), default=0)
        ),
        "RecentUpdatesLostRatio": (
            recent_lost / (recent_lost + recent_total) if recent_lost else 0.0
        ),
    }
    for label, counts in store.counts.items():
        for word, value in zip(
            COUNT_WORDS, (counts.total, counts.initial, counts.lost), strict=True
        ):
            figures[f"Updates{word}_{label}"] = value
            figures[f"RecentUpdates{word}_{label}"] = int(recent.total(f"Updates{word}_{label}"))
    return figures
