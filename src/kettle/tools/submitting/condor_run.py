"""`condor_run`: run one shell command as a job and wait for it, as if it had run here."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
        with tempfile.TemporaryDirectory(prefix=".condor_run.", dir=".") as name:
            return run_job(wish, Path(name).absolute(), environment, streams)

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
        f"log = {folder / 'log'}",
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
    script.write_text(f"#!/bin/sh\n{wish.command}\n", encoding="utf-8")
    script.chmod(0o755)
    (folder / "submit").write_text(render_submit(wish, folder, environment), encoding="utf-8")
    submitted = _run_tool(["condor_submit", "-terse", str(folder / "submit")], environment)
    if submitted.returncode != 0:
        streams.stderr.write(f"{submitted.stderr}Failed to submit Condor job.\n")
        return 2
    for line in submitted.stderr.splitlines():
        if line.startswith("WARNING"):
            streams.stderr.write(f"{line}\n")
    cluster = submitted.stdout.split(".")[0].strip()
    try:
        code = wait_for_end(folder / "log")
    except RefusedError as error:
        streams.stderr.write(f"condor_run: {error}\n")
        _run_tool(["condor_rm", cluster], environment)
        return 1
    except KeyboardInterrupt:
        _run_tool(["condor_rm", cluster], environment)
        return 130
    for name, stream in (("out", streams.stdout), ("err", streams.stderr)):
        if (folder / name).exists():
            stream.write((folder / name).read_text(encoding="utf-8", errors="replace"))
    return code


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


def wait_for_end(log: Path) -> int:
    """Wait until the job's log tells of its end; return the exit code (128 + a signal).

    Raises RefusedError if the job is held.
    """
    import time

    from kettle.records.event_kinds import JobAbortedEvent, JobHeldEvent, JobTerminatedEvent
    from kettle.records.event_log import read_events

    while True:
        for event in read_events(log.read_bytes()) if log.exists() else []:
            if isinstance(event, JobTerminatedEvent):
                return (event.return_value or 0) if event.normal else 128 + (event.signal or 0)
            if isinstance(event, JobAbortedEvent):
                return 1
            if isinstance(event, JobHeldEvent):
                raise RefusedError(f"the job was held: {event.reason}")
        time.sleep(0.1)
