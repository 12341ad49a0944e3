"""Many short jobs from the first to the last: does the pool slow down, does it grow?

    python bench/many_jobs.py [--jobs 100000] [--seconds 10] [--json FILE]

All jobs are submitted at once, on 8 slots, with an event log. Every few seconds a line is printed:
jobs that have ended, jobs a second, CPU of a job by daemon since the last line (beside the fixed
piece of Python of `job_cost.py`, since the machine may be busy; starters that end count with their
last job), private memory by daemon, and what has been written. At the end the first and the last
quarter are compared, and a table has a line for each tenth of the jobs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from job_cost import Yardstick, costs_of_a_job, processes_below, read_costs
from running_jobs import private_kb

from kettle.pool.personal import PersonalPool
from pool import CONFIG, Ends, submit

_DAEMONS = ("schedd", "shadow", "startd", "starter", "collector", "negotiator")
# What the fixed piece takes on the quiet machine: CPU is given as if it took that.
_QUIET_PIECE_MS = 0.08


def memory_mb(master: int) -> dict[str, float]:
    """Return the private memory of each kind of daemon."""
    pids: dict[str, list[int]] = {name: [] for name in _DAEMONS}
    for one in processes_below(master):
        if one.name in pids:
            pids[one.name].append(one.pid)
    return {name: round(private_kb(found) / 1024, 1) for name, found in pids.items()}


def watch(pool: PersonalPool, log: Path, jobs: int, seconds: float) -> list[dict[str, Any]]:
    """Sample until all jobs have ended."""
    master = pool.master_pid() or 0
    ends, samples = Ends(log), []
    before, done, at = read_costs(master), 0, time.monotonic()
    began, folder = at, Path(pool.folder)
    while done < jobs:
        yardstick = Yardstick()
        yardstick.start()
        time.sleep(seconds)
        factor = _QUIET_PIECE_MS / yardstick.end()
        now, after, ended = time.monotonic(), read_costs(master), ends.look()
        if ended == done:
            continue
        costs = costs_of_a_job(before, after, ended - done)
        sample: dict[str, Any] = {
            "seconds": round(now - began, 1),
            "ended": ended,
            "jobs_per_second": round((ended - done) / (now - at), 1),
            "cpu_ms_a_job": {name: round(row["all"] * factor, 2) for name, row in costs.items()},
            "private_mb": memory_mb(master),
            "queue_log_mb": megabytes(folder.glob("spool/job_queue.log")),
            "history_mb": megabytes(folder.glob("spool/*history*")),
            "logs_mb": megabytes(folder.glob("log/*")),
        }
        print(json.dumps(sample), flush=True)
        samples.append(sample)
        before, done, at = after, ended, now
    return samples


def megabytes(paths: Iterable[Path]) -> float:
    """Return what files hold together; one that is moved meanwhile holds nothing."""
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return round(total / 1e6, 1)


def by_tenth(samples: list[dict[str, Any]], jobs: int) -> list[dict[str, Any]]:
    """Return for each tenth of the jobs its rate, and CPU, memory and files at its end."""
    rows: list[dict[str, Any]] = []
    last = {"seconds": 0.0, "ended": 0}
    for number in range(1, 11):
        here = [one for one in samples if last["ended"] < one["ended"] <= jobs * number / 10]
        if not here:
            continue
        end = here[-1]
        rate = (end["ended"] - last["ended"]) / (end["seconds"] - last["seconds"])
        rows.append(end | {"tenth": number, "jobs_per_second": round(rate, 1)})
        last = end
    return rows


def print_tenths(rows: list[dict[str, Any]]) -> None:
    """Print them as a table: MB of memory are private, CPU is milliseconds a job."""
    heads = ("tenth", "ended", "jobs/s", "CPU", "schedd", "shadow", "queue log", "history", "logs")
    print("".join(f"{head:>10}" for head in heads))
    for row in rows:
        shown = (
            row["tenth"], row["ended"], row["jobs_per_second"], row["cpu_ms_a_job"]["whole pool"],
            row["private_mb"]["schedd"], row["private_mb"]["shadow"], row["queue_log_mb"],
            row["history_mb"], row["logs_mb"],
        )  # fmt: skip
        print("".join(f"{value:>10}" for value in shown))


def compare(samples: list[dict[str, Any]]) -> dict[str, object]:
    """Return CPU and memory of the first and the last quarter of a run."""
    quarter = max(1, len(samples) // 4)

    def mean(part: list[dict[str, Any]], kind: str) -> dict[str, float]:
        rows = [sample[kind] for sample in part]
        names = {name for row in rows if isinstance(row, dict) for name in row}
        return {
            name: round(
                sum(row.get(name, 0) for row in rows if isinstance(row, dict)) / len(rows), 2
            )
            for name in sorted(names)
        }

    return {
        f"{kind}_{when}": mean(part, kind)
        for kind in ("cpu_ms_a_job", "private_mb")
        for when, part in (
            ("first_quarter", samples[:quarter]),
            ("last_quarter", samples[-quarter:]),
        )
    }


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        text = f"{CONFIG}MAX_JOBS_PER_SUBMISSION = 2000000\nMAX_JOBS_PER_OWNER = 2000000\n"
        pool = PersonalPool(str(work / "pool"), configuration=text)
        try:
            pool.make()
            pool.start()
            began = time.monotonic()
            submit(pool, work / "many", arguments.jobs)
            samples = watch(pool, work / "many" / "log", arguments.jobs, arguments.seconds)
            wall = time.monotonic() - began
        finally:
            pool.stop(how="fast")
    found = {
        "jobs": arguments.jobs,
        "taken": time.strftime("%Y-%m-%d %H:%M:%S"),
        "load_average": os.getloadavg()[0],
        "jobs_per_second_with_submit": round(arguments.jobs / wall, 1),
        **compare(samples),
    }
    print(json.dumps(found, indent=2))
    print_tenths(by_tenth(samples, arguments.jobs))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found | {"samples": samples}, indent=2) + "\n")


if __name__ == "__main__":
    main()
