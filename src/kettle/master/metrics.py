"""What `/metrics` and `/healthz` say: a table of figures, and the words for their formats.

Pure: daemons' ads and the states of the master's own daemons in, text out. Names are Kettle's,
in Prometheus' manner: base units, counters end in `_total`. Who asks whom is `services/metrics.py`.
Source of the format: Prometheus' text exposition format 0.0.4.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kettle.classad import ClassAd

# Which label names a daemon of each kind of ad.
_LABELS = {
    "Scheduler": "schedd",
    "Collector": "collector",
    "Negotiator": "negotiator",
    "StartD": "startd",
    "DaemonMaster": "master",
}
AD_TYPES = tuple(_LABELS)


@dataclass(frozen=True, slots=True)
class Metric:
    """A family of figures: `samples` are attributes with the label that tells each apart.

    `scale` brings the attribute's unit to the metric's.
    """

    name: str
    kind: str
    doc: str
    ad_type: str
    samples: tuple[tuple[str, str], ...]
    label: str = ""
    scale: float = 1


def _gauge(name: str, doc: str, ad_type: str, attribute: str, scale: float = 1) -> Metric:
    return Metric(name, "gauge", doc, ad_type, ((attribute, ""),), scale=scale)


def _counter(name: str, doc: str, ad_type: str, attribute: str) -> Metric:
    return Metric(f"{name}_total", "counter", doc, ad_type, ((attribute, ""),))


# fmt: off
METRICS = (
    Metric("kettle_jobs", "gauge", "Jobs in a queue, by status.", "Scheduler", (
        ("TotalIdleJobs", "idle"), ("TotalRunningJobs", "running"), ("TotalHeldJobs", "held"),
        ("TotalRemovedJobs", "removed"),
    ), "status"),
    _gauge("kettle_users", "Users with jobs in a queue.", "Scheduler", "NumUsers"),
    _gauge("kettle_autoclusters", "Groups of like jobs.", "Scheduler", "Autoclusters"),
    _gauge("kettle_shadows_running", "Jobs that are on machines.", "Scheduler", "ShadowsRunning"),
    _counter("kettle_jobs_submitted", "Jobs that came into a queue.", "Scheduler", "JobsSubmitted"),
    _counter("kettle_jobs_started", "Jobs that were started once.", "Scheduler", "JobsStarted"),
    _counter("kettle_jobs_exited", "Runs that ended, however.", "Scheduler", "JobsExited"),
    _counter("kettle_jobs_completed", "Jobs that are done.", "Scheduler", "JobsCompleted"),
    Metric("kettle_runs_seconds_total", "counter", "Seconds of runs, by what came of them.",
           "Scheduler", (
        ("JobsAccumRunningTime", "kept"), ("JobsAccumBadputTime", "lost"),
        ("JobsAccumChurnTime", "never-worked"),
    ), "outcome"),
    Metric("kettle_transfer_bytes_total", "counter", "Bytes of jobs' files, by direction.",
           "Scheduler", (
        ("FileTransferUploadBytes", "to-jobs"), ("FileTransferDownloadBytes", "from-jobs"),
    ), "direction"),
    Metric("kettle_transfers", "gauge", "Transfers of the transfer queue, by state.", "Scheduler", (
        ("TransferQueueNumUploading", "uploading"),
        ("TransferQueueNumDownloading", "downloading"),
        ("TransferQueueNumWaitingToUpload", "waiting-to-upload"),
        ("TransferQueueNumWaitingToDownload", "waiting-to-download"),
    ), "state"),
    Metric("kettle_slots", "gauge", "Slots of the pool, by state.", "Collector", (
        ("HostsClaimed", "claimed"), ("HostsUnclaimed", "unclaimed"), ("HostsOwner", "owner"),
    ), "state"),
    _gauge("kettle_submitters", "Submitters that are known.", "Collector", "SubmitterAds"),
    _counter("kettle_collector_updates", "Ads that came.", "Collector", "UpdatesTotal"),
    _counter("kettle_collector_updates_lost", "Ads that never came.", "Collector", "UpdatesLost"),
    _counter("kettle_collector_queries_dropped", "Queries that were refused.", "Collector",
             "DroppedQueries"),
    _gauge("kettle_negotiation_cycle_end_timestamp_seconds", "When the last cycle ended.",
           "Negotiator", "LastNegotiationCycleEnd0"),
    _gauge("kettle_negotiation_cycle_cpu_seconds", "Processor time of the last cycle.",
           "Negotiator", "LastNegotiationCycleCpuTime0"),
    _gauge("kettle_negotiation_cycle_matches", "Matches of the last cycle.", "Negotiator",
           "LastNegotiationCycleMatches0"),
    _gauge("kettle_negotiation_cycle_rejections", "Requests that the last cycle had no slot for.",
           "Negotiator", "LastNegotiationCycleRejections0"),
    _counter("kettle_startd_jobs_started", "Jobs that a machine started.", "StartD", "JobStarts"),
    _counter("kettle_startd_preemptions", "Jobs that made room for a better one.", "StartD",
             "JobPreemptions"),
    _gauge("kettle_startd_cpus", "Cores of a machine.", "StartD", "DetectedCpus"),
    _gauge("kettle_startd_cpus_in_use", "Cores that jobs have.", "StartD", "TotalInUseCpus"),
)
"""Figures of one kind of daemon each."""

OF_EVERY_DAEMON = (
    Metric("kettle_daemon_resident_bytes", "gauge", "Memory that a daemon has.", "",
           (("MonitorSelfResidentSetSize", ""),), scale=1024),
    Metric("kettle_daemon_cpu_seconds_total", "counter", "Processor time, by mode.", "",
           (("MonitorSelfUserCpuTime", "user"), ("MonitorSelfSysCpuTime", "system")), "mode"),
    Metric("kettle_daemon_sockets", "gauge", "Sockets that a daemon has open.", "",
           (("MonitorSelfRegisteredSocketCount", ""),)),
    Metric("kettle_daemon_sessions", "gauge", "Security sessions that a daemon has.", "",
           (("MonitorSelfSecuritySessions", ""),)),
    Metric("kettle_daemon_duty_ratio", "gauge", "Part of its time that a daemon worked lately.",
           "", (("RecentDaemonCoreDutyCycle", ""),)),
    Metric("kettle_daemon_start_timestamp_seconds", "gauge", "When a daemon started.", "",
           (("DaemonStartTime", ""),)),
)
"""Figures that the ads of all daemons have, labelled `type` and `name`."""

OF_THE_MASTER = (
    ("kettle_up", "1 for each daemon of this master that serves requests, else 0."),
    ("kettle_state_since_timestamp_seconds", "Since when a daemon is as it is."),
    ("kettle_collector_reachable", "1 if the collector answered: figures of ads are there."),
)
"""Figures that the master knows by itself, labelled `daemon`."""
# fmt: on
HUNG = "Hung"
"""How a daemon stands that is there and does not answer, in the reference's word."""


@dataclass(frozen=True, slots=True)
class Health:
    """How one of the master's daemons stands: in a word, whether that is well, since when."""

    state: str
    well: bool
    since: float


def with_silent(
    health: Mapping[str, Health], silent: Mapping[str, float], now: float
) -> dict[str, Health]:
    """Return how daemons stand if these have not answered for so many seconds."""
    return {
        name: Health(HUNG, False, now - silent[name]) if name in silent and one.well else one
        for name, one in health.items()
    }


def attributes() -> tuple[str, ...]:
    """Return all attributes that are asked for."""
    names = {name for metric in (*METRICS, *OF_EVERY_DAEMON) for name, _ in metric.samples}
    return ("MyType", "Name", *sorted(names))


def render(ads: Iterable[ClassAd], health: Mapping[str, Health], *, reachable: bool) -> str:
    """Return the page of figures."""
    by_type: dict[str, list[ClassAd]] = {}
    for ad in ads:
        by_type.setdefault(ad.string("MyType") or "", []).append(ad)
    lines: list[str] = []
    up, since, collector = OF_THE_MASTER
    _head(lines, up[0], "gauge", up[1])
    lines += [f"{up[0]}{_labels(daemon=n)} {int(one.well)}" for n, one in health.items()]
    _head(lines, since[0], "gauge", since[1])
    lines += [f"{since[0]}{_labels(daemon=n)} {one.since:.3f}" for n, one in health.items()]
    _head(lines, collector[0], "gauge", collector[1])
    lines.append(f"{collector[0]} {int(reachable)}")
    for metric in METRICS:
        label = _LABELS[metric.ad_type]
        found = [(ad, {label: ad.string("Name") or ""}) for ad in by_type.get(metric.ad_type, ())]
        _family(lines, metric, found)
    everybody = [
        (ad, {"type": _LABELS[kind], "name": ad.string("Name") or ""})
        for kind in AD_TYPES
        for ad in by_type.get(kind, ())
    ]
    for metric in OF_EVERY_DAEMON:
        _family(lines, metric, everybody)
    return "\n".join(lines) + "\n"


def _family(
    lines: list[str], metric: Metric, ads: Iterable[tuple[ClassAd, Mapping[str, str]]]
) -> None:
    # Of ads with one name, which only those that are wrong have, the first: a reader throws away a
    # page that says something twice.
    samples: dict[str, str] = {}
    for ad, labels in ads:
        for attribute, word in metric.samples:
            value = ad.real(attribute)
            if value is not None and math.isfinite(number := value * metric.scale):
                more = {metric.label: word} if metric.label else {}
                text = str(int(number)) if float(number).is_integer() else repr(number)
                samples.setdefault(f"{metric.name}{_labels(**labels, **more)}", text)
    if samples:
        _head(lines, metric.name, metric.kind, metric.doc)
        lines += [f"{sample} {text}" for sample, text in samples.items()]


def _head(lines: list[str], name: str, kind: str, doc: str) -> None:
    lines += [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]


def _labels(**labels: str) -> str:
    pairs = ",".join(f'{name}="{_escape(text)}"' for name, text in labels.items())
    return f"{{{pairs}}}"


def _escape(text: str) -> str:
    if not text.isprintable():
        # Of a page with what is no UTF-8 a reader takes nothing.
        text = "".join(
            each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text
        )
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def render_health(health: Mapping[str, Health], now: float) -> tuple[bool, str]:
    """Return whether all daemons serve requests, and the answer that says which do not."""
    healthy = all(one.well for one in health.values())
    facts = {
        "healthy": healthy,
        "daemons": {
            name: {
                "state": one.state,
                "healthy": one.well,
                "since": round(one.since, 3),
                "seconds": round(max(0.0, now - one.since), 3),
            }
            for name, one in health.items()
        },
    }
    return healthy, json.dumps(facts) + "\n"
