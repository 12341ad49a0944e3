"""A program begins though the init of its PID namespace was killed the moment before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.timeout(60), pytest.mark.root]

# Starts two programs in one view, whose init is killed between them; tells of each what it saw.
_STARTER = """
import asyncio, os, signal, sys
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.process.processes import SystemProcesses
from kettle.starter.launch import LaunchPlan, StandardFile
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.view import JobView

async def main(folder):
    processes = SystemProcesses()
    processes.start()
    privileges = Privileges(account_of(0), can_switch=True)
    view = JobView(privileges, f"{folder}/view", own_pids=True, tell=print)
    account = account_of(65534)
    view.prepare(("/var/tmp",), account, shared_memory=False)
    jobs = JobProcesses(processes, privileges, account, files_of=account_of(0))
    jobs.view = view
    for number, script in enumerate(("echo kept >/var/tmp/left", "cat /var/tmp/left")):
        nothing, out = StandardFile("/dev/null"), StandardFile(f"{folder}/out{number}")
        argv = ("/bin/sh", "-c", f"{script}; echo $$; ls -d /proc/[0-9]*; exit 3")
        child = jobs.launch(LaunchPlan(argv, {"PATH": os.environ["PATH"]}, "/", nothing, out, out))
        while child.status is None:
            await asyncio.sleep(0.01)
        print(jobs.lost_init, os.waitstatus_to_exitcode(child.status))
        if not number:
            os.kill(view.init, signal.SIGKILL)
            while not view.broken:
                await asyncio.sleep(0.01)
            print(view.broken)
    view.close()

asyncio.run(main(sys.argv[1]))
"""


def test_a_program_begins_in_a_new_namespace_where_the_init_was_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _STARTER, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.splitlines() == ["False 3", "True", "False 3"], done.stderr
    # What the program before left is there, and nobody but itself and the new init.
    left, number, *seen = (tmp_path / "out1").read_text().splitlines()
    assert left == "kept"
    assert seen == ["/proc/1", f"/proc/{number}"]
    assert (tmp_path / "out0").read_text().splitlines()[0] == number
