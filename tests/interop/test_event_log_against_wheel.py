"""The PyPI wheel reads the event logs that we write.

Known by: no connection: files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.attributes.codes import ULogEvent
from kettle.records.event_log import EVENTS, Style, render_event
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
