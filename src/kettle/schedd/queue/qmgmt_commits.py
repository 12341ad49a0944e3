"""The calls of queue management that end a transaction: its commit, after the rules, or nothing.

What a submission gains at its commit is `submission`'s, what rules do to it `job_rules`'.
Source: wire notes, Schedd queue management (R046, R065).
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Any

from kettle.classad import ClassAd
from kettle.classad.text import read_old_string
from kettle.errors import RefusedError, StorageError
from kettle.schedd.queue import attribute_rules, job_rules, submission, user_records
from kettle.schedd.queue.ad_sizes import check_sizes
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId
from kettle.schedd.queue.qmgmt_answers import NO_FLAGS, Answer, Steps, code
from kettle.schedd.queue.qmgmt_changes import Changes
from kettle.schedd.queue.transaction import Change, Transaction
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.qmgmt import SetAttributeFlags
from kettle.wire.messages.rpc import Call


class Commits:
    """The commits of one connection."""

    def __init__(
        self,
        changes: Changes,
        now: Callable[[], int],
        edited: Callable[[Sequence[Change]], object],
        own_ad: Callable[[], ClassAd],
        tell: Callable[[str], object],
        monotonic: Callable[[], float],
    ) -> None:
        self._changes = changes
        self._queue = changes.queue
        self._settings = changes.settings
        self._now = now
        self._edited = edited
        self._own_ad = own_ad
        self._tell = tell
        self._monotonic = monotonic

    def on_begin(self, _call: Call) -> Answer:
        """Serve the beginning of a transaction, which a connection always has."""
        return code(0)

    def on_abort(self, _call: Call) -> Answer:
        """Serve the end of a transaction that comes to nothing."""
        self._changes.forget()
        return code(0)

    def on_commit(self, call: calls.CommitTransactionNoFlags) -> Answer:
        """Serve a commit as old clients ask for it."""
        return self.commit(call, NO_FLAGS)

    def on_commit_flags(self, call: calls.CommitTransaction) -> Answer:
        """Serve a commit that says how it is to be done."""
        return self.commit(call, call.flags)

    def commit(self, call: Call, flags: int) -> Answer:
        """Answer a commit; where rules change what is submitted, after steps."""
        failure, clusters = self._changes.failure, self._changes.new_clusters
        if failure is None:
            failure = self._refuse_commit(clusters)
        if failure is not None:
            return self._refuse_to_commit(call, failure.code or errno.EINVAL, failure.message)
        if clusters and self._settings.rules:
            return Answer(steps=self._commit_by_rules(call, flags))
        return self._commit_as_is(call, flags, "")

    def _commit_by_rules(self, call: Call, flags: int) -> Steps:
        """Commit a submission that the administrator's rules change, or refuse."""
        applying = job_rules.Applying(self._settings.rules, self._own_ad, self._tell)
        try:
            yield from job_rules.apply_to_submission(
                self._changes.transaction,
                list(self._changes.new_clusters.items()),
                applying,
                self._set_by_rule,
                self._monotonic,
            )
        except RefusedError as refusal:
            return self._refuse_to_commit(call, refusal.code or errno.EINVAL, refusal.message)
        return self._commit_as_is(call, flags, "|".join(applying.warnings))

    def _set_by_rule(self, cluster: int, proc: int, name: str, text: str) -> None:
        attribute_rules.check_shape(name, text, cluster, proc)
        self._changes.set_new(cluster, proc, name, text)

    def _commit_as_is(self, call: Call, flags: int, warning: str) -> Answer:
        transaction, clusters = self._changes.transaction, self._changes.new_clusters
        try:
            check_sizes(transaction, self._queue)
        except RefusedError as refusal:
            return self._refuse_to_commit(call, refusal.code or errno.EINVAL, refusal.message)
        submission.complete(transaction, clusters.items(), self._settings, self._now())
        for user in {self._user_of(transaction, cluster) for cluster in clusters}:
            user_records.plan_record(transaction, self._queue, user)
        try:
            self._queue.commit_asked(transaction, self._tell)
        except Exception as error:
            if isinstance(error, StorageError) and not transaction.taken:
                return self._refuse_to_commit(call, errno.ENOSPC, str(error))
            if not transaction.taken or getattr(error, "ends_daemon", False):
                raise
            # The log has it, whatever follows the queue says of it: to refuse it now would have
            # the client send the same jobs again.
            self._tell(f"What follows a commit failed: {error!r}")
        edited = self._changes.edited
        if edited:
            self._edited([change for change in transaction.changes if change[1] in edited])
        for cluster, proc, name in self._changes.dirty:
            self._queue.mark_dirty(JobId(cluster, proc), name)
        logged = self._changes.logged
        self._changes.forget()
        # Compat: no ad follows a success, as from a peer of unknown version; every client asks
        # first whether the message has bytes left (test_a_commit_answers_one_number).
        details = ClassAd({"WarningReason": warning}) if warning else None
        reply = call.answer(0, details=details)
        return Answer(reply, durable=not flags & SetAttributeFlags.NON_DURABLE, logged=logged)

    def _refuse_to_commit(self, call: Call, code: int, reason: str) -> Answer:
        self._changes.forget()
        details = ClassAd({"ErrorCode": code, "ErrorReason": reason})
        return Answer(call.answer(-1, errno=code, details=details))

    @staticmethod
    def _user_of(transaction: Transaction, cluster: int) -> str:
        text = transaction.text(cluster, CLUSTER_PROC, "User")
        return read_old_string(text or transaction.text(cluster, 0, "User") or "") or ""

    def _refuse_commit(self, clusters: dict[int, int]) -> RefusedError | None:
        """Every new job has an owner: its cluster's, or its own."""
        anonymous = {
            cluster
            for cluster in clusters
            if self._changes.text(cluster, CLUSTER_PROC, "Owner") is None
        }
        if not anonymous:
            return None
        # Cluster → whether all its jobs have one.
        owned: dict[int, bool] = {}
        for key, texts in self._changes.transaction.own_texts(frozenset({"owner"})).items():
            cluster = int(key.partition(".")[0])
            owned[cluster] = owned.get(cluster, True) and bool(texts)
        for cluster in sorted(anonymous):
            if not owned.get(cluster):
                return RefusedError(f"cluster {cluster} has no Owner", code=errno.EINVAL)
        return None


ENDING: dict[type[Call], Callable[[Commits, Any], Answer]] = {
    calls.BeginTransaction: Commits.on_begin,
    calls.AbortTransaction: Commits.on_abort,
}
"""Calls that anybody may make."""

COMMITTING: dict[type[Call], Callable[[Commits, Any], Answer]] = {
    calls.CommitTransactionNoFlags: Commits.on_commit,
    calls.CommitTransaction: Commits.on_commit_flags,
}
