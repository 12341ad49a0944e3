"""The first and last steps that daemons, shadow hosts and starters have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kettle.classad import ClassAd
from kettle.classad.context import ambient, set_ambient
from kettle.runtime import life, tasks
from kettle.runtime.life import Life


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """A life is a process's only one: what it sets for the process is put back here."""
    before = ambient()
    yield
    set_ambient(before)
    tasks.set_reporter(None)


def test_what_main_returns_is_the_exit_code() -> None:
    async def main() -> int:
        own = Life("TEST", print)
        await own.end()
        return 7

    assert life.run(main()) == 7


def test_two_processes_throw_different_dice_and_know_the_time() -> None:
    throws: list[object] = []

    async def main() -> int:
        own = Life("TEST", print)
        ad = ClassAd()
        ad.insert_text("Throw", "random()")
        ad.insert_text("Time", "time()")
        throws.append(ad.evaluate("Throw"))
        assert abs(float(str(ad.evaluate("Time"))) - own.clock.now()) < 60
        await own.end()
        return 0

    life.run(main())
    life.run(main())
    assert throws[0] != throws[1]


def test_the_end_cancels_what_still_runs_and_failures_were_reported() -> None:
    said: list[str] = []
    ended: list[str] = []

    async def fail() -> None:
        raise RuntimeError("by design")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def main() -> int:
        own = Life("TEST", said.append)
        tasks.spawn(wait(), "waits")
        failing = tasks.spawn(fail(), "fails")
        await asyncio.wait({failing})
        await own.end()
        return 0

    life.run(main())
    assert ended == ["cancelled"]
    assert "by design" in said[0]
