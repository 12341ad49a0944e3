"""Users who cannot be found on this machine just now: none of their jobs is started meanwhile.

A name service that is started again says of an account for a moment that there is none. What runs
goes on (`shadows.py`); what waits is not matched, as each match would end in a start that comes to
nothing, and is told why in its ad. Whether the user is there again is asked at growing intervals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus
from kettle.errors import NotFoundError, NotKnownNow
from kettle.runtime import tasks
from kettle.schedd.start_pause import forget_refused, note_refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd

FIRST_SECONDS = 2.0
LONGEST_SECONDS = 64.0


class SilentOwners:
    """The users of one schedd who are waited for; `go_on` looks for jobs to start beside it."""

    def __init__(self, schedd: Schedd, go_on: Callable[[], None]) -> None:
        self._schedd = schedd
        self._go_on = go_on
        self._waited_for: set[str] = set()

    def note(self, user: str, why: NotKnownNow) -> None:
        """Set the waiting jobs of a user aside until he is found."""
        if user in self._waited_for:
            return
        self._waited_for.add(user)
        schedd = self._schedd
        schedd.runtime.log.problem(f"No job of {user} starts until he is found: {why.message}")
        schedd.idle.set_aside(user)
        for job in self._waiting_jobs(user):
            note_refused(job, why, schedd.now())
        self._look_again(user, FIRST_SECONDS)

    def _look_again(self, user: str, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._look, user, seconds)

    def _look(self, user: str, pause: float) -> None:
        schedd = self._schedd
        try:
            schedd.accounts.of(user)
        except NotKnownNow:
            self._look_again(user, min(2 * pause, LONGEST_SECONDS))
            return
        except NotFoundError as error:
            # For good, it seems: his jobs are held as they are to start.
            schedd.runtime.log.problem(f"The jobs of {user} are not kept waiting: {error.message}")
        except Exception:
            # Whatever that is, it is told by the loop, and nobody waits for ever.
            self._look_again(user, LONGEST_SECONDS)
            raise
        else:
            schedd.runtime.log(f"{user} is found again: his jobs may start")
        self._waited_for.discard(user)
        with tasks.reported("The jobs of a user who is found again"):
            for job in self._waiting_jobs(user):
                forget_refused(job)
            schedd.idle.take_back(user)
            schedd.want_matches()
            self._go_on()

    def _waiting_jobs(self, user: str) -> Iterator[Job]:
        jobs = self._schedd.queue.by_user.get(user, {}).values()
        return (job for job in jobs if job.status == JobStatus.IDLE)
