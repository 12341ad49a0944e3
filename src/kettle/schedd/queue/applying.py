"""What a committed transaction does to the queue in memory, and what is told of it.

`job_queue.py` has written it by then. First the ads change, then what is kept of the jobs and the
indices that they stand in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern

from kettle.classad import ClassAd
from kettle.classad.state import FAULT
from kettle.classad.text import read_count
from kettle.records import queue_log
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, parse_key
from kettle.schedd.queue.job_indices import JobIndices
from kettle.schedd.queue.job_table import SHORT, JobTable, take_away
from kettle.schedd.queue.jobs import Cluster, Job
from kettle.schedd.queue.kept_attributes import (
    KEPT,
    STATUS,
    read_kept,
    read_own_status,
    small_status,
)
from kettle.schedd.queue.transaction import Change


@dataclass(slots=True)
class Changes:
    """What a commit did, for whoever keeps something derived from the jobs."""

    new: list[Job] = field(default_factory=list)
    gone: list[Job] = field(default_factory=list)
    # Job → the attributes that changed, in lower case (its own, or its cluster's).
    changed: dict[JobId, set[str]] = field(default_factory=dict)
    # The status each changed job had before, 0 for a new one.
    status_before: dict[JobId, int] = field(default_factory=dict)
    new_clusters: list[Cluster] = field(default_factory=list)
    gone_clusters: list[Cluster] = field(default_factory=list)
    # Cluster → the attributes of its own ad that changed, in lower case.
    changed_clusters: dict[int, set[str]] = field(default_factory=dict)


class Applier:
    """Changes the table and the indices of one queue."""

    def __init__(self, table: JobTable, indices: JobIndices[Job], uid_domain: str) -> None:
        self._table = table
        self._indices = indices
        self._uid_domain = uid_domain

    def apply(
        self,
        single: Iterable[Change],
        alike: Iterable[tuple[Iterable[JobId], Mapping[str, str]]],
        changes: Changes,
    ) -> None:
        """Apply changes of single ads, then of jobs alike, and note in `changes` what was done."""
        self._apply_single(single, changes)
        moved = [self._apply_alike(jobs, texts, changes) for jobs, texts in alike]
        self._refresh(changes)
        for moving, status in moved:
            self._indices.move_all(moving, status)

    def _apply_single(self, single: Iterable[Change], changes: Changes) -> None:
        ads = self._table.ads
        touched: dict[str, set[str]] = {}
        new: set[str] = set()
        # Changes of one ad stand together, mostly.
        last, ad = "", None
        names: set[str] = set()
        for op, key, name, text in single:
            if op == queue_log.NEW_AD:
                self._new_ad(key, name, text, changes)
                new.add(key)
                last = ""
                continue
            if op == queue_log.DESTROY_AD:
                self._destroy_ad(key, changes)
                touched.pop(key, None)
                last = ""
                continue
            if key != last:
                last, ad = key, ads.get(key)
                names = set() if ad is None or key in new else touched.setdefault(key, set())
            if ad is None:
                continue
            if op == queue_log.SET_ATTRIBUTE:
                names.add(ad.insert_text(name, text if len(text) > SHORT else intern(text)))
            else:
                take_away(ad, name)
                names.add(name.lower())
        for key, names in touched.items():
            self._note_touched(key, names, changes)

    def _apply_alike(
        self, jobs: Iterable[JobId], attributes: Mapping[str, str], changes: Changes
    ) -> tuple[list[Job], int]:
        """Change jobs alike; return whom only a new status moves, who are yet to be, and it."""
        texts = ClassAd()
        for name, text in attributes.items():
            texts.insert_text(name, text)
        names, changed = set(texts.table), changes.changed
        plain = read_count(attributes.get("JobStatus", ""))
        # A new one is in no index yet.
        together = plain is not None and names & KEPT == STATUS and not changes.new
        moving: list[Job] = []
        of_id = self._table.jobs
        for job_id in jobs:
            job = of_id[job_id]
            job.ad.update(texts)
            known = changed.get(job_id)
            # One set for all: nobody changes what a commit says.
            changed[job_id] = names if known is None else known | names
            if together and known is None:
                changes.status_before[job_id] = job.status
                moving.append(job)
        return moving, small_status(plain)

    def _refresh(self, changes: Changes) -> None:
        for job in changes.new:
            changes.status_before[job.id] = 0
            read_kept(job, self._table.clusters, self._uid_domain)
            self._indices.add(job)
        new, of_id = changes.status_before, self._table.jobs
        for job_id, names in changes.changed.items():
            kept = names & KEPT
            if not kept or job_id in new:
                continue
            changed_job = of_id.get(job_id)
            if changed_job is None:
                continue
            changes.status_before[job_id] = changed_job.status
            if kept == STATUS and "jobstatus" in changed_job.ad.table:
                try:
                    status = read_own_status(changed_job.ad)
                except FAULT:
                    # It is read as any other.
                    pass
                else:
                    self._indices.move(changed_job, status)
                    continue
            self._indices.remove(changed_job)
            read_kept(changed_job, self._table.clusters, self._uid_domain)
            self._indices.add(changed_job)

    def _note_touched(self, key: str, names: set[str], changes: Changes) -> None:
        parsed = parse_key(key)
        if parsed is None or parsed[0] == 0:
            return
        cluster, proc = parsed
        if proc >= 0:
            changes.changed.setdefault(JobId(cluster, proc), set()).update(names)
        elif proc == CLUSTER_PROC and cluster in self._table.clusters:
            own = self._table.clusters[cluster]
            own.shared = None
            changes.changed_clusters[cluster] = names
            for job in own.procs.values():
                changes.changed.setdefault(job.id, set()).update(names)

    def _new_ad(self, key: str, my_type: str, target_type: str, changes: Changes) -> None:
        made = self._table.make(key, my_type, target_type)
        if isinstance(made, Job):
            changes.new.append(made)
        elif isinstance(made, Cluster):
            changes.new_clusters.append(made)

    def _destroy_ad(self, key: str, changes: Changes) -> None:
        gone = self._table.forget(key)
        if isinstance(gone, Cluster):
            changes.gone_clusters.append(gone)
        elif isinstance(gone, Job):
            changes.status_before.setdefault(gone.id, gone.status)
            changes.changed.pop(gone.id, None)
            if gone in changes.new:
                changes.new.remove(gone)
            else:
                self._indices.remove(gone)
                changes.gone.append(gone)
