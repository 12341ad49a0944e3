"""condor_wait against logs, beside what the real one printed for the same logs."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from kettle.tools.jobs.condor_wait import main
from kettle.tools.programs import Streams

ENDED = """\
000 (012.000.000) 2026-11-21 12:00:00 Job submitted from host: <127.0.0.1:1>
...
001 (012.000.000) 2026-11-21 12:00:01 Job executing on host: <127.0.0.1:1>
...
000 (012.001.000) 2026-11-21 12:00:00 Job submitted from host: <127.0.0.1:1>
...
005 (012.000.000) 2026-11-21 12:00:02 Job terminated.
\t(1) Normal termination (return value 0)
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage
\t0  -  Run Bytes Sent By Job
\t0  -  Run Bytes Received By Job
\t0  -  Total Bytes Sent By Job
\t0  -  Total Bytes Received By Job
...
009 (012.001.000) 2026-11-21 12:00:03 Job was aborted.
\tvia condor_rm (by user tester)
...
"""
STATUS = """\
12.0.0 submitted
12.0.0 executing on host <127.0.0.1:1>
12.1.0 submitted
12.0.0 completed
"""


def wait(tmp_path: Path, *words: str, log: str = ENDED) -> tuple[int, str, str]:
    path = tmp_path / "log"
    path.write_text(log)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = main(["condor_wait", *[str(path) if w == "LOG" else w for w in words]], {}, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()  # type: ignore[attr-defined]


def test_status_lines_are_the_reference_s(tmp_path: Path) -> None:
    expected = STATUS + "12.1.0 aborted\nAll jobs done.\n"
    assert wait(tmp_path, "-status", "LOG") == (0, expected, "")


def test_a_number_of_jobs_is_enough(tmp_path: Path) -> None:
    expected = STATUS + "Specifed number of jobs (1) done.\n"
    assert wait(tmp_path, "-status", "-num", "1", "LOG") == (0, expected, "")


def test_echo_copies_the_events_of_one_job_in_the_old_date_style(tmp_path: Path) -> None:
    code, out, _ = wait(tmp_path, "-echo", "LOG", "12.1")
    assert code == 0
    assert out == (
        "000 (012.001.000) 11/21 12:00:00 Job submitted from host: <127.0.0.1:1>\n...\n"
        "009 (012.001.000) 11/21 12:00:03 Job was aborted.\n"
        "\tvia condor_rm (by user tester)\n...\nAll jobs done.\n"
    )


@pytest.mark.parametrize("words", [("LOG", "13"), ("LOG", "12.0"), ("LOG",)])
def test_jobs_that_are_not_there_or_have_ended_need_no_waiting(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert wait(tmp_path, *words)[:2] == (0, "All jobs done.\n")


def test_time_runs_out_while_a_job_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    running = ENDED[: ENDED.index("005 (")]
    assert wait(tmp_path, "-wait", "3", "LOG", log=running) == (1, "Time expired.\n", "")
    assert now[0] == pytest.approx(3)


def test_errors_say_what_is_wrong(tmp_path: Path) -> None:
    assert wait(tmp_path, "LOG", "x") == (1, "", "Couldn't understand job number: x\n")
    assert wait(tmp_path, "/nowhere/log")[2].startswith("Couldn't open /nowhere/log: No such file")
    assert "-num cannot be used" in wait(tmp_path, "-allevents", "-num", "1", "LOG")[2]
    assert wait(tmp_path)[0] == 1


# Recorded from condor_wait 25.14.1.
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("xx garbage\nmore\n", 0, "All jobs done.\n"),
        ("", 0, "All jobs done.\n"),
        ("999 (001.000.000) 11/21 10:00:00 Strange\n...\n", 0, "All jobs done.\n"),
    ],
)
def test_a_log_without_jobs_is_done_whatever_else_it_holds(
    text: str, code: int, said: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    out = io.StringIO()
    streams = Streams(io.StringIO(), out, io.StringIO())
    assert main(["condor_wait", "-wait", "1", str(log)], {}, streams) == code
    assert out.getvalue() == said


LONG = """\
000 (012.000.000) 11/21 12:00:00 Job submitted from host: <127.0.0.1:1>
    DAG Node: nodeA
...
004 (012.000.000) 11/21 12:00:02 Job was evicted.
\t(0) CPU times
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
\t0  -  Run Bytes Sent By Job
\t0  -  Run Bytes Received By Job
\tPartitionable Resources :    Usage  Request Allocated\x20
\t   Cpus                 :                 1         1\x20
\t   Memory (MB)          :        2      128       128\x20
...
"""


def test_echo_drops_no_line_of_the_log(tmp_path: Path) -> None:
    ended = ENDED.replace("2026-11-21", "11/21").replace(
        "\t0  -  Total Bytes Received By Job\n",
        "\t0  -  Total Bytes Received By Job\n\n"
        "\tJob terminated of its own accord at 2026-11-21T12:00:02Z with exit-code 0.\n",
    )
    for log in (LONG, ended):
        _, out, _ = wait(tmp_path, "-echo", "-wait", "0", "LOG", log=log)
        assert log.replace("DAG Node: nodeA", '[ DAGNodeName = "nodeA" ]') in out


# Recorded with `condor_wait -echo:JSON`; the reference writes attributes in no order.
ABORTED = {
    "MyType": "JobAbortedEvent",
    "EventTypeNumber": 9,
    "EventTime": "2026-11-21T12:00:03",
    "Cluster": 12,
    "Proc": 1,
    "Subproc": 0,
    "Reason": "via condor_rm (by user tester)",
}


def test_echo_writes_ads_in_the_form_that_is_asked_for(tmp_path: Path) -> None:
    code, out, _ = wait(tmp_path, "-echo:JSON", "LOG", "12.1")
    *events, verdict = re.split(r"(?<=^}\n)", out, flags=re.MULTILINE)
    assert (code, verdict) == (0, "All jobs done.\n")
    assert json.loads(events[-1]) == ABORTED
    _, out, _ = wait(tmp_path, "-echo:XML,UTC,SUB_SECOND", "LOG", "12.1")
    assert out.count("<c>\n") == 2
    assert re.search(r'<a n="EventTime"><s>2026-11-2\dT\d\d:00:03Z</s></a>', out)


def test_echo_of_ads_keeps_fractions_of_seconds(tmp_path: Path) -> None:
    # Recorded from condor_wait -echo:JSON and XML of 25.14.1; other words change nothing in it.
    moments = {
        "04:05": "04:05",
        "04:06.0": "04:06",
        "04:07.0004": "04:07.000",
        "04:08.123": "04:08.123",
        "04:09.9999": "04:09.999",
    }
    header = "001 (1.0.0) 2024-01-02 03:{} Job executing on host: <1.1.1.1:1>\n...\n"
    log = "".join(map(header.format, moments))
    for form in ("JSON", "XML", "JSON,SUB_SECOND"):
        _, out, _ = wait(tmp_path, f"-echo:{form}", "-wait", "0", "LOG", log=log)
        assert re.findall(r"2024-01-02T03:([\d:.]+)", out) == list(moments.values())


def test_echo_of_a_form_that_nobody_knows_is_text(tmp_path: Path) -> None:
    _, out, _ = wait(tmp_path, "-echo:JSON:UTC", "LOG", "12.1")
    assert "009 (012.001.000) 11/21 12:00:03 Job was aborted.\n" in out


RUNNING = "".join(ENDED.partition("...\n")[:2])


@pytest.mark.parametrize(
    ("words", "log", "said"),
    [
        (["-wait", "abc", "LOG"], "", (0, "All jobs done.\n", "")),
        (["-wait", "0", "LOG"], RUNNING, (0, "", "")),
        (["-wait", "", "LOG", "12"], RUNNING, (0, "", "")),
        (["-wait", "-5", "LOG"], "", (1, "Time expired.\n", "")),
        (["-wait", "1x", "LOG"], "", (0, "All jobs done.\n", "")),
        (["-num", "1x", "-wait", "0", "LOG"], RUNNING, (0, "", "")),
        (["-num", "1", "-wait", "1", "LOG"], "", (1, "", "This log does not mention any jobs!\n")),
    ],
)
def test_a_time_is_the_number_it_begins_with(
    words: list[str],
    log: str,
    said: tuple[int, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Recorded from condor_wait 25.14.1."""
    clock = iter(range(1000))
    monkeypatch.setattr("kettle.tools.jobs.condor_wait.time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("kettle.tools.jobs.condor_wait.time.sleep", lambda _: None)
    assert wait(tmp_path, *words, log=log) == said


def test_a_log_that_cannot_be_opened_is_told_of_in_full_on_demand(tmp_path: Path) -> None:
    """Recorded from HTCondor 25.14.1."""
    out, err = io.StringIO(), io.StringIO()
    path = tmp_path / "none.log"
    assert main(["condor_wait", "-debug", str(path)], {}, Streams(io.StringIO(), out, err)) == 1
    lines = err.getvalue().splitlines()
    assert [re.sub(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "@ ", line) for line in lines] == [
        f"@ ReadUserLog: Failed to open {path}",
        f"@ FileModifiedTrigger( {path} ): open() failed: No such file or directory (2).",
        f"Couldn't open {path}: No such file or directory",
    ]


def test_a_damaged_event_ends_the_waiting_with_a_sentence(tmp_path: Path) -> None:
    torn = ENDED.replace("(1) Normal termination (return value 0)", "(1) Norm")
    code, said, told = wait(tmp_path, "-status", "LOG", log=torn)
    assert (code, said) == (1, STATUS.replace("12.0.0 completed\n", ""))
    where = f"{tmp_path}/log: event 005 of job 12.0.0 at 2026-11-21 12:00:02 is damaged: "
    assert told.startswith(where)
    assert r"\t(1) Norm" in told
    assert told.count("\n") == 1


def test_a_log_with_the_line_ends_of_windows_is_waited_for(tmp_path: Path) -> None:
    """As the real one: all are done where the log says so, and time expires where it does not."""
    log = tmp_path / "log"
    for text, said in ((ENDED, "All jobs done.\n"), (ENDED.split("005 (")[0], "Time expired.\n")):
        log.write_bytes(text.replace("\n", "\r\n").encode())
        out = io.StringIO()
        argv = ["condor_wait", "-wait", "1", str(log)]
        main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, Streams(io.StringIO(), out, io.StringIO()))
        assert out.getvalue().endswith(said)
