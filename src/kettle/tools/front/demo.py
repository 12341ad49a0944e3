"""`kettle demo`: a pool comes up, real work runs through it, the result is shown, the pool goes.

The work: one job for each package of Python's standard library measures its sources, and one
more merges what they found. The jobs are shell scripts and their input travels with them, so they
need nothing of the machine that runs them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kettle.errors import KettleError
from kettle.octets import AS_IS
from kettle.pool.personal import PersonalPool
from kettle.tools.front import place
from kettle.tools.front.batch import Batch, Tally
from kettle.tools.front.interruptions import Interruptions
from kettle.tools.front.progress import follow
from kettle.tools.programs import Streams

SCRIPTS = Path(__file__).parent / "demo_job"
# Not measured: tests and bundled wheels, which are large, and what is no package.
PASSED_OVER = frozenset({"test", "site-packages", "dist-packages", "ensurepip", "lib-dynload"})


@dataclass(frozen=True)
class Measured:
    """What one job found out about a package."""

    package: str
    files: int
    lines: int
    code: int
    comments: int
    blank: int
    functions: int
    classes: int
    bytes: int


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle demo`."""
    parser = argparse.ArgumentParser(
        description="Bring up a pool in a temporary folder, measure every package of Python's "
        "standard library with a job each, show what they found, and take the pool down."
    )
    parser.add_argument("--keep", metavar="D", help="make the pool in D and leave it up")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Do all of it; 1 if a job did not succeed, 130 after Ctrl-C, SIGTERM or a closed terminal."""
    interruptions = Interruptions()
    with interruptions.watched():
        return _run(arguments, environment, streams, interruptions)


def _run(
    arguments: argparse.Namespace,
    environment: Mapping[str, str],
    streams: Streams,
    interruptions: Interruptions,
) -> int:
    say = (lambda _text: None) if arguments.json else streams.stderr.write
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        # Who presses Ctrl-C meanwhile is heard when it is known what has to be taken away.
        with interruptions.held():
            folder = arguments.keep or tempfile.mkdtemp(prefix="kettle-demo-")
            pool = PersonalPool(folder, environment=environment)
            if not arguments.keep:
                stack.enter_context(taken_down(pool, streams, say, interruptions))
        pool.make()
        pool.start()
        say(f"A pool is up in {folder} ({time.monotonic() - began:.1f} s).\n")
        inside = {**environment, "CONDOR_CONFIG": pool.config_file}
        work = Path(tempfile.mkdtemp(prefix="work-", dir=pool.folder))
        try:
            found, seconds = measure(work, inside, streams, quiet=arguments.json)
            show(found, seconds, arguments, environment, streams)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return 0


@contextlib.contextmanager
def taken_down(
    pool: PersonalPool,
    streams: Streams,
    say: Callable[[str], object],
    interruptions: Interruptions,
) -> Iterator[None]:
    """Take the pool down in the end, and its folder, which is ours whatever became of the pool.

    What fails at that does not hide the error that the demonstration ended with; who presses
    Ctrl-C meanwhile waits for it.
    """
    try:
        yield
    except BaseException:
        try:
            with interruptions.held(tells=False):
                _take_down(pool)
        except KettleError as error:
            # The terminal may be gone.
            with contextlib.suppress(OSError):
                streams.stderr.write(f"{error}\n")
        raise
    with interruptions.held(tells=False):
        _take_down(pool)
    say("The pool is down and its folder is gone.\n")


def _take_down(pool: PersonalPool) -> None:
    pool.stop(how="fast")
    if pool.exists():
        pool.purge()
    else:
        shutil.rmtree(pool.folder, ignore_errors=True)


def find_packages() -> list[Path]:
    """Return the packages of the standard library, in order."""
    library = Path(sysconfig.get_path("stdlib"))
    return [
        path
        for path in sorted(library.iterdir())
        if path.name not in PASSED_OVER
        and not path.name.startswith(("_", "config-"))
        and path.is_dir()
        and any(path.glob("*.py"))
    ]


def measure(
    work: Path, environment: Mapping[str, str], streams: Streams, *, quiet: bool
) -> tuple[list[Measured], float]:
    """Run both clusters; return what they found and how many seconds it took."""
    packages = find_packages()
    began = time.monotonic()
    first = Batch(environment, make_folder(work / "measure"))
    first.submit(render_measuring(first, packages))
    check(first, follow(first, "measure", environment, streams, quiet=quiet))
    results = [first.folder / f"{path.name}.txt" for path in packages]
    second = Batch(environment, make_folder(work / "merge"))
    second.submit(render_merging(second, results))
    check(second, follow(second, "merge", environment, streams, quiet=quiet))
    text = (second.folder / "merged.txt").read_text(encoding="utf-8", errors=AS_IS)
    return read_merged(text), time.monotonic() - began


def make_folder(path: Path) -> Path:
    """Make a folder and return it."""
    path.mkdir()
    return path


def render_measuring(batch: Batch, packages: Sequence[Path]) -> str:
    """Return the submit file of the measuring jobs."""
    rows = "".join(f"    {path.name}, {path}\n" for path in packages)
    return (
        f"executable = {SCRIPTS / 'measure.sh'}\n"
        "arguments = $(package)\n"
        "transfer_input_files = $(path)\n"
        "transfer_output_files = \n"
        f"output = {batch.folder}/$(package).txt\n"
        f"error = {batch.folder}/$(package).err\n"
        f"log = {batch.log}\n"
        "should_transfer_files = YES\n"
        "request_cpus = 1\n"
        "request_memory = 32MB\n"
        "request_disk = 64MB\n"
        f"queue package, path from (\n{rows})\n"
    )


def render_merging(batch: Batch, results: Sequence[Path]) -> str:
    """Return the submit file of the merging job."""
    return (
        f"executable = {SCRIPTS / 'merge.sh'}\n"
        f"arguments = {' '.join(path.name for path in results)}\n"
        f"transfer_input_files = {', '.join(map(str, results))}\n"
        "transfer_output_files = \n"
        f"output = {batch.folder}/merged.txt\n"
        f"error = {batch.folder}/merged.err\n"
        f"log = {batch.log}\n"
        "should_transfer_files = YES\n"
        "request_memory = 32MB\n"
        "request_disk = 64MB\n"
        "queue\n"
    )


def check(batch: Batch, tally: Tally) -> None:
    """Raise KettleError, with the first reason, if a job of the batch did not succeed."""
    for proc, reason in sorted(tally.held.items()):
        raise KettleError(f"job {batch.cluster}.{proc} could not run: {reason}")
    for proc, ending in sorted(tally.ended.items()):
        if not ending.good:
            raise KettleError(f"job {batch.cluster}.{proc} {ending.sentence}")


def read_merged(text: str) -> list[Measured]:
    """Read the merging job's output: one line a package, largest first."""
    found = []
    for line in text.splitlines():
        package, *numbers = line.split()
        found.append(Measured(package, *map(int, numbers)))
    return found


def show(
    found: Sequence[Measured],
    seconds: float,
    arguments: argparse.Namespace,
    environment: Mapping[str, str],
    streams: Streams,
) -> None:
    """Print the result: as JSON, or as a table and a plot."""
    if arguments.json:
        facts = {"seconds": round(seconds, 3), "packages": [asdict(one) for one in found]}
        streams.stdout.write(json.dumps(facts, indent=2) + "\n")
        return
    from rich.console import Console

    colour = place.may_colour(environment, streams)
    console = Console(file=streams.stdout, no_color=not colour, highlight=False)
    console.print(make_table(found))
    console.print(render_plot(found, min(console.width, 100)))
    jobs = len(found) + 1
    console.print(f"{jobs} jobs in {seconds:.1f} s ({jobs / seconds:.0f} a second).")


def make_table(found: Sequence[Measured], most: int = 12) -> object:
    """Return a table of the largest packages and the sum of all."""
    from rich.table import Table

    table = Table(title="Python's standard library, measured by jobs")
    table.add_column("package")
    names = ("files", "lines", "code", "comments", "functions", "classes")
    for name in names:
        table.add_column(name, justify="right")
    for one in found[:most]:
        table.add_row(one.package, *(f"{getattr(one, name):,}" for name in names))
    rest = found[most:]
    if rest:
        sums = (f"{sum(getattr(one, name) for one in rest):,}" for name in names)
        table.add_row(f"{len(rest)} others", *sums, style="dim")
    table.add_section()
    sums = (f"{sum(getattr(one, name) for one in found):,}" for name in names)
    table.add_row(f"all {len(found)}", *sums, style="bold")
    return table


def render_plot(found: Sequence[Measured], width: int, most: int = 15) -> str:
    """Return a plot of bars: lines of code by package, `width` columns wide."""
    shown = found[:most]
    largest = max((one.code for one in shown), default=1) or 1
    names = max((len(one.package) for one in shown), default=0)
    room = max(10, width - names - 12)
    eighths = " ▏▎▍▌▋▊▉█"
    lines = ["lines of code"]
    for one in shown:
        units = round(one.code / largest * room * 8)
        bar = "█" * (units // 8) + eighths[units % 8].strip()
        lines.append(f"{one.package:>{names}} │{bar} {one.code:,}")
    return "\n".join(lines) + "\n"
