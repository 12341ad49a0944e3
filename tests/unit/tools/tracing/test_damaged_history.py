"""`kettle trace` and a history that is damaged."""

from __future__ import annotations

from pathlib import Path

from kettle.config import Config
from kettle.tools.tracing.sources import find_in_history


def test_a_damaged_record_is_of_no_job(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(
        "ClusterId = 1\nProcId = 0\n*** Offset = 0 ClusterId = 1 ProcId = 0\n"
        "ClusterId = 2\nProcId = 0\nno record\n*** Offset = 0 ClusterId = 2 ProcId = 0\n"
    )
    config = Config.from_text(f"HISTORY = {path}\n", subsystem="TOOL")
    assert find_in_history(config, "1.0") is not None
    assert find_in_history(config, "2.0") is None
