"""Which jobs an action by constraint counts, and what a submission begins with."""

from __future__ import annotations

from kettle.attributes.codes import JobAction
from kettle.classad import ClassAd
from kettle.schedd import actions
from unit.schedd.queue_fixture import ALICE, Schedd


def plan(schedd: Schedd, action: JobAction, constraint: str) -> actions.Plan:
    ad = ClassAd({"JobAction": int(action), "ActionResultType": 2})
    ad.insert_text("ActionConstraint", constraint)
    return actions.plan(schedd.queue, actions.parse(ad), ALICE, schedd.now)


def test_a_hold_by_constraint_counts_what_is_held_already() -> None:
    schedd = Schedd()
    jobs = schedd.submit(2)
    held = {"JobStatus": "5", "HoldReasonCode": "1"}
    schedd.queue.update(jobs[0].id, dict(held))
    answer = plan(schedd, JobAction.HOLD, "true").answer
    assert (answer.integer("result_total_1"), answer.integer("result_total_4")) == (1, 1)


def test_a_submission_on_hold_is_counted_as_a_hold_from_the_start() -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1)
    assert (job.ad.integer("InitialJobStatus"), job.ad.integer("NumHolds")) == (1, None)
