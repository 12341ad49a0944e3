"""Time that jumps."""

from __future__ import annotations

import asyncio
import itertools
import socket

import pytest

from kettle.testing.virtual_loop import Stuck, VirtualClock, run_virtually


def test_days_of_sleep_take_no_time() -> None:
    async def scenario() -> float:
        await asyncio.sleep(3 * 86400)
        return asyncio.get_running_loop().time()

    # Whoever really slept would meet the end of the test's own time.
    assert run_virtually(scenario()) == pytest.approx(3 * 86400)


def test_sleepers_wake_in_the_order_of_their_deadlines() -> None:
    order: list[int] = []

    async def sleeper(seconds: int) -> None:
        await asyncio.sleep(seconds)
        order.append(seconds)

    async def scenario() -> None:
        await asyncio.gather(*(sleeper(seconds) for seconds in (30, 10, 20)))

    run_virtually(scenario())
    assert order == [10, 20, 30]


def test_a_timeout_ends_a_wait_in_virtual_time() -> None:
    async def scenario() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.Event().wait()

    run_virtually(scenario())


def test_waiting_for_what_never_comes_is_an_error_and_no_hang() -> None:
    async def scenario() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match="no deadline"):
        run_virtually(scenario())


def test_a_scenario_that_never_ends_meets_its_limit() -> None:
    async def scenario() -> None:
        for _ in itertools.count():
            await asyncio.sleep(10)

    with pytest.raises(Stuck, match="1000 virtual seconds"):
        run_virtually(scenario(), limit_seconds=1000)


def test_bytes_arrive_before_time_moves() -> None:
    async def scenario() -> float:
        loop = asyncio.get_running_loop()
        here, there = socket.socketpair()
        with here, there:
            here.setblocking(False)
            there.setblocking(False)
            timer = loop.call_later(5, lambda: None)
            there.send(b"x")
            await loop.sock_recv(here, 1)
            timer.cancel()
        return loop.time()

    assert run_virtually(scenario()) == 0


def test_the_clock_follows_the_loop_and_can_be_set() -> None:
    clock = VirtualClock(1000.0)

    async def scenario() -> tuple[float, float]:
        await asyncio.sleep(60)
        before = clock.now()
        clock.set_forward = 3600
        return before, clock.now()

    assert run_virtually(scenario()) == (1060.0, 4660.0)
