"""What the schedd does when something happens to a job or a claim.

The one place where queue, idle jobs and claims meet: a match becomes a claim request, a granted
claim gets a job, a shadow's exit becomes the job's next status and the claim's next job. Nothing is
performed here: everything outside is done by the parts of `Outside`, which are shells of the
runtime at work and lists in tests. Each decision is made by the room it belongs to
(`job_machine`, `claims`, `exits`, `idle_jobs`). What users and policy want of jobs is carried out
in `job_orders` and `waiting_policy`, and finished jobs go in `departures`.
Sources: wire notes, Negotiation and Claims; R059, R067, R080-R082.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import assert_never

from kettle.attributes.codes import (
    BESIDE_THE_SCHEDD,
    JobStatus,
    ShadowExit,
)
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import StorageError
from kettle.matchmaking.requests import (
    RESOURCE_CLUSTER,
    RESOURCE_PROC,
)
from kettle.policy.job_policy import SystemPolicy
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd import claims as claim_states
from kettle.schedd import job_machine, job_runs, tallies
from kettle.schedd.claims import Claim, Claims, Effect, Phase
from kettle.schedd.departures import Departures
from kettle.schedd.exits import ENDED, event_of_exit
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.job_machine import FINISHED, HOLD_WORDS, ON_A_MACHINE
from kettle.schedd.job_orders import JobOrders
from kettle.schedd.matched_slots import Allowances, fits, keep_group
from kettle.schedd.moved_startds import moved_address
from kettle.schedd.negotiation import note_autocluster
from kettle.schedd.outside import Outside
from kettle.schedd.queue.job_ids import JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.rests import Rests, forget_rest, note_rest
from kettle.schedd.run_ends import RunEnd
from kettle.schedd.run_records import SHADOW_ADDRESS, as_it_ran
from kettle.schedd.start_pause import StartPause
from kettle.schedd.statistics import Statistics
from kettle.schedd.steps import do_all
from kettle.schedd.waiting_policy import WaitingPolicy
from kettle.wire.messages.claims import RequestClaimReply

# Limit: claims of one answer that nobody asked for and that are released, each by a connection.
_MOST_GIVEN_BACK = 100


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
        self.rests = Rests()
        self.pause = StartPause(outside)
        # Jobs whose run is over, and the queue could not be told yet.
        self._unended: set[JobId] = set()
        self.departures = Departures(queue, self.rests, outside, now)
        self.orders = JobOrders(queue, self.claims, self._unended, self.departures, outside, now)
        self.policy = WaitingPolicy(
            queue, self.orders, self.departures, outside, now, system_policy
        )
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
        if self.pause.lasts:
            return True
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
        self._give_back(claim, granted[1:])
        if reply.leftover is not None:
            self._chain(claim, *reply.leftover)
        self._apply(claim, claim_states.Accepted, wanted)

    def _give_back(self, claim: Claim, granted: Sequence[tuple[str, ClassAd]]) -> None:
        """Release what a startd granted beside the one slot that it was asked for.

        More would be more running jobs than may be. What is behind the limit the startd loses when
        it asks whether its claims are still wanted.
        """
        for claim_id, _ in granted[:_MOST_GIVEN_BACK]:
            if claim_id not in self.claims.by_id:
                self.outside.claims.release(claim_id, claim.startd_address)

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
        # It stays the claim's until the end of the run: held and released meanwhile, it gets no
        # second one.
        self.claims.assign(claim, job.id)
        self.idle.reserve(job)
        note_autocluster(job.ad, job.autocluster, self.idle.autoclusters.attributes_text)
        do_all(
            (
                partial(self._commit_start, claim, job, transaction),
                partial(self._follow_start, claim, job, transaction),
            )
        )

    def _commit_start(self, claim: Claim, job: Job, transaction: Transaction) -> None:
        now = self.now()
        key = key_of(*job.id)
        transaction.update(key, job_machine.step(job.ad, job_machine.Started(), now))
        transaction.update(key, job_runs.match_attributes(job.ad, now))
        if claim.attributes is None:
            claim.attributes = job_runs.claim_attributes(claim.id, claim.startd_address, claim.slot)
        transaction.update(key, job_runs.start_attributes(job.ad, claim.attributes, now))
        try:
            self.queue.commit(transaction, refusable=True)
        except StorageError as error:
            if error.ends_daemon:
                raise
            self.pause.on_refused(job, error, now)
            return
        self.pause.on_taken()

    def _follow_start(self, claim: Claim, job: Job, transaction: Transaction) -> None:
        """Begin a run that the queue has taken; a claim whose run it did not take is given up."""
        if transaction.taken:
            claim.autocluster = job.autocluster
            claim.jobs_started += 1
            self._apply(claim, claim_states.JobGiven)
        else:
            self.claims.assign(claim, None)
            self.idle.unreserve(job.id)
            self._apply(claim, claim_states.NoJob)

    def _start_shadow(self, claim: Claim) -> None:
        assert claim.job is not None
        job = self.queue.jobs[claim.job]
        now = self.now()
        self.statistics.on_started(job, now)
        recycled = claim.jobs_started > 1
        self.statistics.on_shadow(job.user, now, running=self.running, recycled=recycled)
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
        if status == str(int(JobStatus.HELD)):
            self._hold_running(job, changes)
        elif status is not None:
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
        if job.status not in ON_A_MACHINE and not self.orders.has_run(job):
            self.departures.let_go(job)

    def on_events_left(self, jobs: Iterable[JobId]) -> None:
        """Take over the events of jobs without a shadow, whose host is gone; raises like others."""
        do_all([partial(self._recall, job_id) for job_id in jobs])

    def _recall(self, job_id: JobId) -> None:
        job = self.queue.jobs.get(job_id)
        if job is not None and SHADOW_EVENTS in job.ad:
            self.outside.owners.recall(job)

    def _hold_running(self, job: Job, said: job_machine.Attributes) -> None:
        """Hold a job whose machine wants that, while its run goes on until it is over there."""
        words = {name: said.pop(name) or "" for name in HOLD_WORDS if name in said}
        event = event_of_exit(job, ShadowExit.SHOULD_HOLD, words)
        if event is not None:
            self.queue.update(job.id, job_machine.step(job.ad, event, self.now()))
            self.outside.owners.held_running(job)

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
        do_all((partial(self._take_end, end), partial(self._end_use, claim, reusable=reusable)))

    def _take_end(self, end: RunEnd) -> None:
        """Commit the end of a run, once; what the queue does not take is tried again later.

        Until then the job is nobody's, and is not started again: perhaps it has ended.
        """
        job = self.queue.jobs.get(end.job)
        transaction = self.queue.transaction()
        do_all(
            (
                partial(self._commit_end, job, end, transaction),
                partial(self._after_end, job, end, transaction),
            )
        )

    def _after_end(self, job: Job | None, end: RunEnd, transaction: Transaction) -> None:
        """Follow an end that the queue has taken, whoever failed behind that; try another again."""
        if job is not None and not transaction.taken:
            self._unended.add(end.job)
            self.outside.again(end.next_try(), partial(self._take_end, end))
            return
        self._unended.discard(end.job)
        what_follows = [partial(self._let_rest, end.job, job, end.pause)]
        if job is not None:
            what_follows = [
                partial(self._count_moved, end), partial(self._follow_end, job, end), *what_follows,
            ]  # fmt: skip
        do_all(what_follows)

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

    def _commit_end(self, job: Job | None, end: RunEnd, transaction: Transaction) -> None:
        """Commit what the end of a run changes, and note in it what it means for the job."""
        if job is None:
            return
        reason, attributes, now = end.reason, end.attributes, end.at
        reported = job_runs.reported_attributes(attributes)
        changes = job_runs.coarse(job.ad, reported, self.rounded)
        changes.pop("JobStatus", None)
        changes |= tallies.count_end(job.ad, attributes, reason, now)
        changes |= job_runs.end_attributes(job.ad, now)
        end.event = event = event_of_exit(job, reason, attributes)
        if event is not None:
            if isinstance(event, job_machine.Completed) and job.universe not in BESIDE_THE_SCHEDD:
                changes |= job_runs.committed_attributes(job.ad, now)
            changes |= job_machine.step(job.ad, event, now)
        changes["CurrentHosts"] = "0"
        if reason in ENDED and int(changes.get("JobStatus") or job.status) == JobStatus.REMOVED:
            # Its log has the job's end: a removal that came too late adds none.
            changes["JobAbortEventLogged"] = "1"
        end.moved_before = job.ad.real("BytesRecvd") or 0.0, job.ad.real("BytesSent") or 0.0
        end.was = as_it_ran(job.ad, changes, reported, attributes.get(SHADOW_ADDRESS, ""))
        transaction.update(key_of(*job.id), changes)
        self.queue.commit(transaction)

    def _follow_end(self, job: Job, end: RunEnd) -> None:
        """Tell and count what was committed, and let a finished job go."""
        event = end.event
        if isinstance(event, job_machine.Held):
            # Its event is the shadow's to write, the mail is ours.
            self.outside.owners.held_running(job)
        self.statistics.on_ended(job, end.reason, end.at, decided=event is None)
        if job.universe not in BESIDE_THE_SCHEDD:
            self.outside.records.run_ended(job, end.was)
        if job.status == JobStatus.HELD and event is None and end.status != JobStatus.HELD:
            # It was held when no shadow was there any more that could have told its log.
            subcode = job.ad.integer("HoldReasonSubCode") or 0
            code = job.ad.integer("HoldReasonCode") or 0
            self.outside.owners.held(job, job.ad.string("HoldReason") or "", code, subcode)
        if end.tries and SCHEDD_EVENTS in end.attributes:
            # Whoever ended it beside us waits for that no more.
            self.outside.owners.recall(job)
        self.departures.let_go(job)

    def _count_moved(self, end: RunEnd) -> None:
        """Count what a run has moved."""
        before, report, now = end.moved_before, end.attributes, end.at
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
        """Have new shadows take over the jobs of a shadow host that died; an odd one is no other's.

        Raises what went wrong, in the end.
        """
        do_all([partial(self._take_over, job_id) for job_id in jobs])

    def _take_over(self, job_id: JobId) -> None:
        job, claim = self.queue.jobs.get(job_id), self.claims.by_job.get(job_id)
        if job is not None and claim is not None:
            self.look_for_run(job, claim)

    def look_for_run(self, job: Job, claim: Claim) -> None:
        """Have a new shadow look for a job's run, whatever goes wrong with the word of it."""
        do_all(
            (
                lambda: self.queue.update(job.id, job_runs.shadow_attributes(job.ad, self.now())),
                lambda: self.outside.runs.start_shadow(job, claim, reconnect=True),
                lambda: self.orders.tell_takeover(job),
            )
        )
