"""When the negotiator is asked to come: as soon as a job can be matched again, and not before."""

from __future__ import annotations

from kettle.attributes.codes import JobAction, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.queue import actions
from kettle.wire.messages.claims import RequestClaimReply
from unit.schedd.queue_fixture import ALICE, BOB, plan_action
from unit.schedd.scheduler_fixture import World


def _act(world: World, action: JobAction) -> None:
    request = actions.parse(
        ClassAd({"JobAction": int(action), "ActionResultType": 1, "ActionIds": "1.0"})
    )
    _, plan = plan_action(world.queue, request, ALICE, world.now)
    world.queue.commit(plan.transaction)
    world.scheduler.orders.on_action(plan)


def test_a_release_asks_for_matches_and_a_hold_does_not() -> None:
    world = World()
    world.submit()
    _act(world, JobAction.HOLD)
    assert world.hands.wanted == 0
    _act(world, JobAction.RELEASE)
    assert world.hands.wanted == 1


def test_a_claim_that_goes_while_its_submitter_has_jobs_asks_for_matches() -> None:
    world = World()
    first, _ = world.submit(2)
    claim = world.run(first)
    world.scheduler.on_released_by_startd(claim.id)
    world.exit(first, int(ShadowExit.EXITED), ExitCode=0)
    assert world.hands.wanted == 1


def test_a_claim_that_goes_with_the_last_job_or_was_refused_asks_for_none() -> None:
    world = World()
    (job,) = world.submit()
    world.scheduler.on_claim_reply(world.match(job), RequestClaimReply(False, [], None))
    world.run(job)
    world.exit(job, int(ShadowExit.EXITED), ExitCode=0)
    assert world.hands.wanted == 0


def test_a_run_that_ends_with_its_claim_asks_for_matches_for_whoever_waits() -> None:
    world = World()
    (job,) = world.submit()
    world.submit(actor=BOB)
    world.run(job)
    world.exit(job, int(ShadowExit.EXITED), reusable=False, ExitCode=0)
    assert world.hands.wanted == 1
