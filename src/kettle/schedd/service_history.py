"""The history files: written when a job leaves, read backwards for queries, rotated when full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import RefusedError, StorageError
from kettle.runtime.record_files import RecordFile, read_rotation
from kettle.schedd.departures import epoch_record, history_record, render_ad
from kettle.wire.messages.queue_queries import HistoryErrorCode

if TYPE_CHECKING:
    from kettle.records.history_query import HistoryQuery
    from kettle.runtime.context import Runtime
    from kettle.schedd.job_queue import Job
    from kettle.schedd.settings import ServiceSettings

# Limit: records at the end of the file that a restart looks through for a job that may be there.
_LOOKED_THROUGH = 1000

# What HISTORY_CONTAINS_JOB_ENVIRONMENT = false leaves out, in lower case.
_ENVIRONMENT = ("env", "environment")


class HistoryFiles:
    """The schedd's history: of finished jobs, and of each of their runs."""

    def __init__(self, runtime: Runtime, settings: ServiceSettings) -> None:
        self._runtime = runtime
        self.reconfigure(settings)

    def reconfigure(self, settings: ServiceSettings) -> None:
        """Take over where the files are and how large they get."""
        self.settings = settings
        files, rules = self._runtime.files, read_rotation(self._runtime.config)
        self._jobs = RecordFile(files, settings.history, rules)
        self._epochs = RecordFile(files, settings.epoch_history, rules)
        self._left_out = frozenset(() if settings.history_has_environment else _ENVIRONMENT)

    def append(self, job: Job, now: int) -> bool:
        """Write a finished job; False if the disk does not take it, and it has to stay."""
        if not self.settings.history:
            return True
        try:
            if self.settings.per_job_history:
                self._write_per_job(job)
            self._jobs.append(lambda offset: history_record(job, offset, now, self._left_out), now)
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
        text = render_ad(job, self._left_out)
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

    def file(self, query: HistoryQuery) -> RecordFile:
        """Return the file a query looks through; RefusedError if there is no such history."""
        file = {"": self._jobs, "SCHEDD": self._jobs, "JOB": self._jobs}.get(query.source)
        if query.source == "JOB_EPOCH":
            file = self._epochs
        if file is None or not file.path:
            raise RefusedError(
                f"There is no {query.source or 'job'} history here",
                code=HistoryErrorCode.NOT_CONFIGURED,
            )
        return file
