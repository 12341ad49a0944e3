"""EXPORT_JOBS, UNEXPORT_JOBS, IMPORT_EXPORTED_JOB_RESULTS: jobs that another manager runs.

Exported jobs stay in the queue, marked as managed elsewhere, and are left alone; what the other
manager works on is a queue log of its own with them in it. Its changes come back with an import.
Text and transactions only: files are `services.exports`'. Source: wire notes, EXPORT_JOBS.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd, parse_expression
from kettle.classad.text import quote_line
from kettle.errors import ClassAdSyntaxError, NotFoundError, RefusedError, RemoteProtocolError
from kettle.policy.attribute_protection import Protection, Standing, standing
from kettle.records import queue_log
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.attribute_rules import check_shape
from kettle.schedd.queue.job_ids import CLUSTER_PROC, HEADER_KEY, key_of, parse_ids, parse_key
from kettle.schedd.queue.job_queue import Cluster, Job, JobQueue
from kettle.schedd.queue.selection import select_jobs
from kettle.schedd.queue.transaction import Transaction

LOG_NAME = "job_queue.log"
EXTERNAL = "External"
MANAGER = "Lumberjack"

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
        "globaljobid",
        "managed",
        "managedmanager",
    )
)

# How many attributes are looked at in a step.
_AT_A_STEP = 500

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


def is_external(ad: ClassAd) -> bool:
    """Tell whether another manager runs a job."""
    return "Managed" in ad and ad.string("Managed") == EXTERNAL


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


def check_exportable(chosen: Chosen) -> None:
    """Raise RefusedError unless every job waits here: none runs, none is exported already."""
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            if is_external(job.ad):
                raise RefusedError(f"job {job.id} is exported already")
            if job.status not in {JobStatus.IDLE, JobStatus.HELD}:
                raise RefusedError(f"job {job.id} is neither idle nor held")


def render_log(chosen: Chosen, next_cluster: int, now: int) -> str:
    """Return the queue log that the other manager starts from."""

    def ads() -> Iterator[tuple[str, str, str, Iterable[tuple[str, str]]]]:
        yield HEADER_KEY, "Job", "Machine", [("NextClusterNum", str(next_cluster))]
        for cluster in chosen.clusters:
            yield key_of(cluster.id, CLUSTER_PROC), "Job", "Machine", _texts(cluster.ad)
            for job in cluster.procs.values():
                yield key_of(*job.id), "Job", "Machine", _texts(job.ad)

    return "".join(queue_log.encode_snapshot(1, now, ads()))


def _texts(ad: ClassAd) -> list[tuple[str, str]]:
    return [(name, ad.text(name) or "undefined") for name in ad.own_names()]


def plan_export(queue: JobQueue, chosen: Chosen) -> Transaction:
    """Mark the jobs as managed elsewhere."""
    transaction = queue.transaction()
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            transaction.set_attribute(key_of(*job.id), "Managed", quote_line(EXTERNAL))
            transaction.set_attribute(key_of(*job.id), "ManagedManager", quote_line(MANAGER))
    return transaction


def plan_unexport(queue: JobQueue, chosen: Chosen) -> Transaction:
    """Take the marks away; jobs without one are left as they are, and not counted any more."""
    transaction = queue.transaction()
    chosen.jobs = 0
    for cluster in chosen.clusters:
        for job in cluster.procs.values():
            chosen.jobs += is_external(job.ad)
            _take_back(transaction, job)
    return transaction


def _take_back(transaction: Transaction, job: Job) -> None:
    for name in ("Managed", "ManagedManager"):
        if name in job.ad:
            transaction.delete_attribute(key_of(*job.id), name)


class ExportedLog:
    """A queue log of the other manager, read: attributes by key, of the ads that are asked for."""

    def __init__(self, wants: Callable[[str], bool]) -> None:
        self.ads: dict[str, dict[str, tuple[str, str]]] = {}
        self._wants = wants

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Take an ad in."""
        del my_type, target_type
        if self._wants(key):
            self.ads[key] = {}

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.ads.pop(key, None)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute its text."""
        if key in self.ads or self._wants(key):
            self.ads.setdefault(key, {})[name.lower()] = (name, text)

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute."""
        self.ads.get(key, {}).pop(name.lower(), None)


# What an other manager says of jobs: the attributes that may come back of each, by its key.
Brought = dict[str, dict[str, str]]


def read_log(
    queue: JobQueue, pieces: Iterable[bytes], lists: Protection
) -> Generator[None, None, Brought]:
    """Return what the log of the other manager says of exported jobs; a piece of it at each step.

    The log is a file that its user can write: what the user may not change of a queued job
    (`lists`), or what is no expression, is passed over. StorageError if it is no queue log.
    """
    log = ExportedLog(lambda key: _exported(queue, key) is not None)
    yield from queue_log.replay_by_steps(pieces, log)
    brought: Brought = {}
    checked = 0
    for key, attributes in log.ads.items():
        job = _exported(queue, key)
        if job is None:
            continue
        texts = brought[key] = {}
        for name, text in attributes.values():
            # What came back as it was is nothing to look at.
            if job.ad.text(name) != text and _may_come_back(name, text, lists):
                texts[name] = text
            checked += 1
            if checked % _AT_A_STEP == 0:
                yield
    return brought


def _exported(queue: JobQueue, key: str) -> Job | None:
    number = parse_key(key)
    job = queue.job(*number) if number is not None and number[1] >= 0 else None
    return job if job is not None and is_external(job.ad) else None


def plan_import(queue: JobQueue, brought: Brought, actor: Actor) -> tuple[Transaction, int]:
    """Take over what the other manager changed; returns how many jobs came back.

    A job that it did not touch stays exported. Raises RefusedError for jobs of somebody else.
    """
    transaction = queue.transaction()
    count = 0
    for key, texts in brought.items():
        job = _exported(queue, key)
        if job is None:
            continue
        if not actor.may_change(job.user):
            raise RefusedError("User not authorized to import given jobs")
        changed = {name: text for name, text in texts.items() if job.ad.text(name) != text}
        if changed:
            transaction.update(key, changed)
            _take_back(transaction, job)
            count += 1
    return transaction, count


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
