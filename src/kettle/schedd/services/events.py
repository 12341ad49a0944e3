"""The events that the schedd itself writes into job event logs.

What runs has its events from the shadow; the schedd says that a job came into the queue, was held
or released while it did not run, and was removed. A log that cannot be written is a line in ours
here, and holds its job when that is to start. One on a server that may hang is written by a
process of its owner's. What the queue has no room for is told when it has been written.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus
from kettle.errors import NotFoundError, NotKnownNow, StorageError
from kettle.policy.job_owner import user_of
from kettle.records.event_base import Event
from kettle.records.event_cluster import ClusterRemoveEvent, ClusterSubmitEvent, Completion
from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_grid import AttributeUpdateEvent
from kettle.records.event_kinds import JobAbortedEvent, JobHeldEvent, JobReleasedEvent, SubmitEvent
from kettle.records.unwritten_events import (
    SCHEDD_EVENTS,
    SHADOW_EVENTS,
    Unwritten,
    decode,
    in_order,
)
from kettle.runtime.storage.event_logs import (
    LOG_NAMES,
    EventLogs,
    JobLogs,
    Records,
)
from kettle.runtime.storage.log_writer import LogWriters
from kettle.runtime.storage.mounts import machine_mounts
from kettle.runtime.storage.told import user_log_paths
from kettle.runtime.storage.waiting_events import PASSING, Place
from kettle.schedd.notices import NOTE_NAMES, NOTED_NAMES, add_notes
from kettle.schedd.queue import factory
from kettle.schedd.queue.clusters_alike import Common
from kettle.schedd.untold import untold

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.privileges import Account
    from kettle.schedd.queue.jobs import Cluster, Job

# How long the end of the schedd waits for logs that cannot be written at once.
_LAST_SECONDS = 2.0


def _never(_: int) -> bool:
    return False


class ScheddEvents:
    """Writes events of jobs that do not run."""

    def __init__(
        self,
        runtime: Runtime,
        account_of: Callable[[str], Account],
        keep: Callable[[Iterable[Place]], None],
        records: Records,
    ) -> None:
        """`account_of` says who a user is here (`OwnerAccounts.of`).

        `keep` has the queue keep what waits of these jobs (`logs.unwritten`).

        `records` are the queue's: no event is written before what it tells of is.
        """
        self._runtime = runtime
        self._account_of = account_of
        self._keep = keep
        # Jobs of which something else waits than the queue knows, and how many owners we are now:
        # what the queue does about it is not to be done with an owner's rights.
        self._changed: set[Place] = set()
        self._depth = 0
        self.writers = LogWriters(runtime, account_of)
        self.logs = EventLogs(
            runtime.config,
            privileged=runtime.privileges.as_root,
            report=runtime.log.problem,
            is_far=machine_mounts().is_far,
            append_far=self.writers.append,
            as_owner=self._as_owner,
            note=self._note,
            records=records,
        )

    async def stop(self) -> None:
        """Write what can still be written, but wait for no server."""
        await self.logs.settle(_LAST_SECONDS)
        self.writers.stop()

    def _note(self, places: set[Place], _: bool) -> None:
        self._changed |= places
        self._keep_changed()

    def _keep_changed(self) -> None:
        if self._changed and not self._depth:
            changed, self._changed = self._changed, set()
            self._keep(sorted(changed))

    def recall(self, job: Job, *, fresh: bool = False) -> None:
        """Write what an earlier process, a schedd or a shadow host, had no room for.

        No log can have what is `fresh` yet, though it may have what reads the same.
        """
        kept = [decode(job.ad.string(name)) for name in (SCHEDD_EVENTS, SHADOW_EVENTS)]
        with self._writing_as(job.user):
            self.logs.recall(job.ad, in_order(*kept), unsure=not fresh)
            self._changed.add(job.id)

    def submitted(self, job: Job) -> None:
        """Write event 000."""
        self.write(job, self._submit_event(job))

    def all_submitted(
        self, jobs: Sequence[Job], may_be_told: Callable[[int], bool] = _never
    ) -> None:
        """Write events 000, but for those of late clusters' jobs that a log has already.

        Of which clusters it may have some, `may_be_told` says.
        """
        jobs = self._not_told(jobs, may_be_told)
        host = str(self._runtime.network.address)
        events = Common(NOTE_NAMES, lambda ad: add_notes(SubmitEvent(host=host), ad), NOTED_NAMES)
        self._write_together(jobs, lambda job: events.of(job.ad))

    def tell_what_a_crash_kept(self, jobs: Iterable[Job]) -> None:
        """Write the events 000 of those jobs, the newest first, that the last schedd left out."""
        logs = Common(LOG_NAMES, self.logs.logs_of)
        for job, paths in untold(jobs, lambda ad: logs.of(ad).paths, self._is_told):
            self._runtime.log(f"Job {job.id} was submitted before this start, and no log says so")
            self.write(job, self._submit_event(job), logs.of(job.ad)._replace(paths=paths))

    def _is_told(self, job: Job, path: str) -> bool | None:
        try:
            with self._as_owner(job.user):
                removed = job.status == JobStatus.REMOVED
                return self.logs.told.submission_told(job.ad, path, removed=removed)
        except (StorageError, OSError):
            return None

    def _not_told(self, jobs: Sequence[Job], may_be_told: Callable[[int], bool]) -> list[Job]:
        # One log may have all of a cluster's jobs: it is read once.
        told: dict[tuple[str, int, tuple[str, ...]], set[int]] = {}
        left = []
        for job in jobs:
            if may_be_told(job.id.cluster):
                log = job.user, job.id.cluster, tuple(user_log_paths(job.ad))
                if log not in told:
                    told[log] = self._told(job)
                if job.id.proc in told[log]:
                    continue
            left.append(job)
        return left

    def _told(self, job: Job) -> set[int]:
        try:
            with self._as_owner(job.user):
                return self.logs.told.submissions_told(job.ad)
        except (StorageError, OSError):
            return set()

    def _write_together(self, jobs: Sequence[Job], make: Callable[[Job], Event]) -> None:
        """Write an event of each job; those of one owner's together, each log in one piece.

        Jobs may have one event, which is changed for one after the other: whoever writes events
        has rendered one before the next is made, and keeps none (`EventLogs.prepare`).
        """
        logs = Common(LOG_NAMES, self.logs.logs_of)

        def write(job: Job) -> None:
            event = make(job)
            event.cluster, event.proc = job.id.cluster, job.id.proc
            event.time = now
            try:
                self.logs.write(job.ad, event, logs.of(job.ad))
            except Exception as error:  # noqa: BLE001 - the others' are written
                self._runtime.log.problem(f"Job {job.id}: {error}")

        for owner, group in itertools.groupby(jobs, key=lambda job: job.user):
            now = self._runtime.clock.now()
            try:
                with self._writing_as(owner), self.logs.together():
                    for job in group:
                        write(job)
            except (StorageError, OSError) as error:
                self._runtime.log.problem(f"Jobs of {owner}: {error}")

    def _submit_event(self, job: Job) -> SubmitEvent:
        return add_notes(SubmitEvent(host=str(self._runtime.network.address)), job.ad)

    def held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Write event 012."""
        self.write(job, JobHeldEvent(reason=reason, code=code, subcode=subcode))

    def released(self, job: Job, reason: str) -> None:
        """Write event 013."""
        self.write(job, JobReleasedEvent(reason=reason))

    def changed(self, job: Job, name: str, value: str, old: str | None) -> None:
        """Write event 033: an attribute was set; `old` is the expression it had, if any."""
        self.write(job, AttributeUpdateEvent(name=name, value=value, old=old))

    def all_aborted(self, jobs: Sequence[Job]) -> None:
        """Write events 009."""
        self._write_together(jobs, _aborted_event)

    def tell_of_end(self, job: Job) -> bool:
        """Whether a job's log has its last event already."""
        try:
            with self._as_owner(job.user):
                event = self.logs.told.last_of(job.ad)
        except (StorageError, OSError):
            return False
        return isinstance(event, JobAbortedEvent | JobTerminatedEvent)

    def cluster_submitted(self, cluster: Cluster) -> None:
        """Write event 035 of a cluster that makes its jobs later."""
        host = str(self._runtime.network.address)
        self.write_cluster(cluster, add_notes(ClusterSubmitEvent(host=host), cluster.ad))

    def cluster_removed(self, cluster: Cluster, completion: Completion) -> None:
        """Write event 036."""
        event = ClusterRemoveEvent(
            jobs=factory.progress(cluster.ad),
            items=factory.count_items_used(cluster.ad),
            completion=completion,
        )
        self.write_cluster(cluster, event)

    def write(self, job: Job, event: Event, logs: JobLogs | None = None) -> None:
        """Write an event of a job; a log that cannot be written is a line in ours.

        `logs` are those to write, if not all that the job has.
        """
        event.cluster, event.proc = job.id.cluster, job.id.proc
        event.time = self._runtime.clock.now()
        try:
            with self._writing_as(job.user):
                self.logs.write(job.ad, event, logs)
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"Job {job.id}: {error}")

    def prepare(self, job: Job, events: Iterable[Event]) -> list[Unwritten]:
        """Return what waits of a job with these events behind it, to be kept and then recalled."""
        waiting = list(self.logs.unwritten(job.id))
        for event in events:
            event.cluster, event.proc = job.id.cluster, job.id.proc
            event.time = self._runtime.clock.now()
            waiting += self.logs.prepare(job.ad, event)
        return waiting

    def write_cluster(self, cluster: Cluster, event: Event) -> None:
        """Write an event of a cluster."""
        event.cluster, event.proc = cluster.id, -1
        event.time = self._runtime.clock.now()
        try:
            with self._writing_as(user_of(cluster.ad)):
                self.logs.write(cluster.ad, event)
        except (StorageError, OSError) as error:
            self._runtime.log.problem(f"Cluster {cluster.id}: {error}")

    @contextlib.contextmanager
    def _writing_as(self, owner: str) -> Iterator[None]:
        """Write as the job's owner; what is written waits while he cannot be found."""
        with contextlib.ExitStack() as inside:
            try:
                inside.enter_context(self._as_owner(owner))
            except StorageError as error:
                if error.errno not in PASSING:
                    raise
                inside.enter_context(self.logs.kept_out(error))
            yield

    @contextlib.contextmanager
    def _as_owner(self, owner: str) -> Iterator[None]:
        """Touch files as the job's owner, where this daemon can."""
        try:
            account = self._account_of(owner)
        except NotFoundError as error:
            number = errno.EAGAIN if isinstance(error, NotKnownNow) else 0
            raise StorageError(str(error), errno=number) from error
        self._depth += 1
        try:
            with self._runtime.privileges.as_account(account):
                yield
        finally:
            self._depth -= 1
            self._keep_changed()


def _aborted_event(job: Job) -> JobAbortedEvent:
    return JobAbortedEvent(reason=job.ad.string("RemoveReason") or "")
