"""Who does not answer is found soon, without waiting long or asking often."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from kettle.errors import AuthorizationDenied, ConnectionLost
from kettle.master.services.probing import QUESTION_SECONDS, SILENT_SECONDS, Prober
from kettle.runtime import tasks
from kettle.testing.virtual_loop import VirtualClock, run_virtually
from kettle.wire.sinful import Sinful

SCHEDD, STARTD = Sinful("127.0.0.1", 1), Sinful("127.0.0.1", 2)
DAEMONS = {"SCHEDD": (7, SCHEDD), "STARTD": (8, STARTD)}


class Pool:
    """Daemons that answer at once unless they are stopped."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.prober = Prober(self.ask, self.clock)
        self.asked: list[Sinful] = []
        self.stopped: set[Sinful] = set()
        self.errors: dict[Sinful, Exception] = {}

    async def ask(self, address: Sinful) -> None:
        self.asked.append(address)
        if address in self.errors:
            raise self.errors[address]
        while address in self.stopped:  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    async def find(self) -> dict[str, int]:
        found = await self.prober.find_silent(DAEMONS)
        return {name: round(seconds) for name, seconds in found.items()}


def play(story: Coroutine[Any, Any, None]) -> None:
    async def main() -> None:
        await story
        await tasks.cancel_all()

    run_virtually(main())


def test_one_that_is_stopped_is_found_within_three_seconds_and_the_others_are_well() -> None:
    async def story() -> None:
        pool = Pool()
        pool.stopped.add(SCHEDD)
        began = pool.clock.steady()
        assert await pool.find() == {"SCHEDD": SILENT_SECONDS}
        assert pool.clock.steady() - began <= SILENT_SECONDS
        await asyncio.sleep(10)
        assert await pool.find() == {"SCHEDD": 13}
        assert pool.asked.count(SCHEDD) == 1

    play(story())


def test_one_that_is_busy_for_a_moment_is_well() -> None:
    async def story() -> None:
        pool = Pool()
        pool.stopped.add(SCHEDD)
        asyncio.get_running_loop().call_later(2.0, pool.stopped.clear)
        assert await pool.find() == {}

    play(story())


def test_one_that_goes_on_is_well_at_once_and_one_that_does_not_is_asked_again() -> None:
    async def story() -> None:
        pool = Pool()
        pool.stopped.add(SCHEDD)
        assert list(await pool.find()) == ["SCHEDD"]
        await asyncio.sleep(QUESTION_SECONDS + 1)
        assert list(await pool.find()) == ["SCHEDD"], "nobody has heard of it"
        pool.stopped.clear()
        await asyncio.sleep(0.2)
        assert await pool.find() == {}

    play(story())


def test_who_asks_often_does_not_have_daemons_asked_often() -> None:
    async def story() -> None:
        pool = Pool()
        for _ in range(100):
            found = await asyncio.gather(pool.find(), pool.find())
            assert found == [{}, {}]
            await asyncio.sleep(0.1)
        assert len(pool.asked) <= 2 * 6

    play(story())


def test_a_refusal_is_an_answer_and_a_connection_that_breaks_is_none() -> None:
    async def story() -> None:
        pool = Pool()
        pool.errors[SCHEDD] = AuthorizationDenied("no")
        pool.errors[STARTD] = ConnectionLost("refused")
        assert list(await pool.find()) == ["STARTD"]
        pool.errors.clear()
        await asyncio.sleep(1)
        assert await pool.find() == {}

    play(story())


def test_a_daemon_that_was_started_anew_is_not_its_silent_predecessor() -> None:
    async def story() -> None:
        pool = Pool()
        pool.stopped.add(SCHEDD)
        assert list(await pool.find()) == ["SCHEDD"]
        pool.stopped.clear()
        assert await pool.prober.find_silent({"SCHEDD": (9, SCHEDD)}) == {}

    play(story())
