"""The calls of queue management that read: one attribute, one ad, all ads, what has changed.

They see the connection's open transaction as if it were committed already. Scans and long answers
are over the jobs of the moment in which they begin. The calls that change are `qmgmt_edits`'.
Source: wire notes, Schedd queue management.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kettle.classad import ClassAd, Expr
from kettle.errors import RefusedError
from kettle.policy.match_expansion import expand_match
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.job_table import take_away
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.qmgmt_answers import Answer, Steps, code
from kettle.schedd.queue.qmgmt_changes import Changes
from kettle.schedd.queue.selection import candidates, look, parse_constraint
from kettle.wire.codec import Writer, is_private_attribute, split_names
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call

# The slot that a job has got, None if it has none.
SlotOf = Callable[[JobId], ClassAd | None]


@dataclass(slots=True)
class _AllJobs:
    """The one long message of GetAllJobsByConstraint: jobs of the moment in which it begins."""

    jobs: list[Job]
    constraint: Expr | None
    projection: list[str] | None
    now: int

    def parts(self, encrypted: bool) -> Iterator[tuple[bytes, bool]]:
        constraint = self.constraint
        for job in self.jobs:
            if constraint is None or job.ad.satisfies(constraint):
                writer = Writer(encrypted).integer(0)
                writer.ad(job.ad, server_time=self.now, projection=self.projection)
                yield writer.getvalue(), False
            else:
                yield b"", False
        yield Writer(encrypted).integer(-1).integer(0).getvalue(), True


_READING_ONE = (
    calls.GetAttributeInt,
    calls.GetAttributeFloat,
    calls.GetAttributeString,
    calls.GetAttributeExpr,
)


class Reading:
    """What one connection sees, with its changes.

    `expands` is set on a connection that may write: there GetJobAd fills in `$$()`.
    """

    def __init__(
        self,
        queue: JobQueue,
        changes: Changes,
        actor: Actor,
        now: Callable[[], int],
        slot_of: SlotOf,
        *,
        expands: bool,
    ) -> None:
        self._queue = queue
        self._changes = changes
        self._actor = actor
        self._now = now
        self._slot_of = slot_of
        self._expands = expands
        self._scan: Iterator[Job] = iter(())

    def on_get_value(self, call: Call) -> Answer:
        """Serve the four calls that read one attribute."""
        assert isinstance(call, _READING_ONE)
        cluster, proc, name = call.cluster, call.proc, call.name
        if not self._changes.transaction.exists(key_of(cluster, proc)):
            raise RefusedError(f"there is no job {cluster}.{proc}", code=errno.ENOENT)
        if is_private_attribute(name) and not self._actor.super_user:
            raise RefusedError(f"{name} is private", code=errno.EACCES)
        if self._changes.transaction.text(cluster, proc, name) is None:
            raise RefusedError(f"job {cluster}.{proc} has no {name}", code=errno.EINVAL)
        ad = self._view(cluster, proc)
        value: int | float | str | None
        if isinstance(call, calls.GetAttributeInt):
            value = ad.integer(name)
        elif isinstance(call, calls.GetAttributeFloat):
            value = ad.real(name)
        elif isinstance(call, calls.GetAttributeString):
            value = ad.string(name)
        else:
            value = ad.text(name)
        if value is None:
            raise RefusedError(f"{name} has another type", code=errno.EINVAL)
        return Answer(call.answer(0, result=value))

    def _view(self, cluster: int, proc: int) -> ClassAd:
        """Return a job's (or cluster's) ad as it would be after the commit."""
        keys = [key_of(cluster, CLUSTER_PROC)]
        if proc >= 0:
            keys.append(key_of(cluster, proc))
        committed = self._queue.ad(keys[-1])
        changed = [list(self._changes.transaction.overlay_of(key)) for key in keys]
        if committed is not None and not any(changed):
            return committed
        view = ClassAd()
        for number, (key, overlay) in enumerate(zip(keys, changed, strict=True)):
            if number:
                view = ClassAd(parent=view)
            ad = self._queue.ad(key)
            if ad is not None:
                for name in ad.own_names():
                    view.insert_text(name, ad.text(name) or "undefined")
            for name, text in overlay:
                if text is None:
                    take_away(view, name)
                else:
                    view.insert_text(name, text)
        return view

    def on_get_job_ad(self, call: calls.GetJobAd) -> Answer:
        """Serve GetJobAd, of a job or of a cluster."""
        if not self._changes.transaction.exists(key_of(call.cluster, call.proc)):
            return code(-1, errno.ENOENT)
        ad = self._view(call.cluster, call.proc)
        if self._expands and call.proc >= 0:
            ad = self._expanded(JobId(call.cluster, call.proc), ad)
        return Answer(call.answer(0, result=ad))

    def _expanded(self, job: JobId, ad: ClassAd) -> ClassAd:
        """Fill in `$$()` from the slot the job has got; without one they stay as they are."""
        slot = self._slot_of(job)
        if slot is None:
            return ad
        expanded = ClassAd(parent=ad)
        for name, text in expand_match(ad, slot).changed.items():
            expanded[name] = text
        return expanded

    def on_get_job_by_constraint(self, call: calls.GetJobByConstraint) -> Answer:
        """Serve GetJobByConstraint: the first that matches."""
        found = look(self._queue, parse_constraint(call.constraint))
        return Answer(steps=self._first_of(call, found))

    def on_get_next_job(self, call: calls.GetNextJob) -> Answer:
        """Serve GetNextJob."""
        if call.start:
            self._scan = iter(list(self._queue.jobs.values()))
        return self._first(call, self._scan)

    def on_get_next_by_constraint(self, call: calls.GetNextJobByConstraint) -> Answer:
        """Serve GetNextJobByConstraint."""
        if not call.start:
            return self._first(call, self._scan)
        found = look(self._queue, parse_constraint(call.constraint))
        return Answer(steps=self._begin_scan(call, found))

    def _first_of(self, call: Call, found: Iterator[Job | None]) -> Steps:
        """Answer the first that is found, by steps."""
        for job in found:
            if job is not None and job.id in self._queue.jobs:
                return Answer(call.answer(0, result=job.ad))
            yield
        return code(-1, errno.ENOENT)

    def _begin_scan(self, call: Call, found: Iterator[Job | None]) -> Steps:
        """Begin a scan of all that are found now, by steps, and answer the first."""
        jobs: list[Job] = []
        for job in found:
            if job is not None:
                jobs.append(job)
            yield
        self._scan = iter(jobs)
        return self._first(call, self._scan)

    def _first(self, call: Call, jobs: Iterator[Job]) -> Answer:
        for job in jobs:
            # A scan may have begun before a job left.
            if job.id in self._queue.jobs:
                return Answer(call.answer(0, result=job.ad))
        return code(-1, errno.ENOENT)

    def on_get_all(self, call: calls.GetAllJobsByConstraint) -> Answer:
        """Serve GetAllJobsByConstraint."""
        constraint, queue = parse_constraint(call.constraint), self._queue
        jobs = queue.jobs.values() if constraint is None else candidates(queue, constraint)
        names = split_names(call.projection) or None
        return Answer(parts=_AllJobs(list(jobs), constraint, names, self._now()).parts)

    def on_get_next_dirty(self, call: calls.GetNextDirtyJobByConstraint) -> Answer:
        """Serve GetNextDirtyJobByConstraint: only jobs of which something changed."""
        if not call.start:
            return self._first(call, self._scan)
        dirty, meant = self._queue.dirty, parse_constraint(call.constraint)
        found = (job for job in look(self._queue, meant) if job is None or job.id in dirty)
        return Answer(steps=self._begin_scan(call, found))

    def on_get_dirty_attributes(self, call: calls.GetDirtyAttributes) -> Answer:
        """Serve GetDirtyAttributes: what was set with the flag since it was last cleared."""
        job = self._queue.job(call.cluster, call.proc)
        if job is None:
            return code(-1, errno.ENOENT)
        found = ClassAd()
        for name in self._queue.dirty.get(job.id, ()):
            text = job.ad.text(name)
            if text is not None and not is_private_attribute(name):
                found.insert_text(name, text)
        return Answer(call.answer(0, result=found))


READING: dict[type[Call], Callable[[Reading, Any], Answer]] = {
    calls.GetAttributeFloat: Reading.on_get_value,
    calls.GetAttributeInt: Reading.on_get_value,
    calls.GetAttributeString: Reading.on_get_value,
    calls.GetAttributeExpr: Reading.on_get_value,
    calls.GetNextJob: Reading.on_get_next_job,
    calls.GetJobAd: Reading.on_get_job_ad,
    calls.GetJobByConstraint: Reading.on_get_job_by_constraint,
    calls.GetNextJobByConstraint: Reading.on_get_next_by_constraint,
    calls.GetNextDirtyJobByConstraint: Reading.on_get_next_dirty,
    calls.GetAllJobsByConstraint: Reading.on_get_all,
    calls.GetDirtyAttributes: Reading.on_get_dirty_attributes,
}
