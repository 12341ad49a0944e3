"""The queue management protocol: one connection, one request message after the other.

`Connection.handle` takes a request apart, changes the connection's transaction or reads through it,
and says what is answered. It performs nothing: the shell sends the answer, waits for the disk
before it sends one that is `durable`, and closes where told. Which attributes may be set is
`attribute_rules`', what a submission gains at its commit `submission`'s.
Source: wire notes, Schedd queue management (R046, R065, R069).
"""

# ruff: noqa: SLF001 - the tables at the end name methods of the one class here
from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kettle.classad import ClassAd, Expr, is_expression
from kettle.classad.text import quote_line, read_old_string
from kettle.errors import RefusedError, RemoteProtocolError, StorageError
from kettle.schedd.queue import attribute_rules, job_rules, submission, user_records
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.ad_sizes import check_sizes
from kettle.schedd.queue.item_intake import ItemIntake, ItemsFile
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.qmgmt_answers import CLOSE, SILENCE, Answer, LoggedChange, Steps, code
from kettle.schedd.queue.qmgmt_reading import READING, Reading, SlotOf
from kettle.schedd.queue.selection import candidate_clusters, candidates, parse_constraint
from kettle.schedd.queue.transaction import CHANGE_BYTES, Change, Transaction
from kettle.schedd.settings import QueueSettings
from kettle.submit.digest import LONGEST_DIGEST
from kettle.transfer.plan import is_url
from kettle.wire.codec import Reader
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.qmgmt import SetAttributeFlags
from kettle.wire.messages.rpc import Call

_NO_ACK = int(SetAttributeFlags.NO_ACK)
_NO_FLAGS = SetAttributeFlags(0)
_SET_ATTRIBUTE2 = 10027

# The bit of GetCapabilities that asks for texts too.
_WITH_HELP_TEXT = 1
# Limit: clusters one transaction may make; a client with more commits in between. To commit so many
# takes about two seconds, in which nobody else is served.
MOST_CLUSTERS = 10_000
# Limit: what one open transaction takes in memory, about; 100,000 jobs submitted one by one with
# their attributes take 150 MB.
MOST_TRANSACTION_BYTES = 1 << 30
# Limit: what all large open transactions take together, and from where on one counts as large.
MOST_OPEN_BYTES = 2 << 30
LARGE_TRANSACTION_BYTES = 16 << 20
# Limit: what a cluster's items may be called; the kernel's own bound of a path.
LONGEST_FILE_NAME = 4096


class Spool(Protocol):
    """Where a submission's files are kept."""

    def begin_items(self, cluster: int) -> ItemsFile:
        """Begin to keep the rows of a late materialized cluster."""

    def write_digest(self, cluster: int, text: str) -> str:
        """Keep the submit text that makes its jobs; return the file's name."""

    def read_help(self, path: str) -> str:
        """Return the text that explains the schedd's own submit commands, empty without one."""


def _nobody(_: Sequence[Change]) -> None:
    return None


def _silent(_: str) -> None:
    return None


class Connection:
    """One client's dialogue with the queue."""

    def __init__(
        self,
        queue: JobQueue,
        actor: Actor,
        settings: QueueSettings,
        *,
        writable: bool,
        now: Callable[[], int],
        spool: Spool,
        edited: Callable[[Sequence[Change]], object] = _nobody,
        slot_of: SlotOf = lambda job: None,  # noqa: ARG005
        own_ad: Callable[[], ClassAd] = ClassAd,
        tell: Callable[[str], object] = _silent,
        monotonic: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`edited` is told what a client changed in jobs that are already queued.

        `own_ad` is the schedd's own, for conditions that speak of it; `tell` is its log, and
        `monotonic` counts the seconds of what takes long.
        """
        self._queue = queue
        self._edited = edited
        self._actor = actor
        self._effective = actor
        self._settings = settings
        self._writable = writable
        self._now = now
        self._spool = spool
        self._own_ad = own_ad
        self._tell = tell
        self._monotonic = monotonic
        self._transaction = queue.transaction()
        # New clusters of the transaction: number → the next proc.
        self._new_clusters: dict[int, int] = {}
        # How many jobs of theirs there are.
        self._new_jobs = 0
        self._active_cluster = -1
        # Why the transaction cannot be committed: a NoAck request that failed.
        self._failure: RefusedError | None = None
        self._protected_allowed = False
        self._is_cut_off = False
        # New clusters, also of transactions that came to nothing, that may have files in the spool.
        self.spooled: set[int] = set()
        # What was set with the flag that tells others of it.
        self._dirty: list[tuple[int, int, str]] = []
        # What was set with the flag that has the job's log say so.
        self._logged: list[LoggedChange] = []
        self._reading = Reading(
            queue, self._transaction, actor, now, slot_of, expands=writable and actor.known
        )

    def handle(self, request: Reader) -> Answer:
        """Serve one request; RemoteProtocolError costs the connection."""
        self._check_not_cut_off()
        op = request.integer()
        if op == _SET_ATTRIBUTE2:
            return self._on_set_attribute2(request)
        kind = calls.CALLS.get(op)
        if kind is None or (kind not in _HANDLERS and kind not in READING):
            raise RemoteProtocolError(f"queue management has no operation {op}")
        call = kind.read(request)
        if kind in _WRITING and not self._may_write:
            return Answer(call.answer(-1, errno=errno.EACCES))
        try:
            if kind in READING:
                return READING[kind](self._reading, call)
            answer = _HANDLERS[kind](self, call)
            self._check_size()
        except RefusedError as refusal:
            return Answer(call.answer(-1, errno=refusal.code))
        if answer.steps is not None:
            return Answer(steps=self._go_on(call, answer.steps))
        return answer

    def _go_on(self, call: Call, steps: Steps) -> Steps:
        """Do long work step by step, refused as short work is."""
        while True:
            self._check_not_cut_off()
            try:
                next(steps)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            except RefusedError as refusal:
                return Answer(call.answer(-1, errno=refusal.code))
            self._check_size()
            yield

    @property
    def _may_write(self) -> bool:
        return self._writable and self._actor.known

    def _check_size(self) -> None:
        """Raise RemoteProtocolError for a transaction that would not fit in memory."""
        size = self._transaction.size
        if size <= LARGE_TRANSACTION_BYTES:
            return
        if size > MOST_TRANSACTION_BYTES:
            raise RemoteProtocolError(
                f"a transaction is larger than {MOST_TRANSACTION_BYTES >> 20} MiB"
            )
        self._queue.open_transactions.note(self, MOST_OPEN_BYTES)
        self._check_not_cut_off()

    def _check_not_cut_off(self) -> None:
        """Raise RemoteProtocolError if the transaction was given up for others'."""
        if self._is_cut_off:
            raise RemoteProtocolError(
                f"all open transactions together are larger than {MOST_OPEN_BYTES >> 20} MiB"
            )

    @property
    def user(self) -> str:
        """Whose connection it is."""
        return self._actor.user

    @property
    def held_bytes(self) -> int:
        """What the transaction takes in memory, about."""
        return self._transaction.size

    def cut_off(self) -> None:
        """Give the transaction up, and the connection with its next request."""
        self._is_cut_off = True
        self._forget_transaction()

    def _check_may_write(self) -> None:
        if not self._may_write:
            raise RefusedError("this connection may not change the queue", code=errno.EACCES)

    @property
    def has_uncommitted(self) -> bool:
        """Whether hanging up now would lose changes."""
        return bool(self._transaction)

    # -- submitting -------------------------------------------------------------------------

    def _on_new_cluster(self, call: calls.NewCluster) -> Answer:
        refusal = self._refuse_new_jobs(1)
        if refusal is None and len(self._new_clusters) >= MOST_CLUSTERS:
            refusal = (-10, f"more than {MOST_CLUSTERS} clusters in one transaction")
        if refusal is not None:
            return self._refused(call, *refusal)
        cluster = self._queue.take_cluster_number()
        submission.add_cluster(self._transaction, cluster)
        self._new_clusters[cluster] = 0
        self._active_cluster = cluster
        return code(cluster)

    def _refused(self, call: Call, value: int, reason: str) -> Answer:
        details = ClassAd({"ErrorCode": value, "ErrorReason": reason})
        return Answer(call.answer(value, errno=errno.EINVAL, details=details))

    def _refuse_new_jobs(self, more: int) -> tuple[int, str] | None:
        """Return the result and reason if a limit stands against more jobs."""
        limits, actor = self._settings, self._effective
        submitted = self._new_jobs + more
        if 0 < limits.most_jobs < len(self._queue.jobs) + submitted:
            return -2, f"the queue has its {limits.most_jobs} jobs (MAX_JOBS_SUBMITTED)"
        disabled = user_records.disabled_reason(self._queue, actor.user)
        if disabled is not None:
            return -5, disabled
        own = len(self._queue.by_user.get(actor.user, ()))
        if 0 < limits.most_jobs_of_owner < own + submitted:
            return -3, f"{actor.user} has {limits.most_jobs_of_owner} jobs (MAX_JOBS_PER_OWNER)"
        if 0 < limits.most_jobs_of_submission < submitted:
            return -4, (
                f"a submission has at most {limits.most_jobs_of_submission} jobs "
                "(MAX_JOBS_PER_SUBMISSION)"
            )
        return None

    def _on_new_proc(self, call: calls.NewProc) -> Answer:
        cluster = call.cluster
        if cluster != self._active_cluster or cluster not in self._new_clusters:
            return code(-1, errno.EACCES)
        refusal = self._refuse_new_jobs(1)
        if refusal is not None:
            self._failure = RefusedError(refusal[1], code=errno.EINVAL)
            return self._refused(call, *refusal)
        proc = self._new_clusters[cluster]
        self._new_clusters[cluster] = proc + 1
        self._new_jobs += 1
        job = JobId(cluster, proc)
        submission.add_proc(self._transaction, job, self._settings, self._now())
        return code(proc)

    def _on_set_attribute(self, call: calls.SetAttribute) -> Answer:
        self._set(call.cluster, call.proc, call.name, call.value, _NO_FLAGS)
        return code(0)

    def _on_set_attribute2(self, request: Reader) -> Answer:
        """Serve the one request that is nearly all requests; no object is made for it."""
        cluster, proc = request.integer(), request.integer()
        text, name = request.string(), request.string()
        flags = request.byte()
        request.finish()
        try:
            self._check_may_write()
            if self._failure is None or not flags & _NO_ACK:
                self._set(cluster, proc, name, text, flags)
        except RefusedError as refusal:
            if not flags & _NO_ACK:
                return code(-1, refusal.code)
            # Nobody waits for an answer, so the commit gives it.
            self._failure = refusal
        self._check_size()
        return SILENCE if flags & _NO_ACK else code(0)

    def _set(self, cluster: int, proc: int, name: str, text: str, flags: int) -> None:
        if cluster in self._new_clusters and (
            proc == CLUSTER_PROC or 0 <= proc < self._new_clusters[cluster]
        ):
            attribute_rules.check_shape(name, text, cluster, proc)
            self._set_new(cluster, proc, name, text)
            return
        whole = text and not attribute_rules.is_broken(text)
        if flags & _NO_ACK and whole and not is_expression(text):
            # Compat: what the wheel edits to nonsense is undefined, as in the reference, which
            # does so to all others, too (test_an_edit_to_nonsense_that_nobody_waits_for).
            text = "undefined"
        attribute_rules.check_shape(name, text, cluster, proc)
        self._check_may_change(cluster, proc, f"Modifying attribute {name}")
        stored = attribute_rules.decide_change(
            name,
            text,
            self._effective,
            self._settings,
            protected_allowed=self._protected_allowed,
            job=f"{cluster}.{proc}",
        )
        if stored is not None and not flags & SetAttributeFlags.CHECK_ONLY:
            self._set_queued(JobId(cluster, proc), name, text, stored, flags)

    def _set_queued(self, job: JobId, name: str, text: str, stored: str, flags: int) -> None:
        """Set an attribute of what is queued already, and note who is to hear of it."""
        cluster, proc = job
        if flags & SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE and proc == CLUSTER_PROC:
            self._note_edited(cluster, name)
        self._transaction.set_attribute(key_of(cluster, proc), name, stored)
        if flags & SetAttributeFlags.MARK_DIRTY:
            self._dirty.append((cluster, proc, name))
        if flags & SetAttributeFlags.LOG and proc >= 0:
            old = self._queue.jobs[job].ad.text(name)
            self._logged.append(LoggedChange(job, name, text, old))
            # The text is made anew for each: it counts as what the transaction takes.
            self._transaction.size += len(old or "") + CHANGE_BYTES

    def _note_edited(self, cluster: int, name: str) -> None:
        """Let an edit of a cluster hold for the jobs that it makes later."""
        if "JobMaterializeDigestFile" not in self._queue.clusters[cluster].ad:
            return
        known = read_old_string(self._text(cluster, CLUSTER_PROC, job_rules.EDITED) or "") or ""
        if name.lower() != job_rules.EDITED.lower():
            edited = quote_line(job_rules.note_edited(known, name))
            attribute_rules.check_shape(job_rules.EDITED, edited, cluster, CLUSTER_PROC)
            self._transaction.set_attribute(key_of(cluster, CLUSTER_PROC), job_rules.EDITED, edited)

    def _set_new(self, cluster: int, proc: int, name: str, text: str) -> None:
        stored = attribute_rules.decide_new(
            cluster, proc, name, text, self._effective, self._settings
        )
        if stored is None:
            return
        key = key_of(cluster, proc)
        transaction = self._transaction
        lower = name.lower()
        if lower in self._settings.rounded and submission.set_rounded(
            transaction, key, name, stored, self._settings
        ):
            return
        if lower == "owner":
            owner = read_old_string(stored) or ""
            user = f"{owner}@{self._settings.uid_domain}"
            if owner == self._effective.owner:
                user = self._effective.user
            transaction.set_attribute(key, "User", quote_line(user))
        transaction.set_attribute(key, name, stored)

    # -- changing ---------------------------------------------------------------------------

    def _check_may_change(self, cluster: int, proc: int, what: str) -> None:
        """Raise RefusedError unless the job or cluster is there and the actor may change it.

        `what` is what is done to it, in the reference's words.
        """
        if not self._transaction.exists(key_of(cluster, proc)) or cluster <= 0:
            raise RefusedError(f"{what} in nonexistent job {cluster}.{proc}", code=errno.ENOENT)
        user = read_old_string(self._text(cluster, proc, "User") or "")
        if user is None or not self._effective.may_change(user):
            raise RefusedError(
                f"{self._effective.user} may not change job {cluster}.{proc}", code=errno.EACCES
            )

    def _on_set_by_constraint(self, call: calls.SetAttributeByConstraint) -> Answer:
        return self._set_by_constraint(call.constraint, call.name, call.value, _NO_FLAGS)

    def _on_set_by_constraint2(self, call: calls.SetAttributeByConstraint2) -> Answer:
        return self._set_by_constraint(call.constraint, call.name, call.value, call.flags)

    def _set_by_constraint(self, constraint: str, name: str, text: str, flags: int) -> Answer:
        attribute_rules.check_shape(name, text)
        return Answer(steps=self._set_each(parse_constraint(constraint), name, text, flags))

    def _set_each(self, constraint: Expr | None, name: str, text: str, flags: int) -> Steps:
        jobs = clusters = 0
        refusal: RefusedError | None = None
        # A super user's own are all, as in the reference.
        only_own = bool(flags & SetAttributeFlags.ONLY_MY_JOBS) and not self._effective.super_user
        for cluster, proc, ad in self._meant(constraint, flags):
            # What the one before cost is a stranger's to say.
            yield
            if constraint is not None and not ad.satisfies(constraint):
                continue
            if only_own and ad.string("User") != self._effective.user:
                continue
            try:
                self._set(cluster, proc, name, text, flags)
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
        queue = self._queue
        found = queue.jobs.values() if constraint is None else candidates(queue, constraint)
        meant = [(job.id.cluster, job.id.proc, job.ad) for job in found]
        if flags & SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE:
            clusters = candidate_clusters(queue, constraint)
            meant += [(cluster.id, CLUSTER_PROC, cluster.ad) for cluster in clusters]
        return meant

    def _on_set_timer(self, call: calls.SetTimerAttribute) -> Answer:
        text = str(self._now() + call.seconds)
        self._set(call.cluster, call.proc, call.name, text, _NO_FLAGS)
        return code(0)

    def _on_delete_attribute(self, call: calls.DeleteAttribute) -> Answer:
        cluster, proc, name = call.cluster, call.proc, call.name
        attribute_rules.check_shape(name, "0")
        if cluster in self._new_clusters:
            stored = attribute_rules.decide_removal_in_new(name, self._settings)
        else:
            self._check_may_change(cluster, proc, f"Deleting attribute {name}")
            stored = attribute_rules.decide_change(
                name,
                "0",
                self._effective,
                self._settings,
                protected_allowed=self._protected_allowed,
                job=f"{cluster}.{proc}",
            )
        if stored is None:
            return code(0)
        if self._text(cluster, proc, name) is None:
            return code(-1, errno.EINVAL)
        self._transaction.delete_attribute(key_of(cluster, proc), name)
        return code(0)

    def _on_destroy_proc(self, call: calls.DestroyProc) -> Answer:
        cluster, proc = call.cluster, call.proc
        if not self._transaction.exists(key_of(cluster, proc)) or proc < 0:
            return code(-3, errno.ENOENT)
        try:
            self._check_may_change(cluster, proc, "Destroying")
        except RefusedError as refusal:
            return code(-2, refusal.code)
        # A job leaves the queue through its machine, never by a client's deletion.
        return code(-1, errno.EINVAL)

    def _on_destroy_cluster(self, call: calls.DestroyCluster) -> Answer:
        self._check_may_change(call.cluster, CLUSTER_PROC, "Destroying")
        return code(-1, errno.EINVAL)

    def _text(self, cluster: int, proc: int, name: str) -> str | None:
        return self._transaction.text(cluster, proc, name)

    # -- transactions -----------------------------------------------------------------------

    def _on_begin(self, _call: Call) -> Answer:
        return code(0)

    def _on_abort(self, _call: Call) -> Answer:
        self._forget_transaction()
        return code(0)

    def _forget_transaction(self) -> None:
        self._transaction = self._reading.transaction = self._queue.transaction()
        self._dirty = []
        self._logged = []
        self._new_clusters = {}
        self._new_jobs = 0
        self._active_cluster = -1
        self._failure = None

    def _on_commit(self, call: calls.CommitTransactionNoFlags) -> Answer:
        return self._commit(call, _NO_FLAGS)

    def _on_commit_flags(self, call: calls.CommitTransaction) -> Answer:
        return self._commit(call, call.flags)

    def _commit(self, call: Call, flags: int) -> Answer:
        failure, clusters = self._failure, self._new_clusters
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
                self._transaction,
                list(self._new_clusters.items()),
                applying,
                self._set_by_rule,
                self._monotonic,
            )
        except RefusedError as refusal:
            return self._refuse_to_commit(call, refusal.code or errno.EINVAL, refusal.message)
        return self._commit_as_is(call, flags, "|".join(applying.warnings))

    def _set_by_rule(self, cluster: int, proc: int, name: str, text: str) -> None:
        attribute_rules.check_shape(name, text, cluster, proc)
        self._set_new(cluster, proc, name, text)

    def _commit_as_is(self, call: Call, flags: int, warning: str) -> Answer:
        transaction, clusters = self._transaction, self._new_clusters
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
        if not clusters:
            self._edited(transaction.changes)
        for cluster, proc, name in self._dirty:
            self._queue.mark_dirty(JobId(cluster, proc), name)
        logged = self._logged
        self._forget_transaction()
        # Compat: no ad follows a success, as from a peer of unknown version; every client asks
        # first whether the message has bytes left (test_qmgmt: a commit answers one number).
        details = ClassAd({"WarningReason": warning}) if warning else None
        reply = call.answer(0, details=details)
        return Answer(reply, durable=not flags & SetAttributeFlags.NON_DURABLE, logged=logged)

    def _refuse_to_commit(self, call: Call, code: int, reason: str) -> Answer:
        self._forget_transaction()
        details = ClassAd({"ErrorCode": code, "ErrorReason": reason})
        return Answer(call.answer(-1, errno=code, details=details))

    @staticmethod
    def _user_of(transaction: Transaction, cluster: int) -> str:
        text = transaction.text(cluster, CLUSTER_PROC, "User")
        return read_old_string(text or transaction.text(cluster, 0, "User") or "") or ""

    def _refuse_commit(self, clusters: dict[int, int]) -> RefusedError | None:
        """Every new job has an owner: its cluster's, or its own."""
        anonymous = {
            cluster for cluster in clusters if self._text(cluster, CLUSTER_PROC, "Owner") is None
        }
        if not anonymous:
            return None
        # Cluster → whether all its jobs have one.
        owned: dict[int, bool] = {}
        for key, texts in self._transaction.own_texts(frozenset({"owner"})).items():
            cluster = int(key.partition(".")[0])
            owned[cluster] = owned.get(cluster, True) and bool(texts)
        for cluster in sorted(anonymous):
            if not owned.get(cluster):
                return RefusedError(f"cluster {cluster} has no Owner", code=errno.EINVAL)
        return None

    # -- the rest ---------------------------------------------------------------------------

    def _on_close(self, _call: Call) -> Answer:
        return CLOSE

    def _on_obsolete(self, _call: Call) -> Answer:
        return SILENCE

    def _on_set_effective_owner(self, call: calls.SetEffectiveOwner) -> Answer:
        name = call.owner.partition("@")[0]
        if not name or name == self._actor.owner:
            self._effective = self._actor
        elif self._actor.super_user:
            user = call.owner if "@" in call.owner else f"{name}@{self._settings.uid_domain}"
            self._effective = self._actor.acting_for(user, name)
        else:
            return code(-1, errno.EACCES)
        return code(0)

    def _on_allow_protected(self, call: calls.SetAllowProtectedAttrChanges) -> Answer:
        before = int(self._protected_allowed)
        self._protected_allowed = self._actor.super_user and call.allow != 0
        return code(before)

    def _on_get_capabilities(self, call: calls.GetCapabilities) -> Answer:
        late = self._settings.late_materialize
        ad = ClassAd({"UseJobsets": False, "LateMaterialize": late})
        if late:
            ad["LateMaterializeVersion"] = 2
        if len(self._settings.extended_commands):
            ad["ExtendedSubmitCommands"] = self._settings.extended_commands
        explained = self._settings.extended_help
        if explained and call.mask & _WITH_HELP_TEXT and not is_url(explained):
            ad["ExtendedSubmitHelp"] = self._spool.read_help(explained)
        elif explained:
            ad["ExtendedSubmitHelpFile"] = explained
        return Answer(call.answer(result=ad))

    def _on_send_materialize_data(self, call: calls.SendMaterializeData) -> Answer:
        intake = self._begin_items(call)
        intake.take(call.data)
        return intake.end()

    def begin_items(self, begun: Reader) -> ItemIntake:
        """Serve item rows of which only the beginning has come; they are given to what returns."""
        self._check_not_cut_off()
        begun.integer()
        call = calls.SendMaterializeData.read(begun)
        intake = self._begin_items(call)
        intake.take(call.data)
        return intake

    def _begin_items(self, call: calls.SendMaterializeData) -> ItemIntake:
        refused = 0
        if not self._may_write:
            refused = errno.EACCES
        elif not self._settings.late_materialize:
            refused = errno.EPERM
        elif call.cluster not in self._new_clusters:
            refused = errno.ENOENT
        if not refused:
            self.spooled.add(call.cluster)
        return ItemIntake(call, self._spool.begin_items, self._tell, refused=refused)

    def _on_set_job_factory(self, call: calls.SetJobFactory) -> Answer:
        if not self._settings.late_materialize:
            return code(-1, errno.EPERM)
        if call.cluster not in self._new_clusters:
            return code(-1, errno.ENOENT)
        if not call.digest:
            return code(-1, errno.EINVAL)
        if len(call.digest) > LONGEST_DIGEST:
            self._tell(
                f"The digest of cluster {call.cluster} has {len(call.digest)} characters, more"
                f" than {LONGEST_DIGEST}"
            )
            return code(-1, errno.EFBIG)
        if len(call.file_name) > LONGEST_FILE_NAME:
            return code(-1, errno.ENAMETOOLONG)
        self.spooled.add(call.cluster)
        name = self._spool.write_digest(call.cluster, call.digest)
        self._transaction.update(
            key_of(call.cluster, CLUSTER_PROC),
            factory_attributes(name, call.file_name, call.maximum_materialize, call.digest),
        )
        return code(0)

    def _on_unsupported(self, _call: Call) -> Answer:
        # Sets of jobs are not kept; the capabilities say so.
        return code(-1, errno.ENOSYS)

    def _on_spool_executable(self, _call: Call) -> Answer:
        return code(-2, errno.EINVAL)


def factory_attributes(
    digest_file: str, items_file: str, most: int, digest: str
) -> dict[str, str | None]:
    """Return what a cluster that makes its jobs later starts with."""
    items = items_file or _items_file(digest)
    return {
        "JobMaterializeLimit": str(most if most > 0 else 2**31 - 1),
        "JobMaterializeDigestFile": quote_line(digest_file),
        "JobMaterializeItemsFile": quote_line(items) if items else None,
        "JobMaterializeNextProcId": "0",
    }


def _items_file(digest: str) -> str:
    """Return the file that the digest's queue statement reads, if it reads one."""
    last = digest.rstrip().rpartition("\n")[2]
    _, found, name = last.partition(" from ")
    return name.strip() if found else ""


_PLAIN: dict[type[Call], Callable[[Connection, Any], Answer]] = {
    calls.InitializeConnection: Connection._on_obsolete,
    calls.InitializeReadOnlyConnection: Connection._on_obsolete,
    calls.GetCapabilities: Connection._on_get_capabilities,
    calls.BeginTransaction: Connection._on_begin,
    calls.AbortTransaction: Connection._on_abort,
    calls.CloseSocket: Connection._on_close,
}

# Operations that need an authenticated client on a write connection.
_WRITING: dict[type[Call], Callable[[Connection, Any], Answer]] = {
    calls.NewCluster: Connection._on_new_cluster,
    calls.NewProc: Connection._on_new_proc,
    calls.DestroyCluster: Connection._on_destroy_cluster,
    calls.DestroyProc: Connection._on_destroy_proc,
    calls.SetAttribute: Connection._on_set_attribute,
    calls.SetAttributeByConstraint: Connection._on_set_by_constraint,
    calls.SetAttributeByConstraint2: Connection._on_set_by_constraint2,
    calls.SetTimerAttribute: Connection._on_set_timer,
    calls.DeleteAttribute: Connection._on_delete_attribute,
    calls.CommitTransactionNoFlags: Connection._on_commit,
    calls.CommitTransaction: Connection._on_commit_flags,
    calls.SetEffectiveOwner: Connection._on_set_effective_owner,
    calls.SetAllowProtectedAttrChanges: Connection._on_allow_protected,
    calls.SetJobFactory: Connection._on_set_job_factory,
    calls.SendMaterializeData: Connection._on_send_materialize_data,
    calls.SendJobQueueAd: Connection._on_unsupported,
    calls.SendSpoolFile: Connection._on_spool_executable,
    calls.SendSpoolFileIfNeeded: Connection._on_spool_executable,
}

_HANDLERS = {**_PLAIN, **_WRITING}
