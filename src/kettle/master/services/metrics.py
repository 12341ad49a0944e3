"""Serves `/metrics` and `/healthz` where KETTLE_METRICS_PORT asks for it.

The master answers, because it is there as long as anything is: how its own daemons stand it knows,
whether they answer it asks them, the rest of the pool it asks the collector, each at most once in a
while. What the pages say is `kettle.master.metrics`'.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.classad.text import equals
from kettle.errors import KettleError, StorageError
from kettle.master import metrics
from kettle.master.metrics import Health
from kettle.master.services.probing import SILENT_SECONDS, Prober
from kettle.runtime import tasks
from kettle.runtime.sockets.addresses import find_collectors
from kettle.runtime.sockets.port_holder import port_holder
from kettle.runtime.sockets.web_page import Page, WebPages
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.daemoncore import QueryInstanceReply
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# How old the ads may be.
FRESH_SECONDS = 1.0
# Limit: how long a page waits for the collector's ads, as long as for daemons that may be silent;
# who reads it waits ten seconds in all.
ADS_SECONDS = SILENT_SECONDS
# Limit: how long a collector may take for a question that no page waits for any more; asked anew by
# a page after that.
QUERY_SECONDS = 5.0
# Limit: daemons of a pool that the figures tell of.
MOST_ADS = 2000
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_ANYWHERE = "127.0.0.1"


class MetricsService:
    """The pages of one master."""

    def __init__(self, runtime: Runtime, find_address: Callable[[str], Sinful | None]) -> None:
        """`find_address` says where a daemon is, if that is known."""
        self._runtime = runtime
        self._find_address = find_address
        self._health: dict[str, Health] = {}
        # Those that are at work, by their pids.
        self._at_work: dict[str, int] = {}
        self._prober = Prober(self._hear, runtime.clock)
        self._pages: WebPages | None = None
        self._at: tuple[str, str] | None = None
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[list[ClassAd] | None] | None = None

    def note(self, states: Mapping[str, tuple[str, bool]], at_work: Mapping[str, int]) -> None:
        """Take how each daemon stands now: a word, and whether that is as it should be.

        `at_work` are those that ought to answer, and their pids.
        """
        self._at_work = dict(at_work)
        now = self._runtime.clock.now()
        health = {}
        for name, (state, well) in states.items():
            known = self._health.get(name)
            since = known.since if known is not None and known.state == state else now
            health[name] = Health(state, well, since)
        self._health = health

    async def configure(self) -> None:
        """Serve where the configuration says, and nowhere else."""
        config = self._runtime.config
        port = (config.get("KETTLE_METRICS_PORT") or "").strip()
        address = (config.get("KETTLE_METRICS_ADDRESS") or "").strip() or _ANYWHERE
        wanted = (address, port) if port else None
        if wanted == self._at:
            return
        await self.close()
        if wanted is not None:
            await self._listen(address, port)

    async def _listen(self, address: str, port: str) -> None:
        log = self._runtime.log
        if not port.isdecimal() or int(port) > 65535:
            log.problem(f"KETTLE_METRICS_PORT is no port: {port}")
            return
        if not _is_loopback(address):
            log(f"Everybody who reaches {address} may read /metrics and /healthz")
        pages = WebPages(
            {"/metrics": self._make_metrics, "/healthz": self._make_health},
            (self._runtime.identity.machine, address),
        )
        try:
            host, chosen = await pages.listen(address, int(port))
        except OSError as error:
            # What asyncio says there is a sentence of its own.
            reason = os.strerror(error.errno) if error.errno else str(error)
            holder = port_holder(int(port)) if error.errno == errno.EADDRINUSE else ""
            reason = f"{reason} by {holder}" if holder else reason
            log.problem(f"/metrics cannot be served at {address} port {port}: {reason}")
            return
        self._pages, self._at = pages, (address, port)
        shown = f"[{host}]" if ":" in host else host
        log(f"Serving http://{shown}:{chosen}/metrics and /healthz")
        path = self._runtime.config.get("KETTLE_METRICS_ADDRESS_FILE")
        if path:
            try:
                self._runtime.files.write_atomically(path, f"http://{shown}:{chosen}\n")
            except StorageError as error:
                log.problem(f"{error}: only this log says where the pages are")

    async def close(self) -> None:
        """Serve no longer."""
        if self._pages is not None:
            await self._pages.close()
            path = self._runtime.config.get("KETTLE_METRICS_ADDRESS_FILE")
            if path:
                self._runtime.files.remove(path)
        self._pages = self._at = None

    async def _make_health(self) -> Page:
        health = await self._ask_health()
        healthy, text = metrics.render_health(health, self._runtime.clock.now())
        return Page(200 if healthy else 503, text, "application/json")

    async def _ask_health(self) -> dict[str, Health]:
        """Return how the daemons stand; those that do not answer do not stand well."""
        found = {name: (pid, self._find_address(name)) for name, pid in self._at_work.items()}
        silent = await self._prober.find_silent(
            {name: (pid, address) for name, (pid, address) in found.items() if address is not None}
        )
        return metrics.with_silent(self._health, silent, self._runtime.clock.now())

    async def _hear(self, address: Sinful) -> None:
        """Ask a daemon what costs it least and has an answer."""
        stream = await self._runtime.network.connect(address, Command.DC_QUERY_INSTANCE)
        try:
            await stream.send(Words())
            QueryInstanceReply.read(await stream.receive())
        finally:
            stream.close()

    async def _make_metrics(self) -> Page:
        health, ads = await asyncio.gather(self._ask_health(), self._ask_ads())
        page = metrics.render(ads or (), health, reachable=ads is not None)
        return Page(200, page, _TEXT)

    async def _ask_ads(self) -> list[ClassAd] | None:
        """Return the ads of the pool, asked for by one question at a time; None if none are told.

        A collector that is silent costs a page ADS_SECONDS, and those after it nothing.
        """
        now = self._runtime.clock.steady()
        asking = self._asking
        if asking is None or (asking.done() and now - self._asked_at >= FRESH_SECONDS):
            asking = self._asking = tasks.spawn(self._ask(), "asking the collector for figures")
            self._asked_at = now
        if not asking.done():
            await asyncio.wait([asking], timeout=max(0.0, self._asked_at + ADS_SECONDS - now))
        # A page that waits longer for something else must not have the next question's answer.
        if not asking.done() or asking.cancelled() or asking.exception() is not None:
            return None
        return asking.result()

    async def _ask(self) -> list[ClassAd] | None:
        """Return the ads of all daemons of the pool, as the first collector that answers has them.

        The collector's own is made anew only for who asks for it alone.
        """
        runtime = self._runtime
        for address in find_collectors(runtime.config, runtime.files):
            try:
                ads = await self._query(str(address), Command.QUERY_ANY_ADS, _others())
                ads += await self._query(str(address), Command.QUERY_COLLECTOR_ADS, _collector())
            except (KettleError, OSError, TimeoutError) as error:
                runtime.log.full(f"The collector tells no figures: {error}")
                continue
            return ads[:MOST_ADS]
        return None

    async def _query(self, address: str, command: Command, query: ClassAd) -> list[ClassAd]:
        query["Projection"] = " ".join(metrics.attributes())
        query["LimitResults"] = MOST_ADS
        async with asyncio.timeout(QUERY_SECONDS):
            stream = await self._runtime.network.connect(address, command)
            try:
                await stream.send(Query(query))
                return QueryReply.read(await stream.receive()).ads
            finally:
                stream.close()


def _others() -> ClassAd:
    query = ClassAd({"MyType": "Query", "TargetType": "Any"})
    kinds = (kind for kind in metrics.AD_TYPES if kind != "Collector")
    query.insert_text("Requirements", " || ".join(equals("MyType", kind) for kind in kinds))
    return query


def _collector() -> ClassAd:
    query = ClassAd({"MyType": "Query", "TargetType": "Collector"})
    query.insert_text("Requirements", "true")
    return query


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
