"""A pool of ours, and the wheel's interpreter to run the scripts in `wheel/` against it.

The wheel is an unmodified `pip install htcondor` in an environment of its own, whose interpreter
$KETTLE_WHEEL_PYTHON names. Without it the tests skip, aloud.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool

SCRIPTS = Path(__file__).parent / "wheel"
# What a machine of any size can pretend to have, so that no job waits for another.
CONFIGURATION = """\
NUM_CPUS = 8
MEMORY = 8192
UPDATE_INTERVAL = 15
SEC_PASSWORD_FILE = $(SPOOL)/pool_password
"""
SCRIPT_SECONDS = 240

Report = dict[str, Any]


def wheel_python() -> str:
    """Return the interpreter that has the wheel, or skip the test."""
    python = os.environ.get("KETTLE_WHEEL_PYTHON", "")
    if not python:
        pytest.skip("KETTLE_WHEEL_PYTHON names no interpreter with the PyPI wheel htcondor")
    if not os.access(python, os.X_OK):
        pytest.skip(f"KETTLE_WHEEL_PYTHON names {python}, which cannot be run")
    return python


@contextlib.contextmanager
def wheel_pool(folder: Path) -> Iterator[WheelPool]:
    """Start a pool that scripts of the wheel can be run against."""
    python = wheel_python()
    with personal_pool(folder, CONFIGURATION) as pool:
        yield WheelPool(pool, python)


class WheelPool:
    """A pool and how to run a script against it."""

    def __init__(self, pool: PersonalPool, python: str) -> None:
        self.pool = pool
        self.python = python

    def run(self, script: str) -> Report:
        """Run one of the scripts in a folder of its own; return what it reported."""
        return run_script([self.python], self.pool, script)


def run_script(
    command: list[str], pool: PersonalPool, script: str, *, more: Mapping[str, str] | None = None
) -> Report:
    """Run one of the scripts by a command, in a folder of its own; return what it reported.

    The folder is called FOLDER in the report. `more` is added to the environment.
    """
    # Beside nobody's private folder: jobs of a pool of root's run as another account.
    work = Path(tempfile.mkdtemp(prefix="kettle-wheel-"))
    work.chmod(0o755)
    try:
        done = subprocess.run(
            [*command, str(SCRIPTS / f"{script}.py"), str(work)],
            cwd=work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(work),
                "CONDOR_CONFIG": pool.config_file,
                "PYTHONDONTWRITEBYTECODE": "1",
                **(more or {}),
            },
            capture_output=True,
            text=True,
            timeout=SCRIPT_SECONDS,
            check=False,
        )
    finally:
        shutil.rmtree(work, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    report: Report = json.loads(done.stdout.replace(str(work), "FOLDER"))
    return report


def raised(report: Report) -> set[str]:
    """Return the names of the steps that raised."""
    return {name for name, value in report.items() if isinstance(value, dict) and "raised" in value}


def totals(answer: object) -> dict[str, int]:
    """Return the counts of an action's answer that are not 0, without the queue's own."""
    assert isinstance(answer, dict), answer
    return {
        name.removeprefix("Total"): int(count)
        for name, count in answer.items()
        if int(count) and name not in {"TotalJobAds", "TotalChangedAds"}
    }
