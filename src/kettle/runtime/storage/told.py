"""What the logs of a job tell of it, to whoever takes it over after a crash."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kettle.runtime.storage.event_log_tail import (
    LogTails,
    hold_told,
    is_cut,
    last_event,
    read_tail,
    requeues_told,
    starts_told,
    submission_told,
    submissions_told,
    tells_of_start,
)

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.records.event_base import Event
    from kettle.records.unwritten_events import Unwritten
    from kettle.runtime.storage.waiting_events import Place


def user_log_paths(job: ClassAd) -> list[str]:
    """Return the files that a job's events go to: its own log and its DAG's."""
    directory = job.string("Iwd") or "/"
    paths = []
    for attribute in ("UserLog", "DAGManNodesLog"):
        name = job.string(attribute)
        if name and name != "/dev/null":
            path = posixpath.normpath(posixpath.join(directory, name))
            if path not in paths:
                paths.append(path)
    return paths


def place_of(job: ClassAd) -> Place:
    """Return the numbers of a job."""
    return job.integer("ClusterId") or 0, job.integer("ProcId") or 0


class ToldByLogs:
    """What event logs say of jobs; `unwritten` is what waits to be written, and counts as said.

    Logs that are `is_far` are not read: that may take long.
    """

    def __init__(
        self, is_far: Callable[[str], bool], unwritten: Callable[[Place], Sequence[Unwritten]]
    ) -> None:
        self._is_far = is_far
        self._unwritten = unwritten
        self._ends = LogTails()

    def shows(self, job: ClassAd) -> bool:
        """Whether a job's own log can be read later for what was written into it so far."""
        paths = user_log_paths(job)[:1]
        return (
            bool(paths)
            and not self._unwritten(place_of(job))
            and not any(self._is_far(path) for path in paths)
        )

    def last_of(self, job: ClassAd) -> Event | None:
        """Return what a job's own log says last; None if that cannot be known quickly."""
        for tail in self._tails(job):
            return last_event(tail, *place_of(job))
        return None

    def tell_of_start(self, job: ClassAd) -> bool:
        """Whether a job's own log has the start of this run, as far as that can be known."""
        return all(tells_of_start(tail, *place_of(job)) for tail in self._tails(job))

    def hold_told(self, job: ClassAd) -> tuple[bool, bool]:
        """Whether a job's own log has that it was held since it began, and that it still is."""
        for tail in self._tails(job):
            return hold_told(tail, *place_of(job))
        return False, False

    def starts_told(self, job: ClassAd) -> int:
        """Return how many starts of a job its own log tells of, as far as that can be known."""
        return sum(starts_told(tail, *place_of(job)) for tail in self._tails(job))

    def requeues_told(self, job: ClassAd) -> int:
        """Return how many ends of a job that goes on its own log tells of, as far as is known."""
        return sum(requeues_told(tail, *place_of(job)) for tail in self._tails(job))

    def submissions_told(self, job: ClassAd) -> set[int]:
        """Return which jobs of a late cluster the log of one of them tells the submission of."""
        cluster = place_of(job)[0]
        tails = self._tails(job, read_tail)
        return {proc for tail in tails for proc in submissions_told(tail, cluster)}

    def submission_told(self, job: ClassAd, path: str, *, removed: bool) -> bool | None:
        """Return whether one of its logs tells that a job that never ran came into the queue.

        `removed` says that this job was, so that its removal may be told, too. None if that cannot
        be known: the log is longer than is looked at, or is not at hand.
        """
        if self._is_far(path):
            return None
        place = place_of(job)
        if submission_told(self._ends.excerpt(path, *place), *place, removed=removed):
            return True
        try:
            return None if is_cut(path) else False
        except FileNotFoundError:
            return False
        except OSError:
            return None

    def _tails(self, job: ClassAd, read: Callable[[str], bytes] | None = None) -> Iterator[bytes]:
        """Yield what a job's own log says of it, with what waits; nothing if it may take long.

        `read` reads what it says of others, too.
        """
        for path in user_log_paths(job)[:1]:
            if not self._is_far(path):
                tail = read(path) if read else self._ends.excerpt(path, *place_of(job))
                waiting = (data for to, data in self._unwritten(place_of(job)) if to == path)
                yield tail + b"".join(data for data in waiting if data not in tail)
