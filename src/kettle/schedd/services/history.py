"""The history files: written when a job leaves, read backwards for queries, rotated when full."""

from __future__ import annotations

import asyncio
import errno
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import KettleError, RefusedError, StorageError
from kettle.records.history import ENVIRONMENT, render_record
from kettle.runtime.storage.record_files import RecordFile, read_rotation
from kettle.runtime.storage.unsynced_records import UnsyncedRecords
from kettle.schedd.departures import MOST_TOGETHER
from kettle.schedd.job_records import JobRecords
from kettle.wire.messages.queue_queries import HistoryErrorCode

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.records.history_query import HistoryQuery
    from kettle.runtime.context import Runtime
    from kettle.schedd.job_machine import Attributes
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.settings import ServiceSettings

# Limit: records at the end of the file that a restart looks through for a job that may be there.
_LOOKED_THROUGH = 2 * MOST_TOGETHER

# What tells a job from one of its number in an older queue, in lower case: the name alone where it
# has no time in it (GLOBAL_JOB_ID_WITH_TIME).
_OF_ONE_JOB = ("globaljobid", "qdate")

# How often the size of what is not indexed is looked at, and from how many bytes on it is.
_INDEXED_SECONDS = 10.0
INDEXED_FROM_BYTES = 1024 * 1024

# What keeps a file from being written anew, and says nothing about its disk.
_NOT_ALLOWED = frozenset((errno.EPERM, errno.EACCES, errno.EROFS))


class HistoryFiles:
    """The schedd's history: of finished jobs, and of each of their runs."""

    def __init__(self, runtime: Runtime, settings: ServiceSettings) -> None:
        self._runtime = runtime
        # When the schedd's own ad is recorded next.
        self._own_due_at = 0
        # The jobs of the last records that an earlier life wrote, once they are asked for.
        self._last_recorded: set[tuple[str | None, ...]] | None = None
        self._unsynced = UnsyncedRecords(runtime.files)
        self.reconfigure(settings)

    def reconfigure(self, settings: ServiceSettings) -> None:
        """Take over where the files are and how large they get."""
        self.settings = settings
        files, config = self._runtime.files, self._runtime.config
        self._jobs = RecordFile(files, settings.history, read_rotation(config), self._unsynced)
        epochs = read_rotation(config, "EPOCH_HISTORY")
        self._epochs = RecordFile(files, settings.epoch_history, epochs)
        own = read_rotation(config, "DAEMON_HISTORY")
        self._own = RecordFile(files, settings.own_history, own)
        left_out = () if settings.history_has_environment else ENVIRONMENT
        self._records = JobRecords(frozenset(left_out))

    def append(self, jobs: Sequence[Job], now: int) -> Sequence[Job]:
        """Write finished jobs; return those that the disk has taken, the others have to stay.

        What is wrong with one job's record keeps no other here. Either of the history and the files
        of each job is written without the other, too.
        """
        if self.settings.per_job_history:
            jobs = [job for job in jobs if self._write_per_job(job)]
        if not self.settings.history:
            return jobs
        taken: list[Job] = []
        while jobs:
            renders = (partial(self._records.finished, job, now=now) for job in jobs)
            written, trouble = self._jobs.append_all(renders, now)
            taken += jobs[:written]
            if trouble is None:
                break
            self._complain(jobs[written], trouble)
            if isinstance(trouble, StorageError | OSError):
                break
            jobs = jobs[written + 1 :]
        return taken

    async def sync(self) -> None:
        """Return when every finished job that was appended is on disk; StorageError if not.

        After that has failed no job is appended until it has succeeded.
        """
        await self._unsynced.sync()

    async def mend(self) -> None:
        """Make sure of what an earlier life wrote, before it is asked what it recorded.

        What a power cut left of a last record is cut off, its job is still in the queue. What a
        killed schedd wrote may not be on the disk, whatever a sync says now: it is written anew.
        StorageError if it cannot be brought there; where it is only forbidden, as with a file that
        can but grow, it is taken as it is.
        """
        problem = self._runtime.log.problem
        for file in (self._jobs, self._epochs):
            try:
                if file.path and (cut := file.cut_unfinished()):
                    problem(f"Cut off {cut} bytes of an unfinished record: {file.path}")
            except OSError as error:
                problem(f"Nobody knows whether {file.path} is whole: {error}")
        if self._jobs.path:
            try:
                self._jobs.doubt_end()
            except OSError as error:
                raise StorageError(f"cannot read {self._jobs.path}: {error.strerror}") from error
        try:
            await self.sync()
        except StorageError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError) or cause.errno not in _NOT_ALLOWED:
                raise
            problem(f"What an earlier life wrote is taken to be on disk: {error}")
            self._unsynced.forgive()

    def _complain(self, job: Job, trouble: Exception) -> None:
        problem = f"Job {job.id} stays, the history does not take it: {trouble}"
        self._runtime.log.problem(problem)

    def append_epoch(self, kind: str, job: Job, now: int, was: Attributes | None = None) -> None:
        """Write that a run of a job began (SPAWN) or ended (EPOCH).

        `was` is what the job's ad said otherwise while it ran.
        """
        more = self.settings.epoch_attributes.get(kind, ())
        self._append_epoch(job, now, lambda: self._records.run(kind, job, now, more, was or {}))

    def append_transfer(self, kind: str, job: Job, record: ClassAd, now: int) -> None:
        """Write what URL plug-ins did in a run of a job (INPUT, OUTPUT or CHECKPOINT)."""
        more = self.settings.epoch_attributes.get(kind, ())
        self._append_epoch(job, now, lambda: self._records.transfer(kind, job, record, now, more))

    def _append_epoch(self, job: Job, now: int, render: Callable[[], bytes]) -> None:
        try:
            if self.settings.epoch_history:
                self._epochs.append(lambda _: render(), now)
            if self.settings.epoch_folder:
                path = f"{self.settings.epoch_folder}/job.runs.{job.id}.ads"
                self._runtime.files.append(path, render())
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"The epoch history lacks a run of {job.id}: {error}")

    def append_own(self, ad: ClassAd, now: int) -> None:
        """Write how the schedd is (SCHEDD_DAEMON_HISTORY), if the last time is long enough ago."""
        if not self._own.path or now < self._own_due_at:
            return
        self._own_due_at = now + self.settings.own_history_seconds
        lines = [*ad.flattened().lines(), f"RecordWriteDate = {now}"]
        record = render_record(lines, f"*** SCHEDD CurrentTime={now}\n")
        try:
            self._own.append(lambda _: record, now)
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"The schedd's own history lacks a record: {error}")

    async def index(self) -> None:
        """Bring the indices of the histories up to date, in a child, and rest for a while."""
        for name, file in (("history", self._jobs), ("epoch history", self._epochs)):
            if file.path and file.unindexed_bytes >= INDEXED_FROM_BYTES:
                await self._index(name, file)
        await asyncio.sleep(_INDEXED_SECONDS)

    async def _index(self, name: str, file: RecordFile) -> None:
        file.unindexed_bytes = 0
        try:
            await self._runtime.snapshots.run(lambda: file.refresh_index, f"index of the {name}")
        except (KettleError, OSError) as error:
            self._runtime.log.problem(f"The {name} has no index: {error}")

    def _write_per_job(self, job: Job) -> bool:
        path = f"{self.settings.per_job_history}/history.{job.id}"
        try:
            self._unsynced.check()
            lines = self._records.ad_lines(job).encode("utf-8", "surrogateescape")
            self._runtime.files.write_atomically(path, lines)
        except (StorageError, OSError, ValueError) as error:
            self._complain(job, error)
            return False
        # Synced with the history.
        self._unsynced.wrote_whole(path, lines)
        return True

    def has(self, job: Job) -> bool:
        """Tell whether a job that a crash left behind was recorded before it.

        Meant for the start, before anything is recorded: the files are read once. A job's own file
        (PER_JOB_HISTORY_DIR) is written again, for a power cut may have emptied it. Numbers begin
        anew with an empty queue, so a record of an older one may have the job's.
        """
        if self._last_recorded is None:
            newest = itertools.islice(self._jobs.backwards(), _LOOKED_THROUGH)
            self._last_recorded = {
                (record.fields.get("ClusterId"), record.fields.get("ProcId"), *_names(record.lines))
                for record in newest
            }
        names = _names(self._records.ad_lines(job).split("\n"))
        if (str(job.id.cluster), str(job.id.proc), *names) not in self._last_recorded:
            return False
        if self.settings.per_job_history:
            self._write_per_job(job)
        return True

    def file(self, query: HistoryQuery) -> RecordFile:
        """Return the file a query looks through; RefusedError if there is no such history."""
        knob = "_".join(filter(None, (query.subsystem, query.source, "HISTORY")))
        file = {
            "HISTORY": self._jobs,
            "SCHEDD_HISTORY": self._jobs,
            "JOB_HISTORY": self._jobs,
            "JOB_EPOCH_HISTORY": self._epochs,
            "SCHEDD_DAEMON_HISTORY": self._own,
        }.get(knob)
        if file is None or not file.path:
            raise RefusedError(
                f"{knob} undefined in remote configuration. No such related history to be queried.",
                code=HistoryErrorCode.NOT_CONFIGURED,
            )
        return file


def _names(lines: Iterable[str]) -> tuple[str | None, ...]:
    """Return what a record's lines say of which job it is."""
    texts = {}
    for line in lines:
        name, _, text = line.partition(" = ")
        if name.lower() in _OF_ONE_JOB:
            texts[name.lower()] = text
    return tuple(map(texts.get, _OF_ONE_JOB))
