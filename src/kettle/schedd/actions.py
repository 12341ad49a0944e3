"""ACT_ON_JOBS: hold, release, remove, vacate, suspend, continue, for jobs named or described.

`plan` decides for each job whether the actor may do it and whether it makes sense, and gives the
transaction, the answer and what must be told to running jobs. Committing, signalling shadows and
writing events are the shell's. Source: wire reference, ACT_ON_JOBS (R067, R068).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kettle.attributes.codes import (
    ActionResult,
    ActionResultType,
    HoldReasonCode,
    JobAction,
    JobStatus,
)
from kettle.classad import ClassAd, Expr, parse_expression
from kettle.errors import ClassAdSyntaxError, RemoteProtocolError
from kettle.schedd import job_machine
from kettle.schedd.actors import Actor
from kettle.schedd.factory import is_factory
from kettle.schedd.job_ids import CLUSTER_PROC, JobId, key_of, parse_ids
from kettle.schedd.job_queue import Cluster, Job, JobQueue
from kettle.schedd.selection import holds, select_jobs
from kettle.schedd.transaction import Transaction

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
    """What a client asks: the action and the jobs, by ids or by a constraint."""

    action: JobAction
    totals: bool
    reason: str
    subcode: int
    ids: tuple[tuple[int, int | None], ...] | None
    constraint: str | None


@dataclass(slots=True)
class Done:
    """One job's part of a plan; `was` is the status before, which says who runs it now."""

    job: Job
    action: JobAction
    was: int
    reason: str


@dataclass(slots=True)
class Plan:
    """What an action comes to: the answer, the changes, and the jobs it was done to."""

    request: Request
    answer: ClassAd
    transaction: Transaction
    done: list[Done] = field(default_factory=list)
    # Clusters that stop or go on making jobs: cluster, JobMaterializePaused.
    factories: list[tuple[Cluster, int]] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """Whether anything is to be committed; otherwise both sides close."""
        return bool(self.done or self.factories)


def parse(ad: ClassAd) -> Request:
    """Read a request ad; RemoteProtocolError for one that makes no sense."""
    number = ad.integer("JobAction")
    action = next((each for each in _ACTIONS if int(each) == number), None)
    if action is None:
        raise RemoteProtocolError(f"there is no job action {number}")
    ids, constraint = ad.string("ActionIds"), ad.text("ActionConstraint")
    if (ids is None) == (constraint is None):
        raise RemoteProtocolError("an action names jobs either by ids or by a constraint")
    name = _REASON.get(action)
    return Request(
        action=action,
        totals=ad.integer("ActionResultType") != ActionResultType.LONG,
        reason=(ad.string(name) or "") if name else "",
        subcode=ad.integer("HoldReasonSubCode") or 0,
        ids=tuple(parse_ids(ids)) if ids is not None else None,
        constraint=constraint,
    )


_ACTIONS = tuple(JobAction)


def plan(queue: JobQueue, request: Request, actor: Actor, now: int) -> Plan:
    """Decide for every job that a request means; nothing is changed yet."""
    planned = Plan(request, ClassAd(), queue.transaction())
    results: list[tuple[str, ActionResult]] = []
    said = (
        f"{request.reason} (by user {actor.owner})"
        if request.reason
        else (f"by user {actor.owner}")
    )
    if request.constraint is not None:
        constraint = _constraint(request.constraint)
        for made in queue.clusters.values():
            if is_factory(made) and holds(made.ad, constraint):
                decided = _decide_cluster(planned, made, actor)
                results += [each for each in decided if each[1] is ActionResult.SUCCESS]
        for job in list(select_jobs(queue, constraint)):
            if not _fits(request.action, job):
                continue
            results.append((_name(job.id), _decide(planned, job, actor, said, now)))
    else:
        for job_id, jobs, cluster in _named(queue, request.ids or ()):
            if cluster is not None:
                results += _decide_cluster(planned, cluster, actor)
            elif not jobs:
                results.append((job_id, ActionResult.NOT_FOUND))
            results += [(_name(job.id), _decide(planned, job, actor, said, now)) for job in jobs]
    planned.answer = _answer(planned, results, actor, len(queue.jobs))
    return planned


def _constraint(text: str) -> Expr:
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError as error:
        raise RemoteProtocolError(f"the constraint does not parse: {error}") from error


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


def _fits(action: JobAction, job: Job) -> bool:
    """Tell whether a job that a constraint found counts: it can be acted on, or is held already.

    The reference passes over all others, and counts those that a user has held before.
    """
    result = _check(action, job)
    held = action is JobAction.HOLD and result is ActionResult.ALREADY_DONE
    return held or result is ActionResult.SUCCESS


def _check(action: JobAction, job: Job) -> ActionResult:
    """Return what the job's status says about an action."""
    check = _CHECKS.get(action)
    return ActionResult.SUCCESS if check is None else check(job)


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
    running = {JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED}
    return ActionResult.SUCCESS if job.status in running else ActionResult.BAD_STATUS


def _check_suspend(job: Job) -> ActionResult:
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
    JobAction.SUSPEND: _check_suspend,
    JobAction.CONTINUE: _check_continue,
}


def _decide(planned: Plan, job: Job, actor: Actor, said: str, now: int) -> ActionResult:
    request = planned.request
    if not actor.may_change(job.user):
        return ActionResult.PERMISSION_DENIED
    result = _check(request.action, job)
    if result is not ActionResult.SUCCESS:
        return result
    attributes = _attributes(request, job, said, now)
    if attributes:
        planned.transaction.update(key_of(*job.id), attributes)
    planned.done.append(Done(job, request.action, job.status, said))
    return ActionResult.SUCCESS


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
            changes["RemoveReason"] = job_machine.quote(said)
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


def _decide_cluster(
    planned: Plan, cluster: Cluster, actor: Actor
) -> Iterable[tuple[str, ActionResult]]:
    """Decide about the making of jobs; yields the cluster's own line of the answer."""
    paused = _PAUSED.get(planned.request.action)
    if paused is None:
        return
    name = f"cluster_{cluster.id}"
    if not actor.may_change(cluster.ad.string("User") or ""):
        yield name, ActionResult.PERMISSION_DENIED
        return
    now_paused = cluster.ad.integer("JobMaterializePaused") or 0
    if now_paused == paused:
        yield name, ActionResult.ALREADY_DONE
        return
    if now_paused == _PAUSED[JobAction.REMOVE]:
        yield name, ActionResult.PERMISSION_DENIED
        return
    key = key_of(cluster.id, CLUSTER_PROC)
    planned.transaction.set_attribute(key, "JobMaterializePaused", str(paused))
    planned.factories.append((cluster, paused))
    yield name, ActionResult.SUCCESS


def _answer(
    planned: Plan, results: list[tuple[str, ActionResult]], actor: Actor, jobs: int
) -> ClassAd:
    request = planned.request
    answer = ClassAd(
        {
            "JobAction": int(request.action),
            "TotalJobAds": jobs,
            "ActionResult": int(planned.succeeded),
            "ActionResultType": int(
                ActionResultType.TOTALS if request.totals else ActionResultType.LONG
            ),
            "IsQueueSuperUser": actor.super_user,
        }
    )
    if not request.totals:
        for name, result in results:
            answer[name] = int(result)
        return answer
    totals = [0] * len(ActionResult)
    for _, result in results:
        totals[result] += 1
    for code, total in enumerate(totals):
        answer[f"result_total_{code}"] = total
    return answer
