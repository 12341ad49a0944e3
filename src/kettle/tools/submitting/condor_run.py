"""`condor_run`: run one shell command as a job and wait for it, as if it had run here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from kettle.classad.text import equals
from kettle.errors import StorageError, UsageError
from kettle.octets import AS_IS
from kettle.tools.options import Asked, run_tool
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
# Limit: names that are tried for the files of one run.
_MOST_NAMES = 100


class _Ended(BaseException):
    """A signal wants this program to end; no code that handles errors is to swallow it."""


@dataclass
class Wish:
    """The command and how to submit it."""

    words: list[str] = field(default_factory=list)
    universe: str = "vanilla"
    lines: list[str] = field(default_factory=list)
    getenv: bool = False


class Files:
    """The files of one run, in the current folder: the reference's, which its job's ad names.

    All are made before the job is submitted, and none that is there already is used: in a folder
    that others can write to somebody may have put a link of that name, and an event log that a run
    of the same process id has left would tell of that run's end.

    Compat: the reference writes through what is there; here a run whose names are taken adds a
    number to them (test_condor_run_leaves_alone_what_has_its_files_names).
    """

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._made: list[Path] = []
        self._name(str(process_id))

    def _name(self, end: str) -> None:
        names = ("run", "submit", "log", "out", "error")
        self.run, self.submit, self.log, self.out, self.error = (
            Path(f".condor_{name}.{end}") for name in names
        )

    def make(self, wish: Wish, environment: Mapping[str, str]) -> None:
        """Write the script and the submit description; FileExistsError if no names are free."""
        for number in range(_MOST_NAMES):
            self._name(f"{self._process_id}.{number}" if number else str(self._process_id))
            try:
                self._make(wish, environment)
            except FileExistsError:
                self.remove()
                if number + 1 == _MOST_NAMES:
                    raise
            else:
                return

    def _make(self, wish: Wish, environment: Mapping[str, str]) -> None:
        as_root = os.geteuid() == 0
        script = render_script(wish, environment)
        self._write(self.run, script, 0o755 if as_root else 0o700)
        for path in (self.log, self.out, self.error):
            # Root's jobs run as an account of no consequence, which must be able to write here.
            self._write(path, "", 0o666 if as_root else None)
        self._write(self.submit, render_submit(wish, self, environment))

    def _write(self, path: Path, text: str, mode: int | None = None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(
            os.open(path, flags, 0o666 if mode is None else 0o600),
            "w",
            encoding="utf-8",
            errors=AS_IS,
        ) as file:
            self._made.append(path)
            file.write(text)
            if mode is not None:
                os.fchmod(file.fileno(), mode)

    def remove(self) -> None:
        """Remove those that were made; what tells of the job's removal may come after that."""
        for path in self._made:
            path.unlink(missing_ok=True)
        self._made.clear()


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_run`; the exit code is the job's."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        files = Files(os.getpid())
        try:
            with _ended_by_signals():
                return run_job(wish, files, environment, streams)
        except _Ended as ended:
            streams.stderr.write(f"Killed by {ended}.\n")
            return _ENDED_BY_SIGNAL
        except OSError as error:
            raise StorageError(
                f"cannot write {error.filename} in the current folder: {error.strerror}"
            ) from None
        finally:
            files.remove()

    def complain(_: UsageError) -> str:
        # Compat: a command that is missing is asked for on stdout
        # (test_condor_run_without_a_command_says_its_usage_on_stdout).
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
    """Return what the command line asks for; UsageError for what it cannot mean.

    As in the reference an option is known by its first letter, and what is none is a word of the
    command. Compat: behind the command's first word the reference still takes options for its own
    (test_what_is_behind_the_command_is_its_own).
    """
    wish = Wish()
    rest = iter(words)
    for word in rest:
        if word == "-version":
            raise Asked("version")
        # As in the reference, who asks for help has not said what to run.
        if word.startswith(("-h", "--help")):
            raise UsageError("Say which command to run")
        if word.startswith("-u"):
            wish.universe = word[2:] or next(rest, "")
        elif word.startswith("-a"):
            wish.lines.append(next(rest, ""))
        elif word.startswith("-getenv"):
            wish.getenv = True
        else:
            wish.words = [word, *rest]
    if not wish.words:
        raise UsageError("Say which command to run")
    return wish


def render_script(wish: Wish, environment: Mapping[str, str]) -> str:
    """Return the program of the job: the command, for the user's shell."""
    shell = environment.get("SHELL") or "/bin/sh"
    return f"#!{shell}\n{' '.join(wish.words)} \n"


def render_submit(wish: Wish, files: Files, environment: Mapping[str, str]) -> str:
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
        f"executable = {files.run}",
        "notification = never",
        f"log = {files.log}",
        f"output = {files.out}",
        f"error = {files.error}",
    ]
    if wish.getenv:
        lines.append("getenv = true")
    if wishes:
        lines.append(f"requirements = {' && '.join(wishes)}")
    return "\n".join([*lines, *wish.lines, "queue", ""])


def run_job(wish: Wish, files: Files, environment: Mapping[str, str], streams: Streams) -> int:
    """Submit, wait, show what the job wrote, and return its exit code."""
    files.make(wish, environment)
    # With -getenv a program in the current folder needs no "./".
    nearer = {**environment, "PATH": environment.get("PATH", "") + ":."}
    cluster = ""
    try:
        # Before it is known which job it is, nobody could take it out of the queue again.
        with _signals_held_back():
            submitted = _run_tool(["condor_submit", "-terse", str(files.submit)], nearer)
            if submitted.returncode == 0:
                cluster = submitted.stdout.split(".")[0].strip()
        if not cluster:
            streams.stderr.write(f"{submitted.stderr}Failed to submit Condor job.\n")
            return _NOTHING_THERE
        for line in submitted.stderr.splitlines():
            if line.startswith("WARNING"):
                streams.stderr.write(f"{line}\n")
        code = wait_for_end(files.log, streams)
    except _Ended:
        if cluster:
            with _signals_held_back():
                _run_tool(["condor_rm", cluster], environment)
        raise
    return code or 0 if _show(files, streams, removed=code is None) else _NOTHING_THERE


def _show(files: Files, streams: Streams, *, removed: bool) -> bool:
    """Show what the job wrote; False if a file is gone, or nothing ever came of a removed job."""
    for path, stream, word in (
        (files.out, streams.stdout, "output"),
        (files.error, streams.stderr, "error"),
    ):
        if not path.exists() or (removed and not path.stat().st_size):
            streams.stderr.write(f"Failed to open job {word} file.\n")
            return False
        stream.write(path.read_text(encoding="utf-8", errors=AS_IS))
    return True


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Have the signals that end a program wait, here and for the programs that are started."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have the signals that end a program raise _Ended here, once: what then follows is short."""
    ended = False

    def end(number: int, _frame: FrameType | None) -> None:
        nonlocal ended
        if ended:
            return
        ended = True
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
        encoding="utf-8",
        errors=AS_IS,
        check=False,
    )


def wait_for_end(log: Path, streams: Streams) -> int | None:
    """Wait until the job's log tells of its end; return the exit code, None of one removed.

    As in the reference, one that a signal killed has 0, and a job that is held is waited for.
    Compat: here it is said that it is held (test_condor_run_waits_for_a_job_that_is_held).
    """
    # A signal that comes while a class is being made would come out as a RuntimeError of the class.
    with _signals_held_back():
        import time

        from kettle.records.event_ends import JobTerminatedEvent
        from kettle.records.event_kinds import JobAbortedEvent, JobHeldEvent
        from kettle.records.event_log import read_events

    told = 0
    while True:
        held = 0
        for event in read_events(log.read_bytes()) if log.exists() else []:
            if isinstance(event, JobTerminatedEvent):
                if event.normal:
                    return event.return_value or 0
                streams.stderr.write(f"Condor job killed by signal {event.signal or 0}.\n")
                return 0
            if isinstance(event, JobAbortedEvent):
                streams.stderr.write("The job was aborted")
                return None
            if isinstance(event, JobHeldEvent):
                held += 1
                if held > told:
                    streams.stderr.write(f"condor_run: the job is held: {event.reason}\n")
                    streams.stderr.flush()
        told = max(told, held)
        time.sleep(0.1)
