"""Constraints select exactly the jobs for which they are true, looked up or not."""

from __future__ import annotations

import errno

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.schedd.queue import actions, exports, queries
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.selection import (
    MAX_CONSTRAINT,
    candidates,
    parse_constraint,
    select_jobs,
)
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, NOW, MemoryJournal, Schedd, plan_action, through


@pytest.fixture(scope="module")
def schedd() -> Schedd:
    schedd = Schedd()
    for count in (1, 3, 2):
        schedd.submit(count, Prio=f"{count} * 10")
    # One node of a graph by its own ad.
    schedd.queue.update(JobId(3, 1), {"DAGManJobId": "1"})
    return schedd


def selected(schedd: Schedd, text: str) -> list[str]:
    return [str(job.id) for job in select_jobs(schedd.queue, parse_constraint(text))]


@pytest.mark.parametrize(
    ("text", "looked_up"),
    [
        ("ClusterId == 2", 3),
        ("clusterid==2", 3),
        ("(MY.ClusterId == 2)", 3),
        ("ClusterId == 2 && ProcId == 1", 1),
        ("(ClusterId == 2 && ProcId == 1) || ClusterId == 1", 2),
        ("ClusterId == 2 || ClusterId == 2", 3),
        ("ClusterId == 77", 0),
        ("ClusterId == 2 && ProcId == 9", 0),
        ("(ClusterId == 1 || ClusterId == 2) && ProcId == 0", 2),
        ("ClusterId == 2 && Prio == 20", 3),
        ("ClusterId == 2.0", 3),
        ("ClusterId == 2.5", 0),
        ("2 =?= ClusterId", 3),
        ('ClusterId == "2"', 0),
        ("ClusterId == 1 || DAGManJobId =?= 1", 2),
        ("(ClusterId == 3 || DAGManJobId =?= 3) && Prio > 0", 2),
        ("false || ClusterId == 1", 1),
        ("(false)", 0),
        # Evaluated job by job.
        ("ClusterId == true", 6),
        ("TARGET.ClusterId == 1", 6),
        ("ClusterId == 1 || Prio", 6),
        ("ClusterId >= 2", 6),
        ("!(ClusterId == 1 || ClusterId == 2)", 6),
        ('ClusterId == 1 || Cmd == "x || ClusterId == 2"', 6),
        ("ClusterId == 2 || Prio == 20", 6),
        ("ProcId", 6),
        ("NoSuchName", 6),
        ('"text"', 6),
    ],
)
def test_what_is_looked_up_is_what_evaluation_finds(
    schedd: Schedd, text: str, looked_up: int
) -> None:
    expr = parse_expression(text, old=True)
    assert len(candidates(schedd.queue, expr)) == looked_up
    jobs = schedd.queue.jobs.values()
    assert sorted(selected(schedd, text)) == sorted(str(j.id) for j in jobs if j.ad.satisfies(expr))


def test_an_empty_constraint_selects_everything(schedd: Schedd) -> None:
    assert parse_constraint("  ") is None
    assert len(selected(schedd, "")) == 6


def test_a_number_other_than_zero_counts_as_true_and_nothing_else_does(schedd: Schedd) -> None:
    assert selected(schedd, "ClusterId == 2 ? ProcId : 0") == ["2.1", "2.2"]
    assert selected(schedd, "undefined") == selected(schedd, "error") == []


def test_very_long_alternatives_are_evaluated(schedd: Schedd) -> None:
    text = " || ".join(["ClusterId == 1"] * 1001)
    assert len(candidates(schedd.queue, parse_expression(text))) == 6
    assert selected(schedd, text) == ["1.0"]


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(RefusedError, match="does not parse") as caught:
        parse_constraint("1 +")
    assert caught.value.code == errno.EINVAL


def test_a_constraint_that_takes_seconds_to_read_is_refused_on_every_road() -> None:
    schedd = Schedd()
    long = "ProcId == 0 || " * (MAX_CONSTRAINT // 15 + 1) + "true"
    client = schedd.client()
    edit = client.call(calls.SetAttributeByConstraint2(long, "1", "Go", 0))
    assert (edit.value, edit.errno) == (-1, errno.EINVAL)
    ad = ClassAd({"JobAction": 3, "ActionResultType": 2})
    ad.insert_text("ActionConstraint", long)
    with pytest.raises(RemoteProtocolError, match="longer than"):
        plan_action(schedd.queue, actions.parse(ad), ALICE, NOW)
    with pytest.raises(RemoteProtocolError, match="longer than"):
        through(exports.choose(schedd.queue, ad, ALICE, "export"))
    question = ClassAd()
    question.insert_text("Requirements", long)
    with pytest.raises(RefusedError, match="longer than"):
        queries.parse(question, ALICE, only_my_jobs=False)


def test_a_query_for_more_names_than_any_job_has_is_refused() -> None:
    for names in ("A " * 10_001, ["A"] * 10_001):
        with pytest.raises(RefusedError, match="more than 10000 names") as caught:
            queries.parse(ClassAd({"Projection": names}), ALICE, only_my_jobs=False)
        assert caught.value.code == queries.BAD_PROJECTION


def test_jobs_that_go_while_they_are_selected_do_no_harm() -> None:
    schedd = Schedd()
    jobs = schedd.submit(3)
    found = []
    for job in select_jobs(schedd.queue, None):
        found.append(job)
        schedd.queue.jobs.pop(jobs[2].id, None)
    assert found == jobs


def test_a_log_in_no_order_is_listed_in_the_order_of_its_jobs() -> None:
    log = "107 1 CreationTimestamp 1\n101 0.0 Job Machine\n"
    for key in ("02.-1", "2.10", "2.9", "01.-1", "1.0"):
        log += f"101 {key} Job Machine\n"
    queue = JobQueue(MemoryJournal(), uid_domain="vm")
    queue.restore(log.encode())
    assert list(map(str, queue.jobs)) == ["1.0", "2.9", "2.10"]
    assert list(queue.clusters) == [1, 2]
    assert list(queue.clusters[2].procs) == [9, 10]
