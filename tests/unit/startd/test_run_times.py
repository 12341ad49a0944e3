"""How long a claim's jobs ran and were suspended."""

from __future__ import annotations

from kettle.startd.run_times import RunTimes


def test_running_and_suspended_time_are_told_apart_by_job_and_by_claim() -> None:
    times = RunTimes()
    assert times.claim_ran(5.0) == times.job_frozen(5.0) == 0.0
    times.begin(100.0)
    times.suspend(110.0)
    times.suspend(115.0)
    assert (times.job_ran(120.0), times.job_frozen(120.0)) == (10.0, 10.0)
    times.resume(130.0)
    times.resume(131.0)
    assert (times.job_ran(140.0), times.job_frozen(140.0)) == (20.0, 20.0)
    times.end(140.0)
    assert (times.job_ran(200.0), times.job_frozen(200.0)) == (0.0, 0.0)
    times.begin(200.0)
    assert (times.job_ran(205.0), times.claim_ran(205.0)) == (5.0, 25.0)
    assert times.claim_frozen(205.0) == 20.0
