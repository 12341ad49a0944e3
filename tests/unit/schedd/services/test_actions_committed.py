"""What an action has committed is carried out, whoever fails behind the commit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

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


def test_a_hold_that_the_queue_took_is_told_where_who_follows_it_fails() -> None:
    world = World()
    (job,) = world.submit()

    problems: list[str] = []

    async def nothing() -> None:
        return

    def fail(changes: Changes) -> None:
        if changes.changed:
            raise ValueError("an odd job")

    world.queue.observe(fail)
    schedd: Any = SimpleNamespace(
        queue=world.queue,
        scheduler=world.scheduler,
        settings=SimpleNamespace(most_releases=-1),
        actor=lambda _: ALICE,
        now=lambda: world.now,
        journal=SimpleNamespace(flush=nothing),
        on_disk=SimpleNamespace(settle=nothing),
        runtime=SimpleNamespace(log=SimpleNamespace(problem=problems.append)),
    )
    none: Any = None
    leaving: Any = SimpleNamespace(settle=nothing)
    commands = QueueCommands(schedd, shadows=none, ads=none, departures=leaving, factories=none)
    said = [request(actions.JobAction.HOLD, str(job.id)), yes()]

    async def receive() -> Reader:
        return said.pop(0)

    sent: list[Any] = []

    async def send(words: object) -> None:
        sent.append(words)

    stream: Any = SimpleNamespace(receive=receive, send=send)
    run_virtually(commands.on_action(stream))
    assert "an odd job" in problems[0]
    # Who asked for it is told that it has happened.
    assert [words.values for words in sent][1:] == [(1,)]
    assert job.status == 5
    assert [done[:2] for done in world.hands.take()] == [("012", str(job.id))]
