"""Who may put files into a job's spool, and fetch them from there."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from kettle.schedd.queue.actors import Actor
from kettle.schedd.services.spooling import SpoolCommands
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.dialog import Message
from kettle.wire.messages.queue_queries import (
    SpoolJobFiles,
    SpoolJobIds,
    SpoolReply,
    TransferData,
    TransferDataCount,
)
from unit.schedd.queue_fixture import ALICE, BOB, Schedd


class Desk:
    """Spooling over a real queue with one job of Alice's; files that move are noted."""

    def __init__(self, actor: Actor) -> None:
        self.pure = Schedd()
        (self.job,) = self.pure.submit(StageInStart="1")
        self.moved: list[str] = []
        self.answers: list[object] = []
        self._incoming: list[bytes] = []
        schedd: Any = SimpleNamespace(
            queue=self.pure.queue,
            actor=lambda stream: actor,
            runtime=SimpleNamespace(log=lambda text: None),
            journal=SimpleNamespace(flush=self._nothing),
            scheduler=SimpleNamespace(
                policy=SimpleNamespace(see_out=lambda jobs: None),
                orders=SimpleNamespace(has_run=lambda job: False),
            ),
            want_matches=lambda: None,
            now=lambda: 1000,
        )
        self.commands = SpoolCommands(schedd, SimpleNamespace(leaving=()), lambda _: None)  # type: ignore[arg-type]
        self.commands._take = self._take  # type: ignore[method-assign]
        self.commands._give = self._give  # type: ignore[method-assign]

    async def _nothing(self) -> None:
        return

    async def _take(self, stream: object, job: object) -> None:
        self.moved.append("in")

    async def _give(self, stream: object, job: object) -> None:
        self.moved.append("out")

    def stream(self, command: Command, *messages: Message) -> Any:
        for message in messages:
            writer = Writer()
            message.write_fields(writer)
            self._incoming.append(writer.getvalue())
        self._incoming.append(b"")

        async def receive() -> Reader:
            return Reader(self._incoming.pop(0))

        async def send(message: object) -> None:
            self.answers.append(message)

        return SimpleNamespace(command=command, receive=receive, send=send, timeout=None)

    def spool(self) -> None:
        stream = self.stream(
            Command.SPOOL_JOB_FILES_WITH_PERMS, SpoolJobFiles("", 1), SpoolJobIds([(1, 0)])
        )
        asyncio.run(self.commands.on_spool(stream))

    def fetch(self) -> None:
        stream = self.stream(Command.TRANSFER_DATA_WITH_PERMS, TransferData("", "true"))
        asyncio.run(self.commands.on_fetch(stream))


def test_files_are_taken_from_the_owner_of_the_job_alone() -> None:
    for actor, moved, answer in ((ALICE, ["in"], SpoolReply(1)), (BOB, [], SpoolReply(0))):
        desk = Desk(actor)
        desk.spool()
        assert (desk.moved, desk.answers) == (moved, [answer])


def test_files_are_given_to_the_owner_of_the_job_alone() -> None:
    for actor, moved in ((ALICE, ["out"]), (BOB, [])):
        desk = Desk(actor)
        desk.fetch()
        assert (desk.moved, desk.answers) == (moved, [TransferDataCount(len(moved))])
