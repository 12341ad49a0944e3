"""What the collectors are told: the negotiator's own ad, those of the books, machines to be woken.

Ads go out a pause after those before them: a short one while there are jobs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable

from kettle.classad import ClassAd
from kettle.negotiator.accounting_ads import advertised_ads
from kettle.negotiator.services.books import Books
from kettle.negotiator.settings import NegotiatorSettings
from kettle.negotiator.statistics import CycleHistory
from kettle.runtime.context import Runtime
from kettle.runtime.self_monitor import describe_host
from kettle.runtime.sockets.collectors import Advertiser
from kettle.wire.commands import Command

# After a cycle that failed, or with event-driven cycles, ads are not sent more often than this.
ADVERTISE_SECONDS = 1.0
# How long a shutdown waits for collectors that do not take the last word.
_LAST_WORD_SECONDS = 2.0
_LAST_WORD_SECONDS_FAST = 0.5

# What an Accounting ad does not have of its negotiator.
_NO_DAEMON = frozenset(
    ("Machine", "MyAddress", "AddressV1", "CondorVersion", "CondorPlatform", "MyCurrentTime")
)


class Advertising:
    """Sends the ads of one negotiator."""

    def __init__(
        self, runtime: Runtime, settings: NegotiatorSettings, books: Books, history: CycleHistory
    ) -> None:
        self._runtime = runtime
        self._settings = settings
        self._books = books
        self._history = history
        self._advertiser = Advertiser(runtime)
        self._sent_at = 0.0
        self._later: asyncio.TimerHandle | None = None

    async def reconfigure(self, settings: NegotiatorSettings) -> None:
        """Take over new settings; the collectors may be others."""
        self._settings = settings
        await self._advertiser.reconnect()

    async def stop(self, how: str) -> None:
        """Withdraw the negotiator's ad."""
        self._advertiser.invalidate(
            Command.INVALIDATE_NEGOTIATOR_ADS, "Negotiator", self._runtime.identity.name
        )
        patience = _LAST_WORD_SECONDS_FAST if how == "fast" else _LAST_WORD_SECONDS
        await self._advertiser.flush(patience)
        await self._advertiser.close()

    def send_soon(self) -> None:
        """Send the ads, a pause after those before: a short one where there were jobs."""
        now = self._runtime.clock.steady()
        quiet = not self._history.cycles or not self._history.cycles[0].idle_jobs
        longest = self._settings.update_interval_seconds
        due = self._sent_at + (longest if quiet else min(ADVERTISE_SECONDS, longest))
        if due <= now:
            self.send()
            return
        loop = asyncio.get_running_loop()
        pending = self._later
        if pending is None or pending.when() > loop.time() + due - now:
            self.forget()
            self._later = loop.call_later(due - now, self.send)

    def forget(self) -> None:
        """Send nothing later."""
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def send(self) -> None:
        """Send the negotiator's ad and those of the books to the collectors."""
        self.forget()
        self._sent_at = self._runtime.clock.steady()
        self._advertiser.update(Command.UPDATE_NEGOTIATOR_AD, self.own_ad())
        if not self._settings.advertise_accounting:
            return
        books = self._books
        for accounting in advertised_ads(books.accountant, books.facts, books.groups):
            accounting["MyType"] = "Accounting"
            accounting["NegotiatorName"] = self._runtime.identity.name
            self._advertiser.update(Command.UPDATE_ACCOUNTING_AD, accounting, without=_NO_DAEMON)

    def wake_machines(self, names: Iterable[str]) -> None:
        """Note in the ads of offline machines that they were wanted; the rooster wakes them."""
        for name in dict.fromkeys(names):
            ad = ClassAd({"MyType": "Machine", "Name": name})
            ad["MachineLastMatchTime"] = int(self._runtime.clock.now())
            self._advertiser.update(Command.MERGE_STARTD_AD, ad)

    def own_ad(self) -> ClassAd:
        """Return the negotiator's ad."""
        runtime = self._runtime
        address = str(runtime.network.address)
        ad = ClassAd({"MyType": "Negotiator", "NegotiatorIpAddr": address})
        for name, value in runtime.identity.attributes(address, runtime.clock.now()).items():
            ad[name] = value
        describe_host(ad, runtime.config)
        ad["RealUid"] = os.getuid()
        for name, value in (self._history.attributes() | runtime.self_figures()).items():
            ad[name] = value
        return ad
