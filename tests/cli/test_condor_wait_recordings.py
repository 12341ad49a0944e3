"""`condor_wait` beside recordings of the reference over logs (tests/data/cli/condor_wait).

The recordings are of HTCondor 25.14.1 with CONDOR_CONFIG=/dev/null and TZ=UTC, made by
`.ci/record_tools.py`; `OURS` has what we knowingly say otherwise. Nothing waits here: the clock
goes on by a second whenever the tool looks at it.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.tools.jobs.condor_wait import main
from kettle.tools.programs import Streams

DATA = Path(__file__).parents[1] / "data/cli/condor_wait"
CASES: list[dict[str, Any]] = json.loads((DATA / "recordings.json").read_text())
# Usages are in our own words.
_USAGE = re.compile(r"^\s*use?(age)?:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_DONE = "All jobs done.\n"
STATUS = (
    "7.0.0 submitted\n7.0.0 executing on host <127.0.0.1:9>\n7.1.0 submitted\n7.0.0 completed\n"
)
# Compat: by command line, what ours does instead, and why it is better.
OURS: dict[str, tuple[int, str, str]] = {
    # The reference reads nothing of a log that begins with what is no event, and says it is done.
    "-wait 1 begins_wrong.log": (1, "Time expired.\n", ""),
    # A cluster that makes its jobs later has not made its last one.
    "-wait 1 factory.log": (1, "Time expired.\n", ""),
    "-wait 1 factory.log 7": (1, "Time expired.\n", ""),
    # An event that says itself how a job stands is found like any other.
    "-event-id 0 ended.log": (0, "Got 1 events of id 0\n", ""),
    # Two dashes are as good as one.
    "--status ended.log": (0, f"{STATUS}7.1.0 aborted\n{_DONE}", ""),
    "--help": (0, "", "@USAGE@"),
}


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    clock = itertools.count()
    monkeypatch.setattr("kettle.tools.jobs.condor_wait.time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("kettle.tools.jobs.condor_wait.time.sleep", lambda _: None)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(words: list[str], environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    variables = {"CONDOR_CONFIG": "/dev/null", **(environment or {})}
    code = main(["condor_wait", *words], variables, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), _USAGE.sub("@USAGE@", err.getvalue())


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["argv"][1:]) or "nothing")
def test_output_is_the_recorded_one(case: dict[str, Any]) -> None:
    words = case["argv"][1:]
    code, out, err = run(words, case.get("environment"))
    expected = OURS.get(" ".join(words), (case["exit"], case["stdout"], case["stderr"]))
    if expected[2] == "@USAGE@":
        # Compat: ours says beside the usage what was wrong.
        err = "@USAGE@" if err.endswith("@USAGE@") else err
    assert (code, _ads(out), err) == (expected[0], _ads(expected[1]), expected[2])


def _ads(text: str) -> list[str]:
    """Return the lines; those of an ad in JSON without their commas and order, which is free."""
    if '"EventTypeNumber"' not in text and 'n="EventTypeNumber"' not in text:
        return text.splitlines()
    return sorted(line.rstrip(",") for line in text.splitlines())


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    os.mkdir("folder")
    assert run(["folder"]) == (1, "", "Couldn't open folder: Is a directory\n")


def test_an_event_that_begins_or_ends_a_job_is_found() -> None:
    assert run(["-event-id:2", "5", "ended.log", "-wait", "1"])[0] == 1
    code, out, _ = run(["-status", "-event-id", "9", "ended.log"])
    assert (code, out) == (0, f"{STATUS}7.1.0 aborted\nGot 1 events of id 9\n")


def test_a_factory_is_waited_for() -> None:
    log = Path("factory.log")
    assert run(["-wait", "1", "factory.log", "7"])[1] == "Time expired.\n"
    removed = "036 (007.-01.000) 2026-01-02 03:04:09 Cluster removed\n"
    made = "\tMaterialized 1 jobs from 1 items.\tComplete\n...\n"
    log.write_text(f"{log.read_text()}{removed}{made}")
    assert run(["-wait", "1", "factory.log"])[1] == _DONE
    # The cluster's own end is not the end of a job.
    assert run(["-wait", "1", "-num", "2", "factory.log"])[1] == "Time expired.\n"


def test_two_dashes_are_as_good_as_one() -> None:
    assert run(["--num", "1", "ended.log"])[1] == "Specifed number of jobs (1) done.\n"


def test_debugging_says_how_jobs_stand_by_itself() -> None:
    assert run(["-debug", "-status", "ended.log"]) == (0, _DONE, "-status is implied by -debug\n")
    assert run(["-status", "-debug", "ended.log"]) == (0, _DONE, "")


def test_the_version_is_no_success() -> None:
    """Recorded: exit code 1."""
    code, out, _ = run(["-version"])
    assert (code, out.startswith("$CondorVersion: 25.14.1")) == (1, True)


@pytest.mark.parametrize("form", ["log", "xml", "json"])
def test_a_log_is_followed_in_each_form(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path(f"ended.{form}").read_bytes()
    log = Path("growing")
    log.write_bytes(b"")
    sizes = iter(range(0, len(whole) + 97, 97))

    def grow(_seconds: float) -> None:
        log.write_bytes(whole[: next(sizes)])

    monkeypatch.setattr("kettle.tools.jobs.condor_wait.time.sleep", grow)
    log.write_bytes(whole[:300])
    code, out, err = run(["-status", "-num", "2", "growing"])
    assert (code, err) == (0, "")
    assert out == f"{STATUS}7.1.0 aborted\nSpecifed number of jobs (2) done.\n"


OPENED = """\
@ Reading log file ended.log
@ init: Opening file ended.log
@ Opening log file #0 'ended.log' (is_lock_cur=false,seek=false,read_header=true)
"""
TOLD = f"{OPENED}@ 7.0.0 submitted\n@ 7.1.0 submitted\n@ 7.0.0 completed\n@ 7.1.0 aborted\n"
# Recorded from HTCondor 25.14.1: what stands on standard error, moments as @.
DEBUGGED = (
    ("-debug", ""),
    ("-debug:D_ERROR", ""),
    ("-debug:D_FULLDEBUG", TOLD),
    ("-debug:D_ALWAYS:2", TOLD),
    ("-debug -debug:D_FULLDEBUG", TOLD),
    ("-debug:D_FULLDEBUG -debug", ""),
    ("-status -debug:D_FULLDEBUG", TOLD),
    ("-debug:D_FULLDEBUG -wait 0", f"@ Will exit at EOF\n{TOLD}"),
    ("-wait 0 -debug:D_FULLDEBUG", TOLD),
    (
        "-debug:D_FULLDEBUG -wait 1 -num 2",
        f"@ Will wait until @\n\n@ Will wait until 2 jobs end\n{TOLD}",
    ),
    ("-debug:D_FULLDEBUG|D_CAT", TOLD.replace("@ ", "@ (D_ALWAYS:2) ")),
)
_MOMENT = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")


@pytest.mark.parametrize(("words", "told"), DEBUGGED)
def test_debugging_in_full_says_what_is_read(words: str, told: str) -> None:
    code, said, complaint = run([*words.split(), "ended.log"])
    assert (code, _MOMENT.sub("@", complaint)) == (0, told)
    assert said in {_DONE, "Specifed number of jobs (2) done.\n"}


def test_debugging_looks_at_the_knobs_of_tools() -> None:
    """As in HTCondor 25.14.1 they say nothing without -debug."""
    place = {"CONDOR_CONFIG": "/dev/null", "_CONDOR_TOOL_DEBUG": "D_FULLDEBUG"}
    complaints = []
    for words in (["-debug"], []):
        err = io.StringIO()
        main(
            ["condor_wait", *words, "ended.log"], place, Streams(io.StringIO(), io.StringIO(), err)
        )
        complaints.append(_MOMENT.sub("@", err.getvalue()))
    assert complaints == [TOLD, ""]
