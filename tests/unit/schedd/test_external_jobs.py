"""Jobs that another manager has, or may not have yet: nobody here starts or ends them."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.records import queue_log
from kettle.schedd.beside import startable
from kettle.schedd.queue import actions, factory
from kettle.schedd.queue.jobs import Job
from unit.schedd import queue_fixture as fixture
from unit.schedd.queue import test_exports as exports_fixture
from unit.schedd.queue_fixture import ALICE, NOW, give_away
from unit.schedd.scheduler_fixture import World
from unit.schedd.test_scheduler import act, status_of


def export(world: World, job: Job) -> str:
    """Give a job's cluster away, as the schedd does; returns the log."""
    return give_away(world, str(job.id), has_run=world.scheduler.orders.has_run, spool="/new")


def take_back(world: World, job: Job) -> None:
    fixture.take_back(world, str(job.id))


def test_a_job_that_is_exported_while_its_claim_is_asked_for_is_not_started() -> None:
    world = World()
    (job,) = world.submit()
    claim = world.match(job)
    export(world, job)
    world.hands.take()
    world.grant(claim)
    assert world.hands.take() == [("release", "<c>#1#1#key")]
    assert status_of(job) is JobStatus.IDLE
    take_back(world, job)
    assert world.idle.is_waiting(job.id)


@pytest.mark.parametrize("released", [False, True])
def test_a_job_whose_run_is_not_over_is_not_exported(released: bool) -> None:
    world = World()
    (job,) = world.submit()
    world.run(job)
    act(world, 1, "1.0")
    if released:
        act(world, 2, "1.0")
    with pytest.raises(RefusedError, match=r"a run of job 1\.0 is not over yet"):
        export(world, job)
    world.exit(job, 107, reusable=False)
    export(world, job)
    assert job.is_external


def test_a_job_beside_the_schedd_whose_process_still_leaves_is_not_exported() -> None:
    world = World()
    (job,) = world.submit(JobUniverse="7")
    world.hands.beside = {"1.0"}
    with pytest.raises(RefusedError, match="is not over yet"):
        export(world, job)


def test_a_job_whose_input_is_being_spooled_is_not_exported() -> None:
    world = World()
    (job,) = world.submit()
    world.queue.update(job.id, {"JobStatus": "5", "HoldReasonCode": "16"})
    with pytest.raises(RefusedError, match=r"the input of job 1\.0 is still on its way"):
        export(world, job)


@pytest.mark.parametrize("universe", ["7", "12"])
def test_exported_jobs_do_not_start_beside_the_schedd(universe: str) -> None:
    world = World()
    (job,) = world.submit(JobUniverse=universe)
    assert list(startable(world.queue, ClassAd(), {}, NOW)) == [job]
    export(world, job)
    assert not list(startable(world.queue, ClassAd(), {}, NOW))


def test_an_exported_cluster_makes_its_further_jobs_here_only() -> None:
    world = World()
    (job,) = world.submit()
    transaction = world.queue.transaction()
    making = {
        "JobMaterializeDigestFile": '"/spool/1/condor_submit.1.digest"',
        "JobMaterializeLimit": "10",
        "JobMaterializeNextProcId": "1",
    }
    transaction.update("01.-1", making)
    world.queue.commit(transaction)
    log = exports_fixture.Table()
    queue_log.replay(export(world, job).encode(), log)
    assert not [name for name in log.ads["01.-1"] if name.startswith("jobmaterialize")]
    assert factory.count_wanted(world.queue.clusters[1]) == 9


def test_what_was_exported_stays_in_the_other_queue_until_it_is_fetched() -> None:
    world = World()
    (job,) = world.submit(LeaveJobInQueue="false")
    world.queue.update(job.id, {"Iwd": '"/spool/1/0/cluster1.proc0.subproc0"'})
    log = exports_fixture.Table()
    queue_log.replay(export(world, job).encode(), log)
    assert log.ads["01.-1"]["leavejobinqueue"] == ("LeaveJobInQueue", "true")
    assert "leavejobinqueue" not in log.ads["1.0"]
    assert log.ads["1.0"]["iwd"] == ("Iwd", '"/new/1/0/cluster1.proc0.subproc0"')


@pytest.mark.parametrize("policy", ["PeriodicRemove", "PeriodicHold"])
def test_periodic_policy_leaves_exported_jobs_alone(policy: str) -> None:
    world = World()
    (job,) = world.submit(**{policy: "true"})
    export(world, job)
    world.scheduler.policy.apply([job])
    assert (status_of(job), world.hands.take()) == (JobStatus.IDLE, [])


def test_a_removed_job_stays_as_long_as_another_manager_has_it() -> None:
    world = World()
    (job,) = world.submit()
    export(world, job)
    act(world, 3, "1.0")
    world.scheduler.policy.see_out([job])
    assert (status_of(job), world.hands.take()) == (JobStatus.REMOVED, [])
    take_back(world, job)
    world.scheduler.policy.see_out([job])
    assert world.hands.take() == [("009", "1.0"), ("history", "1.0", "3")]
    assert not world.queue.jobs


def test_an_exported_job_is_forgotten_by_force() -> None:
    world = World()
    (job,) = world.submit()
    export(world, job)
    act(world, 3, "1.0")
    act(world, 4, "1.0")
    assert not world.queue.jobs


def test_policy_has_a_held_job_that_still_runs_removed_by_who_runs_it() -> None:
    world = World()
    (job,) = world.submit(PeriodicRemove="JobStatus == 5")
    world.run(job)
    act(world, 1, "1.0")
    world.hands.take()
    world.scheduler.policy.apply([job])
    assert world.hands.take() == [("signal", "Remove", "1.0", "1023")]
    assert job.id in world.queue.jobs
    world.exit(job, 102)
    assert ("history", "1.0", "3") in world.hands.take()
    assert not world.queue.jobs
    assert not world.scheduler.claims.by_job


def test_policy_has_a_released_job_that_still_runs_held_by_who_runs_it() -> None:
    world = World()
    (job,) = world.submit(PeriodicHold="NumHolds == 1 && JobStatus == 1")
    world.run(job)
    act(world, 1, "1.0")
    act(world, 2, "1.0")
    world.hands.take()
    world.scheduler.policy.apply([job])
    assert world.hands.take() == [("signal", "Hold", "1.0", "3")]
    assert status_of(job) is JobStatus.HELD


@pytest.mark.parametrize(("action", "event"), [(1, "012"), (2, "013")])
def test_no_hold_or_release_is_told_behind_the_end_of_a_job(action: int, event: str) -> None:
    world = World()
    (job,) = world.submit(LeaveJobInQueue="true")
    world.run(job)
    if event == "013":
        act(world, 1, "1.0")
    request = actions.parse(ClassAd({"JobAction": action, "ActionIds": "1.0"}))
    plan = actions.plan(world.queue, request, ALICE, world.now, [job])
    world.queue.commit(plan.transaction)
    # While that is brought to the disk, the run ends.
    world.exit(job, 100)
    world.hands.take()
    world.scheduler.orders.on_action(plan)
    assert status_of(job) is JobStatus.COMPLETED
    assert not [done for done in world.hands.take() if done[0] == event or "Hold" in done]


@pytest.mark.parametrize("action", [1, 3])
def test_what_was_held_or_removed_here_stays_so_whatever_comes_back(action: int) -> None:
    world = World()
    (job,) = world.submit()
    text = export(world, job) + "103 1.0 JobStatus 4\n"
    act(world, action, "1.0")
    was = status_of(job)
    brought = exports_fixture.read(world, text)
    assert exports_fixture.take_over(world, brought) == []
    assert status_of(job) is was
    assert job.is_external


def test_where_a_job_was_and_whether_it_stayed_there_does_not_come_back() -> None:
    world = World()
    (job,) = world.submit(Iwd='"/home/alice"')
    text = export(world, job)
    text += '103 1.0 Iwd "##/1/0"\n103 1.0 LeaveJobInQueue true\n103 1.0 ExitCode 3\n'
    assert exports_fixture.take_over(world, exports_fixture.read(world, text)) == [1]
    assert (job.ad.string("Iwd"), job.ad.integer("ExitCode")) == ("/home/alice", 3)
    assert "LeaveJobInQueue" not in job.ad
