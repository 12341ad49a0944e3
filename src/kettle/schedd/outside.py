"""What the scheduler has done for it, and by whom: a part a subject, each of which owns it.

Every method returns at once. The shells that fulfil these are in `services/`; tests write down what
was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kettle.schedd.claims import Claim
from kettle.schedd.job_machine import Attributes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job


class Claiming(Protocol):
    """Who talks to startds about claims."""

    def request(self, claim: Claim, job: Job) -> None:
        """Send REQUEST_CLAIM; the reply comes to `on_claim_reply` or `on_claim_failed`."""

    def release(self, claim_id: str, address: str) -> None:
        """Tell a startd that a claim is not needed, and know its session no more."""

    def forget(self, claim_id: str) -> None:
        """Know the session of a claim no more, which is gone."""


class Running(Protocol):
    """Who has jobs run, here or on machines."""

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        """Hand a job to its user's shadow host, once what was committed is on disk."""

    def signal(self, job: Job, word: str, reason: str, code: int, subcode: int) -> None:
        """Tell what runs a job; the words are those of `wire.messages.shadow_host.SignalShadow`."""

    def is_beside(self, job: Job) -> bool:
        """Tell whether a job of the local or scheduler universe has a process."""

    def end_leftover(self, job: Job) -> None:
        """End the process that an earlier schedd left of a job beside it."""


class Telling(Protocol):
    """Who tells the owners of jobs, by the jobs' logs and by mail."""

    def held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Write the event of a job that went on hold without running; mail it if that is wanted."""

    def held_running(self, job: Job) -> None:
        """Mail that a run put its job on hold, if that is wanted; the event is the shadow's."""

    def released(self, job: Job, reason: str) -> None:
        """Write the event of a job that was released."""

    def aborted(self, jobs: Sequence[Job]) -> None:
        """Write the events of jobs that were removed."""

    def recall(self, job: Job) -> None:
        """Write the events of a job for which an earlier process had no room."""

    def was_told(self, job: Job) -> bool:
        """Tell whether the log has the end of a job that a crash left in the queue."""


class Recording(Protocol):
    """Who keeps what is to be kept of jobs that are over, and throws away the rest."""

    def run_ended(self, job: Job, was: Attributes) -> None:
        """Append a run of a job to the epoch history; `was` is what it had otherwise then."""

    def finished(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Append finished jobs to the history files; return those that these have taken."""
        ...

    def has(self, job: Job) -> bool:
        """Tell whether the history has a job that a crash left in the queue."""

    def clean_up(self, job: Job) -> None:
        """Remove what a finished job left in the spool; mail its owner if that is wanted."""


class Departing(Protocol):
    """Who sees finished jobs out of the queue."""

    def begin(self, job: Job) -> None:
        """Have a job recorded once its last status is on disk, and taken out after that."""


@dataclass(frozen=True, slots=True)
class Outside:
    """The parts, the word to the negotiator that jobs wait, and a clock.

    `rest` does something after so many seconds in which a job waits, `again` what had failed;
    `trouble` tells the log of the daemon what an administrator has to know.
    """

    claims: Claiming
    runs: Running
    owners: Telling
    records: Recording
    departures: Departing
    want_matches: Callable[[], None]
    rest: Callable[[JobId, int, Callable[[], None]], None]
    again: Callable[[int, Callable[[], None]], None]
    trouble: Callable[[str], None]
