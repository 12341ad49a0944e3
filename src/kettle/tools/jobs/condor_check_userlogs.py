"""`condor_check_userlogs`: tell whether the events of jobs fit together.

Each job is to be submitted once and to end once, nothing of it comes after its end. `Check` is a
function of the events seen; what the real one says is recorded in tests/data/cli/userlogs.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from kettle.attributes.codes import ULogEvent
from kettle.records.event_base import Event
from kettle.records.event_ends import JobTerminatedEvent, PostScriptTerminatedEvent
from kettle.records.event_future import slot_event_name
from kettle.records.event_kinds import (
    ExecutableErrorEvent,
    ExecuteEvent,
    JobAbortedEvent,
    JobHeldEvent,
    SubmitEvent,
)
from kettle.tools.jobs.condor_userlog import PIECE, read_events, says_version, tell_skipped
from kettle.tools.programs import Streams

USAGE = """\
Usage: condor_check_userlogs LOG-FILE ...

Tell whether the events of the jobs in event logs fit together.

  -help       show this and end
  -version    show the version and end
"""
# Clusters whose jobs are made later: their own events are no job's.
_OF_CLUSTERS = (ULogEvent.CLUSTER_SUBMIT, ULogEvent.CLUSTER_REMOVE)
# The job that DAGMan writes of when a script follows a node that was never submitted.
_NO_JOB = (-1, 0, 0)
# Limit: after so many characters of complaints no more are shown, as in the reference.
_MOST_SAID = 1024


@dataclass
class Counts:
    """What was seen of one job."""

    submits: int = 0
    aborts: int = 0
    ends: int = 0
    scripts: int = 0

    @property
    def all_ends(self) -> int:
        """Return how often it ended, in any way."""
        return self.aborts + self.ends


class Check:
    """What the events seen so far say of each job, and of all together."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[int, int, int], Counts] = {}
        self.submitted = 0
        self.standing = 0

    def take(self, event: Event) -> tuple[str, str]:
        """Look at the next event; return its line, and what is wrong with it, empty if nothing."""
        line = f"Log event: {name_of(event.header_number)} {_job(event)}"
        wrong = self._judge(event)
        submits = type(event) is SubmitEvent
        if isinstance(event, SubmitEvent) and submits:
            self.submitted += 1
            self.standing += 1
            line += f' ("{event.structured or event.log_notes or ""}")'
        elif isinstance(event, JobHeldEvent):
            line += f" (code={event.code} subcode={event.subcode})"
        ends = type(event) is JobTerminatedEvent or isinstance(
            event, (JobAbortedEvent, ExecutableErrorEvent)
        )
        self.standing -= ends
        if ends or submits:
            line += f"\n Total submitted: {self.submitted}; net submitted: {self.standing}\n"
        return f"{line}\n", wrong

    def _judge(self, event: Event) -> str:
        if event.number in _OF_CLUSTERS:
            return ""
        key = (event.cluster, event.proc, event.subproc)
        seen = self._jobs.setdefault(key, Counts())
        found: list[tuple[bool, str]] = []
        if isinstance(event, SubmitEvent):
            seen.submits += 1
            found = [
                (seen.submits != 1, f"submitted, submit count != 1 ({seen.submits})"),
                (seen.all_ends != 0, f"submitted, total end count != 0 ({seen.all_ends})"),
            ]
        elif type(event) is ExecuteEvent:
            found = [
                (seen.submits < 1, f"executing, submit count < 1 ({seen.submits})"),
                (seen.all_ends != 0, f"executing, total end count != 0 ({seen.all_ends})"),
            ]
        elif type(event) is JobTerminatedEvent or isinstance(event, JobAbortedEvent):
            aborted = isinstance(event, JobAbortedEvent)
            seen.aborts += aborted
            seen.ends += not aborted
            found = [
                (seen.submits < 1, f"ended, submit count < 1 ({seen.submits})"),
                (seen.all_ends != 1, f"ended, total end count != 1 ({seen.all_ends})"),
                (seen.scripts != 0, f"ended, post script count != 0 ({seen.scripts})"),
            ]
        elif isinstance(event, PostScriptTerminatedEvent):
            seen.scripts += 1
            if not _is_script_alone(key, seen):
                what = "post script ended"
                found = [
                    (seen.submits < 1, f"{what}, submit count < 1 ({seen.submits})"),
                    (seen.all_ends < 1, f"{what}, total end count < 1 ({seen.all_ends})"),
                    (seen.scripts > 1, f"{what}, post script count > 1 ({seen.scripts})"),
                ]
        return _last(found, key)

    def conclude(self) -> str:
        """Return what is wrong with the jobs when all logs are read, empty if nothing."""
        said = ""
        for key, seen in sorted(self._jobs.items()):
            # The nodes of a parallel job begin and end with it.
            if key[2] != 0 or _is_script_alone(key, seen):
                continue
            found = [
                (seen.submits != 1, f"ended, submit count != 1 ({seen.submits})"),
                (seen.all_ends != 1, f"ended, total end count != 1 ({seen.all_ends})"),
                (seen.scripts > 1, f"ended, post script count > 1 ({seen.scripts})"),
            ]
            wrong = _last(found, key)
            if not wrong:
                continue
            if len(said) > _MOST_SAID:
                return f"{said} ..."
            said += f"; {wrong}" if said else wrong
        return said


def _as_ad(event: Event) -> Event:
    """Return an event of a log of ads as the reference reads it.

    Notes that have names stand among the others in a text alone; what is of no job has no numbers.
    """
    if isinstance(event, SubmitEvent):
        return replace(event, structured=None)
    if not (event.cluster or event.proc or event.subproc):
        return replace(event, cluster=-1, proc=-1, subproc=-1)
    return event


def name_of(number: int) -> str:
    """Return what an event's number is called."""
    try:
        return f"ULOG_{ULogEvent(number).name}"
    except ValueError:
        return f"ULOG_{slot_event_name(number) or 'FUTURE_EVENT'}"


def _job(event: Event) -> str:
    return f"({event.cluster}.{event.proc}.{event.subproc})"


def _is_script_alone(key: tuple[int, int, int], seen: Counts) -> bool:
    return key == _NO_JOB and not seen.submits and not seen.ends and seen.scripts >= 1


def _last(found: Sequence[tuple[bool, str]], key: tuple[int, int, int]) -> str:
    """Return the last thing that is wrong, as the reference says one of several."""
    wrong = [text for is_wrong, text in found if is_wrong]
    return "BAD EVENT: job ({}.{}.{}) {}".format(*key, wrong[-1]) if wrong else ""


class Logs:
    """Reads logs together, the event that is oldest first."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = list(paths)
        # What cannot be read, or not all of it, a sentence each.
        self.complaints: list[str] = []

    def events(self) -> Iterator[Event]:
        """Yield the events; a file that is named twice is read once."""
        seen: set[tuple[int, int]] = set()
        logs = []
        for path in self._paths:
            try:
                status = os.stat(path)
                with open(path, "rb"):
                    pass
            except OSError as error:
                self.complaints.append(f"Error monitoring log file {path}: {error.strerror}\n")
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                logs.append(self._read(path))
        return heapq.merge(*logs, key=attrgetter("time"))

    def _read(self, path: str) -> Iterator[Event]:
        try:
            with open(path, "rb") as log:
                in_ads = log.read(PIECE).lstrip()[:1] in (b"<", b"{")
            for event in read_events(path):
                if not isinstance(event, int):
                    yield _as_ad(event) if in_ads else event
                elif event:
                    self.complaints.append(tell_skipped(path, event))
        except OSError as error:
            self.complaints.append(f"Error monitoring log file {path}: {error.strerror}\n")


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_check_userlogs`; 0 if all is well, else 1.

    Compat: a log that is not there, or is not all events, is an error; the reference makes an empty
    one and says that it is okay, and passes over what is no event (test_userlog_recordings.py).
    """
    del environment
    if len(argv) == 1 or argv[1] in ("-usage", "-help", "--help"):
        streams.stdout.write(USAGE)
        return 0
    if says_version(argv[1], streams):
        return 0
    check, logs = Check(), Logs(argv[1:])
    bad = False
    for event in logs.events():
        line, wrong = check.take(event)
        streams.stdout.write(line)
        if wrong:
            streams.stderr.write(f"{wrong}\n")
            bad = True
    streams.stdout.write("Log outcome: ULOG_NO_EVENT \n")
    streams.stderr.writelines(logs.complaints)
    said = check.conclude()
    if said:
        streams.stderr.write(f"{said}\nCheckAllJobs() result: EVENT_ERROR\n")
    bad = bad or bool(said or logs.complaints)
    streams.stdout.write("Log(s) have error(s)\n" if bad else "Log(s) are okay\n")
    return int(bad)
