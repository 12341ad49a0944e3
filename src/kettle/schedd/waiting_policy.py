"""What happens to jobs that do not run because time has passed: their periodic policy.

What the expressions mean is `policy.job_policy`'s; jobs that run are their shadows'. Source: R080.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kettle.policy.job_policy import SystemPolicy, Verdict, decide_periodic
from kettle.schedd.departures import Departures
from kettle.schedd.job_machine import FINISHED, WAITING
from kettle.schedd.job_orders import JobOrders
from kettle.schedd.outside import Outside
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.spooling import is_waiting_for_files


class WaitingPolicy:
    """The policy of jobs that wait, are held or are over; `system` is the pool's own."""

    def __init__(
        self,
        queue: JobQueue,
        orders: JobOrders,
        departures: Departures,
        outside: Outside,
        now: Callable[[], int],
        system: SystemPolicy,
    ) -> None:
        self._queue = queue
        self._orders = orders
        self._departures = departures
        self._outside = outside
        self._now = now
        self.system = system

    def see_out(self, jobs: Iterable[Job]) -> None:
        """Let those of the jobs leave that are finished: some had to wait for the history."""
        for job in jobs:
            finished = job.status in FINISHED and job.id in self._queue.jobs
            if finished and not self._orders.has_run(job):
                self._departures.let_go(job)

    def apply(self, jobs: Iterable[Job]) -> None:
        """Do what periodic expressions want of those of the jobs that wait, or are held.

        Those of another manager are left alone, and so are those whose input is on its way.
        """
        now = self._now()
        for job in jobs:
            if job.status not in WAITING or job.id not in self._queue.jobs:
                continue
            if job.is_external or is_waiting_for_files(job.ad):
                continue
            decision = decide_periodic(job.ad, float(now), self.system)
            if decision.verdict is Verdict.HOLD:
                self._orders.hold(job, decision.reason, decision.code, decision.subcode)
            elif decision.verdict is Verdict.RELEASE:
                self._orders.release(job, decision.reason)
                self._outside.want_matches()
            elif decision.verdict is Verdict.REMOVE:
                self._orders.remove(job, decision.reason)
