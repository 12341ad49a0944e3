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


def last_event(path: str, cluster: int, proc: int) -> Event | None:
    """Return the last complete event of a job in a log; None if there is none, or no such log."""
    tail = _read_tail(path)
    heads = re.finditer(rb"^(\d{3}) \(0*%d\.0*%d\.\d+\) " % (cluster, proc), tail, re.MULTILINE)
    places = [head.start() for head in heads if head[1] != _INFORMATION]
    if not places:
        return None
    end = tail.find(b"\n...\n", places[-1])
    if end < 0:
        return None
    found = read_events(tail[places[-1] : end + 5])
    return found[0] if found else None


def _read_tail(path: str) -> bytes:
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
