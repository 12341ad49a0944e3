"""Short jobs, first job, pool up, submit rate, tool start-up: measured beside posix_spawn.

    python bench/pool.py [--jobs N] [--json FILE]

Every figure is taken in one run on one machine, so that the ratios mean something: the rate of bare
posix_spawn of /bin/true on one core is measured first and between. Where $KETTLE_PEER_ROOT names a
chroot with the real HTCondor, its pool does the same jobs in the end, and the figures are divided.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from peer import PeerPool, peer_pool, tools_cpu

from kettle.pool.personal import PersonalPool

SLOTS = 8
# HTCondor with as many slots, that looks for matches as often as its administrators let it.
_PEER = f"""\
use ROLE: Execute
NEGOTIATOR_INTERVAL = 5
NEGOTIATOR_MIN_INTERVAL = 1
NEGOTIATOR_CYCLE_DELAY = 1
UPDATE_INTERVAL = 5
RUNBENCHMARKS = false
NUM_CPUS = {SLOTS}
SLOT_TYPE_1 = cpus=1
NUM_SLOTS_TYPE_1 = {SLOTS}
SLOT_TYPE_1_PARTITIONABLE = false
"""
_END = b"\n005 ("
# What a user types, by which its CPU seconds are measured.
_TOOLS = (("condor_version",), ("condor_config_val", "LOG"), ("condor_q", "-totals"))
CONFIG = f"NUM_CPUS = {SLOTS}\n"
SUBMIT = """\
executable = /bin/true
transfer_executable = false
should_transfer_files = YES
log = {folder}/log
request_cpus = 1
request_memory = 10MB
request_disk = 1MB
queue {count}
"""


def spawn_rate(count: int = 300) -> float:
    """Return how many times a second /bin/true is spawned and reaped, one after the other."""
    began = time.perf_counter()
    for _ in range(count):
        pid = os.posix_spawn("/bin/true", ["/bin/true"], {})
        os.waitpid(pid, 0)
    return count / (time.perf_counter() - began)


def tool(name: str, *words: str, pool: PersonalPool | None = None) -> tuple[float, float, str]:
    """Run a tool as a program; return its wall seconds, CPU seconds and output."""
    program = Path(sys.executable).parent / name
    code = f"from kettle.tools.programs import run_program as r; raise SystemExit(r({name!r}))"
    argv = [str(program)] if program.exists() else [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if pool is not None:
        environment["CONDOR_CONFIG"] = pool.config_file
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [*argv, *words], env=environment, capture_output=True, text=True, check=False
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    if done.returncode:
        raise SystemExit(f"{name} {words}: {done.stderr}")
    return wall, cpu, done.stdout


def submit(pool: PersonalPool, folder: Path, count: int) -> float:
    """Submit `count` jobs; return the wall seconds of condor_submit."""
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    path = folder / "job.sub"
    path.write_text(SUBMIT.format(folder=folder, count=count))
    return tool("condor_submit", "-terse", str(path), pool=pool)[0]


class Ends:
    """Counts the ends in an event log that grows."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0
        self.count = 0

    def look(self) -> int:
        """Return how many jobs have ended."""
        if self._log.exists():
            with self._log.open("rb") as file:
                # An end that was cut in two at the last look is seen whole now.
                file.seek(max(0, self._read - len(_END) + 1))
                data = file.read()
            self._read = max(0, self._read - len(_END) + 1) + len(data)
            self.count += data.count(_END)
        return self.count


def wait_for_end(folder: Path, count: int, seconds: float = 300) -> float:
    """Wait until `count` jobs have ended; return when the last end was seen, in epoch seconds.

    No event is parsed: on a machine that is busy with the jobs that would be part of the figure.
    """
    deadline = time.monotonic() + seconds
    log = folder / "log"
    seen = Ends(log)
    while time.monotonic() < deadline:
        if seen.look() >= count:
            return time.time()
        time.sleep(0.02)
    raise SystemExit(f"{count} jobs did not end in {seconds} s")


def short_jobs(pool: PersonalPool, folder: Path, count: int) -> tuple[float, float]:
    """Return jobs a second to the last end: since condor_submit began, and since it returned."""
    before = time.time()
    submit(pool, folder, count)
    submitted = time.time()
    now = wait_for_end(folder, count)
    return count / (now - before), count / (now - submitted)


def first_job(pool: PersonalPool, folder: Path, tries: int = 5) -> float:
    """Return the median seconds from the return of condor_submit to the job's execution."""
    spans = []
    for number in range(tries):
        here = folder / str(number)
        here.mkdir(parents=True)
        here.chmod(0o777)
        path = here / "job.sub"
        path.write_text(
            "executable = /bin/sh\n"
            f"arguments = \"-c 'date +%s.%N > {here}/started'\"\n"
            "transfer_executable = false\nshould_transfer_files = YES\n"
            f"log = {here}/log\nqueue\n"
        )
        tool("condor_submit", str(path), pool=pool)
        returned = time.time()
        wait_for_end(here, 1)
        spans.append(float((here / "started").read_text()) - returned)
        time.sleep(0.2)
    return statistics.median(spans)


def measure_peer(peer: PeerPool, jobs: int) -> dict[str, float]:
    """Return what the real HTCondor needs for its first job and for short ones.

    How its pool comes up is not among it. The CPU seconds of its tools have those of the change
    into its chroot.
    """
    user = peer.folder / "user"

    def submit_there(name: str, text: str) -> None:
        (user / name).mkdir()
        (user / name / "job.sub").write_text(text)
        peer.run("chown", "-R", "tester", f"/tmp/{peer.name}/user/{name}")
        command = peer.argv_as_tester("condor_submit", "-terse", f"{name}/job.sub")
        subprocess.run(command, check=True, capture_output=True)

    def log(name: str) -> str:
        return f"/tmp/{peer.name}/user/{name}"

    tries = []
    for number in range(3):
        name = f"first{number}"
        submit_there(
            name,
            "executable = /bin/sh\n"
            f"arguments = \"-c 'date +%s.%N > {log(name)}/started'\"\n"
            f"transfer_executable = false\nlog = {log(name)}/log\nqueue\n",
        )
        returned = time.time()
        wait_for_end(user / name, 1)
        tries.append(float((user / name / "started").read_text()) - returned)
    before = time.time()
    submit_there("short", SUBMIT.format(folder=log("short"), count=jobs))
    rate = jobs / (wait_for_end(user / "short", jobs) - before)
    before = time.time()
    held = SUBMIT.format(folder=log("held"), count=jobs * 5).replace("queue", "hold = true\nqueue")
    submit_there("held", held)
    figures = {
        "first_job_seconds": statistics.median(tries),
        "short_jobs_per_second": rate,
        "submit_procs_per_second": jobs * 5 / (time.time() - before),
    }
    for words in _TOOLS:
        spent = []
        for _ in range(5):
            used = tools_cpu()
            peer.run(*words)
            spent.append(tools_cpu() - used)
        figures[f"{words[0]}_cpu_seconds"] = statistics.median(spent)
    return figures


def measure(jobs: int) -> dict[str, object]:
    """Take every figure; return them with the machine's description."""
    figures: dict[str, object] = {
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "taken": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    spawn = [spawn_rate()]
    with tempfile.TemporaryDirectory(prefix="kettle-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        ups = []
        for number in range(3):
            pool = PersonalPool(str(work / f"pool{number}"), configuration=CONFIG)
            began = time.perf_counter()
            pool.make()
            pool.start()
            ups.append(time.perf_counter() - began)
            if number < 2:
                pool.stop(how="fast")
                pool.purge()
        figures["pool_up_seconds"] = statistics.median(ups)
        figures["first_job_seconds"] = first_job(pool, work / "first")
        spawn.append(spawn_rate())
        rate, afterwards = short_jobs(pool, work / "short", jobs)
        figures["short_jobs_per_second"] = rate
        figures["short_jobs_per_second_once_submitted"] = afterwards
        spawn.append(spawn_rate())
        held = work / "held"
        held.mkdir()
        (held / "job.sub").write_text(
            SUBMIT.format(folder=held, count=jobs * 5).replace("queue", "hold = true\nqueue")
        )
        seconds, _, _ = tool("condor_submit", "-terse", str(held / "job.sub"), pool=pool)
        figures["submit_procs_per_second"] = jobs * 5 / seconds
        for words in _TOOLS:
            runs = [tool(words[0], *words[1:], pool=pool)[1] for _ in range(5)]
            figures[f"{words[0]}_cpu_seconds"] = statistics.median(runs)
        tool("condor_rm", "-all", pool=pool)
        pool.stop(how="fast")
    figures["posix_spawn_per_second"] = statistics.median(spawn)
    figures["short_jobs_to_posix_spawn"] = rate / statistics.median(spawn)
    return figures


def main() -> None:
    """Measure, print, and write the figures where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    figures = measure(arguments.jobs)
    with peer_pool(f"bench-pool-{os.getpid()}", _PEER) as peer:
        theirs = measure_peer(peer, arguments.jobs) if peer is not None else {}
    for name, value in theirs.items():
        figures[f"htcondor_{name}"] = value
        ours = figures[name]
        assert isinstance(ours, float)
        figures[f"{name}_to_htcondor"] = ours / value
    for name, value in figures.items():
        shown = f"{value:.4g}" if isinstance(value, float) else value
        print(f"{name:<38} {shown}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
