"""What an action has committed is carried out, whoever fails behind the commit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.schedd.queue import actions
from kettle.schedd.queue.applying import Changes
from kettle.schedd.services.queue import QueueCommands
from kettle.testing.virtual_loop import run_virtually
from kettle.wire.codec import Reader, Writer
from unit.schedd.queue_fixture import ALICE
from unit.schedd.scheduler_fixture import World


def request(action: int, job: str) -> Reader:
    writer = Writer()
    writer.ad(ClassAd({"JobAction": action, "ActionResultType": 1, "ActionIds": job}))
    return Reader(writer.getvalue())


def yes() -> Reader:
    writer = Writer()
    writer.integer(1)
    return Reader(writer.getvalue())


class Client:
    """Who acts on a world's jobs; `problems` are what the schedd's log has, `sent` its answers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.problems: list[str] = []
        self.sent: list[Any] = []
        # What the logs of jobs were told, and when that was on the disk.
        self.story: list[str] = []

    def act(self, action: actions.JobAction, jobs: str) -> None:
        """Ask for it, and say yes to the answer."""
        world, none = self.world, cast("Any", None)
        schedd: Any = SimpleNamespace(
            queue=world.queue,
            scheduler=world.scheduler,
            settings=SimpleNamespace(most_releases=-1),
            actor=lambda _: ALICE,
            now=lambda: world.now,
            journal=SimpleNamespace(flush=self._flush),
            on_disk=SimpleNamespace(settle=_nothing),
            runtime=SimpleNamespace(log=SimpleNamespace(problem=self.problems.append)),
        )
        leaving: Any = SimpleNamespace(settle=_nothing)
        commands = QueueCommands(schedd, shadows=none, ads=none, departures=leaving, factories=none)
        said = [request(action, jobs), yes()]

        async def receive() -> Reader:
            return said.pop(0)

        async def send(words: object) -> None:
            self.sent.append(words)

        stream: Any = SimpleNamespace(receive=receive, send=send)
        run_virtually(commands.on_action(stream))
        self._tell()

    async def _flush(self) -> None:
        self._tell()
        self.story.append("on disk")

    def _tell(self) -> None:
        self.story += [f"{done[0]} {done[1]}" for done in self.world.hands.take()]


async def _nothing() -> None:
    return


def test_a_hold_that_the_queue_took_is_told_where_who_follows_it_fails() -> None:
    world = World()
    (job,) = world.submit()

    def fail(changes: Changes) -> None:
        if changes.changed:
            raise ValueError("an odd job")

    world.queue.observe(fail)
    client = Client(world)
    client.act(actions.JobAction.HOLD, str(job.id))
    assert "an odd job" in client.problems[0]
    # Who asked for it is told that it has happened.
    assert [words.values for words in client.sent][1:] == [(1,)]
    assert job.status == 5
    assert client.story == ["on disk", f"012 {job.id}"]


def test_of_many_jobs_each_is_told_of_its_release_before_the_next_ones_are_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may begin to run at once: its log would tell of that first."""
    monkeypatch.setattr(actions, "SLICE", 2)
    world = World()
    jobs = [job.id for _ in range(3) for job in world.submit()]
    for each in jobs:
        world.queue.update(each, {"JobStatus": "5", "HoldReasonCode": "1"})
    client = Client(world)
    client.act(actions.JobAction.RELEASE, ",".join(map(str, jobs)))
    told = [each for each in client.story if each[:3] in ("on ", "013")]
    first, second, third = (f"013 {each}" for each in jobs)
    assert told[:5] == ["on disk", first, second, "on disk", third]
