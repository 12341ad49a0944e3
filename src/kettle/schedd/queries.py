"""QUERY_JOB_ADS: which jobs are shown to whom, in which shape, and the summary at the end.

Pure: a query ad becomes a `Query`, a query and the queue become ads. Sending them, and doing that
aside when they are many, is the shell's. Source: wire reference, QUERY_JOB_ADS (R066, R092).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd, Expr
from kettle.errors import RefusedError
from kettle.schedd.actors import Actor
from kettle.schedd.factory import is_factory
from kettle.schedd.job_queue import Job, JobQueue
from kettle.schedd.selection import holds, select_jobs
from kettle.wire.codec import expand_projection, is_private_attribute, split_names

# ErrorCode of the last ad.
BAD_REQUIREMENTS = 1
BAD_PROJECTION = 2

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
    )


def _requirements(ad: ClassAd) -> Expr | None:
    text = ad.text("Requirements")
    if text is None:
        return None
    expression = ad.lookup("Requirements")
    assert expression is not None
    stripped = text.strip("() ").lower()
    if stripped == "true":
        return None
    if stripped == "error":
        raise RefusedError("the constraint does not parse", code=BAD_REQUIREMENTS)
    return expression


def _projection(ad: ClassAd) -> tuple[str, ...] | None:
    if "Projection" not in ad:
        return None
    value = ad.evaluate("Projection")
    if isinstance(value, str):
        names = tuple(split_names(value))
    elif isinstance(value, list) and all(isinstance(name, str) for name in value):
        names = tuple(str(name) for name in value)
    else:
        raise RefusedError("Projection is neither a string nor a list", code=BAD_PROJECTION)
    return names or None


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
    left = query.limit
    for job in _of_whom(queue, query):
        if left == 0:
            return
        if query.me and not is_mine(job, query.me):
            continue
        left -= 1
        yield job


def clusters(queue: JobQueue, query: Query) -> Iterator[ClassAd]:
    """Yield the ads of the clusters that make their jobs later, with how many jobs they have.

    A constraint is asked of the cluster's ad, which has no ProcId.
    """
    for cluster in queue.clusters.values():
        if not is_factory(cluster):
            continue
        ad = cluster.ad.copy()
        counted = [job.status for job in cluster.procs.values()]
        ad["JobsPresent"] = len(counted)
        ad["JobsIdle"] = counted.count(JobStatus.IDLE)
        ad["JobsHeld"] = counted.count(JobStatus.HELD)
        ad["JobsRunning"] = sum(counted.count(status) for status in _BUSY)
        if query.me and (ad.string("User" if "@" in query.me else "Owner") != query.me):
            continue
        if query.constraint is None or holds(ad, query.constraint):
            yield ad


def _of_whom(queue: JobQueue, query: Query) -> Iterator[Job]:
    if query.me and query.constraint is None and "@" in query.me:
        yield from queue.by_user.get(query.me, {}).values()
    else:
        yield from select_jobs(queue, query.constraint)


class Counts:
    """How many jobs of each status, all together and in the scheduler universe."""

    def __init__(self) -> None:
        self.all = [0] * 11
        self.scheduler = [0] * 11

    def add(self, status: int, universe: int, count: int = 1) -> None:
        """Count jobs."""
        self.all[status] += count
        if universe == JobUniverse.SCHEDULER:
            self.scheduler[status] += count

    def insert_into(self, ad: ClassAd, prefix: str) -> None:
        """Put the counts into a summary."""
        ad[f"{prefix}Jobs"] = sum(self.all)
        ad[f"{prefix}SchedulerJobs"] = sum(self.scheduler)
        for name, status in _COUNTED:
            count = self.all[status]
            if status is JobStatus.RUNNING:
                count += self.all[JobStatus.TRANSFERRING_OUTPUT]
            ad[f"{prefix}{name}"] = count
            if status is not JobStatus.SUSPENDED:
                ad[f"{prefix}Scheduler{name}"] = self.scheduler[status]


def summary(queue: JobQueue, query: Query, found: Counts, now: int) -> ClassAd:
    """Return the ad that ends an answer; its integer Owner says so."""
    ad = ClassAd({"Owner": 0, "MyType": "Summary", "ErrorCode": 0, "ServerTime": now})
    found.insert_into(ad, "")
    everybody = Counts()
    mine = Counts()
    for (_, universe), tally in queue.tallies.items():
        for status, count in enumerate(tally.by_status):
            if count:
                everybody.add(status, universe, count)
    everybody.insert_into(ad, "Allusers")
    if query.me:
        for user, jobs in queue.by_user.items():
            if user == query.me or user.partition("@")[0] == query.me:
                for job in jobs.values():
                    if is_mine(job, query.me):
                        mine.add(job.status, job.universe)
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

    `signature` gives a job's autocluster and the attributes that make it up.
    """
    if query.default_autoclusters:
        yield from _by_autocluster(queue, query, signature)
        return
    names = query.projection or ()
    groups: dict[tuple[str | None, ...], list[Job]] = {}
    for job in matching(queue, query):
        groups.setdefault(tuple(job.ad.text(name) for name in names), []).append(job)
    for number, (values, jobs) in enumerate(groups.items(), 1):
        ad = ClassAd()
        for name, text in zip(names, values, strict=True):
            if text is not None:
                ad.insert_text(name, text)
        ad["Id"] = number
        _add_jobs(ad, jobs, query)
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
        # Only idle jobs count: the question is what is still wanted of the pool.
        _add_jobs(ad, [job for job in jobs if job.status == JobStatus.IDLE], query)
        if query.constraint is None or holds(ad, query.constraint):
            yield ad


def _add_jobs(ad: ClassAd, jobs: list[Job], query: Query) -> None:
    ad["JobCount"] = len(jobs)
    if query.most_ids > 0 and jobs:
        ids = [str(job.id) for job in jobs[: query.most_ids]]
        if len(jobs) > query.most_ids:
            ids.append("...")
        ad["JobIds"] = " ".join(ids)


_PLAIN = re.compile(r'-?\d+(?:\.\d+)?|"[^"\\]*"|true|false|undefined|TRUE|FALSE|True|False')


class AdLines:
    """Job ads as encoded lines for one answer; what a cluster's jobs share is encoded once.

    `projection` None shows everything but secrets. A wanted attribute that is computed brings
    along what it is computed from, as the reference's answers do.
    """

    def __init__(self, projection: tuple[str, ...] | None, server_time: int | None) -> None:
        self._projection = projection
        self._wanted = None if projection is None else frozenset(map(str.lower, projection))
        self._end = [] if server_time is None else [b"ServerTime = %d" % server_time]
        self._shared: dict[int, list[tuple[str, bytes]]] = {}
        # Texts that refer to other attributes, each looked at once, with what they need.
        self._plain: set[str] = set()

    def of(self, job: Job) -> list[bytes]:
        """Return the lines of one job's ad."""
        number = job.id.cluster
        shared = self._shared.get(number)
        parent = job.ad.parent
        if shared is None:
            shared = self._shared[number] = [] if parent is None else self._encode(parent)
        wanted = self._wanted
        if wanted is not None and self._needs_more(job.ad, wanted):
            return self._expanded(job)
        own = job.ad.table
        lines = [line for _, line in self._encode(job.ad)]
        lines += [line for key, line in shared if key not in own]
        return lines + self._end

    def _encode(self, ad: ClassAd) -> list[tuple[str, bytes]]:
        """Return key and line of an ad's own attributes that are shown."""
        wanted = self._wanted
        lines = []
        for key, name in zip(ad.table, ad.own_names(), strict=True):
            if (wanted is None or key in wanted) and not is_private_attribute(name):
                line = f"{name} = {ad.text(name)}"
                lines.append((key, line.encode("utf-8", "surrogateescape")))
        return lines

    def _needs_more(self, ad: ClassAd, wanted: frozenset[str]) -> bool:
        """Tell whether a wanted attribute is computed from others that are not wanted."""
        for name in wanted:
            text = ad.text(name)
            if text is None or text in self._plain:
                continue
            if not _PLAIN.fullmatch(text):
                return True
            if len(self._plain) < _MOST_PLAIN:
                self._plain.add(text)
        return False

    def _expanded(self, job: Job) -> list[bytes]:
        assert self._projection is not None
        names = {name.lower(): name for name in expand_projection(job.ad, self._projection)}
        lines = [
            f"{name} = {job.ad.text(name)}".encode("utf-8", "surrogateescape")
            for name in job.ad
            if name.lower() in names and not is_private_attribute(name)
        ]
        return lines + self._end


# Limit: texts remembered as plain values within one answer.
_MOST_PLAIN = 10_000
