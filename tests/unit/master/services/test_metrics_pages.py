"""How long a page waits for what others know."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, NoReturn, cast

from kettle.config import Config
from kettle.master.services.metrics import ADS_SECONDS, QUERY_SECONDS, MetricsService
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.testing.virtual_loop import VirtualClock, run_virtually


class SilentNetwork:
    """Takes every connection, and nobody there says a word."""

    def __init__(self) -> None:
        self.asked = 0

    async def connect(self, *_: Any) -> NoReturn:
        self.asked += 1
        await asyncio.Future[None]()
        raise AssertionError("it is silent")


def test_a_silent_collector_keeps_one_page_waiting_for_seconds_and_the_next_ones_not() -> None:
    async def story() -> None:
        network, clock = SilentNetwork(), VirtualClock()
        runtime = SimpleNamespace(
            config=Config.from_text("COLLECTOR_HOST = 127.0.0.1:9618\n"),
            clock=clock,
            network=network,
            files=SimpleNamespace(),
            log=SimpleNamespace(full=lambda _: None),
        )
        service = MetricsService(cast("Runtime", runtime), lambda _: None)
        waited = []
        for _ in range(3):
            began = clock.steady()
            page = await service._make_metrics()
            waited.append(round(clock.steady() - began, 3))
            assert page.status == 200
            assert "kettle_collector_reachable 0\n" in page.text
        assert waited == [ADS_SECONDS, 0, 0]
        assert network.asked == 1
        # When the question is given up it is asked anew, and a page waits again.
        await asyncio.sleep(QUERY_SECONDS)
        began = clock.steady()
        await service._make_metrics()
        assert (round(clock.steady() - began, 3), network.asked) == (ADS_SECONDS, 2)
        await tasks.cancel_all()

    run_virtually(story())
