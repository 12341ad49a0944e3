"""The real condor_watch_q and condor_wait, and ours, over the same logs and the same pool of ours.

What ours reads was written by our pool, in text, XML and JSON; the real tools ask our schedd which
logs those are. Both must say the same, but for the time of day. An XML log is not echoed as text
here: of the table of resources the reference reads only some rows back from ads, ours all.

Known by: CLAIMTOBE.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator

import pytest

from interop.real_pool import inside, peer_root
from interop.test_tools_beside_real_ones import CONFIGURATION, Side, furnish
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, wait_until

pytestmark = pytest.mark.interop

JOB = """
executable = /bin/sh
transfer_executable = false
should_transfer_files = yes
arguments = "-c 'exit $(ProcId)'"
log = {folder}/{name}.log
batch_name = {name} batch
request_memory = 100
"""
JOBS = {
    "done": "queue 2\n",
    "xml": "log_xml = true\nqueue 2\n",
    "idle": "requirements = NoSuchAttribute\nqueue 3\n",
    "held": "hold = true\nqueue\n",
}
WATCHED = """
-files done.log -exit none,active,3
-files xml.log -exit none,active,3
-files done.log idle.log held.log -exit any,idle -groupby log
-files done.log idle.log held.log -exit any,idle -groupby cluster -no-display-exited
-users root -exit any,idle,7
-clusters 3 4 -exit any,idle,7
-batches "idle batch" -exit any,idle
-batches nosuch -exit any,idle
-clusters 3 -files done.log -exit any,idle
-larger-than 3 -exit any,idle
-exit any,idle -summary-type percentages -no-row-progress
"""
WAITED = """
-status done.log
-status xml.log
-status -wait 1 idle.log
-num 1 -wait 1 xml.log
-echo done.log 1.1
-echo:UTC,ISO_DATE done.log 1.0
-allevents -status held.log
-event-id:2 5 -wait 1 held.log
"""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    root = peer_root()
    folder = f"/tmp/kettle-watchers-{os.getpid()}"
    there = root / folder[1:]
    there.mkdir()
    with personal_pool(tmp_path_factory.mktemp("watchers"), CONFIGURATION) as pool:
        try:
            # The logs are at the same place for both sides.
            os.symlink(there, folder)
            for name, text in JOBS.items():
                (there / name).write_text(JOB.format(folder=folder, name=name) + text)
                code, _, complaint = run_tool(pool, "condor_submit", str(there / name))
                assert code == 0, complaint
            wait_until(lambda: len(ask_queue(pool, "-all", "JobStatus")) == 4, 30)
            furnish(pool, there, folder)
            yield Side(pool, root, folder)
        finally:
            os.unlink(folder)
            subprocess.run(["rm", "-r", str(there)], check=True)


IN_FOLDER = 'cd "$0" && exec "$@"'


def run_both(sides: Side, tool: str, words: list[str]) -> list[tuple[int, str, str]]:
    real = [*inside(sides.root), "env", f"CONDOR_CONFIG={sides.folder}/config"]
    # A terminal as input, which the real condor_watch_q wants.
    keys, keyboard = os.openpty()
    try:
        done = subprocess.run(
            [*real, "sh", "-c", IN_FOLDER, sides.folder, tool, *words],
            stdin=keyboard,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(keys)
        os.close(keyboard)
    with contextlib.chdir(sides.folder):
        ours = run_tool(sides.pool, tool, *words)
    return [
        (code, _MOMENT.sub("@", out), _MOMENT.sub("@", err))
        for code, out, err in ((done.returncode, done.stdout, done.stderr), ours)
    ]


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?=$|\n)")


@pytest.mark.parametrize("line", WATCHED.strip().splitlines())
def test_both_watch_the_same(line: str, sides: Side) -> None:
    real, ours = run_both(sides, "condor_watch_q", shlex.split(line))
    assert ours == real


@pytest.mark.parametrize("line", WAITED.strip().splitlines())
def test_both_wait_for_the_same(line: str, sides: Side) -> None:
    real, ours = run_both(sides, "condor_wait", line.split())
    assert ours == real
