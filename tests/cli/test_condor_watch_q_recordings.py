"""`condor_watch_q` beside recordings of the reference over logs (tests/data/cli/condor_watch_q).

The recordings are of HTCondor 25.14.1 with TZ=UTC, a terminal as input and none as output, made by
`.ci/record_tools.py`. Nothing waits here: a condition of each command line holds at once.
"""

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

from kettle.tools.programs import Streams
from kettle.tools.queue import watch_table
from kettle.tools.queue.condor_watch_q import main

DATA = Path(__file__).parents[1] / "data/cli/condor_watch_q"
CASES: list[dict[str, Any]] = json.loads((DATA / "recordings.json").read_text())
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("COLUMNS", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(
    *words: str, out: io.StringIO | None = None, environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    out, err = out or io.StringIO(), io.StringIO()
    variables = {"CONDOR_CONFIG": "/dev/null", **(environment or {})}
    code = main(["condor_watch_q", *words], variables, Streams(io.StringIO(), out, err))
    texts = (text.getvalue().replace(str(Path.cwd()), "@FOLDER@") for text in (out, err))
    shown, complaints = (_MOMENT.sub("@MOMENT@", text) for text in texts)
    return code, shown, complaints


def _usage_in_one_line(text: str) -> str:
    """Return the text; a usage, whose lines Python breaks in its own ways, as words."""
    return " ".join(text.split()) if text.startswith("usage:") else text


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda case: " ".join([*case.get("environment", {}).values(), *case["argv"][1:]]),
)
def test_output_is_the_recorded_one(case: dict[str, Any]) -> None:
    code, out, err = run(*case["argv"][1:], environment=case.get("environment"))
    assert _usage_in_one_line(out) == _usage_in_one_line(case["stdout"])
    assert _usage_in_one_line(err) == _usage_in_one_line(case["stderr"])
    # What a process can end with.
    assert code % 256 == case["exit"]


# Recorded: half of the jobs idle, on a terminal of 80 columns that does not redraw.
COLORED = """\
BATCH   IDLE  RUN  DONE  TOTAL  JOB_IDS
\x1b[33mID: 7     1    -     1      2   7.1    \x1b[0m

Total Progress: [\x1b[93m-------------------------------\x1b[0m\x1b[36m\x1b[0m\x1b[36m\x1b[0m\
\x1b[36m\x1b[0m\x1b[32m###############################\x1b[0m\x1b[31m\x1b[0m\x1b[31m\x1b[0m\x1b[31m\x1b[0m]

Total: 2 jobs; 1 completed, 1 idle

Updated at @MOMENT@
"""


def test_a_terminal_has_colours_and_a_screen_of_its_own() -> None:
    words = ("-files", "one_idle.log", "-no-row-progress", "-exit", "any,idle,3")
    code, out, _ = run(*words, out=Terminal())
    assert code == 3
    assert out == (
        f"\x1b[?1049h\x1b[H{COLORED}\x1b[?1049l"
        'Exiting with code 3 because of condition "any idle" at @MOMENT@\n'
    )
    assert run(*words, "-no-refresh", out=Terminal())[1].startswith(f"{COLORED}...\nExiting")


# Recorded: what stands between one look and the next.
AGAIN = (
    "\x1b[9A\r"
    + "".join(" " * width + "\n" for width in (39, 39, 0, 80, 0, 34, 0, 30, 21))
    + "\x1b[9A\r"
)


def test_a_look_takes_the_place_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_seconds: float) -> None:
        if out.getvalue().count("BATCH") == 2:
            raise KeyboardInterrupt

    out = Terminal()
    monkeypatch.setattr("kettle.tools.queue.condor_watch_q.time.sleep", sleep)
    code, shown, _ = run("-files", "one_idle.log", "-no-row-progress", out=out)
    frame = f"{COLORED}Press any key to exit\n"
    assert (code, shown) == (0, f"\x1b[?1049h\x1b[H{frame}{AGAIN}{frame}\x1b[?1049l")


def test_an_interrupt_before_jobs_are_shown_ends_the_program_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Recorded from condor_watch_q of 25.14.1: ended by SIGINT, with 0 once it shows them."""

    def find_logs(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kettle.tools.queue.condor_watch_q.find_logs", find_logs)
    with pytest.raises(KeyboardInterrupt):
        run("-files", "one_idle.log")


def test_a_narrow_terminal_cuts_letters_and_not_colours() -> None:
    words = ("-files", "one_idle.log", "-no-refresh", "-exit", "any,idle")
    _, out, _ = run(*words, out=Terminal(), environment={"COLUMNS": "20"})
    assert "\x1b[33mID: 7     1    -    \x1b[0m\n" in out


def test_what_is_no_event_is_told_of_and_passed_over() -> None:
    log = Path("one_idle.log")
    log.write_text("wrong\n...\n" + log.read_text())
    code, out, err = run("-files", "one_idle.log", "-exit", "any,idle")
    assert (code, out.count("1 idle")) == (0, 1)
    assert err == (
        "@MOMENT@ | ERROR: Failed to parse event from @FOLDER@/one_idle.log. "
        "Reason: it is no event\n"
    )


def test_nothing_needs_a_terminal() -> None:
    """The reference ends with an error of its own where its input is none."""
    words = ("-files", "one_idle.log", "-exit-on-key-press", "-exit", "any,idle")
    assert run(*words, out=Terminal())[0] == 0


def test_a_cluster_that_is_no_number_is_named() -> None:
    assert run("-clusters", "x") == (1, "", "ERROR: -clusters x is not the number of a cluster\n")


@pytest.mark.parametrize("interval", ["-1", "0", "nan", "inf", "1e300"])
def test_looks_are_never_closer_than_the_least_pause(
    interval: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        assert 0.05 <= seconds <= 3600
        raise KeyboardInterrupt

    monkeypatch.setattr("kettle.tools.queue.condor_watch_q.time.sleep", sleep)
    assert run("-files", "one_idle.log", "-interval", interval)[0] == 0


def test_a_folder_that_cannot_be_listed_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("secret").mkdir()

    def refuse(_path: object) -> list[str]:
        raise PermissionError

    monkeypatch.setattr(watch_table.os, "listdir", refuse)
    assert watch_table.shorten_path("secret/log", abbreviate=True) == "./secret/log"


def test_folders_are_cut_where_they_differ() -> None:
    for name in ("wizbang", "wizard", "alone/deep"):
        Path("home", name).mkdir(parents=True)
    assert watch_table.shorten_path("home/wizbang/log", abbreviate=True) == "./h/w/log"
    shutil.rmtree("home/alone")
    assert watch_table.shorten_path("home/wizbang/log", abbreviate=True) == "./h/wizb/log"
    assert watch_table.shorten_path("home/wizbang/log", abbreviate=False) == "./home/wizbang/log"


def test_a_damaged_event_is_told_of() -> None:
    log = Path("one_idle.log")
    wrong = "005 (099.000.000) 2026-03-01 10:11:12 Job terminated.\n\t(1) Nor\n...\n"
    log.write_text(log.read_text() + wrong)
    _, _, err = run("-files", "one_idle.log", "-exit", "any,idle")
    said = "one_idle.log: event 005 of job 99.0.0 at @MOMENT@ is damaged: "
    assert f"ERROR: Failed to parse event from @FOLDER@/{said}" in err
