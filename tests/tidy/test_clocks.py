"""Only the stopwatch reads the clocks that tell how fast something is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clock_readings import DATES, PASSING, SPEED, find_readings

TESTS = Path(__file__).parents[1]
# How long something really takes, and when it is, are matters of tests with real processes.
MAY_WAIT = {"pool", "interop", "docs"}
# The time of whose loop is a virtual one: scenarios, and what has its loop from there.
VIRTUAL = re.compile(r"^\s*from kettle\.testing\.", re.MULTILINE)
# What reads one, and why. The list may only shrink.
KNOWN = {
    "stopwatch.py": "it is the stopwatch",
    "cli/test_condor_preen.py": "makes files that are old now",
    "pool/test_hostile.py": "what a question may cost a daemon is told by what this process takes",
    "pool/test_rows_places.py": "counts what daemons took for a question, with a generous bound",
    "property/test_fuzz.py": "tries inputs for a while",
    "property/test_prices.py": "seconds of a step, of the fastest of ten measurements",
    "scenario/test_long_work.py": "the longest of many slices, of the best of some runs",
    "tidy/pattern_growth.py": "what is slow is tried twice at each length",
    "unit/client/test_client.py": "its server dates a session, which has to be good now",
    "unit/pool/test_folder.py": "says until when, and does not wait",
    "unit/runtime/process/test_abandoned.py": "makes a file that is old now",
    "unit/runtime/process/test_measuring.py": "compares two ways to count the same work",
    "unit/runtime/sockets/test_network.py": "its virtual clock begins now, as its peer's does",
    "unit/runtime/test_pattern_limit.py": "works for a while",
    "unit/runtime/test_profiling.py": "works for a while",
}


def test_speed_is_judged_by_the_stopwatch_alone() -> None:
    found = set()
    for path in TESTS.rglob("*.py"):
        place, text = path.relative_to(TESTS), path.read_text(encoding="utf-8")
        clocks = SPEED if place.parts[0] in MAY_WAIT else SPEED | PASSING | DATES
        if place.parts[0] == "scenario" or has_virtual_time(text):
            clocks = clocks - {"loop.time"}
        if find_readings(text, clocks):
            found.add(str(place))
    assert found == KNOWN.keys()


def has_virtual_time(text: str) -> bool:
    """Whether a test has its event loop from the rooms where time is virtual."""
    return VIRTUAL.search(text) is not None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import time\nbegan = time.process_time()\nassert time.process_time() < began", [2, 3]),
        ("import time as t\nt.perf_counter()", [2]),
        ("from time import perf_counter as now\nnow()", [1, 2]),
        ("from time import monotonic\nmonotonic() - 1", [1, 2]),
        ("from time import *", [1]),
        ("from time import sleep, strptime\nsleep(1)", []),
        ("import time\nclock = time\nclock.time_ns()", [3]),
        ("import time\nnow = time.monotonic\nnow()", [2, 3]),
        ("import time\nnow: object = getattr(time, 'monotonic')\nnow()", [2, 3]),
        ("import importlib\nimportlib.import_module('time').time()", [2]),
        ("from kettle.tools import ad_filter\nad_filter.time.process_time()", [2]),
        ("from datetime import datetime, timezone\ndatetime.now(timezone.utc)", [2]),
        ("from datetime import datetime as D\nD.utcnow()", [2]),
        ("import datetime as dt\ndt.datetime.now(), dt.date.today()\ndt.datetime(1, 1, 1)", [2]),
        ("import datetime\nmoment = datetime.datetime\nmoment.today()", [3]),
        ("import time\ntime.localtime()\ntime.localtime(5)\ntime.strftime('%Y')", [2, 4]),
        ("from time import gmtime\ngmtime(5)\ngmtime()", [3]),
        ("import os, resource\nos.times()\nresource.getrusage(0)", [2, 3]),
        ("import asyncio\nasyncio.get_running_loop().time()", [2]),
        ("loop = make()\nloop.time()\nself._loop.time()", [2, 3]),
        ("import asyncio\nhere = asyncio.get_event_loop()\nhere.time()", [3]),
        ("clock.monotonic()\nself.clock.now()\nself.time()\ntimer.time()", []),
        ("monkeypatch.setattr(module.time, 'process_time', fake)", []),
        ("import time\nmonkeypatch.setattr(time, 'localtime', time.gmtime)", []),
        ("import asyncio\nasyncio.get_running_loop().time = lambda: 5", []),
    ],
)
def test_the_gate_sees(text: str, lines: list[int]) -> None:
    assert find_readings(text, SPEED | PASSING | DATES) == lines


@pytest.mark.parametrize(
    ("text", "is_virtual"),
    [
        ("from kettle.testing.virtual_loop import run_virtually", True),
        ("import asyncio\nasyncio.run(main())", False),
    ],
)
def test_time_is_virtual_where_the_loop_is(text: str, is_virtual: bool) -> None:
    assert has_virtual_time(text) is is_virtual
