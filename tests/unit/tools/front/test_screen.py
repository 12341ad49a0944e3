"""The one screen of a pool, as it is drawn without colours."""

from __future__ import annotations

import io

from rich.console import Console

from kettle.tools.front.screen import draw
from kettle.tools.front.snapshot import Snapshot, natural_key


def test_a_daemon_that_does_not_answer_is_told_from_others_without_colours() -> None:
    found = {name: ["here"] for name in ("master", "collector", "schedd")}
    snapshot = Snapshot(0.0, daemons=found, silent={"schedd": ["here"]})
    console = Console(file=io.StringIO(), no_color=True, width=100)
    console.print(draw(snapshot))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for words in ("● master", "● collector", "○ negotiator", "✗ schedd", "○ startd"):
        assert words in shown


def test_a_name_with_digits_without_end_is_sorted_like_others() -> None:
    endless = f"slot{'9' * 5000}"
    assert sorted([endless, "slot10", "slot2"], key=natural_key) == ["slot2", "slot10", endless]
