# ruff: noqa: E501 - recorded lines are as long as they are
"""condor_q -factory, as the reference prints it for the same ads."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.tools.programs import Streams
from kettle.tools.queue.condor_q import main


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


COUNTS = "JobsPresent = 1234567\nJobsIdle = 3\nJobMaterializeNextProcId = 7\n"


def cluster(number: int, *lines: str) -> str:
    shared = f'Owner = "bob"\nQDate = 1795269689\nJobMaterializeLimit = 5\nClusterId = {number}\n'
    return shared + "\n".join(lines) + "\n\n"


def test_clusters_that_make_jobs_have_a_row_each(tmp_path: Path) -> None:
    file = tmp_path / "ads"
    file.write_text(
        cluster(1, 'JobMaterializeDigestFile = "/a/b0"', "JobMaterializePaused = 0", COUNTS)
        + cluster(2, 'JobMaterializeDigestFile = "/a/b1.digest"', "JobMaterializePaused = 2")
        + cluster(3, 'JobMaterializeDigestFile = "/a/b2"')
        + cluster(6, 'JobMaterializeDigestFile = "/a/b4"', "JobFactoryPaused = 0")
        + cluster(
            7,
            'JobMaterializeDigestFile = "/a/b5"',
            "JobFactoryPaused = 0",
            "JobMaterializePaused = 1",
        )
        + cluster(4, 'JobMaterializeDigestFile = "/a/b3"', "ProcId = 0")
        + cluster(5)
    )
    out = io.StringIO()
    argv = ["condor_q", "-jobads", str(file), "-allusers", "-factory"]
    assert main(argv, {}, Streams(io.StringIO(), out, io.StringIO())) == 0
    assert out.getvalue().split("\n")[3:] == [
        " ID      OWNER            SUBMITTED  LIMIT PRESNT   RUN    IDLE   HOLD NEXTID MODE DIGEST      ",
        "   1.    bob            11/21 14:01      5 123456             3             7 Norm /a/b0",
        "   2.    bob            11/21 14:01      5                                    Done /a/b1.digest",
        "   3.    bob            11/21 14:01      5                                         /a/b2",
        "   6.    bob            11/21 14:01      5                                    Norm /a/b4",
        "   7.    bob            11/21 14:01      5                                    Held /a/b5",
        "",
    ]
