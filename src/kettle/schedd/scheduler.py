"""What the schedd does when something happens to a job or a claim.

The one place where queue, idle jobs and claims meet: a match becomes a claim request, a granted
claim gets a job, a shadow's exit becomes the job's next status and the claim's next job. Nothing is
performed here: everything outside is done by the parts of `Outside`, which are shells of the
runtime at work and lists in tests. Each decision is made by the room it belongs to
(`job_machine`, `claims`, `job_policy`, `departures`).
Sources: wire notes, Negotiation and Claims; R059, R067, R080-R082.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import assert_never

from kettle.attributes.codes import (
    BESIDE_THE_SCHEDD,
    HoldReasonCode,
    JobAction,
    JobStatus,
    VacateReasonCode,
)
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.matchmaking.requests import (
    RESOURCE_CLUSTER,
    RESOURCE_PROC,
)
from kettle.policy.job_policy import SystemPolicy, Verdict, decide_periodic
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd import claims as claim_states
from kettle.schedd import departures, job_machine, job_runs, tallies
from kettle.schedd.claims import Claim, Claims, Effect, Phase
from kettle.schedd.exits import ENDED, event_of_exit
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.job_machine import FINISHED, ON_A_MACHINE, WAITING
from kettle.schedd.matched_slots import Allowances, fits, keep_group
from kettle.schedd.moved_startds import moved_address
from kettle.schedd.negotiation import note_autocluster
from kettle.schedd.outside import Outside
from kettle.schedd.queue.actions import Done, Plan
from kettle.schedd.queue.job_ids import JobId, key_of
from kettle.schedd.queue.job_queue import Job, JobQueue
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.schedd.rests import Rests, forget_rest, note_rest
from kettle.schedd.run_ends import RunEnd, also_where_it_fails
from kettle.schedd.statistics import Statistics
from kettle.wire.messages.claims import RequestClaimReply


class Scheduler:
    """Reacts to events; owns no state of its own but the counters of running jobs."""

    def __init__(
        self,
        queue: JobQueue,
        idle: IdleJobs,
        outside: Outside,
        now: Callable[[], int],
        *,
        most_running: int,
        statistics: Statistics,
        system_policy: SystemPolicy,
    ) -> None:
        self.queue = queue
        self.idle = idle
        self.claims = Claims()
        self.outside = outside
        self.now = now
        self.most_running = most_running
        self.statistics = statistics
        self.system_policy = system_policy
        self.rests = Rests()
        # Jobs whose run is over, and the queue could not be told yet.
        self._unended: set[JobId] = set()
        # Sizes that are kept coarse: lower-case name → percent.
        self.rounded: Mapping[str, int] = {}

    @property
    def running(self) -> int:
        """How many jobs are on machines."""
        return sum(len(self.queue.by_status[status]) for status in ON_A_MACHINE)

    # -- matches and claims -----------------------------------------------------------------

    def on_match(self, submitter: str, claim_ids: str, slot: ClassAd) -> bool:
        """Take a match: request its claim for the job it was made for, or for the next one.

        Returns False if nobody needs it any more.
        """
        claim_id = claim_ids.split(" ", 1)[0]
        address = slot.string("MyAddress") or slot.string("StartdIpAddr") or ""
        if not claim_id or not address or slot.boolean("Offline"):
            return False
        divided = self.claims.by_id.get(claim_id)
        if divided is not None:
            # One more job that gets what is left of the same partitionable slot.
            limits = slot.string("MatchedConcurrencyLimits") or ""
            divided.allowances.add(limits, float(self.now()))
            return bool(limits)
        job = None if self._is_full() else self._job_for(submitter, slot)
        if job is None:
            return False
        self._request(claim_id, address, slot, job)
        return True

    def _is_full(self) -> bool:
        """Tell whether as many jobs run, or are about to, as may (MAX_JOBS_RUNNING; 0: any)."""
        return 0 < self.most_running <= self.running + self.claims.count(Phase.REQUESTING)

    def _job_for(self, submitter: str, slot: ClassAd) -> Job | None:
        """Return the job that a slot was matched for; if that needs none any more, another one."""
        number, proc = slot.integer(RESOURCE_CLUSTER), slot.integer(RESOURCE_PROC)
        job = self.queue.job(number or 0, -1 if proc is None else proc)
        if job is not None and self.idle.is_waiting(job.id):
            return job
        autocluster = job.autocluster if job is not None else -1
        return self.idle.next_job(submitter, autocluster) or self.idle.next_fitting(
            submitter, lambda each: fits(each, slot)
        )

    def _request(
        self,
        claim_id: str,
        address: str,
        slot: ClassAd,
        job: Job,
        allowances: Allowances | None = None,
    ) -> None:
        claim = Claim(
            claim_id,
            address,
            slot,
            job.submitter,
            job.autocluster,
            job.id,
            float(self.now()),
            job.user,
            allowances=allowances or Allowances(),
        )
        note_autocluster(job.ad, job.autocluster, self.idle.autoclusters.attributes_text)
        self.idle.reserve(job)
        self.claims.add(claim)
        self.outside.claims.request(claim, job)

    def on_claim_reply(self, claim: Claim, reply: RequestClaimReply) -> None:
        """Take a startd's answer: the slots it granted, and what is left over to claim from."""
        if claim.phase is not Phase.REQUESTING:
            # The startd took it back before its answer was read.
            return
        if not reply.accepted:
            self._apply(claim, claim_states.Refused)
            return
        granted = reply.claimed or [(claim.id, claim.slot)]
        job = self.queue.jobs.get(claim.job) if claim.job is not None else None
        # Meanwhile it may have been held, or given to another manager.
        wanted = job if job is not None and job.waits else None
        # The startd gives a new claim id to what is left, and the granted slot keeps the old one.
        self.claims.rename(claim, granted[0][0] or claim.id)
        slot = keep_group(granted[0][1], claim.slot)
        claim.slot = self.claims.shared(claim.startd_address, slot)
        for claim_id, slot in granted[1:]:
            self._take_extra(claim, claim_id, slot)
        if reply.leftover is not None:
            self._chain(claim, *reply.leftover)
        self._apply(claim, claim_states.Accepted, wanted)

    def _take_extra(self, like: Claim, claim_id: str, slot: ClassAd) -> None:
        extra = Claim(
            claim_id,
            like.startd_address,
            slot,
            like.submitter,
            like.autocluster,
            None,
            like.since,
            like.user,
        )
        self.claims.add(extra)
        self._apply(extra, claim_states.Accepted)

    def _chain(self, claim: Claim, claim_id: str, slot: ClassAd) -> None:
        """Claim again from the rest of a partitionable slot, for the same submitter's next job."""
        if self._is_full():
            return
        slot = keep_group(slot, claim.slot)
        # The match allowed for one job: another one would count against its limits a second time.
        slot.discard("MatchedConcurrencyLimits")
        allowances, now = claim.allowances, float(self.now())
        job = self.idle.next_fitting(
            claim.submitter,
            lambda each: allowances.cover(each, slot, now),
        )
        if job is not None:
            limits = allowances.take(job, slot, now)
            if limits:
                slot["MatchedConcurrencyLimits"] = limits
            self._request(claim_id, claim.startd_address, slot, job, allowances)

    def on_claim_failed(self, claim: Claim) -> None:
        """Note that a startd could not be reached or did not answer."""
        if claim.phase is Phase.REQUESTING:
            self._apply(claim, claim_states.Refused)

    def on_released_by_startd(self, claim_id: str) -> None:
        """Note that a startd gave a claim up."""
        claim = self.claims.by_id.get(claim_id)
        if claim is not None:
            self._apply(claim, claim_states.GivenUp)

    def knows_claim(self, claim_id: str) -> bool:
        """Tell a startd that asks whether its claim is still wanted."""
        claim = self.claims.by_id.get(claim_id)
        return claim is not None and claim.phase is not Phase.GONE

    def _apply(
        self, claim: Claim, event: claim_states.ClaimEvent, wanted: Job | None = None
    ) -> None:
        """Apply an event to a claim and have its effects done."""
        for effect in claim_states.step(claim, event, float(self.now())):
            match effect:
                case Effect.CHOOSE_JOB:
                    self._choose(claim, wanted)
                    return
                case Effect.START_SHADOW:
                    self._start_shadow(claim)
                case Effect.RELEASE:
                    self.outside.claims.release(claim.id, claim.startd_address)
                case Effect.FORGET_JOB:
                    if claim.job is not None:
                        self.idle.unreserve(claim.job)
                case Effect.FORGET:
                    self.outside.claims.forget(claim.id)
                case _:
                    assert_never(effect)
        if claim.phase is Phase.GONE:
            self.claims.remove(claim)
            if event is not claim_states.Refused and self.idle.count(claim.submitter):
                self.outside.want_matches()

    def _choose(self, claim: Claim, wanted: Job | None) -> None:
        """Give an idle claim its next job, or release it."""
        job = wanted
        if claim.job is not None:
            reserved = claim.job
            self.claims.assign(claim, None)
            if job is None:
                self.idle.unreserve(reserved)
        if job is None:
            job = self._next_of(claim)
        if job is None:
            self._apply(claim, claim_states.NoJob)
            return
        self._start(claim, job)

    def _next_of(self, claim: Claim) -> Job | None:
        """Return the next job for a claim: its user's, whoever else shares the accounting group."""

        def is_of_user(job: Job) -> bool:
            return job.user == claim.user

        return self.idle.next_job(
            claim.submitter, claim.autocluster, is_of_user
        ) or self.idle.next_fitting(
            claim.submitter, lambda each: is_of_user(each) and fits(each, claim.slot)
        )

    def _start(self, claim: Claim, job: Job) -> None:
        transaction = self.queue.transaction()
        now = self.now()
        key = key_of(*job.id)
        transaction.update(key, job_machine.step(job.ad, job_machine.Started(), now))
        transaction.update(key, job_runs.match_attributes(job.ad, now))
        if claim.attributes is None:
            claim.attributes = job_runs.claim_attributes(claim.id, claim.startd_address, claim.slot)
        transaction.update(key, job_runs.start_attributes(job.ad, claim.attributes, now))
        claim.autocluster = job.autocluster
        claim.jobs_started += 1
        # It stays the claim's until the end of the run: held and released meanwhile, it gets no
        # second one.
        self.claims.assign(claim, job.id)
        self.idle.reserve(job)
        self.queue.commit(transaction)
        self._apply(claim, claim_states.JobGiven)

    def _start_shadow(self, claim: Claim) -> None:
        assert claim.job is not None
        job = self.queue.jobs[claim.job]
        now = self.now()
        self.statistics.on_started(job, now)
        self.statistics.on_shadow(now, running=self.running, recycled=claim.jobs_started > 1)
        self.outside.runs.start_shadow(job, claim, reconnect=False)

    # -- shadows ----------------------------------------------------------------------------

    def on_job_update(self, job_id: JobId, attributes: Mapping[str, str]) -> None:
        """Commit what a shadow reports of a running job."""
        job = self.queue.jobs.get(job_id)
        if job is None:
            return
        changes = job_runs.coarse(job.ad, job_runs.texts(attributes), self.rounded)
        changes |= self._follow_startd(job_id, changes.pop("StartdIpAddr", None))
        if "NumJobReconnects" in attributes:
            self.statistics.add("ShadowsReconnections", self.now())
            self.statistics.on_found_again(job, self.now())
        status = changes.pop("JobStatus", None)
        if status is not None:
            changes |= self._status_update(job, int(status))
        if changes:
            self.queue.update(job_id, changes)
        if SHADOW_EVENTS in changes:
            self.on_events_written(job)

    def _follow_startd(self, job_id: JobId, told: str | None) -> job_machine.Attributes:
        """Take the address at which a shadow found its startd into its claim, if it may be true."""
        claim = self.claims.by_job.get(job_id)
        if claim is None or told is None:
            return {}
        address = moved_address(claim.startd_address, told)
        if address is None or address == claim.startd_address:
            return {}
        claim.startd_address, claim.attributes = address, None
        return {"StartdIpAddr": quote_line(address)}

    def on_events_written(self, job: Job) -> None:
        """Let a job go that may have waited for nothing but room in its log."""
        if job.status not in ON_A_MACHINE and not self.has_run(job):
            self.let_go(job)

    def on_events_left(self, jobs: Iterable[JobId]) -> None:
        """Take over the events of jobs without a shadow, whose host is gone."""
        for job_id in list(jobs):
            job = self.queue.jobs.get(job_id)
            if job is not None and SHADOW_EVENTS in job.ad:
                self.outside.owners.recall(job)

    def _status_update(self, job: Job, status: int) -> job_machine.Attributes:
        """Turn a status that a shadow reports into the machine's event, where it has one."""
        event: job_machine.Event
        if status == JobStatus.SUSPENDED:
            event = job_machine.Suspended()
        elif status == JobStatus.TRANSFERRING_OUTPUT:
            event = job_machine.OutputStarted()
        elif status == JobStatus.RUNNING:
            event = job_machine.Continued()
        else:
            return {}
        if not job_machine.may(job.status, type(event)):
            return {}
        return job_machine.step(job.ad, event, self.now())

    def on_shadow_exited(
        self, job_id: JobId, reason: int, attributes: Mapping[str, str], *, reusable: bool
    ) -> None:
        """Take the end of a run: the job's next status, and the claim's next job."""
        claim = self.claims.by_job.get(job_id)
        job = self.queue.jobs.get(job_id)
        end = RunEnd(job_id, reason, attributes, self.now())
        if job is not None:
            began = job.ad.integer("ShadowBday") or 0
            end.status = job.status
            end.pause = self.rests.after_run(job_id, attributes, end.at - began)
        self._follow_startd(job_id, attributes.get("StartdIpAddr"))
        # The run is over for its claim, too, whatever went wrong with the job's.
        with also_where_it_fails(partial(self._end_use, claim, reusable=reusable)):
            self._take_end(end)

    def _take_end(self, end: RunEnd) -> None:
        """Commit the end of a run, once; what the queue does not take is tried again later.

        Until then the job is nobody's, and is not started again: perhaps it has ended.
        """
        job = self.queue.jobs.get(end.job)
        try:
            event = self._commit_end(job, end) if job is not None else None
        except Exception:
            self._unended.add(end.job)
            self.outside.again(end.next_try(), partial(self._take_end, end))
            raise
        self._unended.discard(end.job)
        with also_where_it_fails(partial(self._let_rest, end.job, job, end.pause)):
            if job is not None:
                self._follow_end(job, end, event)

    def _let_rest(self, job_id: JobId, job: Job | None, pause: int) -> None:
        """Let a job that waits again be started, after a pause if its runs fail."""
        # One whose end was decided meanwhile leaves, and its record with it.
        if pause and job is not None and job.status not in FINISHED:
            note_rest(job.ad, int(self.now()) + pause)
            self.statistics.on_cooling(job, self.now())
            self.outside.rest(job_id, pause, partial(self._wake, job_id))
        else:
            self.idle.unreserve(job_id)

    def _end_use(self, claim: Claim | None, *, reusable: bool) -> None:
        """Give a claim whose run is over its next job, or give it up."""
        if claim is None:
            return
        self.claims.assign(claim, None)
        event = claim_states.ShadowEnded if reusable else claim_states.ShadowEndedForGood
        if claim.phase in {Phase.RUNNING, Phase.LOST}:
            self._apply(claim, event)
        if not reusable and len(self.idle):
            self.outside.want_matches()

    def _wake(self, job_id: JobId) -> None:
        """A job has rested after runs that failed."""
        job = self.queue.jobs.get(job_id)
        if job is not None:
            forget_rest(job.ad)
        if job_id not in self.claims.by_job:
            self.idle.unreserve(job_id)
            self.outside.want_matches()

    def _commit_end(self, job: Job, end: RunEnd) -> job_machine.Event | None:
        """Commit the end of a run; return what it means for the job, None if it was decided."""
        reason, attributes, now = end.reason, end.attributes, end.at
        reported = job_runs.reported_attributes(attributes)
        changes = job_runs.coarse(job.ad, reported, self.rounded)
        changes.pop("JobStatus", None)
        changes |= tallies.count_end(job.ad, attributes, reason, now)
        changes |= job_runs.end_attributes(job.ad, now)
        event = event_of_exit(job, reason, attributes)
        if event is not None:
            if isinstance(event, job_machine.Completed) and job.universe not in BESIDE_THE_SCHEDD:
                changes |= job_runs.committed_attributes(job.ad, now)
            changes |= job_machine.step(job.ad, event, now)
        changes["CurrentHosts"] = "0"
        if reason in ENDED and int(changes.get("JobStatus") or job.status) == JobStatus.REMOVED:
            # Its log has the job's end: a removal that came too late adds none.
            changes["JobAbortEventLogged"] = "1"
        moved_before = job.ad.real("BytesRecvd") or 0.0, job.ad.real("BytesSent") or 0.0
        self.queue.update(job.id, changes)
        self._count_moved(moved_before, attributes, now)
        return event

    def _follow_end(self, job: Job, end: RunEnd, event: job_machine.Event | None) -> None:
        """Tell and count what was committed, and let a finished job go."""
        if isinstance(event, job_machine.Held):
            # Its event is the shadow's to write, the mail is ours.
            self.outside.owners.held_running(job)
        self.statistics.on_ended(job, end.reason, end.at, decided=event is None)
        self.outside.records.run_ended(job)
        if job.status == JobStatus.HELD and event is None and end.status != JobStatus.HELD:
            # It was held when no shadow was there any more that could have told its log.
            subcode = job.ad.integer("HoldReasonSubCode") or 0
            code = job.ad.integer("HoldReasonCode") or 0
            self.outside.owners.held(job, job.ad.string("HoldReason") or "", code, subcode)
        if end.tries and SCHEDD_EVENTS in end.attributes:
            # Whoever ended it beside us waits for that no more.
            self.outside.owners.recall(job)
        self.let_go(job)

    def _count_moved(
        self, before: tuple[float, float], report: Mapping[str, str], now: int
    ) -> None:
        """Count what a run has moved; `before` is what those before it had."""
        said = {name: report[name] for name in ("BytesRecvd", "BytesSent") if name in report}
        attributes = job_runs.reported_ad(said)
        spent = job_runs.reported_ad(
            {one: report[one] for one in job_runs.MOVING_SECONDS if one in report}
        )
        self.statistics.on_spent({one: spent.real(one) or 0.0 for one in spent.names()}, now)
        to_job, from_job = attributes.real("BytesRecvd"), attributes.real("BytesSent")
        if to_job or from_job:
            self.statistics.on_moved(
                (to_job or 0.0) - before[0],
                (from_job or 0.0) - before[1],
                now,
            )

    def on_host_lost(self, jobs: Iterable[JobId]) -> None:
        """Have new shadows take over the jobs of a shadow host that died."""
        for job_id in list(jobs):
            job, claim = self.queue.jobs.get(job_id), self.claims.by_job.get(job_id)
            if job is None or claim is None:
                continue
            self.queue.update(job_id, job_runs.shadow_attributes(job.ad, self.now()))
            self.outside.runs.start_shadow(job, claim, reconnect=True)
            self.tell_takeover(job)

    def tell_takeover(self, job: Job) -> None:
        """Repeat to a new shadow what the user had wanted of the old one."""
        if job.status == JobStatus.REMOVED:
            reason = job.ad.string("RemoveReason") or ""
            self.outside.runs.signal(job, "Remove", reason, VacateReasonCode.JobRemoved, 0)
        elif job.status == JobStatus.HELD:
            self.outside.runs.signal(
                job,
                "Hold",
                job.ad.string("HoldReason") or "",
                job.ad.integer("HoldReasonCode") or 0,
                job.ad.integer("HoldReasonSubCode") or 0,
            )
        elif job.status == JobStatus.IDLE:
            # Held and released while it ran: its next run waits for the end of this one.
            code = int(VacateReasonCode.ScheddVacate)
            self.outside.runs.signal(job, "VacateFast", "Job vacated by schedd", code, 0)

    # -- leaving ----------------------------------------------------------------------------

    def let_go(self, job: Job) -> None:
        """Let a finished job leave, unless it is to stay."""
        if departures.may_leave(job):
            self.rests.forget(job.id)
            forget_rest(job.ad)
            self.outside.departures.begin(job)

    def record(self, jobs: Iterable[Job]) -> Sequence[Job]:
        """Write the last event and the history record of finished jobs, whose status is on disk.

        Returns the jobs that may be taken out once the records are on disk too. One that the
        history does not take stays, and is tried again by `see_out`.
        """
        there = self.queue.jobs
        finished = [job for job in jobs if there.get(job.id) is job and departures.may_leave(job)]
        aborted = [job for job in finished if _wants_abort_event(job)]
        if aborted:
            self.outside.owners.aborted(aborted)
            for job in aborted:
                job.ad["JobAbortEventLogged"] = 1
        # A log may have had no room for that.
        ready = [job for job in finished if departures.may_leave(job)]
        now = self.now()
        for job in ready:
            job.ad["JobFinishedHookDone"] = now
        recorded = self.outside.records.finished(ready) if ready else ()
        for job in recorded:
            job.recorded = True
        if len(recorded) < len(finished):
            self._note_told(aborted, {job.id for job in recorded})
        return recorded

    def _note_told(self, aborted: Iterable[Job], leaving: Container[JobId]) -> None:
        """Note of those that stay that their event is written: the next try must write no other."""
        for job in aborted:
            if job.id not in leaving:
                self.queue.update(job.id, {"JobAbortEventLogged": "1"})

    def take_out(self, jobs: Iterable[Job]) -> None:
        """Take jobs out of the queue, whose records are on disk."""
        leaving = self.queue.transaction()
        gone = [job for job in jobs if self.queue.jobs.get(job.id) is job]
        for job in gone:
            departures.plan_departure(leaving, self.queue, job)
        if leaving:
            self.queue.commit(leaving)
        # Not before: one that stays keeps its files, and is mailed of once.
        for job in gone:
            self.outside.records.clean_up(job)

    # -- users' actions ---------------------------------------------------------------------

    def on_action(self, plan: Plan) -> None:
        """Carry out what an action that was just committed means for running and idle jobs."""
        for done in plan.done:
            if done.job.id in self.queue.jobs:
                self._on_done(done, plan)
        if plan.request.action is JobAction.RELEASE:
            self.outside.want_matches()

    def _on_done(self, done: Done, plan: Plan) -> None:
        job, action = done.job, done.action
        match action:
            case JobAction.HOLD | JobAction.RELEASE if job.status == JobStatus.COMPLETED:
                # Its run ended while that was brought to the disk: its log has its end.
                pass
            case JobAction.HOLD:
                self._held(job, done.reason, HoldReasonCode.UserRequest, plan.request.subcode)
            case JobAction.RELEASE:
                self._released(job, done.reason)
                self.let_go(job)
            case JobAction.REMOVE | JobAction.TRANSFER_AND_REMOVE if self.has_run(job):
                word = "Remove" if action is JobAction.REMOVE else "TransferAndRemove"
                self._signal_removal(job, done.reason, word)
            case JobAction.REMOVE | JobAction.REMOVE_X | JobAction.TRANSFER_AND_REMOVE:
                if action is JobAction.REMOVE_X:
                    self._forget_run(job)
                if done.was == JobStatus.COMPLETED and departures.was_leaving(job):
                    # Its log has its end, or will have it, and needs no other.
                    self.queue.update(job.id, {"JobAbortEventLogged": "1"})
                self.let_go(job)
            case JobAction.VACATE | JobAction.VACATE_FAST:
                # The reference names neither the user nor code 1004 in the event.
                code = int(VacateReasonCode.ScheddVacate)
                self.outside.runs.signal(job, _SIGNALS[action], "Job vacated by schedd", code, 0)
            case JobAction.CLEAR_DIRTY:
                self.queue.clear_dirty(job.id)
            case JobAction.SUSPEND | JobAction.CONTINUE:
                code = int(VacateReasonCode.UserVacateJob)
                self.outside.runs.signal(job, _SIGNALS[action], done.reason, code, 0)

    def has_run(self, job: Job) -> bool:
        """Tell whether a run of a job is not over, whatever its status is, or was edited to be.

        One that is held, released or removed has it until its execution point let go, and one whose
        end is yet to be committed until it is. While a claim is only being asked for there is none.
        """
        if self._running_claim(job) is not None or job.id in self._unended:
            return True
        return self.outside.runs.is_beside(job)

    def _running_claim(self, job: Job) -> Claim | None:
        claim = self.claims.by_job.get(job.id)
        return claim if claim is not None and claim.phase in {Phase.RUNNING, Phase.LOST} else None

    def _held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Have a hold that was committed carried out by who runs the job, or told to its log."""
        if self.has_run(job):
            self.outside.runs.signal(job, "Hold", reason, int(code), subcode)
        else:
            self.outside.owners.held(job, reason, int(code), subcode)

    def _released(self, job: Job, reason: str) -> None:
        """Tell the log of a release, and first who may still be carrying out the hold."""
        if self.has_run(job):
            self.outside.runs.signal(job, "Release", reason, 0, 0)
        self.outside.owners.released(job, reason)

    def _signal_removal(self, job: Job, reason: str, word: str = "Remove") -> None:
        self.outside.runs.signal(job, word, reason, int(VacateReasonCode.JobRemoved), 0)

    def _forget_run(self, job: Job) -> None:
        """Give up the claim of a job that is forgotten whatever its remote side does."""
        if self.has_run(job):
            self.outside.runs.signal(job, "Forget", "", int(VacateReasonCode.JobRemoved), 0)
        claim = self._running_claim(job)
        if claim is not None:
            self.outside.claims.release(claim.id, claim.startd_address)
        if job.is_external:
            self.queue.update(job.id, {"Managed": None, "ManagedManager": None})

    # -- policy -----------------------------------------------------------------------------

    def see_out(self, jobs: Iterable[Job]) -> None:
        """Let those of the jobs leave that are finished: some had to wait for the history."""
        for job in jobs:
            finished = job.status in FINISHED and job.id in self.queue.jobs
            if finished and not self.has_run(job):
                self.let_go(job)

    def apply_policy(self, jobs: Iterable[Job]) -> None:
        """Do what periodic expressions want of those of the jobs that wait, or are held.

        Those of another manager are left alone, and so are those whose input is on its way.
        """
        now = self.now()
        for job in jobs:
            if job.status not in WAITING or job.id not in self.queue.jobs:
                continue
            if job.is_external or is_waiting_for_files(job.ad):
                continue
            decision = decide_periodic(job.ad, float(now), self.system_policy)
            if decision.verdict is Verdict.HOLD:
                self.hold(job, decision.reason, decision.code, decision.subcode)
            elif decision.verdict is Verdict.RELEASE:
                event = job_machine.Released(decision.reason)
                self.queue.update(job.id, job_machine.step(job.ad, event, now))
                self._released(job, decision.reason)
                self.outside.want_matches()
            elif decision.verdict is Verdict.REMOVE:
                self.remove(job, decision.reason)

    def hold(self, job: Job, reason: str, code: int, subcode: int = 0) -> None:
        """Put a job on hold; if it runs, its shadow or whatever runs it carries that out."""
        event = job_machine.Held(reason, code, subcode)
        self.queue.update(job.id, job_machine.step(job.ad, event, self.now()))
        self._held(job, reason, code, subcode)

    def remove(self, job: Job, reason: str) -> None:
        """Remove a job; one that runs leaves the queue when its run is over."""
        event = job_machine.Removed(reason)
        self.queue.update(job.id, job_machine.step(job.ad, event, self.now()))
        if self.has_run(job):
            self._signal_removal(job, reason)
        else:
            self.let_go(job)


_SIGNALS = {
    JobAction.VACATE: "Vacate",
    JobAction.VACATE_FAST: "VacateFast",
    JobAction.SUSPEND: "Suspend",
    JobAction.CONTINUE: "Continue",
}


def _wants_abort_event(job: Job) -> bool:
    """Tell whether the log of a removed job has to be told of its end."""
    return job.status == JobStatus.REMOVED and not job.ad.boolean("JobAbortEventLogged")
