"""Idle jobs: in which order, in which groups, and that the book follows the queue."""

from __future__ import annotations

from operator import attrgetter

from hypothesis import given
from hypothesis import strategies as st

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.schedd.negotiation import list_requests, parse_rejection
from unit.schedd.queue_fixture import ALICE, BOB
from unit.schedd.scheduler_fixture import World


def test_alike_jobs_are_one_request_with_a_count() -> None:
    world = World()
    world.submit(3, RequestMemory="100")
    world.submit(2, RequestMemory="200")
    requests = list(list_requests(ClassAd(), world.idle, "alice@vm"))
    assert [each.integer("_condor_RESOURCE_COUNT") for each in requests] == [3, 2]
    assert [each.integer("RequestMemory") for each in requests] == [100, 200]


def test_higher_priority_goes_first_and_then_the_older_job() -> None:
    world = World()
    world.submit(1)
    (urgent,) = world.submit(1, JobPrio="5")
    world.now += 10
    (job,) = world.submit(1)
    assert world.idle.buckets("alice@vm")[0].first() is urgent
    number = job.autocluster
    assert world.idle.next_job("alice@vm", number) is urgent or number != urgent.autocluster
    world.idle.reserve(urgent)
    first = world.idle.next_job("alice@vm", number)
    assert first is not None
    assert first.id.cluster == 1


def test_the_oldest_is_first_in_whatever_order_jobs_came() -> None:
    world = World()
    jobs = world.submit(4)
    for job in jobs[:3]:
        world.idle.reserve(job)
    (bucket,) = world.idle.buckets("alice@vm")
    assert bucket.first() is jobs[3]
    for job in (jobs[2], jobs[0], jobs[1]):
        world.idle.unreserve(job.id)
    for job in jobs:
        (bucket,) = world.idle.buckets("alice@vm")
        assert bucket.first() is job
        assert bucket.rank[1] == job.age
        world.queue.update(job.id, {"JobStatus": "5"})


def test_jobs_of_a_user_who_is_set_aside_are_not_asked_for_until_he_is_taken_back() -> None:
    world = World()
    first, _ = world.submit(2)
    world.submit(1, BOB)
    world.idle.reserve(first)
    world.idle.set_aside("alice@vm")
    # Neither those that come, nor one whose rest is over, nor what is sorted anew.
    world.submit(1)
    world.idle.unreserve(first.id)
    world.idle.rebuild()
    assert world.idle.count("alice@vm") == 0
    assert list(world.idle.submitters()) == ["bob@vm"]
    world.idle.take_back("alice@vm")
    assert world.idle.count("alice@vm") == 3
    assert world.idle.count("bob@vm") == 1


def test_submitters_are_kept_apart() -> None:
    world = World()
    world.submit(2, ALICE)
    world.submit(3, BOB)
    assert (world.idle.count("alice@vm"), world.idle.count("bob@vm")) == (2, 3)


def test_an_edit_of_a_significant_attribute_moves_a_job() -> None:
    world = World()
    one, other = world.submit(2, RequestMemory="100")
    world.queue.update(one.id, {"RequestMemory": "300"})
    assert one.autocluster != other.autocluster
    assert len(world.idle.buckets("alice@vm")) == 2


def test_an_edit_of_what_a_waiting_job_asks_for_is_told_from_any_other() -> None:
    world = World()
    (job,) = world.submit(1, RequestMemory="100")
    told = []
    world.queue.observe(lambda changes: told.append(world.idle.was_edited(changes)))
    world.queue.update(job.id, {"RequestMemory": "300"})
    world.queue.update(job.id, {"Remark": '"no matter"'})
    assert told == [True, False]


def test_a_negotiators_wishes_split_groups() -> None:
    world = World()
    world.submit(1, Foo="1")
    world.submit(1, Foo="2")
    assert len(world.idle.buckets("alice@vm")) == 1
    world.idle.request(["Foo"])
    assert len(world.idle.buckets("alice@vm")) == 2


def test_a_rejection_names_the_autocluster() -> None:
    assert parse_rejection("no match found |3|7.0|") == ("no match found", 3)
    assert parse_rejection("nothing") == ("nothing", -1)


ACTIONS = ("run", "hold", "idle", "remove", "reserve", "unreserve")


@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 5))))
def test_the_book_is_always_what_a_look_through_the_queue_would_find(
    steps: list[tuple[str, int]],
) -> None:
    world = World()
    world.submit(3, RequestMemory="1")
    world.submit(3, RequestMemory="2")
    jobs = list(world.queue.jobs.values())
    status = {"run": JobStatus.RUNNING, "hold": JobStatus.HELD, "idle": JobStatus.IDLE}
    reserved = set()
    for action, number in steps:
        job = jobs[number]
        if job.id not in world.queue.jobs:
            continue
        if action == "remove":
            transaction = world.queue.transaction()
            transaction.destroy_ad(str(job.id))
            world.queue.commit(transaction)
        elif action == "reserve":
            world.idle.reserve(job)
            reserved.add(job.id)
        elif action == "unreserve":
            world.idle.unreserve(job.id)
            reserved.discard(job.id)
        else:
            world.queue.update(job.id, {"JobStatus": str(int(status[action]))})
    idle = {job.id for job in world.queue.jobs.values() if job.status == JobStatus.IDLE}
    waiting = idle - reserved
    assert {job.id for job in jobs if world.idle.is_waiting(job.id)} == waiting
    assert sum(len(each.live) for each in world.idle.buckets("alice@vm")) == len(waiting)
    # What is set aside and does not run is still demand.
    assert world.idle.weigh(lambda ad: 2.0).get("alice@vm", 0.0) == 2.0 * len(idle)


def test_running_jobs_are_not_looked_at_when_waiting_ones_are_weighed() -> None:
    world = World()
    jobs = world.submit(50)
    for job in jobs[:40]:
        world.idle.reserve(job)
        world.queue.update(job.id, {"JobStatus": str(int(JobStatus.RUNNING))})
    weighed = []

    def weigh(ad: ClassAd) -> float:
        weighed.append(ad)
        return 1.0

    assert world.idle.weigh(weigh) == {"alice@vm": 10.0}
    assert len(weighed) == 1


def test_a_job_with_a_claim_under_way_is_weighed_once_and_again_when_it_changes() -> None:
    world = World()
    first, second = world.submit(2)
    for job in (first, second):
        world.idle.reserve(job)
    weighed = []

    def weigh(ad: ClassAd) -> float:
        weighed.append(ad)
        return float(ad.integer("RequestCpus") or 1)

    assert world.idle.weigh(weigh) == {"alice@vm": 2.0}
    assert world.idle.weigh(weigh) == {"alice@vm": 2.0}
    assert weighed == [first.ad, second.ad]
    world.queue.update(second.id, {"RequestCpus": "4"})
    assert world.idle.weigh(weigh) == {"alice@vm": 5.0}
    assert weighed[2:] == [second.ad]
    world.idle.forget_weights()
    assert world.idle.weigh(weigh) == {"alice@vm": 5.0}
    assert len(weighed) == 5


def test_what_waits_is_weighed_by_submitter_and_by_user() -> None:
    world = World()
    jobs = [*world.submit(2), *world.submit(3, AccountingGroup='"g.alice"')]
    for aside in ([], jobs[1:3]):
        for job in aside:
            world.idle.reserve(job)
        assert world.idle.weigh(lambda _: 1.0) == {"alice@vm": 2.0, "g.alice@vm": 3.0}
        assert world.idle.weigh(lambda _: 1.0, attrgetter("user")) == {"alice@vm": 5.0}
