"""Leaving the line of a job's step in a daemon's log, where the log has the category D_JOB.

What the line says is `kettle.records.job_trace`'s. Nothing is formatted where nobody wants it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.records import job_trace

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.records.job_trace import Step
    from kettle.runtime.logs import Log


def trace(log: Log, job: ClassAd, step: Step, detail: str = "", *, coming: bool = False) -> None:
    """Say that a job has come to a step; `coming` is a run that is only prepared."""
    if log.enabled(job_trace.CATEGORY):
        log.write(job_trace.CATEGORY, job_trace.line(job, step, detail, coming=coming))


class RunTrace:
    """Leaves the lines of one run of a job, whose names are looked up once."""

    def __init__(self, log: Log, job: ClassAd) -> None:
        self._log = log
        self._job = job
        self._name = ""

    def __call__(self, step: Step, detail: str = "") -> None:
        """Say that the run has come to a step."""
        if self._log.enabled(job_trace.CATEGORY):
            self._name = self._name or job_trace.name_of(self._job)
            self._log.write(job_trace.CATEGORY, job_trace.render(self._name, step, detail))
