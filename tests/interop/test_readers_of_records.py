"""The real condor_history, condor_wait, condor_userlog and condor_check_userlogs read our records.

The event log has every event that a pool of ours writes; the history is rotated. Our own readers
say the same of them. What both sides wrote into one file is read in test_spool_takeover.py.

Known by: no connection: files.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from interop.real_pool import inside, peer_root
from kettle.records.event_base import Event
from kettle.records.event_log import EVENTS, render_event
from kettle.records.history import render_banner, render_record
from kettle.tools.programs import Streams, load_tool
from unit.records.test_event_log import example

pytestmark = pytest.mark.interop

# A job's life: submitted, run, evicted, run again with all that may happen, and ended.
STORY = [0, 40, 1, 6, 4, 40, 1, 10, 11, 22, 23, 7, 1, 22, 24, 1, 21, 12, 13, 33, 1, 28, 40, 5]
BEGAN = 1_795_262_865
ROWS = [(cluster, proc) for cluster in (7, 8, 9) for proc in (0, 1)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder of the real programs' with a log and a history of ours in it."""
    made = Path(f"{peer_root()}/tmp/kettle-records")
    made.mkdir(mode=0o755, exist_ok=True)
    (made / "job.log").write_bytes(b"".join(map(render_event, story())))
    (made / "late.log").write_bytes(b"".join(map(render_event, story_of_cluster())))
    (made / "begun.log").write_bytes(b"".join(map(render_event, [*story()][:-1])))
    for number, suffix in enumerate((".20261121T101010", ".20261121T111111", "")):
        content = b""
        for row in ROWS[number * 2 : number * 2 + 2]:
            content += record(*row, len(content))
        (made / f"history{suffix}").write_bytes(content)
    (made / "condor_config").write_text("HISTORY=/tmp/kettle-records/history\n")
    yield made
    for path in made.iterdir():
        path.unlink()
    made.rmdir()


def story() -> Iterator[Event]:
    """The events of a job, a minute apart."""
    for minute, number in enumerate(STORY):
        event = example(EVENTS[number])
        event.time = float(BEGAN + 60 * minute)
        yield event


def story_of_cluster() -> Iterator[Event]:
    """The events of a late materialized cluster around those of its job."""
    submitted, *rest = (example(EVENTS[number]) for number in (35, 37, 38, 36))
    for event in (submitted, *rest):
        event.proc = -1
    yield submitted
    yield from story()
    yield from rest


def record(cluster: int, proc: int, offset: int) -> bytes:
    """A job's record, ended a minute after the one before."""
    ended = BEGAN + 60 * (cluster * 2 + proc)
    ad = {
        "ClusterId": cluster,
        "ProcId": proc,
        "Owner": '"alice"',
        "User": '"alice@test"',
        "JobStatus": 4,
        "CompletionDate": ended,
        "QDate": BEGAN,
        "RemoteWallClockTime": 0.0,
        "EnteredCurrentStatus": ended,
        "Cmd": '"/bin/sleep"',
        "Args": '"1"',
        "Requirements": "true && (Memory > 1)",
    }
    lines = [f"{name} = {value}" for name, value in ad.items()]
    banner = render_banner(
        offset=offset, cluster=cluster, proc=proc, owner="alice", completed=ended, now=ended
    )
    return render_record(lines, banner)


def really(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a real tool on the folder."""
    setting = "CONDOR_CONFIG=/tmp/kettle-records/condor_config"
    command = [*inside(peer_root()), "env", "-C", "/tmp/kettle-records", setting, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def ours(folder: Path, *words: str) -> str:
    """Run our tool on the same files."""
    out = StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null", "_CONDOR_HISTORY": str(folder / "history")}
    code = load_tool(words[0])([*words], environment, Streams(StringIO(), out, out))
    assert code == 0, out.getvalue()
    return out.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        ("-af", "ClusterId", "ProcId", "CompletionDate", "Requirements"),
        ("-af", "ClusterId", "-limit", "3"),
        ("-af", "ProcId", "8"),
        ("-af", "ClusterId", "-constraint", "ProcId == 1"),
        ("-backwards", "-af", "ClusterId"),
        ("-forwards", "-af", "ClusterId", "ProcId"),
        ("-wide",),
        ("-long", "9.0"),
        ("-json", "7.1"),
    ],
)
def test_both_histories_read_a_rotated_history_of_ours(
    folder: Path, words: tuple[str, ...]
) -> None:
    done = really("condor_history", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stdout == ours(folder, "condor_history", *words)


def test_the_real_condor_wait_sees_the_end_of_a_job_of_ours(folder: Path) -> None:
    for job in ("12", "12.3"):
        for name in ("job.log", "late.log"):
            done = really("condor_wait", "-wait", "5", name, job)
            assert (done.returncode, done.stdout) == (0, "All jobs done.\n"), done
            path = str(folder / name)
            assert ours(folder, "condor_wait", "-wait", "5", path, job) == "All jobs done.\n"
    begun = really("condor_wait", "-wait", "1", "begun.log", "12.3")
    assert begun.returncode == 1, begun


def test_the_real_condor_check_userlogs_finds_nothing_wrong(folder: Path) -> None:
    done = really("condor_check_userlogs", "job.log")
    assert "Log(s) are okay" in done.stdout, (done.stdout, done.stderr)


def test_the_real_condor_userlog_adds_up_the_runs(folder: Path) -> None:
    done = really("condor_userlog", "job.log")
    assert done.returncode == 0, done
    assert "12.3" in done.stdout
