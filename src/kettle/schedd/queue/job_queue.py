"""The job queue: every ad of the access point in memory, and the one door for changes to them.

A job's ad is chained to its cluster's, so common attributes exist once. Everything that changes
goes through `commit`, which writes the transaction to the journal and then applies it
(`applying.py`, to the `job_table.py`), so memory and log never differ. Who may change what is
`qmgmt_changes`' and `actions`' business; when the journal is on disk the service's.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.records import queue_log
from kettle.schedd.queue.applying import Applier, Changes
from kettle.schedd.queue.job_ids import HEADER_KEY, JobId, key_of
from kettle.schedd.queue.job_indices import JobIndices
from kettle.schedd.queue.job_table import JOB_TYPES, JobTable
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.kept_attributes import read_kept
from kettle.schedd.queue.open_transactions import OpenTransactions
from kettle.schedd.queue.transaction import Transaction

# So many names of changed attributes are no trouble, whatever the job has.
_SPARE_NAMES = 64


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


class JobQueue:
    """All clusters, jobs, user records and the header ad."""

    def __init__(self, journal: Journal, *, uid_domain: str) -> None:
        self._journal = journal
        self.uid_domain = uid_domain
        self._table = JobTable()
        # The table's own, at hand.
        self._ads = self._table.ads
        self.clusters = self._table.clusters
        self.jobs = self._table.jobs
        self.dirty = self._table.dirty
        self.unrecorded = self._table.unrecorded
        # User → where its record was found last (`user_records`).
        self.record_keys: dict[str, str] = {}
        # By what jobs are found and counted; `job_indices` alone changes these four.
        self._indices = JobIndices[Job]()
        self.by_status = self._indices.by_status
        self.by_user = self._indices.by_user
        self.tallies = self._indices.tallies
        self.user_tallies = self._indices.user_tallies
        self._applier = Applier(self._table, self._indices, uid_domain)
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
        return (key for key, types in self._table.types.items() if types[0] == my_type)

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
            self._applier.apply(transaction.changes, alike, changes)
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
        outcome = queue_log.replay(data, self._table, guards_snapshot=True)
        # The reference's log has its jobs in no order, and everybody lists them as they stand here.
        self._table.sort()
        for job in self.jobs.values():
            read_kept(job, self.clusters, self.uid_domain)
            self._indices.add(job)
        self.sequence, self.created = outcome.sequence, outcome.created
        header = self._ads.get(HEADER_KEY)
        kept = header.integer("NextClusterNum") if header is not None else None
        self._next_cluster = max(kept or 1, max(self.clusters, default=0) + 1)
        return outcome

    def first_records(self, now: int) -> str:
        """Return what a new log begins with, and apply it."""
        self.sequence, self.created = 1, now
        self._table.make(HEADER_KEY, *JOB_TYPES)
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
            my_type, target_type = self._table.types.get(key, JOB_TYPES)
            names = ad.own_names()
            yield key, my_type, target_type, ((name, ad.text(name) or "") for name in names)
