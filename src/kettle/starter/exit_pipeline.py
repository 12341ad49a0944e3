"""What happens when a job's processes have ended, step by step.

Only what a shadow is told of has these steps: a job beside its schedd has no starter. A step that
needs the shadow waits for one that comes back (`services/shadow.py`), so that the steps go on where
they stopped. Doing them is `services/ending.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kettle.choices import Choice


class ExitStep(Choice):
    """One step of the end, in their order (starter exit notes)."""

    CANCEL_UPDATES = "cancel the periodic updates"
    TRANSFER_OUTPUT = "transfer the output files"
    UPDATE_STARTD = "send the final update ad to the startd"
    JOB_EXIT = "tell the shadow (job_exit)"
    AWAIT_DEACTIVATION = "wait for the claim to be deactivated"


class ExitPipeline:
    """The end of one job: each step once, the next when the one before is done."""

    def __init__(self) -> None:
        self._done: set[ExitStep] = set()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return len(self._done) == len(ExitStep)

    def has_done(self, step: ExitStep) -> bool:
        """Whether a step is over."""
        return step in self._done

    async def run(self, perform: Callable[[ExitStep], Awaitable[None]]) -> None:
        """Have all steps done, in order."""
        for step in ExitStep:
            await perform(step)
            self._done.add(step)
