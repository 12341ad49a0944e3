"""Which jobs an action by constraint counts, and what a submission begins with."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import ActionResult, JobAction, JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.schedd import departures
from kettle.schedd.queue import actions
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import JobId
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, BOB, Schedd, plan_action


def survey(schedd: Schedd, action: JobAction, constraint: str) -> actions.Survey:
    ad = ClassAd({"JobAction": int(action), "ActionResultType": 2})
    ad.insert_text("ActionConstraint", constraint)
    return plan_action(schedd.queue, actions.parse(ad), ALICE, schedd.now)[0]


def test_a_hold_by_constraint_counts_what_is_held_already() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2)
    held = {"JobStatus": "5", "HoldReasonCode": "1"}
    schedd.queue.update(jobs[0].id, dict(held))
    answer = survey(schedd, JobAction.HOLD, "true").answer
    assert (answer.integer("result_total_1"), answer.integer("result_total_4")) == (1, 1)


def test_a_reason_is_as_long_as_what_the_jobs_logs_say_of_it() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    asked = ClassAd({"JobAction": 1, "ActionResultType": 1, "ActionIds": str(job.id)})
    asked["HoldReason"] = "why? " * 1_000_000
    _, plan = plan_action(schedd.queue, actions.parse(asked), ALICE, schedd.now)
    schedd.queue.commit(plan.transaction)
    reason = job.ad.string("HoldReason") or ""
    assert reason.startswith("why? why? ")
    assert reason.endswith(" (by user alice)")
    assert len(reason) < actions.LONGEST_REASON + 100


def test_who_gives_no_reason_is_not_named() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)

    def act(action: JobAction, **words: str) -> None:
        asked = ClassAd({"JobAction": int(action), "ActionResultType": 1, "ActionIds": str(job.id)})
        asked.update(words)
        _, plan = plan_action(schedd.queue, actions.parse(asked), ALICE, schedd.now)
        assert plan.done[0].reason == ("why (by user alice)" if words else "")
        schedd.queue.commit(plan.transaction)

    act(JobAction.HOLD)
    assert job.ad.string("HoldReason") == ""
    act(JobAction.RELEASE)
    assert "ReleaseReason" not in job.ad
    act(JobAction.HOLD)
    act(JobAction.RELEASE, ReleaseReason="why")
    assert job.ad.string("ReleaseReason") == "why (by user alice)"
    act(JobAction.HOLD, HoldReason="why")
    assert "ReleaseReason" not in job.ad
    act(JobAction.REMOVE)
    assert "RemoveReason" not in job.ad


def test_a_job_held_too_often_is_released_by_super_users_only() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    schedd.queue.update(job.id, {"JobStatus": "5", "HoldReasonCode": "1", "NumHolds": "4"})
    asked = ClassAd({"JobAction": 2, "ActionResultType": 1, "ActionIds": str(job.id)})

    def answer(actor: Actor, most: int) -> int | None:
        request = actions.parse(asked, most)
        survey = plan_action(schedd.queue, request, actor, schedd.now)[0]
        return survey.answer.integer(f"job_{job.id.cluster}_{job.id.proc}")

    root = Actor("root@vm", "root", super_user=True)
    assert answer(ALICE, 3) == ActionResult.LIMIT_EXCEEDED
    assert answer(ALICE, 4) == answer(ALICE, -1) == answer(root, 3) == ActionResult.SUCCESS


def test_a_submission_on_hold_is_counted_as_a_hold_from_the_start() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    assert (job.ad.integer("InitialJobStatus"), job.ad.integer("NumHolds")) == (None, None)


def test_a_submission_on_hold_for_a_reason_of_endless_digits_is_counted_as_any_other() -> None:
    schedd = Schedd()
    client = schedd.client(ALICE)
    cluster = client.call(calls.NewCluster()).value
    said = {"Owner": "undefined", "JobUniverse": "5", "HoldReasonCode": "9" * 5000}
    for name, text in said.items():
        client.set(cluster, -1, name, text)
    proc = client.call(calls.NewProc(cluster)).value
    client.set(cluster, proc, "JobStatus", "5")
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert schedd.queue.jobs[JobId(cluster, proc)].ad.integer("NumHolds") == 1


def test_a_job_that_left_or_changed_since_the_survey_is_passed_over() -> None:
    schedd = Schedd()
    jobs = schedd.submit(3)
    ad = ClassAd({"JobAction": 3, "ActionResultType": 2, "ActionConstraint": True})
    request = actions.parse(ad)
    found = actions.Survey(schedd.queue, request, ALICE)
    assert set(found.look()) == {None}
    assert found.jobs == jobs
    transaction = schedd.queue.transaction()
    transaction.destroy_ad(str(jobs[0].id))
    schedd.queue.commit(transaction)
    schedd.queue.update(jobs[1].id, {"JobStatus": "3"})
    plan = actions.plan(schedd.queue, request, ALICE, schedd.now, found.jobs)
    assert [done.job for done in plan.done] == [jobs[2]]


def test_a_long_survey_stops_for_others() -> None:
    schedd = Schedd()
    schedd.submit(2 * actions.SLICE + 1)
    for ask in ({"ActionConstraint": True}, {"ActionIds": "1"}):
        request = actions.parse(ClassAd({"JobAction": 1, **ask}))
        found = actions.Survey(schedd.queue, request, ALICE)
        assert len(list(found.look())) >= 1
        assert len(found.jobs) == 2 * actions.SLICE + 1


@pytest.mark.parametrize("constraint", ["true", "ClusterId == 1"])
def test_jobs_may_come_and_go_during_a_survey(constraint: str) -> None:
    schedd = Schedd()
    jobs = schedd.submit(2 * actions.SLICE)
    ad = ClassAd({"JobAction": 3, "ActionResultType": 2})
    ad.insert_text("ActionConstraint", constraint)
    found = actions.Survey(schedd.queue, actions.parse(ad), ALICE)
    looking = found.look()
    next(looking)
    transaction = schedd.queue.transaction()
    for job in (jobs[0], jobs[-1]):
        transaction.destroy_ad(str(job.id))
    schedd.queue.commit(transaction)
    schedd.submit(1)
    for _ in looking:
        pass
    assert found.jobs == jobs[:-1]


def test_the_last_jobs_of_a_cluster_take_it_along_whatever_their_number() -> None:
    schedd = Schedd()
    jobs = schedd.submit(3000)
    transaction = schedd.queue.transaction()
    for job in jobs:
        departures.plan_departure(transaction, schedd.queue, job)
    schedd.queue.commit(transaction)
    assert not schedd.queue.jobs
    assert not schedd.queue.clusters


def test_a_removal_of_many_changes_each_as_a_removal_of_one_does() -> None:
    schedd = Schedd()
    jobs = schedd.submit(4)
    schedd.queue.update(jobs[1].id, {"JobStatus": "5", "HoldReasonCode": "1"})
    schedd.queue.update(jobs[2].id, {"JobStatusOnRelease": "4"})
    ad = ClassAd({"JobAction": 3, "ActionResultType": 2, "RemoveReason": "enough"})
    ad["ActionConstraint"] = True
    _, plan = plan_action(schedd.queue, actions.parse(ad), ALICE, schedd.now)
    assert [done.was for done in plan.done] == [1, 5, 1, 1]
    changes = schedd.queue.commit(plan.transaction)
    assert changes.status_before == {
        job.id: was for job, was in zip(jobs, (1, 5, 1, 1), strict=True)
    }
    for job, was in zip(jobs, (1, 5, 1, 1), strict=True):
        assert job.status == 3
        assert job.ad.integer("LastJobStatus") == was
        assert job.ad.integer("EnteredCurrentStatus") == schedd.now
        assert job.ad.string("RemoveReason") == "enough (by user alice)"
        assert "JobStatusOnRelease" not in job.ad
        assert "HoldReasonCode" not in job.ad
        assert job.ad.integer("LastHoldReasonCode") == (1 if was == 5 else None)
    assert list(schedd.queue.by_status[3]) == [jobs[1].id, jobs[2].id, jobs[0].id, jobs[3].id]
    assert sum(tally.by_status[3] for tally in schedd.queue.tallies.values()) == 4
    replayed = schedd.replayed()
    for job in jobs:
        assert list(replayed.jobs[job.id].ad.lines()) == list(job.ad.lines())


def test_jobs_of_several_users_that_a_removal_changes_alike_are_counted_where_they_are() -> None:
    schedd = Schedd()
    schedd.submit(3)
    schedd.submit(2, BOB)
    root = Actor("root@vm", "root", super_user=True)
    asked = ClassAd({"JobAction": 3, "ActionResultType": 2, "ActionConstraint": True})
    survey, plan = plan_action(schedd.queue, actions.parse(asked), root, schedd.now)
    # A cluster of which something else is changed at the same time.
    plan.transaction.set_attribute("02.-1", "JobPrio", "7")
    schedd.queue.commit(plan.transaction)
    assert survey.answer.integer("result_total_1") == 5
    assert not [name for name in survey.answer if name.startswith("job_")]
    for user, count in (("alice@vm", 3), ("bob@vm", 2)):
        for tally in (
            schedd.queue.tallies[user, JobUniverse.VANILLA],
            schedd.queue.user_tallies[user, False],
        ):
            assert (tally[JobStatus.IDLE], tally[JobStatus.REMOVED]) == (0, count)
    assert {job.priority[2] for job in schedd.queue.jobs.values()} == {0, -7}
    assert not schedd.queue.by_status[JobStatus.IDLE]
    assert all(job.status == JobStatus.REMOVED for job in schedd.queue.jobs.values())


def test_nobody_removes_a_job_that_the_history_has_as_completed() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    schedd.queue.update(job.id, {"JobStatus": "4"})
    job.recorded = True
    request = actions.parse(ClassAd({"JobAction": 3, "ActionResultType": 1, "ActionIds": "1.0"}))
    survey = actions.Survey(schedd.queue, request, ALICE)
    assert set(survey.look()) == {None}
    assert survey.jobs == []
    assert not survey.succeeded


@pytest.mark.parametrize("action", [JobAction.VACATE, JobAction.VACATE_FAST])
@pytest.mark.parametrize(
    ("status", "result"),
    [
        (JobStatus.IDLE, ActionResult.BAD_STATUS),
        (JobStatus.RUNNING, ActionResult.SUCCESS),
        (JobStatus.TRANSFERRING_OUTPUT, ActionResult.SUCCESS),
        (JobStatus.SUSPENDED, ActionResult.BAD_STATUS),
    ],
)
def test_only_what_runs_is_vacated_and_a_suspended_job_does_not(
    action: JobAction, status: JobStatus, result: ActionResult
) -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    schedd.queue.update(job.id, {"JobStatus": str(int(status))})
    ids = ClassAd({"JobAction": int(action), "ActionResultType": 1, "ActionIds": str(job.id)})
    answer = plan_action(schedd.queue, actions.parse(ids), ALICE, schedd.now)[0].answer
    assert answer.integer(f"job_{job.id.cluster}_{job.id.proc}") == result


@pytest.mark.parametrize("universe", ["7", "12"])
def test_a_job_beside_the_schedd_is_not_suspended_though_one_that_is_named_seems_so(
    universe: str,
) -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, JobUniverse=universe)
    schedd.queue.update(job.id, {"JobStatus": "2"})
    found = survey(schedd, JobAction.SUSPEND, f"ClusterId == {job.id.cluster}")
    assert not found.succeeded
    assert [found.answer.integer(f"result_total_{n}") for n in range(6)] == [0] * 6
    named = ClassAd({"JobAction": 8, "ActionResultType": 1, "ActionIds": str(job.id)})
    found, _ = plan_action(schedd.queue, actions.parse(named), ALICE, schedd.now)
    assert found.answer.integer(f"job_{job.id}".replace(".", "_")) == ActionResult.SUCCESS
    assert job.status == JobStatus.RUNNING


def test_an_action_on_no_jobs_is_one_with_no_result() -> None:
    schedd = Schedd()
    schedd.submit(2)
    survey = actions.Survey(schedd.queue, actions.parse(ClassAd({"JobAction": 1})), ALICE)
    assert list(survey.look()) == []
    assert not survey.succeeded
    answer = survey.answer
    assert [answer.integer(f"result_total_{n}") for n in range(6)] == [0] * 6
