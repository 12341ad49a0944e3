"""`condor_userlog`: sum up event logs: each run of a job, and what hosts and jobs used.

Only logs are read. `Runs` pairs the events that begin and end a run and `Totals` adds them up, both
pure; what the real one says is recorded in tests/data/cli/userlogs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kettle.records.event_base import Event
from kettle.records.event_ends import CheckpointedEvent, JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_kinds import (
    ExecutableErrorEvent,
    ExecuteEvent,
    ShadowExceptionEvent,
)
from kettle.records.event_log import damage_in
from kettle.records.event_usage import CpuTimes
from kettle.tools.programs import Streams

USAGE = """\
Usage: condor_userlog [OPTIONS] LOG-FILE ...

Show each run of the jobs in event logs, and what hosts and jobs used in all.

  -help                  show this and end
  -version               show the version and end
  -total                 the sums alone
  -raw                   the runs alone
  -evict                 only runs that ended because the job lost its slot
  -j CLUSTER[.PROC]      only these jobs, in the logs after this
  -all                   all jobs and runs again
  -hostname              name hosts, instead of their addresses
  -debug                 say which events do not fit together
"""
_HEADING = (
    "\nJob      Host            Start Time  Evict Time  Wall Time Good Time CPU Usage\n",
    "Host/Job        Wall Time Good Time CPU Usage Avg Alloc  Avg Lost Goodput  Util.\n\n",
)
_RECONNECT_FAILED = 24
PIECE = 1 << 20


@dataclass(frozen=True)
class Run:
    """One run: whose, where, from when to when, and how many seconds of it were not lost."""

    cluster: int
    proc: int
    host: str
    start: int
    end: int
    good: int
    cpu: int

    @property
    def wall(self) -> int:
        """Return how long it took, in seconds."""
        return self.end - self.start


@dataclass
class Sum:
    """What runs used together, in seconds."""

    runs: int = 0
    kills: int = 0
    wall: int = 0
    good: int = 0
    cpu: int = 0

    def add(self, run: Run) -> None:
        """Count one more run."""
        self.runs += 1
        self.kills += run.wall != run.good
        self.wall += run.wall
        self.good += run.good
        self.cpu += run.cpu

    def add_sum(self, other: Sum) -> None:
        """Count all of another sum's runs."""
        self.runs += other.runs
        self.kills += other.kills
        self.wall += other.wall
        self.good += other.good
        self.cpu += other.cpu

    def render(self, title: str) -> str:
        """Return the row of a table."""
        spans = (
            self.wall,
            self.good,
            self.cpu,
            self.wall // self.runs if self.runs else 0,
            (self.wall - self.good) // self.kills if self.kills else 0,
        )
        goodput = 100 * self.good / self.wall if self.wall else 0.0
        use = 100 * self.cpu / self.good if self.good else 0.0
        row = " ".join(f"{render_span(span):>9.9}" for span in spans)
        return f"{title:<15.15} {row} {goodput:6.1f}% {use:5.1f}%\n"


@dataclass
class Runs:
    """What the events seen so far say: which runs have begun, and their last checkpoints.

    Compat: a run that goes on in the next log is one run; the reference begins anew with each log,
    and loses it where a log was rotated (test_a_run_goes_on_in_the_next_log).
    """

    evictions_alone: bool = False
    warnings: list[str] = field(default_factory=list)
    _begun: dict[str, ExecuteEvent] = field(default_factory=dict)
    _saved: dict[str, CheckpointedEvent] = field(default_factory=dict)

    def take(self, event: Event) -> Run | None:
        """Look at the next event; return the run that it ends, if it counts."""
        job = f"{event.cluster}.{event.proc}"
        if type(event) is ExecuteEvent:
            self._begin(job, event)
        elif isinstance(event, CheckpointedEvent):
            self._saved[job] = event
        elif isinstance(event, JobEvictedEvent):
            return self._end(job, event, "evicted job ", counts=True)
        elif type(event) is JobTerminatedEvent:
            return self._end(job, event, "terminated job ", counts=not self.evictions_alone)
        elif isinstance(event, (ExecutableErrorEvent, ShadowExceptionEvent)) or (
            event.number == _RECONNECT_FAILED
        ):
            return self._end(job, event, "job ", counts=not self.evictions_alone)
        return None

    def _begin(self, job: str, event: ExecuteEvent) -> None:
        before = self._begun.get(job)
        if before is not None and before.host == event.host:
            self.warnings.append(f"warning: job {job} began there already; left out")
            return
        if before is not None:
            self.warnings.append(f"warning: no end of an earlier run of job {job}; left out")
        self._begun[job] = event

    def _end(self, job: str, event: Event, whose: str, *, counts: bool) -> Run | None:
        begun = self._begun.pop(job, None)
        if begun is None:
            self.warnings.append(f"warning: no beginning of the run of {whose}{job}; left out")
            return None
        start, end = int(begun.time), int(event.time)
        saved_at_end = isinstance(event, JobEvictedEvent) and event.checkpointed
        if isinstance(event, JobTerminatedEvent) or saved_at_end:
            assert isinstance(event, (JobTerminatedEvent, JobEvictedEvent))
            good, cpu = end, _seconds(event.run_remote)
        else:
            saved = self._saved.get(job)
            good = int(saved.time) if saved is not None else 0
            cpu = _seconds(saved.run_remote) if saved is not None else 0
            if good < start:
                good, cpu = start, 0
        if not counts:
            return None
        if end < start or good < start:
            # A log in the classic form has no years: one that spans two goes backwards.
            self.warnings.append(f"warning: a run of job {job} ends before it begins; left out")
            return None
        return Run(event.cluster, event.proc, _address(begun.host), start, end, good - start, cpu)


class Totals:
    """What hosts and jobs used.

    Compat: of jobs the reference shows only zeros, for it adds to copies of its sums
    (test_a_jobs_sums_are_its_runs).
    """

    def __init__(self) -> None:
        self._hosts: dict[str, Sum] = {}
        self._jobs: dict[tuple[int, int], Sum] = {}

    def add(self, run: Run) -> None:
        """Count one more run."""
        self._hosts.setdefault(run.host, Sum()).add(run)
        self._jobs.setdefault((run.cluster, run.proc), Sum()).add(run)

    def render(self, names: Mapping[str, str]) -> str:
        """Return the tables, with the `names` of hosts instead of their addresses if there are."""
        everything = Sum()
        for one in self._jobs.values():
            everything.add_sum(one)
        hosts = sorted(self._hosts.items())
        jobs = sorted(self._jobs.items())
        return "".join(
            [
                _HEADING[1],
                *(one.render(names.get(host, host)) for host, one in hosts),
                "\n",
                *(one.render(f"{cluster}.{proc}") for (cluster, proc), one in jobs),
                "\n",
                everything.render("Total"),
            ]
        )


def render_span(seconds: int) -> str:
    """Return a length of time as days, hours and minutes."""
    days, rest = divmod(seconds, 86_400)
    return f"{days}+{rest // 3600:02d}:{rest % 3600 // 60:02d}"


def render_date(seconds: int) -> str:
    """Return a moment as the table shows it."""
    when = time.localtime(seconds)
    return f"{when.tm_mon:2d}/{when.tm_mday:<2d} {when.tm_hour:02d}:{when.tm_min:02d}"


def render_run(run: Run, name: str) -> str:
    """Return the row of a run, on the host called `name`."""
    spans = " ".join(f"{render_span(span):>9}" for span in (run.wall, run.good, run.cpu))
    dates = " ".join(f"{render_date(moment):>11}" for moment in (run.start, run.end))
    return f"{f'{run.cluster}.{run.proc}':<8.8} {name:<15.15} {dates} {spans}\n"


def _seconds(times: CpuTimes) -> int:
    return int(times.user_seconds) + int(times.system_seconds)


def _address(host: str) -> str:
    """Return the address within `<ADDRESS:PORT?...>`."""
    if host.startswith("<["):
        return host[1:].partition("]")[0] + "]"
    return host[1:].partition(":")[0]


def read_events(path: str) -> Iterator[Event | int]:
    """Yield the events of a log of any form, and at its end how many pieces of it are none.

    A damaged event is none. Raises OSError.

    Compat: at one the reference ends, with what was summed up before it unsaid
    (test_userlog_recordings.py).
    """
    reader = AnyFormReader(year=time.localtime().tm_year)
    damaged = 0
    with open(path, "rb") as log:
        while piece := log.read(PIECE):
            for event in reader.feed(piece):
                if damage_in(event):
                    damaged += 1
                else:
                    yield event
    yield reader.skipped + damaged


@dataclass
class Wish:
    """What the words of the command line said so far."""

    runs: Runs = field(default_factory=Runs)
    sums_alone: bool = False
    runs_alone: bool = False
    debug: bool = False
    names_hosts: bool = False
    cluster: int = -1
    proc: int = -1

    def covers(self, event: Event) -> bool:
        """Tell whether an event is about a job that is meant."""
        return self.cluster in (-1, event.cluster) and self.proc in (-1, event.proc)


class Report:
    """Prints what the logs say, in the order of the command line."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._totals = Totals()
        self._names: dict[str, str] = {}
        self._has_heading = False
        self.has_read = False

    def read(self, path: str, wish: Wish) -> None:
        """Read a log, and print its runs; what cannot be read is told in a sentence."""
        err = self._streams.stderr
        try:
            for event in read_events(path):
                if isinstance(event, int):
                    err.write(tell_skipped(path, event) if event else "")
                elif wish.covers(event):
                    self._take(wish.runs.take(event), wish)
        except OSError as error:
            err.write(f"Can't access file: {path} (errno={error.errno})\n")
            return
        if wish.debug:
            err.writelines(f"{warning}\n" for warning in wish.runs.warnings)
        wish.runs.warnings.clear()
        self.has_read = True

    def _take(self, run: Run | None, wish: Wish) -> None:
        if run is None:
            return
        self._totals.add(run)
        if wish.names_hosts and run.host not in self._names:
            self._names[run.host] = _name_of(run.host)
        if wish.sums_alone:
            return
        if not (wish.runs_alone or self._has_heading):
            self._streams.stdout.write(_HEADING[0])
            self._has_heading = True
        self._streams.stdout.write(render_run(run, self._names.get(run.host, run.host)))

    def end(self) -> None:
        """Print the sums."""
        self._streams.stdout.write(f"\n{self._totals.render(self._names)}")


def tell_skipped(path: str, count: int) -> str:
    """Return the sentence about a log that is not all events."""
    pieces = "1 piece that is no event" if count == 1 else f"{count} pieces that are no events"
    return f"{path} has {pieces}, and is read without.\n"


def _name_of(address: str) -> str:
    import socket  # for -hostname alone

    try:
        return socket.gethostbyaddr(address.strip("[]"))[0]
    except OSError:
        return address


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_userlog`; 0, or 1 for a command line that means nothing."""
    del environment
    if len(argv) == 1:
        streams.stderr.write(USAGE)
        return 1
    if says_version(argv[1], streams):
        return 0
    wish, report = Wish(), Report(streams)
    words = iter(argv[1:])
    for word in words:
        if not word.startswith("-"):
            report.read(word, wish)
        elif word.startswith("-h") and word[2:3] != "o":
            streams.stderr.write(USAGE)
            return 0
        elif not take_option(word, words, wish):
            # Behind the usage, which would push it out of sight.
            what = "needs a job" if word[1:2] == "j" else "is no option"
            streams.stderr.write(f"{USAGE}\ncondor_userlog: {word} {what}\n")
            return 1
    if report.has_read and not wish.runs_alone:
        report.end()
    return 0


def says_version(word: str, streams: Streams) -> bool:
    """Say the version if that is asked for, which the reference knows of all its tools but these.

    Compat: there it is an unknown option, or the name of a log (test_every_tool.py).
    """
    if word not in ("-version", "--version"):
        return False
    from kettle.tools.configuration.condor_version import version_text

    streams.stdout.write(version_text())
    return True


def take_option(word: str, more: Iterable[str], wish: Wish) -> bool:
    """Take an option, of which the first letter counts; False if there is none such.

    Compat: -j without a job is a wrong command line, where the reference crashes
    (test_userlog_recordings.py).
    """
    match word[1:2]:
        case "a":
            wish.cluster = wish.proc = -1
            wish.runs.evictions_alone = False
        case "j":
            job = next(iter(more), None)
            if job is None:
                return False
            wish.cluster, proc = _number(job), job.partition(".")
            if proc[1]:
                wish.proc = _number(proc[2])
        case "t":
            wish.sums_alone = True
        case "d":
            wish.debug = True
        case "e":
            wish.runs.evictions_alone = True
        case "r":
            wish.runs_alone = True
        case "h":
            wish.names_hosts = True
        case _:
            return False
    return True


def _number(text: str) -> int:
    found = re.match(r"\s*[+-]?\d+", text, re.ASCII)
    return int(found[0]) if found else -1
