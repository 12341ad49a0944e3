"""What the records beside the scripts of tests/data/compat say is what the wheel prints.

That Kettle's modules print the same is shown without the wheel, by tests/unit/compat. Random ads
are read and evaluated by both here; partial evaluation is left out, where the wheel forgets
operands now and then.

Known by: no connection: ads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interop.wheel_pool import wheel_python

pytestmark = pytest.mark.interop

RECORDS = Path(__file__).parents[1] / "data/compat"
SCRIPTS = sorted([*RECORDS.glob("*.py"), *(RECORDS / "htcondor2").glob("*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_wheel_prints_what_is_recorded(script: Path) -> None:
    said = subprocess.run(
        [wheel_python(), script],
        env={**os.environ, "CONDOR_CONFIG": os.devnull, "TZ": "UTC"},
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert said.stdout.decode() == script.with_suffix(".txt").read_text(encoding="utf-8")


UNDER_KETTLE = (
    "import runpy, sys; from kettle.compat import classad2; sys.modules['classad2'] = classad2;"
    "runpy.run_path(sys.argv[1])"
)


def test_random_ads_and_expressions_are_the_same_under_both() -> None:
    script = Path(__file__).parent / "wheel/random_ads.py"
    said = [
        subprocess.run(
            [*command, script],
            env={**os.environ, "CONDOR_CONFIG": os.devnull, "TZ": "UTC"},
            check=True,
            capture_output=True,
            timeout=120,
        )
        .stdout.decode()
        .splitlines()
        for command in ([wheel_python()], [sys.executable, "-c", UNDER_KETTLE])
    ]
    assert len(said[0]) > 10_000
    assert said[1] == said[0]
