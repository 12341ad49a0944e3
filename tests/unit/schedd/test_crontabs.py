"""When the schedd sets the time of a job that runs by the clock."""

from __future__ import annotations

import time

import pytest

from kettle.schedd.crontabs import CronTabs
from unit.schedd.queue_fixture import NOW
from unit.schedd.scheduler_fixture import World

NEXT = NOW - NOW % 60 + 60
RUNNING, HELD, IDLE = "2", "5", "1"


class Clockwork(World):
    """A schedd whose CronTab jobs are followed."""

    def __init__(self) -> None:
        super().__init__()
        self.crontabs = CronTabs(
            self.queue, self.idle.autoclusters, self.scheduler.orders.hold, lambda: self.now
        )
        self.queue.observe(self.crontabs.on_changes)


def test_a_job_has_its_next_time_as_soon_as_it_is_submitted() -> None:
    world = Clockwork()
    for job in world.submit(2, CronMinute='"*"'):
        assert job.ad.integer("DeferralTime") == NEXT


def test_negotiators_are_told_the_time_that_requirements_ask_for() -> None:
    world = Clockwork()
    [job] = world.submit(1, CronMinute='"*"', Requirements="DeferralTime > 0")
    before = world.idle.autocluster_of(job)
    assert "DeferralTime" in world.idle.autoclusters.attributes
    world.now = NEXT + 70
    world.crontabs.renew_passed()
    assert world.idle.autocluster_of(job) != before


def test_a_run_that_is_over_gives_the_next_time_and_a_running_one_keeps_its_own() -> None:
    world = Clockwork()
    [job] = world.submit(1, CronMinute='"*"')
    world.now = NEXT + 1
    world.queue.update(job.id, {"JobStatus": RUNNING})
    assert job.ad.integer("DeferralTime") == NEXT
    world.now = NEXT + 70
    world.queue.update(job.id, {"JobStatus": IDLE})
    assert job.ad.integer("DeferralTime") == NEXT + 120


def test_a_time_that_passed_with_its_window_is_replaced() -> None:
    world = Clockwork()
    [job] = world.submit(1, CronMinute='"*"', DeferralWindow="30")
    world.now = NEXT + 30
    world.crontabs.renew_passed()
    assert job.ad.integer("DeferralTime") == NEXT
    world.now += 1
    world.crontabs.renew_passed()
    assert job.ad.integer("DeferralTime") == NEXT + 60


def test_a_released_job_gets_a_new_time_and_a_held_one_keeps_the_old() -> None:
    world = Clockwork()
    [job] = world.submit(1, CronMinute='"*"')
    world.queue.update(job.id, {"JobStatus": HELD})
    world.now = NEXT + 70
    world.crontabs.renew_passed()
    world.crontabs.renew_all()
    assert job.ad.integer("DeferralTime") == NEXT
    world.queue.update(job.id, {"JobStatus": IDLE})
    assert job.ad.integer("DeferralTime") == NEXT + 120


def test_edited_fields_count_at_once() -> None:
    world = Clockwork()
    [job] = world.submit(1, CronMinute='"*"')
    minute = time.localtime(NEXT + 600).tm_min
    world.queue.update(job.id, {"CronMinute": f'"{minute}"'})
    assert job.ad.integer("DeferralTime") == NEXT + 600


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"CronHour": '"abc"'}, "Invalid parameter value 'abc' for CronHour"),
        ({"CronDayOfMonth": '"30"', "CronMonth": '"2"'}, "The date never comes"),
    ],
)
def test_fields_that_are_no_schedule_hold_the_job(fields: dict[str, str], reason: str) -> None:
    world = Clockwork()
    [job] = world.submit(1, **fields)
    said = f"Invalid cron schedule parameters: {reason}"
    assert world.hands.take() == [("012", str(job.id), said, "25")]
    assert (job.status, job.ad.integer("HoldReasonCode")) == (5, 25)
    assert "DeferralTime" not in job.ad


def test_a_schedd_that_starts_looks_at_the_jobs_it_finds() -> None:
    world = World()
    [job] = world.submit(1, CronMinute='"*"')
    [other] = world.submit(1)
    assert "DeferralTime" not in job.ad
    CronTabs(
        world.queue, world.idle.autoclusters, world.scheduler.orders.hold, lambda: world.now
    ).renew_all()
    assert job.ad.integer("DeferralTime") == NEXT
    assert "DeferralTime" not in other.ad


def test_a_job_without_cron_fields_keeps_its_own_time() -> None:
    world = Clockwork()
    [job] = world.submit(1, DeferralTime="77", DeferralWindow="5")
    world.crontabs.renew_passed()
    world.crontabs.renew_all()
    assert job.ad.integer("DeferralTime") == 77
