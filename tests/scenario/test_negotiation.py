"""The negotiator between a collector and schedds that speak the protocol and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.collector.service import CollectorService
from kettle.config import Config
from kettle.negotiator import snapshot
from kettle.negotiator.service import NegotiatorService
from kettle.negotiator.services import schedds
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.collectors import Advertiser
from kettle.runtime.sockets.stream import Stream
from kettle.testing.world import World, WorldDaemon
from kettle.wire.commands import Command
from kettle.wire.messages.collector import PrivateQueryReply, Query
from kettle.wire.messages.negotiate import (
    FROM_NEGOTIATOR,
    EndNegotiate,
    JobInfo,
    Negotiate,
    NoMoreJobs,
    PermissionAndAd,
    RejectedWithReason,
    SendResourceRequestList,
    read_word,
)
from scenario.stage import connect, play, stopped_at_the_end

COLLECTOR = "<127.0.0.1:9618>"


@dataclass
class Heard:
    """What a schedd was told."""

    rounds: list[str] = field(default_factory=list)
    matches: list[tuple[str, str, str]] = field(default_factory=list)
    rejections: list[tuple[str, str]] = field(default_factory=list)
    connections: int = 0


class Schedd:
    """The other side of NEGOTIATE: jobs are numbers, claims are remembered and not made."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.idle: dict[str, int] = {}
        self.request = ClassAd({"RequestCpus": 1, "RequestMemory": 10, "RequestDisk": 1})
        self.heard = Heard()
        self.silent = False
        self._advertiser = Advertiser(runtime)

    async def start(self) -> None:
        self.runtime.network.register(Command.NEGOTIATE, self.on_negotiate, again=True)

    async def reconfigure(self, config: Config) -> None: ...

    async def shut_down(self, how: str) -> None:
        await self._advertiser.close()

    def publish(self, submitter: str, idle: int) -> None:
        self.idle[submitter] = idle
        ad = ClassAd({"MyType": "Submitter", "Name": submitter, "IdleJobs": idle})
        ad["ScheddName"] = self.runtime.identity.name
        ad["ScheddIpAddr"] = str(self.runtime.network.address)
        self._advertiser.update(Command.UPDATE_SUBMITTOR_AD, ad)

    async def submit(
        self, negotiator: WorldDaemon[NegotiatorService], submitter: str, jobs: int
    ) -> None:
        self.publish(submitter, jobs)
        await self._advertiser.flush(5.0)
        stream = await self.runtime.network.connect(negotiator.network.address, Command.RESCHEDULE)
        stream.close()

    async def on_negotiate(self, stream: Stream) -> None:
        header = Negotiate.read(await stream.receive()).header
        submitter = header.string("Owner") or ""
        self.heard.rounds.append(submitter)
        if self.silent:
            await asyncio.sleep(3600)
        requested = False
        while True:
            word = read_word(FROM_NEGOTIATOR, await stream.receive(600.0))
            if isinstance(word, SendResourceRequestList):
                if self.idle.get(submitter):
                    await stream.send(JobInfo(self._request_ad(submitter)))
                    requested = True
                await stream.send(NoMoreJobs())
                if not requested:
                    return
            elif isinstance(word, PermissionAndAd):
                name = word.slot.string("Name") or ""
                self.heard.matches.append((submitter, name, word.claim_ids))
                self.idle[submitter] -= 1
            elif isinstance(word, RejectedWithReason):
                self.heard.rejections.append((submitter, word.reason))
            else:
                assert isinstance(word, EndNegotiate)
                return

    def _request_ad(self, submitter: str) -> ClassAd:
        ad = self.request.copy()
        ad["_condor_RESOURCE_COUNT"] = self.idle[submitter]
        for name, value in (("AutoClusterId", 1), ("ClusterId", 7), ("ProcId", 0)):
            ad[name] = value
        ad["Requirements"] = True
        ad["WantMatchDiagnostics"] = 3
        return ad


@dataclass
class Pool:
    """A small pool of a world."""

    world: World
    negotiator: WorldDaemon[NegotiatorService]
    schedd: WorldDaemon[Schedd]

    async def advertise(self, *slots: ClassAd) -> None:
        client = self.world.client("startd@here")
        for ad in slots:
            stream = await connect(client, COLLECTOR, Command.UPDATE_STARTD_AD)
            await stream.send(stream.writer().ad(ad, private=True))
            stream.close()
        await asyncio.sleep(0.05)

    @property
    def heard(self) -> Heard:
        return self.schedd.service.heard


async def build(world: World, text: str = "") -> Pool:
    await world.start("COLLECTOR", CollectorService, text, port=9618)
    negotiator = await world.start("NEGOTIATOR", NegotiatorService, text)
    schedd = await world.start("SCHEDD", Schedd, name="schedd")
    stopped_at_the_end(negotiator)
    stopped_at_the_end(schedd)
    await asyncio.sleep(1)
    return Pool(world, negotiator, schedd)


def slot(name: str, **more: object) -> ClassAd:
    ad = ClassAd(
        {
            "MyType": "Machine",
            "Name": name,
            "Machine": "h",
            "MyAddress": "<10.0.0.1:1>",
            "HasStartDaemonAd": True,
            "State": "Unclaimed",
            "Cpus": 1,
            "Memory": 1000,
            "Disk": 1000,
            "Rank": 0.0,
            "CurrentRank": 0.0,
            "ClaimId": f"claim-{name}",
            **more,
        }
    )
    ad.insert_text("Requirements", "TARGET.RequestMemory <= Memory")
    ad.insert_text("SlotWeight", "Cpus")
    return ad


def claimed(name: str, user: str, now: float, **more: object) -> ClassAd:
    return slot(name, State="Claimed", RemoteUser=user, EnteredCurrentState=int(now), **more)


async def ask(pool: Pool, command: Command, *words: object) -> Stream:
    client = pool.world.client("admin@here")
    stream = await connect(client, str(pool.negotiator.network.address), command)
    if words:
        writer = stream.writer()
        for word in words:
            if isinstance(word, str):
                writer.string(word)
            elif isinstance(word, float):
                writer.real(word)
            elif isinstance(word, int):
                writer.integer(word)
            elif isinstance(word, ClassAd):
                writer.ad(word)
        await stream.send(writer)
    return stream


async def priorities(pool: Pool) -> ClassAd:
    stream = await ask(pool, Command.GET_PRIORITY)
    return (await stream.receive()).ad(types=False)


def of(ad: ClassAd, user: str, attribute: str) -> object:
    for number in range(1, (ad.integer("NumSubmittors") or 0) + 1):
        if ad.string(f"Name{number}") == user:
            return ad.evaluate(f"{attribute}{number}")
    return None


def test_a_submission_is_matched_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"), slot("b"))
        before = world.clock.now()
        await pool.schedd.service.submit(pool.negotiator, "u@here", 2)
        while len(pool.heard.matches) < 2:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(0.01)
        assert world.clock.now() - before < 0.3
        assert pool.heard.matches == [("u@here", "a", "claim-a"), ("u@here", "b", "claim-b")]

    play(tmp_path, scenario)


def test_without_a_word_from_the_schedd_the_interval_finds_its_jobs(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_INTERVAL = 40\n")
        await pool.advertise(slot("a"))
        # Until the negotiator has looked for the last time soon after its start.
        await asyncio.sleep(36)
        pool.schedd.service.publish("u@here", 1)
        await asyncio.sleep(30)
        assert not pool.heard.matches
        await asyncio.sleep(15)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def test_a_negotiator_that_begins_finds_the_jobs_submitted_while_it_was_down(
    tmp_path: Path,
) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        await pool.negotiator.crash()
        pool.schedd.service.publish("u@here", 1)
        await asyncio.sleep(30)
        again = await world.start("NEGOTIATOR", NegotiatorService)
        stopped_at_the_end(again)
        await asyncio.sleep(1)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def test_a_negotiator_that_begins_before_its_pool_looks_again_soon(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        negotiator = await world.start("NEGOTIATOR", NegotiatorService)
        schedd = await world.start("SCHEDD", Schedd, name="schedd")
        stopped_at_the_end(negotiator)
        stopped_at_the_end(schedd)
        # Its first cycle finds no collector, and the second one no slot.
        await asyncio.sleep(3)
        await world.start("COLLECTOR", CollectorService, port=9618)
        schedd.service.publish("u@here", 1)
        await asyncio.sleep(6)
        pool = Pool(world, negotiator, schedd)
        assert not pool.heard.matches
        await pool.advertise(slot("a"))
        await asyncio.sleep(10)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def test_a_pool_without_jobs_has_few_cycles_after_its_start_and_then_those_of_the_interval(
    tmp_path: Path,
) -> None:
    async def scenario(world: World) -> None:
        def cycles() -> int:
            return sum("Started Negotiation Cycle" in line for line in world.log)

        pool = await build(world, "NEGOTIATOR_INTERVAL = 60\n")
        await pool.advertise(slot("a"))
        await asyncio.sleep(80)
        begun = cycles()
        # At once, and after 5, 10, 20 and 40 seconds.
        assert begun == 5
        await asyncio.sleep(600)
        assert cycles() == begun + 10

    play(tmp_path, scenario)


def test_a_job_that_comes_just_after_its_schedd_had_none_does_not_wait_for_the_interval(
    tmp_path: Path,
) -> None:
    """The real schedd does not say RESCHEDULE while its last ad had idle jobs."""

    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_INTERVAL = 60\n")
        await pool.advertise(slot("a"))
        schedd = pool.schedd.service
        await schedd.submit(pool.negotiator, "u@here", 1)
        schedd.idle["u@here"] = 0
        await asyncio.sleep(1)
        assert pool.heard.rounds == ["u@here"]
        schedd.idle["u@here"] = 1
        await asyncio.sleep(5)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def test_a_schedd_whose_ad_stays_wrong_is_asked_again_at_growing_pauses(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_INTERVAL = 60\n")
        await pool.advertise(slot("a"))
        schedd = pool.schedd.service
        await schedd.submit(pool.negotiator, "u@here", 1)
        schedd.idle["u@here"] = 0
        await asyncio.sleep(80)
        assert len(pool.heard.rounds) == 5
        await asyncio.sleep(120)
        assert len(pool.heard.rounds) == 7

    play(tmp_path, scenario)


def test_a_schedd_that_never_has_anything_lets_no_other_wait(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_INTERVAL = 60\n")
        await pool.advertise(slot("a"))
        full = await world.start("SCHEDD", Schedd, name="full")
        stopped_at_the_end(full)
        await full.service.submit(pool.negotiator, "f@here", 1)
        full.service.idle["f@here"] = 0
        await asyncio.sleep(90)
        schedd = pool.schedd.service
        await schedd.submit(pool.negotiator, "u@here", 1)
        schedd.idle["u@here"] = 0
        await asyncio.sleep(1)
        assert pool.heard.rounds == ["u@here"]
        schedd.idle["u@here"] = 1
        await asyncio.sleep(5)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def test_who_gets_nothing_is_told_why_with_its_autocluster(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 3)
        await asyncio.sleep(1)
        assert len(pool.heard.matches) == 1
        assert pool.heard.rejections == [("u@here", "no match found |1|7.0|")]

    play(tmp_path, scenario)


def test_a_slot_that_was_just_given_is_not_given_again(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        for _ in range(5):
            await pool.schedd.service.submit(pool.negotiator, "u@here", 5)
            await asyncio.sleep(0.3)
        assert len(pool.heard.matches) == 1
        # A schedd that did nothing with it leaves it to the next after a while.
        await asyncio.sleep(5)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 5)
        await asyncio.sleep(0.3)
        assert len(pool.heard.matches) == 2

    play(tmp_path, scenario)


def test_a_match_that_its_schedd_does_not_use_is_soon_another_s(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_INTERVAL = 60\n")
        await pool.advertise(slot("a"))
        schedd = pool.schedd.service
        schedd.publish("v@here", 1)
        await schedd.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(1)
        ((first, _, _),) = pool.heard.matches
        # The machine does not answer the first one, whose ad says so in time.
        schedd.publish(first, 0)
        await asyncio.sleep(5)
        assert [user for user, _, _ in pool.heard.matches] == [
            first,
            "v@here" if first == "u@here" else "u@here",
        ]

    play(tmp_path, scenario)


@pytest.mark.shows("R079")
def test_several_submitters_of_one_schedd_share_evenly(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(*(slot(f"s{number}") for number in range(4)))
        pool.schedd.service.publish("a@here", 9)
        await pool.schedd.service.submit(pool.negotiator, "b@here", 9)
        await asyncio.sleep(1)
        users = [user for user, _, _ in pool.heard.matches]
        assert sorted(users) == ["a@here", "a@here", "b@here", "b@here"]
        # Each was asked in a round of its own and told in another.
        assert pool.heard.rounds == ["a@here", "b@here", "a@here", "b@here"]

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("limits", "submitters", "schedds"),
    [
        ("NEGOTIATOR_MAX_TIME_PER_SUBMITTER = 7\n", {"b@here"}, set()),
        ("NEGOTIATOR_MAX_TIME_PER_SCHEDD = 7\n", set(), {"slow"}),
        ("NEGOTIATOR_MAX_TIME_PER_PIESPIN = 7\n", set(), set()),
    ],
)
def test_a_schedd_that_lets_us_wait_costs_the_others_no_more_than_its_time(
    tmp_path: Path, limits: str, submitters: set[str], schedds: set[str]
) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_TIMEOUT = 600\n" + limits)
        slow = await world.start("SCHEDD", Schedd, name="slow")
        stopped_at_the_end(slow)
        slow.service.silent = True
        await pool.advertise(slot("a"))
        slow.service.publish("b@here", 1)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(6.5)
        assert not pool.heard.matches
        await asyncio.sleep(2)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]
        cycle = next(
            each for each in pool.negotiator.service.history.cycles if each.total_slots == 1
        )
        assert cycle.submitters_out_of_time == submitters
        assert {name.partition("@")[0] for name in cycle.schedds_out_of_time} == schedds
        assert 7 <= cycle.ended_at - cycle.started_at < 8
        ad = pool.negotiator.service.ads.own_ad()
        said = ad.string("LastNegotiationCycleSubmittersOutOfTime0")
        assert said == ", ".join(submitters)

    play(tmp_path, scenario)


@pytest.mark.parametrize(("most", "kept"), [(1, 0), (2, 0), (3, 3), (9, 3)])
def test_no_more_connections_to_schedds_than_the_configuration_allows(
    tmp_path: Path, most: int, kept: int
) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, f"NEGOTIATOR_SOCKET_CACHE_SIZE = {most}\n")
        network, opened, at_once = pool.negotiator.network, [], []
        connect_as_ever = network.connect

        def living() -> int:
            return sum(not stream.closed for stream in opened)

        async def connect_and_count(address: str, command: int, **named: Any) -> Stream:
            stream = await connect_as_ever(address, command, **named)
            if command == Command.NEGOTIATE:
                opened.append(stream)
                at_once.append(living())
            return stream

        network.connect = connect_and_count  # type: ignore[method-assign,assignment]
        others = [await world.start("SCHEDD", Schedd, name=name) for name in ("b", "c")]
        for each in others:
            stopped_at_the_end(each)
            each.service.publish("u@here", 1)
        await pool.advertise(slot("a"), slot("b"), slot("c"))
        await asyncio.sleep(0.5)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(3)
        heard = [each.service.heard for each in (pool.schedd, *others)]
        assert [len(each.matches) for each in heard] == [1, 1, 1]
        assert max(at_once) == min(most, 3)
        assert living() == kept
        # Who is new is kept in the place of who is old.
        for number in range(most if kept else 0):
            another = await world.start("SCHEDD", Schedd, name=f"new{number}")
            stopped_at_the_end(another)
            await another.service.submit(pool.negotiator, "w@here", 1)
            await asyncio.sleep(3)
            assert living() <= most

    play(tmp_path, scenario)


def test_one_schedd_that_is_silent_does_not_cost_the_others_their_turn(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "NEGOTIATOR_TIMEOUT = 5\n")
        other = await world.start("SCHEDD", Schedd, name="other")
        stopped_at_the_end(other)
        await pool.advertise(slot("a"))
        other.service.silent = True
        other.service.publish("v@here", 9)
        await asyncio.sleep(0.5)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(8)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


def _fails_for(what: Callable[..., object], word: str) -> Callable[..., object]:
    """Return what does as `what`, but raises what nobody thought of where a word is spoken of."""

    def do(*arguments: object, **named: object) -> object:
        # The first words: what a cycle spends on whom is said of all.
        if word in repr(arguments[:2]) + repr(named):
            raise OverflowError("nobody thought of it")
        return what(*arguments, **named)

    return do


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (schedds, "parse_request"),
        (schedds, "deliver"),
        (schedds.Schedds, "_header"),
        (snapshot, "read_submitter"),
    ],
)
def test_a_fault_of_ours_with_one_schedd_costs_no_other_its_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str
) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        other = await world.start("SCHEDD", Schedd, name="other")
        stopped_at_the_end(other)
        await pool.advertise(slot("a"), slot("b"))
        with monkeypatch.context() as broken:
            broken.setattr(where, name, _fails_for(getattr(where, name), "odd@user"))
            other.service.publish("odd@user", 1)
            await asyncio.sleep(0.5)
            await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
            await asyncio.sleep(3)
            assert [match[0] for match in pool.heard.matches] == ["u@here"]
            assert not other.service.heard.matches
        assert "nobody thought of it" in world.failures[0]
        world.failures.clear()
        await asyncio.sleep(10)
        pool.negotiator.service.wake()
        await asyncio.sleep(3)
        assert [match[0] for match in other.service.heard.matches] == ["odd@user"]

    play(tmp_path, scenario)


def test_a_schedd_that_came_back_is_connected_anew(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(0.5)
        for stream in list(pool.schedd.network.commands.connections):
            stream.close()
        await pool.advertise(slot("b"))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(0.5)
        assert [name for _, name, _ in pool.heard.matches] == ["a", "b"]

    play(tmp_path, scenario)


@pytest.mark.shows("R072")
def test_usage_follows_the_slot_ads_between_cycles(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(claimed("a", "u@here", world.clock.now(), Cpus=4))
        assert of(await priorities(pool), "u@here", "WeightedResourcesUsed") == 4.0
        await asyncio.sleep(600)
        ad = await priorities(pool)
        usage = of(ad, "u@here", "WeightedAccumulatedUsage")
        assert isinstance(usage, float)
        assert abs(usage - 2400) < 20
        assert of(ad, "u@here", "ResourcesUsed") == 1

    play(tmp_path, scenario)


@pytest.mark.shows("R072")
def test_who_asks_after_the_clock_was_set_ahead_charges_nobody_for_it(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(claimed("a", "u@here", world.clock.now()))
        await asyncio.sleep(300)
        world.clock.set_forward += 3600.0
        usage = of(await priorities(pool), "u@here", "AccumulatedUsage")
        assert isinstance(usage, float)
        # The books look at the slots once a minute while nobody asks.
        assert 200 < usage < 320

    play(tmp_path, scenario)


@pytest.mark.shows("R072")
def test_a_match_counts_as_use_at_once_whatever_the_slot_ads_show(tmp_path: Path) -> None:
    # A job may be over before anybody looks at the slots, and its user is still listed.
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        while not pool.heard.matches:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(0.001)
        ad = await priorities(pool)
        for attribute in ("BeginUsageTime", "LastUsageTime"):
            when = of(ad, "u@here", attribute)
            assert isinstance(when, int)
            assert 0 <= world.clock.now() - when < 2

    play(tmp_path, scenario)


def test_a_slot_that_one_schedd_gives_back_is_soon_offered_to_the_others(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(claimed("a", "other@here", world.clock.now()))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(3)
        assert not pool.heard.matches
        await pool.advertise(slot("a"))
        await asyncio.sleep(3)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]

    play(tmp_path, scenario)


@pytest.mark.shows("R072")
def test_an_administrator_changes_factor_ceiling_and_usage(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        stream = await ask(pool, Command.SET_PRIORITYFACTOR, "u@here", 10000.0)
        assert (await stream.receive()).ad().integer("ErrorCode") == 0
        await ask(pool, Command.SET_CEILING, "u@here", 3)
        await asyncio.sleep(0.1)
        ad = await priorities(pool)
        assert of(ad, "u@here", "Priority") == 5000.0
        assert of(ad, "u@here", "Ceiling") == 3
        await ask(pool, Command.DELETE_USER, "u@here")
        await asyncio.sleep(0.1)
        assert of(await priorities(pool), "u@here", "Priority") is None

    play(tmp_path, scenario)


def test_a_leased_ceiling_is_given_back_when_its_time_is_over(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)

        async def manage(**request: object) -> str | None:
            stream = await ask(pool, Command.MANAGE_CEILING, ClassAd(request))
            answer = (await stream.receive()).ad()
            assert answer.boolean("Success") is not bool(answer.string("ErrorString"))
            return answer.string("ErrorString")

        ours = {"Submitter": "u@here", "Action": "set", "Duration": 600}
        assert await manage(**ours, Ceiling=3) == ""
        assert of(await priorities(pool), "u@here", "Ceiling") == 3
        assert "already in effect" in (await manage(**ours, Ceiling=4) or "")
        assert await manage(Action="set") == "request is missing Submitter"
        await asyncio.sleep(1200)
        assert of(await priorities(pool), "u@here", "Ceiling") == -1
        gone = await manage(Submitter="u@here", Action="cancel")
        assert gone == "no ceiling lease in effect for u@here"

    play(tmp_path, scenario)


def test_only_an_administrator_sets_a_factor(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world, "ALLOW_ADMINISTRATOR = root@here\n")
        stream = await ask(pool, Command.SET_PRIORITYFACTOR, "u@here", 10.0)
        answer = (await stream.receive()).ad()
        assert answer.integer("ErrorCode") == 1
        assert "administrator" in (answer.string("ErrorString") or "")

    play(tmp_path, scenario)


def test_a_name_that_the_books_cannot_have_is_passed_over(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(
            slot("a"),
            claimed("b", "a b@here", world.clock.now()),
            claimed("c c", "u@here", world.clock.now()),
            claimed("d", "v@here", world.clock.now(), AccountingGroup="a b@here"),
        )
        await pool.schedd.service.submit(pool.negotiator, "a b@here", 1)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await ask(pool, Command.SET_PRIORITY, "a b@here", 7.0)
        stream = await ask(pool, Command.SET_PRIORITYFACTOR, "a b@here", 10.0)
        answer = (await stream.receive()).ad()
        assert answer.integer("ErrorCode") == 1
        assert "'a b@here' is no name" in (answer.string("ErrorString") or "")
        await asyncio.sleep(5)
        assert pool.heard.matches == [("u@here", "a", "claim-a")]
        cycles = sum("Started Negotiation Cycle" in line for line in world.log)
        said = [line for line in world.log if "invalid name" in line]
        assert 0 < len(said) <= cycles
        assert "ignoring 1 submitter ads with invalid names, such as 'a b@here'" in said[0]
        await pool.negotiator.crash()
        again = await world.start("NEGOTIATOR", NegotiatorService)
        stopped_at_the_end(again)
        ad = await priorities(Pool(world, again, pool.schedd))
        assert of(ad, "a b@here", "Priority") is None
        assert of(ad, "v@here", "ResourcesUsed") == 1
        assert not [line for line in world.log if "accounting log" in line]

    play(tmp_path, scenario)


def test_the_books_survive_a_negotiator_that_is_killed(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(claimed("a", "u@here", world.clock.now()))
        await ask(pool, Command.SET_PRIORITYFACTOR, "u@here", 77.0)
        await priorities(pool)
        await asyncio.sleep(300)
        await pool.negotiator.crash()
        again = await world.start("NEGOTIATOR", NegotiatorService)
        stopped_at_the_end(again)
        ad = await priorities(Pool(world, again, pool.schedd))
        assert of(ad, "u@here", "PriorityFactor") == 77.0
        usage = of(ad, "u@here", "AccumulatedUsage")
        assert isinstance(usage, float)
        assert usage > 250

    play(tmp_path, scenario)


def test_the_negotiator_and_its_books_are_advertised(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        pool = await build(world)
        await pool.advertise(slot("a"))
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(3)
        await pool.schedd.service.submit(pool.negotiator, "u@here", 1)
        await asyncio.sleep(3)
        client = world.client()
        stream = await connect(client, COLLECTOR, Command.QUERY_MULTIPLE_ADS)
        await stream.send(Query(ClassAd({"TargetType": "Negotiator,Accounting"})))
        ads = PrivateQueryReply.read(await stream.receive()).ads
        negotiator = next(ad for ad in ads if ad.string("MyType") == "Negotiator")
        # A cycle without matches may follow the one that made it.
        matches = [negotiator.integer(f"LastNegotiationCycleMatches{i}") for i in range(3)]
        assert 1 in matches
        assert negotiator.integer("LastNegotiationCycleTotalSlots0") == 1
        assert {ad.string("Name") for ad in ads if ad.string("MyType") == "Accounting"} == {
            "<none>",
            "u@here",
        }

    play(tmp_path, scenario)
