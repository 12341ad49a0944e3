"""What a schedd takes up that the last one left: runs, and jobs on their way out."""

from __future__ import annotations

from functools import partial

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.policy.lease import lease_of_run, longest_silence
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd import departures, job_machine, job_runs
from kettle.schedd.claims import Claim, Phase
from kettle.schedd.idle_jobs import MATCHED_UNIVERSES
from kettle.schedd.job_machine import FINISHED, ON_A_MACHINE
from kettle.schedd.job_processes import noted_process
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.rests import forget_rest
from kettle.schedd.scheduler import Scheduler
from kettle.schedd.steps import do_all


class Recovery:
    """The first look of a new scheduler at its queue."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._queue = scheduler.queue
        self._claims = scheduler.claims
        self._idle = scheduler.idle
        self._outside = scheduler.outside

    def recover(self) -> None:
        """Take up what the last schedd left: runs, and jobs on their way out.

        One job that is odd keeps no other back; raises what went wrong, in the end.
        """
        leaving = self._queue.transaction()
        each = [partial(self._recover_job, job, leaving) for job in self._queue.jobs.values()]
        do_all([*each, lambda: leaving and self._queue.commit(leaving)])

    def _recover_job(self, job: Job, leaving: Transaction) -> None:
        # No job rests after a start.
        forget_rest(job.ad)
        do_all(
            (
                partial(self._recover_run, job),
                partial(self._recover_events, job),
                partial(self._recover_departure, job, leaving),
            )
        )

    def _recover_run(self, job: Job) -> None:
        if job.status in ON_A_MACHINE:
            if not self._take_over(job):
                self._requeue(job)
        elif _had_run(job) and not self._take_over(job):
            # Held or removed while it ran, and the end of its run was not heard of.
            self._abandon_run(job)

    def _recover_events(self, job: Job) -> None:
        """Have what waited for room written; a run's events are its new shadow's to write."""
        if SCHEDD_EVENTS in job.ad or (
            SHADOW_EVENTS in job.ad and job.id not in self._claims.by_job
        ):
            self._outside.owners.recall(job)

    def _recover_departure(self, job: Job, leaving: Transaction) -> None:
        """Finish a departure: a job that the crash found recorded is not recorded again."""
        if job.status not in FINISHED or job.id in self._claims.by_job:
            return
        if departures.may_leave(job) and self._outside.records.has(job):
            self._outside.records.clean_up(job)
            departures.plan_departure(leaving, self._queue, job)
            return
        if job.status == JobStatus.REMOVED and self._outside.owners.was_told(job):
            self._queue.update(job.id, {"JobAbortEventLogged": "1"})
        self._scheduler.departures.let_go(job)

    def _take_over(self, job: Job) -> bool:
        """Have a new shadow look for a run that an earlier schedd began; False if none can.

        Whether it is over is the shadow's to say, lease or no lease: the execution point may still
        run the job, and our clock may have been set. Compat: the reference asks only within the
        lease (test_a_restart_after_the_lease_asks_the_execution_point_too).
        """
        ad, now = job.ad, self._scheduler.now()
        claim_id, address = ad.string("ClaimId"), ad.string("StartdIpAddr")
        if job.universe not in MATCHED_UNIVERSES or not claim_id or not address:
            return False
        silence = longest_silence(lease_of_run(ad))
        if now >= (ad.integer("LastJobLeaseRenewal") or 0) + silence:
            self._scheduler.statistics.on_lease_expired(now)
        slot = ClassAd({"Name": ad.string("RemoteHost") or ""})
        claim = Claim(
            claim_id, address, slot, job.submitter, self._idle.autocluster_of(job), job.id,
            float(now), job.user, Phase.RUNNING,
        )  # fmt: skip
        self._claims.add(claim)
        self._idle.reserve(job)
        self._scheduler.statistics.on_looked_for(job)
        self._scheduler.look_for_run(job, claim)
        return True

    def _requeue(self, job: Job) -> None:
        """Let a job wait again whose run ended with the schedd that began it.

        Its log is told of nothing but its next start, as by the reference (its logs killed_l.log
        and killed_s.log in tests/data/event_logs/beside).
        """
        self._outside.runs.end_leftover(job)
        changes = job_runs.end_attributes(job.ad, self._scheduler.now())
        changes |= job_machine.step(job.ad, job_machine.Requeued(), self._scheduler.now())
        self._queue.update(job.id, changes)

    def _abandon_run(self, job: Job) -> None:
        claim_id, address = job.ad.string("ClaimId"), job.ad.string("StartdIpAddr")
        if claim_id and address:
            self._outside.claims.release(claim_id, address)
        had_process = noted_process(job.ad) is not None
        if had_process:
            self._outside.runs.end_leftover(job)
        self._queue.update(job.id, job_runs.end_attributes(job.ad, self._scheduler.now()))
        if had_process and job.status == JobStatus.HELD:
            # Its log hears of the hold when its process has ended, which nobody saw.
            code = job.ad.integer("HoldReasonCode") or 0
            subcode = job.ad.integer("HoldReasonSubCode") or 0
            reason = job.ad.string("HoldReason") or ""
            self._outside.owners.held(job, reason, code, subcode)


def _had_run(job: Job) -> bool:
    """Tell whether the end of a job's run, on a machine or beside the schedd, is not noted."""
    return "ClaimId" in job.ad or noted_process(job.ad) is not None
