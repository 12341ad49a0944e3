"""Clusters that make their jobs later: how many are made now, and what the queue is told.

Pure: counts in, numbers and transactions out. How a job follows from the submit digest is
`kettle.submit.materialize`; reading the digest and its items is the service's. Source: wire
notes, Late materialization.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from random import Random

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.schedd.queue import submission
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.attribute_rules import check_shape, decide_new
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.job_queue import Cluster
from kettle.schedd.queue.job_rules import EDITED, Applying
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.settings import QueueSettings
from kettle.submit.build import JobPlan
from kettle.submit.job import split_list
from kettle.submit.sources import FileFact


class Paused(IntEnum):
    """JobMaterializePaused: whether a cluster makes jobs."""

    INVALID = -1
    RUNNING = 0
    HELD = 1
    NO_MORE = 2
    REMOVED = 3


# Limit: jobs made in one go, so that others have their turn in between.
MOST_AT_ONCE = 500
# Limit: what a cluster may bring, which is gone through before its first job is made: the
# characters of a submit digest, and items.
LONGEST_DIGEST = 256 * 1024
MOST_ITEMS = 2_000_000


# What of a cluster's ad says how many jobs it makes now, in lower case.
DECIDES_HOW_MANY = frozenset(
    ("jobmaterializelimit", "jobmaterializemaxidle", "jobmaterializepaused")
)


def is_factory(cluster: Cluster) -> bool:
    """Tell whether a cluster makes its jobs later."""
    return "JobMaterializeDigestFile" in cluster.ad


def count_wanted(cluster: Cluster) -> int:
    """Return how many jobs a cluster should make now."""
    ad = cluster.ad
    if not is_factory(cluster) or (ad.integer("JobMaterializePaused") or 0) != Paused.RUNNING:
        return 0
    limit = ad.integer("JobMaterializeLimit")
    wanted = MOST_AT_ONCE if limit is None else min(MOST_AT_ONCE, limit - len(cluster.procs))
    most_idle = ad.integer("JobMaterializeMaxIdle")
    if most_idle is not None:
        idle = sum(1 for job in cluster.procs.values() if job.status == JobStatus.IDLE)
        wanted = min(wanted, most_idle - idle)
    return max(0, wanted)


def plan_jobs(
    transaction: Transaction,
    cluster: Cluster,
    plans: Iterable[JobPlan],
    settings: QueueSettings,
    now: int,
    applying: Applying | None = None,
) -> int:
    """Put made jobs into a transaction; returns how many.

    A digest may say what its owner may say of a new job, and nothing else. RefusedError if it gives
    an attribute that no queue can hold, or if the administrator's rules (`applying`) refuse a job.
    """
    owner = Actor(cluster.ad.string("User") or "", cluster.ad.string("Owner") or "")
    made = 0
    total = cluster.ad.integer("TotalSubmitProcs")
    edited = {word.lower() for word in split_list(cluster.ad.string(EDITED) or "")}
    not_the_jobs = _NOT_THE_JOBS | edited
    for plan in plans:
        job = JobId(cluster.id, plan.proc)
        key = key_of(*job)
        submission.add_proc(transaction, job, settings, now)
        transaction.set_attribute(key, "ProcId", str(plan.proc))
        transaction.set_attribute(key, "JobStatus", str(plan.status))
        transaction.set_attribute(key, "JobMaterializeDate", str(now))
        if cluster.ad.integer("QDate") != now:
            transaction.set_attribute(key, "QDate", str(now))
            transaction.set_attribute(key, "EnteredCurrentStatus", str(now))
        own: dict[str, str] = {}
        for name, text in plan.differences:
            if name.lower() not in not_the_jobs:
                check_shape(name, text)
                stored = decide_new(*job, name, text, owner, settings)
                if stored is not None:
                    own[name] = stored
                    transaction.set_attribute(key, name, stored)
        if applying is not None:
            _apply_rules(transaction, cluster, plan, own, applying)
        of_cluster = key_of(cluster.id, CLUSTER_PROC)
        transaction.set_attribute(of_cluster, "JobMaterializeNextProcId", str(plan.proc + 1))
        if plan.next_row is not None:
            transaction.set_attribute(of_cluster, "JobMaterializeNextRow", str(plan.next_row))
        if plan.total and plan.total != total:
            total = plan.total
            transaction.set_attribute(of_cluster, "TotalSubmitProcs", str(total))
        made += 1
    return made


def _apply_rules(
    transaction: Transaction,
    cluster: Cluster,
    plan: JobPlan,
    own: dict[str, str],
    applying: Applying,
) -> None:
    """Change and check a job that is made now."""
    ad = ClassAd({"ProcId": plan.proc, "JobStatus": plan.status}, parent=cluster.ad)
    for name, text in own.items():
        ad.insert_text(name, text)
    changes: dict[str, str] = {}
    if applying.rules.of_made_jobs:
        changes = applying.change(ad, cluster.id, plan.proc, late=True)
    for name, text in changes.items():
        if name.lower() not in _NOT_THE_JOBS:
            check_shape(name, text)
            transaction.set_attribute(key_of(cluster.id, plan.proc), name, text)
    applying.check(ad)


# What a digest does not decide.
_NOT_THE_JOBS = frozenset(("owner", "user", "osuser", "clusterid", "procid", "jobstatus", "mytype"))


def plan_end(transaction: Transaction, cluster: Cluster, paused: Paused) -> None:
    """Note that a cluster makes no further job."""
    key = key_of(cluster.id, CLUSTER_PROC)
    transaction.set_attribute(key, "JobMaterializePaused", str(int(paused)))


class DigestSources:
    """What a digest may look at: its own items, and nothing else of the access point.

    A digest is a user's text that the schedd reads with its own rights, so it runs no command and
    reads no file; what it wants to know of files was looked at when it was submitted. Compat: the
    reference looks whether the folder of a factory's first job is there, and hangs where its server
    does; here the job that has none says so when it starts
    (test_no_digest_looks_at_the_access_point).
    """

    def __init__(self, items_file: str, items: Sequence[str]) -> None:
        self._items_file = items_file
        self._items = items

    def read_text(self, path: str) -> str:
        """Refuse."""
        raise StorageError(f"a digest cannot read {path}")

    def read_items(self, path: str) -> Sequence[str]:
        """Return the items; StorageError for every other file."""
        if path == self._items_file:
            return self._items
        raise StorageError(f"a digest cannot read {path}")

    def standard_input(self) -> str | None:
        """Refuse."""
        raise StorageError("a digest cannot read standard input")

    def write_text(self, path: str, text: str) -> None:
        """Refuse."""
        raise StorageError(f"a digest cannot write {path} ({len(text)} characters)")

    def exists(self, path: str) -> bool:
        """Tell whether it is the items."""
        return path == self._items_file

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        """Refuse."""
        raise StorageError(f"a digest cannot run {command}")

    def look_at(self, path: str) -> FileFact | None:
        """Say that every file and folder is there, without a size."""
        return FileFact(0, is_directory=True, is_measured=False) if path else None

    def head(self, path: str) -> bytes:
        """Return nothing."""
        del path
        return b""

    def glob(self, pattern: str) -> list[str]:
        """Return nothing."""
        del pattern
        return []

    def random(self) -> Random:
        """Return the source of `$RANDOM_CHOICE()`: the same one for the same cluster."""
        return Random(0)  # noqa: S311 - a job's choice is no secret


def progress(ad: ClassAd) -> int:
    """Return how many jobs a cluster has made so far."""
    return ad.integer("JobMaterializeNextProcId") or 0


def count_items_used(ad: ClassAd) -> int:
    """Return what event 036 says of a cluster's items: the one that would be next.

    As in the reference that is -1 once every item has its jobs, and 0 for a plain `queue 5`.
    """
    return ad.integer("JobMaterializeNextRow") or 0
