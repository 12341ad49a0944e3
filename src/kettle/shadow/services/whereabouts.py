"""Where startds are now: one that was started again is elsewhere, and only its collectors know.

They answer for nothing themselves: the startd there is asked then. What that says, and what is made
of it, is `services/reconnect.py`'s.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.classad.text import equals
from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.runtime.sockets.addresses import DEFAULT_PORT, find_collectors
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# How long an answer serves all shadows whose startd it is about.
_FRESH_SECONDS = 1.0
_QUERY_SECONDS = 10.0
# Limit: slots of a startd whose ads are looked at, and startds about whom is remembered something.
_MOST_SLOTS = 1000
_MOST_STARTDS = 1000


class Place(NamedTuple):
    """Where a startd is and when it began, by its own clock."""

    address: Sinful
    began_at: int


class _Answer(NamedTuple):
    """What is said of a startd, or will be, and when that was asked."""

    asked_at: float
    place: asyncio.Future[Place | None]


class Whereabouts:
    """What the shadows of one host know of where startds are."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._answers: dict[tuple[str, str], _Answer] = {}

    async def find(self, startd: str, pool: str) -> Place | None:
        """Return the newest place of a startd that one of its collectors tells; None if none does.

        They are asked in turn: one may be away, or just begun and not know the startd yet.

        `startd` is what slots' names have behind their first @, `pool` the collector of another
        pool, empty for ours.
        """
        now = self._runtime.clock.steady()
        answer = self._answers.get((startd, pool))
        if answer is None or (answer.place.done() and now - answer.asked_at > _FRESH_SECONDS):
            if len(self._answers) >= _MOST_STARTDS:
                self._answers.clear()
            answer = _Answer(now, asyncio.ensure_future(self._ask(startd, pool)))
            self._answers[startd, pool] = answer
        return await asyncio.shield(answer.place)

    async def _ask(self, startd: str, pool: str) -> Place | None:
        query = ClassAd({"MyType": "Query", "TargetType": "Machine", "LimitResults": _MOST_SLOTS})
        query["Projection"] = "Name MyAddress DaemonStartTime LastHeardFrom"
        query.insert_text("Requirements", equals("splitSlotName(Name)[1]", startd))
        try:
            collectors = self._collectors(pool)
        except (KettleError, OSError) as error:
            self._runtime.log.full(f"No collector tells where {startd} is: {error}")
            return None
        for collector in collectors:
            try:
                async with asyncio.timeout(_QUERY_SECONDS):
                    ads = await self._query(collector, query)
                # What a startd that died had told of its slots stays there for a while.
                told = max(filter(_has_place, ads), key=_how_new, default=None)
                newest = None if told is None else _place(told)
            except (KettleError, OSError, TimeoutError) as error:
                problem = "it is too slow" if isinstance(error, TimeoutError) else str(error)
                self._runtime.log.full(f"{collector} does not tell where {startd} is: {problem}")
                continue
            if newest is not None:
                return newest
        return None

    def _collectors(self, pool: str) -> list[Sinful]:
        if pool:
            return [Sinful.parse(pool if ":" in pool else f"{pool}:{DEFAULT_PORT}")]
        return find_collectors(self._runtime.config, self._runtime.files)

    async def _query(self, collector: Sinful, query: ClassAd) -> list[ClassAd]:
        stream = await self._runtime.network.connect(collector, Command.QUERY_STARTD_ADS)
        try:
            await stream.send(Query(query))
            return QueryReply.read(await stream.receive(_QUERY_SECONDS)).ads
        finally:
            stream.close()


def _has_place(ad: ClassAd) -> bool:
    return bool(ad.string("MyAddress"))


def _how_new(ad: ClassAd) -> tuple[int, int]:
    """Return when a startd began, and of two that began in one second who was heard last."""
    return ad.integer("DaemonStartTime") or 0, ad.integer("LastHeardFrom") or 0


def _place(ad: ClassAd) -> Place:
    address = Sinful.parse(ad.string("MyAddress") or "")
    return Place(address, ad.integer("DaemonStartTime") or 0)
