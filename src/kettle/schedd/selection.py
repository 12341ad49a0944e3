"""Which jobs a constraint means, without asking every job where that can be seen beforehand.

`ClusterId == 7` and its like are by far the most frequent constraints, so they are looked up; all
others are evaluated job by job. Source: wire reference, ACT_ON_JOBS and QUERY_JOB_ADS.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterator

from kettle.classad import ClassAd, Expr, parse_expression, unparse
from kettle.errors import ClassAdSyntaxError, RefusedError
from kettle.schedd.job_queue import Job, JobQueue

_PART = r"\(?\s*(?:MY\.)?{name}\s*==\s*(\d+)\s*\)?"
_CLUSTER = re.compile(_PART.format(name="ClusterId"), re.IGNORECASE)
_JOB = re.compile(
    rf"\(?\s*{_PART.format(name='ClusterId')}\s*&&\s*{_PART.format(name='ProcId')}\s*\)?",
    re.IGNORECASE,
)


def parse_constraint(text: str) -> Expr | None:
    """Parse a constraint; an empty one selects everything. Raises RefusedError (EINVAL)."""
    if not text.strip():
        return None
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        raise RefusedError(f"the constraint does not parse: {error}", code=errno.EINVAL) from error


def select_jobs(queue: JobQueue, constraint: Expr | None) -> Iterator[Job]:
    """Yield the jobs for which a constraint is true; None is all of them.

    The queue may change while this is iterated: what is yielded was there at the beginning.
    """
    if constraint is None:
        yield from list(queue.jobs.values())
        return
    for job in list(candidates(queue, constraint)):
        if holds(job.ad, constraint):
            yield job


def candidates(queue: JobQueue, constraint: Expr) -> Collection[Job]:
    """Return the jobs that can satisfy a constraint: never too few, often too many."""
    alternatives = unparse(constraint, old=True).split("||")
    if len(alternatives) > 1000:
        return queue.jobs.values()
    found: dict[Job, None] = {}
    for text in alternatives:
        part = text.strip()
        if match := _CLUSTER.fullmatch(part):
            cluster = queue.clusters.get(int(match[1]))
            found.update(dict.fromkeys(cluster.procs.values() if cluster else ()))
        elif match := _JOB.fullmatch(part):
            job = queue.job(int(match[1]), int(match[2]))
            if job is not None:
                found[job] = None
        else:
            return queue.jobs.values()
    return found


def holds(ad: ClassAd, constraint: Expr, target: ClassAd | None = None) -> bool:
    """Tell whether an expression is true (or a number other than zero) for an ad."""
    value = ad.evaluate_expression(constraint, target)
    return value is True or (isinstance(value, (int, float)) and value != 0)
