"""A starter's line to its shadow, and the lease: on virtual time, with a scripted shadow."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

from kettle.errors import ConnectionLost
from kettle.policy.lease import UNLEASED_SECONDS
from kettle.runtime.sockets.stream import Stream
from kettle.starter.services.shadow import LeaseOver, ShadowLink
from kettle.testing.virtual_loop import VirtualClock, run_virtually
from kettle.wire.dialog import Receive, Send, Words

Scenario = Callable[[ShadowLink, Stream, VirtualClock], Coroutine[Any, Any, None]]


def ask() -> Generator[Any, Any, int]:
    yield Send(Words(7))
    reader = yield Receive()
    answer: int = reader.integer()
    return answer


def play(scenario: Scenario, lease: int | None = 60) -> None:
    """Play with a link whose lease is a minute, or another, and the shadow's end of it."""

    async def main() -> None:
        ours, theirs = Stream.pair()
        shadow = Stream.over(theirs)
        clock = VirtualClock()
        link = ShadowLink(ours, clock)
        link.lease_seconds = lease
        try:
            await scenario(link, shadow, clock)
        finally:
            link.close()
            shadow.close()

    run_virtually(main())


async def answer(shadow: Stream, seconds: float = 0.0) -> None:
    await shadow.receive()
    await asyncio.sleep(seconds)
    await shadow.send(shadow.writer().integer(1))


def test_the_lease_is_counted_from_the_beginning_of_the_last_answered_call() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        await asyncio.sleep(10)
        answering = asyncio.ensure_future(answer(shadow, 20))
        assert await link.call(ask) == 1
        await answering
        assert link.lease_left() == pytest.approx(40)

    play(scenario)


def test_a_shadow_that_does_not_answer_within_the_lease_is_lost() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        await asyncio.sleep(20)
        with pytest.raises(ConnectionLost, match="did not answer"):
            await link.call_once(ask)
        assert not link.connected
        assert link.lease_is_over
        assert clock.monotonic() == pytest.approx(60)
        with pytest.raises(LeaseOver):
            await link.call(ask)

    play(scenario)


def test_a_call_that_hangs_does_not_stretch_the_lease_of_who_waits_behind_it() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        ours, theirs = Stream.pair()
        ours.timeout = None
        link.reconnect(ours)
        hanging = asyncio.ensure_future(link.call(ask))
        await asyncio.sleep(20)
        with pytest.raises(ConnectionLost, match="the call before"):
            await link.call_once(ask)
        assert clock.monotonic() == pytest.approx(60)
        assert link.lease_is_over
        with pytest.raises(LeaseOver):
            await hanging
        os.close(theirs)

    play(scenario)


def test_who_waits_behind_calls_that_are_answered_has_his_turn_however_late() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        async def serve() -> None:
            for _ in range(5):
                await answer(shadow, 18)

        serving = asyncio.ensure_future(serve())
        slow = [asyncio.ensure_future(link.call(ask)) for _ in range(4)]
        await asyncio.sleep(0)
        assert await link.call_once(ask) == 1
        assert clock.monotonic() == pytest.approx(90)
        await asyncio.gather(serving, *slow)
        assert link.connected

    play(scenario)


def test_a_machine_that_slept_beside_a_call_in_flight_hears_the_shadow_out() -> None:
    """A shadow that answers has not started the job anew."""

    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        hanging = asyncio.ensure_future(link.call(ask))
        await asyncio.sleep(1)
        link.heard_at -= 7200.0
        asking = asyncio.ensure_future(link.call_once(ask))
        await answer(shadow, 0.5)
        await answer(shadow)
        assert await asking == await hanging == 1
        assert link.lease_left() > 0

    play(scenario)


def test_a_return_alone_does_not_renew_the_lease_and_is_news() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        shadow.close()
        with pytest.raises(ConnectionLost):
            await link.call_once(ask)
        waiting = asyncio.ensure_future(link.wait_for_news(50))
        await asyncio.sleep(30)
        ours, theirs = Stream.pair()
        again = Stream.over(theirs)
        link.reconnect(ours)
        await waiting
        assert clock.monotonic() == pytest.approx(30)
        assert link.lease_left() == pytest.approx(30)
        answering = asyncio.ensure_future(answer(again))
        assert await link.call_once(ask) == 1
        await answering
        assert link.lease_left() == pytest.approx(60)
        again.close()

    play(scenario)


def test_a_clock_that_is_set_changes_no_lease() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        clock.set_forward = 7200.0
        assert link.lease_left() == pytest.approx(60)
        clock.set_forward = -7200.0
        await link.wait_for_news(300)
        assert clock.monotonic() == pytest.approx(60)
        assert link.lease_is_over

    play(scenario)


@pytest.mark.parametrize("name", ["beside", "call_once"])
def test_an_answer_that_nobody_waits_for_any_more_is_not_taken_for_the_next_one(name: str) -> None:
    """A report that is under way is cancelled when the job ends, and the end is told next."""

    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        report = asyncio.ensure_future(getattr(link, name)(ask))
        await asyncio.sleep(1)
        report.cancel()
        ending = asyncio.ensure_future(link.call(ask))
        await asyncio.sleep(1)
        assert report.cancelled()
        for number in (1, 2):
            await shadow.receive()
            await shadow.send(shadow.writer().integer(number))
        assert await ending == 2
        assert link.connected

    play(scenario)


def test_a_job_without_a_lease_is_over_as_soon_as_its_shadow_is_gone() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        waiting = asyncio.ensure_future(link.wait_for_news(300))
        await asyncio.sleep(20)
        assert not waiting.done()
        shadow.close()
        await waiting
        assert clock.monotonic() < 22
        assert not link.connected
        assert link.lease_is_over
        with pytest.raises(LeaseOver):
            await link.call(ask)

    play(scenario, None)


def test_silence_is_the_end_of_a_job_without_a_lease_too() -> None:
    """Where the network is cut nobody hears that the other side is gone."""

    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        await link.wait_for_news(3600)
        assert clock.monotonic() == pytest.approx(UNLEASED_SECONDS)
        assert link.lease_is_over

    play(scenario, None)


def test_a_job_without_a_lease_goes_on_with_a_shadow_that_is_there() -> None:
    async def scenario(link: ShadowLink, shadow: Stream, clock: VirtualClock) -> None:
        await link.wait_for_news(1000)
        assert clock.monotonic() == pytest.approx(1000)
        answering = asyncio.ensure_future(answer(shadow))
        assert await link.call_once(ask) == 1
        await answering
        await link.wait_for_news(1000)
        assert not link.lease_is_over

    play(scenario, None)
