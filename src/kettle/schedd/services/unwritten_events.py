"""The queue's copy of events that wait for room in their jobs' logs: made, used, thrown away.

What waits is the event log's business (`events.py`); a job that has such a copy stays in the queue
(`departures.may_leave`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kettle.classad.text import quote_old
from kettle.errors import StorageError
from kettle.records.unwritten_events import (
    SCHEDD_EVENTS,
    SHADOW_EVENTS,
    decode,
    encode,
    in_order,
)
from kettle.schedd.queue.job_ids import key_of

if TYPE_CHECKING:
    from kettle.runtime.storage.waiting_events import Place
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd


class UnwrittenEvents:
    """The events of one schedd's jobs that no log has yet."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd

    def keep(self, places: Iterable[Place]) -> None:
        """Keep what waits of these jobs, and let go of those of which nothing waits any more."""
        queue, logs = self._schedd.queue, self._schedd.events.logs
        transaction, written = queue.transaction(), []
        for cluster, proc in places:
            job = queue.job(cluster, proc)
            if job is None:
                continue
            waiting = logs.unwritten(job.id)
            if waiting:
                text = quote_old(encode(waiting))
                transaction.update(key_of(*job.id), {SCHEDD_EVENTS: text})
            elif SCHEDD_EVENTS in job.ad:
                transaction.update(key_of(*job.id), {SCHEDD_EVENTS: None})
                written.append(job)
        queue.commit(transaction)
        for job in written:
            self._schedd.scheduler.on_events_written(job)

    def hand_over(self, job: Job) -> None:
        """Leave what waits of a job that begins to its shadow, which would else write before us.

        So all of a run's log is one process's, in the order in which it happened. What is being
        written just now is not handed over.
        """
        logs = self._schedd.events.logs
        if not logs.may_give_away(job.id):
            return
        told = decode(job.ad.string(SHADOW_EVENTS))
        waiting = in_order(logs.unwritten(job.id), told)
        # First there, then no longer here: a crash in between leaves both, which are one.
        self._schedd.queue.update(job.id, {SHADOW_EVENTS: quote_old(encode(waiting))})
        logs.give_away(job.id)

    def recall(self, job: Job, *, fresh: bool = False) -> None:
        """Write the events for which an earlier process had no room; they are ours from now on.

        None of those that are `fresh`, made by us a moment ago, can be in a log yet.
        """
        done = [SHADOW_EVENTS]
        try:
            self._schedd.events.recall(job, fresh=fresh)
        except (StorageError, OSError) as error:
            self._schedd.runtime.log.problem(f"Job {job.id}: {error}")
            done.append(SCHEDD_EVENTS)
        self._schedd.queue.update(job.id, {name: None for name in done if name in job.ad})
