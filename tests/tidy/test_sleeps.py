"""Only tests with real processes may wait; nothing else sleeps."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
MAY_WAIT = {"pool", "interop"}
SLEEP = re.compile(r"\btime\.sleep\(")


def test_no_test_outside_pool_and_interop_really_sleeps() -> None:
    sleepers = [
        f"{path.relative_to(TESTS)}:{number}"
        for path in TESTS.rglob("*.py")
        if path.relative_to(TESTS).parts[0] not in MAY_WAIT and path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SLEEP.search(line)
    ]
    assert sleepers == []
