"""A long queue: what condor_q, condor_rm and condor_submit take with 100,000 jobs in it.

    python bench/long_queue.py [--jobs N] [--json FILE]

Prints each figure beside its target and, where $KETTLE_PEER_ROOT names a chroot with the real
HTCondor, beside what that takes in the same run. Seconds are of the whole tool, from its start to
its end; CPU seconds are those of the tool and of the schedd with its children together, which mean
something on a busy machine, too. Memory is the schedd's PSS after the jobs came in.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

# Not `queue` of the standard library, which others import by that name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.append(str(Path(__file__).parent))

from peer import PeerPool, daemon_cpu, find_daemon, machine, peer_pool, tools_cpu

from kettle.pool.personal import PersonalPool
from pool import tool

# Jobs stay where they are.
CONFIG = """\
START = false
MAX_JOBS_PER_SUBMISSION = 2000000
MAX_JOBS_PER_OWNER = 2000000
"""
SUBMIT = "executable = /bin/true\narguments = $(Process)\nlog = {log}\nqueue {count}\n"
LATE = "executable = /bin/true\nmax_materialize = 10\nhold = true\nqueue {count}\n"

# Figure → target in seconds (or procs a second, or MB).
TARGETS = {
    "submit_10000_procs_per_second": 15000.0,
    "submit_million_late_seconds": 0.5,
    "q_json_seconds": 5.0,
    "q_af_3_seconds": 0.8,
    "q_totals_seconds": 0.15,
    "schedd_mb": 300.0,
    "rm_all_seconds": 1.0,
}
_QUERIES = {
    "q_json_seconds": ("-json",),
    "q_af_3_seconds": ("-af", "ClusterId", "ProcId", "JobStatus"),
    "q_totals_seconds": ("-totals",),
}


def pss_mb(pid: int) -> float:
    """Return a process's proportional set size."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


class Ours:
    """Our pool."""

    def __init__(self, pool: PersonalPool, work: Path) -> None:
        self.pool = pool
        self.work = work

    def seconds(self, name: str, *words: str) -> float:
        """Return what a tool takes."""
        return tool(name, *words, pool=self.pool)[0]

    def submit(self, text: str) -> float:
        """Return what condor_submit of a description takes."""
        path = self.work / "job.sub"
        path.write_text(text.format(log=self.work / "log", count="{count}"))
        return self.seconds("condor_submit", "-terse", str(path))

    def memory(self) -> float:
        """Return the schedd's memory in MB."""
        return pss_mb(self.schedd())

    def schedd(self) -> int:
        """Return the schedd's pid."""
        return find_daemon(b"condor_schedd", self.pool.folder)


class Theirs:
    """The peer's pool."""

    def __init__(self, pool: PeerPool) -> None:
        self.pool = pool

    def seconds(self, name: str, *words: str) -> float:
        """Return what a tool takes."""
        argv = self.pool.argv(name, *(f"'{word}'" if " " in word else word for word in words))
        return _timed(argv)

    def submit(self, text: str) -> float:
        """Return what condor_submit of a description takes."""
        (self.pool.folder / "user/job.sub").write_text(text.format(log="log", count="{count}"))
        return _timed(self.pool.argv_as_tester("condor_submit", "-terse", "job.sub"))

    def memory(self) -> float:
        """Return the schedd's memory in MB."""
        return pss_mb(self.schedd())

    def schedd(self) -> int:
        """Return the schedd's pid."""
        return find_daemon(b"condor_schedd", f"/tmp/{self.pool.name}")


def _timed(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def measure(side: Ours | Theirs, jobs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Take every figure of one pool: those of the clock, and CPU seconds."""
    figures: dict[str, float] = {}
    cpu: dict[str, float] = {}

    def take(figure: str, work: Callable[[], float]) -> float:
        pid = side.schedd()
        before = daemon_cpu(pid) + tools_cpu()
        seconds = work()
        time.sleep(0.3)  # an answering child has to be reaped to be counted
        used = daemon_cpu(pid) + tools_cpu() - before
        cpu[figure] = min(used, cpu.get(figure, used))
        return seconds

    few = jobs // 10
    text = SUBMIT.replace("{count}", str(few))
    seconds = take("submit_10000_procs", lambda: side.submit(text))
    figures["submit_10000_procs_per_second"] = few / seconds
    late = LATE.replace("{count}", "1000000")
    figures["submit_million_late_seconds"] = take("submit_million_late", lambda: side.submit(late))
    side.seconds("condor_rm", "-all")
    _wait_until_empty(side)
    side.submit(SUBMIT.replace("{count}", str(jobs)))
    time.sleep(1.0)
    for name, words in _QUERIES.items():
        figures[name] = min(
            take(name.removesuffix("_seconds"), partial(side.seconds, "condor_q", *words))
            for _ in range(3)
        )
    figures["schedd_mb"] = side.memory()
    figures["rm_all_seconds"] = take("rm_all", lambda: side.seconds("condor_rm", "-all"))
    return figures, cpu


def _wait_until_empty(side: Ours | Theirs) -> None:
    """Wait until removed jobs have left."""
    name = "condor_q"
    for _ in range(600):
        if isinstance(side, Ours):
            text = tool(name, "-totals", pool=side.pool)[2]
        else:
            text = side.pool.run(name, "-totals")
        # Not those of 100000 jobs.
        if re.search(r"(?<!\d)0 jobs", text):
            return
        time.sleep(0.5)
    raise SystemExit("removed jobs do not leave")


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        pool = PersonalPool(str(work / "pool"), configuration=CONFIG)
        pool.make()
        pool.start()
        try:
            ours, our_cpu = measure(Ours(pool, work), arguments.jobs)
        finally:
            pool.stop(how="fast")
    with peer_pool(f"bench-queue-{os.getpid()}") as peer:
        theirs, their_cpu = measure(Theirs(peer), arguments.jobs) if peer is not None else ({}, {})
    print(f"{arguments.jobs} jobs{'':<22} Kettle    target   HTCondor")
    for figure, value in ours.items():
        beside = f"{theirs[figure]:10.4g}" if figure in theirs else "         -"
        print(f"{figure:<32} {value:8.4g} {TARGETS[figure]:8.4g} {beside}")
    for figure, value in our_cpu.items():
        beside = f"{their_cpu[figure]:10.4g}" if figure in their_cpu else "         -"
        print(f"{figure + ', CPU seconds':<32} {value:8.4g}          {beside}")
    if arguments.json:
        found = {
            **machine(),
            "jobs": arguments.jobs,
            "kettle": ours,
            "peer": theirs,
            "targets": TARGETS,
            "kettle_cpu_seconds": our_cpu,
            "peer_cpu_seconds": their_cpu,
        }
        Path(arguments.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
