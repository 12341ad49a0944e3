"""A collector that dies has every ad again soon after its return, whatever was said meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.collector.service import CollectorService
from kettle.runtime.sockets import collectors
from kettle.runtime.sockets.collectors import Advertiser
from kettle.testing.world import World, WorldDaemon
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful
from scenario.stage import play

NAMES = ("a", "b", "c")
# An idle connection is looked at every second; a collector that is away is tried again meanwhile.
SOON_SECONDS = 2 * collectors.LOOK_SECONDS + collectors.RETRY_SECONDS


class Pool:
    """An advertiser with a few ads, and the collector of the moment."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.runtime, _, _ = world.runtime("STARTD", name="startd")
        self.advertiser = Advertiser(self.runtime)

    async def start(self) -> None:
        """Start a collector at the pool's address."""
        self.collector: WorldDaemon[CollectorService] = await self.world.start(
            "COLLECTOR", CollectorService, port=9618
        )

    def say(self, *names: str) -> None:
        """Send the ads of these names."""
        for name in names:
            ad = ClassAd({"MyType": "Machine", "Name": name, "Machine": "h"})
            self.advertiser.update(Command.UPDATE_STARTD_AD, ad)

    def known(self) -> list[str]:
        """The names that the collector has."""
        return known_by(self.collector)


def known_by(collector: WorldDaemon[CollectorService]) -> list[str]:
    """Return the names of the machines that a collector has."""
    return sorted(
        entry.ad.string("Name") or ""
        for entry in collector.service.store.entries()
        if entry.ad.string("MyType") == "Machine"
    )


Trouble = Callable[[Pool], Awaitable[None]]


async def _news_right_after(pool: Pool) -> None:
    """A slot has news before anybody could notice that the collector died."""
    await pool.collector.crash()
    await pool.start()
    pool.say("a")


async def _news_while_away(pool: Pool) -> None:
    """The collector is away, and found to be, when a slot has news."""
    await pool.collector.crash()
    pool.say("a")
    await asyncio.sleep(7)
    await pool.start()


async def _no_news(pool: Pool) -> None:
    """Nobody says anything."""
    await pool.collector.crash()
    await asyncio.sleep(7)
    await pool.start()


async def _dead_at_the_first_word(pool: Pool) -> None:
    """The collector dies with everything that it was sent unread, and its successor too."""
    for _ in range(2):
        await pool.collector.crash()
        await pool.start()
        pool.say("a")
        await asyncio.sleep(0.2)
    await pool.collector.crash()
    await asyncio.sleep(2)
    await pool.start()


@pytest.mark.parametrize(
    "trouble", [_news_right_after, _news_while_away, _no_news, _dead_at_the_first_word]
)
def test_a_new_collector_is_told_every_ad_soon(tmp_path: Path, trouble: Trouble) -> None:
    async def scenario(world: World) -> None:
        pool = Pool(world)
        await pool.start()
        pool.say(*NAMES)
        assert await pool.advertiser.flush(5)
        await trouble(pool)
        await asyncio.sleep(SOON_SECONDS)
        assert pool.known() == list(NAMES)
        await pool.advertiser.close()
        await pool.collector.stop("fast")

    play(tmp_path, scenario)


def test_who_is_told_follows_the_configuration(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = Pool(world)
        await pool.start()
        other = await world.start("COLLECTOR", CollectorService, port=9619, name="other")

        async def tell(*names: str) -> None:
            pool.say(*names)
            assert await pool.advertiser.flush(5)
            # What is sent has to arrive.
            await asyncio.sleep(1)

        async def reconfigure(*ports: int) -> None:
            """Name the collectors at these ports; the startd's next word comes soon after."""
            hosts = ", ".join(f"127.0.0.1:{port}" for port in ports)
            pool.runtime.config = world.config("STARTD", f"COLLECTOR_HOST = {hosts}\n")
            sent = pool.advertiser.updates_sent
            await tell("a")
            told.append(pool.advertiser.updates_sent - sent)

        told: list[int] = []
        await tell(*NAMES)
        # One that is added is told everything, and the one that stays no more than the news.
        await reconfigure(9618, 9619)
        assert known_by(other) == list(NAMES)
        # Each keeps its own, whatever its place.
        await reconfigure(9619, 9618)
        assert told == [1 + len(NAMES), 2]
        # One that is named no more hears no more.
        await reconfigure(9619)
        await tell("d")
        assert (pool.known(), known_by(other)) == (list(NAMES), [*NAMES, "d"])
        # Another one in the only place.
        await reconfigure(9618)
        await tell("e")
        assert (pool.known(), known_by(other)) == ([*NAMES, "d", "e"], [*NAMES, "d"])
        await pool.advertiser.close()
        for collector in (pool.collector, other):
            await collector.stop("fast")

    play(tmp_path, scenario)


def test_a_collector_that_only_closes_idle_connections_is_not_told_again_and_again(
    tmp_path: Path,
) -> None:
    async def scenario(world: World) -> None:
        pool = Pool(world)
        await pool.start()
        pool.say(*NAMES)
        assert await pool.advertiser.flush(5)
        before = pool.advertiser.updates_sent
        for _ in range(300):
            pool.collector.network.hang_up()
            await asyncio.sleep(1)
        times = (pool.advertiser.updates_sent - before) / len(NAMES)
        assert times <= 6 + 300 / collectors.TELL_AGAIN_SELDOM_SECONDS
        await pool.advertiser.close()
        await pool.collector.stop("fast")

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("command", "foreign", "ends"),
    [
        (Command.UPDATE_STARTD_AD, False, True),
        (Command.UPDATE_SCHEDD_AD, False, True),
        (Command.UPDATE_MASTER_AD, False, True),
        (Command.UPDATE_NEGOTIATOR_AD, False, True),
        (Command.UPDATE_SUBMITTOR_AD, False, False),
        (Command.UPDATE_ACCOUNTING_AD, False, False),
        (Command.MERGE_STARTD_AD, False, False),
        (Command.UPDATE_SCHEDD_AD, True, False),
    ],
)
def test_a_daemon_ends_for_what_is_true_of_its_own_ad(
    command: Command, foreign: bool, ends: bool, tmp_path: Path
) -> None:
    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("SCHEDD", 'SCHEDD.DAEMON_SHUTDOWN = Name == "a"\n')
        stops: list[str] = []
        runtime.stop = stops.append
        elsewhere = Sinful.parse("<10.9.9.9:9618>") if foreign else None
        advertiser = Advertiser(runtime, foreign=elsewhere)
        for name in ("b", "a", "a"):
            ad = ClassAd({"MyType": "Any", "Name": name})
            advertiser.update(command, ad)
            assert ("DaemonShutdown" in ad) is ends
        await advertiser.close()
        assert stops == (["graceful"] if ends else [])
        assert runtime.stays_off is ends

    play(tmp_path, scenario)


def test_a_collector_ends_for_what_is_true_of_its_own_ad(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        text = "COLLECTOR_UPDATE_INTERVAL = 100\nDAEMON_SHUTDOWN_FAST = RunningJobs >= 0\n"
        collector = await world.start("COLLECTOR", CollectorService, text, port=9618)
        await asyncio.sleep(200)
        assert collector.stopped == "fast"
        assert collector.runtime.stays_off

    play(tmp_path, scenario)
