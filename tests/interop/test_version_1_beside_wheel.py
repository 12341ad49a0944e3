"""What a wheel of HTCondor 24 prints and reports is what is recorded of version 1.

$KETTLE_WHEEL_1_PYTHON names an interpreter with it (`pip install 'htcondor==24.*'`), the last
series that has the modules `htcondor` and `classad`. With KETTLE_RECORD_REPORTS=1 what it says is
written anew.

Known by: FS.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import binding_reports as reports
from interop.wheel_pool import CONFIGURATION, run_script
from kettle.testing.pool_fixture import personal_pool

pytestmark = pytest.mark.interop

SCRIPTS = sorted((Path(__file__).parents[1] / "data/compat/version1").glob("*.py"))


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get("KETTLE_WHEEL_1_PYTHON", "")
    if not os.access(found, os.X_OK):
        pytest.skip("KETTLE_WHEEL_1_PYTHON names no interpreter with a wheel htcondor of 24")
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_version_1_prints_what_is_recorded(script: Path, python: str) -> None:
    said = subprocess.run(
        [python, script],
        env={**os.environ, "CONDOR_CONFIG": os.devnull, "TZ": "UTC"},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    record = script.with_suffix(".txt")
    if os.environ.get("KETTLE_RECORD_REPORTS"):
        record.write_text(said, encoding="utf-8")
    assert said == record.read_text(encoding="utf-8")


def test_version_1_reports_of_a_pool_of_ours_what_is_recorded(python: str, tmp_path: Path) -> None:
    with personal_pool(tmp_path, CONFIGURATION) as pool:
        report = run_script([python], pool, "version_1")
    reports.record("version_1", report)
    assert reports.normalized(report) == reports.recorded("version_1")
