"""`condor_wait`: watch a job event log until jobs have ended.

Only the log is read; no daemon is asked. Which jobs count and when it is enough is `Watch`, a
function of the events seen; reading a file that grows is `follow`. Waiting polls the file's size,
because a log may live on a file system that notifies nobody. What the real one says is recorded
in tests/data/cli/condor_wait.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO

from kettle.errors import ConfigError, UsageError
from kettle.octets import to_text
from kettle.records.event_base import Event
from kettle.records.event_cluster import ClusterRemoveEvent, ClusterSubmitEvent
from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_kinds import ExecuteEvent, JobAbortedEvent, SubmitEvent
from kettle.records.event_log import Format, Style, damage_in, render_event
from kettle.tools.options import (
    Given,
    MissingValueError,
    Option,
    UnknownOptionError,
    read_options,
    run_tool,
)
from kettle.tools.programs import Streams

if TYPE_CHECKING:
    from kettle.runtime.logs import Log

# Compat: the whole name also after two dashes, which the reference takes of three of them alone;
# shown by test_two_dashes_are_as_good_as_one.
OPTIONS = (
    Option("help", shortest=0),
    Option("version", shortest=0),
    Option("debug", qualified=True),
    Option("status", shortest=0),
    # Attaching a debugger is of Windows; here it changes nothing, as in the reference.
    Option("attach", ignored=True),
    Option("echo", shortest=0, qualified=True),
    Option("event-id", shortest=0, values=1, qualified=True),
    Option("allevents", shortest=3),
    Option("wait", shortest=0, values=1),
    Option("num", shortest=0, values=1),
    Option("log", shortest=0, values=1),
)
USAGE = """\
Usage: condor_wait [OPTIONS] LOG-FILE [CLUSTER[.PROC[.SUBPROC]]]

Wait until the jobs in an event log have ended, all of them or the ones named.
The log may be text, XML or JSON. Exit code 0 when they have ended, or when the
end of the log is reached with -wait 0 or -allevents; 1 when time ran out or the
log cannot be read.

  -help             show this and end
  -version          show the version and end
  -debug[:LEVELS]   say more about what is being read; with D_FULLDEBUG how jobs
                    stand, too
  -status           say which jobs are submitted, start, complete and are aborted
  -echo[:FORMAT]    copy the events of these jobs to the output; FORMAT is any of
                    ISO_DATE, UTC, XML, JSON, separated by commas
  -num N            wait until N jobs have ended
  -wait SECONDS     wait no longer than this; 0: until the end of the log
  -allevents        read all of the log and end there, or when -wait is over
  -event-id[:N] ID  wait for N events (1) of this number instead of ends
  -log LOG-FILE     the log, as a word without option
"""
POLL_SECONDS = (0.02, 0.5)
PIECE = 1 << 20


class WrongJobError(UsageError):
    """A word that is no job id: said without the usage."""


@dataclass(frozen=True)
class Job:
    """Which job to wait for; None means any."""

    cluster: int | None = None
    proc: int | None = None
    subproc: int | None = None

    @classmethod
    def parse(cls, text: str) -> Job:
        """Read the numbers that a text begins with; UsageError if with none.

        What stands behind them means nothing, and -1 means any, as in the reference.
        """
        found = re.match(r"\s*([+-]?\d+)(?:\.\s*([+-]?\d+)(?:\.\s*([+-]?\d+))?)?", text, re.ASCII)
        if found is None:
            raise WrongJobError(f"Couldn't understand job number: {text}")
        return cls(*(None if n is None or int(n) == -1 else int(n) for n in found.groups()))

    def covers(self, event: Event) -> bool:
        """Tell whether the event is about this job."""
        return (
            self.cluster in (None, event.cluster)
            and self.proc in (None, event.proc)
            and self.subproc in (None, event.subproc)
        )


@dataclass(frozen=True)
class Wish:
    """What the command line asked for."""

    path: str = ""
    job: Job = Job()
    echo: str | None = None
    status: bool = False
    count: int | None = None
    # 0: until the end of the log.
    seconds: float | None = None
    all_events: bool = False
    # The number of an event that is waited for, and how often.
    event: int | None = None
    times: int = 1
    remark: str = ""
    # What -debug asks for beyond TOOL_DEBUG; None without it.
    debug: str | None = None
    # The options after -debug that set an end to the waiting, in order: -debug tells of them.
    ends: tuple[str, ...] = ()

    @property
    def ends_with_log(self) -> bool:
        """Whether nothing is waited for once the log is read."""
        return self.seconds == 0 or (self.all_events and not self.seconds)


@dataclass
class Watch:
    """What the events seen so far say: which jobs wait for their end, how many have ended."""

    wish: Wish
    style: Style | None = None
    submitted: int = 0
    ended: int = 0
    found: int = 0
    open: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    # What how a job stands is told besides, for -debug.
    notes: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Count one event of the log, and note what is to be printed for it."""
        if not self.wish.job.covers(event):
            return
        if self.style is not None:
            self.lines.append(render_echo(event, self.style))
        name = f"{event.cluster}.{event.proc}.{event.subproc}"
        said = self._count(event, name)
        if said and not isinstance(event, ExecuteEvent):
            self.notes.append(said)
        if event.number == self.wish.event:
            # Compat: the reference never finds the events that it counts for themselves, and waits
            # for ever (test_an_event_that_begins_or_ends_a_job_is_found).
            self.found += 1
            said = said or f"{name} event {event.number} found"
        if said and self.wish.status:
            self.lines.append(f"{said}\n")

    def _count(self, event: Event, name: str) -> str:
        """Count what begins or ends a job; return what -status says of it."""
        if event.number == SubmitEvent.number:
            self.submitted += 1
            self.open.add(name)
            return f"{name} submitted"
        if event.number == ClusterSubmitEvent.number:
            # Compat: a cluster whose jobs are made later counts until it has made its last; the
            # reference is done when those made so far are (test_a_factory_is_waited_for).
            self.open.add(name)
        elif event.number == ClusterRemoveEvent.number:
            self.open.discard(name)
        elif isinstance(event, ExecuteEvent):
            return f"{name} executing on host {event.host}"
        elif event.number in {JobTerminatedEvent.number, JobAbortedEvent.number}:
            self.ended += 1
            self.open.discard(name)
            return f"{name} {'aborted' if event.number == JobAbortedEvent.number else 'completed'}"
        return ""

    def verdict(self, *, is_new: bool) -> str:
        """Return the sentence that ends the waiting, empty while it goes on.

        `is_new` is whether the event came after the first reading: what that found says nothing
        of the jobs before it has come to the log's end.
        """
        wish = self.wish
        if wish.count is not None and self.ended >= wish.count:
            # Compat: the reference's spelling (test_condor_wait.py).
            return f"Specifed number of jobs ({wish.count}) done."
        if is_new and self.submitted and self.all_done():
            return "All jobs done."
        if wish.event is not None and self.found >= wish.times:
            return f"Got {self.found} events of id {wish.event}"
        return ""

    def all_done(self) -> bool:
        """Tell whether all jobs have ended, and that is what is waited for."""
        wish = self.wish
        return not (self.open or wish.count or wish.all_events or wish.event is not None)

    def complaint(self) -> str:
        """Return what is said when time is over and the log had no job; empty if it had one."""
        if self.open or self.submitted:
            return ""
        if self.wish.job.cluster is not None:
            return "This log does not mention that job!"
        if self.wish.event is not None:
            return f"Saw only {self.found} events of id {self.wish.event}!"
        return "This log does not mention any jobs!"


def render_echo(event: Event, style: Style) -> str:
    """Return an event in the form that `-echo` asks for.

    Compat: text has all lines of the log; the reference drops the table of an eviction, when a
    program ended of its own accord, and what else an event's kind does not know
    (test_echo_drops_no_line_of_the_log).
    """
    if style.form is Format.TEXT:
        return to_text(render_event(event, style))
    from kettle.records.event_forms import ad_of_read, render_ad

    return render_ad(ad_of_read(event, style), style.form)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_wait`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=lambda words: read_wish(read_options(take_any_job(words), OPTIONS)),
        act=follow_log,
        complain=_complain,
        after_version=1,
    )


def _complain(error: UsageError) -> str:
    if isinstance(error, WrongJobError):
        return f"{error}\n"
    if isinstance(error, UnknownOptionError):
        # Compat: the reference says only its usage, and so where no log is named
        # (test_small_words).
        return f"unknown option {error.word}\n\n{USAGE}"
    if isinstance(error, MissingValueError):
        what = "an id" if error.option.name == "event-id" else "an argument"
        return f"-{error.option.name} requires {what}\n\n{USAGE}"
    return f"{error}\n\n{USAGE}"


def follow_log(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Open the log and wait; 1 if it cannot be opened or the time is over."""
    streams.stderr.write(wish.remark)
    trace = make_trace(wish, environment, streams)
    if trace is not None:
        for line in describe_plan(wish, time.time()):
            trace.full(line)
    if wish.seconds is not None and wish.seconds < 0:
        streams.stdout.write("Time expired.\n")
        return 1
    style = None if wish.echo is None else read_echo(wish.echo, environment)
    try:
        # Compat: of a folder the reference says that all its jobs are done
        # (test_a_folder_is_no_log).
        log = open(wish.path, "rb")  # noqa: SIM115 - closed below, after the message about it
    except OSError as error:
        if trace is not None:
            why = f"open() failed: {error.strerror} ({error.errno})."
            trace(f"ReadUserLog: Failed to open {wish.path}")
            trace(f"FileModifiedTrigger( {wish.path} ): {why}")
        streams.stderr.write(f"Couldn't open {wish.path}: {error.strerror}\n")
        return 1
    if trace is not None:
        trace.full(f"init: Opening file {wish.path}")
        how = "is_lock_cur=false,seek=false,read_header=true"
        trace.full(f"Opening log file #0 '{wish.path}' ({how})")
    with log:
        return wait(log, Watch(wish, style), streams, trace)


def make_trace(wish: Wish, environment: Mapping[str, str], streams: Streams) -> Log | None:
    """Return what takes the lines of -debug, as TOOL_DEBUG and its levels ask; None without it."""
    if wish.debug is None:
        return None
    from kettle.runtime.logs import Log, parse_verbosity  # few say -debug

    knobs = (read_knob(environment, name) for name in ("ALL_DEBUG", "TOOL_DEBUG"))
    return Log(verbosity=parse_verbosity(*knobs, wish.debug), sink=streams.stderr.write)


def describe_plan(wish: Wish, now: float) -> Iterator[str]:
    """Yield what D_FULLDEBUG tells before the log is read, `now` being seconds since 1970."""
    for end in wish.ends:
        if end == "num":
            yield f"Will wait until {wish.count} jobs end"
        elif wish.seconds:
            # An empty line follows, as in the reference.
            yield f"Will wait until {time.ctime(int(now) + wish.seconds)}\n"
        else:
            yield "Will exit at EOF"
    yield f"Reading log file {wish.path}"


def read_knob(environment: Mapping[str, str], name: str) -> str:
    """Return a knob, empty where no pool is: a log is read there, too."""
    from kettle.tools.reach import Reach  # few want an echo or -debug

    try:
        return Reach(environment).config.get(name) or ""
    except ConfigError:
        return ""


def read_echo(qualifiers: str, environment: Mapping[str, str]) -> Style:
    """Return how events are echoed: as configured, and as the qualifiers say beyond that."""
    configured = read_knob(environment, "DEFAULT_USERLOG_FORMAT_OPTIONS")
    style = Style.parse(f"{configured},{qualifiers}", iso=False)
    return replace(style, iso=style.iso or style.form is not Format.TEXT)


def read_wish(given: Iterable[Given]) -> Wish:
    """Return what the options ask for; raise UsageError at the first that is wrong."""
    wish = Wish()
    job: str | None = None
    for item in given:
        if item.name == "debug":
            # As in the reference the last -debug alone counts.
            wish = replace(wish, status=False, debug=item.qualifiers)
        elif item.name == "status" and wish.debug is not None:
            wish = replace(wish, remark="-status is implied by -debug\n")
        elif item.name:
            wish = _take_option(wish, item)
            if wish.debug is not None and item.name in {"num", "wait"}:
                wish = replace(wish, ends=(*wish.ends, item.name))
        elif item.value == "-":
            raise UnknownOptionError("-")
        elif not wish.path:
            wish = replace(wish, path=item.value)
        elif job is None:
            job = item.value
        else:
            raise UsageError(f"Extra argument: {item.value}\n")
    if not wish.path:
        raise UsageError("no log file is named")
    return wish if job is None else replace(wish, job=Job.parse(job))


def _take_option(wish: Wish, item: Given) -> Wish:
    """Return the wish with what one option adds to it."""
    match item.name:
        case "status":
            return replace(wish, status=True)
        case "echo":
            return replace(wish, echo=f"{wish.echo or ''},{item.qualifiers}")
        case "event-id":
            times = read_number(item.qualifiers) if ":" in item.word else 1
            return replace(wish, event=read_number(item.value), times=times)
        case "num" if wish.all_events:
            raise UsageError("-num cannot be used with -allevents")
        case "num":
            return replace(wish, count=read_count(item))
        case "wait":
            return replace(wish, seconds=read_number(item.value))
        case "allevents" if wish.count is not None:
            raise UsageError("-allevents cannot be used with -num")
        case "allevents":
            return replace(wish, all_events=True)
        case "log":
            return replace(wish, path=item.value)
    return wish


def take_any_job(words: Sequence[str]) -> list[str]:
    """Return the words with the job id -1, which is all jobs, as no option looks.

    It is one after the log alone, and not where an option's value stands.
    """
    taken = list(words)
    valued = {f"-{option.name}" for option in OPTIONS if option.values}
    for n, word in enumerate(words):
        if word == "-1" and n and words[n - 1].partition(":")[0] not in valued:
            named = any(not w.startswith("-") or w == "-log" for w in words[:n])
            taken[n] = " -1" if named else word
    return taken


def read_number(text: str) -> int:
    """Return the number that a text begins with, 0 if with none, as the reference reads it."""
    found = re.match(r"\s*([+-]?\d+)", text, re.ASCII)
    return int(found[1]) if found else 0


def read_count(item: Given) -> int:
    """Return the positive number that an option was given; UsageError if it is not one."""
    count = read_number(item.value)
    if count < 1:
        raise UsageError(f"-{item.name} must be greater than zero")
    return count


def wait(log: BinaryIO, watch: Watch, streams: Streams, trace: Log | None = None) -> int:
    """Follow the log until the wish is met (0) or its time is over (1); `trace`: of -debug."""
    reader = AnyFormReader(year=time.localtime().tm_year)
    is_new = False
    for piece in follow(log, watch.wish.seconds):
        verdict = ""
        damage = ""
        for event in reader.feed(piece):
            damage = damage_in(event)
            if damage:
                break
            watch.take(event)
            verdict = watch.verdict(is_new=is_new)
            if verdict:
                break
        if not piece and not is_new:
            is_new = True
            verdict = "All jobs done." if watch.all_done() else ""
        if trace is not None:
            for note in watch.notes:
                trace.full(note)
        streams.stdout.write("".join(watch.lines))
        watch.lines.clear()
        watch.notes.clear()
        if verdict:
            streams.stdout.write(f"{verdict}\n")
            return 0
        if damage:
            # Compat: the reference ends here, too, and says nothing
            # (test_a_damaged_event_ends_the_waiting_with_a_sentence).
            streams.stderr.write(f"{watch.wish.path}: {damage}\n")
            return 1
        streams.stdout.flush()
        if not piece and watch.wish.ends_with_log:
            return 0
    complaint = watch.complaint()
    if complaint:
        streams.stderr.write(f"{complaint}\n")
    else:
        streams.stdout.write("Time expired.\n")
    return 1


def follow(log: BinaryIO, seconds: float | None) -> Iterator[bytes]:
    """Yield what the log holds and is added, and nothing (b"") at its end, until time is over."""
    deadline = None if seconds is None else time.monotonic() + seconds
    pause = POLL_SECONDS[0]
    while True:
        piece = log.read(PIECE)
        yield piece
        if piece:
            pause = POLL_SECONDS[0]
            continue
        left = pause if deadline is None else min(pause, deadline - time.monotonic())
        if left <= 0:
            return
        time.sleep(left)
        pause = min(POLL_SECONDS[1], pause * 1.5)
