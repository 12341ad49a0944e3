"""What a session says of the edges that it watched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import edge_coverage


class Terminal:
    """Takes what is told at the end of a session."""

    def __init__(self, **stats: list[object]) -> None:
        self.stats = stats
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def section(self, title: str, **_: object) -> None:
        self.lines.append(f"== {title}")


@pytest.mark.parametrize(
    ("expected", "fired", "stats", "lines"),
    [
        (set(), {"a"}, {}, []),
        ({"a", "b"}, {"a", "b", "of a row that is not listed"}, {}, ["2 of 2 edges"]),
        ({"a", "b"}, {"a"}, {}, ["1 of 2 edges", "== edges", "EDGE never fired: b"]),
        ({"a", "b"}, {"a"}, {"failed": [SimpleNamespace()]}, ["1 of 2 edges"]),
    ],
)
def test_the_summary_counts_the_edges_that_fired(
    monkeypatch: pytest.MonkeyPatch,
    expected: set[str],
    fired: set[str],
    stats: dict[str, Any],
    lines: list[str],
) -> None:
    monkeypatch.setattr(edge_coverage, "_expected", expected)
    monkeypatch.setattr(edge_coverage, "_fired", fired)
    terminal = Terminal(**stats)
    edge_coverage.pytest_terminal_summary(terminal)  # type: ignore[arg-type]
    assert len(terminal.lines) == len(lines)
    for told, begins in zip(terminal.lines, lines, strict=True):
        assert told.startswith(begins)
