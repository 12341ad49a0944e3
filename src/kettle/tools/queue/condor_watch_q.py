"""`condor_watch_q`: follow jobs by their event logs, without asking the schedd again and again.

The schedd is asked once which logs the user's jobs write; from then on the logs alone tell. What a
state is and when to stop are decided here; reading logs is `records/event_log.py`.
"""

from __future__ import annotations

import argparse
import getpass
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kettle.errors import KettleError, UsageError
from kettle.records.event_log import EventReader
from kettle.tools.configuration.condor_version import version_text
from kettle.tools.programs import Streams

if TYPE_CHECKING:
    from kettle.classad import ClassAd

INTERVAL_SECONDS = 0.5
_BAR_WIDTH = 60
# Options of the reference about its colours and its rows' decay, which there are none of here.
_WITHOUT_EFFECT = (
    "exit-on-key-press",
    "row-progress",
    "updated-at",
    "abbreviate",
    "color",
    "decay-start-at-read",
)


class State(Enum):
    """What is shown of a job."""

    IDLE = "IDLE"
    RUNNING = "RUN"
    DONE = "DONE"
    REMOVED = "REMOVED"
    HELD = "HELD"
    SUSPENDED = "SUSPENDED"


_STATES = {
    0: State.IDLE,
    1: State.RUNNING,
    4: State.IDLE,
    5: State.DONE,
    7: State.IDLE,
    9: State.REMOVED,
    10: State.SUSPENDED,
    11: State.RUNNING,
    12: State.HELD,
    13: State.IDLE,
}
_SHOWN = (State.IDLE, State.RUNNING, State.DONE, State.HELD, State.SUSPENDED, State.REMOVED)
_ENDED = frozenset({State.DONE, State.REMOVED})


class ExitWhen(NamedTuple):
    """A condition to stop: all, any or none of the jobs are in a state; with which code."""

    grouper: str
    status: str
    code: int

    def holds(self, states: Iterable[State]) -> bool:
        """Tell whether it is time to stop."""
        tests = [_is(state, self.status) for state in states]
        return {"all": all(tests), "any": any(tests), "none": not any(tests)}[self.grouper]


def _is(state: State, status: str) -> bool:
    match status:
        case "active":
            return state not in _ENDED
        case "done":
            return state in _ENDED
        case "idle":
            return state is State.IDLE
        case _:
            return state is State.HELD


@dataclass
class Log:
    """A log that is followed."""

    path: Path
    reader: EventReader = field(default_factory=EventReader)
    # Bytes read so far.
    read: int = 0

    def read_new(self) -> bytes:
        """Return what was added since the last time; nothing if the file is not there."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.read)
                data = file.read()
        except OSError:
            return b""
        self.read += len(data)
        return data


class View(NamedTuple):
    """Which parts are shown, and how."""

    table: bool = True
    progress: bool = False
    summary: bool = True
    percentages: bool = False
    # Rows whose jobs have all ended.
    exited: bool = True


@dataclass
class Watch:
    """The jobs that are followed and where they stand."""

    logs: list[Log]
    clusters: frozenset[int] | None = None
    names: dict[int, str] = field(default_factory=dict)
    group_by: str = "batch"
    view: View = field(default_factory=View)
    jobs: dict[tuple[int, int], State] = field(default_factory=dict)
    places: dict[tuple[int, int], str] = field(default_factory=dict)

    def update(self) -> None:
        """Read what the logs have become."""
        for log in self.logs:
            for event in log.reader.feed(log.read_new()):
                state = _STATES.get(event.number)
                if state is None or event.proc < 0:
                    continue
                if self.clusters is not None and event.cluster not in self.clusters:
                    continue
                self.jobs[event.cluster, event.proc] = state
                self.places[event.cluster, event.proc] = str(log.path)

    def group_of(self, job: tuple[int, int]) -> str:
        """Return the name of the row that a job belongs to."""
        if self.group_by == "log":
            return self.places[job]
        named = self.names.get(job[0]) if self.group_by == "batch" else None
        return named or f"ID: {job[0]}"

    def render(self) -> str:
        """Return the parts that are wanted: the table, a bar, the line of totals."""
        parts = [self._render_table()] if self.view.table else []
        if self.view.progress:
            parts.append([self._render_bar()])
        if self.view.summary:
            parts.append([self._render_summary()])
        return "\n\n".join("\n".join(lines) for lines in parts) + "\n"

    def _render_table(self) -> list[str]:
        groups: dict[str, list[tuple[int, int]]] = {}
        for job in sorted(self.jobs):
            groups.setdefault(self.group_of(job), []).append(job)
        if not self.view.exited:
            live = {name for name, jobs in groups.items() if self._active(jobs)}
            groups = {name: jobs for name, jobs in groups.items() if name in live}
        states = Counter(self.jobs.values())
        shown = [
            state
            for state in _SHOWN
            if states[state] or state in {State.IDLE, State.RUNNING, State.DONE}
        ]
        title = {"batch": "BATCH", "log": "LOG", "cluster": "CLUSTER"}[self.group_by]
        width = max([len(title), *map(len, groups)])
        head = "  ".join(f"{state.value:>4}" for state in shown)
        lines = [f"{title:<{width}}  {head}  TOTAL  JOB_IDS"]
        for name, jobs in groups.items():
            counts = Counter(self.jobs[job] for job in jobs)
            cells = "  ".join(
                f"{counts[state] or '-':>{max(4, len(state.value))}}" for state in shown
            )
            active = self._active(jobs)
            lines.append(f"{name:<{width}}  {cells}  {len(jobs):>5}  {_ids(active)}".rstrip())
        return lines

    def _active(self, jobs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        return [job for job in jobs if self.jobs[job] not in _ENDED]

    def _render_bar(self) -> str:
        ended = len(self.jobs) - len(self._active(list(self.jobs)))
        full = _BAR_WIDTH * ended // max(1, len(self.jobs))
        return f"[{'=' * full}{'-' * (_BAR_WIDTH - full)}]"

    def _render_summary(self) -> str:
        states = Counter(self.jobs.values())
        total = max(1, len(self.jobs))

        def share(state: State) -> str:
            count = states[state]
            return f"{100 * count / total:.1f}%" if self.view.percentages else str(count)

        said = ", ".join(
            f"{share(state)} {word}"
            for state, word in (
                (State.DONE, "completed"),
                (State.REMOVED, "removed"),
                (State.IDLE, "idle"),
                (State.RUNNING, "running"),
                (State.HELD, "held"),
                (State.SUSPENDED, "suspended"),
            )
        )
        return f"Total: {len(self.jobs)} jobs; {said}"


def _ids(jobs: Sequence[tuple[int, int]]) -> str:
    if not jobs:
        return ""
    first, last = jobs[0], jobs[-1]
    text = f"{first[0]}.{first[1]}"
    return text if first == last else f"{text} ... {last[0]}.{last[1]}"


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_watch_q`."""
    if argv[1:2] in (["-version"], ["--version"]):
        streams.stdout.write(version_text())
        return 0
    try:
        arguments = build_parser().parse_args(argv[1:])
        conditions = _read_conditions(arguments.exit, streams)
        watch = find_jobs(arguments, environment)
        watch.view = choose_view(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except KettleError as error:
        streams.stderr.write(f"ERROR: {error}\n")
        return 1
    pass_over_unreadable(watch, streams)
    if not watch.logs:
        streams.stderr.write("WARNING: No jobs found, exiting...\n")
        return 0
    try:
        return follow(watch, conditions, arguments.interval, arguments.refresh, streams)
    except KeyboardInterrupt:
        return 0


def _read_conditions(texts: Sequence[str], streams: Streams) -> list[ExitWhen]:
    """Return what -exit says; a word that says nothing ends the program as a wrong option does."""
    try:
        return [parse_exit(text) for text in texts]
    except UsageError as error:
        streams.stderr.write(f"condor_watch_q: error: {error}\n")
        raise SystemExit(2) from None


def build_parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(
        "condor_watch_q", description="Follow jobs by their event logs.", add_help=False
    )
    add = parser.add_argument
    add("-help", "--help", action="help", help="say this and end")
    add("-users", nargs="+", default=[], help="jobs of these users")
    add("-clusters", nargs="+", default=[], type=int, help="these clusters")
    add("-files", nargs="+", default=[], help="the jobs in these event logs")
    add("-batches", nargs="+", default=[], help="batches of these names")
    add("-collector", default="", help="the pool")
    add("-schedd", default="", help="the schedd")
    add("-interval", type=float, default=INTERVAL_SECONDS, help="seconds between looks")
    add("-exit", action="append", default=[], metavar="all|any|none,STATUS[,CODE]")
    add("-groupby", choices=("batch", "log", "cluster"), default="batch")
    add("-refresh", action="store_true", default=None, help="redraw in place")
    add("-no-refresh", dest="refresh", action="store_false", help="print one after the other")
    add("-larger-than", type=int, metavar="CLUSTER", help="this cluster and later ones")
    add("-summary-type", choices=("totals", "percentages"), default="totals")
    for name, default, text in _PARTS:
        key = name.replace("-", "_")
        add(f"-{name}", dest=key, action="store_true", default=default, help=text)
        add(f"-no-{name}", dest=key, action="store_false", help=argparse.SUPPRESS)
    for name in _WITHOUT_EFFECT:
        add(f"-{name}", f"-no-{name}", action="store_true", help="taken; changes nothing here")
    add("-exited-row-decay", metavar="TIME", help="taken; changes nothing here")
    add("-debug", action="store_true")
    return parser


_PARTS = (
    ("table", True, "the table (-no-table: not)"),
    ("progress", False, "a bar of how many have ended"),
    ("summary", True, "the line of totals (-no-summary: not)"),
    ("display-exited", True, "rows whose jobs have all ended (-no-display-exited: not)"),
)


def choose_view(arguments: argparse.Namespace) -> View:
    """Return what the options want to be shown."""
    return View(
        table=arguments.table,
        progress=arguments.progress,
        summary=arguments.summary,
        percentages=arguments.summary_type == "percentages",
        exited=arguments.display_exited,
    )


def parse_exit(text: str) -> ExitWhen:
    """Read `GROUPER,STATUS[,CODE]`; UsageError if it is not that."""
    words = text.lower().split(",")
    if (
        len(words) not in {2, 3}
        or words[0] not in {"all", "any", "none"}
        or words[1] not in {"active", "done", "idle", "held"}
        or not (len(words) == 2 or words[2].isdecimal())
    ):
        raise UsageError(f"-exit {text} is not GROUPER,STATUS[,CODE]")
    return ExitWhen(words[0], words[1], int(words[2]) if len(words) == 3 else 0)


def find_jobs(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Watch:
    """Return what is to be followed; the schedd is asked unless only logs are named."""
    watch = Watch([Log(Path(path)) for path in arguments.files], group_by=arguments.groupby)
    tests = _tests_of(arguments)
    if arguments.files and not tests:
        return watch
    paths = {str(log.path) for log in watch.logs}
    clusters = set()
    for ad in _ask_schedd(arguments, environment, tests):
        cluster = ad.integer("ClusterId") or 0
        log = ad.string("UserLog") or ad.string("DAGManNodesLog")
        if log is None:
            continue
        clusters.add(cluster)
        watch.names[cluster] = ad.string("JobBatchName") or f"ID: {cluster}"
        path = str(Path(ad.string("Iwd") or ".") / log)
        if path not in paths:
            paths.add(path)
            watch.logs.append(Log(Path(path)))
    watch.clusters = None if arguments.files else frozenset(clusters)
    return watch


def _tests_of(arguments: argparse.Namespace) -> list[str]:
    """Return the conditions, one of which a job has to meet; none if the options name no jobs."""
    from kettle.classad.text import equals

    least = arguments.larger_than
    tests = [f"ClusterId == {cluster}" for cluster in arguments.clusters]
    tests += [f"ClusterId >= {least}"] if least is not None else []
    tests += [equals("Owner", user) for user in arguments.users]
    return tests + [equals("JobBatchName", name) for name in arguments.batches]


def _ask_schedd(
    arguments: argparse.Namespace, environment: Mapping[str, str], tests: Sequence[str]
) -> Iterable[ClassAd]:
    """Return what the schedd says of the jobs that meet a condition, of one's own by default."""
    from kettle.classad.text import equals
    from kettle.client.jobs import query_jobs
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=arguments.collector, name=arguments.schedd)
    return query_jobs(
        reach.connector,
        reach.schedd().address,
        constraint=" || ".join(tests or [equals("Owner", getpass.getuser())]),
        projection=("ClusterId", "UserLog", "Iwd", "JobBatchName", "DAGManNodesLog"),
    )


def pass_over_unreadable(watch: Watch, streams: Streams) -> None:
    """Take away the logs that cannot be opened, with a warning for each: they end no wait.

    Compat: a log that is not there at the start is not waited for; shown by
    test_a_log_that_is_not_there_is_named_and_not_waited_for.
    """
    readable = []
    for log in watch.logs:
        try:
            log.path.open("rb").close()
        except OSError as error:
            reason = "File path does not exist" if error.errno == ENOENT else error.strerror
            streams.stderr.write(
                f"WARNING: Could not open event log at {log.path.absolute()} for reading, so it "
                f"will be ignored. Reason: {reason}\n"
            )
        else:
            readable.append(log)
    watch.logs = readable


def follow(
    watch: Watch,
    conditions: Sequence[ExitWhen],
    interval: float,
    refresh: bool | None,
    streams: Streams,
) -> int:
    """Show the jobs, again after each change, until a condition holds; return its exit code."""
    redraw = streams.stdout.isatty() if refresh is None else refresh
    shown, lines = "", 0
    while True:
        watch.update()
        text = watch.render()
        if text != shown:
            if redraw and lines:
                streams.stdout.write(f"\x1b[{lines}F\x1b[J")
            streams.stdout.write(text)
            streams.stdout.flush()
            shown, lines = text, text.count("\n")
        for condition in conditions:
            if watch.jobs and condition.holds(watch.jobs.values()):
                return condition.code
        time.sleep(max(0.05, interval))
