"""Users who cannot be found just now: their jobs wait for them, and are told why."""

from __future__ import annotations

import asyncio
import itertools
from types import SimpleNamespace
from typing import Any

from kettle.errors import NotFoundError, NotKnownNow
from kettle.schedd.services.silent_owners import LONGEST_SECONDS, SilentOwners
from kettle.testing.virtual_loop import run_virtually
from unit.schedd.queue_fixture import BOB
from unit.schedd.scheduler_fixture import World

SILENCE = NotKnownNow("there is no account 'alice' on this machine, who had one")


class Stage:
    """A schedd that looks for alice, and what it says and does."""

    def __init__(self) -> None:
        self.world = World()
        self.answers: NotFoundError | None = SILENCE
        self.asked: list[float] = []
        self.said: list[str] = []
        self.done: list[str] = []

        class Log:
            problem = staticmethod(self.said.append)
            __call__ = staticmethod(self.said.append)

        schedd: Any = SimpleNamespace(
            runtime=SimpleNamespace(log=Log()),
            idle=self.world.idle,
            queue=self.world.queue,
            now=lambda: 1000,
            accounts=self,
            want_matches=lambda: self.done.append("want matches"),
        )
        self.silent = SilentOwners(schedd, lambda: self.done.append("look beside"))

    def of(self, user: str) -> None:
        """Say who a user is."""
        assert user == "alice@vm"
        self.asked.append(asyncio.get_running_loop().time())
        if self.answers is not None:
            raise self.answers

    def reasons(self) -> set[str | None]:
        """Return what alice's jobs say of why they get no slot."""
        jobs = self.world.queue.by_user["alice@vm"].values()
        return {job.ad.string("LastRejMatchReason") for job in jobs}


def test_jobs_of_a_user_who_is_not_found_wait_without_a_match_until_he_is() -> None:
    async def main() -> None:
        stage = Stage()
        stage.world.submit(3)
        stage.world.submit(1, BOB)
        stage.silent.note("alice@vm", SILENCE)
        stage.silent.note("alice@vm", SILENCE)
        assert stage.reasons() == {f"its schedd starts no job: {SILENCE}"}
        await asyncio.sleep(1000)
        assert list(stage.world.idle.submitters()) == ["bob@vm"]
        assert stage.done == []
        pauses = [later - sooner for sooner, later in itertools.pairwise(stage.asked)]
        assert pauses[:3] == [4, 8, 16]
        assert pauses[-1] == LONGEST_SECONDS
        stage.answers = None
        await asyncio.sleep(LONGEST_SECONDS)
        assert stage.world.idle.count("alice@vm") == 3
        assert stage.done == ["want matches", "look beside"]
        assert stage.reasons() == {None}
        assert stage.said == [
            f"No job of alice@vm starts until he is found: {SILENCE}",
            "alice@vm is found again: his jobs may start",
        ]

    run_virtually(main())


def test_who_is_gone_for_good_is_not_waited_for() -> None:
    async def main() -> None:
        stage = Stage()
        stage.world.submit(1)
        stage.silent.note("alice@vm", SILENCE)
        stage.answers = NotFoundError("there is no account")
        await asyncio.sleep(3)
        # It is held as it is started.
        assert stage.world.idle.count("alice@vm") == 1
        assert stage.done == ["want matches", "look beside"]

    run_virtually(main())
