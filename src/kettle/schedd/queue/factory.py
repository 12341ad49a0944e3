"""Clusters that make their jobs later: how many are made now, and what the queue is told.

Pure: counts in, numbers and transactions out. How a job follows from the submit digest is
`kettle.submit.materialize`; reading the digest and its items is the service's. Source: wire
notes, Late materialization.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from enum import IntEnum
from random import Random

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import ChangedError, KettleError, StorageError
from kettle.schedd.queue import submission
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.ad_sizes import check_text_sizes
from kettle.schedd.queue.attribute_rules import check_shape, decide_new
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.job_rules import EDITED, Applying
from kettle.schedd.queue.jobs import Cluster
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.settings import QueueSettings
from kettle.submit.build import JobPlan
from kettle.submit.job import split_at_commas
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


# Why a cluster makes no jobs for the time being.
PAUSE_REASON = "JobMaterializePauseReason"

# What of a cluster's ad says how many jobs it makes now, in lower case.
DECIDES_HOW_MANY = frozenset(
    ("jobmaterializelimit", "jobmaterializemaxidle", "jobmaterializepaused")
)


def is_factory(cluster: Cluster) -> bool:
    """Tell whether a cluster makes its jobs later."""
    return "JobMaterializeDigestFile" in cluster.ad


def is_running(cluster: Cluster) -> bool:
    """Tell whether nothing keeps a cluster from making jobs."""
    return (cluster.ad.integer("JobMaterializePaused") or 0) == Paused.RUNNING


def count_wanted(cluster: Cluster) -> int:
    """Return how many jobs a cluster should make now."""
    ad = cluster.ad
    if not is_factory(cluster) or not is_running(cluster):
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
    an attribute that no queue can hold, or if the administrator's rules (`applying`) refuse a job;
    the jobs before that one are in the transaction, whole, and nothing else.
    """
    made = 0
    total = cluster.ad.integer("TotalSubmitProcs")
    decide = _Deciding(cluster, settings, applying)
    for plan in plans:
        # All that may be refused comes first: nothing of such a job is in the transaction.
        own = decide.attributes(plan)
        job = JobId(cluster.id, plan.proc)
        key = key_of(*job)
        submission.add_proc(transaction, job, settings, now)
        transaction.set_attribute(key, "ProcId", str(plan.proc))
        transaction.set_attribute(key, "JobStatus", str(plan.status))
        if plan.status == JobStatus.HELD:
            _count_hold(transaction, key, dict(own), cluster.ad)
        transaction.set_attribute(key, "JobMaterializeDate", str(now))
        if cluster.ad.integer("QDate") != now:
            transaction.set_attribute(key, "QDate", str(now))
            transaction.set_attribute(key, "EnteredCurrentStatus", str(now))
        for name, text in own:
            transaction.set_attribute(key, name, text)
        of_cluster = key_of(cluster.id, CLUSTER_PROC)
        transaction.set_attribute(of_cluster, "JobMaterializeNextProcId", str(plan.proc + 1))
        if plan.next_row is not None:
            transaction.set_attribute(of_cluster, "JobMaterializeNextRow", str(plan.next_row))
        if plan.total and plan.total != total:
            total = plan.total
            transaction.set_attribute(of_cluster, "TotalSubmitProcs", str(total))
        made += 1
    return made


def _count_hold(transaction: Transaction, key: str, own: dict[str, str], cluster: ClassAd) -> None:
    """Count that a job begins on hold.

    Compat: the reference counts it in the cluster, so that all jobs of one whose first job is held
    were held once (test_a_job_that_is_made_on_hold_was_held_once_and_no_other).
    """
    code = own.get("HoldReasonCode") or cluster.text("HoldReasonCode") or ""
    for name, text in submission.count_first_hold(code).items():
        transaction.set_attribute(key, name, text)


class _Deciding:
    """What the jobs of one cluster have of their own."""

    def __init__(
        self, cluster: Cluster, settings: QueueSettings, applying: Applying | None
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._applying = applying
        ad = cluster.ad
        self._owner = Actor(ad.string("User") or "", ad.string("Owner") or "")
        edited = {word.lower() for word in split_at_commas(ad.string(EDITED) or "")}
        self._not_the_jobs = _NOT_THE_JOBS | edited

    def attributes(self, plan: JobPlan) -> list[tuple[str, str]]:
        """Return names and texts, the later ones count; RefusedError."""
        job = JobId(self._cluster.id, plan.proc)
        own: dict[str, str] = {}
        for name, text in plan.differences:
            if name.lower() not in self._not_the_jobs:
                check_shape(name, text)
                stored = decide_new(*job, name, text, self._owner, self._settings)
                if stored is not None:
                    own[name] = stored
        texts = list(own.items())
        if self._applying is not None:
            texts += _apply_rules(self._cluster, plan, own, self._applying)
        check_text_sizes(texts, key_of(*job))
        return texts


def _apply_rules(
    cluster: Cluster, plan: JobPlan, own: dict[str, str], applying: Applying
) -> list[tuple[str, str]]:
    """Change and check a job that is made now; return what the rules say."""
    ad = ClassAd({"ProcId": plan.proc, "JobStatus": plan.status}, parent=cluster.ad)
    for name, text in own.items():
        ad.insert_text(name, text)
    changes: dict[str, str] = {}
    if applying.rules.of_made_jobs:
        changes = applying.change(ad, cluster.id, plan.proc, late=True)
    said = [each for each in changes.items() if each[0].lower() not in _NOT_THE_JOBS]
    for name, text in said:
        check_shape(name, text)
    applying.check(ad)
    return said


# What a digest does not decide.
_NOT_THE_JOBS = frozenset(("owner", "user", "osuser", "clusterid", "procid", "jobstatus", "mytype"))


def plan_end(transaction: Transaction, cluster: Cluster, paused: Paused, reason: str = "") -> None:
    """Note that a cluster makes no further job, and why if that is to be told."""
    key = key_of(cluster.id, CLUSTER_PROC)
    transaction.set_attribute(key, "JobMaterializePaused", str(int(paused)))
    if reason:
        transaction.set_attribute(key, PAUSE_REASON, quote_line(reason))


def plan_start(transaction: Transaction, cluster: Cluster) -> None:
    """Note that a cluster makes jobs again."""
    key = key_of(cluster.id, CLUSTER_PROC)
    transaction.set_attribute(key, "JobMaterializePaused", str(int(Paused.RUNNING)))
    if PAUSE_REASON in cluster.ad:
        transaction.delete_attribute(key, PAUSE_REASON)


# What a later try may find well again: it is about the machine, not about the file.
_PASSES = frozenset(
    (
        errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
        errno.EAGAIN, errno.EINTR, errno.ESTALE, errno.ETIMEDOUT,
    )
)  # fmt: skip


def judge_failure(error: Exception) -> Paused | None:
    """Decide what becomes of a cluster whose next job could not be made; None to try it again.

    A job that its description or the administrator's rules make impossible puts the making on
    hold: whoever has mended that releases the cluster. So do items that have changed or are gone:
    which jobs they make now is for a person to say. What nobody thought of ends it until the next
    start.

    Compat: where a commit refuses the job, the reference's making stands still until a job of the
    cluster leaves, and says nothing (test_a_refused_job_puts_the_making_on_hold).
    """
    if isinstance(error, StorageError) and not isinstance(error, ChangedError):
        return None if error.errno in _PASSES else Paused.INVALID
    return Paused.HELD if isinstance(error, KettleError) else Paused.INVALID


class DigestSources:
    """What a digest may look at: its own items, and nothing else of the access point.

    A digest is a user's text that the schedd reads with its own rights, so it runs no command and
    reads no file; what it wants to know of files was looked at when it was submitted. Compat: the
    reference looks whether the folder of a factory's first job is there, and hangs where its server
    does; here the job that has none says so when it starts
    (test_no_digest_looks_at_the_access_point).
    """

    def __init__(self, items_file: str, items: Sequence[str], dice: Random | None = None) -> None:
        self._items_file = items_file
        self._items = items
        self._dice = dice or Random(0)  # noqa: S311 - a job's choice is no secret

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

    def folder_bytes(self, path: str) -> int:
        """Return nothing."""
        del path
        return 0

    def head(self, path: str) -> bytes:
        """Return nothing."""
        del path
        return b""

    def glob(self, pattern: str) -> list[str]:
        """Return nothing."""
        del pattern
        return []

    def random(self) -> Random:
        """Return the source of `$RANDOM_CHOICE()`, which goes on from job to job."""
        return self._dice


def progress(ad: ClassAd) -> int:
    """Return how many jobs a cluster has made so far."""
    return max(0, ad.integer("JobMaterializeNextProcId") or 0)


def next_proc(cluster: Cluster) -> int:
    """Return the number of the next job: behind every one that there ever was.

    Nobody but the schedd changes what the cluster's ad says of it, so that no job that has left is
    made again; a job that is there with a higher number came with the submission, or from a log
    that was edited by hand.
    """
    return max(progress(cluster.ad), max(cluster.procs, default=-1) + 1)


def count_items_used(ad: ClassAd) -> int:
    """Return what event 036 says of a cluster's items: the one that would be next.

    As in the reference that is -1 once every item has its jobs, and 0 for a plain `queue 5`.
    """
    return ad.integer("JobMaterializeNextRow") or 0
