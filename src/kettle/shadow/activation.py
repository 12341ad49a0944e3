"""How long the parts of an activation took: before the program, the program, what came after.

Pure. Moments are whole seconds of the epoch; a program that goes on after a checkpoint begins anew,
and what is told of it is its last stretch. Source: the manual's ActivationDuration and its kin.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Activation:
    """The moments of one activation; 0 for those that were not seen."""

    accepted: int = 0
    began: int = 0
    ended: int = 0

    def begin(self, now: int) -> dict[str, object]:
        """The program begins, or goes on; return what is known with its first beginning."""
        first, self.began = not self.began, now
        self.ended = 0
        known = first and self.accepted
        return {"ActivationSetupDuration": now - self.accepted} if known else {}

    def end_program(self, now: int) -> dict[str, object]:
        """The program has ended; return how long it took, if that is news."""
        if self.ended or not self.began:
            return {}
        self.ended = now
        return {"ActivationExecutionDuration": now - self.began}

    def end(self, now: int) -> dict[str, object]:
        """Everything is over; return what was not yet told."""
        told = self.end_program(now)
        if self.accepted and self.ended:
            told["ActivationDuration"] = now - self.accepted
            told["ActivationTeardownDuration"] = now - self.ended
        return told
