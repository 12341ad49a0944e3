"""What users and policy want of jobs, carried out: held, released, removed, vacated, suspended.

What is committed already is told to whoever runs the job, or, where nobody does, to its log. Which
actions are allowed, and what they change, is `queue.actions`'. Sources: wire notes, ACT_ON_JOBS;
R059, R067.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial

from kettle.attributes.codes import HoldReasonCode, JobAction, JobStatus, VacateReasonCode
from kettle.schedd import job_machine
from kettle.schedd.claims import Claim, Claims, Phase
from kettle.schedd.departures import Departures, was_leaving
from kettle.schedd.outside import Outside
from kettle.schedd.queue.actions import Done, Plan
from kettle.schedd.queue.job_ids import JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.steps import do_all


class JobOrders:
    """Orders to jobs; `unended` are those whose run is over and the queue could not be told yet."""

    def __init__(
        self,
        queue: JobQueue,
        claims: Claims,
        unended: Container[JobId],
        departures: Departures,
        outside: Outside,
        now: Callable[[], int],
    ) -> None:
        self._queue = queue
        self._claims = claims
        self._unended = unended
        self._departures = departures
        self._outside = outside
        self._now = now

    def on_action(self, plan: Plan) -> None:
        """Carry out what an action that was just committed means for running and idle jobs.

        One job with which that fails keeps no other back; its error comes out behind them all.
        """
        steps: list[Callable[[], object]] = [
            partial(self._on_done, done, plan) for done in plan.done
        ]
        if plan.request.action is JobAction.RELEASE:
            steps.append(self._outside.want_matches)
        do_all(steps)

    def _on_done(self, done: Done, plan: Plan) -> None:
        job, action = done.job, done.action
        if job.id not in self._queue.jobs:
            return
        match action:
            case JobAction.HOLD | JobAction.RELEASE if job.status == JobStatus.COMPLETED:
                # Its run ended while that was brought to the disk: its log has its end.
                pass
            case JobAction.HOLD:
                self._held(job, done.reason, HoldReasonCode.UserRequest, plan.request.subcode)
            case JobAction.RELEASE:
                self._released(job, done.reason)
                self._departures.let_go(job)
            case JobAction.REMOVE | JobAction.TRANSFER_AND_REMOVE if self.has_run(job):
                word = "Remove" if action is JobAction.REMOVE else "TransferAndRemove"
                self._signal_removal(job, done.reason, word)
            case JobAction.REMOVE | JobAction.REMOVE_X | JobAction.TRANSFER_AND_REMOVE:
                if action is JobAction.REMOVE_X:
                    self._forget_run(job)
                if done.was == JobStatus.COMPLETED and was_leaving(job):
                    # Its log has its end, or will have it, and needs no other.
                    self._queue.update(job.id, {"JobAbortEventLogged": "1"})
                self._departures.let_go(job)
            case JobAction.VACATE | JobAction.VACATE_FAST:
                # The reference names neither the user nor code 1004 in the event.
                code = int(VacateReasonCode.ScheddVacate)
                self._outside.runs.signal(job, _SIGNALS[action], "Job vacated by schedd", code, 0)
            case JobAction.CLEAR_DIRTY:
                self._queue.clear_dirty(job.id)
            case JobAction.SUSPEND | JobAction.CONTINUE:
                code = int(VacateReasonCode.UserVacateJob)
                self._outside.runs.signal(job, _SIGNALS[action], done.reason, code, 0)

    def has_run(self, job: Job) -> bool:
        """Tell whether a run of a job is not over, whatever its status is, or was edited to be.

        One that is held, released or removed has it until its execution point let go, and one whose
        end is yet to be committed until it is. While a claim is only being asked for there is none.
        """
        if self._running_claim(job) is not None or job.id in self._unended:
            return True
        return self._outside.runs.is_beside(job)

    def _running_claim(self, job: Job) -> Claim | None:
        claim = self._claims.by_job.get(job.id)
        return claim if claim is not None and claim.phase in {Phase.RUNNING, Phase.LOST} else None

    def _held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Have a hold that was committed carried out by who runs the job, or told to its log."""
        if self.has_run(job):
            self._outside.runs.signal(job, "Hold", reason, int(code), subcode)
        else:
            self._outside.owners.held(job, reason, int(code), subcode)

    def _released(self, job: Job, reason: str) -> None:
        """Tell the log of a release, and first who may still be carrying out the hold."""
        if self.has_run(job):
            self._outside.runs.signal(job, "Release", reason, 0, 0)
        self._outside.owners.released(job, reason)

    def _signal_removal(self, job: Job, reason: str, word: str = "Remove") -> None:
        self._outside.runs.signal(job, word, reason, int(VacateReasonCode.JobRemoved), 0)

    def _forget_run(self, job: Job) -> None:
        """Give up the claim of a job that is forgotten whatever its remote side does."""
        if self.has_run(job):
            self._outside.runs.signal(job, "Forget", "", int(VacateReasonCode.JobRemoved), 0)
        claim = self._running_claim(job)
        if claim is not None:
            self._outside.claims.release(claim.id, claim.startd_address)
        if job.is_external:
            self._queue.update(job.id, {"Managed": None, "ManagedManager": None})

    def hold(self, job: Job, reason: str, code: int, subcode: int = 0) -> None:
        """Put a job on hold; if it runs, its shadow or whatever runs it carries that out."""
        event = job_machine.Held(reason, code, subcode)
        self._change(job, event, partial(self._held, job, reason, code, subcode))

    def remove(self, job: Job, reason: str) -> None:
        """Remove a job; one that runs leaves the queue when its run is over."""
        self._change(job, job_machine.Removed(reason), partial(self._removed, job, reason))

    def _removed(self, job: Job, reason: str) -> None:
        if self.has_run(job):
            self._signal_removal(job, reason)
        else:
            self._departures.let_go(job)

    def release(self, job: Job, reason: str) -> None:
        """Release a job."""
        event = job_machine.Released(reason)
        self._change(job, event, partial(self._released, job, reason))

    def _change(self, job: Job, event: job_machine.Event, follow: Callable[[], object]) -> None:
        """Commit what an event changes in a job and, if the queue has taken it, follow it.

        That is told once, also where whoever follows the commit fails.
        """
        transaction = self._queue.transaction()
        transaction.update(key_of(*job.id), job_machine.step(job.ad, event, self._now()))
        do_all((lambda: self._queue.commit(transaction), lambda: transaction.taken and follow()))

    def tell_takeover(self, job: Job) -> None:
        """Repeat to a new shadow what the user had wanted of the old one."""
        if job.status == JobStatus.REMOVED:
            reason = job.ad.string("RemoveReason") or ""
            self._outside.runs.signal(job, "Remove", reason, VacateReasonCode.JobRemoved, 0)
        elif job.status == JobStatus.HELD:
            self._outside.runs.signal(
                job,
                "Hold",
                job.ad.string("HoldReason") or "",
                job.ad.integer("HoldReasonCode") or 0,
                job.ad.integer("HoldReasonSubCode") or 0,
            )
        elif job.status == JobStatus.IDLE:
            # Held and released while it ran: its next run waits for the end of this one.
            code = int(VacateReasonCode.ScheddVacate)
            self._outside.runs.signal(job, "VacateFast", "Job vacated by schedd", code, 0)


_SIGNALS = {
    JobAction.VACATE: "Vacate",
    JobAction.VACATE_FAST: "VacateFast",
    JobAction.SUSPEND: "Suspend",
    JobAction.CONTINUE: "Continue",
}
