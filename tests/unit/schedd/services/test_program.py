"""The schedd goes on while a scheduler-universe job's files are being opened."""

from __future__ import annotations

import asyncio
import os

import pytest

from kettle.runtime.process.processes import Child
from kettle.schedd.beside import NotStarted
from kettle.schedd.services.program import Starting


def heard(*said: bytes) -> tuple[Starting, int]:
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for piece in said:
        os.write(writing, piece)
    return Starting(Child(5000, "job"), reading), writing


def test_a_program_runs_when_its_process_has_said_so_and_given_its_place_up() -> None:
    async def scenario() -> None:
        starting, writing = heard()
        executed = asyncio.create_task(starting.executed())
        await asyncio.sleep(0)
        os.write(writing, b"+")
        for _ in range(5):
            await asyncio.sleep(0)
        # Its files may be on a server that hangs; nobody else waits for it.
        assert not executed.done()
        os.close(writing)
        assert await executed

    asyncio.run(scenario())


@pytest.mark.parametrize("before", [b"", b"+"])
def test_a_program_that_cannot_be_started_is_an_error_with_its_reason(before: bytes) -> None:
    async def scenario() -> None:
        starting, writing = heard(before, b"7 13 Failed to open '/x' as standard output: no")
        os.close(writing)
        starting.child.finish(256, None)
        with pytest.raises(NotStarted, match=r"^Failed to open '/x' as standard output") as failed:
            await starting.executed()
        assert (failed.value.code, failed.value.subcode) == (7, 13)

    asyncio.run(scenario())


def test_a_process_that_was_killed_before_its_program_began_executed_nothing() -> None:
    async def scenario() -> None:
        starting, writing = heard()
        os.close(writing)
        assert not await starting.executed()

    asyncio.run(scenario())
