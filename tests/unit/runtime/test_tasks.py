"""What goes on round after round goes on after a round that failed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.testing.virtual_loop import run_virtually


@pytest.fixture
def said() -> Iterator[list[str]]:
    lines: list[str] = []
    tasks.set_reporter(lines.append)
    yield lines
    tasks.set_reporter(None)


def test_a_failed_round_is_told_and_the_next_one_comes(said: list[str]) -> None:
    rounds: list[float] = []

    async def turn() -> None:
        rounds.append(asyncio.get_running_loop().time())
        if len(rounds) == 2:
            raise OverflowError("one job's odd number")
        await asyncio.sleep(60)

    async def main() -> None:
        task = tasks.repeat(turn, "policy")
        await asyncio.sleep(200)
        task.cancel()

    run_virtually(main())
    (report,) = said
    assert report.startswith("A round of policy failed: Traceback")
    assert "one job's odd number" in report
    pauses = [after - before for before, after in itertools.pairwise(rounds)]
    assert pauses == [60, tasks.FAILED_PAUSE_SECONDS, 60, 60]


def test_trouble_that_comes_with_every_round_is_told_now_and_then(said: list[str]) -> None:
    async def turn() -> None:
        raise OverflowError

    async def main() -> None:
        tasks.repeat(turn, "policy")
        await asyncio.sleep(tasks.TOLD_AGAIN_SECONDS + 2 * tasks.FAILED_PAUSE_SECONDS)
        await tasks.cancel_all()

    run_virtually(main())
    assert len(said) == 2
    assert "119 more times since it was told" in said[1]


def test_other_trouble_is_told_at_once(said: list[str]) -> None:
    async def main() -> None:
        for error in (OverflowError("a"), ValueError("b")):
            with tasks.reported("This"):
                raise error
        with tasks.reported("That"):
            raise OverflowError("c")

    run_virtually(main())
    assert [line[-1] for line in said] == ["a", "b", "c"]


def test_rounds_end_when_they_are_to(said: list[str]) -> None:
    rounds = 0

    async def turn() -> None:
        nonlocal rounds
        rounds += 1

    async def main() -> None:
        await tasks.repeat(turn, "policy", ended=lambda: rounds == 3)

    run_virtually(main())
    assert (rounds, said) == (3, [])


@pytest.mark.parametrize("ends", [False, True])
def test_what_ends_the_daemon_was_told_where_it_happened(said: list[str], ends: bool) -> None:
    async def fail() -> None:
        error = StorageError("cannot write the queue log")
        error.ends_daemon = ends
        raise error

    async def main() -> None:
        with tasks.reported("A word of a shadow host"):
            await fail()
        await asyncio.wait({tasks.spawn(fail(), "a task")})

    run_virtually(main())
    assert len(said) == (0 if ends else 2)
