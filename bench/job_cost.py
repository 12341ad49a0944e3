"""What one short job costs: CPU by daemon, page faults, switches, and where the time goes.

    python bench/job_cost.py [--jobs N] [--config TEXT] [--profile] [--strace] [--json FILE]

CPU seconds depend little on what else the machine runs, jobs a second wholly; a fixed piece of
Python, measured meanwhile, says how much little is. `--profile` samples every
daemon's call stack and prints the functions that hold most of it; `--strace` counts system calls
by daemon (and makes the run slow). Run it as root and as an ordinary user: they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from kettle.pool.personal import PersonalPool
from pool import CONFIG, spawn_rate, submit, wait_for_end

_TICK = 1 / os.sysconf("SC_CLK_TCK")
WARM = 40
# What is worth a line.
_FEWEST_SAMPLES = 100
_LEAST_PERCENT = 0.7


@dataclass
class Cost:
    """What processes used: seconds of CPU, page faults; of those reaped by them beside."""

    user: float = 0.0
    system: float = 0.0
    faults: int = 0

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.user - other.user, self.system - other.system, self.faults - other.faults)

    def add(self, other: Cost) -> None:
        """Add another's."""
        self.user += other.user
        self.system += other.system
        self.faults += other.faults


@dataclass
class Process:
    """A process of the pool: its daemon's name, and the fields of /proc/PID/stat from the state."""

    pid: int
    name: str
    facts: list[str]


def processes_below(root: int) -> list[Process]:
    """Return the master `root` and all below it."""
    found: dict[int, Process] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{entry}/stat").read_text()
            title = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        name = "zygotes" if "zygote" in title else title.partition(" ")[0].removeprefix("condor_")
        found[int(entry)] = Process(int(entry), name.rstrip(":"), text.rpartition(")")[2].split())

    def is_below(pid: int) -> bool:
        while pid in found and pid != root:
            pid = int(found[pid].facts[1])
        return pid == root

    return [one for pid, one in found.items() if is_below(pid)]


def read_costs(root: int) -> dict[str, Cost]:
    """Return by daemon what the tree below `root` used; who has ended counts as its parent's."""
    costs: dict[str, Cost] = defaultdict(Cost)
    for one in processes_below(root):
        words = one.facts
        costs[one.name].add(Cost(int(words[11]) * _TICK, int(words[12]) * _TICK, int(words[7])))
        ended = Cost(int(words[13]) * _TICK, int(words[14]) * _TICK, int(words[8]))
        costs["the jobs" if one.name == "starter" else f"ended below {one.name}"].add(ended)
    return costs


def costs_of_a_job(
    before: dict[str, Cost], after: dict[str, Cost], jobs: int
) -> dict[str, dict[str, float]]:
    """Return by daemon the milliseconds and page faults of one job."""
    total = Cost()
    table: dict[str, dict[str, float]] = {}
    # Who has ended meanwhile is in another row now, and no longer in its own.
    for name in sorted(before.keys() | after.keys()):
        used = after.get(name, Cost()) - before.get(name, Cost())
        total.add(used)
        if used.user + used.system > jobs * 2e-5:
            table[name] = _per_job(used, jobs)
    return table | {"whole pool": _per_job(total, jobs)}


def _per_job(used: Cost, jobs: int) -> dict[str, float]:
    user, system = used.user * 1000 / jobs, used.system * 1000 / jobs
    shares = {"all": user + system, "user": user, "system": system, "faults": used.faults / jobs}
    return {name: round(value, 3) for name, value in shares.items()}


def print_figures(figures: dict[str, object]) -> None:
    """Print them, and the table of daemons, as lines."""
    for name, value in figures.items():
        if isinstance(value, dict):
            print(f"{name:<24}{'all':>8}{'user':>8}{'system':>8}{'faults':>8}")
            for daemon, row in value.items():
                print(f"{daemon:<24}" + "".join(f"{share:8.2f}" for share in row.values()))
        else:
            print(f"{name:<48} {value}")


def print_profile(folder: Path, jobs: int) -> None:
    """Print, by daemon, who calls whom for how long, and which functions work themselves."""
    daemons: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(folder.iterdir()):
        daemons[path.name.partition(".")[0]].update(_read_stacks(path))
    for name, stacks in daemons.items():
        samples = sum(stacks.values())
        if samples < _FEWEST_SAMPLES:
            continue
        alone: Counter[str] = Counter()
        tree: Counter[tuple[str, ...]] = Counter()
        for stack, count in stacks.items():
            places = [place.rpartition(":")[0] for place in stack.split(";")]
            alone[places[-1]] += count
            for depth in range(1, len(places) + 1):
                tree[tuple(places[:depth])] += count
        print(f"\n{name}: {samples} samples, {jobs} jobs; percent of them")
        for callers, count in sorted(tree.items()):
            if count * 100 >= samples * _LEAST_PERCENT:
                print(f"{count * 100 / samples:6.1f} {'. ' * len(callers)}{callers[-1]}")
        print("in itself:")
        for place, count in alone.most_common(30):
            print(f"{count * 100 / samples:6.1f}  {place}")


def _read_stacks(path: Path) -> Counter[str]:
    stacks: Counter[str] = Counter()
    for line in path.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[stack] += int(count)
    return stacks


class Yardstick(threading.Thread):
    """Measures, ten times a second, what a fixed piece of Python costs at this moment.

    On a machine whose cores are shared or busy, CPU seconds are longer: divide by this.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.pieces: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Measure until it is over."""
        while not self.over.wait(0.1):
            began = time.thread_time()
            for _ in range(10):
                sum(number * number for number in range(2000))
            self.pieces.append((time.thread_time() - began) * 100)

    def end(self) -> float:
        """Return the mean CPU milliseconds of one piece."""
        self.over.set()
        self.join()
        return sum(self.pieces) / max(1, len(self.pieces))


def follow_calls(root: int, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Begin to count the system calls of every daemon of the pool."""
    tracers = []
    for one in processes_below(root):
        if one.name in ("schedd", "shadow", "startd", "collector"):
            output = str(folder / f"{one.name}.{one.pid}")
            argv = ["strace", "-c", "-q", "-o", output, "-p", str(one.pid)]
            tracers.append(subprocess.Popen(argv, stderr=subprocess.DEVNULL))
    if tracers:
        time.sleep(0.5)
    return tracers


def measure(pool: PersonalPool, work: Path, jobs: int, *, strace: bool) -> dict[str, object]:
    """Run the jobs in a pool that is up; return what they cost."""
    master = pool.master_pid() or 0
    submit(pool, work / "warm", WARM)
    wait_for_end(work / "warm", WARM)
    tracers = follow_calls(master, work) if strace else []
    before = read_costs(master)
    yardstick = Yardstick()
    yardstick.start()
    began = time.time()
    submit(pool, work / "short", jobs)
    wait_for_end(work / "short", jobs)
    wall = time.time() - began
    piece = yardstick.end()
    after = read_costs(master)
    for tracer in tracers:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    return {
        "jobs_per_second_with_submit": round(jobs / wall, 1),
        "load_average": os.getloadavg()[0],
        "fixed_piece_of_python_cpu_ms": round(piece, 4),
        "cpu_ms_and_faults_a_job": costs_of_a_job(before, after, jobs),
    }


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--config", default="", help="lines of configuration, `;` between them")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--strace", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    figures: dict[str, object] = {
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "taken": time.strftime("%Y-%m-%d %H:%M:%S"),
        "account": "root" if os.getuid() == 0 else "an ordinary user",
        "jobs": arguments.jobs,
        "posix_spawn_per_second": round(spawn_rate(200), 1),
    }
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        samples = work / "profile"
        samples.mkdir()
        samples.chmod(0o1777)
        environment = dict(os.environ)
        if arguments.profile:
            environment["KETTLE_PROFILE"] = str(samples)
        text = CONFIG + arguments.config.replace(";", "\n") + "\n"
        pool = PersonalPool(str(work / "pool"), configuration=text, environment=environment)
        try:
            pool.make()
            pool.start()
            figures |= measure(pool, work, arguments.jobs, strace=arguments.strace)
        finally:
            pool.stop(how="fast")
        print_figures(figures)
        if arguments.profile:
            print_profile(samples, arguments.jobs)
        for path in sorted(work.glob("*.[0-9]*")):
            print(f"\n{path.name}: system calls of {arguments.jobs} jobs")
            print(path.read_text())
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
