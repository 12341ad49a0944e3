"""A claim's session is known to the schedd for as long as the claim is there, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.errors import ConnectionLost
from kettle.levels import Level
from kettle.testing.world import World, run_in_world
from kettle.wire.commands import Command
from kettle.wire.messages.claims import ReleaseClaim, RequestClaim, RequestClaimReply
from kettle.wire.security.claim_id import ClaimId, mint_claim_id
from scenario.access_point import AccessPoint

Scenario = Callable[[AccessPoint], Awaitable[None]]


def play(folder: Path, scenario: Scenario, slots: int = 1) -> None:
    async def main(world: World) -> None:
        here = AccessPoint(world, slots=slots)
        await here.start()
        await scenario(here)
        await here.daemon.stop("fast")

    run_in_world(folder, main)


def other_id(number: int = 77) -> ClaimId:
    """Return a claim id that a startd makes up while it grants another one."""
    return mint_claim_id("<10.0.0.2:9600>", 1, number, bytes([number]) * 32)


def knows(here: AccessPoint, claim: ClaimId) -> bool:
    """Tell whether the schedd has a claim's session, in whichever direction."""
    standing = here.daemon.network.standing
    return claim.session_id in standing.sessions or claim.session_id in standing.outgoing


async def give_up(here: AccessPoint, claim: ClaimId) -> None:
    """Have the startd tell the schedd, by the claim's own session, that the claim is gone."""
    address = here.daemon.network.address
    stream = await here.runtime.network.connect(address, Command.RELEASE_CLAIM, session=claim)
    await stream.send(ReleaseClaim(claim.text))
    stream.close()
    await asyncio.sleep(1)


async def refuse(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    return RequestClaimReply(False, [], None)


async def answer_nothing(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    raise ConnectionLost("the startd goes away")


async def take_back(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    await give_up(here, ClaimId(request.claim_id))
    return RequestClaimReply(
        True, [(request.claim_id, here.slot_ad())], (other_id().text, here.slot_ad())
    )


async def grant_to_nobody(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    await here.act(3, "1")
    return RequestClaimReply(True, [(request.claim_id, here.slot_ad())], None)


async def leave_over(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    return RequestClaimReply(
        True, [(request.claim_id, here.slot_ad())], (other_id().text, here.slot_ad())
    )


async def grant_another(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    return RequestClaimReply(True, [(other_id().text, here.slot_ad())], None)


async def grant_two(here: AccessPoint, request: RequestClaim) -> RequestClaimReply:
    granted = [(one, here.slot_ad()) for one in (request.claim_id, other_id().text)]
    return RequestClaimReply(True, granted, None)


@pytest.mark.parametrize(
    "answer",
    [
        refuse, answer_nothing, take_back, grant_to_nobody, leave_over, grant_another, grant_two,
    ],
)  # fmt: skip
def test_whatever_a_startd_answers_nothing_is_known_of_it_in_the_end(
    tmp_path: Path, answer: Callable[[AccessPoint, RequestClaim], Awaitable[RequestClaimReply]]
) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        while_asked: list[bool] = []

        async def answers(request: RequestClaim) -> RequestClaimReply:
            while_asked.append(knows(here, claim))
            return await answer(here, request)

        here.answer = answers
        await here.submit()
        await here.negotiate()
        await asyncio.sleep(30)
        assert while_asked == [True]
        assert not len(here.schedd.scheduler.claims)
        assert not knows(here, claim)
        assert not knows(here, other_id())

    play(tmp_path, scenario)


def test_who_has_a_claim_commands_nothing_but_claims(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        await here.submit()
        await here.negotiate()
        session = here.daemon.network.standing.sessions.find(claim.session_id, 0.0)
        assert session is not None
        answered = here.daemon.network.commands_at(list(Level))
        permitted = {Command(one) for one in answered if session.permits(one)}
        assert permitted == {Command.ALIVE, Command.RELEASE_CLAIM, Command.DC_NOP}
        assert Command.DC_RAISESIGNAL in answered

    play(tmp_path, scenario)


def test_what_is_left_over_is_known_while_the_next_job_runs_on_it(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        here.network.add_session(other_id(), user="submit-side@matchsession", lifetime=None)

        async def answers(request: RequestClaim) -> RequestClaimReply:
            first = request.claim_id == claim.text
            rest = (other_id().text, here.slot_ad()) if first else None
            return RequestClaimReply(True, [(request.claim_id, here.slot_ad())], rest)

        here.answer = answers
        await here.submit(2)
        await here.negotiate()
        assert sorted(here.story) == ["claim", "claim", "start 1.0", "start 1.1"]
        assert knows(here, claim)
        assert knows(here, other_id())
        await asyncio.sleep(30)
        assert not knows(here, claim)
        assert not knows(here, other_id())

    play(tmp_path, scenario)


def test_a_claim_that_its_startd_gave_up_is_known_until_the_shadow_has_ended(
    tmp_path: Path,
) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        await here.submit()
        await here.negotiate()
        await give_up(here, claim)
        assert knows(here, claim)
        await asyncio.sleep(30)
        assert here.story == ["claim", "start 1.0"]
        assert not knows(here, claim)

    play(tmp_path, scenario)


def test_a_claim_is_known_again_after_a_restart_and_until_its_job_ends(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        await here.submit()
        await here.negotiate()
        await here.crash_schedd()
        await here.start_schedd()
        await asyncio.sleep(1)
        assert here.story == ["claim", "start 1.0", "reconnect 1.0"]
        assert knows(here, claim)
        await asyncio.sleep(30)
        assert here.story[-1] == "release"
        assert not knows(here, claim)

    play(tmp_path, scenario)


def test_a_claim_that_is_offered_again_while_it_is_released_stays_known(tmp_path: Path) -> None:
    async def scenario(here: AccessPoint) -> None:
        (claim,) = here.free
        await here.submit()
        here.world.hub.latency = (5.0, 5.0)
        here.schedd.claims.release(claim.text, str(here.network.address))
        await asyncio.sleep(1)
        here.world.hub.latency = (0.0, 0.0)
        assert here.schedd.scheduler.on_match("alice@here", claim.text, here.slot_ad())
        await asyncio.sleep(7)
        assert here.story == ["claim", "start 1.0", "release"]
        assert knows(here, claim)

    play(tmp_path, scenario)
