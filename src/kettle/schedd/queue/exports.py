"""EXPORT_JOBS, UNEXPORT_JOBS, IMPORT_EXPORTED_JOB_RESULTS: jobs that another manager runs.

Exported jobs stay in the queue, marked as managed elsewhere, and are left alone; what the other
manager works on is a queue log of its own with them in it. Its changes come back with an import.
Text and transactions only: files are `services.exports`'. Source: wire notes, EXPORT_JOBS.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.classad.text import quote_line, read_count
from kettle.errors import NotFoundError, RefusedError, RemoteProtocolError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern
from kettle.policy.attribute_protection import (
    EXPORT_UNDER_WAY,
)
from kettle.records import queue_log
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import (
    CLUSTER_PROC,
    HEADER_KEY,
    key_of,
    parse_ids,
    parse_key,
    spool_folder,
)
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import EXTERNAL, Cluster, Job
from kettle.schedd.queue.selection import look, read_constraint
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.schedd.queue.transaction import Transaction

LOG_NAME = "job_queue.log"
# Where logs are gathered, `NewLog.aside`; without a number as an earlier version had it.
_GATHERED = late_pattern(r"job_queue\.log\.(\d{1,18})(?:\.(\d{1,18}))?\.new")
MANAGER = "Lumberjack"
# What stands for the spool of the other manager until whoever starts it writes the true one.
NO_SPOOL = "##"
_STAYS = "LeaveJobInQueue"

# Numbers of logs that replaced each other: as many a series has, and no other schedd's has them.
SERIES = 1 << 20
# What of a job's ad the other manager is not given, in lower case.
_NOT_GIVEN = frozenset(
    name.lower() for name in (_STAYS, "Managed", "ManagedManager", EXPORT_UNDER_WAY)
)

# Jobs that are looked at, or marked, in a step.
_JOBS_A_STEP = 100


@dataclass(slots=True)
class Chosen:
    """Whole clusters that a request means, and how many jobs they have."""

    clusters: list[Cluster] = field(default_factory=list)
    jobs: int = 0
    user: str = ""


def choose(
    queue: JobQueue, request: ClassAd, actor: Actor, verb: str
) -> Generator[None, None, Chosen]:
    """Return, by steps, the clusters of the jobs that a request to `verb` means.

    It names them by ids or by a constraint. Raises RefusedError for jobs of several users or of
    somebody else, NotFoundError for no jobs, RemoteProtocolError for a request that names none.
    """
    numbers: dict[int, None] = {}
    for job in _meant(queue, request):
        if job is not None:
            numbers[job.id.cluster] = None
        yield
    chosen = Chosen([queue.clusters[number] for number in numbers if number in queue.clusters])
    for slice_ in _slices(chosen):
        for job in slice_:
            if not actor.may_change(job.user):
                raise RefusedError(f"User not authorized to {verb} given jobs")
            if chosen.user and job.user != chosen.user:
                raise RefusedError(f"Cannot {verb} for more than one user")
            chosen.user = job.user
            chosen.jobs += 1
        yield
    if not chosen.jobs:
        raise NotFoundError(f"No clusters to {verb}")
    return chosen


def _slices(chosen: Chosen) -> Iterator[list[Job]]:
    """Yield the jobs of the clusters, as many at a time as a step takes."""
    jobs = (job for cluster in chosen.clusters for job in list(cluster.procs.values()))
    while slice_ := list(islice(jobs, _JOBS_A_STEP)):
        yield slice_


def _meant(queue: JobQueue, request: ClassAd) -> Iterator[Job | None]:
    ids, constraint = request.string("ActionIds"), request.text("ActionConstraint")
    if constraint is not None:
        try:
            meant = read_constraint(constraint)
        except RefusedError as refusal:
            raise RemoteProtocolError(refusal.message) from refusal
        yield from look(queue, meant)
    elif ids is not None:
        for number, proc in parse_ids(ids):
            cluster = queue.clusters.get(number)
            for job in list(cluster.procs.values()) if cluster else ():
                if proc is None or job.id.proc == proc:
                    yield job
    else:
        raise RemoteProtocolError("the request names no jobs")


def check_exportable(chosen: Chosen, has_run: Callable[[Job], bool]) -> Generator[None, None, None]:
    """Raise RefusedError, by steps, unless every job waits here: none runs, none is exported.

    `has_run` tells whether a run of a job is not over: one that is held, or was released again, may
    still be leaving its machine.
    """
    for slice_ in _slices(chosen):
        for job in slice_:
            _check_waits(job, has_run)
        yield


def _check_waits(job: Job, has_run: Callable[[Job], bool]) -> None:
    if job.is_external:
        raise RefusedError(f"job {job.id} is exported already")
    if job.status not in {JobStatus.IDLE, JobStatus.HELD}:
        raise RefusedError(f"job {job.id} is neither idle nor held")
    if is_waiting_for_files(job.ad):
        raise RefusedError(f"the input of job {job.id} is still on its way")
    if has_run(job):
        raise RefusedError(f"a run of job {job.id} is not over yet")


def render_log(
    queue: JobQueue, chosen: Chosen, log: NewLog, spool: str = NO_SPOOL
) -> Iterator[str]:
    """Yield the queue log that the other manager starts from, of the jobs marked for it.

    There jobs stay in the queue when they are over, so that what became of them can come back, and
    those with a folder of their own have it below `spool`. Source: observed of a real schedd.

    Compat: in the log of the reference a cluster goes on making jobs, with the digest of the queue
    it was taken from. Ours makes them here only, where they would be made a second time
    (test_an_exported_cluster_makes_its_further_jobs_here_only).
    """

    def ads() -> Iterator[tuple[str, str, str, Iterable[tuple[str, str]]]]:
        yield HEADER_KEY, "Job", "Machine", [("NextClusterNum", str(queue.next_cluster))]
        for cluster in chosen.clusters:
            texts = [pair for pair in _texts(cluster.ad) if not _is_of_factory(pair[0])]
            yield (
                key_of(cluster.id, CLUSTER_PROC), "Job", "Machine", [*texts, (_STAYS, "true")],
            )  # fmt: skip
            for job in under_way(queue, cluster.procs.values(), log):
                folder = quote_line(f"{spool}/{spool_folder(job.id)}")
                texts = [(name, folder if name == "Iwd" else text) for name, text in _texts(job.ad)]
                yield key_of(*job.id), "Job", "Machine", texts

    return queue_log.encode_snapshot(log.number, log.born, ads())


def _texts(ad: ClassAd) -> list[tuple[str, str]]:
    names = (name for name in ad.own_names() if name.lower() not in _NOT_GIVEN)
    return [(name, ad.text(name) or "undefined") for name in names]


def _is_of_factory(name: str) -> bool:
    return name.lower().startswith("jobmaterialize")


class NewLog(NamedTuple):
    """The log of an export: where it is to be, and by what it is known again.

    No two of one schedd are born together, and each schedd begins with another number.

    Compat: the first number of the reference's is 1, of all of them
    (test_of_two_schedds_exports_in_one_second_none_is_taken_for_the_other).
    """

    path: str
    born: int
    number: int = 1

    @property
    def head(self) -> str:
        """Its first line."""
        return queue_log.encode_sequence(self.number, self.born).rstrip("\n")

    @property
    def aside(self) -> str:
        """Where it is gathered: no user would give a file of his that name."""
        return f"{self.path}.{self.born}.{self.number}.new"

    @classmethod
    def gathered(cls, name: str) -> NewLog | None:
        """Return the log that is gathered in a file of this name, None if none is."""
        found = _GATHERED.fullmatch(name)
        return cls(LOG_NAME, int(found[1]), int(found[2] or 1)) if found is not None else None

    @classmethod
    def of_note(cls, note: str) -> NewLog:
        """Return what a note says."""
        birth, _, path = note.partition("|")
        born, _, number = birth.partition(".")
        return cls(path, read_count(born) or 0, read_count(number) or 1)

    def note(self) -> str:
        """Return what the jobs' ads say of it until it is known whether it came to be."""
        return f"{self.born}.{self.number}|{self.path}"


def mark(
    queue: JobQueue, chosen: Chosen, log: NewLog, has_run: Callable[[Job], bool]
) -> Generator[Transaction, None, None]:
    """Yield transactions that mark the jobs as managed elsewhere, as far as is known once `log` is.

    Each is to be committed before the next is asked for. Jobs that come into the clusters meanwhile
    stay here, and those that are gone are not given away. RefusedError as `check_exportable`: what
    was marked has to be taken back then.
    """
    note = quote_line(log.note())
    chosen.jobs = 0
    for slice_ in _slices(chosen):
        transaction = queue.transaction()
        for job in slice_:
            if queue.jobs.get(job.id) is not job:
                continue
            _check_waits(job, has_run)
            key = key_of(*job.id)
            transaction.set_attribute(key, "Managed", quote_line(EXTERNAL))
            transaction.set_attribute(key, "ManagedManager", quote_line(MANAGER))
            transaction.set_attribute(key, EXPORT_UNDER_WAY, note)
            chosen.jobs += 1
        yield transaction
    chosen.clusters = [one for one in chosen.clusters if queue.clusters.get(one.id) is one]
    if not chosen.jobs:
        raise NotFoundError("No clusters to export")


def plan_exported(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> Iterator[Transaction]:
    """Note, in steps as `mark` does, that the log came to be."""
    rest = iter(jobs)
    while slice_ := list(islice(rest, _JOBS_A_STEP)):
        transaction = queue.transaction()
        for job in under_way(queue, slice_, log):
            transaction.delete_attribute(key_of(*job.id), EXPORT_UNDER_WAY)
        yield transaction


def plan_not_exported(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> Iterator[Transaction]:
    """Take the marks of an export away, in steps, whose log did not come to be."""
    rest = iter(jobs)
    while slice_ := list(islice(rest, _JOBS_A_STEP)):
        transaction = queue.transaction()
        for job in under_way(queue, slice_, log):
            take_back(transaction, job)
        yield transaction


def under_way(queue: JobQueue, jobs: Iterable[Job], log: NewLog) -> list[Job]:
    """Return those of the jobs of which nobody knows whether they are exported with this log."""
    note = log.note()
    here = (job for job in jobs if job.id in queue.jobs)
    return [job for job in here if job.ad.string(EXPORT_UNDER_WAY) == note]


def find_under_way(queue: JobQueue) -> dict[tuple[str, NewLog], list[Job]]:
    """Return the exports that an earlier schedd did not end, by user and log, with their jobs."""
    found: dict[tuple[str, NewLog], list[Job]] = {}
    for job in queue.jobs.values():
        if EXPORT_UNDER_WAY in job.ad:
            log = NewLog.of_note(job.ad.string(EXPORT_UNDER_WAY) or "")
            found.setdefault((job.user, log), []).append(job)
    return found


def unmark(queue: JobQueue, chosen: Chosen) -> Generator[Transaction, None, None]:
    """Yield transactions that take the marks away; each is to be committed before the next.

    Jobs without a mark are left as they are, and not counted any more; some may be gone meanwhile.
    RefusedError, before the
    first, for jobs whose log may still be written: nobody else could take it back then.
    """
    for slice_ in _slices(chosen):
        for job in slice_:
            _check_settled(job)
        yield queue.transaction()
    chosen.jobs = 0
    for slice_ in _slices(chosen):
        transaction = queue.transaction()
        for job in slice_:
            if queue.jobs.get(job.id) is not job:
                continue
            _check_settled(job)
            chosen.jobs += job.is_external
            take_back(transaction, job)
        yield transaction


def _check_settled(job: Job) -> None:
    if EXPORT_UNDER_WAY in job.ad:
        raise RefusedError(f"the export of job {job.id} is still under way")


def take_back(transaction: Transaction, job: Job) -> None:
    """Take the marks of a job away that another manager had, or was to have."""
    for name in ("Managed", "ManagedManager", EXPORT_UNDER_WAY):
        if name in job.ad:
            transaction.delete_attribute(key_of(*job.id), name)


def job_of(queue: JobQueue, key: str) -> Job | None:
    """Return the job that has a key, None if none has."""
    number = parse_key(key)
    return queue.job(*number) if number is not None and number[1] >= 0 else None
