"""Having jobs run: on machines through shadow hosts, or beside the schedd.

A job is handed over when the queue on disk says that it runs, and what is to be said to it waits
its turn behind that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.records.job_trace import Step
from kettle.schedd.services.job_ad_file import remove_job_ad

if TYPE_CHECKING:
    from kettle.schedd.claims import Claim
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.beside import BesideJobs
    from kettle.schedd.services.claims import ClaimCommands
    from kettle.schedd.services.parts import Schedd
    from kettle.schedd.services.records import Records
    from kettle.schedd.services.shadows import ShadowHosts
    from kettle.schedd.services.unwritten_events import UnwrittenEvents


class Runs:
    """Every job that runs, wherever that is."""

    def __init__(
        self,
        schedd: Schedd,
        *,
        claims: ClaimCommands,
        records: Records,
        shadows: ShadowHosts,
        beside: BesideJobs,
        unwritten: UnwrittenEvents,
    ) -> None:
        self._schedd = schedd
        self._claims = claims
        self._records = records
        self._shadows = shadows
        self._beside = beside
        self._unwritten = unwritten

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        """Give a job to its user's shadow host."""
        self._claims.know(claim.id)
        self._schedd.on_disk.then(partial(self._hand_over, job, claim, reconnect=reconnect))

    def _hand_over(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        self._schedd.trace(job, Step.HANDED_OVER, "it is looked for" if reconnect else "")
        self._unwritten.hand_over(job)
        self._shadows.start_shadow(job, claim, reconnect=reconnect)
        if not reconnect:
            self._records.run_began(job)

    def signal(self, job: Job, word: str, reason: str, code: int, subcode: int) -> None:
        """Tell what runs a job, which may only be about to be started."""
        if self._schedd.on_disk.pending:
            self._schedd.on_disk.then(partial(self._pass_on, job, word, reason, code, subcode))
        else:
            self._pass_on(job, word, reason, code, subcode)

    def _pass_on(self, job: Job, word: str, reason: str, code: int, subcode: int) -> None:
        if not self._beside.signal(job, word, reason, code, subcode):
            self._shadows.signal_shadow(job, word, reason, code, subcode)

    def is_beside(self, job: Job) -> bool:
        """Tell whether a job of the local or scheduler universe has a process."""
        return job.id in self._beside.runs

    def end_leftover(self, job: Job) -> None:
        """End the process that an earlier schedd left of a job beside it, and remove its file."""
        self._beside.earlier.end(job)
        if job.universe == JobUniverse.SCHEDULER:
            remove_job_ad(self._schedd, job.id)
