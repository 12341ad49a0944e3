"""How long "recent" is, as rows of knobs say it."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.self_monitor import read_window


@pytest.mark.parametrize(
    ("text", "daemon", "window"),
    [
        ("", "DC", (1200, 240)),
        ("", "COLLECTOR", (1200, 240)),
        ("DCSTATISTICS_WINDOW_SECONDS = 60\nSTATISTICS_WINDOW_QUANTUM_DC = 5", "DC", (60, 5)),
        ("DCSTATISTICS_WINDOW_SECONDS = 60", "SCHEDD", (1200, 240)),
        ("DCSTATISTICS_WINDOW_SECONDS = -1\nSTATISTICS_WINDOW_QUANTUM_DC = 0", "DC", (1200, 240)),
        ("DCSTATISTICS_WINDOW_SECONDS =", "DC", (1200, 240)),
        ("STATISTICS_WINDOW_QUANTUM_SCHEDD = 7", "SCHEDD", (1200, 7)),
        ("STATISTICS_WINDOW_QUANTUM_COLLECTOR = -7", "COLLECTOR", (1200, 240)),
        ("STATISTICS_WINDOW_SECONDS = 90\nSTATISTICS_WINDOW_QUANTUM = 9", "DC", (90, 9)),
    ],
)
def test_a_daemons_own_knobs_count_before_those_of_all_statistics(
    text: str, daemon: str, window: tuple[int, int]
) -> None:
    assert read_window(Config.from_text(f"{text}\n"), daemon) == window
