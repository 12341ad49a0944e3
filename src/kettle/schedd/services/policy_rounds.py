"""The periodic policy of jobs that do not run: looked at user by user, in a share of the time.

How much work an expression is its user says, so each user has rounds of his own. They take turns,
and all of them together no more of the schedd's time than PERIODIC_EXPR_TIMESLICE: who has ten
thousand costly expressions waits longer for his next round, and nobody else does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kettle.runtime import tasks
from kettle.schedd.job_machine import WAITING

if TYPE_CHECKING:
    from kettle.schedd.queue.job_queue import JobQueue
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.settings import ServiceSettings

# Limit: jobs of one user that are looked at before others have their turn.
_MOST_JOBS = 500


class PolicyRounds:
    """The rounds of every user whose jobs wait or are held; `do` is done with a job in its turn.

    Compat: the reference looks at all jobs in one piece, and begins again so much later that no
    more than the share is used, but for MAX_PERIODIC_EXPR_INTERVAL, behind which it uses as much as
    it takes. Here that is the longest pause between two turns
    (test_costly_policy_of_one_user_takes_its_share_of_the_time_and_keeps_no_other_waiting).
    """

    def __init__(self, do: Callable[[list[Job]], object]) -> None:
        self._do = do
        # Who is in the middle of a round, and what is left of it; the next one comes first.
        self._left: dict[str, Iterator[Job]] = {}
        # Seconds of work that no pause has made up for yet.
        self._spent = 0.0

    async def go(self, queue: JobQueue, settings: ServiceSettings) -> None:
        """Go on with what has begun until the next rounds are due, and begin these."""
        loop = asyncio.get_running_loop()
        due = loop.time() + settings.policy_seconds
        while self._left and loop.time() < due:
            self._take_turn(loop)
            await asyncio.sleep(self._pause(settings))
        await asyncio.sleep(max(0.0, due - loop.time()))
        self._begin(queue)

    def _begin(self, queue: JobQueue) -> None:
        """Begin a round of every user who is in none."""
        found: dict[str, list[Job]] = {}
        for status in WAITING:
            for job in queue.by_status[status].values():
                if job.user not in self._left:
                    found.setdefault(job.user, []).append(job)
        # Before those whose last round goes on: most are over in one turn.
        self._left = {user: iter(jobs) for user, jobs in found.items()} | self._left

    def _take_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look at some jobs of the user whose turn it is, one at least."""
        began = loop.time()
        user = next(iter(self._left))
        jobs = self._left.pop(user)
        for _ in range(_MOST_JOBS):
            job = next(jobs, None)
            if job is None:
                break
            with tasks.reported("The policy of a job"):
                self._do([job])
            if loop.time() - began >= tasks.TURN_SECONDS:
                self._left[user] = jobs
                break
        else:
            self._left[user] = jobs
        self._spent += loop.time() - began

    def _pause(self, settings: ServiceSettings) -> float:
        """Return how long others have the time; what is short is made up for together."""
        if self._spent < tasks.TURN_SECONDS:
            return 0.0
        spent, self._spent = self._spent, 0.0
        share = settings.policy_share
        return min(spent / share - spent, settings.longest_policy_seconds) if share > 0 else 0.0
