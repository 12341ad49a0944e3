"""condor_userlog and condor_check_userlogs beside what HTCondor 25.14.1's print of the same."""

from __future__ import annotations

import io
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "cli/userlogs/recordings.json").read_text())
# What the reference says of jobs is zero: it adds to copies of its sums.
_OF_JOBS = re.compile(r"^(\d+\.\d+|Total) {2,}\d+\+\d\d:\d\d .*%$", re.MULTILINE)
_USAGE = re.compile(r"\A(?i:usage:).*", re.DOTALL)
_WORDS = re.compile(r"^(warning|internal error): .*(\n  .*)*", re.MULTILINE)


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for folder in ("cli/userlogs", "cli/condor_wait", "event_logs"):
        for path in (DATA / folder).iterdir():
            if path.is_file():
                shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = load_tool(argv[0])(list(argv), {}, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


def without_jobs(text: str) -> str:
    return _USAGE.sub("@USAGE@", _OF_JOBS.sub(r"\1", text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["argv"])[:60])
def test_output_is_the_recorded_one(case: dict[str, Any]) -> None:
    code, out, err = run(*case["argv"])
    assert without_jobs(out) == without_jobs(case["stdout"])
    # Warnings are in our own words, as usages are.
    said, expected = (
        _WORDS.sub("@WARNING@", _USAGE.sub("@USAGE@", text)) for text in (err, case["stderr"])
    )
    assert (code, said) == (case["exit"], expected)


TWO_JOBS = ["ULOG_SUBMIT", 1, "ULOG_SUBMIT", 2, "ULOG_JOB_TERMINATED", 1, "ULOG_JOB_TERMINATED", 0]


@pytest.mark.parametrize(
    ("log", "events", "code"),
    [
        # As recorded of the real tool.
        ("executable_error.log", ["ULOG_SUBMIT", 1], 1),
        ("file_transfer.log", TWO_JOBS, 0),
        ("file_transfer.xml", ["ULOG_SUBMIT", 1, "ULOG_JOB_TERMINATED", 0], 0),
    ],
)
def test_the_exit_code_is_the_number_of_queued_jobs(
    log: str, events: list[str | int], code: int
) -> None:
    pairs = zip(events[::2], events[1::2], strict=True)
    said = "".join(f"Log event: {name}\nQueued Jobs: {number}\n" for name, number in pairs)
    found = run("condor_userlog_job_counter", log)
    assert found == (code, f"{said}Log outcome: ULOG_NO_EVENT \n", "")


def test_a_log_that_is_not_all_events_cannot_be_counted() -> None:
    Path("empty.log").write_text("")
    assert run("condor_userlog_job_counter", "empty.log")[0] == 255
    code, _, err = run("condor_userlog_job_counter", "wrong_inside.log")
    assert code == 255
    assert "no event" in err
    assert run("condor_userlog_job_counter", "nosuch") == (
        255,
        "Log outcome: ULOG_RD_ERROR \n",
        "nosuch cannot be read: No such file or directory\n",
    )
    assert run("condor_userlog_job_counter") == (
        255,
        "",
        "usage: condor_userlog_job_counter file\n",
    )


def test_a_jobs_sums_are_its_runs() -> None:
    table = run("condor_userlog", "-total", "runs.log")[1].splitlines()
    assert table[6:] == [
        "3.0               0+15:57   0+00:00   0+00:00   0+15:57   0+15:57    0.0%   0.0%",
        "12.0              3+06:00   3+06:00   0+03:20   1+15:00   0+00:00  100.0%   4.3%",
        "12.1              0+08:00   0+06:00   0+03:20   0+04:00   0+02:00   74.9%  55.7%",
        "",
        "Total             4+05:58   3+12:00   0+06:41   0+20:23   0+08:59   82.4%   8.0%",
    ]


def test_a_run_goes_on_in_the_next_log() -> None:
    together = run("condor_userlog", "rotated.log.old", "rotated.log")
    assert together == run("condor_userlog", "runs.log")
    assert "12.0" not in run("condor_userlog", "-raw", "rotated.log")[1]


def test_a_log_that_is_not_all_events_is_told_of_in_a_sentence() -> None:
    said = "wrong_inside.log has 1 piece that is no event, and is read without.\n"
    assert run("condor_userlog", "wrong_inside.log")[::2] == (0, said)
    code, out, err = run("condor_check_userlogs", "wrong_inside.log")
    assert (code, err) == (1, said)
    assert out.endswith("Log outcome: ULOG_NO_EVENT \nLog(s) have error(s)\n")


def test_a_log_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    said = "Error monitoring log file nosuch: No such file or directory\n"
    assert run("condor_check_userlogs", "nosuch") == (
        *(1, "Log outcome: ULOG_NO_EVENT \nLog(s) have error(s)\n", said),
    )
    assert not (tmp_path / "nosuch").exists()


def test_j_without_a_job_is_a_wrong_command_line() -> None:
    assert run("condor_userlog", "-j")[0] == 1


def test_a_damaged_event_is_a_piece_that_is_no_event() -> None:
    log = Path("damaged.log")
    log.write_text("005 (1.000.000) 2026-03-01 10:11:12 Job terminated.\n\t(1) Nor\n...\n")
    said = "damaged.log has 1 piece that is no event, and is read without.\n"
    assert run("condor_userlog", "damaged.log")[::2] == (0, said)
    assert run("condor_check_userlogs", "damaged.log")[::2] == (1, said)


def test_events_of_an_execution_point_have_their_names(tmp_path: Path) -> None:
    """As HTCondor 25.14.1's condor_check_userlogs shows the same log."""
    numbers = (99, 100, 105, 111, 112, 113)
    event = "{:03} (012.003.000) 2026-03-01 10:11:12 x\n...\n"
    (tmp_path / "points.log").write_text("".join(map(event.format, numbers)))
    _, out, _ = run("condor_check_userlogs", "points.log")
    names = re.findall(r"^Log event: ULOG_(\w+) ", out, re.MULTILINE)
    assert names == [
        *("FUTURE_EVENT", "EP_STARTUP", "EP_RELEASE_CLAIM"),
        *("EP_RESOURCE_MEND", "EP_FUTURE_EVENT", "FUTURE_EVENT"),
    ]
