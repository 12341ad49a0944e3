"""Why no job of a batch that somebody waits for has begun, asked of the pool itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.client.jobs import query_jobs
from kettle.errors import KettleError
from kettle.tools.front import why
from kettle.tools.reach import Reach


class Waiting:
    """Tells of a batch, none of whose jobs has begun, what keeps its first idle or held job.

    `reach` connects to the pool, when it is first needed; `where` are the options that name it.
    """

    def __init__(self, reach: Callable[[], Reach], cluster: Callable[[], int], where: str) -> None:
        self._connect = reach
        self._cluster = cluster
        self._where = where

    @cached_property
    def _reach(self) -> Reach:
        return self._connect()

    def tell(self, *, late: bool) -> str:
        """Return a sentence, or nothing as long as there is nothing sure to say.

        Sure is a job that the negotiator has refused and no slot could ever take; when it is
        `late`, whatever keeps it is said, and where none is idle, why one is held.
        """
        ask = f"kettle why{self._where} {self._cluster()}.0"
        try:
            job = self._first(JobStatus.IDLE)
            if job is None and late:
                job = self._first(JobStatus.HELD)
            if job is None or not (late or why.rejection_of(job)):
                return ""
            judgement = why.judge(self._reach, job)
        except KettleError:
            # Whether the pool is still there is asked elsewhere.
            return f"no job has begun yet; {ask} says why" if late else ""
        if not (late or judgement.is_hopeless):
            return ""
        name = why.name_of(job)
        return (
            f"No job has begun yet. Job {name}: {judgement.verdict} (Ctrl-C removes the jobs; "
            f"kettle why{self._where} {name} shows more.)"
        )

    def _first(self, status: JobStatus) -> ClassAd | None:
        """Return the first job of the batch that is in this state."""
        constraint = f"ClusterId == {self._cluster()} && JobStatus == {int(status)}"
        address = self._reach.schedd().address
        found = query_jobs(self._reach.connector, address, constraint=constraint, limit=1)
        return next(iter(found), None)
