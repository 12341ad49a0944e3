"""The calls of queue management that change queued jobs: attributes, many at once, removal.

What each comes to for one job is `qmgmt_changes`'.
Source: wire notes, Schedd queue management (R046, R065).
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from kettle.classad import ClassAd, Expr
from kettle.errors import RefusedError
from kettle.schedd.queue import attribute_rules
from kettle.schedd.queue.job_ids import CLUSTER_PROC, key_of
from kettle.schedd.queue.qmgmt_answers import NO_FLAGS, Answer, Steps, code
from kettle.schedd.queue.qmgmt_changes import Changes
from kettle.schedd.queue.selection import candidate_clusters, candidates, parse_constraint
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.qmgmt import SetAttributeFlags
from kettle.wire.messages.rpc import Call


class Edits:
    """The edits of one connection."""

    def __init__(self, changes: Changes, now: Callable[[], int]) -> None:
        self._changes = changes
        self._now = now

    def on_set_attribute(self, call: calls.SetAttribute) -> Answer:
        """Serve the setting of one attribute, as old clients ask for it."""
        self._changes.set(call.cluster, call.proc, call.name, call.value, NO_FLAGS)
        return code(0)

    def on_set_by_constraint(self, call: calls.SetAttributeByConstraint) -> Answer:
        """Serve an edit of all jobs that are meant."""
        return self._set_by_constraint(call.constraint, call.name, call.value, NO_FLAGS)

    def on_set_by_constraint2(self, call: calls.SetAttributeByConstraint2) -> Answer:
        """Serve an edit of all jobs that are meant, with flags."""
        return self._set_by_constraint(call.constraint, call.name, call.value, call.flags)

    def _set_by_constraint(self, constraint: str, name: str, text: str, flags: int) -> Answer:
        attribute_rules.check_shape(name, text)
        return Answer(steps=self._set_each(parse_constraint(constraint), name, text, flags))

    def _set_each(self, constraint: Expr | None, name: str, text: str, flags: int) -> Steps:
        jobs = clusters = 0
        changes = self._changes
        refusal: RefusedError | None = None
        # A super user's own are all, as in the reference.
        only_own = bool(flags & SetAttributeFlags.ONLY_MY_JOBS) and not changes.effective.super_user
        for cluster, proc, ad in self._meant(constraint, flags):
            # What the one before cost is a stranger's to say.
            yield
            if constraint is not None and not ad.satisfies(constraint):
                continue
            if only_own and ad.string("User") != changes.effective.user:
                continue
            try:
                changes.set(cluster, proc, name, text, flags)
                jobs += proc != CLUSTER_PROC
                clusters += proc == CLUSTER_PROC
            except RefusedError as refused:
                refusal = refused
        # Clusters count only where there are no jobs.
        count = jobs or clusters
        if count == 0 and refusal is not None:
            raise refusal
        return code(count) if count else code(-1, errno.ENOENT)

    def _meant(self, constraint: Expr | None, flags: int) -> list[tuple[int, int, ClassAd]]:
        """Return whose ads a constraint may mean: jobs', and clusters' where those are edited."""
        queue = self._changes.queue
        found = queue.jobs.values() if constraint is None else candidates(queue, constraint)
        meant = [(job.id.cluster, job.id.proc, job.ad) for job in found]
        if flags & SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE:
            clusters = candidate_clusters(queue, constraint)
            meant += [(cluster.id, CLUSTER_PROC, cluster.ad) for cluster in clusters]
        return meant

    def on_set_timer(self, call: calls.SetTimerAttribute) -> Answer:
        """Serve the setting of an attribute to a moment from now."""
        text = str(self._now() + call.seconds)
        self._changes.set(call.cluster, call.proc, call.name, text, NO_FLAGS)
        return code(0)

    def on_delete_attribute(self, call: calls.DeleteAttribute) -> Answer:
        """Serve the removal of an attribute."""
        if not self._changes.delete(call.cluster, call.proc, call.name):
            return code(-1, errno.EINVAL)
        return code(0)

    def on_destroy_proc(self, call: calls.DestroyProc) -> Answer:
        """Serve the removal of a job: refused, as it leaves through its machine."""
        cluster, proc = call.cluster, call.proc
        if not self._changes.transaction.exists(key_of(cluster, proc)) or proc < 0:
            return code(-3, errno.ENOENT)
        try:
            self._changes.check_may_change(cluster, proc, "Destroying")
        except RefusedError as refusal:
            return code(-2, refusal.code)
        # A job leaves the queue through its machine, never by a client's deletion.
        return code(-1, errno.EINVAL)

    def on_destroy_cluster(self, call: calls.DestroyCluster) -> Answer:
        """Serve the removal of a cluster: refused, as that of a job."""
        self._changes.check_may_change(call.cluster, CLUSTER_PROC, "Destroying")
        return code(-1, errno.EINVAL)


EDITING: dict[type[Call], Callable[[Edits, Any], Answer]] = {
    calls.DestroyCluster: Edits.on_destroy_cluster,
    calls.DestroyProc: Edits.on_destroy_proc,
    calls.SetAttribute: Edits.on_set_attribute,
    calls.SetAttributeByConstraint: Edits.on_set_by_constraint,
    calls.SetAttributeByConstraint2: Edits.on_set_by_constraint2,
    calls.SetTimerAttribute: Edits.on_set_timer,
    calls.DeleteAttribute: Edits.on_delete_attribute,
}
