"""A job's moments put in order, and drawn for wide and narrow screens."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from kettle.attributes.codes import ULogEvent
from kettle.classad import ClassAd
from kettle.client import daemon
from kettle.config import Config
from kettle.errors import AuthorizationDenied
from kettle.records.event_cluster import FileTransferEvent
from kettle.records.event_ends import JobEvictedEvent
from kettle.records.event_kinds import ExecuteEvent, JobHeldEvent, SubmitEvent
from kettle.records.event_log import EVENTS
from kettle.records.job_trace import Step, TraceLine
from kettle.tools.reach import Reach
from kettle.tools.tracing import sources
from kettle.tools.tracing.drawing import draw_head, draw_steps, render_span
from kettle.tools.tracing.sources import fetch_lines, read_lines, read_moment
from kettle.tools.tracing.timeline import Moment, Timeline, as_facts, make_moments

START = 1_795_000_000
JOB = "vm#12.0#1795000000"
AD = ClassAd(
    {
        "GlobalJobId": JOB,
        "QDate": START,
        "JobRunCount": 1,
        "JobCurrentStartDate": START + 2,
        "JobCurrentStartExecutingDate": START + 3,
        "CompletionDate": START + 9,
    }
)
LINES = [
    (START + 0.25, True, TraceLine(JOB, 0, Step.SUBMITTED)),
    (START + 1.0, True, TraceLine(JOB, 1, Step.MATCHED, "slot1@vm")),
    (START + 1.5, True, TraceLine(JOB, 1, Step.MATCHED, "slot1@vm")),
    (START + 2.0, True, TraceLine(JOB, 1, Step.HANDED_OVER)),
    (START + 3.0, True, TraceLine(JOB, 1, Step.EXECUTING, "pid 7")),
    (START + 8.0, True, TraceLine(JOB, 1, Step.EXITED)),
]


def test_each_step_has_the_time_until_the_next() -> None:
    moments = [one for one in make_moments(AD, LINES, []) if not one.rough]
    assert [(one.word, one.took) for one in moments] == [
        ("submitted", 0.75),
        ("matched", 1.0),
        ("handed-over", 1.0),
        ("executing", 5.0),
        ("exited", pytest.approx(1.999)),
    ]


def test_what_no_log_tells_comes_from_ad_and_event_log_to_the_second() -> None:
    events = [
        SubmitEvent(time=START),
        ExecuteEvent(time=START + 3),
        JobHeldEvent(time=START + 5, reason="no"),
    ]
    moments = make_moments(AD, [], events)
    assert [one.word for one in moments] == [
        "submitted",
        "handed-over",
        "executing",
        "held",
        "left",
    ]
    assert all(one.rough for one in moments)


def test_events_of_every_kind_have_words_of_their_own() -> None:
    """Who may not read the logs has no other steps."""
    # Sizes and attributes say nothing about where time goes.
    made = [EVENTS[kind](time=START) for kind in ULogEvent if kind not in {6, 28, 33}]
    moments = make_moments(ClassAd({"GlobalJobId": JOB}), [], made)
    words = {one.word for one in moments}
    assert {"evicted", "released", "remote-error", "file-transfer"} <= words
    assert len(words) == len(moments) == len(made)
    assert not any(one.word.startswith("event") for one in moments)
    meanings = {one.word: one.meaning for one in moments}
    assert all(meanings[kind] for kind in words - {"generic"})
    assert meanings["released"] == "The job was released from hold"


def test_a_transfer_without_logs_says_what_it_does() -> None:
    event = FileTransferEvent(time=START, kind=2)
    [moment] = make_moments(ClassAd({"GlobalJobId": JOB}), [], [event])
    assert (moment.word, moment.meaning) == ("file-transfer", "Started transferring input files")


def steps(*words: str) -> list[tuple[str, int]]:
    """Return words and runs, of `word` or `word/run`."""
    return [(word, int(run or 1)) for word, _, run in (each.partition("/") for each in words)]


def lines_of(
    *words: str, second: int = START, fractions: Mapping[str, float] = {}
) -> list[tuple[float, bool, TraceLine]]:
    """Return the lines of steps within a second; known to it only if they have no fraction."""
    by_word = {step.word: step for step in Step}
    return [
        (
            second + fractions.get(word, 0.0),
            word in fractions,
            TraceLine(JOB, run, by_word[word]),
        )
        for word, run in steps(*words)
    ]


def drawn(*lines: tuple[float, bool, TraceLine]) -> list[tuple[str, int]]:
    moments = make_moments(ClassAd({"GlobalJobId": JOB, "QDate": START}), lines, [])
    times = [moment.time for moment in moments]
    assert times == sorted(times)
    return [(moment.word, moment.run) for moment in moments]


def test_steps_of_one_second_stand_in_the_order_of_a_job_s_life() -> None:
    """Logs of whole seconds are read one after the other."""
    lines = lines_of(
        *("matched", "submitted/0", "requested", "claimed", "handed-over", "settled", "left"),
        *("ended", "activated", "freed", "preparing", "executing", "exited", "reported"),
    )
    assert drawn(*lines) == steps(
        *("submitted/0", "matched", "requested", "claimed", "handed-over", "activated"),
        *("preparing", "executing", "exited", "reported", "ended", "freed", "settled", "left"),
    )
    assert all(one.rough for one in make_moments(AD, lines, []))


def test_runs_of_one_second_are_kept_apart() -> None:
    lines = lines_of(
        "matched/2", "submitted/0", "settled", "left/2", "exited", "matched", "exited/2"
    )
    assert drawn(*lines) == steps(
        "submitted/0", "matched", "exited", "settled", "matched/2", "exited/2", "left/2"
    )
    # Of a job that never ran, whose match came too late.
    assert drawn(*lines_of("matched", "left/0", "submitted/0")) == steps(
        "submitted/0", "matched", "left/0"
    )


def test_a_step_of_a_log_without_fractions_has_its_place_among_those_that_are_exact() -> None:
    fractions = {"requested": 0.25, "left": 0.75, "settled": 0.5, "freed": 0.625}
    lines = lines_of(
        *("requested", "settled", "freed", "left", "executing", "submitted/0", "matched", "ended"),
        fractions=fractions,
    )
    assert drawn(*lines) == steps(
        *("submitted/0", "matched", "requested", "executing", "ended", "settled", "freed", "left")
    )


def test_an_eviction_stands_before_the_next_run() -> None:
    lines = lines_of("handed-over/2", "executing/2", "executing", "handed-over", "ended", "settled")
    events = [ExecuteEvent(time=START), JobEvictedEvent(time=START), ExecuteEvent(time=START)]
    found = make_moments(ClassAd({"QDate": START}), lines, events)
    assert [(one.word, one.run) for one in found] == [
        ("submitted", 0),
        ("handed-over", 1),
        ("executing", 1),
        ("ended", 1),
        ("evicted", 1),
        ("settled", 1),
        ("handed-over", 2),
        ("executing", 2),
    ]


def test_an_event_that_may_come_at_any_time_is_before_the_job_s_leaving() -> None:
    lines = lines_of("submitted/0", "left", "ended")
    events = [JobHeldEvent(time=START, reason="no"), JobHeldEvent(time=START + 0.5, reason="no")]
    found = make_moments(ClassAd({"QDate": START}), [*lines, *lines_of("matched")], events)
    assert [(one.word, one.rough) for one in found] == [
        ("submitted", True),
        ("held", False),
        ("matched", True),
        ("ended", True),
        ("held", True),
        ("left", True),
    ]


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_drawing_fits_its_width_and_loses_no_step(width: int) -> None:
    timeline = Timeline("12.0", JOB, "completed", make_moments(AD, LINES, []))
    out = io.StringIO()
    console = Console(file=out, width=width, no_color=True)
    console.print(draw_head(timeline, width))
    console.print(draw_steps(timeline, width))
    text = out.getvalue()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for word in ("submitted", "negotiator", "handed-over", "executing", "5.00 s"):
        assert word in text
    assert ("█" in text) is (width >= 64)
    assert ("the program runs" in text) is (width >= 104)


def test_the_facts_say_what_the_drawing_shows() -> None:
    facts = as_facts(Timeline("12.0", JOB, "completed", make_moments(AD, LINES, [])))
    steps = facts["steps"]
    assert isinstance(steps, list)
    assert steps[0] == {
        "time": START + 0.25,
        "daemon": "schedd",
        "step": "submitted",
        "meaning": "the job is in the queue",
        "run": 0,
        "detail": "",
        "exact": True,
        "took": 0.75,
    }
    assert facts["seconds"] == 7.75


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12 ms"), (5, "5.00 s"), (65, "1m05s"), (7260, "2h01m"), (200_000, "2d07h")],
)
def test_a_span_is_written_in_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert render_span(seconds) == text


@pytest.mark.parametrize(
    ("line", "time_format", "fraction"),
    [
        ("11/21/26 19:10:00.719 (pid:1) x", "%m/%d/%y %H:%M:%S", 0.719),
        ("11/21/26 19:10:00 x", "%m/%d/%y %H:%M:%S", None),
        ("2026-11-21T19:10:00.719 x", "%Y-%m-%dT%H:%M:%S", 0.719),
    ],
)
def test_the_moment_of_a_line_is_read_in_its_format(
    line: str, time_format: str, fraction: float | None
) -> None:
    whole = time.mktime((2026, 11, 21, 19, 10, 0, 0, 0, -1))
    moment = read_moment(line, time_format)
    assert moment == (pytest.approx(whole + (fraction or 0)), fraction is not None)


def test_a_line_with_seconds_since_the_epoch_is_read_in_any_format() -> None:
    assert read_moment("1795287377.25 (pid:1) x", "%c") == (1795287377.25, True)
    assert read_moment("no moment here", "%m/%d/%y %H:%M:%S") is None


def test_lines_are_found_in_logs_that_were_moved_aside_and_of_each_slot(tmp_path: Path) -> None:
    config = Config.from_text(
        f"SCHEDD_LOG = {tmp_path}/SchedLog\nSTARTER_LOG = {tmp_path}/StarterLog\n"
        f"NEGOTIATOR_LOG = {tmp_path}/NegotiatorLog\nSTARTD_LOG =\nSHADOW_LOG =\n"
    )
    head = "11/21/26 19:10:0"
    (tmp_path / "SchedLog.old").write_text(f"{head}0 {JOB}/0 submitted\n{head}0 other\n")
    (tmp_path / "SchedLog").write_text(f"{head}9 {JOB}1/0 submitted\n{head}7 {JOB}/1 left")
    (tmp_path / "StarterLog.slot1_1").write_text(f"{head}3.125 (pid:1) {JOB}/1 executing: pid 5\n")
    found, gaps = read_lines(config, JOB)
    assert {(line.step, exact) for _, exact, line in found} == {
        (Step.SUBMITTED, False),
        (Step.LEFT, False),
        (Step.EXECUTING, True),
    }
    assert gaps == []


def test_logs_that_are_closed_are_told_of_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("SchedLog", "SchedLog.old", "NegotiatorLog", "StarterLog.slot1_1")
    for name in names:
        (tmp_path / name).touch()
    config = Config.from_text(
        f"SCHEDD_LOG = {tmp_path}/SchedLog\nSTARTER_LOG = {tmp_path}/StarterLog\n"
        f"NEGOTIATOR_LOG = {tmp_path}/NegotiatorLog\nSTARTD_LOG =\nSHADOW_LOG =\n"
    )

    def refuse(path: str) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(sources, "_read_tail", refuse)
    said = f"the logs in {tmp_path} are closed to you: what only they know is left out"
    assert read_lines(config, JOB) == ([], [said])


@pytest.mark.parametrize("told", [True, False])
def test_a_machine_that_refuses_its_logs_is_told_of_in_one_line(
    told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: object) -> Iterator[bytes]:
        raise AuthorizationDenied("DC_FETCH_LOG is denied\nfor you\nhere")

    monkeypatch.setattr(daemon, "fetch_log", refuse)
    reach = cast(Reach, SimpleNamespace(config=Config.from_text(""), connector=None, pool=Machines))
    ad = ClassAd({"GlobalJobId": JOB, "LastRemoteHost": "slot1_1@exec"})
    said = [] if told else ["the logs of exec are sent to its administrators only"]
    assert fetch_lines(reach, ad, [], gaps_told=told) == ([], said)


class Machines:
    """A collector that knows every machine."""

    @staticmethod
    def locate(_kind: object, _name: str) -> SimpleNamespace:
        return SimpleNamespace(address="<10.0.0.1:9618>")


def test_who_sees_no_logs_sees_whole_seconds_and_a_running_job_counts_up_to_now() -> None:
    ad = ClassAd(
        {
            "GlobalJobId": JOB,
            "QDate": START,
            "JobRunCount": 1,
            "JobCurrentStartDate": START,
            "JobCurrentStartExecutingDate": START,
        }
    )
    now = START + 42.6
    timeline = Timeline("12.0", JOB, "running", make_moments(ad, [], [], until=now), until=now)
    assert timeline.seconds == 42
    console = Console(file=io.StringIO(), width=60)
    console.print(draw_head(timeline, 60))
    console.print(draw_steps(timeline, 60))
    shown = cast(io.StringIO, console.file).getvalue()
    assert "running, 42 s so far" in shown
    assert "999" not in shown
    rows = [line.split() for line in shown.splitlines() if "~" in line]
    assert [row[:3] for row in rows] == [
        ["~0", "0", "s"],
        ["~0", "0", "s"],
        ["~0", "42", "s"],
    ]


def test_the_whole_holds_what_is_known_to_the_second_too() -> None:
    """Of a cluster's later jobs the log does not tell the submission."""

    def moment(time: float, *, rough: bool = False) -> Moment:
        return Moment(time, "schedd", "submitted", "", 1, rough=rough)

    late = (moment(START, rough=True), moment(START + 2.403), moment(START + 2.616))
    assert Timeline("9.39", JOB, "completed", late).seconds == 2
    soon = (moment(START, rough=True), moment(START + 0.403), moment(START + 0.616))
    assert Timeline("9.39", JOB, "completed", soon).seconds == pytest.approx(0.213)
