"""What one client of the queue has changed and not committed: its transaction, and who may change.

Most requests by far set one attribute of a new job, and go through here only. Which attributes may
be set is `attribute_rules`', the commit `qmgmt_commits`', and what it adds `submission`'s.
Source: wire notes, Schedd queue management (R046, R065).
"""

from __future__ import annotations

import errno

from kettle.classad import is_expression
from kettle.classad.text import quote_line, read_old_string
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.schedd.queue import attribute_rules, job_rules, submission
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.open_transactions import (
    LARGE_TRANSACTION_BYTES,
    MOST_OPEN_BYTES,
    MOST_TRANSACTION_BYTES,
)
from kettle.schedd.queue.qmgmt_answers import SILENCE, Answer, LoggedChange, code
from kettle.schedd.queue.transaction import CHANGE_BYTES, Transaction
from kettle.schedd.settings import QueueSettings
from kettle.wire.codec import Reader
from kettle.wire.messages.qmgmt import SetAttributeFlags

_NO_ACK = int(SetAttributeFlags.NO_ACK)


class Changes:
    """The open transaction of one connection, which others read and these methods change."""

    transaction: Transaction
    # New clusters of the transaction: number → the next proc.
    new_clusters: dict[int, int]
    # How many jobs of theirs there are, and which of them may have more.
    new_jobs: int
    active_cluster: int
    # The keys of what was queued already and is changed.
    edited: set[str]
    # Why the transaction cannot be committed: a NoAck request that failed.
    failure: RefusedError | None
    # What was set with the flag that tells others of it.
    dirty: list[tuple[int, int, str]]
    # What was set with the flag that has the job's log say so.
    logged: list[LoggedChange]

    def __init__(
        self, queue: JobQueue, actor: Actor, settings: QueueSettings, *, may_write: bool
    ) -> None:
        self.queue = queue
        self.settings = settings
        self.actor = actor
        # As whom the actor works at the moment.
        self.effective = actor
        self.may_write = may_write
        self.protected_allowed = False
        self._is_cut_off = False
        self.forget()

    def forget(self) -> None:
        """Give up what was changed, or have it behind us."""
        self.transaction = self.queue.transaction()
        self.dirty = []
        self.logged = []
        self.edited = set()
        self.new_clusters = {}
        self.new_jobs = 0
        self.active_cluster = -1
        self.failure = None

    # -- what it takes in memory ------------------------------------------------------------

    def check_size(self) -> None:
        """Raise RemoteProtocolError for a transaction that would not fit in memory."""
        size = self.transaction.size
        if size <= LARGE_TRANSACTION_BYTES:
            return
        if size > MOST_TRANSACTION_BYTES:
            raise RemoteProtocolError(
                f"a transaction is larger than {MOST_TRANSACTION_BYTES >> 20} MiB"
            )
        self.queue.open_transactions.note(self, MOST_OPEN_BYTES)
        self.check_not_cut_off()

    def check_not_cut_off(self) -> None:
        """Raise RemoteProtocolError if the transaction was given up for others'."""
        if self._is_cut_off:
            raise RemoteProtocolError(
                f"all open transactions together are larger than {MOST_OPEN_BYTES >> 20} MiB"
            )

    @property
    def user(self) -> str:
        """Whose connection it is."""
        return self.actor.user

    @property
    def held_bytes(self) -> int:
        """What the transaction takes in memory, about."""
        return self.transaction.size

    def cut_off(self) -> None:
        """Give the transaction up, and the connection with its next request."""
        self._is_cut_off = True
        self.forget()

    # -- new clusters and jobs --------------------------------------------------------------

    def begin_cluster(self, number: int) -> None:
        """Make a new cluster, which the next jobs are of."""
        submission.add_cluster(self.transaction, number)
        self.new_clusters[number] = 0
        self.active_cluster = number

    def next_proc(self, cluster: int) -> int:
        """Count one more job of a new cluster, and return its number."""
        proc = self.new_clusters[cluster]
        self.new_clusters[cluster] = proc + 1
        self.new_jobs += 1
        return proc

    def fail(self, error: RefusedError) -> None:
        """Have the commit refused, and for this reason."""
        self.failure = error

    # -- who may ----------------------------------------------------------------------------

    def act_as(self, actor: Actor) -> None:
        """Take what follows as asked by this one, in this transaction and in later ones."""
        self.effective = actor

    def allow_protected(self, *, allowed: bool) -> None:
        """Let protected attributes be changed from now on, or no more."""
        self.protected_allowed = allowed

    def _check_may_write(self) -> None:
        if not self.may_write:
            raise RefusedError("this connection may not change the queue", code=errno.EACCES)

    def check_may_change(self, cluster: int, proc: int, what: str) -> None:
        """Raise RefusedError unless the job or cluster is there and the actor may change it.

        `what` is what is done to it, in the reference's words.
        """
        if not self.transaction.exists(key_of(cluster, proc)) or cluster <= 0:
            raise RefusedError(f"{what} in nonexistent job {cluster}.{proc}", code=errno.ENOENT)
        user = read_old_string(self.text(cluster, proc, "User") or "")
        if user is None or not self.effective.may_change(user):
            raise RefusedError(
                f"{self.effective.user} may not change job {cluster}.{proc}", code=errno.EACCES
            )

    # -- setting attributes -----------------------------------------------------------------

    def text(self, cluster: int, proc: int, name: str) -> str | None:
        """Return the text of an attribute as if all were committed; None without it."""
        return self.transaction.text(cluster, proc, name)

    def take_attribute(self, request: Reader) -> Answer:
        """Serve the one request that is nearly all requests; no object is made for it."""
        cluster, proc = request.integer(), request.integer()
        text, name = request.string(), request.string()
        flags = request.byte()
        request.finish()
        try:
            self._check_may_write()
            if self.failure is None or not flags & _NO_ACK:
                self.set(cluster, proc, name, text, flags)
        except RefusedError as refusal:
            if not flags & _NO_ACK:
                return code(-1, refusal.code)
            # Nobody waits for an answer, so the commit gives it.
            self.fail(refusal)
        self.check_size()
        return SILENCE if flags & _NO_ACK else code(0)

    def set(self, cluster: int, proc: int, name: str, text: str, flags: int) -> None:
        """Set an attribute of a new job or of one in the queue; RefusedError."""
        if cluster in self.new_clusters and (
            proc == CLUSTER_PROC or 0 <= proc < self.new_clusters[cluster]
        ):
            attribute_rules.check_shape(name, text, cluster, proc)
            self.set_new(cluster, proc, name, text)
            return
        whole = text and not attribute_rules.is_broken(text)
        if flags & _NO_ACK and whole and not is_expression(text):
            # Compat: what the wheel edits to nonsense is undefined, as in the reference, which
            # does so to all others, too (test_an_edit_to_nonsense_that_nobody_waits_for).
            text = "undefined"
        attribute_rules.check_shape(name, text, cluster, proc)
        self.check_may_change(cluster, proc, f"Modifying attribute {name}")
        stored = self._decide_change(cluster, proc, name, text)
        if stored is not None and not flags & SetAttributeFlags.CHECK_ONLY:
            self._set_queued(JobId(cluster, proc), name, text, stored, flags)

    def _set_queued(self, job: JobId, name: str, text: str, stored: str, flags: int) -> None:
        """Set an attribute of what is queued already, and note who is to hear of it."""
        cluster, proc = job
        if flags & SetAttributeFlags.POST_SUBMIT_CLUSTER_CHANGE and proc == CLUSTER_PROC:
            self._note_edited(cluster, name)
        key = key_of(cluster, proc)
        self.transaction.set_attribute(key, name, stored)
        self.edited.add(key)
        if flags & SetAttributeFlags.MARK_DIRTY:
            self.dirty.append((cluster, proc, name))
        if flags & SetAttributeFlags.LOG and proc >= 0:
            queued = self.queue.jobs.get(job)
            old = None if queued is None else queued.ad.text(name)
            self.logged.append(LoggedChange(job, name, text, old))
            # The text is made anew for each: it counts as what the transaction takes.
            self.transaction.size += len(old or "") + CHANGE_BYTES

    def _note_edited(self, cluster: int, name: str) -> None:
        """Let an edit of a cluster hold for the jobs that it makes later."""
        if "JobMaterializeDigestFile" not in self.queue.clusters[cluster].ad:
            return
        known = read_old_string(self.text(cluster, CLUSTER_PROC, job_rules.EDITED) or "") or ""
        if name.lower() != job_rules.EDITED.lower():
            edited = quote_line(job_rules.note_edited(known, name))
            attribute_rules.check_shape(job_rules.EDITED, edited, cluster, CLUSTER_PROC)
            self.transaction.set_attribute(key_of(cluster, CLUSTER_PROC), job_rules.EDITED, edited)

    def delete(self, cluster: int, proc: int, name: str) -> bool:
        """Remove an attribute; RefusedError.

        False if it is not there; True also for what the schedd sets itself, which stays.
        """
        attribute_rules.check_shape(name, "0")
        is_new = cluster in self.new_clusters
        if is_new:
            stored = attribute_rules.decide_removal_in_new(name, self.settings)
        else:
            self.check_may_change(cluster, proc, f"Deleting attribute {name}")
            stored = self._decide_change(cluster, proc, name, "0")
        if stored is None:
            return True
        if self.text(cluster, proc, name) is None:
            return False
        key = key_of(cluster, proc)
        self.transaction.delete_attribute(key, name)
        if not is_new:
            self.edited.add(key)
        return True

    def _decide_change(self, cluster: int, proc: int, name: str, text: str) -> str | None:
        """Return what is kept of a change of what is queued, None for nothing; RefusedError."""
        return attribute_rules.decide_change(
            name,
            text,
            self.effective,
            self.settings,
            protected_allowed=self.protected_allowed,
            job=f"{cluster}.{proc}",
        )

    def set_new(self, cluster: int, proc: int, name: str, text: str) -> None:
        """Set an attribute of a new job or cluster; RefusedError."""
        stored = attribute_rules.decide_new(
            cluster, proc, name, text, self.effective, self.settings
        )
        if stored is None:
            return
        key = key_of(cluster, proc)
        transaction = self.transaction
        lower = name.lower()
        if lower in self.settings.rounded and submission.set_rounded(
            transaction, key, name, stored, self.settings
        ):
            return
        if lower == "owner":
            owner = read_old_string(stored) or ""
            user = f"{owner}@{self.settings.uid_domain}"
            if owner == self.effective.owner:
                user = self.effective.user
            transaction.set_attribute(key, "User", quote_line(user))
        transaction.set_attribute(key, name, stored)
