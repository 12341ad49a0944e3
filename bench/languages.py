"""Configuration and submit files: what a tool takes to read a long one.

    PYTHONPATH=src python bench/languages.py [--lines N] [--procs N] [--ads N] [--json FILE]

CPU of one `condor_config_val` with a configuration of 2,000 lines, of one `condor_submit -dry-run`
that expands 100,000 procs, and of one that expands a fifth of them with files of their own: whole
programs from start to end, the least of several runs. Beside them stands `python -c pass`, and a
fixed piece of Python of this bench's own, which takes 1.0 ms on a quiet machine: divide by it to
compare two runs. The last figure is bytes: what a machine ad takes in a collector's store, as
`bench/classads.py` measures it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_RUN = (
    "import sys; from kettle.tools.programs import run_program; "
    "name = sys.argv[1]; sys.argv[:] = sys.argv[1:]; sys.exit(run_program(name))"
)
_STORED = "import classads, sys; print(classads.stored_memory(int(sys.argv[1])))"
_BYTES = "bytes of a stored machine ad"
_RUNS = 5
_PIECE = 30_000


def configuration(lines: int) -> str:
    """Return a configuration of so many lines: plain knobs, references, conditions, policies."""
    made = ["LOCAL_DIR = /tmp/nowhere", "LOG = $(LOCAL_DIR)/log", "SECURITY = false"]
    number = 0
    while len(made) < lines:
        made += [
            f"SITE_{number} = value {number}",
            f"SITE_PATH_{number} = $(LOCAL_DIR)/site/$(SITE_{number})",
            f"SITE_LIST = $(SITE_LIST) item{number}" if number % 9 == 0 else "# a comment",
            f'SITE_POLICY_{number} = (TARGET.Owner == "u{number}") && \\',
            f"   (MY.Memory > {number})",
            f"if version >= 8.{number % 10}",
            f"  SITE_NEW_{number} = $INT(NUMBER_{number}:{number})",
            "endif",
        ]
        number += 1
    return "\n".join(made) + "\n"


def submit_file(procs: int) -> str:
    """Return a submit file of so many procs that differ in arguments, output and a choice."""
    return (
        "executable = /bin/true\n"
        "arguments = --seed $(Process) --run $(Cluster).$(Process)\n"
        "output = out.$(Cluster).$(Process)\n"
        "request_memory = 512\n"
        '+Group = "g$INT(Process,%03d)"\n'
        f"queue {procs}\n"
    )


def submit_file_of_files(items: Path, procs: int) -> str:
    """Return a submit file of so many procs, each of which reads and writes files of its own."""
    items.write_text("".join(f"item{number}\n" for number in range(procs)), encoding="ascii")
    return (
        "executable = /bin/sh\ntransfer_executable = false\n"
        "arguments = run.sh $(Process) $(item)\n"
        "input = in.$(item)\noutput = out.$(Cluster).$(Process)\n"
        "error = err.$(Cluster).$(Process)\nlog = jobs.log\n"
        "should_transfer_files = YES\ntransfer_input_files = a.$(item), b.dat\n"
        "request_memory = 512\nrequest_disk = 1GB\n"
        f"queue item from {items}\n"
    )


def cpu_of(words: list[str], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a program, the least of several runs."""
    best = float("inf")
    for _ in range(_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, spent)
    return best


def piece() -> float:
    """Return the CPU seconds of a fixed piece of Python, the least of several."""
    best = float("inf")
    for _ in range(_RUNS):
        began = time.process_time()
        total = 0
        for number in range(_PIECE):
            total += number & 7
        best = min(best, time.process_time() - began)
    return best


def stored_bytes(ads: int) -> float:
    """Return the bytes of a machine ad in a collector's store, in a process of its own."""
    path = os.pathsep.join((str(_ROOT / "src"), str(_ROOT / "bench")))
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", _STORED, str(ads)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def measured(lines: int, procs: int, ads: int) -> dict[str, float]:
    """Return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        config, submit = Path(folder) / "condor_config", Path(folder) / "jobs.sub"
        config.write_text(configuration(lines), encoding="ascii")
        submit.write_text(submit_file(procs), encoding="ascii")
        files, few = Path(folder) / "files.sub", procs // 5
        files.write_text(submit_file_of_files(Path(folder) / "items", few), encoding="ascii")
        # Installed programs have their bytecode, and do not write each letter by itself.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.pop("PYTHONUNBUFFERED", None)
        environment = {**os.environ, "CONDOR_CONFIG": str(config), "PYTHONPATH": str(_ROOT / "src")}
        tool = [sys.executable, "-c", _RUN]
        return {
            "piece": piece(),
            "python -c pass": cpu_of([sys.executable, "-c", "pass"], environment),
            f"condor_config_val, {lines} lines": cpu_of(
                [*tool, "condor_config_val", "LOG"], environment
            ),
            f"condor_submit, {procs} procs": cpu_of(
                [*tool, "condor_submit", "-dry-run", os.devnull, str(submit)], environment
            ),
            f"condor_submit, {few} procs with files": cpu_of(
                [*tool, "condor_submit", "-dry-run", os.devnull, str(files)], environment
            ),
            _BYTES: stored_bytes(ads),
        }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--procs", type=int, default=100_000)
    parser.add_argument("--ads", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = measured(options.lines, options.procs, options.ads)
    for name, figure in figures.items():
        told = f"{figure:8.0f}" if name == _BYTES else f"{figure * 1000:8.1f} ms"
        print(f"{name:40} {told}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
