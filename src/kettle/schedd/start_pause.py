"""Whether jobs are started: not for a while after the queue had no room for a start.

A start that waited for the disk would show a job as running that nobody runs. So it is asked for
as what a client wants: the job waits on, its claim goes back, and no match is taken meanwhile.
"""

from __future__ import annotations

from kettle.attributes.match_words import NOT_STARTED
from kettle.errors import KettleError, StorageError
from kettle.schedd.outside import Outside
from kettle.schedd.queue.jobs import Job

AGAIN_SECONDS = 10


def note_refused(job: Job, error: KettleError, now: int) -> str:
    """Note in a job's ad, as a rejected match is noted, why it was not started; return why."""
    reason = f"{NOT_STARTED}: {error.message}"
    _note(job, reason, now)
    return reason


def forget_refused(job: Job) -> None:
    """Take that back from a job for whose start no slot is matched, which would overrule it."""
    for name in ("LastRejMatchTime", "LastRejMatchReason"):
        job.ad.discard(name)


def _note(job: Job, reason: str, now: int) -> None:
    job.ad["LastRejMatchTime"] = now
    job.ad["LastRejMatchReason"] = reason


class StartPause:
    """Knows of starts that were refused, and asks for matches when it is time to try again."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self.lasts = False
        # Why no job starts, while that lasts and no start is taken: what keeps a job later is
        # another matter, until a start is refused again.
        self.reason = ""

    def on_refused(self, job: Job, error: StorageError, now: int) -> None:
        """Note in a job's ad, as a rejected match is noted, why it was not started."""
        self.reason = note_refused(job, error, now)
        if not self.lasts:
            self.lasts = True
            self._outside.trouble(f"job {job.id} is not started: {error.message}")
            self._outside.again(AGAIN_SECONDS, self._try_again)

    def note_rejected(self, job: Job, reason: str, now: int, negotiator: str | None = None) -> None:
        """Note in a job's ad why it got no slot: that no job starts is the greater trouble."""
        _note(job, self.reason or reason, now)
        if negotiator is not None:
            job.ad["LastRejMatchNegotiator"] = negotiator

    def on_taken(self) -> None:
        """Note that the queue has taken a start."""
        self.reason = ""

    def _try_again(self) -> None:
        self.lasts = False
        self.reason = ""
        self._outside.want_matches()
