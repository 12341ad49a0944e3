"""The calls of queue management that bring new jobs: clusters, procs, what makes jobs later.

What a submission gains at its commit is `submission`'s.
Source: wire notes, Schedd queue management (R046, R065, R069).
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, Protocol

from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import RefusedError
from kettle.schedd.queue import submission, user_records
from kettle.schedd.queue.item_intake import ItemIntake, ItemsFile
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.qmgmt_answers import Answer, code
from kettle.schedd.queue.qmgmt_changes import Changes
from kettle.submit.digest import LONGEST_DIGEST
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call
from kettle.wire.security.identity import is_one_word

# Limit: clusters one transaction may make; a client with more commits in between. To commit so many
# takes about two seconds, in which nobody else is served.
MOST_CLUSTERS = 10_000
# Limit: what a cluster's items may be called; the kernel's own bound of a path.
LONGEST_FILE_NAME = 4096


class Spool(Protocol):
    """Where a submission's files are kept."""

    def begin_items(self, cluster: int) -> ItemsFile:
        """Begin to keep the rows of a late materialized cluster."""

    def write_digest(self, cluster: int, text: str) -> str:
        """Keep the submit text that makes its jobs; return the file's name."""


class Submitting:
    """The new jobs of one connection."""

    def __init__(
        self,
        changes: Changes,
        now: Callable[[], int],
        spool: Spool,
        tell: Callable[[str], object],
    ) -> None:
        self._changes = changes
        self._queue = changes.queue
        self._settings = changes.settings
        self._now = now
        self._spool = spool
        self._tell = tell
        # New clusters, also of transactions that came to nothing, that may have files in the spool.
        self.spooled: set[int] = set()

    def on_new_cluster(self, call: calls.NewCluster) -> Answer:
        """Serve a new cluster; the result says its number, or which limit is in the way."""
        refusal = self._refuse_new_jobs(1)
        if refusal is None and len(self._changes.new_clusters) >= MOST_CLUSTERS:
            refusal = (-10, f"more than {MOST_CLUSTERS} clusters in one transaction")
        if refusal is not None:
            return self._refused(call, *refusal)
        cluster = self._queue.take_cluster_number()
        self._changes.begin_cluster(cluster)
        return code(cluster)

    def _refused(self, call: Call, value: int, reason: str) -> Answer:
        details = ClassAd({"ErrorCode": value, "ErrorReason": reason})
        return Answer(call.answer(value, errno=errno.EINVAL, details=details))

    def _refuse_new_jobs(self, more: int) -> tuple[int, str] | None:
        """Return the result and reason if a limit stands against more jobs."""
        limits, actor = self._settings, self._changes.effective
        submitted = self._changes.new_jobs + more
        if 0 < limits.most_jobs < len(self._queue.jobs) + submitted:
            return -2, f"the queue has its {limits.most_jobs} jobs (MAX_JOBS_SUBMITTED)"
        if not is_one_word(actor.user):
            # Compat: the reference takes the job, and its negotiator passes over the user, so that
            # it is idle for ever (test_a_user_whose_name_has_blanks_cannot_submit).
            return -5, f"no accounts can be kept of the user {actor.user!r}: the name has blanks"
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

    def on_new_proc(self, call: calls.NewProc) -> Answer:
        """Serve a new job of the cluster that the connection made last."""
        cluster, changes = call.cluster, self._changes
        if cluster != changes.active_cluster or cluster not in changes.new_clusters:
            return code(-1, errno.EACCES)
        refusal = self._refuse_new_jobs(1)
        if refusal is not None:
            changes.fail(RefusedError(refusal[1], code=errno.EINVAL))
            return self._refused(call, *refusal)
        proc = changes.next_proc(cluster)
        job = JobId(cluster, proc)
        submission.add_proc(changes.transaction, job, self._settings, self._now())
        return code(proc)

    def on_send_materialize_data(self, call: calls.SendMaterializeData) -> Answer:
        """Serve all item rows of a cluster in one message."""
        intake = self.begin_items(call)
        return intake.end()

    def begin_items(self, call: calls.SendMaterializeData) -> ItemIntake:
        """Take item rows, of which more may follow."""
        refused = 0
        if not self._changes.may_write:
            refused = errno.EACCES
        elif not self._settings.late_materialize:
            refused = errno.EPERM
        elif call.cluster not in self._changes.new_clusters:
            refused = errno.ENOENT
        if not refused:
            self.spooled.add(call.cluster)
        intake = ItemIntake(call, self._spool.begin_items, self._tell, refused=refused)
        intake.take(call.data)
        return intake

    def on_set_job_factory(self, call: calls.SetJobFactory) -> Answer:
        """Serve the submit text that makes a cluster's jobs later."""
        if not self._settings.late_materialize:
            return code(-1, errno.EPERM)
        if call.cluster not in self._changes.new_clusters:
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
        self._changes.transaction.update(
            key_of(call.cluster, CLUSTER_PROC),
            factory_attributes(name, call.file_name, call.maximum_materialize, call.digest),
        )
        return code(0)

    def on_spool_executable(self, _call: Call) -> Answer:
        """Serve the sending of a program: refused, as no client of today sends one so."""
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


SUBMITTING: dict[type[Call], Callable[[Submitting, Any], Answer]] = {
    calls.NewCluster: Submitting.on_new_cluster,
    calls.NewProc: Submitting.on_new_proc,
    calls.SetJobFactory: Submitting.on_set_job_factory,
    calls.SendMaterializeData: Submitting.on_send_materialize_data,
    calls.SendSpoolFile: Submitting.on_spool_executable,
    calls.SendSpoolFileIfNeeded: Submitting.on_spool_executable,
}
