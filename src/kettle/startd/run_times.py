"""How long a claim's jobs have run and have been suspended: the present one, and all of them.

Times are those of the steady clock, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class RunTimes:
    """One claim's times; a new claim begins with new ones."""

    job_began_at: float = 0.0
    # When the present job was suspended, 0 while it runs; how long it was before that.
    _frozen_at: float = 0.0
    _frozen: float = 0.0
    # What the jobs before the present one took.
    _earlier_ran: float = 0.0
    _earlier_frozen: float = 0.0

    def begin(self, now: float) -> None:
        """A job begins."""
        self.job_began_at = now
        self._frozen = self._frozen_at = 0.0

    def suspend(self, now: float) -> None:
        """The present job is suspended; saying it again changes nothing."""
        self._frozen_at = self._frozen_at or now

    def resume(self, now: float) -> None:
        """The present job runs again; also where it leaves suspended."""
        if self._frozen_at:
            self._frozen += now - self._frozen_at
            self._frozen_at = 0.0

    def end(self, now: float) -> None:
        """The present job has left."""
        self._earlier_ran, self._earlier_frozen = self.claim_ran(now), self.claim_frozen(now)
        self.job_began_at = self._frozen = self._frozen_at = 0.0

    def job_frozen(self, now: float) -> float:
        """Return how long the present job has been suspended."""
        return self._frozen + (now - self._frozen_at if self._frozen_at else 0.0)

    def job_ran(self, now: float) -> float:
        """Return how long the present job has run, without suspended time; 0 if there is none."""
        return now - self.job_began_at - self.job_frozen(now) if self.job_began_at else 0.0

    def claim_frozen(self, now: float) -> float:
        """Return how long jobs of this claim have been suspended."""
        return self._earlier_frozen + self.job_frozen(now)

    def claim_ran(self, now: float) -> float:
        """Return how long jobs of this claim have run."""
        return self._earlier_ran + self.job_ran(now)
