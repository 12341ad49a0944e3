"""The collector: takes updates and withdrawals, answers queries, drops what is old.

Decisions are in `ad_store.py` (what an update does), `ad_query.py` (what a query sees) and
`commands.py`; the connection broker is `services/broker.py`. Here are the handlers, the timers, the
persistent log of offline and absent ads, and the collector's own ad.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from kettle.classad import ClassAd
from kettle.collector import commands
from kettle.collector.ad_kinds import (
    COLLECTOR,
    INVALIDATE_COMMANDS,
    QUERY_COMMANDS,
    QUERY_MULTIPLE_PRIVATE,
    QUERY_PRIVATE_SLOTS,
    SLOT,
    UPDATE_COMMANDS,
    UPDATE_OWN_SUBMITTER,
    UPDATE_WITH_ACK,
)
from kettle.collector.ad_query import Secrets
from kettle.collector.ad_store import AdStore, Sender, StoredAd, StoreSettings
from kettle.collector.own_ad import OwnAd
from kettle.collector.services.broker import BrokerService
from kettle.collector.services.nudge import NegotiatorNudge
from kettle.collector.services.persistent import PersistentAds
from kettle.config import Config
from kettle.config.knobs.collector import CollectorKnobs as Knobs
from kettle.config.knobs.negotiator import NegotiatorKnobs
from kettle.errors import KettleError, RefusedError
from kettle.levels import Level
from kettle.runtime import tasks
from kettle.runtime.clock import set_ahead
from kettle.runtime.context import Runtime
from kettle.runtime.credentials import find_revocation
from kettle.runtime.process.snapshot import Parts, is_child
from kettle.runtime.self_monitor import describe_host, read_window
from kettle.runtime.self_shutdown import SelfShutdown
from kettle.runtime.sockets.network_sessions import FAMILY_USER
from kettle.runtime.sockets.stream import Stream
from kettle.statistics.windows import Recent
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Invalidate, Query, Update, UpdateAcknowledged
from kettle.wire.messages.daemoncore import TokenReply, TokenRequest
from kettle.wire.similar_ads import AlikeAds

# How often old ads are looked for: a fraction of the lifetime, within these bounds in seconds.
_SWEEP_FRACTION = 10
_SWEEP_LEAST, _SWEEP_MOST = 1.0, 60.0


def read_settings(config: Config) -> StoreSettings:
    """Take the store's settings out of a configuration; ConfigError names what is wrong."""
    return StoreSettings(
        lifetime_seconds=int(config[Knobs.CLASSAD_LIFETIME]),
        requirements=config[Knobs.COLLECTOR_REQUIREMENTS],
        absent_requirements=config[Knobs.ABSENT_REQUIREMENTS],
        absent_lifetime_seconds=int(config[Knobs.ABSENT_EXPIRE_ADS_AFTER]),
        offline_lifetime_seconds=int(config[Knobs.OFFLINE_EXPIRE_ADS_AFTER]),
        one_negotiator=config[Knobs.COLLECTOR_ALLOW_ONLY_ONE_NEGOTIATOR],
        expire_invalidated=config[Knobs.EXPIRE_INVALIDATED_ADS],
        update_statistics=config[Knobs.COLLECTOR_DAEMON_STATS],
        groups=frozenset(name.lower() for name in config[NegotiatorKnobs.GROUP_NAMES]),
    )


class CollectorService:
    """The daemon; see the module's docstring."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.store = AdStore(read_settings(runtime.config))
        runtime.snapshots.most = runtime.config[Knobs.COLLECTOR_QUERY_WORKERS]
        window, quantum = read_window(runtime.config, "COLLECTOR")
        self.store.recent = Recent(window, quantum)
        self.own_ad = OwnAd(
            int(runtime.clock.now()), window_seconds=window, quantum_seconds=quantum
        )
        self._self_shutdown = SelfShutdown(runtime)
        self._answering = 0
        self._updates = AlikeAds()
        self.broker = BrokerService(runtime)
        self.persistent = PersistentAds(runtime, self.store)
        self.nudge = NegotiatorNudge(runtime, self.store)
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Register the commands, bring back persistent ads, start dropping old ones."""
        network = self.runtime.network
        self.persistent.load(self._now())
        updates = {*UPDATE_COMMANDS, UPDATE_WITH_ACK, UPDATE_OWN_SUBMITTER}
        for number in sorted(updates):
            network.register(number, self._on_update, again=True)
        for number in sorted(set(INVALIDATE_COMMANDS)):
            network.register(number, self._on_invalidate, again=True)
        for number in sorted(set(QUERY_COMMANDS)):
            network.register(number, self._on_query)
        network.register(Command.IMPERSONATION_TOKEN_REQUEST, self._on_token_request)
        self.broker.start()
        self.publish()
        self._published_at = self._now()
        self._sweeper = tasks.repeat(self._sweep, "expire ads")

    def check(self, config: Config) -> None:
        """Raise ConfigError for settings that cannot be taken over."""
        read_settings(config)

    async def reconfigure(self, config: Config) -> None:
        """Take over new settings; ads stay, but for those that came by a token revoked now."""
        self.store.settings = read_settings(config)
        self.runtime.snapshots.most = config[Knobs.COLLECTOR_QUERY_WORKERS]
        self.broker.reconfigure()
        self._drop_revoked(config)
        self.publish()

    def _drop_revoked(self, config: Config) -> None:
        """Have nobody matched with what only a revoked token has advertised."""
        is_revoked = find_revocation(config)
        if is_revoked is None:
            return
        now = self._now()
        for entry in self.store.entries():
            if entry.sender.claims and is_revoked(entry.sender.claims):
                entry.expires_at = now
        self._expire(now)

    async def shut_down(self, how: str) -> None:
        """Stop; persistent ads are on disk already."""
        del how
        if self._sweeper is not None:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper
        self.nudge.stop()

    # --- commands -----------------------------------------------------------------------------

    async def _on_update(self, stream: Stream) -> None:
        message = Update.read_alike(await stream.receive(), self._updates)
        command = stream.command
        sender = self._sender(stream)
        now = self._now()
        try:
            entry = commands.update(self.store, command, message, now=now, sender=sender)
        except RefusedError as error:
            said = f"Dropped an update from {stream.remote_name}: {error}"
            self.runtime.log.stranger("updates dropped", said)
            stream.close()
            return
        if command == UPDATE_WITH_ACK:
            await stream.send(UpdateAcknowledged())
        if entry is not None and entry.kind is SLOT:
            self.persistent.note(entry)
            self.nudge.note(entry)

    def _sender(self, stream: Stream) -> Sender:
        peer = stream.peer
        family = peer.user == FAMILY_USER and not peer.method
        return Sender(
            peer.user or Sender().identity,
            "FAMILY" if family else peer.method,
            host=stream.remote_host,
            administrator=self.runtime.network.allows(stream, Level.ADMINISTRATOR),
            claims=peer.claims,
        )

    async def _on_token_request(self, stream: Stream) -> None:
        """Say that a schedd gives us no tokens for others, as of each that does not offer it.

        Limit: HTCondor's schedds offer it with SEC_ENABLE_IMPERSONATION_TOKENS; ours never do, and
        of theirs none is asked.
        """
        name = TokenRequest.read(await stream.receive()).request.string("Name")
        told = f"Schedd {name} is not known to the collector."
        told = told if name else "No schedd target specified."
        answer = ClassAd({"ErrorString": told, "ErrorCode": 5 if name else 4})
        await stream.send(TokenReply(answer))

    async def _on_invalidate(self, stream: Stream) -> None:
        query = Invalidate.read(await stream.receive()).query
        now = self._now()
        try:
            gone = commands.invalidate(
                self.store, stream.command, query, now=now, sender=self._sender(stream)
            )
        except RefusedError as error:
            said = f"Dropped a withdrawal from {stream.remote_name}: {error}"
            self.runtime.log.stranger("withdrawals dropped", said)
            stream.close()
            return
        if gone:
            self.persistent.save()

    async def _on_query(self, stream: Stream) -> None:
        query = Query.read(await stream.receive()).query
        command = stream.command
        if COLLECTOR.query == command:
            self.publish()
        secrets = self._secrets_for(stream)
        try:
            ads, parts = commands.find(
                self.store, command, query, most=secrets, unsent=self._on_unsent
            )
        except RefusedError as error:
            self.own_ad.on_dropped(int(self.runtime.clock.now()))
            said = f"Dropped a query from {stream.remote_name}: {error}"
            self.runtime.log.stranger("queries dropped", said)
            stream.close()
            return
        await self._answer(stream, parts, ads)

    def _on_unsent(self, entry: StoredAd, error: Exception) -> None:
        """Tell, once for each ad, that it was left out of an answer; a child on standard error."""
        if not entry.told_unsent:
            entry.told_unsent = True
            name = ", ".join(entry.key)
            told = f"The {entry.kind.my_type} ad of {name} cannot be sent to anybody: {error}"
            if is_child():
                sys.stderr.write(f"{told}\n")
            else:
                self.runtime.log.stranger("ads not sent", told, problem=True)

    def _secrets_for(self, stream: Stream) -> Secrets:
        """Return the most that a peer may see: keys of administrators are theirs alone."""
        if self._may(stream, Level.ADMINISTRATOR) and stream.encrypted:
            return Secrets.ALL
        asks_as_negotiator = stream.command in (QUERY_MULTIPLE_PRIVATE, QUERY_PRIVATE_SLOTS)
        trusted = (Level.NEGOTIATOR, Level.ADMINISTRATOR)
        if asks_as_negotiator or any(self._may(stream, level) for level in trusted):
            return Secrets.CLAIMS
        return Secrets.NONE

    def _may(self, stream: Stream, level: Level) -> bool:
        return self.runtime.network.allows(stream, level)

    async def _answer(self, stream: Stream, parts: Parts, ads: int) -> None:
        snapshots = self.runtime.snapshots
        self._answering += 1
        self.own_ad.on_query(inside=self._answering, children=snapshots.running)
        try:
            forked = await snapshots.answer(stream, parts, ads=ads)
            self.own_ad.on_answered(stream.peer, forked=forked)
        finally:
            # A child that took the answer over goes on by itself.
            self._answering -= 1
            self.own_ad.on_query(inside=self._answering, children=snapshots.running)

    def _now(self) -> float:
        """Return the time that ads grow old by, and let the store know that of the wall clock."""
        self.store.set_ahead = set_ahead(self.runtime.clock)
        return self.runtime.clock.steady()

    # --- time ----------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        await asyncio.sleep(self._sweep_seconds())
        now = self._now()
        self._expire(now)
        self.broker.expire(now)
        if now - self._published_at >= self.runtime.config[Knobs.COLLECTOR_UPDATE_INTERVAL]:
            self.publish()
            self._published_at = now

    def _expire(self, now: float) -> None:
        for entry in self.store.expire(now):
            self.runtime.log(f"Expired {entry.kind.my_type} {', '.join(entry.key)}")
        self.persistent.save()

    def _sweep_seconds(self) -> float:
        """Return the pause: short enough for the shortest lifetime there is."""
        shortest = float(self.store.settings.lifetime_seconds)
        for entry in self.store.entries():
            shortest = min(shortest, entry.expires_at - entry.heard_at)
        return max(_SWEEP_LEAST, min(shortest / _SWEEP_FRACTION, _SWEEP_MOST))

    def publish(self) -> StoredAd | None:
        """Put the collector's own ad, with figures of now, into the store."""
        runtime = self.runtime
        now = runtime.clock.now()
        self.own_ad.on_query(inside=self._answering, children=runtime.snapshots.running)
        ad = self.own_ad.make(self.store, self.broker.broker, int(now))
        describe_host(ad, runtime.config)
        for name, value in runtime.self_figures().items():
            ad[name] = value
        address = str(runtime.network.address)
        for name, value in runtime.identity.attributes(address, runtime.clock.now()).items():
            ad[name] = value
        ad["Name"] = _pool_name(runtime)
        ad["CollectorIpAddr"] = address
        admin = runtime.config.get("CONDOR_ADMIN")
        if admin:
            ad["CondorAdmin"] = admin
        ad["UpdateInterval"] = int(runtime.config[Knobs.COLLECTOR_UPDATE_INTERVAL])
        # Nobody sends this ad, so nobody could renew it before it grows old.
        ad["ClassAdLifetime"] = 2**31 - 1
        self._self_shutdown.look(ad)
        try:
            own = Sender(FAMILY_USER, "")
            return self.store.update(COLLECTOR, ad, now=self._now(), sender=own)
        except KettleError as error:
            runtime.log.problem(f"The collector's own ad: {error}")
            return None


def _pool_name(runtime: Runtime) -> str:
    """Return what the pool calls itself: `My Pool - 127.0.0.1@host`."""
    name = runtime.config.get("COLLECTOR_NAME")
    machine = runtime.identity.machine
    if not name:
        return machine
    return name if "@" in name else f"{name}@{machine}"
