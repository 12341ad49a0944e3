"""By what a scheduler-universe job is known to its schedd as its user."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kettle.levels import Level
from kettle.policy.job_owner import user_of
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.wire.security.claim_id import CLAIM_INFO, ClaimId, mint_session_id

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# What a job's user may do at the schedd.
_OF_A_WRITER = (Level.READ, Level.WRITE)


class JobSessions:
    """The sessions of the jobs that run now."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._sessions: dict[JobId, ClaimId] = {}

    def begin(self, job: Job) -> ClaimId:
        """Let the job act at this schedd as its user, as condor_dagman does for its nodes."""
        network = self._runtime.network
        commands = network.commands_at(_OF_A_WRITER)
        info = f'{CLAIM_INFO[:-1]}ValidCommands="{",".join(map(str, commands))}";]'
        session = mint_session_id(f"scheduler-universe-{job.id}", secrets.token_bytes(32), info)
        network.add_session(session, user=user_of(job.ad), commands=commands)
        self._sessions[job.id] = session
        return session

    def secret(self, job: Job) -> str:
        """Return the text of a running job's session, which only it and its user know; or none."""
        session = self._sessions.get(job.id)
        return "" if session is None else session.text

    def end(self, job: Job) -> None:
        """Let it be known no more; nothing if it has no session."""
        session = self._sessions.pop(job.id, None)
        if session is not None:
            self._runtime.network.remove_session(session)
