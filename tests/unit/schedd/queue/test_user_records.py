"""User records: made by the first submission, disabled and enabled, counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import pytest

from kettle.classad import ClassAd
from kettle.errors import NotFoundError, RefusedError
from kettle.schedd.queue import user_records
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import ALICE, BOB, Schedd


def act(schedd: Schedd, command: Command, **request: object) -> tuple[int, int]:
    transaction = schedd.queue.transaction()
    result = user_records.plan_act(transaction, schedd.queue, command, ClassAd(request))
    schedd.queue.commit(transaction)
    return result


def test_the_first_submission_makes_a_record_and_the_next_does_not() -> None:
    schedd = Schedd()
    schedd.submit(actor=ALICE)
    schedd.submit(actor=ALICE)
    schedd.submit(actor=BOB)
    found = [(key, ad.string("User")) for key, ad in user_records.records(schedd.queue)]
    assert found == [("0.2", "alice@vm"), ("0.3", "bob@vm")]
    again = schedd.replayed()
    assert [key for key, _ in user_records.records(again)] == ["0.2", "0.3"]


def test_a_record_counts_its_users_jobs() -> None:
    schedd = Schedd()
    schedd.submit(3, ALICE)
    schedd.submit(1, BOB)
    query = ClassAd()
    query.insert_text("Requirements", 'User == "alice@vm"')
    (shown,) = filter(None, user_records.look(schedd.queue, query))
    assert (shown.integer("NumJobs"), shown.integer("NumIdle")) == (3, 3)


def test_a_record_is_shown_without_a_look_at_the_jobs_and_counts_as_they_change() -> None:
    schedd = Schedd()
    queue = schedd.queue
    jobs = schedd.submit(3, ALICE, AccountingGroup='"group_x.a"')

    def counts() -> tuple[int | None, ...]:
        (shown,) = user_records.look(queue, ClassAd())
        names = ("NumJobs", "NumIdle", "NumHeld", "NumRunning")
        return tuple(shown.integer(name) for name in names)

    class Unlooked(dict[JobId, Job]):
        def values(self) -> NoReturn:
            raise AssertionError("the jobs were looked at")

    queue.by_user["alice@vm"] = Unlooked(queue.by_user["alice@vm"])
    assert counts() == (3, 3, 0, 0)
    queue.update(jobs[0].id, {"JobStatus": "5"})
    queue.update(jobs[1].id, {"JobStatus": "2", "JobPrio": "7"})
    assert counts() == (3, 1, 1, 1)
    for job in jobs:
        transaction = queue.transaction()
        transaction.destroy_ad(str(job.id))
        queue.commit(transaction)
    assert counts() == (0, 0, 0, 0)
    assert not queue.user_tallies


def test_a_record_counts_jobs_of_the_scheduler_universe_apart() -> None:
    schedd = Schedd()
    schedd.submit(2, ALICE, JobUniverse="7")
    local, vanilla = schedd.submit(1, ALICE, JobUniverse="12"), schedd.submit(1, ALICE)
    schedd.queue.update(vanilla[0].id, {"JobStatus": "7"})
    (shown,) = user_records.look(schedd.queue, ClassAd())
    assert shown is not None
    names = ("NumJobs", "NumIdle", "NumSuspended", "NumSchedulerJobs", "NumSchedulerIdle")
    assert [shown.integer(name) for name in names] == [2, 1, 1, 2, 2]
    assert "NumSchedulerSuspended" not in shown
    assert len(local) == 1
    transaction = schedd.queue.transaction()
    for job in schedd.queue.jobs:
        transaction.destroy_ad(f"{job.cluster}.{job.proc}")
    schedd.queue.commit(transaction)
    assert not schedd.queue.user_tallies


def test_a_record_keeps_how_many_jobs_of_its_user_are_gone_and_what_they_took() -> None:
    """The numbers are a real schedd's."""
    schedd = Schedd()
    used = {"CumulativeRemoteUserCpu": "100.0", "CumulativeRemoteSysCpu": "1000.0"}
    queue = schedd.queue

    def leave(status: int, **more: str) -> dict[str, str]:
        jobs = schedd.submit(2, ALICE, CumulativeSlotTime="20.7", **more)
        for job in jobs:
            queue.update(job.id, {"JobStatus": str(status)})
        transaction = queue.transaction()
        user_records.count_departures(transaction, queue, jobs)
        queue.commit(transaction)
        (_, ad) = next(user_records.records(schedd.replayed()))
        return {name: ad.text(name) or "" for name in ad if "Jobs" in name}

    gone = {
        "TotalRemovedJobs": "2",
        "RemovedJobsCpuTime": "2200.0",
        "RemovedJobsSlotTime": "40",
    }
    assert leave(3, **used) == gone
    gone |= {
        "SchedulerTotalCompletedJobs": "2",
        "CompletedJobsCpuTime": "0.0",
        "CompletedJobsSlotTime": "40",
    }
    assert leave(4, JobUniverse="7") == gone
    assert leave(4, JobUniverse="7")["CompletedJobsSlotTime"] == "80"
    # Whatever an ad says, a record has numbers.
    odd = {"CumulativeRemoteUserCpu": 'real("INF")', "CumulativeRemoteSysCpu": 'real("NaN")'}
    assert leave(3, **odd)["RemovedJobsCpuTime"] == "2000000002200.0"


def test_a_disabled_user_cannot_submit_until_enabled() -> None:
    schedd = Schedd()
    schedd.submit(actor=ALICE)
    assert act(schedd, Command.DISABLE_USERREC, User="alice@vm", DisableReason="away") == (1, 0)
    reply = schedd.client(ALICE).call(calls.NewCluster())
    assert reply.value == -5
    assert reply.details is not None
    assert reply.details.string("ErrorReason") == "away"
    act(schedd, Command.ENABLE_USERREC, User="alice@vm")
    assert schedd.client(ALICE).call(calls.NewCluster()).value > 0


def test_a_user_whose_name_has_blanks_cannot_submit() -> None:
    schedd = Schedd()
    reply = schedd.client(Actor("a b@vm", "a b")).call(calls.NewCluster())
    assert reply.value == -5
    assert reply.details is not None
    said = "no accounts can be kept of the user 'a b@vm': the name has blanks"
    assert reply.details.string("ErrorReason") == said


def test_editing_sets_attributes_but_not_whose_record_it_is() -> None:
    schedd = Schedd()
    schedd.submit(actor=ALICE)
    assert act(schedd, Command.EDIT_USERREC, User="alice@vm", MaxJobsRunning=5) == (1, 1)
    found = user_records.find(schedd.queue, "alice@vm")
    assert found is not None
    assert found[1].integer("MaxJobsRunning") == 5


def test_what_an_administrator_says_is_one_record_each() -> None:
    schedd = Schedd()
    schedd.submit(actor=ALICE)
    evil = 'x"\n103 1.0 Owner "root'
    act(schedd, Command.DISABLE_USERREC, User="alice@vm", DisableReason=evil)
    act(schedd, Command.EDIT_USERREC, User="alice@vm", Note=evil)
    with pytest.raises(RefusedError):
        act(schedd, Command.EDIT_USERREC, User="alice@vm", **{"Note Owner": 1})
    found = user_records.find(schedd.replayed(), "alice@vm")
    assert found is not None
    assert found[1].string("Note") == found[1].string("DisableReason") == evil.replace("\n", " ")
    assert schedd.replayed().jobs[JobId(1, 0)].ad.string("Owner") == "alice"


def test_a_user_with_jobs_is_not_deleted_and_an_unknown_one_not_found() -> None:
    schedd = Schedd()
    schedd.submit(actor=ALICE)
    with pytest.raises(RefusedError):
        act(schedd, Command.DELETE_USERREC, User="alice@vm")
    with pytest.raises(NotFoundError):
        act(schedd, Command.DISABLE_USERREC, User="carol@vm")
    act(schedd, Command.ENABLE_USERREC, User="carol@vm", _userrec_opt_create=True)
    act(schedd, Command.DELETE_USERREC, User="carol@vm")
    assert user_records.find(schedd.queue, "carol@vm") is None


def test_a_first_submission_looks_through_the_records_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedd = Schedd()
    schedd.submit(actor=BOB)
    looks = 0
    records = user_records.records

    def counted(queue: JobQueue) -> Iterator[tuple[str, ClassAd]]:
        nonlocal looks
        looks += 1
        return records(queue)

    monkeypatch.setattr(user_records, "records", counted)
    schedd.submit(50, ALICE)
    # Once for whether there is one, and once for its number.
    assert looks == 2
    assert user_records.disabled_reason(schedd.queue, "alice@vm") is None
    assert act(schedd, Command.DISABLE_USERREC, User="alice@vm") == (1, 0)
    assert user_records.disabled_reason(schedd.queue, "alice@vm") is not None
