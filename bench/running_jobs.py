"""What a running job takes of the access point's memory, in schedd and shadows.

    python bench/running_jobs.py [--jobs N] [--peer-jobs N] [--json FILE]

Sleeping jobs on dynamic slots of one machine. Private memory is what the processes share with
nobody (smaps_rollup), the figure is what each further job adds. Where $KETTLE_PEER_ROOT names a
chroot with the real HTCondor, its schedd and its shadows are measured in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from job_cost import processes_below
from peer import PeerPool, peer_pool

from kettle.pool.personal import PersonalPool
from pool import tool

# What the first jobs need is there before the many come.
FEW = 20
TARGET_KB = 50.0
# Limit: how long the jobs may take to run.
_PATIENCE_SECONDS = 300.0
_SLOTS = """\
NUM_CPUS = {slots}
MEMORY = {memory}
SLOT_TYPE_1 = 100%
SLOT_TYPE_1_PARTITIONABLE = true
NUM_SLOTS_TYPE_1 = 1
"""
_SUBMIT = """\
executable = /bin/sleep
arguments = 100000
transfer_executable = false
should_transfer_files = {transfer}
log = {log}
request_cpus = 1
request_memory = 4
request_disk = 1
queue {count}
"""


def private_kb(pids: list[int]) -> float:
    """Return what processes share with nobody."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            # It ended a moment ago.
            continue
        for line in text.splitlines():
            if line.startswith(("Private_Clean:", "Private_Dirty:")):
                total += int(line.split()[1])
    return float(total)


def access_point(master: int) -> dict[str, float]:
    """Return the private memory of the schedd and of the shadows below a master, in kB."""
    pids: dict[str, list[int]] = {"schedd": [], "shadow": []}
    for one in processes_below(master):
        if one.name in pids:
            pids[one.name].append(one.pid)
    return {name: private_kb(found) for name, found in pids.items()}


def measure(
    submit: Callable[[int], object], running: Callable[[], int], master: int, jobs: int
) -> dict[str, float]:
    """Run some jobs and then many; return what each of the many adds."""
    found: dict[str, float] = {"jobs": jobs}
    sizes: list[dict[str, float]] = []
    for name, count in (("few", FEW), ("many", jobs)):
        submit(count)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        wanted = FEW if name == "few" else FEW + jobs
        while running() < wanted:
            if time.monotonic() > deadline:
                raise SystemExit(f"{running()} of {wanted} jobs run")
            time.sleep(1)
        # What the starts themselves have needed goes.
        time.sleep(10)
        sizes.append(access_point(master))
        found[f"private_kb_with_{name}"] = sum(sizes[-1].values())
    few, many = sizes
    for name in few:
        found[f"{name}_kb_a_job"] = round((many[name] - few[name]) / jobs, 1)
    found["private_kb_a_job"] = round((sum(many.values()) - sum(few.values())) / jobs, 1)
    return found


def measure_ours(jobs: int) -> dict[str, float]:
    """Return Kettle's figures."""
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        work = Path(name)
        work.chmod(0o777)
        slots = _SLOTS.format(slots=jobs + FEW, memory=(jobs + FEW) * 128)
        pool = PersonalPool(str(work / "pool"), configuration=slots)

        def submit(count: int) -> None:
            path = work / f"{count}.sub"
            path.write_text(_SUBMIT.format(log=work / "log", count=count, transfer="YES"))
            tool("condor_submit", str(path), pool=pool)

        def running() -> int:
            said = tool("condor_q", "-allusers", "-af", "JobStatus", pool=pool)[2]
            return said.split().count("2")

        try:
            pool.make()
            pool.start()
            return measure(submit, running, pool.master_pid() or 0, jobs)
        finally:
            pool.stop(how="fast")


def measure_theirs(peer: PeerPool, jobs: int) -> dict[str, float]:
    """Return the peer's figures."""

    def submit(count: int) -> None:
        text = _SUBMIT.format(log="log", count=count, transfer="NO")
        (peer.folder / "user" / f"{count}.sub").write_text(text)
        peer.run(*peer.argv_as_tester("condor_submit", f"{count}.sub")[4:])

    def running() -> int:
        return peer.run("condor_q", "-allusers", "-af", "JobStatus").split().count("2")

    master = int((peer.folder / "master.pid").read_text())
    return measure(submit, running, master, jobs)


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--peer-jobs", type=int, default=40)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    found: dict[str, object] = {
        "taken": time.strftime("%Y-%m-%d %H:%M:%S"),
        "kettle": measure_ours(arguments.jobs),
        "target_private_kb_a_job": TARGET_KB,
    }
    slots = _SLOTS.format(slots=arguments.peer_jobs + FEW, memory=(arguments.peer_jobs + FEW) * 128)
    execute = f"use ROLE: Execute\nSTARTER_ALLOW_RUNAS_OWNER = true\n{slots}"
    with peer_pool(f"bench-running-{os.getpid()}", execute) as peer:
        if peer is not None:
            found["peer"] = measure_theirs(peer, arguments.peer_jobs)
    print(json.dumps(found, indent=2))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
