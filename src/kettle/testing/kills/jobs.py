"""Jobs of many kinds, which all note when they begin and end, and whether they are alone.

Each execution takes a lock on its job's own file, which everything that descends from it keeps:
an execution that does not get it has found another one alive, and says so. The notes go into one
file by single appends, so that a kill tears none, with the host's monotonic clock. What the notes
say is the truth that logs, history and queue are held against.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

_PROGRAM = """\
import fcntl, os, sys, time
folder, name, seconds, code, child = sys.argv[1:6]
run = f"{os.getpid()}:{time.monotonic_ns()}"

def note(word):
    fd = os.open(folder + "/witness", os.O_WRONLY | os.O_APPEND)
    os.write(fd, f"{word} {name} {run} {time.monotonic():.6f}\\n".encode())
    os.close(fd)

lock = os.open(f"{folder}/locks/{name}", os.O_RDWR | os.O_CREAT, 0o666)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    note("overlap")
note("begin")
if child == "child" and os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(600)
    os._exit(0)
time.sleep(float(seconds))
print(run, flush=True)
note("end")
os._exit(int(code))
"""


@dataclass(frozen=True)
class Kind:
    """One kind of job: how long it takes, how it ends, and what its description says besides.

    `ends` is how often it runs to its end before it leaves the queue.
    """

    name: str
    seconds: tuple[float, float]
    code: int = 0
    ends: int = 1
    child: bool = False
    lines: str = ""


KINDS = (
    Kind("instant", (0.0, 0.0)),
    Kind("short", (0.2, 1.5)),
    Kind("long", (2.0, 6.0)),
    Kind("failing", (0.0, 1.0), code=3),
    Kind("retrying", (0.0, 0.5), code=1, ends=3, lines="max_retries = 2\n"),
    Kind("held", (0.0, 1.0), lines="hold = true\n"),
    Kind("forking", (0.1, 2.0), child=True),
)


@dataclass
class Wish:
    """A job that somebody wants, by its place in the queue once that was acknowledged."""

    name: str
    kind: Kind
    cluster: int
    proc: int
    # Whether its user asked for its removal, and was told that it is removed.
    removed: bool = False


@dataclass(frozen=True)
class Execution:
    """One execution of a job's program, as it noted it itself; times of the monotonic clock."""

    run: str
    began: float
    ended: float | None = None


@dataclass
class Notes:
    """What the jobs' programs noted."""

    executions: dict[str, list[Execution]] = field(default_factory=dict)
    overlaps: list[str] = field(default_factory=list)


class Workshop:
    """The folder that the jobs of a campaign share: their program, their notes, their logs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.witness = folder / "witness"
        folder.chmod(0o777)
        for name in ("locks", "home"):
            (folder / name).mkdir()
            (folder / name).chmod(0o777)
        (folder / "home" / "job.py").write_text(_PROGRAM, encoding="utf-8")
        self.witness.touch()
        self.witness.chmod(0o666)

    def log_of(self, batch: str) -> Path:
        """Return the event log of a batch."""
        return self.folder / "home" / f"{batch}.log"

    def output_of(self, name: str) -> Path:
        """Return where a job's output comes home to."""
        return self.folder / "home" / f"out.{name}"

    def describe(self, batch: str, kind: Kind, count: int, source: random.Random) -> Path:
        """Write the submit description of so many jobs of a kind; return where it is."""
        child = "child" if kind.child else "alone"
        rows = "".join(
            f"  {batch}.{number},{source.uniform(*kind.seconds):.2f}\n" for number in range(count)
        )
        path = self.folder / "home" / f"{batch}.sub"
        path.write_text(
            "executable = /usr/bin/env\ntransfer_executable = false\nshould_transfer_files = yes\n"
            f"initialdir = {self.folder}/home\nlog = {self.log_of(batch)}\noutput = out.$(name)\n"
            "transfer_input_files = job.py\n"
            f"arguments = python3 -I -S job.py {self.folder} $(name) $(secs) {kind.code} {child}\n"
            "request_cpus = 1\nrequest_memory = 10MB\nrequest_disk = 1MB\n"
            f"{kind.lines}queue name,secs from (\n{rows})\n",
            encoding="utf-8",
        )
        return path

    def read_notes(self) -> Notes:
        """Read what the programs noted so far."""
        notes = Notes()
        for line in self.witness.read_text(encoding="ascii").splitlines():
            word, name, run, moment = line.split()
            executions = notes.executions.setdefault(name, [])
            if word == "overlap":
                notes.overlaps.append(name)
            elif word == "begin":
                executions.append(Execution(run, float(moment)))
            else:
                place = next(n for n, each in enumerate(executions) if each.run == run)
                executions[place] = Execution(run, executions[place].began, float(moment))
        return notes

    def living(self) -> list[int]:
        """Return the processes of this workshop's jobs that live."""
        found = []
        mark = f"\0job.py\0{self.folder}\0".encode()
        for name in filter(str.isdecimal, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            # Only the program itself, not the daemon that is about to become it.
            if mark in words and words.startswith(b"python3\0"):
                found.append(int(name))
        return found
