"""QUERY_JOB_ADS: which jobs are shown to whom, in which shape, and the summary at the end.

Pure: a query ad becomes a `Query`, a query and the queue become ads. Sending them, and doing that
aside when they are many, is the shell's. Source: wire notes, QUERY_JOB_ADS (R066, R092).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd, Expr, unparse
from kettle.errors import RefusedError
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.factory import is_factory
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.selection import candidates, check_length, select_jobs
from kettle.wire.codec import split_names

# ErrorCode of the last ad.
BAD_REQUIREMENTS = 1
BAD_PROJECTION = 2

# Limit: names that a query may ask for of each job; no job has as many.
MAX_NAMES = 10_000
# A constraint as long takes much longer than to send a job that it is about.
_LONG_EXPRESSION = 2000

_COUNTED = (
    ("Idle", JobStatus.IDLE),
    ("Running", JobStatus.RUNNING),
    ("Removed", JobStatus.REMOVED),
    ("Completed", JobStatus.COMPLETED),
    ("Held", JobStatus.HELD),
    ("Suspended", JobStatus.SUSPENDED),
)

_BUSY = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


@dataclass(frozen=True, slots=True)
class Query:
    """What a client wants to see; `me` is set if only that owner's (or user's) jobs are meant."""

    constraint: Expr | None
    projection: tuple[str, ...] | None
    limit: int
    server_time: bool
    me: str
    summary_only: bool
    with_clusters: bool
    without_procs: bool
    group_by: bool
    default_autoclusters: bool
    most_ids: int
    # Whether the summary tells of the matches of whole autoclusters.
    for_analysis: bool = False


def parse(ad: ClassAd, actor: Actor, *, only_my_jobs: bool) -> Query:
    """Read a query ad; `only_my_jobs` is CONDOR_Q_ONLY_MY_JOBS. Raises RefusedError."""
    limit = ad.integer("LimitResults")
    server_time = ad.boolean("SendServerTime")
    return Query(
        constraint=_requirements(ad),
        projection=_projection(ad),
        limit=limit if limit is not None and limit >= 0 else -1,
        server_time=True if server_time is None else server_time,
        me=_me(ad, actor) if only_my_jobs else "",
        summary_only=bool(ad.boolean("SummaryOnly")),
        with_clusters=bool(ad.boolean("IncludeClusterAd")),
        without_procs=bool(ad.boolean("NoProcAds")),
        group_by=bool(ad.boolean("ProjectionIsGroupBy")),
        default_autoclusters=bool(ad.boolean("QueryDefaultAutocluster")),
        most_ids=ad.integer("MaxReturnedJobIds") or 0,
        for_analysis=bool(ad.boolean("ForAnalysis")),
    )


def _requirements(ad: ClassAd) -> Expr | None:
    text = ad.text("Requirements")
    if text is None:
        return None
    check_length(text, BAD_REQUIREMENTS)
    stripped = text.strip("() ").lower()
    if stripped == "true":
        return None
    return ad.lookup("Requirements")


def _projection(ad: ClassAd) -> tuple[str, ...] | None:
    if "Projection" not in ad:
        return None
    value = ad.evaluate("Projection")
    if isinstance(value, str):
        if not value.strip():
            return None
        # Where no word is a name nothing is shown.
        return _checked(tuple(split_names(value)))
    elif isinstance(value, list) and all(isinstance(name, str) for name in value):
        names = tuple(str(name) for name in value)
    else:
        raise RefusedError("Projection is neither a string nor a list", code=BAD_PROJECTION)
    return _checked(names) or None


def _checked(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) > MAX_NAMES:
        raise RefusedError(f"Projection has more than {MAX_NAMES} names", code=BAD_PROJECTION)
    return names


def _me(ad: ClassAd, actor: Actor) -> str:
    """Return whose jobs alone are wanted; empty for everybody's."""
    if "MyJobs" not in ad:
        return ""
    # The authenticated name counts more than the one the client states.
    named = actor.owner or ad.string("Me") or ""
    wanted = ad.evaluate("MyJobs")
    if isinstance(wanted, str):
        text = wanted.strip().lower()
        if text in {"", "false", "0"}:
            return ""
    elif not wanted or (wanted is not True and wanted != 1):
        return ""
    return "" if actor.super_user and actor.known else named


def is_mine(job: Job, me: str) -> bool:
    """Tell whether a job belongs to the owner, or with an '@' the user, named `me`."""
    return (job.user if "@" in me else job.owner) == me


def matching(queue: JobQueue, query: Query) -> Iterator[Job]:
    """Yield the jobs a query means, up to its limit."""
    return (job for job in look(queue, query) if job is not None)


def look(queue: JobQueue, query: Query) -> Iterator[Job | None]:
    """Yield the jobs a query means, up to its limit, and None for each that it does not mean."""
    left = query.limit
    constraint = query.constraint
    for job in _of_whom(queue, query):
        if left == 0:
            return
        mine = not query.me or is_mine(job, query.me)
        if mine and (constraint is None or job.ad.satisfies(constraint)):
            left -= 1
            yield job
        else:
            yield None


def extent(queue: JobQueue, query: Query) -> int:
    """Return about how many jobs an answer has to look at."""
    if query.summary_only and query.constraint is None:
        return 0
    if query.constraint is None or query.default_autoclusters:
        jobs = queue.by_user.get(query.me, {}) if "@" in query.me else queue.jobs
        return len(jobs)
    found = candidates(queue, query.constraint)
    return len(found) * (1 if len(unparse(query.constraint)) < _LONG_EXPRESSION else 100)


def count(jobs: Iterable[Job]) -> Counts:
    """Count jobs by status."""
    found = Counts()
    for job in jobs:
        found.add(job.status, job.universe)
    return found


def counted(queue: JobQueue, query: Query) -> Counts:
    """Count the jobs that a query means; all of them are counted already."""
    if query.constraint is not None or query.me or query.limit >= 0:
        return count(matching(queue, query))
    return _everybody(queue)


def _everybody(queue: JobQueue) -> Counts:
    found = Counts()
    for (_, universe), tally in queue.tallies.items():
        for status, number in enumerate(tally.by_status):
            if number:
                found.add(status, universe, number)
    return found


def clusters(queue: JobQueue, query: Query) -> Iterator[ClassAd]:
    """Yield the ads of the clusters that make their jobs later, with how many jobs they have.

    A constraint is asked of the cluster's ad, which has no ProcId.
    """
    for cluster in list(queue.clusters.values()):
        if not is_factory(cluster):
            continue
        ad = cluster.ad.copy()
        if "JobStatus" not in ad:
            # A real queue says this of every cluster whose submission is complete.
            ad["JobStatus"] = int(JobStatus.IDLE)
        counted = [job.status for job in cluster.procs.values()]
        # The ad itself tells of making only once it was stopped.
        ad["JobFactoryId"] = cluster.id
        ad["JobFactoryPaused"] = ad.integer("JobMaterializePaused") or 0
        ad["JobsPresent"] = len(counted)
        ad["JobsIdle"] = counted.count(JobStatus.IDLE)
        ad["JobsHeld"] = counted.count(JobStatus.HELD)
        ad["JobsRunning"] = sum(counted.count(status) for status in _BUSY)
        if query.me and (ad.string("User" if "@" in query.me else "Owner") != query.me):
            continue
        if query.constraint is None or ad.satisfies(query.constraint):
            yield ad


def _of_whom(queue: JobQueue, query: Query) -> list[Job]:
    """Return the jobs to look at; an answer that is sent slice by slice outlives changes."""
    if query.constraint is not None:
        return list(candidates(queue, query.constraint))
    if query.me and "@" in query.me:
        return list(queue.by_user.get(query.me, {}).values())
    return list(queue.jobs.values())


# A plain number: it is compared for every job.
_SCHEDULER = int(JobUniverse.SCHEDULER)


class Counts:
    """How many jobs of each status; those of the scheduler universe are counted apart."""

    def __init__(self) -> None:
        self.others = [0] * 11
        self.scheduler = [0] * 11

    def add(self, status: int, universe: int, count: int = 1) -> None:
        """Count jobs."""
        (self.scheduler if universe == _SCHEDULER else self.others)[status] += count

    def insert_into(self, ad: ClassAd, prefix: str) -> None:
        """Put the counts into a summary."""
        ad[f"{prefix}Jobs"] = sum(self.others)
        ad[f"{prefix}SchedulerJobs"] = sum(self.scheduler)
        for name, status in _COUNTED:
            count = self.others[status]
            if status is JobStatus.RUNNING:
                count += self.others[JobStatus.TRANSFERRING_OUTPUT]
            ad[f"{prefix}{name}"] = count
            if status is not JobStatus.SUSPENDED:
                ad[f"{prefix}Scheduler{name}"] = self.scheduler[status]


def summary(queue: JobQueue, query: Query, found: Counts, now: int) -> ClassAd:
    """Return the ad that ends an answer; its integer Owner says so."""
    ad = ClassAd({"Owner": 0, "MyType": "Summary", "ErrorCode": 0, "ServerTime": now})
    found.insert_into(ad, "")
    _everybody(queue).insert_into(ad, "Allusers")
    if query.me:
        mine = count(
            job
            for user, jobs in queue.by_user.items()
            if query.me in {user, user.partition("@")[0]}
            for job in jobs.values()
            if is_mine(job, query.me)
        )
        mine.insert_into(ad, "My")
        ad["MyName"] = query.me
    return ad


def failure(code: int, message: str, now: int) -> ClassAd:
    """Return the last ad of a query that could not be answered."""
    return ClassAd({"Owner": 0, "ErrorCode": code, "ErrorString": message, "ServerTime": now})


def aggregate(
    queue: JobQueue, query: Query, signature: Callable[[Job], tuple[int, tuple[str, ...]]]
) -> Iterator[ClassAd]:
    """Yield one ad for each group of jobs alike: by autocluster, or by the projection's values.

    `signature` gives a job's autocluster and the attributes that make it up. The constraint is
    asked of the group, and the limit is one of groups.
    """
    if query.default_autoclusters:
        found = _by_autocluster(queue, query, signature)
    else:
        found = _by_projection(queue, query)
    return islice(found, query.limit if query.limit >= 0 else None)


def _by_projection(queue: JobQueue, query: Query) -> Iterator[ClassAd]:
    names = query.projection or ()
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in select_jobs(queue, None):
        texts = (job.ad.text(name) for name in names)
        groups.setdefault(tuple("" if text is None else text for text in texts), []).append(job)
    numbers = {values: number for number, values in enumerate(groups, 1)}
    # A limit takes the first by value.
    for values, jobs in sorted(groups.items(), key=itemgetter(0)):
        ad = ClassAd()
        for name, text in zip(names, values, strict=True):
            if text:
                ad.insert_text(name, text)
        ad["Id"] = numbers[values]
        _add_jobs(ad, jobs, query)
        if query.constraint is None or ad.satisfies(query.constraint):
            yield ad


def _by_autocluster(
    queue: JobQueue, query: Query, signature: Callable[[Job], tuple[int, tuple[str, ...]]]
) -> Iterator[ClassAd]:
    groups: dict[int, list[Job]] = {}
    significant: dict[int, tuple[str, ...]] = {}
    for job in select_jobs(queue, None):
        if query.me and not is_mine(job, query.me):
            continue
        autocluster, names = signature(job)
        groups.setdefault(autocluster, []).append(job)
        significant[autocluster] = names
    for autocluster, jobs in sorted(groups.items()):
        ad = ClassAd()
        for name in significant[autocluster]:
            text = jobs[0].ad.text(name)
            if text is not None:
                ad.insert_text(name, text)
        ad["AutoClusterId"] = autocluster
        _add_jobs(ad, jobs, query)
        if query.constraint is None or ad.satisfies(query.constraint):
            yield ad


def _add_jobs(ad: ClassAd, jobs: list[Job], query: Query) -> None:
    ad["JobCount"] = len(jobs)
    if query.most_ids > 0 and jobs:
        # The last one is always there, and the first.
        between = jobs[1:-1]
        shown = between[: max(0, query.most_ids - 2)]
        ids = [str(job.id) for job in (jobs[0], *shown)]
        if len(shown) < len(between):
            ids.append("...")
        if len(jobs) > 1:
            ids.append(str(jobs[-1].id))
        ad["JobIds"] = " ".join(ids)
