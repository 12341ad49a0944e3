"""The end of a run as it is taken into the queue, which may not be able to take it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.schedd.job_machine import Attributes, Event
from kettle.schedd.queue.job_ids import JobId

# How long after a failure it is tried again: longer each time.
_FIRST_SECONDS = 5
_LONGEST_SECONDS = 300


@dataclass(slots=True)
class RunEnd:
    """How a run ended, by its shadow's last word (`reason` is a ShadowExit), and when.

    `pause` is how long the job waits after it, `status` what it was then, `tries` how often the
    queue did not take the end. What was last committed, or tried: `event` is what the end means for
    the job, None if that was decided before, `moved_before` the bytes of the runs before this one,
    `was` what the job's ad said otherwise in the run (`run_records.as_it_ran`).
    """

    job: JobId
    reason: int
    attributes: Mapping[str, str]
    at: int
    pause: int = 0
    status: int = 0
    tries: int = 0
    event: Event | None = None
    moved_before: tuple[float, float] = (0.0, 0.0)
    was: Attributes = field(default_factory=dict)

    def next_try(self) -> int:
        """Return in how many seconds it is to be tried again, after one more failure."""
        # A large shift would be a large number.
        seconds = _FIRST_SECONDS << min(self.tries, 10)
        self.tries += 1
        return min(seconds, _LONGEST_SECONDS)
