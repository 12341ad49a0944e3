"""Only the stopwatch reads the clocks that tell how fast something is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# Clocks of the processor, and the one that is read for nothing but differences.
CLOCKS = {"process_time", "process_time_ns", "perf_counter", "perf_counter_ns", "thread_time"}
# How long something really takes is a matter of tests with real processes.
MONOTONIC = {"monotonic", "monotonic_ns"}
MAY_WAIT = {"pool", "interop"}
# What reads one, and why. The list may only shrink.
KNOWN = {
    "stopwatch.py": "it is the stopwatch",
    "pool/test_hostile.py": "what a question may cost a daemon is told by what this process takes",
    "pool/test_rows_places.py": "counts what daemons took for a question, with a generous bound",
    "property/test_fuzz.py": "tries inputs for a while",
    "property/test_prices.py": "seconds of a step, of the fastest of ten measurements",
    "scenario/test_long_work.py": "the longest of many slices, of the best of some runs",
    "tidy/pattern_growth.py": "what is slow is tried twice at each length",
    "unit/pool/test_folder.py": "says until when, and does not wait",
    "unit/runtime/process/test_measuring.py": "compares two ways to count the same work",
    "unit/runtime/test_pattern_limit.py": "works for a while",
    "unit/runtime/test_profiling.py": "works for a while",
}


def readings(text: str, clocks: set[str]) -> list[int]:
    """Return the lines that read one of these clocks of `time`, or take one from there."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            if ast.unparse(node.value) == "time" and node.attr in clocks:
                found.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [node.lineno for name in node.names if name.name in clocks]
    return found


def test_speed_is_judged_by_the_stopwatch_alone() -> None:
    found = set()
    for path in TESTS.rglob("*.py"):
        place = path.relative_to(TESTS)
        clocks = CLOCKS if place.parts[0] in MAY_WAIT else CLOCKS | MONOTONIC
        if readings(path.read_text(encoding="utf-8"), clocks):
            found.add(str(place))
    assert found == KNOWN.keys()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("began = time.process_time()\nassert time.process_time() - began < 1", [1, 2]),
        ("from time import perf_counter as now", [1]),
        ("clock.monotonic()\ntime.time()", []),
    ],
)
def test_the_gate_sees(text: str, lines: list[int]) -> None:
    assert sorted(readings(text, CLOCKS | MONOTONIC)) == lines
