"""What a schedd takes up that the last one left beside it: processes whose jobs moved on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.config import Config
from kettle.runtime.storage.files import Files
from kettle.schedd.job_processes import NO_PROCESS, JobProcess, noted_process
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services.history import HistoryFiles
from unit.schedd.scheduler_fixture import Hands, World, restart


@pytest.mark.parametrize("status", [1, 2, 3, 5])
@pytest.mark.parametrize("universe", [7, 12])
def test_the_process_that_a_job_left_is_ended_whatever_became_of_the_job(
    universe: int, status: int
) -> None:
    world = World()
    (job,) = world.submit(JobUniverse=str(universe))
    world.queue.update(job.id, {"JobStatus": str(status), **JobProcess(4242, 7, 3).note()})
    again = restart(world)
    assert again.hands.ended_leftovers == ["1.0"]
    jobs = again.queue.jobs.values()
    left = {each.id: (int(each.status), noted_process(each.ad)) for each in jobs}
    # A removed one leaves, and the others are noted to have no process.
    expected = {1: 1, 2: 1, 5: 5}.get(status)
    assert left == ({} if expected is None else {job.id: (expected, None)})


def test_the_log_of_a_job_that_was_being_held_has_the_hold_once() -> None:
    world = World()
    (job,) = world.submit(JobUniverse="7")
    held = {"JobStatus": "5", "HoldReason": '"enough"', "HoldReasonCode": "1"}
    world.queue.update(job.id, {**held, **JobProcess(4242, 7, 3).note()})
    assert restart(world).hands.take() == [("012", "1.0", "enough", "1")]
    # One that was held before, and whose log knows, is told of no more.
    world.queue.update(job.id, dict.fromkeys(NO_PROCESS))
    assert restart(world).hands.take() == []


class HandsWithHistory(Hands):
    """The hands of a schedd that has a history."""

    history: HistoryFiles

    def has(self, job: Job) -> bool:
        return self.history.has(job)


@pytest.mark.parametrize("name", ['"vm#1.0#1"', None])
def test_a_finished_job_is_recorded_though_an_older_queue_had_one_of_its_number(
    tmp_path: Path, name: str | None
) -> None:
    runtime: Any = SimpleNamespace(
        files=Files(), config=Config.from_text(""), log=SimpleNamespace(problem=print)
    )
    settings: Any = SimpleNamespace(
        history=str(tmp_path / "history"),
        epoch_history="",
        own_history="",
        history_has_environment=False,
        per_job_history="",
    )
    older, world = World(), World()
    (old,), (job,) = older.submit(1), world.submit(1)
    assert old.id == job.id
    if name is not None:
        old.ad.insert_text("GlobalJobId", name)
    assert HistoryFiles(runtime, settings).append([old], 1000) == [old]
    world.queue.update(job.id, {"JobStatus": "4"})
    HandsWithHistory.history = HistoryFiles(runtime, settings)
    world.hands = HandsWithHistory()
    again = restart(world)
    # The one that is the job itself was recorded before the crash.
    assert len(again.hands.recorded) == (0 if name is None else 1)
    assert not again.queue.jobs


@pytest.mark.parametrize("status", [1, 3, 5])
def test_a_job_that_had_no_process_has_none_ended(status: int) -> None:
    world = World()
    (job,) = world.submit(JobUniverse="7")
    world.queue.update(job.id, {"JobStatus": str(status)})
    assert restart(world).hands.ended_leftovers == []
