"""What a job's event log said last, for whoever takes the job over after a crash.

An event is written before the queue learns what it tells, so a log may be a step ahead of the
queue: a job whose log tells of its end has ended. Only the tails of logs are read.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict

from kettle.errors import LanguageError
from kettle.named_tuples import NamedTuple
from kettle.records.event_base import Event
from kettle.records.event_heads import EventIndex, Head, heads_of, heads_of_cluster, read_head
from kettle.records.event_log import read_events
from kettle.runtime.storage.small_files import AT_EASE

# Limit: how much of a log's end is looked through; what is further back is taken for not said.
TAIL_BYTES = 4 << 20
# Limit: what is remembered of logs while jobs are taken over, in how many, and how long unused.
_MOST_KEPT_BYTES = 48 << 20
_MOST_KEPT = 16
_KEPT_SECONDS = 10.0
# What was the end of a log must still be there before what was appended.
_OVERLAP_BYTES = 256
# Event 028 repeats attributes of the job after another event.
_INFORMATION = b"028"
# What a run ends with, or a job begins with: what was said before is of an earlier run.
_ENDS = (b"000", b"004", b"007", b"012", b"024")

# A cluster that makes its jobs later came into the queue.
_CLUSTER = b"035"

# What tells one job from another of its number: it came, began, ended.
_LIVES = (b"000", b"001", b"005", b"009")

# What is said when a run is over.
_LAST = (b"004", b"005", b"007", b"009", b"012")

_REQUEUED = b"requeued"
# How a text log says that a run ended by itself and is followed by another, and how ads do.
_SAYS_REQUEUED = re.compile(
    rb"terminated and was requeued"
    rb'|^    <a n="TerminatedAndRequeued"><b v="t"/></a>$|^  "TerminatedAndRequeued": true,?$',
    re.MULTILINE,
)


def tells_of_start(tail: bytes, cluster: int, proc: int) -> bool:
    """Tell whether a log has the start of a job's current run: nothing ended it since."""
    heads = [head.number for head in heads_of(tail, cluster, proc)]
    last = {number: place for place, number in enumerate(heads)}
    return last.get(b"001", -1) > max((last.get(number, -1) for number in _ENDS), default=-1)


def tells_of(tail: bytes, data: bytes) -> bool:
    """Tell whether a log has an event, by its bytes; the end of a run only behind its start.

    Two runs within a second may end with the same bytes.
    """
    last = tail.rfind(data)
    own = read_head(data)
    if last < 0 or own is None or own[0] not in _LAST:
        return last >= 0
    return all(head.number != b"001" for head in heads_of(tail[last:], own[1], own[2]))


def hold_told(tail: bytes, cluster: int, proc: int) -> tuple[bool, bool]:
    """Tell whether a log has that a job was held since its last start, and that it still is."""
    numbers = [head.number for head in heads_of(tail, cluster, proc)]
    begun = numbers[::-1].index(b"001") if b"001" in numbers else 0
    since = numbers[len(numbers) - begun :]
    words = [number for number in since if number in {b"012", b"013"}]
    return b"012" in words, words[-1:] == [b"012"]


def starts_told(tail: bytes, cluster: int, proc: int) -> int:
    """Return how many starts of a job a log tells of since the job was submitted."""
    numbers = [head.number for head in heads_of(tail, cluster, proc)]
    return _since_submission(numbers).count(b"001")


def submissions_told(tail: bytes, cluster: int) -> set[int]:
    """Return which of a late cluster's jobs a log tells the submission of.

    What stands before the cluster's own event, if that is seen, is of another of its number.
    """
    own = [head.start for head in heads_of(tail, cluster, -1) if head.number == _CLUSTER]
    behind = own[-1] if own else 0
    return {
        proc
        for proc, head in heads_of_cluster(tail, cluster)
        if head.number == b"000" and head.start >= behind
    }


def submission_told(excerpt: bytes, cluster: int, proc: int, *, removed: bool = False) -> bool:
    """Tell whether a log has the submission of a job that never ran.

    A job of the same number that ran, or was removed unless this one was, is an earlier one.
    """
    numbers = [head.number for head in heads_of(excerpt, cluster, proc)]
    words = [number for number in numbers if number in _LIVES]
    return words[-1:] == [b"000"] or (removed and words[-2:] == [b"000", b"009"])


def requeues_told(tail: bytes, cluster: int, proc: int) -> int:
    """Return how many runs a log tells of that ended by themselves, to be followed by another."""
    heads = heads_of(tail, cluster, proc)
    # One that was torn is over where the next one begins, whatever ends behind that.
    ends = [*(head.start for head in heads[1:]), len(tail)]
    words = [
        _REQUEUED if head.number == b"004" and _says_requeued(tail, head, end) else head.number
        for head, end in zip(heads, ends, strict=False)
    ]
    return _since_submission(words).count(_REQUEUED)


def _says_requeued(tail: bytes, head: Head, end: int) -> bool:
    return _SAYS_REQUEUED.search(tail, head.start, min(head.end, end)) is not None


def _since_submission(numbers: list[bytes]) -> list[bytes]:
    """Leave out what was said before the job was submitted: of another one of its number."""
    submitted = numbers[::-1].index(b"000") if b"000" in numbers else len(numbers)
    return numbers[len(numbers) - submitted :]


def last_event(tail: bytes, cluster: int, proc: int) -> Event | None:
    """Return the last complete event of a job in a log; None if there is none."""
    heads = [head for head in heads_of(tail, cluster, proc) if head.number != _INFORMATION]
    if not heads or heads[-1].end < 0:
        return None
    event = tail[heads[-1].start : heads[-1].end]
    found = read_events(event) if event[:1].isdigit() else _read_ads(event)
    return found[0] if found else None


def _read_ads(data: bytes) -> list[Event]:
    # Loaded here: few logs are of ads.
    from kettle.records.event_forms import read_event_ads

    try:
        return list(read_event_ads(data.decode("utf-8", "surrogateescape")))
    except LanguageError:
        return []


def read_tail(path: str) -> bytes:
    """Return the end of a log, or all of it; nothing of one that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | AT_EASE)
    except OSError:
        return b""
    try:
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


class _State(NamedTuple):
    """Which file was read, and up to where."""

    device: int
    inode: int
    size: int
    changed: int


class LogTails:
    """The ends of a few logs, each read once while many jobs are taken over.

    What is appended meanwhile is read alone. Each look opens the log, with the rights of whoever
    looks; a log of many names is one. What nobody looks at any more is thrown away; where no loop
    could do that, at once.
    """

    def __init__(self) -> None:
        # By device and inode.
        self._known: OrderedDict[tuple[int, int], tuple[_State, EventIndex]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    def excerpt(self, path: str, cluster: int, proc: int) -> bytes:
        """Return what the end of a log says of a job; nothing if it cannot be read."""
        try:
            descriptor = os.open(path, os.O_RDONLY | AT_EASE)
        except OSError:
            return b""
        try:
            facts = os.fstat(descriptor)
            known = self._known.pop((facts.st_dev, facts.st_ino), None)
            state, index = _follow(descriptor, facts, known)
        except OSError:
            return b""
        finally:
            os.close(descriptor)
        self._keep(state, index)
        return index.excerpt(cluster, proc)

    def _keep(self, state: _State, index: EventIndex) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._known[state.device, state.inode] = state, index
        while len(self._known) > 1 and (
            len(self._known) > _MOST_KEPT
            or sum(one.cost for _, one in self._known.values()) > _MOST_KEPT_BYTES
        ):
            self._known.popitem(last=False)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(_KEPT_SECONDS, self._known.clear)


def is_cut(path: str) -> bool:
    """Tell whether a log is longer than the end that is looked through; OSError."""
    return os.stat(path).st_size > TAIL_BYTES


def _follow(
    descriptor: int, facts: os.stat_result, known: tuple[_State, EventIndex] | None
) -> tuple[_State, EventIndex]:
    """Bring what is known of a log up to date, or read it anew; OSError."""
    state = _State(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
    if known is not None:
        before, index = known
        if before == state:
            return known
        added = state.size - before.size
        # Nothing is left out in front: soon a log is read anew.
        if added > 0 and len(index) + added <= TAIL_BYTES * 5 // 4:
            overlap = min(_OVERLAP_BYTES, len(index))
            data = os.pread(descriptor, overlap + added, before.size - overlap)
            if len(data) == overlap + added and index.ends_with(data[:overlap]):
                index.append(data[overlap:])
                return state, index
    begin = max(0, state.size - TAIL_BYTES)
    index = EventIndex(os.pread(descriptor, TAIL_BYTES, begin))
    # More may have been written meanwhile.
    return state._replace(size=begin + len(index)), index
