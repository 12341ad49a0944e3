"""The history files: written when a job leaves, read backwards for queries, rotated when full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.errors import RefusedError, StorageError
from kettle.records import history
from kettle.runtime.record_files import RecordFile
from kettle.schedd.departures import epoch_record, history_record
from kettle.wire.messages.queue_queries import HistoryErrorCode

if TYPE_CHECKING:
    from kettle.records.history_query import HistoryQuery
    from kettle.runtime.context import Runtime
    from kettle.schedd.job_queue import Job
    from kettle.schedd.settings import ServiceSettings

# Limit: records at the end of the file that a restart looks through for a job that may be there.
_LOOKED_THROUGH = 1000


class HistoryFiles:
    """The schedd's history: of finished jobs, and of each of their runs."""

    def __init__(self, runtime: Runtime, settings: ServiceSettings) -> None:
        self._runtime = runtime
        self.reconfigure(settings)

    def reconfigure(self, settings: ServiceSettings) -> None:
        """Take over where the files are and how large they get."""
        self.settings = settings
        most, rotations = settings.most_history_bytes, settings.history_rotations
        self._jobs = RecordFile(self._runtime.files, settings.history, most, rotations)
        self._epochs = RecordFile(self._runtime.files, settings.epoch_history, most, rotations)

    def append(self, job: Job, now: int) -> bool:
        """Write a finished job; False if the disk does not take it, and it has to stay."""
        if not self.settings.history:
            return True
        try:
            if self.settings.per_job_history:
                self._write_per_job(job)
            self._jobs.append(lambda offset: history_record(job, offset, now), now)
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"Job {job.id} stays, the history does not take it: {error}")
            return False
        return True

    def append_epoch(self, kind: str, job: Job, now: int) -> None:
        """Write that a run of a job began (SPAWN) or ended (EPOCH)."""
        if not self.settings.epoch_history:
            return
        try:
            self._epochs.append(lambda _: epoch_record(kind, job, now), now)
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"The epoch history lacks a run of {job.id}: {error}")

    def _write_per_job(self, job: Job) -> None:
        path = f"{self.settings.per_job_history}/history.{job.id}"
        text = "".join(f"{line}\n" for line in job.ad.lines())
        self._runtime.files.write_atomically(path, text)

    def has(self, job: Job) -> bool:
        """Tell whether a job that a crash left behind was recorded before it."""
        cluster, proc = str(job.id.cluster), str(job.id.proc)
        for number, record in enumerate(self._jobs.backwards()):
            if record.fields.get("ClusterId") == cluster and record.fields.get("ProcId") == proc:
                return True
            if number >= _LOOKED_THROUGH:
                break
        return False

    def records(self, query: HistoryQuery) -> Iterator[history.HistoryRecord]:
        """Return the records a query looks through; RefusedError if there is no such history."""
        file = {"": self._jobs, "SCHEDD": self._jobs, "JOB": self._jobs}.get(query.source)
        if query.source == "JOB_EPOCH":
            file = self._epochs
        if file is None or not file.path:
            raise RefusedError(
                f"There is no {query.source or 'job'} history here",
                code=HistoryErrorCode.NOT_CONFIGURED,
            )
        return file.forwards() if query.forwards else file.backwards()
