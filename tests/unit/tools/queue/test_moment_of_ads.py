"""The moment over a table of jobs that stand in a file is the schedd's, as these jobs have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.tools.queue.sources import ask
from kettle.tools.queue.wish import Wish

FIRST, SECOND = 1_700_000_100, 1_700_009_999


# Source: observed of 25.14.1.
@pytest.mark.parametrize(
    ("moments", "now"),
    [
        ({1: FIRST, 2: SECOND, 3: None}, FIRST),
        ({3: None, 2: SECOND, 1: FIRST}, FIRST),
        ({1: SECOND, 2: FIRST}, SECOND),
        ({3: None, 2: FIRST}, FIRST),
        ({1: None}, 0),
    ],
)
def test_it_is_that_of_the_first_job(
    moments: dict[int, int | None], now: int, tmp_path: Path
) -> None:
    file = tmp_path / "ads"
    file.write_text(
        "\n\n".join(
            f"ClusterId = {cluster}\nProcId = 0"
            + ("" if moment is None else f"\nServerTime = {moment}")
            for cluster, moment in moments.items()
        )
    )
    wish = Wish()
    wish.job_file = str(file)
    [answer] = ask(wish, {}, ())
    assert answer.now == now
