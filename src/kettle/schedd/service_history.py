"""The history files: written when a job leaves, read backwards for queries, rotated when full."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import RefusedError, StorageError
from kettle.records import history
from kettle.schedd.departures import history_record
from kettle.wire.messages.queue_queries import HistoryErrorCode

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.schedd.history_query import HistoryQuery
    from kettle.schedd.job_queue import Job
    from kettle.schedd.settings import ServiceSettings

# Limit: records at the end of the file that a restart looks through for a job that may be there.
_LOOKED_THROUGH = 1000


class HistoryFiles:
    """The schedd's history."""

    def __init__(self, runtime: Runtime, settings: ServiceSettings) -> None:
        self._runtime = runtime
        self.settings = settings
        self._size = -1

    def append(self, job: Job, now: int) -> None:
        """Write a finished job; a disk that is full costs the record, not the schedd."""
        path = self.settings.history
        if not path:
            return
        try:
            if self._size < 0:
                self._size = os.path.getsize(path) if os.path.exists(path) else 0
            data = history_record(job, self._size, now)
            if self._rotate(len(data), now):
                data = history_record(job, 0, now)
            self._runtime.files.append(path, data)
            self._size += len(data)
            if self.settings.per_job_history:
                self._write_per_job(job)
        except (StorageError, OSError) as error:
            self._size = -1
            self._runtime.log.problem(f"The history lacks job {job.id}: {error}")

    def _write_per_job(self, job: Job) -> None:
        path = f"{self.settings.per_job_history}/history.{job.id}"
        text = "".join(f"{line}\n" for line in job.ad.lines())
        self._runtime.files.write_atomically(path, text)

    def _rotate(self, adding: int, now: int) -> bool:
        settings = self.settings
        if not 0 < settings.most_history_bytes < self._size + adding:
            return False
        folder, name = os.path.split(settings.history)
        plan = history.plan_rotation(
            name,
            os.listdir(folder or "."),
            size_bytes=self._size,
            adding_bytes=adding,
            most_bytes=settings.most_history_bytes,
            rotations=settings.history_rotations,
            stamp=time.strftime("%Y%m%dT%H%M%S", time.localtime(now)),
        )
        if plan is None:
            return False
        self._runtime.files.rename(settings.history, os.path.join(folder, plan.rename_to))
        for old in plan.delete:
            self._runtime.files.remove(os.path.join(folder, old))
        self._size = 0
        return True

    def has(self, job: Job) -> bool:
        """Tell whether a job that a crash left behind was recorded before it."""
        cluster, proc = str(job.id.cluster), str(job.id.proc)
        for number, record in enumerate(self._backwards()):
            if record.fields.get("ClusterId") == cluster and record.fields.get("ProcId") == proc:
                return True
            if number >= _LOOKED_THROUGH:
                break
        return False

    def records(self, query: HistoryQuery) -> Iterator[history.HistoryRecord]:
        """Return the records a query looks through; RefusedError if there is no such history."""
        if query.source not in {"", "SCHEDD", "JOB"} or not self.settings.history:
            raise RefusedError(
                f"There is no {query.source or 'job'} history here",
                code=HistoryErrorCode.NOT_CONFIGURED,
            )
        if query.forwards:
            return self._forwards()
        return self._backwards()

    def _paths(self) -> list[str]:
        """Return the files, oldest first."""
        folder, name = os.path.split(self.settings.history)
        try:
            names = os.listdir(folder or ".")
        except OSError:
            return []
        return [
            os.path.join(folder, each)
            for each in (*history.rotated_files(name, names), name)
            if each in names
        ]

    def _forwards(self) -> Iterator[history.HistoryRecord]:
        for path in self._paths():
            yield from history.read_forwards(self._runtime.files.read(path))

    def _backwards(self) -> Iterator[history.HistoryRecord]:
        for path in reversed(self._paths()):
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                size = os.fstat(fd).st_size
                yield from history.read_backwards(partial(_read_at, fd), size)
            finally:
                os.close(fd)


def _read_at(fd: int, at: int, length: int) -> bytes:
    return os.pread(fd, length, at)
