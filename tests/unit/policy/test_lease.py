"""A job's lease: one reading of it, and for a run the one that it began with."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.policy.attribute_protection import NOTES
from kettle.policy.lease import (
    RUN_LEASE,
    UNLEASED_SECONDS,
    lease_of,
    lease_of_run,
    lease_to_begin_with,
    longest_silence,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None), ("undefined", None), ("error", None), ('"2400"', None), ("0", None),
        ("-1", None), ("0.5", None), ("1", 1), ("2400", 2400), ("20 * 60", 1200), ("90.7", 90),
        ("Rank + 20", 30), ("NoSuchThing", None),
    ],
)  # fmt: skip
def test_what_is_no_number_of_seconds_is_no_lease(text: str | None, seconds: int | None) -> None:
    job = ClassAd({"Rank": 10})
    if text is not None:
        job.insert_text("JobLeaseDuration", text)
    assert lease_of(job) == lease_of_run(job) == seconds
    assert longest_silence(lease_of(job)) == (seconds or UNLEASED_SECONDS)


@pytest.mark.parametrize(
    ("seconds", "lease"), [(None, None), (0, None), (1, 20), (19, 20), (20, 20), (2400, 2400)]
)
def test_no_run_begins_with_a_lease_that_a_hidden_program_outlives(
    seconds: int | None, lease: int | None
) -> None:
    job = ClassAd({} if seconds is None else {"JobLeaseDuration": seconds})
    assert lease_to_begin_with(job) == lease


def test_a_run_goes_by_the_lease_that_it_began_with() -> None:
    job = ClassAd({"JobLeaseDuration": 20, RUN_LEASE: 2400})
    assert (lease_of(job), lease_of_run(job)) == (20, 2400)
    job[RUN_LEASE] = 0
    assert lease_of_run(job) is None


def test_nobody_but_the_schedd_says_what_a_run_began_with() -> None:
    assert RUN_LEASE.lower() in NOTES
