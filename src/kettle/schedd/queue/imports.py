"""IMPORT_EXPORTED_JOB_RESULTS: what became of jobs that another manager had.

Its log comes back, which its user can write: of each exported job what the user may change is taken
over, and the job is this queue's again. Text and transactions only: files are `services.exports`'.
Source: wire notes, EXPORT_JOBS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator

from kettle.attributes.codes import JobStatus
from kettle.errors import RefusedError
from kettle.policy.attribute_protection import GLOBAL_NAME, Guard, Protection, guard_of
from kettle.records import queue_log
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.attribute_rules import LONGEST_NAME, LONGEST_TEXT, check_shape
from kettle.schedd.queue.exports import job_of, take_back
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.open_transactions import (
    LARGE_TRANSACTION_BYTES,
    MOST_OPEN_BYTES,
    MOST_TRANSACTION_BYTES,
)
from kettle.schedd.queue.transaction import CHANGE_BYTES, Transaction

# What the other manager may not change of a job whatever the lists say, in lower case.
_OURS = frozenset(
    (
        "owner",
        "user",
        "osuser",
        "clusterid",
        "procid",
        "mytype",
        "targettype",
        "iwd",
        "leavejobinqueue",
        GLOBAL_NAME,
        "managed",
        "managedmanager",
    )
)

# Limit: attributes that an import changes of one job, which is taken over in one step.
MOST_CHANGED = 5_000
# Jobs that are looked at in a step.
_JOBS_A_STEP = 200
# What is looked at, and what is committed, in a step.
_STEP_BYTES = 128 * 1024
_COMMIT_BYTES = 256 * 1024
# By how much an import grows before the other open transactions are looked at again.
_NOTED_BYTES = 1 << 20
_MOST_PENDING_BYTES = 256 << 20
# Of a log that anybody can have written.
_BOUNDS = queue_log.Bounds(
    line_bytes=LONGEST_TEXT + 4 * LONGEST_NAME, pending_bytes=_MOST_PENDING_BYTES
)

# Elsewhere a job may be on its way; here it waits, or it has ended.
_STATUSES = frozenset(
    str(int(status))
    for status in (JobStatus.IDLE, JobStatus.REMOVED, JobStatus.COMPLETED, JobStatus.HELD)
)


# What a user's manager says of jobs: attributes of each by its key, by name in lower case.
_Said = dict[str, dict[str, tuple[str, str]]]


class ImportedLog:
    """The queue log of the other manager while it is read: what it says of exported jobs.

    What is in it as the job here has it is not kept, so that it takes the memory of what changed.
    It counts among the open transactions of its user. Raises RefusedError for somebody else's job,
    for another one of its number, as of an older queue, and for more than one job, or one import,
    may bring.
    """

    def __init__(self, queue: JobQueue, actor: Actor) -> None:
        self._queue = queue
        self._actor = actor
        self.ads: _Said = {}
        self._sizes: Counter[str] = Counter()
        self._noted = 0
        self._is_cut_off = False
        self.user = actor.user
        self.held_bytes = 0

    def cut_off(self) -> None:
        """Give the import up with its next step."""
        self._is_cut_off = True

    def check_size(self) -> None:
        """Raise RefusedError if all that is brought is too much, alone or with others' changes."""
        if self.held_bytes > MOST_TRANSACTION_BYTES:
            raise RefusedError(f"the log brings more than {MOST_TRANSACTION_BYTES >> 20} MiB")
        if self.held_bytes > max(LARGE_TRANSACTION_BYTES, self._noted + _NOTED_BYTES):
            self._noted = self.held_bytes
            self._queue.open_transactions.note(self, MOST_OPEN_BYTES)
        if self._is_cut_off:
            raise RefusedError(
                f"all open transactions together are larger than {MOST_OPEN_BYTES >> 20} MiB"
            )

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        """Take an ad in; what was said of one with its key before is of another."""
        del my_type, target_type
        self.destroy_ad(key)

    def destroy_ad(self, key: str) -> None:
        """Forget an ad."""
        self.ads.pop(key, None)
        self.held_bytes -= self._sizes.pop(key, 0)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        """Give an attribute its text."""
        job = exported_job(self._queue, key)
        if job is None:
            return
        if not self._actor.may_change(job.user):
            raise RefusedError("User not authorized to import given jobs")
        self.delete_attribute(key, name)
        if job.ad.text(name) == text:
            return
        if name.lower() == GLOBAL_NAME:
            raise RefusedError(f"the log is of another job {key} than was exported: {text}")
        said = self.ads.setdefault(key, {})
        said[name.lower()] = (name, text)
        self._count(key, name, text, 1)
        if len(said) > MOST_CHANGED or self._sizes[key] > LARGE_TRANSACTION_BYTES:
            raise RefusedError(
                f"the log changes more than {MOST_CHANGED} attributes of job {key}, or more than "
                f"{LARGE_TRANSACTION_BYTES >> 20} MiB of it"
            )

    def delete_attribute(self, key: str, name: str) -> None:
        """Remove an attribute."""
        said = self.ads.get(key)
        before = said.pop(name.lower(), None) if said else None
        if before is not None:
            self._count(key, *before, -1)

    def _count(self, key: str, name: str, text: str, sign: int) -> None:
        size = sign * (len(name) + len(text) + CHANGE_BYTES)
        self._sizes[key] += size
        self.held_bytes += size


# What may come back of each job, by its key.
Brought = dict[str, dict[str, str]]


def read_log(
    queue: JobQueue, pieces: Iterable[bytes], actor: Actor, lists: Protection
) -> Generator[None, None, Brought]:
    """Return what the log of the other manager says of exported jobs; a piece of it at each step.

    The log is a file that its user can write: what the user may not change of a queued job
    (`lists`), or what is no expression, is passed over. StorageError if it is no queue log,
    RefusedError as `ImportedLog` has it.
    """
    log = ImportedLog(queue, actor)
    for _ in queue_log.replay_by_steps(pieces, log, _BOUNDS):
        log.check_size()
        yield
    brought: Brought = {}
    looked_at = 0
    for key, attributes in log.ads.items():
        texts = brought[key] = {}
        for name, text in attributes.values():
            if _may_come_back(name, text, lists):
                texts[name] = text
            looked_at += len(text) + CHANGE_BYTES
            if looked_at >= _STEP_BYTES:
                looked_at = 0
                log.check_size()
                yield
    return brought


def exported_job(queue: JobQueue, key: str) -> Job | None:
    """Return the exported job that has a key and may come back, None if none does.

    One that was held or removed here stays so, whatever the other manager made of it, until its
    mark is taken away. Source: observed of a real schedd.
    """
    job = job_of(queue, key)
    if job is None or not job.is_external or job.status in {JobStatus.HELD, JobStatus.REMOVED}:
        return None
    return job


def plan_import(queue: JobQueue, brought: Brought) -> Iterator[tuple[Transaction, int]]:
    """Yield transactions that take over what the other manager changed, and of how many jobs.

    Each is to be committed before the next is asked for. A job that the other manager did not touch
    stays exported.

    Compat: the reference takes all over together. Ours leaves others their turn in between; where
    the disk is full midway, the rest is still exported, and another import takes it
    (test_an_import_is_taken_over_in_pieces).
    """
    transaction, count = queue.transaction(), 0
    for at, (key, texts) in enumerate(brought.items(), 1):
        if at % _JOBS_A_STEP == 0:
            yield transaction, count
            transaction, count = queue.transaction(), 0
        job = exported_job(queue, key)
        if job is None:
            continue
        changed = {name: text for name, text in texts.items() if job.ad.text(name) != text}
        if changed:
            transaction.update(key, changed)
            take_back(transaction, job)
            count += 1
        if transaction.size >= _COMMIT_BYTES:
            yield transaction, count
            transaction, count = queue.transaction(), 0
    if count:
        yield transaction, count


def _may_come_back(name: str, text: str, lists: Protection) -> bool:
    lower = name.lower()
    if lower == "jobstatus":
        return text in _STATUSES
    if lower in _OURS or guard_of(name, lists) is not Guard.FREE:
        return False
    try:
        check_shape(name, text)
    except RefusedError:
        return False
    return True
