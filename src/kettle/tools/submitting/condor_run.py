"""`condor_run`: run one shell command as a job and wait for it, as if it had run here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from kettle.classad.text import equals
from kettle.errors import RefusedError, UsageError
from kettle.tools.options import Asked, UnknownOptionError, run_tool
from kettle.tools.programs import Streams

USAGE = """\
Usage: condor_run [-u UNIVERSE] [-a SUBMIT_LINE]… "SHELL COMMAND"

  -u UNIVERSE      run in this universe (vanilla)
  -a SUBMIT_LINE   add a line to the submit description, as request_memory=1024
  -getenv          give the job this environment
  -help, -version  say this, or the version, and end

CONDOR_ARCH, CONDOR_OPSYS and CONDOR_REQUIREMENTS in the environment say which machines will do.
"""


# By these the command ends as if it had run here: with its job.
_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
# Exit codes, as the reference's script leaves: what went wrong, or that a signal ended it.
_NOTHING_THERE = 2
_ENDED_BY_SIGNAL = 255


class _Ended(BaseException):
    """A signal wants this program to end; no code that handles errors is to swallow it."""


@dataclass
class Wish:
    """The command and how to submit it."""

    command: str = ""
    universe: str = "vanilla"
    lines: list[str] = field(default_factory=list)
    getenv: bool = False


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_run`; the exit code is the job's."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        try:
            with (
                _ended_by_signals(),
                tempfile.TemporaryDirectory(prefix=".condor_run.", dir=".") as name,
            ):
                return run_job(wish, Path(name).absolute(), environment, streams)
        except _Ended as ended:
            streams.stderr.write(f"Killed by {ended}.\n")
            return _ENDED_BY_SIGNAL

    def complain(error: UsageError) -> str:
        if isinstance(error, UnknownOptionError):
            return f"{error}\n{USAGE}"
        # Compat: a command that is missing is asked for on stdout.
        streams.stdout.write(USAGE)
        return ""

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=complain,
    )


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; UsageError for what it cannot mean."""
    wish = Wish()
    rest = iter(words)
    for word in rest:
        if word == "-version":
            raise Asked("version")
        # As in the reference, who asks for help has not said what to run.
        if word in {"-help", "--help", "-h"}:
            break
        if word in {"-u", "-a"}:
            value = next(rest, None)
            if value is None:
                raise UsageError(f"option {word} needs an argument")
            if word == "-u":
                wish.universe = value
            else:
                wish.lines.append(value)
        elif word == "-getenv":
            wish.getenv = True
        elif word.startswith("-") and not wish.command:
            raise UnknownOptionError(word)
        else:
            wish.command = " ".join([word, *rest])
    if not wish.command:
        raise UsageError("Say which command to run")
    return wish


def render_submit(wish: Wish, folder: Path, environment: Mapping[str, str]) -> str:
    """Return the submit description."""
    wishes = [
        f"({equals(attribute, environment[name])})"
        for attribute, name in (("Arch", "CONDOR_ARCH"), ("OpSys", "CONDOR_OPSYS"))
        if environment.get(name)
    ]
    if environment.get("CONDOR_REQUIREMENTS"):
        wishes.append(f"({environment['CONDOR_REQUIREMENTS']})")
    lines = [
        f"universe = {wish.universe}",
        f"executable = {folder / 'script'}",
        f"output = {folder / 'out'}",
        f"error = {folder / 'err'}",
        f"log = {_log_of(folder)}",
        "should_transfer_files = IF_NEEDED",
        "when_to_transfer_output = ON_EXIT",
        "notification = never",
    ]
    if wishes:
        lines.append(f"requirements = {' && '.join(wishes)}")
    if wish.getenv:
        lines.append("getenv = true")
    return "\n".join([*lines, *wish.lines, "queue", ""])


def run_job(wish: Wish, folder: Path, environment: Mapping[str, str], streams: Streams) -> int:
    """Submit, wait, show what the job wrote, and return its exit code."""
    # Root's jobs run as an account of no consequence, which must be able to write here.
    folder.chmod(0o777 if os.geteuid() == 0 else 0o755)
    script = folder / "script"
    shell = environment.get("SHELL") or "/bin/sh"
    script.write_text(f"#!{shell}\n{wish.command}\n", encoding="utf-8")
    script.chmod(0o755)
    log = _log_of(folder)
    log.touch()
    log.chmod(0o666 if os.geteuid() == 0 else 0o644)
    (folder / "submit").write_text(render_submit(wish, folder, environment), encoding="utf-8")
    try:
        submitted = _run_tool(["condor_submit", "-terse", str(folder / "submit")], environment)
    except _Ended:
        log.unlink(missing_ok=True)
        raise
    if submitted.returncode != 0:
        log.unlink(missing_ok=True)
        streams.stderr.write(f"{submitted.stderr}Failed to submit Condor job.\n")
        return _NOTHING_THERE
    for line in submitted.stderr.splitlines():
        if line.startswith("WARNING"):
            streams.stderr.write(f"{line}\n")
    cluster = submitted.stdout.split(".")[0].strip()
    try:
        code, complaint = wait_for_end(log)
    except RefusedError as error:
        streams.stderr.write(f"condor_run: {error}\n")
        _run_tool(["condor_rm", cluster], environment)
        return 1
    except _Ended:
        # The log stays, as the reference's does: it is told of the removal when this has ended.
        _run_tool(["condor_rm", cluster], environment)
        raise
    log.unlink(missing_ok=True)
    streams.stderr.write(complaint)
    for name, stream, word in (("out", streams.stdout, "output"), ("err", streams.stderr, "error")):
        if not (folder / name).exists():
            streams.stderr.write(f"Failed to open job {word} file.\n")
            return _NOTHING_THERE
        stream.write((folder / name).read_text(encoding="utf-8", errors="replace"))
    return code


def _log_of(folder: Path) -> Path:
    """Return where the job's event log is: beside the folder, because it may outlive that."""
    return folder.parent / f".condor_log.{os.getpid()}"


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have the signals that end a program raise _Ended here, once: what then follows is short."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        for other in _ENDING:
            signal.signal(other, signal.SIG_IGN)
        raise _Ended(signal.Signals(number).name)

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_tool(argv: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    code = (
        f"from kettle.tools.programs import run_program; raise SystemExit(run_program({argv[0]!r}))"
    )
    passed = {**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-c", code, *argv[1:]],
        env=passed,
        capture_output=True,
        text=True,
        check=False,
    )


def wait_for_end(log: Path) -> tuple[int, str]:
    """Wait until the job's log tells of its end; return the exit code, and what is said of it.

    As in the reference, one that a signal killed has 0. Raises RefusedError if the job is held.
    """
    import time

    from kettle.records.event_kinds import JobAbortedEvent, JobHeldEvent, JobTerminatedEvent
    from kettle.records.event_log import read_events

    while True:
        for event in read_events(log.read_bytes()) if log.exists() else []:
            if isinstance(event, JobTerminatedEvent):
                if event.normal:
                    return event.return_value or 0, ""
                return 0, f"Condor job killed by signal {event.signal or 0}.\n"
            if isinstance(event, JobAbortedEvent):
                return 0, "The job was aborted"
            if isinstance(event, JobHeldEvent):
                raise RefusedError(f"the job was held: {event.reason}")
        time.sleep(0.1)
