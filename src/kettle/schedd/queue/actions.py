"""ACT_ON_JOBS: hold, release, remove, vacate, suspend, continue, for jobs named or described.

A `Survey` finds for each job whether the actor may do it and whether it makes sense, which is the
answer to the client; once that agrees, `plan` gives the transaction and what must be told to
running jobs. Committing, signalling shadows and writing events are the shell's.
Source: wire notes, ACT_ON_JOBS (R067, R068).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kettle.attributes.codes import (
    BESIDE_THE_SCHEDD,
    ActionResult,
    ActionResultType,
    HoldReasonCode,
    JobAction,
    JobStatus,
)
from kettle.classad import ClassAd, Expr
from kettle.classad.text import quote_line
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.records.event_text import MAX_TEXT
from kettle.schedd import job_machine
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.factory import PAUSE_REASON, is_factory
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of, parse_ids
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Cluster, Job
from kettle.schedd.queue.selection import candidates, read_constraint
from kettle.schedd.queue.transaction import Transaction

_REASON = {
    JobAction.HOLD: "HoldReason",
    JobAction.RELEASE: "ReleaseReason",
    JobAction.REMOVE: "RemoveReason",
    JobAction.REMOVE_X: "RemoveReason",
    JobAction.SUSPEND: "SuspendReason",
    JobAction.CONTINUE: "ContinueReason",
    JobAction.TRANSFER_AND_REMOVE: "RemoveReason",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks: the action and the jobs, by ids or by a constraint.

    `most_releases` is SYSTEM_MAX_RELEASES, negative for any number.
    """

    action: JobAction
    totals: bool
    reason: str
    subcode: int
    ids: tuple[tuple[int, int | None], ...] | None
    constraint: str | None
    most_releases: int = -1


@dataclass(slots=True)
class Done:
    """One job's part of a plan; `was` is the status before, which says who runs it now."""

    job: Job
    action: JobAction
    was: int
    reason: str


@dataclass(slots=True)
class Plan:
    """What an action comes to: the changes, and the jobs it is done to."""

    request: Request
    transaction: Transaction
    done: list[Done] = field(default_factory=list)
    # Clusters that stop or go on making jobs: cluster, JobMaterializePaused.
    factories: list[tuple[Cluster, int]] = field(default_factory=list)
    # Why, and by whom.
    reason: str = ""


class Survey:
    """What a request means and what becomes of each job; nothing is changed, nor planned, yet.

    `look` is run to its end, slice by slice; after that there are `answer`, `jobs` and `clusters`.
    """

    def __init__(self, queue: JobQueue, request: Request, actor: Actor) -> None:
        self._queue = queue
        self._request = request
        self._actor = actor
        self._judge = _Judge(request, actor)
        # What is answered of each; where totals are wanted only how many there are of each kind.
        self._results: list[tuple[str, ActionResult]] = []
        self._totals = [0] * len(ActionResult)
        self.jobs: list[Job] = []
        self.clusters: list[Cluster] = []

    @property
    def succeeded(self) -> bool:
        """Whether anything is to be done; otherwise both sides close."""
        return bool(self.jobs or self.clusters)

    @property
    def answer(self) -> ClassAd:
        """The ad that tells the client."""
        answer = _answer(self, self._request, self._actor, len(self._queue.jobs))
        if self._request.totals:
            for code, total in enumerate(self._totals):
                answer[f"result_total_{code}"] = total
        for name, result in self._results:
            answer[name] = int(result)
        return answer

    def look(self) -> Iterator[None]:
        """Look at every job that is meant; yields after each of them.

        Where all are meant no expression is asked, which may take long: it yields after a few.
        """
        request = self._request
        if request.constraint is None:
            yield from self._look_at_named(request.ids or ())
            return
        constraint = _constraint(request.constraint)
        for made in list(self._queue.clusters.values()):
            if is_factory(made):
                if made.ad.satisfies(constraint):
                    self._look_at_cluster(made, only_success=True)
                yield
        everything = _TRUE.fullmatch(request.constraint) is not None
        # Jobs come and go between the slices; who is there now is looked at unless it has left.
        there = self._queue.jobs
        for number, job in enumerate(list(candidates(self._queue, constraint))):
            meant = job.id in there and (everything or job.ad.satisfies(constraint))
            if meant:
                result = self._judge(job)
                if self._judge.fits(job, result):
                    self._note_job(job, result)
            if not everything or number % _A_FEW == 0:
                yield

    def _look_at_named(self, ids: Iterable[tuple[int, int | None]]) -> Iterator[None]:
        for name, jobs, cluster in _named(self._queue, ids):
            if cluster is not None:
                self._look_at_cluster(cluster)
            elif not jobs:
                self._note(name, ActionResult.NOT_FOUND)
            for job in jobs:
                self._note_job(job, self._judge(job))
                yield
            yield

    def _note_job(self, job: Job, result: ActionResult) -> None:
        if result is ActionResult.SUCCESS:
            self.jobs.append(job)
        self._totals[result] += 1
        if not self._request.totals:
            self._results.append((_name(job.id), result))

    def _look_at_cluster(self, cluster: Cluster, *, only_success: bool = False) -> None:
        result = _judge_cluster(self._request, cluster, self._actor)
        if result is ActionResult.SUCCESS:
            self.clusters.append(cluster)
        if result is not None and (result is ActionResult.SUCCESS or not only_success):
            self._note(f"cluster_{cluster.id}", result)

    def _note(self, name: str, result: ActionResult) -> None:
        self._totals[result] += 1
        if not self._request.totals:
            self._results.append((name, result))


# Jobs that are changed in one commit, before others have their turn.
SLICE = 500
# Jobs that are looked at in one step where nothing is asked but what is at hand.
_A_FEW = 20
# Limit: characters of a reason, which each of the jobs gets; their logs have no more of it.
LONGEST_REASON = MAX_TEXT
_TRUE = re.compile(r"[\s(]*(?:true|1)[\s)]*", re.IGNORECASE)


def parse(ad: ClassAd, most_releases: int = -1) -> Request:
    """Read a request ad; RemoteProtocolError for one that makes no sense."""
    number = ad.integer("JobAction")
    action = next((each for each in _ACTIONS if int(each) == number), None)
    if action is None:
        raise RemoteProtocolError(f"there is no job action {number}")
    ids, constraint = ad.string("ActionIds"), ad.text("ActionConstraint")
    if ids is not None and constraint is not None:
        raise RemoteProtocolError("an action names jobs either by ids or by a constraint")
    if constraint is None and ids is None:
        # The wheel says so of an empty list.
        ids = ""
    name = _REASON.get(action)
    return Request(
        action=action,
        totals=ad.integer("ActionResultType") != ActionResultType.LONG,
        reason=(ad.string(name) or "")[:LONGEST_REASON] if name else "",
        subcode=ad.integer("HoldReasonSubCode") or 0,
        ids=tuple(parse_ids(ids)) if ids is not None else None,
        constraint=constraint,
        most_releases=most_releases,
    )


_ACTIONS = tuple(JobAction)


def plan(
    queue: JobQueue,
    request: Request,
    actor: Actor,
    now: int,
    jobs: Iterable[Job],
    clusters: Iterable[Cluster] = (),
) -> Plan:
    """Decide, for jobs and clusters that a survey found, what changes now.

    Time has passed since the survey: who has left, or may not be acted on any more, is passed over.
    """
    # Who gives no reason (the wheel passes none on that is a plain text) is not named either.
    said = f"{request.reason} (by user {actor.owner})" if request.reason else ""
    planned = Plan(request, queue.transaction(), reason=said)
    for cluster in clusters:
        if queue.clusters.get(cluster.id) is cluster:
            _plan_cluster(planned, cluster, actor)
    alike = _Alike(request.action)
    there, judge = queue.jobs, _Judge(request, actor)
    for job in jobs:
        if there.get(job.id) is not job or judge(job) is not ActionResult.SUCCESS:
            continue
        if not alike.takes(job):
            attributes = _attributes(request, job, said, now)
            if attributes:
                planned.transaction.update(key_of(*job.id), attributes)
        planned.done.append(Done(job, request.action, job.status, said))
    for ids in alike.by_status.values():
        attributes = _attributes(request, queue.jobs[ids[0]], said, now)
        texts = {name: text for name, text in attributes.items() if text is not None}
        planned.transaction.update_alike(ids, texts)
    return planned


# Actions that do the same to all jobs of one status, except for those that are to become something
# on release, and those on hold: why they were is noted of each.
_ALIKE = frozenset((JobAction.REMOVE, JobAction.TRANSFER_AND_REMOVE))
_ON_RELEASE = "JobStatusOnRelease"
_ON_RELEASE_KEY = _ON_RELEASE.lower()


class _Alike:
    """The jobs that an action does the same to, by their status."""

    def __init__(self, action: JobAction) -> None:
        self._any = action in _ALIKE
        # What the last job's cluster says is asked once for its jobs.
        self._cluster: ClassAd | None = None
        self._becomes = False
        self.by_status: dict[int, list[JobId]] = {}

    def takes(self, job: Job) -> bool:
        """Take a job in; False if it has to be changed by itself."""
        ad = job.ad
        if ad.parent is not self._cluster:
            self._cluster = ad.parent
            self._becomes = ad.parent is not None and _ON_RELEASE in ad.parent
        if not self._any or self._becomes or job.status == JobStatus.HELD:
            return False
        if _ON_RELEASE_KEY in ad.table:
            return False
        self.by_status.setdefault(job.status, []).append(job.id)
        return True


def _constraint(text: str) -> Expr:
    try:
        return read_constraint(text)
    except RefusedError as refusal:
        raise RemoteProtocolError(refusal.message) from refusal


def _named(
    queue: JobQueue, ids: Iterable[tuple[int, int | None]]
) -> Iterable[tuple[str, list[Job], Cluster | None]]:
    """Yield for each id its name in the answer, its jobs, and its cluster if that makes jobs."""
    for number, proc in ids:
        if proc is not None:
            job = queue.job(number, proc)
            yield f"job_{number}_{proc}", [job] if job is not None else [], None
            continue
        cluster = queue.clusters.get(number)
        if cluster is None:
            yield f"cluster_{number}", [], None
            continue
        makes_jobs = cluster if is_factory(cluster) else None
        yield f"cluster_{number}", list(cluster.procs.values()), makes_jobs


def _name(job: JobId) -> str:
    return f"job_{job.cluster}_{job.proc}"


def _check_nothing(_: Job) -> ActionResult:
    return ActionResult.SUCCESS


def _check_hold(job: Job) -> ActionResult:
    if job.status in {JobStatus.REMOVED, JobStatus.COMPLETED}:
        return ActionResult.PERMISSION_DENIED
    if job.status == JobStatus.HELD:
        code = job.ad.integer("HoldReasonCode")
        if code in {HoldReasonCode.UserRequest, HoldReasonCode.SpoolingInput}:
            return ActionResult.ALREADY_DONE
    return ActionResult.SUCCESS


def _check_release(job: Job) -> ActionResult:
    if job.status != JobStatus.HELD:
        return ActionResult.BAD_STATUS
    if job.ad.integer("HoldReasonCode") == HoldReasonCode.SpoolingInput:
        return ActionResult.BAD_STATUS
    return ActionResult.SUCCESS


def _check_remove(job: Job) -> ActionResult:
    if job.status == JobStatus.REMOVED:
        return ActionResult.ALREADY_DONE
    return ActionResult.SUCCESS


def _check_remove_x(job: Job) -> ActionResult:
    waiting = job.status == JobStatus.HELD and (
        job.ad.integer("JobStatusOnRelease") == JobStatus.REMOVED
    )
    if job.status == JobStatus.REMOVED or waiting:
        return ActionResult.SUCCESS
    return ActionResult.BAD_STATUS


def _check_running(job: Job) -> ActionResult:
    """Return whether a job runs; a suspended one does not: it is not vacated, as the reference."""
    running = {JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT}
    return ActionResult.SUCCESS if job.status in running else ActionResult.BAD_STATUS


def _check_continue(job: Job) -> ActionResult:
    return ActionResult.SUCCESS if job.status == JobStatus.SUSPENDED else ActionResult.BAD_STATUS


_CHECKS = {
    JobAction.HOLD: _check_hold,
    JobAction.RELEASE: _check_release,
    JobAction.REMOVE: _check_remove,
    JobAction.TRANSFER_AND_REMOVE: _check_remove,
    JobAction.REMOVE_X: _check_remove_x,
    JobAction.VACATE: _check_running,
    JobAction.VACATE_FAST: _check_running,
    JobAction.SUSPEND: _check_running,
    JobAction.CONTINUE: _check_continue,
}


class _Judge:
    """Says of one job after the other what an action comes to.

    What the actor may do with a user's jobs is asked once.
    """

    def __init__(self, request: Request, actor: Actor) -> None:
        self._request = request
        self._actor = actor
        self._check = _CHECKS.get(request.action, _check_nothing)
        self._allowed: dict[str, bool] = {}

    def __call__(self, job: Job) -> ActionResult:
        allowed = self._allowed.get(job.user)
        if allowed is None:
            allowed = self._allowed[job.user] = self._actor.may_change(job.user)
        if not allowed:
            return ActionResult.PERMISSION_DENIED
        if job.recorded:
            # Nobody may be told that it is removed whose record says that it is completed.
            return ActionResult.NOT_FOUND
        result = self._check(job)
        if result is ActionResult.SUCCESS and self._request.action is JobAction.RELEASE:
            most = self._request.most_releases
            if not self._actor.super_user and 0 <= most < _holds(job):
                return ActionResult.LIMIT_EXCEEDED
        return result

    def fits(self, job: Job, result: ActionResult) -> bool:
        """Tell whether a job that a constraint found counts: can be acted on, or is held already.

        `result` is what was said of it.

        The reference passes over all others, and counts those that a user has held before. A job
        beside the schedd is not suspended; one that is named is, by the answer, and runs on.
        """
        action = self._request.action
        if action is JobAction.SUSPEND and job.universe in BESIDE_THE_SCHEDD:
            return False
        if result is ActionResult.SUCCESS:
            return True
        result = self._check(job)
        held = action is JobAction.HOLD and result is ActionResult.ALREADY_DONE
        return held or result is ActionResult.SUCCESS


def _holds(job: Job) -> int:
    # Holds are counted, releases are not: each hold but the last was followed by one.
    return job.ad.integer("NumHolds") or 0


def _attributes(request: Request, job: Job, said: str, now: int) -> job_machine.Attributes:
    """Return what changes in the job's ad at once; a suspension is told by the shadow later."""
    match request.action:
        case JobAction.HOLD:
            held = job_machine.Held(said, HoldReasonCode.UserRequest, request.subcode)
            return job_machine.step(job.ad, held, now)
        case JobAction.RELEASE:
            return job_machine.step(job.ad, job_machine.Released(said), now)
        case JobAction.REMOVE | JobAction.TRANSFER_AND_REMOVE:
            return job_machine.step(job.ad, job_machine.Removed(said), now)
        case JobAction.REMOVE_X:
            changes: job_machine.Attributes = {}
            if job.status != JobStatus.REMOVED:
                changes = job_machine.step(job.ad, job_machine.Removed(said), now)
            changes["RemoveReason"] = quote_line(said)
            changes["LeaveJobInQueue"] = "false"
            return changes
        case _:
            return {}


# JobMaterializePaused after an action on a cluster that makes jobs.
_PAUSED = {
    JobAction.HOLD: 1,
    JobAction.RELEASE: 0,
    JobAction.REMOVE: 3,
    JobAction.REMOVE_X: 3,
}


def _judge_cluster(request: Request, cluster: Cluster, actor: Actor) -> ActionResult | None:
    """Judge what an action does to the making of jobs; None if it does nothing to it."""
    paused = _PAUSED.get(request.action)
    if paused is None:
        return None
    if not actor.may_change(cluster.ad.string("User") or ""):
        return ActionResult.PERMISSION_DENIED
    now_paused = cluster.ad.integer("JobMaterializePaused") or 0
    if now_paused == paused:
        return ActionResult.ALREADY_DONE
    if now_paused == _PAUSED[JobAction.REMOVE]:
        return ActionResult.PERMISSION_DENIED
    return ActionResult.SUCCESS


def _plan_cluster(planned: Plan, cluster: Cluster, actor: Actor) -> None:
    if _judge_cluster(planned.request, cluster, actor) is ActionResult.SUCCESS:
        paused = _PAUSED[planned.request.action]
        key = key_of(cluster.id, CLUSTER_PROC)
        planned.transaction.set_attribute(key, "JobMaterializePaused", str(paused))
        if paused == _PAUSED[JobAction.HOLD]:
            planned.transaction.set_attribute(key, PAUSE_REASON, quote_line(planned.reason))
        elif PAUSE_REASON in cluster.ad:
            planned.transaction.delete_attribute(key, PAUSE_REASON)
        planned.factories.append((cluster, paused))


def _answer(
    survey: Survey,
    request: Request,
    actor: Actor,
    jobs: int,
) -> ClassAd:
    return ClassAd(
        {
            "JobAction": int(request.action),
            "TotalJobAds": jobs,
            "ActionResult": int(survey.succeeded),
            "ActionResultType": int(
                ActionResultType.TOTALS if request.totals else ActionResultType.LONG
            ),
            "IsQueueSuperUser": actor.super_user,
        }
    )
