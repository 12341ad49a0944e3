"""What a job's event log said last, for whoever takes the job over after a crash.

An event is written before the queue learns what it tells, so a log may be a step ahead of the
queue: a job whose log tells of its end has ended. Only text logs are read, and only their tails.
"""

from __future__ import annotations

import os
import re

from kettle.records.event_base import Event
from kettle.records.event_log import read_events

# Limit: how much of a log's end is looked through; what is further back is taken for not said.
TAIL_BYTES = 4 << 20
# Event 028 repeats attributes of the job after another event.
_INFORMATION = b"028"
# What a run ends with, or a job begins with: what was said before is of an earlier run.
_ENDS = (b"000", b"004", b"007", b"012", b"024")

# A cluster that makes its jobs later came into the queue.
_CLUSTER = b"035"

# What is said when a run is over.
_LAST = (b"004", b"005", b"007", b"009", b"012")
_HEAD = re.compile(rb"(\d{3}) \((\d+\.\d+\.\d+)\) ")

_REQUEUED = b"terminated and was requeued"


def tells_of_start(tail: bytes, cluster: int, proc: int) -> bool:
    """Tell whether a log has the start of a job's current run: nothing ended it since."""
    heads = [number for number, _ in _heads(tail, cluster, proc)]
    last = {number: place for place, number in enumerate(heads)}
    return last.get(b"001", -1) > max((last.get(number, -1) for number in _ENDS), default=-1)


def tells_of(tail: bytes, data: bytes) -> bool:
    """Tell whether a log has an event, by its bytes; the end of a run only behind its start.

    Two runs within a second may end with the same bytes.
    """
    head = _HEAD.match(data)
    if head is None or head[1] not in _LAST:
        return data in tail
    start = re.compile(rb"^001 \(%s\) " % re.escape(head[2]), re.MULTILINE)
    began = max((found.end() for found in start.finditer(tail)), default=0)
    return tail.find(data, began) >= 0


def starts_told(tail: bytes, cluster: int, proc: int) -> int:
    """Return how many starts of a job a log tells of since the job was submitted."""
    numbers = [number for number, _ in _heads(tail, cluster, proc)]
    return _since_submission(numbers).count(b"001")


def submissions_told(tail: bytes, cluster: int) -> set[int]:
    """Return which of a late cluster's jobs a log tells the submission of.

    What stands before the cluster's own event, if that is seen, is of another of its number.
    """
    own = [place for number, place in _heads(tail, cluster, -1) if number == _CLUSTER]
    made = re.finditer(rb"^000 \(0*%d\.(\d+)\.\d+\) " % cluster, tail, re.MULTILINE)
    behind = own[-1] if own else 0
    return {int(head[1]) for head in made if head.start() >= behind}


def requeues_told(tail: bytes, cluster: int, proc: int) -> int:
    """Return how many runs a log tells of that ended by themselves, to be followed by another."""
    words = [
        _REQUEUED if number == b"004" and _says_requeued(tail, place) else number
        for number, place in _heads(tail, cluster, proc)
    ]
    return _since_submission(words).count(_REQUEUED)


def _says_requeued(tail: bytes, place: int) -> bool:
    return _REQUEUED in tail[place : tail.find(b"\n...\n", place)]


def _since_submission(numbers: list[bytes]) -> list[bytes]:
    """Leave out what was said before the job was submitted: of another one of its number."""
    submitted = numbers[::-1].index(b"000") if b"000" in numbers else len(numbers)
    return numbers[len(numbers) - submitted :]


def last_event(tail: bytes, cluster: int, proc: int) -> Event | None:
    """Return the last complete event of a job in a log; None if there is none."""
    places = [place for number, place in _heads(tail, cluster, proc) if number != _INFORMATION]
    if not places:
        return None
    end = tail.find(b"\n...\n", places[-1])
    if end < 0:
        return None
    found = read_events(tail[places[-1] : end + 5])
    return found[0] if found else None


def _heads(tail: bytes, cluster: int, proc: int) -> list[tuple[bytes, int]]:
    """Return the numbers of a job's events and where they begin."""
    # A cluster's own number is -01 there.
    head = rb"^(\d{3}) \(0*%d\.%s0*%d\.\d+\) " % (cluster, b"-" if proc < 0 else b"", abs(proc))
    found = re.finditer(head, tail, re.MULTILINE)
    return [(head[1], head.start()) for head in found]


def read_tail(path: str) -> bytes:
    """Return the end of a log, or all of it; nothing of one that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
    except OSError:
        return b""
    finally:
        os.close(descriptor)
