"""What a checkpoint says of the time that is not lost any more."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.job_runs import committed_attributes
from kettle.shadow.job_updates import checkpoint_times


def test_time_up_to_a_checkpoint_is_committed_once() -> None:
    job = ClassAd({"ShadowBday": 100})
    for now, total in ((110, 10), (125, 25)):
        for name, value in checkpoint_times(job, now).items():
            job[name] = value
        assert job.integer("CommittedTime") == total
    # The run is lost, another begins, and ends by itself: 25 seconds and its own 7.
    job["ShadowBday"] = 200
    assert committed_attributes(job, 207)["CommittedTime"] == "32"


def test_the_end_of_a_run_counts_what_came_after_its_last_checkpoint() -> None:
    job = ClassAd({"ShadowBday": 100})
    for name, value in checkpoint_times(job, 110).items():
        job[name] = value
    assert committed_attributes(job, 114)["CommittedTime"] == "14"
