"""EXPORT_JOBS, UNEXPORT_JOBS, IMPORT_EXPORTED_JOB_RESULTS: jobs that another manager runs.

Exported jobs stay in the queue, marked as managed elsewhere, and are left alone; what the other
manager works on is a queue log of its own with them in it. Its changes come back with an import.
Text and transactions only: files are `services.exports`'. Source: wire notes, EXPORT_JOBS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd, parse_expression
from kettle.classad.text import quote_line, read_count
from kettle.errors import ClassAdSyntaxError, NotFoundError, RefusedError, RemoteProtocolError
from kettle.policy.attribute_protection import (
    EXPORT_UNDER_WAY,
    Protection,
    Standing,
    standing,
)
from kettle.records import queue_log
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.attribute_rules import LONGEST_NAME, LONGEST_TEXT, check_shape
from kettle.schedd.queue.job_ids import (
    CLUSTER_PROC,
    HEADER_KEY,
    key_of,
    parse_ids,
    parse_key,
    spool_folder,
)
from kettle.schedd.queue.job_queue import EXTERNAL, Cluster, Job, JobQueue
from kettle.schedd.queue.qmgmt import (
    LARGE_TRANSACTION_BYTES,
    MOST_OPEN_BYTES,
    MOST_TRANSACTION_BYTES,
)
from kettle.schedd.queue.selection import select_jobs
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.schedd.queue.transaction import CHANGE_BYTES, Transaction

LOG_NAME = "job_queue.log"
MANAGER = "Lumberjack"
# What stands for the spool of the other manager until whoever starts it writes the true one.
NO_SPOOL = "##"
_STAYS = "LeaveJobInQueue"

# What the other manager may not change of a job whatever the lists say, in lower case.
_OURS = frozenset(
    (
        "owner",
        "user",
        "osuser",
        "clusterid",
        "procid",
        "mytype",
        "targettype",
        "iwd",
        "leavejobinqueue",
        "globaljobid",
        "managed",
        "managedmanager",
    )
)

# Limit: attributes that an import changes of one job, which is taken over in one step.
MOST_CHANGED = 5_000
# What is looked at, and what is committed, in a step.
_STEP_BYTES = 128 * 1024
_COMMIT_BYTES = 256 * 1024
# By how much an import grows before the other open transactions are looked at again.
_NOTED_BYTES = 1 << 20
_MOST_PENDING_BYTES = 256 << 20
# Of a log that anybody can have written.
_BOUNDS = queue_log.Bounds(
    line_bytes=LONGEST_TEXT + 4 * LONGEST_NAME, pending_bytes=_MOST_PENDING_BYTES
)

# Elsewhere a job may be on its way; here it waits, or it has ended.
_STATUSES = frozenset(
    str(int(status))
    for status in (JobStatus.IDLE, JobStatus.REMOVED, JobStatus.COMPLETED, JobStatus.HELD)
)


@dataclass(slots=True)
class Chosen:
    """Whole clusters that a request means, and how many jobs they have."""

    clusters: list[Cluster] = field(default_factory=list)
    jobs: int = 0
    user: str = ""


def choose(queue: JobQueue, request: ClassAd, actor: Actor, verb: str) -> Chosen:
    """Return the clusters of the jobs that a request to `verb` means, by ids or by a constraint.

    Raises RefusedError for jobs of several users or of somebody else, NotFoundError for no jobs,
    RemoteProtocolError for a request that names none.
    """
    chosen = Chosen()
    for number in dict.fromkeys(job.id.cluster for job in _meant(queue, request)):
        cluster = queue.clusters[number]
        for job in cluster.procs.values():
            if not actor.may_change(job.user):
                raise RefusedError(f"User not authorized to {verb} given jobs")
            if chosen.user and job.user != chosen.user:
                raise RefusedError(f"Cannot {verb} for more than one user")
            chosen.user = job.user
            chosen.jobs += 1
        chosen.clusters.append(cluster)
    if not chosen.clusters:
        raise NotFoundError(f"No clusters to {verb}")
    return chosen


def _meant(queue: JobQueue, request: ClassAd) -> Iterator[Job]:
    ids, constraint = request.string("ActionIds"), request.text("ActionConstraint")
    if constraint is not None:
        try:
            yield from list(select_jobs(queue, parse_expression(constraint, old=True)))
        except ClassAdSyntaxError as error:
            raise RemoteProtocolError(f"the constraint does not parse: {error}") from error
    elif ids is not None:
        for number, proc in parse_ids(ids):
            cluster = queue.clusters.get(number)
            for job in list(cluster.procs.values()) if cluster else ():
                if proc is None or job.id.proc == proc:
                    yield job
    else:
        raise RemoteProtocolError("the request names no jobs")


def check_exportable(chosen: Chosen, has_run: Callable[[Job], bool]) -> None:
    """Raise RefusedError unless every job waits here: none runs, none is exported already.

    `has_run` tells whether a run of a job is not over: one that is held, or was released again, may
    still be leaving its machine.
    """
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            if job.is_external:
                raise RefusedError(f"job {job.id} is exported already")
            if job.status not in {JobStatus.IDLE, JobStatus.HELD}:
                raise RefusedError(f"job {job.id} is neither idle nor held")
            if is_waiting_for_files(job.ad):
                raise RefusedError(f"the input of job {job.id} is still on its way")
            if has_run(job):
                raise RefusedError(f"a run of job {job.id} is not over yet")


def render_log(chosen: Chosen, next_cluster: int, now: int, spool: str = NO_SPOOL) -> str:
    """Return the queue log that the other manager starts from.

    There jobs stay in the queue when they are over, so that what became of them can come back, and
    those with a folder of their own have it below `spool`. Source: observed of a real schedd.

    Compat: in the log of the reference a cluster goes on making jobs, with the digest of the queue
    it was taken from. Ours makes them here only, where they would be made a second time
    (test_an_exported_cluster_makes_its_further_jobs_here_only).
    """

    def ads() -> Iterator[tuple[str, str, str, Iterable[tuple[str, str]]]]:
        yield HEADER_KEY, "Job", "Machine", [("NextClusterNum", str(next_cluster))]
        for cluster in chosen.clusters:
            texts = [pair for pair in _texts(cluster.ad) if not _is_of_factory(pair[0])]
            yield (
                key_of(cluster.id, CLUSTER_PROC), "Job", "Machine", [*texts, (_STAYS, "true")],
            )  # fmt: skip
            for job in cluster.procs.values():
                folder = quote_line(f"{spool}/{spool_folder(job.id)}")
                texts = [(name, folder if name == "Iwd" else text) for name, text in _texts(job.ad)]
                yield key_of(*job.id), "Job", "Machine", texts

    return "".join(queue_log.encode_snapshot(1, now, ads()))


def _texts(ad: ClassAd) -> list[tuple[str, str]]:
    names = (name for name in ad.own_names() if name.lower() != _STAYS.lower())
    return [(name, ad.text(name) or "undefined") for name in names]


def _is_of_factory(name: str) -> bool:
    return name.lower().startswith("jobmaterialize")


class NewLog(NamedTuple):
    """The log of an export: where it is to be, and by what it is known again, if it is whole."""

    path: str
    head: str
    size: int

    @classmethod
    def of(cls, path: str, data: bytes) -> NewLog:
        """Return the log with these bytes."""
        return cls(path, data.partition(b"\n")[0].decode("ascii"), len(data))

    @classmethod
    def of_note(cls, note: str) -> NewLog:
        """Return what a note says."""
        head, _, rest = note.partition("|")
        size, _, path = rest.partition("|")
        return cls(path, head, read_count(size) or 0)

    def note(self) -> str:
        """Return what the jobs' ads say of it until it is known whether it came to be."""
        return f"{self.head}|{self.size}|{self.path}"


def plan_export(queue: JobQueue, chosen: Chosen, log: NewLog) -> Transaction:
    """Mark the jobs as managed elsewhere, as far as is known once `log` is there."""
    transaction = queue.transaction()
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            key = key_of(*job.id)
            transaction.set_attribute(key, "Managed", quote_line(EXTERNAL))
            transaction.set_attribute(key, "ManagedManager", quote_line(MANAGER))
            transaction.set_attribute(key, EXPORT_UNDER_WAY, quote_line(log.note()))
    return transaction


def plan_exported(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> Transaction:
    """Note that the log came to be."""
    transaction = queue.transaction()
    for job in under_way(queue, jobs, log):
        transaction.delete_attribute(key_of(*job.id), EXPORT_UNDER_WAY)
    return transaction


def plan_not_exported(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> Transaction:
    """Take the marks of an export away whose log did not come to be."""
    transaction = queue.transaction()
    for job in under_way(queue, jobs, log):
        _take_back(transaction, job)
    return transaction


def under_way(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> list[Job]:
    """Return those of the jobs of which nobody knows whether they are exported with this log."""
    note = log.note()
    here = (job for job in jobs if job.id in queue.jobs)
    return [job for job in here if job.ad.string(EXPORT_UNDER_WAY) == note]


def find_under_way(queue: JobQueue) -> dict[tuple[str, NewLog], list[Job]]:
    """Return the exports that an earlier schedd did not end, by owner and log, with their jobs."""
    found: dict[tuple[str, NewLog], list[Job]] = {}
    for job in queue.jobs.values():
        if EXPORT_UNDER_WAY in job.ad:
            log = NewLog.of_note(job.ad.string(EXPORT_UNDER_WAY) or "")
            found.setdefault((job.owner, log), []).append(job)
    return found


def plan_unexport(queue: JobQueue, chosen: Chosen) -> Transaction:
    """Take the marks away; jobs without one are left as they are, and not counted any more.

    RefusedError for jobs whose log may still be written: nobody else could take it back then.
    """
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            if EXPORT_UNDER_WAY in job.ad:
                raise RefusedError(f"the export of job {job.id} is still under way")
    transaction = queue.transaction()
    chosen.jobs = 0
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            chosen.jobs += job.is_external
            _take_back(transaction, job)
    return transaction


def _take_back(transaction: Transaction, job: Job) -> None:
    for name in ("Managed", "ManagedManager", EXPORT_UNDER_WAY):
        if name in job.ad:
            transaction.delete_attribute(key_of(*job.id), name)


# What a user's manager says of jobs: attributes of each by its key, by name in lower case.
_Said = dict[str, dict[str, tuple[str, str]]]


class ImportedLog:
    """The queue log of the other manager while it is read: what it says of exported jobs.

    What is in it as the job here has it is not kept, so that it takes the memory of what changed.
    It counts among the open transactions of its user. Raises RefusedError for somebody else's job,
    and for more than one job, or one import, may bring.
    """

    def __init__(self, queue: JobQueue, actor: Actor) -> None:
        self._queue = queue
        self._actor = actor
        self.ads: _Said = {}
        self._sizes: Counter[str] = Counter()
        self._noted = 0
        self._is_cut_off = False
        self.user = actor.user
        self.held_bytes = 0

    def cut_off(self) -> None:
        """Give the import up with its next step."""
        self._is_cut_off = True

    def check_size(self) -> None:
        """Raise RefusedError if all that is brought is too much, alone or with others' changes."""
        if self.held_bytes > MOST_TRANSACTION_BYTES:
            raise RefusedError(f"the log brings more than {MOST_TRANSACTION_BYTES >> 20} MiB")
        if self.held_bytes > max(LARGE_TRANSACTION_BYTES, self._noted + _NOTED_BYTES):
            self._noted = self.held_bytes
            self._queue.open_transactions.note(self, MOST_OPEN_BYTES)
        if self._is_cut_off:
            raise RefusedError(
                f"all open transactions together are larger than {MOST_OPEN_BYTES >> 20} MiB"
            )

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Take an ad in; what was said of one with its key before is of another."""
        del my_type, target_type
        self.destroy_ad(key)

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.ads.pop(key, None)
        self.held_bytes -= self._sizes.pop(key, 0)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute its text."""
        job = exported_job(self._queue, key)
        if job is None:
            return
        if not self._actor.may_change(job.user):
            raise RefusedError("User not authorized to import given jobs")
        self.delete_attribute(key, name)
        if job.ad.text(name) == text:
            return
        said = self.ads.setdefault(key, {})
        said[name.lower()] = (name, text)
        self._count(key, name, text, 1)
        if len(said) > MOST_CHANGED or self._sizes[key] > LARGE_TRANSACTION_BYTES:
            raise RefusedError(
                f"the log changes more than {MOST_CHANGED} attributes of job {key}, or more than "
                f"{LARGE_TRANSACTION_BYTES >> 20} MiB of it"
            )

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute."""
        said = self.ads.get(key)
        before = said.pop(name.lower(), None) if said else None
        if before is not None:
            self._count(key, *before, -1)

    def _count(self, key: str, name: str, text: str, sign: int) -> None:
        size = sign * (len(name) + len(text) + CHANGE_BYTES)
        self._sizes[key] += size
        self.held_bytes += size


# What may come back of each job, by its key.
Brought = dict[str, dict[str, str]]


def read_log(
    queue: JobQueue, pieces: Iterable[bytes], actor: Actor, lists: Protection
) -> Generator[None, None, Brought]:
    """Return what the log of the other manager says of exported jobs; a piece of it at each step.

    The log is a file that its user can write: what the user may not change of a queued job
    (`lists`), or what is no expression, is passed over. StorageError if it is no queue log,
    RefusedError as `ImportedLog` has it.
    """
    log = ImportedLog(queue, actor)
    for _ in queue_log.replay_by_steps(pieces, log, _BOUNDS):
        log.check_size()
        yield
    brought: Brought = {}
    looked_at = 0
    for key, attributes in log.ads.items():
        texts = brought[key] = {}
        for name, text in attributes.values():
            if _may_come_back(name, text, lists):
                texts[name] = text
            looked_at += len(text) + CHANGE_BYTES
            if looked_at >= _STEP_BYTES:
                looked_at = 0
                log.check_size()
                yield
    return brought


def job_of(queue: JobQueue, key: str) -> Job | None:
    """Return the job that has a key, None if none has."""
    number = parse_key(key)
    return queue.job(*number) if number is not None and number[1] >= 0 else None


def exported_job(queue: JobQueue, key: str) -> Job | None:
    """Return the exported job that has a key and may come back, None if none does.

    One that was held or removed here stays so, whatever the other manager made of it, until its
    mark is taken away. Source: observed of a real schedd.
    """
    job = job_of(queue, key)
    if job is None or not job.is_external or job.status in {JobStatus.HELD, JobStatus.REMOVED}:
        return None
    return job


def plan_import(queue: JobQueue, brought: Brought) -> Iterator[tuple[Transaction, int]]:
    """Yield transactions that take over what the other manager changed, and of how many jobs.

    Each is to be committed before the next is asked for. A job that the other manager did not touch
    stays exported.

    Compat: the reference takes all over together. Ours leaves others their turn in between; where
    the disk is full midway, the rest is still exported, and another import takes it
    (test_an_import_is_taken_over_in_pieces).
    """
    transaction, count = queue.transaction(), 0
    for key, texts in brought.items():
        job = exported_job(queue, key)
        if job is None:
            continue
        changed = {name: text for name, text in texts.items() if job.ad.text(name) != text}
        if changed:
            transaction.update(key, changed)
            _take_back(transaction, job)
            count += 1
        if transaction.size >= _COMMIT_BYTES:
            yield transaction, count
            transaction, count = queue.transaction(), 0
    if count:
        yield transaction, count


def _may_come_back(name: str, text: str, lists: Protection) -> bool:
    lower = name.lower()
    if lower == "jobstatus":
        return text in _STATUSES
    if lower in _OURS or standing(name, lists) is not Standing.FREE:
        return False
    try:
        check_shape(name, text)
    except RefusedError:
        return False
    return True
