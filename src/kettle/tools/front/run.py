"""`kettle run`: a command, or one for each line or file, as jobs, with their output shown.

What is asked for becomes a submit file (`description.py`), which `--dry-run` prints. The exit code
is 0 if every job succeeded, a single job's own, else 1; 130 after Ctrl-C (or SIGTERM, or a
terminal that closed), which removes the jobs.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from kettle.errors import NotFoundError, UsageError
from kettle.octets import to_text
from kettle.records.event_base import Event
from kettle.records.event_ends import JobTerminatedEvent
from kettle.runtime.storage.texts import read_stream, read_text
from kettle.tools.front import place
from kettle.tools.front.batch import Batch, PoolGoneError, Tally
from kettle.tools.front.description import Request, can_be_listed, render_description
from kettle.tools.front.interruptions import Interruptions
from kettle.tools.front.progress import follow
from kettle.tools.front.waiting import Waiting
from kettle.tools.programs import Streams

# Limit: items of one run; more are better described in a submit file.
MOST_ITEMS = 1_000_000


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle run`."""
    parser = argparse.ArgumentParser(
        usage="kettle run [OPTIONS] -- COMMAND [ARGUMENT…]",
        description="Run a command as a job, or one job for each line of a file or each file. "
        "{} in the command or in --input stands for the line or file name.",
        epilog="A command with a slash in it (./prog) travels with the job; any other is looked "
        "for where the job runs.",
    )
    place.add_folder_option(parser)
    many = parser.add_mutually_exclusive_group()
    many.add_argument(
        "--each-line",
        metavar="FILE",
        help="one job for each line that is not empty, which reaches the command as it is; "
        "- is stdin",
    )
    many.add_argument(
        "--each-file", metavar="GLOB", nargs="+", help="one job for each file; the file travels"
    )
    parser.add_argument("--cpus", default="", metavar="N", help="CPUs each job needs")
    parser.add_argument("--memory", default="", metavar="SIZE", help="memory, as 2GB or 512MB")
    parser.add_argument("--disk", default="", metavar="SIZE", help="disk, as 10GB")
    parser.add_argument(
        "--input", metavar="FILE", action="append", default=[], help="a file that travels along"
    )
    parser.add_argument(
        "--output", metavar="FILE", action="append", default=[], help="a file to bring back"
    )
    parser.add_argument(
        "--set", metavar="COMMAND=VALUE", action="append", default=[], help="any submit command"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the submit file and end")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Submit, follow, show, and clean up behind."""
    request = read_request(arguments, streams)
    if arguments.dry_run:
        streams.stdout.write(render_description(request))
        return 0
    environment = place.pool_environment(arguments.dir, environment)
    folder = Path(tempfile.mkdtemp(prefix="kettle-run-"))
    interruptions = Interruptions()
    is_kept = False
    try:
        with interruptions.watched():
            return run_in(folder, request, arguments, environment, streams, interruptions)
    except PoolGoneError as error:
        # When the pool comes back its jobs go on, and look for their files.
        is_kept = not error.for_ever
        raise
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)


def read_request(arguments: argparse.Namespace, streams: Streams) -> Request:
    """Return what the options ask for; UsageError or NotFoundError if it cannot be."""
    command = list(arguments.command)
    if command[:1] == ["--"]:
        del command[0]
    if not command:
        raise UsageError("there is no command to run", hint="kettle run -- COMMAND [ARGUMENTS]")
    items: list[str] | None = None
    inputs = list(arguments.input)
    if arguments.each_line is not None:
        items = read_lines(arguments.each_line, streams)
    elif arguments.each_file is not None:
        items = find_files(arguments.each_file)
        inputs.append("{}")
    if items is not None and len(items) > MOST_ITEMS:
        raise UsageError(f"{len(items)} jobs are more than {MOST_ITEMS}")
    check_sizes(arguments)
    return Request(
        command,
        items=items,
        cpus=arguments.cpus,
        memory=arguments.memory,
        disk=arguments.disk,
        inputs=inputs,
        outputs=arguments.output,
        attributes=arguments.set,
        by_file=arguments.each_file is not None,
    )


def find_files(patterns: Iterable[str]) -> list[str]:
    """Return the files that patterns match, each once; NotFoundError for one without a match.

    What is there under a name is that, whatever the name looks like: a shell has perhaps made names
    of patterns before. Folders are passed over.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        names = [pattern] if os.path.lexists(pattern) else sorted(glob.glob(pattern))
        files = [os.path.abspath(name) for name in names if os.path.isfile(name)]
        if not files and not os.path.isdir(pattern):
            raise NotFoundError(f"no file matches {pattern}")
        found |= dict.fromkeys(files)
    if not found:
        raise NotFoundError(f"no file matches {' '.join(patterns)}")
    return list(found)


def check_sizes(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a request that is no number, or no number with a unit.

    The submit language takes any expression, and a mistyped one makes a job that waits for ever.
    """
    if arguments.cpus and not re.fullmatch(r"[1-9]\d*", arguments.cpus):
        raise UsageError(f"--cpus {arguments.cpus} is no number of CPUs", hint="--cpus 2")
    for name in ("memory", "disk"):
        size = getattr(arguments, name)
        if size and not re.fullmatch(r"\d+(\.\d+)? ?([KMGT]B?)?", size, re.IGNORECASE):
            raise UsageError(f"--{name} {size} is no size", hint=f"--{name} 2GB")


def read_lines(path: str, streams: Streams) -> list[str]:
    """Return the lines of a file that are not empty; NotFoundError if there are none.

    A line is what stands before a line feed, or before a carriage return and a line feed.
    """
    try:
        text = read_stream(streams.stdin, path) if path == "-" else read_text(path)
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {error.strerror}") from None
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    if not lines:
        raise NotFoundError(f"{path} has no lines")
    return lines


def stage_files(folder: Path, request: Request) -> Request:
    """Return the request with files whose names no list can carry linked to from `folder`.

    Each gets a folder of its own, of which the contents travel: so the file keeps its name.
    """
    paths = list(request.items or ())
    for number, path in enumerate(paths):
        if not can_be_listed(path):
            own = folder / f"item.{number}"
            own.mkdir()
            (own / os.path.basename(path)).symlink_to(path)
            paths[number] = f"{own}/"
    return replace(request, paths=paths)


def run_in(
    folder: Path,
    request: Request,
    arguments: argparse.Namespace,
    environment: Mapping[str, str],
    streams: Streams,
    interruptions: Interruptions,
) -> int:
    """Run the request with its log and standard streams in `folder`."""
    batch = Batch(environment, folder)
    request = request.placed_in(str(folder), str(batch.log))
    if request.by_file:
        request = stage_files(folder, request)
    where = f" --dir {shlex.quote(arguments.dir)}" if arguments.dir else ""
    shower = OutputShower(
        folder, streams, shown=not arguments.json, several=request.items is not None
    )
    waiting = Waiting(
        lambda: place.reach_queue(arguments.dir, environment), lambda: batch.cluster, where
    )
    title = os.path.basename(request.command[0])
    try:
        # What was submitted has to be known before it can be removed.
        with interruptions.held():
            batch.submit(render_description(request))
        for line in batch.warnings:
            streams.stderr.write(f"{line}\n")
        tally = follow(
            batch,
            title,
            environment,
            streams,
            on_event=shower.on_event,
            quiet=arguments.quiet or arguments.json,
            tell_why=lambda late: waiting.tell(late=late),
        )
    except KeyboardInterrupt:
        return interrupted(batch, streams, interruptions)
    except PoolGoneError as error:
        raise tell_what_becomes(batch, error, where) from None
    except BaseException:
        # A reader that went away (`| head`), too: what would be shown is nobody's any more.
        if batch.cluster:
            with interruptions.held(tells=False):
                batch.remove()
        raise
    return conclude(batch, tally, request, streams, as_json=arguments.json)


def conclude(
    batch: Batch, tally: Tally, request: Request, streams: Streams, *, as_json: bool
) -> int:
    """Remove what is held, print what came of the jobs, and return the exit code."""
    if tally.held and not (removal := batch.remove()).done:
        streams.stderr.write(f"{removal.said}\n")
    if as_json:
        streams.stdout.write(render_results(batch, tally, request) + "\n")
    else:
        report(batch, tally, streams)
    return choose_exit_code(tally)


def interrupted(batch: Batch, streams: Streams, interruptions: Interruptions) -> int:
    """Remove what was submitted when Ctrl-C or a signal came, and return the exit code of that."""
    if batch.cluster:
        with interruptions.held(tells=False):
            removal = batch.remove()
        with contextlib.suppress(OSError):
            # The terminal may be gone.
            streams.stderr.write(f"\n{removal.said}\n")
    return 130


def tell_what_becomes(batch: Batch, error: PoolGoneError, where: str) -> PoolGoneError:
    """Return the error with what becomes of the jobs; `where` is the option that names the pool."""
    number = batch.cluster
    if batch.is_purged():
        return PoolGoneError(
            f"the pool has been removed, and with it the jobs of cluster {number} that had not "
            "ended",
            hint=f"kettle up{where} makes a new pool, in which they can be run again",
            for_ever=True,
        )
    return PoolGoneError(
        f"{error.message}; the jobs of cluster {number} that have not ended are still queued",
        hint=f"kettle up{where} lets them go on, condor_rm {number} removes them; their output "
        f"comes to {batch.folder}",
    )


class OutputShower:
    """Passes on what each job printed, whole, when it has ended.

    A single job's is shown byte for byte; of `several` each begins on a line of its own.
    """

    def __init__(self, folder: Path, streams: Streams, *, shown: bool, several: bool) -> None:
        self._folder = folder
        self._streams = streams
        self._shown = shown
        self._several = several

    def on_event(self, event: Event) -> None:
        """Show a job's output if this is the event of its end."""
        if self._shown and isinstance(event, JobTerminatedEvent):
            for name, stream in (("out", self._streams.stdout), ("err", self._streams.stderr)):
                text = read_output(self._folder / f"{name}.{event.proc}")
                if text:
                    stream.write(text)
                    if self._several and not text.endswith("\n"):
                        stream.write("\n")
                    stream.flush()


def read_output(path: Path) -> str:
    """Return what a job wrote, empty if nothing came back."""
    try:
        return to_text(path.read_bytes())
    except OSError:
        return ""


def choose_exit_code(tally: Tally) -> int:
    """Return 0 if all succeeded, a single job's own code (128 + signal), else 1."""
    if tally.total == 1 and 0 in tally.ended:
        ending = tally.ended[0]
        if ending.signal is not None:
            return 128 + ending.signal
        return ending.code if ending.code is not None else 1
    return 0 if not tally.held and not tally.failed else 1


def report(batch: Batch, tally: Tally, streams: Streams) -> None:
    """Say on stderr what did not succeed."""
    for proc, ending in sorted(tally.ended.items()):
        if not ending.good and (tally.total > 1 or ending.removed):
            streams.stderr.write(f"job {batch.cluster}.{proc} {ending.sentence}\n")
    for proc, reason in sorted(tally.held.items()):
        streams.stderr.write(f"job {batch.cluster}.{proc} could not run: {reason}\n")


def render_results(batch: Batch, tally: Tally, request: Request) -> str:
    """Return every job's end and output as a JSON list."""
    rows = []
    for proc in range(tally.total):
        ending = tally.ended.get(proc)
        rows.append(
            {
                "job": f"{batch.cluster}.{proc}",
                "item": request.items[proc] if request.items is not None else None,
                "code": ending.code if ending else None,
                "signal": ending.signal if ending else None,
                "held": tally.held.get(proc),
                "output": read_output(batch.folder / f"out.{proc}"),
                "error": read_output(batch.folder / f"err.{proc}"),
            }
        )
    return json.dumps(rows, indent=2)
