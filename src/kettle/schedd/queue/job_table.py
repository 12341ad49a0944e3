"""All ads of the queue by their keys, and the jobs and clusters that they are of.

The log is replayed into it (`records/queue_log.py`); a commit changes it through `applying.py`.
By what jobs are found and counted is `job_indices.py`'s business, which knows nothing of this.
"""

from __future__ import annotations

from operator import itemgetter
from sys import intern
from typing import TypeVar

from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import (
    CLUSTER_PROC,
    HEADER_KEY,
    JOBSET_PROC,
    PRIVATE_PROC,
    JobId,
    key_of,
    parse_key,
)
from kettle.schedd.queue.jobs import Cluster, Job

_Id = TypeVar("_Id", int, JobId)
_Row = TypeVar("_Row")

JOB_TYPES = ("Job", "Machine")

# Texts up to this length are kept once: statuses, counts, times of one second.
SHORT = 10


class JobTable:
    """Every ad: clusters', jobs', user records and the header."""

    def __init__(self) -> None:
        self.ads: dict[str, ClassAd] = {}
        # The types that the log names, of what is neither job nor cluster.
        self.types: dict[str, tuple[str, str]] = {}
        self.clusters: dict[int, Cluster] = {}
        self.jobs: dict[JobId, Job] = {}
        # Job → attributes that clients have set and marked, until somebody clears the marks.
        self.dirty: dict[JobId, dict[str, None]] = {}
        # Users of whom there was no record when all were looked through, and none has come since.
        self.unrecorded: set[str] = set()

    def make(self, key: str, my_type: str, target_type: str) -> Job | Cluster | None:
        """Make an empty ad, and the job or cluster that it is of, which is returned."""
        parsed = parse_key(key)
        number, proc = parsed or (0, 0)
        if number == 0 or proc in {PRIVATE_PROC, JOBSET_PROC}:
            self.unrecorded.clear()
            self.ads.setdefault(key, ClassAd())
            if key != HEADER_KEY:
                self.types[key] = (my_type, target_type)
            return None
        if proc == CLUSTER_PROC:
            cluster = Cluster(number, ClassAd())
            self.ads[key] = cluster.ad
            self.clusters[number] = cluster
            return cluster
        if number not in self.clusters:
            # Very old logs have jobs without a cluster ad.
            self.make(key_of(number, CLUSTER_PROC), *JOB_TYPES)
        cluster = self.clusters[number]
        job = Job(JobId(number, proc), ClassAd(parent=cluster.ad))
        cluster.procs[proc] = job
        self.ads[key] = job.ad
        self.jobs[job.id] = job
        return job

    def forget(self, key: str) -> Job | Cluster | None:
        """Drop an ad, and the job or cluster that it was of, which is returned."""
        if self.ads.pop(key, None) is None:
            return None
        self.types.pop(key, None)
        number, proc = parse_key(key) or (0, 0)
        if number == 0:
            return None
        if proc == CLUSTER_PROC:
            return self.clusters.pop(number, None)
        job = self.jobs.pop(JobId(number, proc), None)
        self.dirty.pop(JobId(number, proc), None)
        if job is not None and number in self.clusters:
            self.clusters[number].procs.pop(proc, None)
        return job

    def sort(self) -> None:
        """Put jobs and clusters into the order of their ids."""
        _sort(self.jobs)
        _sort(self.clusters)
        for cluster in self.clusters.values():
            _sort(cluster.procs)

    # -- what a log is replayed into ----------------------------------------------------------

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Make an empty ad."""
        self.make(key, my_type, target_type)

    def destroy_ad(self, key: str) -> None:
        """Drop an ad; an unknown key is no error."""
        self.forget(key)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute a text, if anybody made the ad and it is still there."""
        ad = self.ads.get(key)
        if ad is None:
            # Nobody made it, or it was destroyed: the change of a job that had just left.
            return
        ad.insert_text(name, text if len(text) > SHORT else intern(text))

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute, if the ad is there."""
        ad = self.ads.get(key)
        if ad is not None:
            take_away(ad, name)


def _sort(table: dict[_Id, _Row]) -> None:
    """Put a table's rows into the order of their keys."""
    if len(table) < 2:
        return
    rows = sorted(table.items(), key=itemgetter(0))
    table.clear()
    table.update(rows)


def take_away(ad: ClassAd, name: str) -> None:
    """Remove an attribute so that a job does not have it, even where its whole cluster does.

    So do the reference's chained ads, whose logs say no more than that it was removed.
    """
    ad.discard(name)
    if name in ad:
        ad.insert_text(name, "undefined")
