"""Which jobs a constraint means, without asking every job where that can be seen beforehand.

`ClusterId == 7` and its like, also with `|| DAGManJobId =?= 7` as `condor_q 7` sends it, are by far
the most frequent constraints, so they are looked up; all others are evaluated job by job. Source:
wire notes, ACT_ON_JOBS and QUERY_JOB_ADS.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator, Mapping

from kettle.classad import Expr, parse_expression
from kettle.errors import ClassAdSyntaxError, RefusedError
from kettle.records.job_clauses import read_alternatives
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Cluster, Job

# What jobs are looked up by: their ids, and the job that runs their graph.
_LOOKED_UP = frozenset(("clusterid", "procid", "dagmanjobid"))


# Limit: bytes of a constraint; to read one as long takes a fifth of a second.
MAX_CONSTRAINT = 256 * 1024


def check_length(text: str, code: int = errno.EINVAL) -> None:
    """Raise RefusedError for a constraint that takes too long to read; every reader asks first."""
    if len(text) > MAX_CONSTRAINT:
        raise RefusedError(f"the constraint is longer than {MAX_CONSTRAINT} bytes", code=code)


def parse_constraint(text: str) -> Expr | None:
    """Parse a constraint; an empty one selects everything. Raises RefusedError (EINVAL)."""
    return read_constraint(text) if text.strip() else None


def read_constraint(text: str) -> Expr:
    """Parse a constraint that says something; RefusedError (EINVAL)."""
    check_length(text)
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        raise RefusedError(f"the constraint does not parse: {error}", code=errno.EINVAL) from error


def look(queue: JobQueue, constraint: Expr | None) -> Iterator[Job | None]:
    """Yield each job for which a constraint is true, and None for each other that is looked at.

    Whoever iterates may stop anywhere in between: what one look costs is a stranger's to say. The
    queue may change meanwhile: what is yielded was there at the beginning. No constraint is true of
    all.
    """
    if constraint is None:
        yield from list(queue.jobs.values())
        return
    for job in list(candidates(queue, constraint)):
        yield job if job.ad.satisfies(constraint) else None


def select_jobs(queue: JobQueue, constraint: Expr | None) -> Iterator[Job]:
    """Yield the jobs for which a constraint is true, as `look` does, for work in one piece."""
    return (job for job in look(queue, constraint) if job is not None)


def candidates(queue: JobQueue, constraint: Expr) -> Collection[Job]:
    """Return the jobs that can satisfy a constraint: never too few, often too many."""
    alternatives = read_alternatives(constraint, _LOOKED_UP)
    if alternatives is None:
        return queue.jobs.values()
    found: dict[Job, None] = {}
    nodes: list[Job] | None = None
    for alternative in alternatives:
        equal = {clause.name: clause.value for clause in alternative if clause.operator == "=="}
        if "clusterid" in equal:
            found.update(dict.fromkeys(_named(queue, equal)))
        elif "dagmanjobid" in equal:
            if nodes is None:
                nodes = _nodes(queue)
            found.update(dict.fromkeys(nodes))
        else:
            return queue.jobs.values()
    return found


def candidate_clusters(queue: JobQueue, constraint: Expr | None) -> Collection[Cluster]:
    """Return the clusters whose own ads can satisfy a constraint: never too few, often too many."""
    alternatives = None if constraint is None else read_alternatives(constraint, _LOOKED_UP)
    meant: set[int] = set()
    for alternative in alternatives or ():
        equal = {clause.name: clause.value for clause in alternative if clause.operator == "=="}
        if "clusterid" not in equal:
            return queue.clusters.values()
        cluster = _integer(equal["clusterid"])
        meant.update(() if cluster is None else (cluster,))
    if alternatives is None:
        return queue.clusters.values()
    return [queue.clusters[number] for number in sorted(meant) if number in queue.clusters]


def _named(queue: JobQueue, equal: Mapping[str, object]) -> Collection[Job]:
    """Return the jobs of a cluster, or the one whose proc is said too."""
    cluster = _integer(equal["clusterid"])
    if cluster is None:
        return ()
    if "procid" not in equal:
        there = queue.clusters.get(cluster)
        return there.procs.values() if there is not None else ()
    proc = _integer(equal["procid"])
    job = queue.job(cluster, proc) if proc is not None else None
    return () if job is None else (job,)


def _integer(value: object) -> int | None:
    """Return a number as the id it equals, None if it equals none."""
    return int(value) if isinstance(value, (int, float)) and value == value // 1 else None


def _nodes(queue: JobQueue) -> list[Job]:
    """Return the jobs that belong to any graph, by their cluster's ad or by their own."""
    found: list[Job] = []
    for cluster in queue.clusters.values():
        if _DAG in cluster.ad.table:
            found += cluster.procs.values()
        else:
            found += [job for job in cluster.procs.values() if _DAG in job.ad.table]
    return found


_DAG = "dagmanjobid"
