"""What one short job costs: CPU by daemon, page faults, switches, and where the time goes.

    python bench/job_cost.py [--jobs N] [--config TEXT] [--profile] [--strace]

CPU seconds do not depend on what else the machine runs, jobs a second do. `--profile` samples every
daemon's call stack and prints the functions that hold most of it; `--strace` counts system calls
by daemon (and makes the run slow). Run it as root and as an ordinary user: they differ.
"""

from __future__ import annotations

import argparse
import os
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
from pool import CONFIG, SLOTS, spawn_rate, submit, wait_for_end

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


def read_costs(root: int) -> dict[str, Cost]:
    """Return by daemon what the tree below `root` used; who has ended counts as its parent's."""
    parents: dict[int, int] = {}
    facts: dict[int, list[str]] = {}
    names: dict[int, str] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = Path(f"/proc/{entry}/stat").read_text()
            title = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        words = text.rpartition(")")[2].split()
        parents[int(entry)] = int(words[1])
        facts[int(entry)] = words
        names[int(entry)] = "zygotes" if "zygote" in title else title.partition(" ")[0]
    found: dict[str, Cost] = defaultdict(Cost)
    for pid, words in facts.items():
        at = pid
        while at not in (root, 0, 1):
            at = parents.get(at, 0)
        if at != root:
            continue
        name = names[pid].removeprefix("condor_")
        found[name].add(Cost(int(words[11]) * _TICK, int(words[12]) * _TICK, int(words[7])))
        ended = Cost(int(words[13]) * _TICK, int(words[14]) * _TICK, int(words[8]))
        found["the jobs" if name == "starter" else f"ended below {name}"].add(ended)
    return found


def print_costs(before: dict[str, Cost], after: dict[str, Cost], jobs: int) -> None:
    """Print a line a daemon, in milliseconds and page faults a job."""
    total = Cost()
    print(f"{'CPU ms a job':<24}{'all':>8}{'user':>8}{'system':>8}{'faults':>8}")
    for name in sorted(after):
        used = after[name] - before.get(name, Cost())
        total.add(used)
        if used.user + used.system > jobs * 2e-5:
            print_cost(name, used, jobs)
    print_cost("whole pool", total, jobs)


def print_cost(name: str, used: Cost, jobs: int) -> None:
    """Print one line."""
    user, system = used.user * 1000 / jobs, used.system * 1000 / jobs
    print(f"{name:<24}{user + system:8.2f}{user:8.2f}{system:8.2f}{used.faults / jobs:8.0f}")


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
    for name in ("schedd", "shadow", "startd", "collector"):
        pids = subprocess.run(
            ["pgrep", "-f", f"^condor_{name}"], capture_output=True, text=True, check=False
        ).stdout.split()
        for pid in pids:
            if b"zygote" in Path(f"/proc/{pid}/cmdline").read_bytes():
                continue
            argv = ["strace", "-c", "-q", "-o", str(folder / f"{name}.{pid}"), "-p", pid]
            tracers.append(subprocess.Popen(argv, stderr=subprocess.DEVNULL))
    del root
    time.sleep(0.5)
    return tracers


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--config", default="", help="lines of configuration, `;` between them")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--strace", action="store_true")
    arguments = parser.parse_args()
    rate = spawn_rate(200)
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
        pool.make()
        pool.start()
        try:
            master = pool.master_pid() or 0
            submit(pool, work / "warm", WARM)
            wait_for_end(work / "warm", WARM)
            tracers = follow_calls(master, work) if arguments.strace else []
            before = read_costs(master)
            began = time.time()
            yardstick = Yardstick()
            yardstick.start()
            submit(pool, work / "short", arguments.jobs)
            wait_for_end(work / "short", arguments.jobs)
            wall = time.time() - began
            piece = yardstick.end()
            after = read_costs(master)
            for tracer in tracers:
                tracer.send_signal(signal.SIGINT)
                tracer.wait()
        finally:
            pool.stop(how="fast")
        print(
            f"{arguments.jobs / wall:.1f} jobs/s on {SLOTS} slots; posix_spawn alone {rate:.0f}/s"
        )
        print(f"a fixed piece of Python: {piece:.3f} ms of CPU meanwhile")
        print_costs(before, after, arguments.jobs)
        if arguments.profile:
            print_profile(samples, arguments.jobs)
        for path in sorted(work.glob("*.[0-9]*")):
            print(f"\n{path.name}: system calls of {arguments.jobs} jobs")
            print(path.read_text())


if __name__ == "__main__":
    main()
