"""Telling the pool's collectors about a daemon.

Where they are is read by `addresses.py`. An `Advertiser` keeps one connection to each collector
and sends updates over it in order; while a connection is being made or is slow, only the newest
ad of each name waits. What stands in an ad is decided by its daemon. Source: wire notes,
Updates, Invalidate.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Container
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.classad.text import equals
from kettle.config.knobs.network import NetworkKnobs
from kettle.errors import WireError
from kettle.runtime import tasks
from kettle.runtime.self_shutdown import SelfShutdown
from kettle.runtime.sockets.addresses import find_collectors, read_address_file
from kettle.runtime.sockets.administration import RemoteAdministration
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import ADMIN_CAPABILITY
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream
    from kettle.wire.codec import Writer

__all__ = ["Advertiser", "find_collectors", "read_address_file"]

# Limit: ads that wait for one collector; a startd with more slots than this sends them in turns.
MOST_WAITING = 10_000
# How long to wait before trying a collector again that could not be reached.
RETRY_SECONDS = 5.0
FIRST_RETRY_SECONDS = 0.1
# How often is looked whether a collector may be told again.
LOOK_SECONDS = 1.0
# How soon one after another a collector that closed the connection is told everything again: at
# first, and when it does so all the time, because some close idle connections as a habit.
TELL_AGAIN_SECONDS = 1.0
TELL_AGAIN_SELDOM_SECONDS = 30.0


@dataclass(slots=True)
class _Update:
    """One message that waits."""

    command: int
    ad: ClassAd
    private: ClassAd | None

    def write(self, writer: Writer) -> None:
        # What only daemons may know of a submitter travels in its ad, never in the clear.
        writer.ad(self.ad, private=writer.encrypted)
        if self.private is not None:
            writer.ad(self.private, private=True)


# The ads that daemons have of themselves.
_OWN_ADS = frozenset(
    (
        Command.UPDATE_MASTER_AD,
        Command.UPDATE_NEGOTIATOR_AD,
        Command.UPDATE_SCHEDD_AD,
        Command.UPDATE_STARTD_AD,
    )
)

# What says where a collector is: its word of COLLECTOR_HOST, and what fills up an address.
_Place = tuple[str | None, ...]


@dataclass(slots=True, eq=False)
class _Link:
    """What is known about one collector, the `number`-th of those that are configured."""

    place: _Place = ()
    number: int = 0
    address: Sinful | None = None
    stream: Stream | None = None
    waiting: dict[tuple[str, ...], _Update] = field(default_factory=dict)
    # The newest ad of each name that the collector was told, for one that starts anew.
    told: dict[tuple[str, ...], _Update] = field(default_factory=dict)
    told_again_at: float = float("-inf")
    tell_again_seconds: float = 0.0
    # Whether it may have lost what it was told, be it that it died before it had read all.
    may_have_lost: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    failures: int = 0

    def end(self) -> None:
        """Send nothing more over it."""
        if self.task is not None:
            self.task.cancel()
        if self.stream is not None:
            self.stream.close()

    def drop(self) -> None:
        """The connection is at its end: nobody knows what became of what went over it."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None
            self.may_have_lost = True

    def note_restart(self) -> None:
        """It is another one than before, or was away: it is told everything without delay."""
        self.may_have_lost = True
        self.tell_again_seconds = 0.0

    def tell_again(self, now: float) -> None:
        """Have everything sent that it may have lost; what waits is newer.

        It has forgotten all ads if it died, and our next update may be minutes away.
        """
        since = now - self.told_again_at
        if not self.may_have_lost or since < self.tell_again_seconds:
            return
        pause = self.tell_again_seconds if since < 2 * TELL_AGAIN_SELDOM_SECONDS else 0.0
        self.tell_again_seconds = min(max(TELL_AGAIN_SECONDS, 2 * pause), TELL_AGAIN_SELDOM_SECONDS)
        self.told_again_at = now
        self.may_have_lost = False
        for key, update in self.told.items():
            self.waiting.setdefault(key, update)


class Advertiser:
    """Tells every collector of the pool, or one of another pool, about this daemon's ads."""

    def __init__(self, runtime: Runtime, *, foreign: Sinful | None = None) -> None:
        self._runtime = runtime
        self._foreign = foreign
        self._administration = RemoteAdministration(runtime)
        self._self_shutdown = SelfShutdown(runtime)
        self._links: list[_Link] = []
        # Whose collectors those are.
        self._config: Config | None = None
        self._sequence: dict[tuple[str, ...], int] = {}
        self.updates_sent = 0
        self.updates_failed = 0

    @property
    def connected(self) -> bool:
        """Whether any collector has been reached."""
        return any(link.stream is not None for link in self._links)

    def update(
        self,
        command: int,
        ad: ClassAd,
        private: ClassAd | None = None,
        *,
        without: Container[str] = (),
    ) -> None:
        """Send an ad to every collector, soon.

        The ad gets the attributes that all daemon ads have (those it has itself stay) and its
        UpdateSequenceNumber; the own pool's collectors hear besides how their administrators can
        command this daemon. An ad of the same type and name that still waits is replaced.
        `without` are attributes of all daemon ads that this one does not get. An ad of the daemon
        itself may have it end (`self_shutdown.py`).
        """
        runtime = self._runtime
        common = runtime.identity.attributes(str(runtime.network.address), runtime.clock.now())
        for name, value in common.items():
            if name not in without and (name not in ad or name == "MyCurrentTime"):
                ad[name] = value
        if command in _OWN_ADS and self._foreign is None:
            self._self_shutdown.look(ad)
        key = (ad.string("MyType") or "", ad.string("Name") or "", ad.string("ScheddName") or "")
        ad["UpdateSequenceNumber"] = self._sequence.get(key, 0)
        self._sequence[key] = self._sequence.get(key, 0) + 1
        capability = self._administration.capability() if self._foreign is None else ""
        if capability:
            # In an ad of its own: the daemon may use this one for other things.
            ad = ClassAd({ADMIN_CAPABILITY: capability}, parent=ad)
        self._post(("update", *key), _Update(int(command), ad, private))

    def invalidate(self, command: int, my_type: str, name: str, **key: str) -> None:
        """Withdraw the ad of that type and name from every collector, soon.

        `key` are further attributes of the ad's key, such as ScheddName of a submitter.
        """
        query = ClassAd(
            {"MyType": "Query", "TargetType": my_type, "Name": name, "Machine": name, **key}
        )
        query.insert_text("Requirements", equals("TARGET.Name", name))
        identity = (my_type, name, key.get("ScheddName", ""))
        for link in self._links:
            link.waiting.pop(("update", *identity), None)
            link.told.pop(("update", *identity), None)
        self._sequence.pop(identity, None)
        self._post(("invalidate", *identity), _Update(int(command), query, None))

    def invalidate_where(self, command: int, my_type: str, requirements: str) -> None:
        """Withdraw every ad of that type of which an expression is true, soon."""
        query = ClassAd({"MyType": "Query", "TargetType": my_type})
        query.insert_text("Requirements", requirements)
        self._post(("invalidate", my_type, requirements), _Update(int(command), query, None))

    async def flush(self, seconds: float) -> bool:
        """Wait until everything has been sent; False if it takes longer."""
        try:
            async with asyncio.timeout(seconds):
                for link in self._links:
                    await link.idle.wait()
        except TimeoutError:
            return False
        return True

    async def reconnect(self) -> None:
        """Forget the connections: the configuration may name other collectors now."""
        await self.close()

    async def close(self) -> None:
        """End the connections; what still waits is not sent."""
        links, self._links, self._config = self._links, [], None
        for link in links:
            link.end()

    def _follow_configuration(self) -> None:
        """Have a link to each collector that is configured now.

        One that was before keeps its own; a new one is told all that the others were.
        """
        config = self._runtime.config
        if config is self._config:
            return
        self._config = config
        known = self._known_updates()
        before, self._links = self._links, []
        for number, place in enumerate(self._places(config)):
            at = next((at for at, each in enumerate(before) if each.place == place), None)
            link = self._begin(place, known) if at is None else before.pop(at)
            link.number = number
            self._links.append(link)
        for link in before:
            link.end()

    def _places(self, config: Config) -> list[_Place]:
        if self._foreign is not None:
            return [()]
        more = (config.get("COLLECTOR_PORT"), config.get("COLLECTOR_ADDRESS_FILE"))
        # With none configured the first one waits for somebody to name it.
        return [(word, *more) for word in config.words("COLLECTOR_HOST") or [""]]

    def _known_updates(self) -> dict[tuple[str, ...], _Update]:
        """Return the newest ad of each name that any collector was told, or is to be."""
        known = {key: update for link in self._links for key, update in link.told.items()}
        for link in self._links:
            known |= {key: each for key, each in link.waiting.items() if key[0] == "update"}
        return known

    def _begin(self, place: _Place, known: dict[tuple[str, ...], _Update]) -> _Link:
        link = _Link(place, waiting=dict(known))
        link.task = tasks.repeat(partial(self._send_next, link), "updates of a collector")
        return link

    def _post(self, key: tuple[str, ...], update: _Update) -> None:
        self._follow_configuration()
        for link in self._links:
            if len(link.waiting) >= MOST_WAITING and key not in link.waiting:
                self.updates_failed += 1
                continue
            link.waiting.pop(key, None)
            link.waiting[key] = update
            link.idle.clear()
            link.wake.set()

    async def _send_next(self, link: _Link) -> None:
        """Send the next of what waits for one collector, and wait for it if nothing does."""
        link.tell_again(self._runtime.clock.monotonic())
        if not link.waiting:
            link.idle.set()
            await self._wait_for_news(link)
        key, update = next(iter(link.waiting.items()))
        number = link.number
        try:
            await self._send(link, number, update)
        except (WireError, OSError) as error:
            await self._on_failure(link, number, error)
            return
        except Exception:
            # What cannot be sent for a reason of its own must not keep back what comes after it.
            _drop_sent(link, key, update)
            link.drop()
            self.updates_failed += 1
            raise
        link.failures = 0
        self.updates_sent += 1
        name = Command(update.command).name
        self._runtime.log.full(f"Sent {name} {key[1]} {key[2]} to collector {number}")
        _drop_sent(link, key, update)
        if key[0] == "update":
            link.told[key] = update

    async def _wait_for_news(self, link: _Link) -> None:
        """Wait for an update, or until a collector that went away has to be told again."""
        while not link.waiting:
            link.wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS if link.may_have_lost else None):
                    await link.wake.wait()
            link.tell_again(self._runtime.clock.monotonic())

    async def _watch(self, link: _Link, stream: Stream) -> None:
        """Notice the end of a connection over which nothing is sent."""
        await stream.wait_for_end()
        if link.stream is stream:
            link.drop()
            link.wake.set()

    async def _send(self, link: _Link, number: int, update: _Update) -> None:
        """Send one update, over the open connection or a new one.

        With UPDATE_COLLECTOR_WITH_TCP false it goes in datagrams to collectors that take them.
        """
        if not self._runtime.config.value(NetworkKnobs.UPDATE_COLLECTOR_WITH_TCP):
            address = self._address(number)
            if not address.no_udp:
                await self._runtime.network.post(address, update.command, update)
                return
        if link.stream is not None and not link.stream.closed:
            writer = link.stream.writer().integer(update.command)
            update.write(writer)
            try:
                # A collector that closed an idle connection is asked again, at once.
                if not link.stream.at_end():
                    await link.stream.send(writer)
                    return
            except WireError:
                pass
            link.drop()
        address = self._address(number)
        stream = await self._runtime.network.connect(address, update.command)
        if link.address not in (None, address):
            link.note_restart()
        link.address = address
        link.stream = stream
        tasks.spawn(self._watch(link, stream), f"connection to collector {number}")
        await stream.send(update)

    def _address(self, number: int) -> Sinful:
        if self._foreign is not None:
            return self._foreign
        runtime = self._runtime
        found = find_collectors(runtime.config, runtime.files)
        if number >= len(found):
            raise WireError("the collector has not written its address yet")
        return found[number]

    async def _on_failure(self, link: _Link, number: int, error: Exception) -> None:
        link.drop()
        link.note_restart()
        if link.failures == 0:
            self._runtime.log.problem(f"Failed to send update to collector {number}: {error}")
        self.updates_failed += 1
        delay = min(RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**link.failures)
        link.failures = min(link.failures + 1, 16)
        await asyncio.sleep(delay)


def _drop_sent(link: _Link, key: tuple[str, ...], update: _Update) -> None:
    """Send an update no more, unless a newer one has taken its place."""
    if link.waiting.get(key) is update:
        del link.waiting[key]
