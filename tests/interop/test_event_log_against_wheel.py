"""The PyPI wheel reads the event logs that we write, and of damaged ones what we read.

Known by: no connection: files.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interop.event_mutations import Growing, damaged
from kettle.attributes.codes import ULogEvent
from kettle.records.event_forms import render
from kettle.records.event_log import EVENTS, Format, Style, render_event
from unit.records.test_event_log import example

pytestmark = pytest.mark.interop

_READER = """
import json, sys, htcondor2
found = []
for event in htcondor2.JobEventLog(sys.argv[1]).events(stop_after=0):
    values = {}
    for name in event.keys():
        try:
            values[name] = str(event[name])
        except Exception as error:
            values[name] = "ERROR " + str(error)
    found.append([event.type.name, event.cluster, event.proc, values])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def wheel_python() -> str:
    """Return an interpreter that has the wheel ($KETTLE_WHEEL_PYTHON, else ours), or skip."""
    named = os.environ.get("KETTLE_WHEEL_PYTHON") or sys.executable
    done = subprocess.run([named, "-c", "import htcondor2"], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("the PyPI wheel htcondor is not installed; set KETTLE_WHEEL_PYTHON")
    return named


def read_with_wheel(python: str, path: Path) -> list[tuple[str, int, int, dict[str, str]]]:
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null"}
    done = subprocess.run(
        [python, "-c", _READER, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    found: list[tuple[str, int, int, dict[str, str]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("style", [Style(), Style(utc=True, sub_second=True), Style(iso=False)])
def test_the_wheel_reads_every_event_of_ours(
    wheel_python: str, tmp_path: Path, style: Style
) -> None:
    numbers = sorted(EVENTS)
    log = tmp_path / "log"
    log.write_bytes(b"".join(render_event(example(EVENTS[n]), style) for n in numbers))
    found = read_with_wheel(wheel_python, log)
    assert [name for name, *_ in found] == [ULogEvent(n).name for n in numbers]
    assert {(cluster, proc) for _, cluster, proc, _ in found} == {(12, 3)}


def test_the_wheel_finds_our_values_under_their_names(wheel_python: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(render_event(example(EVENTS[n])) for n in (0, 1, 5, 12, 40)))
    submit, execute, ended, held, moved = (
        values for *_, values in read_with_wheel(wheel_python, log)
    )
    assert submit["SubmitHost"] == "some text"
    assert submit["LogNotes"] == '[ DAGNodeName = "a" ]'
    assert execute["SlotName"] == "some text"
    assert ended["ReturnValue"] == "0"
    assert ended["TotalSentBytes"] == "7.0"
    assert ended["RequestCpus"] == "1"
    assert held["HoldReasonCode"] == "7"
    assert moved["Host"] == "some text"


HERE = Path(__file__).parent
ANSWERS = HERE.parent / "data" / "event_logs" / "answers.json"
_STYLES = (
    *(Style(), Style(iso=False), Style(utc=True), Style(sub_second=True)),
    *(Style(Format.XML), Style(Format.JSON)),
)
# The wheel waits a second at each error.
_AT_ONCE = 24
# What it shows otherwise, knowingly (tests/unit/records/test_events_as_the_wheel_reads_them.py).
_KNOWN = {
    0: {"Warnings"},
    21: {"CriticalError"},
    33: {"Attribute", "Value", "PriorValue"},
    35: {"Warnings", "LogNotes", "UserNotes"},
    47: {"Text"},
}


def read_all(
    python: str, module: str, logs: list[Growing], at_once: int = _AT_ONCE
) -> list[list[Any]]:
    """What a module's reader says of each log, `at_once` of which are read at a time."""
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null", "TZ": "UTC"}

    def read(part: list[Growing]) -> list[list[Any]]:
        done = subprocess.run(
            [python, str(HERE / "event_mutations.py"), module],
            input=json.dumps(part),
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        found: list[list[Any]] = json.loads(done.stdout)
        return found

    with ThreadPoolExecutor(at_once) as pool:
        parts = list(pool.map(read, [logs[n::at_once] for n in range(at_once)]))
    return [parts[n % at_once][n // at_once] for n in range(len(logs))]


def test_the_recorded_answers_are_the_wheels(wheel_python: str) -> None:
    """It is how they are recorded: with KETTLE_RECORD set they are written anew."""
    cases: list[dict[str, Any]] = json.loads(ANSWERS.read_text())
    said = read_all(wheel_python, "htcondor2", [(case["log"], []) for case in cases])
    found = [{"log": case["log"], "said": each} for case, each in zip(cases, said, strict=True)]
    if "KETTLE_RECORD" in os.environ:
        ANSWERS.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
    assert found == cases


@pytest.mark.parametrize("style", _STYLES, ids=lambda style: f"{style.form.value} {style}"[-60:])
def test_a_damaged_log_says_what_it_says_to_the_wheel(wheel_python: str, style: Style) -> None:
    """Where a log goes on behind what is no event the wheel may stop; few differ otherwise."""
    count = int(os.environ.get("KETTLE_DAMAGED_LOGS", "60"))
    dice = random.Random(count)
    logs = [a_damaged_log(style, dice) for _ in range(count)]
    theirs = read_all(wheel_python, "htcondor2", logs)
    ours = read_all(sys.executable, "kettle.compat.htcondor2", logs, at_once=2)
    different = [
        (log, first, second)
        for log, first, second in zip(logs, theirs, ours, strict=True)
        if not is_within([without_known(one) for one in first], [without_known(o) for o in second])
    ]
    share = 0.15 if style.form is Format.TEXT else 0.3
    assert len(different) <= share * count, different[:3]


def a_damaged_log(style: Style, dice: random.Random) -> Growing:
    whole = render(example(EVENTS[11]), style).decode("latin-1")
    event = render(example(EVENTS[dice.choice(list(EVENTS))]), style).decode("latin-1")
    log = whole + damaged(event, dice) + whole
    cuts = [dice.randrange(len(log)) for _ in range(dice.choice([0, 0, 1, 2]))]
    return log, sorted(cuts) if style.form is Format.TEXT else []


def without_known(said: Any) -> Any:
    if not isinstance(said, dict):
        return said
    known = _KNOWN.get(said.get("EventTypeNumber", -1), set())
    # One without a time is of now to the wheel.
    return {n: v for n, v in said.items() if n not in known and not str(v).startswith("1970-")}


def is_within(few: list[Any], many: list[Any]) -> bool:
    """Tell whether `many` has all of `few`, in their order."""
    rest = iter(many)
    return all(any(one == other for other in rest) for one in few)
