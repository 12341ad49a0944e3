"""Everything is killed, again and again, while jobs come and go: nothing is lost or doubled.

The long form is `python -m kettle.testing.kills`; what it found has its own, exact tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kettle.testing.kills.campaign import run

pytestmark = pytest.mark.slow
shows = pytest.mark.shows

JOBS, SECONDS = 60, 12.0


@pytest.mark.parametrize("seed", [pytest.param(3, id="seed 3")])
def test_each_job_ends_once_whatever_is_killed(seed: int, tmp_path: Path) -> None:
    verdict = run(JOBS, SECONDS, seed, keep=str(tmp_path / "story"), tell=sys.stdout.write)
    assert verdict.violations == []
    assert verdict.jobs >= JOBS
    assert sum(verdict.kills.values()) >= 3
