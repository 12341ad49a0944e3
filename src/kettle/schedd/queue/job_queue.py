"""The job queue: every ad of the access point in memory, and the one door for changes to them.

A job's ad is chained to its cluster's, so common attributes exist once. Everything that changes
goes through `commit`, which writes the transaction to the journal and then applies it, so memory
and log never differ. Who may change what is `qmgmt_changes`' and `actions`' business; when the
journal is on disk the service's.

Limit: memory is meant for 100,000 jobs in 300 MB, so a job has few objects of its own.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from sys import intern
from typing import Protocol, TypeVar

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.classad.state import FAULT
from kettle.classad.text import quote_line, read_count
from kettle.records import queue_log
from kettle.schedd.queue.job_ids import (
    CLUSTER_PROC,
    HEADER_KEY,
    JOBSET_PROC,
    PRIVATE_PROC,
    JobId,
    key_of,
    parse_key,
)
from kettle.schedd.queue.job_indices import JobIndices
from kettle.schedd.queue.open_transactions import OpenTransactions
from kettle.schedd.queue.transaction import Change, Transaction

_Id = TypeVar("_Id", int, JobId)
_Row = TypeVar("_Row")

_JOB_TYPES = ("Job", "Machine")

# Texts up to this length are kept once: statuses, counts, times of one second.
_SHORT = 10

# So many names of changed attributes are no trouble, whatever the job has.
_SPARE_NAMES = 64

# Attributes whose values a `Job` keeps at hand.
_KEPT = frozenset(
    (
        "jobstatus",
        "jobuniverse",
        "user",
        "owner",
        "accountinggroup",
        "niceuser",
        "jobprio",
        "prejobprio1",
        "prejobprio2",
        "postjobprio1",
        "postjobprio2",
        "qdate",
    )
)


# Pre-priorities, JobPrio, post-priorities, each negated.
Priority = tuple[int, int, int, int, int]
_NO_PRIORITY: Priority = (0, 0, 0, 0, 0)

# A job's own attributes of these kinds are read one by one; what else is kept, its cluster says.
_OFTEN_OWN = frozenset(("jobstatus", "qdate"))
_NOT_SHARED = _KEPT - _OFTEN_OWN
_STATUS = frozenset(("jobstatus",))

# What Managed says of a job that another manager runs.
EXTERNAL = "External"


class Journal(Protocol):
    """Where committed transactions are written, in order."""

    def append(self, data: bytes, *, refusable: bool = False) -> None:
        """Write behind what was written before; forcing it to disk is another matter.

        StorageError if it cannot; only what is `refusable` may then be answered with a refusal.
        """


class TakenError(Exception):
    """What failed behind a commit: the queue has it all the same, and so has the next start.

    No StorageError, though one may be its cause: nobody is refused for it. `ends_daemon` as there.
    """

    def __init__(self, failure: Exception) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.ends_daemon = getattr(failure, "ends_daemon", False)


@dataclass(slots=True, eq=False)
class Job:
    """One job: its ad and what is asked of it so often that it is kept beside the ad."""

    id: JobId
    ad: ClassAd
    status: int = 0
    universe: int = JobUniverse.VANILLA
    owner: str = ""
    user: str = ""
    # Whose fair share it uses: the accounting group's or the user's name with the domain.
    submitter: str = ""
    # What orders a submitter's jobs; smaller runs first. One object for all alike.
    priority: Priority = _NO_PRIORITY
    submitted_at: int = 0
    autocluster: int = 0
    # Whether the history has it: it is only in the queue until that is on disk.
    recorded: bool = False

    @property
    def is_external(self) -> bool:
        """Whether another manager runs it."""
        return "Managed" in self.ad and self.ad.string("Managed") == EXTERNAL

    @property
    def waits(self) -> bool:
        """Whether it may be started here: it is idle, and nobody else's."""
        return self.status == JobStatus.IDLE and not self.is_external

    @property
    def age(self) -> tuple[int, int, int]:
        """What orders jobs of one priority; smaller runs first."""
        return self.submitted_at, self.id.cluster, self.id.proc


@dataclass(frozen=True, slots=True)
class Shared:
    """What a cluster's jobs have at hand, unless their own ads say otherwise."""

    status: int
    universe: int
    owner: str
    user: str
    submitter: str
    priority: Priority
    submitted_at: int


@dataclass(slots=True, eq=False)
class Cluster:
    """What a cluster's jobs have in common."""

    id: int
    ad: ClassAd
    procs: dict[int, Job] = field(default_factory=dict)
    # What the cluster's ad says of the kept attributes; None if it has to be read again.
    shared: Shared | None = None


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


class JobQueue:
    """All clusters, jobs, user records and the header ad."""

    def __init__(self, journal: Journal, *, uid_domain: str) -> None:
        self._journal = journal
        self.uid_domain = uid_domain
        self._ads: dict[str, ClassAd] = {}
        self._types: dict[str, tuple[str, str]] = {}
        # User → where its record was found last (`user_records`).
        self.record_keys: dict[str, str] = {}
        # Users of whom there was no record when all were looked through, and none has come since.
        self.unrecorded: set[str] = set()
        self.clusters: dict[int, Cluster] = {}
        self.jobs: dict[JobId, Job] = {}
        # By what jobs are found and counted; `job_indices` alone changes these four.
        self._indices = JobIndices[Job]()
        self.by_status = self._indices.by_status
        self.by_user = self._indices.by_user
        self.tallies = self._indices.tallies
        self.user_tallies = self._indices.user_tallies
        # Job → attributes that clients have set and marked, until somebody clears the marks.
        self.dirty: dict[JobId, dict[str, None]] = {}
        # What clients have open that takes much memory.
        self.open_transactions = OpenTransactions()
        self.sequence = 0
        self.created = 0
        self._next_cluster = 1
        self._observers: list[Callable[[Changes], None]] = []

    # -- reading ----------------------------------------------------------------------------

    def ad(self, key: str) -> ClassAd | None:
        """Return the committed ad of a key of the log."""
        return self._ads.get(key)

    def job(self, cluster: int, proc: int) -> Job | None:
        """Return a job that is in the queue."""
        return self.jobs.get(JobId(cluster, proc))

    def knows(self, cluster: int, proc: int | None) -> bool:
        """Tell whether a cluster, or a job of it, is in the queue."""
        if proc is None:
            return cluster in self.clusters
        return self.job(cluster, proc) is not None

    def keys_of_type(self, my_type: str) -> Iterator[str]:
        """Yield the keys of the ads whose record named this type (`Owner` for user records)."""
        return (key for key, types in self._types.items() if types[0] == my_type)

    def count(self, status: int, *, universes: Iterable[int] | None = None) -> int:
        """Return how many jobs have a status, in some universes or in all."""
        if universes is None:
            return len(self.by_status[status])
        wanted = frozenset(universes)
        return sum(
            tally[status] for (_, universe), tally in self.tallies.items() if universe in wanted
        )

    def observe(self, observer: Callable[[Changes], None]) -> None:
        """Have `observer` called after every commit."""
        self._observers.append(observer)

    # -- changing ---------------------------------------------------------------------------

    def transaction(self) -> Transaction:
        """Return an empty transaction over this queue."""
        return Transaction(self)

    @property
    def next_cluster(self) -> int:
        """The number that the next cluster will get."""
        return self._next_cluster

    def take_cluster_number(self) -> int:
        """Return a cluster number that was never returned before, in this life of the queue.

        It is on disk with the transaction that makes the cluster; a number taken for a submission
        that failed may be given again only by a later life, where nobody has seen it.
        """
        number = self._next_cluster
        self._next_cluster += 1
        return number

    def commit(self, transaction: Transaction, *, refusable: bool = False) -> Changes:
        """Write a transaction to the journal, apply it and tell the observers.

        `refusable` is what a client asks for: StorageError if the disk has no room for it, and
        nothing has happened. What has happened already is never refused (see the journal). Changes
        of ads that have gone since they were asked for are neither written nor applied. It
        is a RefusedError to make one that is there.

        An observer that fails keeps no other from being told; behind the commit that comes out as a
        TakenError, and as nothing else.
        """
        changes = Changes()
        transaction.forget_lost()
        if not transaction:
            transaction.taken = True
            return changes
        if transaction.makes_cluster:
            # The highest number given so far, whatever the order of the commits.
            number = str(self._next_cluster)
            transaction.set_attribute(HEADER_KEY, "NextClusterNum", number)
        alike = [
            (present, texts)
            for jobs, texts in transaction.alike
            if (present := [job for job in jobs if job in self.jobs])
        ]
        records = queue_log.encode_changes(transaction.changes, alike)
        self._journal.append(records, refusable=refusable)
        transaction.taken = True
        try:
            self._apply_all(transaction.changes, changes)
            moved = [self._apply_alike(jobs, texts, changes) for jobs, texts in alike]
            self._refresh(changes)
            for moving, status in moved:
                self._indices.move_all(moving, status)
            self._tell(changes)
        except TakenError:
            raise
        except Exception as error:
            raise TakenError(error) from error
        return changes

    def commit_asked(self, transaction: Transaction, tell: Callable[[str], object]) -> None:
        """Commit what a client asks for; what fails behind that is told, and no client's business.

        StorageError if the disk has no room for it, and nothing has happened.
        """
        try:
            self.commit(transaction, refusable=True)
        except TakenError as later:
            if later.ends_daemon:
                raise
            lines = "".join(traceback.format_exception(later.failure)).rstrip()
            tell(f"What follows a commit failed, which is in the queue: {lines}")

    def _tell(self, changes: Changes) -> None:
        failure: Exception | None = None
        for observer in self._observers:
            try:
                observer(changes)
            except Exception as error:  # noqa: BLE001 - it is raised
                if failure is not None:
                    failure.add_note(f"and then: {error!r}")
                failure = failure or error
        if failure is not None:
            raise TakenError(failure) from failure

    def update(
        self, job: JobId, attributes: Mapping[str, str | None], *, refusable: bool = False
    ) -> Changes:
        """Commit changes of one job: each attribute to its text, or removed where that is None."""
        transaction = self.transaction()
        transaction.update(key_of(*job), attributes)
        return self.commit(transaction, refusable=refusable)

    def mark_dirty(self, job: JobId, name: str) -> None:
        """Note that a client has changed an attribute, for whoever works on the job elsewhere."""
        if job not in self.jobs:
            return
        names, own = self.dirty.setdefault(job, {}), self.jobs[job].ad.table
        names[name] = None
        # Limit: attributes that the job had once, and spellings of others, are not collected.
        if len(names) > 2 * len(own) + _SPARE_NAMES:
            latest = {each.lower(): each for each in names}
            self.dirty[job] = {each: None for lower, each in latest.items() if lower in own}

    def clear_dirty(self, job: JobId) -> None:
        """Forget which attributes were changed."""
        self.dirty.pop(job, None)

    # -- the log ----------------------------------------------------------------------------

    def restore(self, data: bytes | Iterable[bytes]) -> queue_log.Replay:
        """Fill an empty queue from its log, in pieces or whole.

        The caller cuts the file at `kept_bytes`.
        """
        outcome = queue_log.replay(data, _Restoring(self), guards_snapshot=True)
        # The reference's log has its jobs in no order, and everybody lists them as they stand here.
        _sort(self.jobs)
        _sort(self.clusters)
        for cluster in self.clusters.values():
            _sort(cluster.procs)
        for job in self.jobs.values():
            self._read(job)
            self._indices.add(job)
        self.sequence, self.created = outcome.sequence, outcome.created
        header = self._ads.get(HEADER_KEY)
        kept = header.integer("NextClusterNum") if header is not None else None
        self._next_cluster = max(kept or 1, max(self.clusters, default=0) + 1)
        return outcome

    def first_records(self, now: int) -> str:
        """Return what a new log begins with, and apply it."""
        self.sequence, self.created = 1, now
        self._make(HEADER_KEY, *_JOB_TYPES)
        self._ads[HEADER_KEY].insert_text("UidDomain", quote_line(self.uid_domain))
        return "".join(self.snapshot(self.sequence, now))

    def snapshot(self, sequence: int, now: int) -> Iterator[str]:
        """Yield the pieces of a compacted log with the next historical number, born as before."""
        header = self._ads.setdefault(HEADER_KEY, ClassAd())
        header.insert_text("NextClusterNum", str(self._next_cluster))
        pieces = queue_log.encode_snapshot(sequence, self.created or now, self._snapshot_ads())
        return itertools.chain(pieces, (queue_log.SNAPSHOT_END,))

    def _snapshot_ads(self) -> Iterator[tuple[str, str, str, Iterable[tuple[str, str]]]]:
        for key, ad in self._ads.items():
            my_type, target_type = self._types.get(key, _JOB_TYPES)
            names = ad.own_names()
            yield key, my_type, target_type, ((name, ad.text(name) or "") for name in names)

    # -- applying ---------------------------------------------------------------------------

    def _apply_all(self, all_changes: Iterable[Change], changes: Changes) -> None:
        touched: dict[str, set[str]] = {}
        new: set[str] = set()
        # Changes of one ad stand together, mostly.
        last, ad = "", None
        names: set[str] = set()
        for op, key, name, text in all_changes:
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
                last, ad = key, self._ads.get(key)
                names = set() if ad is None or key in new else touched.setdefault(key, set())
            if ad is None:
                continue
            if op == queue_log.SET_ATTRIBUTE:
                names.add(ad.insert_text(name, text if len(text) > _SHORT else intern(text)))
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
        together = plain is not None and names & _KEPT == _STATUS and not changes.new
        moving: list[Job] = []
        for job_id in jobs:
            job = self.jobs[job_id]
            job.ad.update(texts)
            known = changed.get(job_id)
            # One set for all: nobody changes what a commit says.
            changed[job_id] = names if known is None else known | names
            if together and known is None:
                changes.status_before[job_id] = job.status
                moving.append(job)
        return moving, _small(plain)

    def _note_touched(self, key: str, names: set[str], changes: Changes) -> None:
        parsed = parse_key(key)
        if parsed is None or parsed[0] == 0:
            return
        cluster, proc = parsed
        if proc >= 0:
            changes.changed.setdefault(JobId(cluster, proc), set()).update(names)
        elif proc == CLUSTER_PROC and cluster in self.clusters:
            self.clusters[cluster].shared = None
            changes.changed_clusters[cluster] = names
            for job in self.clusters[cluster].procs.values():
                changes.changed.setdefault(job.id, set()).update(names)

    def _new_ad(self, key: str, my_type: str, target_type: str, changes: Changes) -> None:
        made = self._make(key, my_type, target_type)
        if isinstance(made, Job):
            changes.new.append(made)
        elif isinstance(made, Cluster):
            changes.new_clusters.append(made)

    def _make(self, key: str, my_type: str, target_type: str) -> Job | Cluster | None:
        parsed = parse_key(key)
        number, proc = parsed or (0, 0)
        if number == 0 or proc in {PRIVATE_PROC, JOBSET_PROC}:
            self.unrecorded.clear()
            self._ads.setdefault(key, ClassAd())
            if key != HEADER_KEY:
                self._types[key] = (my_type, target_type)
            return None
        if proc == CLUSTER_PROC:
            cluster = Cluster(number, ClassAd())
            self._ads[key] = cluster.ad
            self.clusters[number] = cluster
            return cluster
        if number not in self.clusters:
            # Very old logs have jobs without a cluster ad.
            self._make(key_of(number, CLUSTER_PROC), *_JOB_TYPES)
        cluster = self.clusters[number]
        job = Job(JobId(number, proc), ClassAd(parent=cluster.ad))
        cluster.procs[proc] = job
        self._ads[key] = job.ad
        self.jobs[job.id] = job
        return job

    def _destroy_ad(self, key: str, changes: Changes) -> None:
        gone = self._forget(key)
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

    def _forget(self, key: str) -> Job | Cluster | None:
        if self._ads.pop(key, None) is None:
            return None
        self._types.pop(key, None)
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

    # -- indices ----------------------------------------------------------------------------

    def _refresh(self, changes: Changes) -> None:
        for job in changes.new:
            changes.status_before[job.id] = 0
            self._read(job)
            self._indices.add(job)
        new = changes.status_before
        for job_id, names in changes.changed.items():
            kept = names & _KEPT
            if not kept or job_id in new:
                continue
            changed_job = self.jobs.get(job_id)
            if changed_job is None:
                continue
            changes.status_before[job_id] = changed_job.status
            if kept == _STATUS and "jobstatus" in changed_job.ad.table:
                try:
                    said = _number(
                        changed_job.ad.table["jobstatus"], changed_job.ad, "JobStatus", 0
                    )
                except FAULT:
                    # It is read as any other.
                    pass
                else:
                    self._indices.move(changed_job, _small(said))
                    continue
            self._indices.remove(changed_job)
            self._read(changed_job)
            self._indices.add(changed_job)

    def _read(self, job: Job) -> None:
        """Take the kept attributes out of a job's ad.

        What is in the log already must not stop what is behind it, nor the next start: where
        something raises the job keeps what was known of it.
        """
        try:
            self._read_all(job)
        except FAULT:
            raw = job.ad.table.get("jobstatus")
            job.status = job.status or _small(read_count(raw) if isinstance(raw, str) else None)
            job.user = job.user or f"{job.owner}@{self.uid_domain}"
            job.submitter = job.submitter or job.user

    def _read_all(self, job: Job) -> None:
        own = job.ad.table
        cluster = self.clusters[job.id.cluster]
        shared = cluster.shared
        if shared is None:
            shared = cluster.shared = self._share(cluster.ad)
        said = shared if _NOT_SHARED.isdisjoint(own) else self._share(job.ad)
        job.universe, job.owner, job.user = said.universe, said.owner, said.user
        job.submitter, job.priority = said.submitter, said.priority
        job.status = _number(own.get("jobstatus"), job.ad, "JobStatus", shared.status)
        job.status = _small(job.status)
        job.submitted_at = _number(own.get("qdate"), job.ad, "QDate", shared.submitted_at)

    def _share(self, ad: ClassAd) -> Shared:
        owner = ad.string("Owner") or ""
        user = ad.string("User") or f"{owner}@{self.uid_domain}"
        group = ad.string("AccountingGroup")
        submitter = f"{group}@{self.uid_domain}" if group else user
        if not group and ad.boolean("NiceUser"):
            submitter = f"nice-user.{user}"
        return Shared(
            status=ad.integer("JobStatus") or 0,
            universe=ad.integer("JobUniverse") or JobUniverse.VANILLA,
            owner=owner,
            user=user,
            submitter=submitter,
            priority=_priority(ad),
            submitted_at=ad.integer("QDate") or 0,
        )


def _sort(table: dict[_Id, _Row]) -> None:
    """Put a table's rows into the order of their keys."""
    if len(table) < 2:
        return
    rows = sorted(table.items(), key=itemgetter(0))
    table.clear()
    table.update(rows)


class _Restoring:
    """The table a log is replayed into: the queue, whose indices are built at the end."""

    def __init__(self, queue: JobQueue) -> None:
        self._ads = queue._ads  # noqa: SLF001 - the other half of one thing
        self._make = queue._make
        self._forget = queue._forget  # noqa: SLF001

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        self._make(key, my_type, target_type)

    def destroy_ad(self, key: str) -> None:
        self._forget(key)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        ad = self._ads.get(key)
        if ad is None:
            # Nobody made it, or it was destroyed: the change of a job that had just left.
            return
        ad.insert_text(name, text if len(text) > _SHORT else intern(text))

    def delete_attribute(self, key: str, name: str) -> None:
        ad = self._ads.get(key)
        if ad is not None:
            take_away(ad, name)


def take_away(ad: ClassAd, name: str) -> None:
    """Remove an attribute so that a job does not have it, even where its whole cluster does.

    So do the reference's chained ads, whose logs say no more than that it was removed.
    """
    ad.discard(name)
    if name in ad:
        ad.insert_text(name, "undefined")


def _small(status: int | None) -> int:
    return status if status is not None and 0 <= status <= 10 else JobStatus.IDLE


def _number(own: object, ad: ClassAd, name: str, shared: int) -> int:
    """Return an integer attribute, without parsing what is plainly one."""
    if own is None:
        return shared
    plain = read_count(own) if isinstance(own, str) else None
    if plain is not None:
        return plain
    return ad.integer(name) or 0


def _priority(ad: ClassAd) -> Priority:
    found = (
        -(ad.integer("PreJobPrio1") or 0),
        -(ad.integer("PreJobPrio2") or 0),
        -(ad.integer("JobPrio") or 0),
        -(ad.integer("PostJobPrio1") or 0),
        -(ad.integer("PostJobPrio2") or 0),
    )
    return found if any(found) else _NO_PRIORITY
