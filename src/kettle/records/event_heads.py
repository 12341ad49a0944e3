"""Where the events of one job begin and end in a log's bytes, whatever form the log has.

Pure, and without reading what is between: after a crash whole logs are looked through for a job.
Text events begin with number and id; those of XML and JSON logs are ads, one line an attribute.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from kettle.named_tuples import NamedTuple

_TEXT_END = b"\n...\n"
# A newline before all of a log makes its first line one like the others. A log is its user's to
# write into: a number is a job's only if it is none of endless digits.
_ANY_TEXT = re.compile(rb"\n(\d{3}) \((\d{1,10})\.(-?\d{1,10})\.\d{1,10}\) ")
# What every event of a log has, however it is written.
_ANY_EVENT = re.compile(rb"\n(?:\d{3} \(|</c>\n|\}\n)")
# Limit: events of a log that are looked at, and remembered by their jobs. Of one that has more, by
# far too short for events, only the last ones are.
_MOST_EVENTS = 1 << 16
# Limit: what a log has not finished, which is read for every job. One event of a schedd's is less.
_MOST_OPEN_BYTES = 1 << 16
# Of ads, whose numbers can be any.
_MOST_NUMBER = 999


class Head(NamedTuple):
    """One event: its number, as a text log has it, and its place; `end` is -1 if it is torn."""

    number: bytes
    start: int
    end: int


class _Ads(NamedTuple):
    """How a form writes an ad: its first and last line, and a line of an attribute."""

    first: bytes
    last: bytes
    line: bytes

    def attribute(self, name: bytes, value: bytes) -> re.Pattern[bytes]:
        """Return what finds an attribute of the ad itself, not of one inside it."""
        return re.compile(self.line % (name, value), re.MULTILINE)

    def any_job(self) -> re.Pattern[bytes]:
        """Return what finds an ad's numbers; with a newline before it, which is found fast."""
        line = self.line.removeprefix(b"^") % (b"(Cluster|Proc|EventTypeNumber)", rb"-?\d{1,10}")
        return re.compile(b"\n" + line, re.MULTILINE)


_XML = _Ads(b"<c>\n", b"\n</c>\n", rb'^    <a n="%s"><[a-z]+>(%s)</[a-z]+></a>$')
_JSON = _Ads(b"{\n", b"\n}\n", rb'^  "%s": "?(%s)"?,?$')
_ANY_AD = [(form, form.any_job()) for form in (_XML, _JSON)]


class _Event(NamedTuple):
    """One event of whatever job, None if it does not say of which; the last ones have no end."""

    start: int
    end: int
    number: bytes
    job: tuple[int, int] | None


class EventIndex:
    """Which bytes of a log are about which job, found in one pass; what is appended goes on it.

    For whoever looks for many jobs in one log: each one's `excerpt` is all that is to be read.
    """

    def __init__(self, log: bytes) -> None:
        self._log = bytearray()
        # Where complete events of a job begin and end, by turns.
        self._places: dict[tuple[int, int], array[int]] = {}
        self._count = 0
        # From here on nothing is in `_places`: it may go on with what is appended.
        self._open = 0
        self.append(log)

    def __len__(self) -> int:
        """Return how many bytes the log has."""
        return len(self._log)

    @property
    def cost(self) -> int:
        """About how many bytes of memory this takes."""
        return len(self._log) + 300 * len(self._places) + 16 * self._count

    def append(self, data: bytes) -> None:
        """Look through what was appended to the log."""
        self._log += data
        begin = self._open
        log = bytes(memoryview(self._log)[begin:])
        # A line that is not whole may become the first of an event.
        goes_on = log.rfind(b"\n") + 1
        found = []
        for event in _events(log):
            if event.end < 0:
                goes_on = min(goes_on, event.start)
            elif event.job is not None:
                found.append(event)
        if len(log) - goes_on > _MOST_OPEN_BYTES:
            goes_on = max(goes_on, log.find(b"\n", len(log) - _MOST_OPEN_BYTES) + 1)
        if self._count + len(found) > _MOST_EVENTS:
            self._places.clear()
            self._count = 0
        for start, end, _, job in found:
            if job is not None and start < goes_on:
                self._places.setdefault(job, array("q")).extend((begin + start, begin + end))
                self._count += 1
        self._open = begin + goes_on

    def ends_with(self, data: bytes) -> bool:
        """Tell whether these are the log's last bytes."""
        return self._log.endswith(data)

    def excerpt(self, cluster: int, proc: int) -> bytes:
        """Return the job's events, in their order, with what the log has not finished."""
        pieces = bytearray()
        done = 0
        places = self._places.get((cluster, proc), array("q"))
        for start, end in (*zip(places[::2], places[1::2], strict=True), (self._open, len(self))):
            # An event may have been written into another one.
            pieces += self._log[max(start, done) : end]
            done = max(done, end)
        return bytes(pieces)


def _events(log: bytes) -> list[_Event]:
    """Return all events in their order, or the last ones of very many.

    Whatever a log's owner wrote into it, each byte is looked at a few times and no more.
    """
    begin = _begin_of_last(log)
    found = [*_all_text(log, begin), *_all_ads(log, begin)]
    found.sort(key=_start)
    return found


def _start(event: _Event) -> int:
    return event.start


def _begin_of_last(log: bytes) -> int:
    starts = [found.start() for found in _ANY_EVENT.finditer(log)]
    return starts[-_MOST_EVENTS // 2] + 1 if len(starts) > _MOST_EVENTS else 0


def _all_text(log: bytes, begin: int) -> Iterator[_Event]:
    end = 0
    for found in _ANY_TEXT.finditer(b"\n" + log, begin):
        start = found.start()
        # Events in an event that was torn end where that one does.
        if end >= 0 and start > end - len(_TEXT_END):
            at = log.find(_TEXT_END, start)
            end = at + len(_TEXT_END) if at >= 0 else -1
        yield _Event(start, end, found[1], (int(found[2]), int(found[3])))


def _all_ads(log: bytes, begin: int) -> Iterator[_Event]:
    for form, own in _ANY_AD:
        if not (log.startswith(form.first) or b"\n" + form.first in log):
            continue
        for start, end in _bodies(log, form, begin):
            if not log.startswith(form.first, start):
                continue
            numbers: dict[bytes, int] = {}
            for found in own.finditer(log, start, end if end >= 0 else len(log)):
                numbers.setdefault(found[1], int(found[2]))
            number, job = numbers.get(b"EventTypeNumber", -1), None
            if end >= 0:
                # A whole one without Proc is its cluster's.
                numbers.setdefault(b"Proc", -1)
            if len(numbers) == 3 and 0 <= number <= _MOST_NUMBER:
                job = numbers[b"Cluster"], numbers[b"Proc"]
            yield _Event(start, end, b"%03d" % number, job)


def heads_of(log: bytes, cluster: int, proc: int) -> list[Head]:
    """Return the events of a job in a log, in their order; `proc` -1 is the cluster itself."""
    wanted = cluster, proc
    return [Head(number, start, end) for start, end, number, job in _events(log) if job == wanted]


def heads_of_cluster(log: bytes, cluster: int) -> list[tuple[int, Head]]:
    """Return the events of a cluster's jobs in a log, with the number of each job."""
    return [
        (job[1], Head(number, start, end))
        for start, end, number, job in _events(log)
        if job is not None and job[0] == cluster and job[1] >= 0
    ]


def _bodies(log: bytes, form: _Ads, begin: int) -> Iterator[tuple[int, int]]:
    """Yield where ads begin and end; the last may have no end. Each byte is looked at once."""
    place = begin
    while place < len(log):
        at = log.find(form.last, place)
        end = at + len(form.last) if at >= 0 else -1
        # Before the ad may be what is torn, or of another form.
        opened = log.rfind(b"\n" + form.first, max(0, place - 1), at if at >= 0 else len(log))
        yield (place if opened < 0 else opened + 1), end
        if at < 0:
            return
        place = end


def read_head(event: bytes) -> tuple[bytes, int, int] | None:
    """Return number, cluster and proc of an event, by its bytes; None if they say none."""
    for start, _, number, job in _events(event):
        if start == 0 and job is not None:
            return number, *job
    return None


def read_moment(event: bytes) -> bytes:
    """Return when an event happened, in an order of bytes within its form; empty if unknown."""
    text = _TEXT_MOMENT.match(event)
    if text is not None:
        return text[1]
    for form in (_XML, _JSON):
        if event.startswith(form.first):
            found = form.attribute(b"EventTime", rb"[\d:T.+Z-]+").search(event)
            return b"" if found is None else found[1]
    return b""


# It is behind the job's id whatever the form of the date.
_TEXT_MOMENT = re.compile(rb"^\d{3} \([\d.]+\) ([\d/: T.-]+)")
