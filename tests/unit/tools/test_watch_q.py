"""condor_watch_q before it follows anything."""

from __future__ import annotations

import io
from pathlib import Path

from kettle.tools.programs import Streams
from kettle.tools.queue import condor_watch_q

SUBMITTED = "000 (7.000.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9>\n...\n"


def watched(*words: str) -> tuple[int, str, str]:
    out, complaint = io.StringIO(), io.StringIO()
    where = Streams(io.StringIO(), out, complaint)
    code = condor_watch_q.main(["condor_watch_q", *words], {}, where)
    return code, out.getvalue(), complaint.getvalue()


def test_a_log_that_is_not_there_is_named_and_not_waited_for(tmp_path: Path) -> None:
    code, out, complaint = watched("-files", f"{tmp_path}/nosuch")
    assert complaint == (
        f"WARNING: Could not open event log at {tmp_path}/nosuch for reading, so it will be "
        "ignored. Reason: File path does not exist\nWARNING: No jobs found, exiting...\n"
    )
    assert (code, out) == (0, "")


def test_a_wrong_condition_ends_as_a_wrong_option_does() -> None:
    code, out, complaint = watched("-exit", "x")
    assert (code, out) == (2, "")
    assert complaint.endswith("condor_watch_q: error: -exit x is not GROUPER,STATUS[,CODE]\n")


def test_the_other_logs_are_followed_when_one_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(SUBMITTED)
    logs = [f"{tmp_path}/nosuch", f"{tmp_path}/log"]
    code, out, complaint = watched("-files", *logs, "-exit", "any,idle,3")
    assert code == 3
    assert "1 idle" in out
    assert complaint.count("WARNING") == 1


ENDED = SUBMITTED + (
    "000 (008.000.000) 2026-01-02 03:04:05 Job submitted from host: <127.0.0.1:9>\n...\n"
    "009 (008.000.000) 2026-01-02 03:04:06 Job was aborted.\n...\n"
)


def test_parts_are_shown_as_the_options_say(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(ENDED)
    words = ("-files", f"{tmp_path}/log", "-groupby", "cluster", "-exit", "any,idle", "-color")
    _, out, _ = watched(*words)
    assert [line.split(" ")[0] for line in out.splitlines()] == [
        "CLUSTER",
        "ID:",
        "ID:",
        "",
        "Total:",
    ]
    _, out, _ = watched(*words, "-no-display-exited", "-no-summary", "-no-color")
    assert [line.split("  ")[0] for line in out.splitlines()] == ["CLUSTER", "ID: 7"]
    _, out, _ = watched(*words, "-no-table", "-progress", "-summary-type", "percentages")
    bar, empty, total = out.splitlines()
    assert (bar, empty) == (f"[{'=' * 30}{'-' * 30}]", "")
    assert "50.0% removed, 50.0% idle" in total
