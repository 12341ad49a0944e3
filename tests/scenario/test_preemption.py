"""A held slot and the better claim that wants it: who waits, who leaves, who is told (R079)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.startd.slot_machine import Phase
from kettle.wire.commands import Command
from kettle.wire.messages import claims
from kettle.wire.messages import starter_control as words
from kettle.wire.security.claim_id import ClaimId
from scenario.slots_stage import ExecutionPoint, FakeStarter, job, play

shows = pytest.mark.shows

RANKED = "RANK = Points\n"


def of(user: str, points: int, **more: object) -> ClassAd:
    return job(User=f"{user}@here", Owner=user, Points=points, **more)


async def occupy(point: ExecutionPoint, ad: ClassAd) -> str:
    """Claim a part of the machine and run a job in it; return the claim's id."""
    claim_id = (await point.claim(ad)).claimed[0][0]
    code, _ = await point.activate(claim_id, ad)
    assert code == 1
    return claim_id


def second_id(point: ExecutionPoint, slot: str = "slot1_1") -> str:
    """The id by which a held slot may be taken over, as the collector knows it."""
    record = point.service.machine.find(slot)
    assert record is not None
    assert record.waiting_claim is not None
    return record.waiting_claim.claim_id


class Wish:
    """A schedd that asks for a held slot and waits for the answer."""

    def __init__(self, point: ExecutionPoint) -> None:
        self.point = point
        self.reply: claims.RequestClaimReply | None = None
        self.claim_id = second_id(point)

    async def ask(self, ad: ClassAd) -> None:
        point = self.point
        point.schedd.network.add_session(
            ClaimId(self.claim_id), user="execute-side@matchsession", lifetime=None
        )
        self.stream = await point.open(Command.REQUEST_CLAIM, self.claim_id)
        address = str(point.schedd.network.address)
        await self.stream.send(claims.RequestClaim(self.claim_id, ad, address, 300, []))
        self.task = asyncio.ensure_future(self._read())
        await asyncio.sleep(0.1)
        point.service.machine.check()

    async def _read(self) -> None:
        self.reply = claims.RequestClaimReply.read(await self.stream.receive(3600))
        self.stream.close()

    def hang_up(self) -> None:
        self.task.cancel()
        self.stream.close()


@shows("R079")
def test_a_job_that_the_machine_likes_better_takes_the_slot(tmp_path: Path) -> None:
    starter = FakeStarter(stubborn=True)

    async def scenario(point: ExecutionPoint) -> None:
        old = await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        # No retirement is granted: the job is asked to leave at once, and gets its vacate time.
        await asyncio.sleep(1)
        assert point.phase() is Phase.PREEMPTING_VACATING
        assert [type(order) for order in starter.orders] == [words.VacateJob]
        assert starter.orders[0].content.integer("ReasonCode") == 1018
        assert wish.reply is None
        record = point.service.machine.find("slot1_1")
        assert record is not None
        ad = point.service.slot_ad(record)
        assert (ad.string("PreemptingUser"), ad.real("PreemptingRank")) == ("bob@here", 2.0)
        await asyncio.sleep(9)
        assert [type(order) for order in starter.orders] == [words.VacateJob, words.KillJob]
        assert wish.reply is not None
        assert wish.reply.accepted
        assert point.released == [old]
        assert point.phase() is Phase.CLAIMED_IDLE
        code, _ = await point.activate(wish.claim_id, of("bob", 2))
        assert code == 1
        ad = point.service.slot_ad(record)
        assert (ad.string("RemoteUser"), ad.real("CurrentRank")) == ("bob@here", 2.0)
        assert point.service.machine.counters.rank_preemptions == 1
        why = "slot1_1: preempting claim based on machine rank, for bob@here"
        assert [line for line in point.world.log if line.endswith(why)]

    play(tmp_path, scenario, RANKED + "MachineMaxVacateTime = 8\n", starter)


@shows("R079", "B122", "B126")
def test_the_present_job_first_uses_up_its_retirement(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        await asyncio.sleep(10)
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        assert point.phase() is Phase.CLAIMED_RETIRING
        assert starter.claim_goes_on == [False]
        await asyncio.sleep(30)
        assert (starter.orders, wish.reply) == ([], None)
        # Counted from the job's start, and ahead by the vacate time.
        await asyncio.sleep(15)
        assert [type(order) for order in starter.orders] == [words.VacateJob]
        assert wish.reply is not None
        assert wish.reply.accepted

    text = RANKED + "MAXJOBRETIREMENTTIME = 60\nMachineMaxVacateTime = 10\n"
    play(tmp_path, scenario, text, starter)


def test_a_job_that_wants_less_retirement_gets_less(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1, MaxJobRetirementTime=0))
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        await asyncio.sleep(1)
        assert wish.reply is not None
        assert wish.reply.accepted

    play(tmp_path, scenario, RANKED + "MAXJOBRETIREMENTTIME = 3600\n", starter)


def test_without_want_vacate_the_job_is_killed_at_once(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        await asyncio.sleep(1)
        assert [type(order) for order in starter.orders] == [words.KillJob]
        assert wish.reply is not None

    play(tmp_path, scenario, RANKED + "WANT_VACATE = false\n", starter)


def test_a_job_that_ends_by_itself_leaves_the_slot_to_the_better_claim(tmp_path: Path) -> None:
    starter = FakeStarter(stays=True)

    async def scenario(point: ExecutionPoint) -> None:
        old = await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        starter.finish.set()
        await asyncio.sleep(1)
        assert wish.reply is not None
        assert wish.reply.accepted
        assert point.released == [old]
        # The starter that had stayed for the old claim's next job is let go.
        assert point.service.starters.finished(old) is None

    play(tmp_path, scenario, RANKED + "MAXJOBRETIREMENTTIME = 3600\n", starter)


def test_the_job_keeps_its_slot_when_the_better_claim_goes_away(tmp_path: Path) -> None:
    # Edge 19.
    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        for way in ("release", "hang up"):
            wish = Wish(point)
            await wish.ask(of("bob", 2))
            assert point.phase() is Phase.CLAIMED_RETIRING
            if way == "release":
                await point.tell(Command.RELEASE_CLAIM, wish.claim_id)
                assert wish.reply is not None
                assert not wish.reply.accepted
            else:
                wish.hang_up()
                await asyncio.sleep(0.1)
            assert point.phase() is Phase.CLAIMED_BUSY
            # Another id is on offer; the old one is worth nothing.
            assert second_id(point) != wish.claim_id

    play(tmp_path, scenario, RANKED + "MAXJOBRETIREMENTTIME = 3600\n", FakeStarter())


@pytest.mark.parametrize(
    ("points", "text", "why"),
    [
        (0, RANKED, "a worse rank"),
        (2, RANKED + 'START = Owner != "bob"\n', "START is false for it"),
    ],
)
def test_a_worse_job_and_an_unwelcome_one_are_refused(
    tmp_path: Path, points: int, text: str, why: str
) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", points))
        assert wish.reply is not None, why
        assert not wish.reply.accepted, why
        assert point.phase() is Phase.CLAIMED_BUSY

    play(tmp_path, scenario, text, FakeStarter())


def test_an_equal_rank_is_enough_on_the_word_of_the_negotiator(tmp_path: Path) -> None:
    starter = FakeStarter()

    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", 1))
        await asyncio.sleep(1)
        assert wish.reply is not None
        assert wish.reply.accepted
        assert starter.orders[0].content.integer("ReasonCode") == 1019
        assert point.service.machine.counters.priority_preemptions == 1

    play(tmp_path, scenario, RANKED, starter)


def test_only_one_claim_waits_for_a_slot(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        first, second = Wish(point), Wish(point)
        await first.ask(of("bob", 2))
        await second.ask(of("carol", 3))
        assert first.reply is None
        assert second.reply is not None
        assert not second.reply.accepted
        first.hang_up()

    play(tmp_path, scenario, RANKED + "MAXJOBRETIREMENTTIME = 3600\n", FakeStarter())


def test_an_idle_claim_is_taken_over_at_once(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        old = (await point.claim(of("alice", 1))).claimed[0][0]
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        assert wish.reply is not None
        assert wish.reply.accepted
        assert point.released == [old]
        assert point.phase() is Phase.CLAIMED_IDLE

    play(tmp_path, scenario, RANKED, FakeStarter())


def test_draining_and_shutdown_refuse_the_claim_that_waits(tmp_path: Path) -> None:
    async def scenario(point: ExecutionPoint) -> None:
        await occupy(point, of("alice", 1))
        wish = Wish(point)
        await wish.ask(of("bob", 2))
        stop = asyncio.ensure_future(point.service.shut_down("graceful"))
        await asyncio.sleep(1)
        assert wish.reply is not None
        assert not wish.reply.accepted
        assert point.phase() is Phase.CLAIMED_RETIRING
        starter.finish.set()
        await stop

    starter = FakeStarter()
    play(tmp_path, scenario, RANKED + "MAXJOBRETIREMENTTIME = 3600\n", starter)
