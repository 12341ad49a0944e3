"""Having a job taken off its machine: what its startd is told, when again, and for how long.

Which word it is, is `kettle.shadow.leaving`'s; that the job has to leave is the machine's.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.errors import WireError
from kettle.policy.kill_signals import wished_seconds
from kettle.runtime import tasks
from kettle.shadow.leaving import Leave, choose_leave, wants_grace
from kettle.shadow.services.reconnect import follow
from kettle.shadow.shadow_machine import Event, Phase
from kettle.wire.messages.claims import (
    ClaimMessage,
    DeactivateClaim,
    DeactivateClaimFinalTransfer,
    DeactivateClaimForcibly,
)

if TYPE_CHECKING:
    from kettle.shadow.services.run import Run

# How long a starter may take to end a job that was asked to leave, beyond the job's own time.
LEAVING_SECONDS = 600.0
# A starter that was told to kill the job at once has no reason to take longer than this.
LEAVING_FAST_SECONDS = 60.0
# How soon a startd that could not be told is told again.
LEAVE_RETRY_SECONDS = 5.0
_WORDS: dict[Leave, type[ClaimMessage]] = {
    Leave.GENTLY: DeactivateClaim,
    Leave.WITH_OUTPUT: DeactivateClaimFinalTransfer,
    Leave.AT_ONCE: DeactivateClaimForcibly,
}


class Leaving:
    """A run's way off its machine, which the run owns."""

    __slots__ = ("_ordered", "_timer")

    def __init__(self) -> None:
        # What the startd was told, and has not failed to hear.
        self._ordered: Leave | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_told(self) -> bool:
        """Whether the startd was told, and has not failed to hear it."""
        return self._ordered is not None

    def ask(self, run: Run) -> None:
        """Tell the startd, once, or once more if there is something stronger to be told.

        Nobody gets more time by asking again.
        """
        leave = _choose(run)
        if self._ordered is not None and leave <= self._ordered:
            return
        self._order(run, leave)
        self.stop()
        wait = LEAVING_SECONDS + (wished_seconds(run.job) or 0.0)
        if leave is Leave.AT_ONCE:
            wait = LEAVING_FAST_SECONDS
        self._timer = asyncio.get_running_loop().call_later(wait, _on_overdue, run)

    def forget(self) -> None:
        """What was said while the starter was away may not have reached it."""
        self._ordered = None

    def stop(self) -> None:
        """Wait for nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _order(self, run: Run, leave: Leave) -> None:
        self._ordered = leave
        tasks.spawn(self._send(run, leave), f"deactivate {run.name}")

    async def _send(self, run: Run, leave: Leave) -> None:
        try:
            reply = await run.link.command(_WORDS[leave](run.claim.text))
        except (WireError, OSError) as error:
            run.log(f"The claim could not be deactivated: {error}")
            if self._ordered is leave:
                self._ordered = None
                await follow(run)
                asyncio.get_running_loop().call_later(LEAVE_RETRY_SECONDS, self._order_again, run)
            return
        run.reusable = reply.boolean("Start") is True

    def _order_again(self, run: Run) -> None:
        """The startd did not hear it; a starter that is connected has to leave all the same.

        As it has to now: somebody may have asked for more meanwhile.
        """
        if self._ordered is None and run.state.phase is Phase.LEAVING:
            self._order(run, _choose(run))


def _choose(run: Run) -> Leave:
    grace = wants_grace(run.job, run.host.removes_gently)
    return choose_leave(run.request, grace=grace, program_ended=run.program_ended)


def _on_overdue(run: Run) -> None:
    """Give up on a starter that does not end the job."""
    tasks.spawn(_overdue(run), f"overdue {run.name}")


async def _overdue(run: Run) -> None:
    await run.happen(Event.OVERDUE)
    if run.stream is not None and run.state.phase is Phase.CLOSING:
        run.stream.close()
