"""Only tests with real processes may wait; nothing else sleeps but on virtual time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MAY_WAIT = {"pool", "interop"}
REAL_LOOP = re.compile(r"\basyncio\.(run|Runner|new_event_loop)\(|\buvloop\.")
# Giving others a turn is no sleep.
LOOP_SLEEP = re.compile(r"\basyncio\.sleep\((?!0\))")


def sleepers(text: str) -> list[int]:
    """Return the lines of a test that really sleep.

    `asyncio.sleep` is one where the file runs a loop of its own; elsewhere the loop is virtual.
    """
    lines = text.splitlines()
    real = any(REAL_LOOP.search(line) for line in lines)
    return [
        number
        for number, line in enumerate(lines, 1)
        if re.search(r"\btime\.sleep\(", line) or (real and LOOP_SLEEP.search(line))
    ]


def test_no_test_outside_pool_and_interop_really_sleeps() -> None:
    found = {
        str(path.relative_to(TESTS)): lines
        for path in TESTS.rglob("*.py")
        if path.relative_to(TESTS).parts[0] not in MAY_WAIT and path != Path(__file__)
        if (lines := sleepers(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("time.sleep(1)", [1]),
        ("await asyncio.sleep(1)", []),
        ("await asyncio.sleep(1)\nasyncio.run(main())", [1]),
        ("await asyncio.sleep(0)\nasyncio.Runner().run(main())", []),
    ],
)
def test_the_gate_sees(text: str, lines: list[int]) -> None:
    assert sleepers(text) == lines
