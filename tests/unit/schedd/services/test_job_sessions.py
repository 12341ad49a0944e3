"""A scheduler-universe job is known as its user while it runs, and no longer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from kettle.attributes.codes import JobUniverse
from kettle.levels import Level
from kettle.schedd.services.job_sessions import JobSessions
from kettle.wire.security.claim_id import ClaimId
from unit.schedd.queue_fixture import Schedd


class Network:
    """Whoever is known, and as whom."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, list[int]]] = {}

    def commands_at(self, levels: tuple[Level, ...]) -> list[int]:
        """Return a number for each level."""
        return [len(level.value) for level in levels]

    def add_session(self, session: ClaimId, *, user: str, commands: list[int]) -> None:
        self.known[session.text] = user, commands

    def remove_session(self, session: ClaimId) -> None:
        del self.known[session.text]


def test_each_job_has_a_session_of_its_own_that_ends_with_it() -> None:
    jobs = Schedd().submit(2, JobUniverse=str(int(JobUniverse.SCHEDULER)))
    network = Network()
    sessions = JobSessions(cast(Any, SimpleNamespace(network=network)))
    first, second = (sessions.begin(job).text for job in jobs)
    writer = "alice@vm", network.commands_at((Level.READ, Level.WRITE))
    assert network.known == {first: writer, second: writer}
    assert [sessions.secret(job) for job in jobs] == [first, second]
    sessions.end(jobs[0])
    assert [sessions.secret(job) for job in jobs] == ["", second]
    assert list(network.known) == [second]
    # One that never had a session, or has none any more.
    sessions.end(jobs[0])
    assert list(network.known) == [second]
