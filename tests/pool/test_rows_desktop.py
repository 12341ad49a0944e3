"""A machine that belongs to whoever sits at it: jobs stand aside when somebody types."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

shows = pytest.mark.shows

# The policy as it stands, with minutes that pass in seconds, and whatever else the machine does.
CONFIG = """\
use POLICY:Desktop
NUM_CPUS = 2
SLOT_TYPE_1 = cpus=1
NUM_SLOTS_TYPE_1 = 2
MINUTE = 4
StartIdleTime = 12
BackgroundLoad = 1000
HighLoad = 2000
POLLING_INTERVAL = 1
UPDATE_INTERVAL = 1
"""


@shows("R034")
def test_whoever_comes_to_the_keyboard_suspends_the_job_and_has_the_idle_slot(
    tmp_path: Path, work: Path
) -> None:
    def states() -> set[str]:
        said = run_tool(pool, "condor_status", "-af", "State", "Activity")[1]
        return set(said.splitlines())

    with personal_pool(tmp_path, CONFIG) as pool:
        job = submit(pool, work, "executable = /bin/sleep\narguments = 300\nqueue\n")
        job.wait_for(1, 60)
        wait_until(lambda: "Claimed Busy" in states(), 30, lambda: str(states()))
        ours, theirs = os.openpty()
        try:
            os.write(ours, b"x\n")
            os.read(theirs, 10)
            job.wait_for_status(7)
            wait_until(
                lambda: states() == {"Claimed Suspended", "Owner Idle"}, 30, lambda: str(states())
            )
        finally:
            os.close(ours)
            os.close(theirs)
