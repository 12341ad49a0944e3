"""Reports of the scripts in tests/interop/wheel, made comparable from pool to pool.

The scripts are a user's: they say `import htcondor2`. Under Kettle's module they run by
`under_kettle.py`; what they report under the wheel lies in tests/data/wheel/reports.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from interop.wheel_pool import Report, run_script
from kettle.pool.personal import PersonalPool

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests/data/wheel/reports"
# In this order, in one pool: what one leaves behind is in the next one's way.
SCRIPTS = (
    *("locate_and_query", "submit", "act", "answers", "event_log"),
    *("history", "spool", "exports", "machine", "accounting", "users", "dags"),
)
# Ports, numbers of jobs (no versions, which have two dots), epoch seconds. What was made
# comparable once stays as it is: records are, when they are read.
_VARIABLE = (
    (re.compile(r"<127\.0\.0\.1:[^>]*>"), "<ADDRESS>"),
    (re.compile(r"\b127\.0\.0\.1\b"), "HOST"),
    (re.compile(r"(?<![\w.])\d+\.(\d+)\b(?!\.\d)"), r"C.\1"),
    (re.compile(r"\b1[6-9]\d{8}\b"), "TIME"),
)
# What other things are under way decides these.
_LEFT_OUT = {"TotalJobAds", "left"}
# What a run has that went on beyond the second in which it began: whether one did is chance.
_OF_A_SECOND = {"CpusUsage"}


def normalized(value: Any) -> Any:
    """Return a report without what differs from pool to pool."""
    if isinstance(value, dict):
        return {
            name: normalized(one) for name, one in sorted(value.items()) if name not in _LEFT_OUT
        }
    if isinstance(value, list):
        kept = (one for one in value if not (isinstance(one, str) and one in _OF_A_SECOND))
        return [normalized(one) for one in kept]
    if isinstance(value, str):
        for pattern, instead in _VARIABLE:
            value = pattern.sub(instead, value)
    return value


def recorded(script: str) -> Report:
    """Return what a script reported under the wheel."""
    text = (RECORDED / f"{script}.json").read_text(encoding="utf-8")
    report: Report = normalized(json.loads(text))
    return report


def record(script: str, report: Report) -> None:
    """Keep what a script reported under the wheel, if $KETTLE_RECORD_REPORTS is set."""
    if os.environ.get("KETTLE_RECORD_REPORTS"):
        text = json.dumps(normalized(report), indent=1, sort_keys=True)
        (RECORDED / f"{script}.json").write_text(f"{text}\n", encoding="utf-8")


def run_under_kettle(pool: PersonalPool, script: str) -> Report:
    """Run a script under our own modules, which it knows by the wheel's names."""
    shim = Path(__file__).parent / "under_kettle.py"
    paths = os.pathsep.join(path for path in sys.path if path)
    return run_script([sys.executable, str(shim)], pool, script, more={"PYTHONPATH": paths})
