"""Where the events of one job begin and end in a log's bytes, whatever form the log has.

Pure, and without reading what is between: after a crash whole logs are looked through for a job.
Text events begin with number and id; those of XML and JSON logs are ads, one line an attribute.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import NamedTuple

_TEXT_END = b"\n...\n"
_TEXT_HEAD = re.compile(rb"(\d{3}) \(0*(\d+)\.(-?)0*(\d+)\.\d+\) ")
# A newline before all of a log makes its first line one like the others.
_ANY_TEXT = re.compile(rb"\n\d{3} \(0*(\d{1,10})\.(-?)0*(\d{1,10})\.\d+\) ")
# Limit: events of a log that are remembered by their jobs; of one that has more, by far too short
# for events, everything is read for every job.
_MOST_EVENTS = 1 << 16


class Head(NamedTuple):
    """One event: its number, as a text log has it, and its place; `end` is -1 if it is torn."""

    number: bytes
    start: int
    end: int


class _Ads(NamedTuple):
    """How a form writes an ad: its first and last line, a line of an attribute, its cluster."""

    first: bytes
    last: bytes
    line: bytes
    mark: bytes

    def attribute(self, name: bytes, value: bytes) -> re.Pattern[bytes]:
        """Return what finds an attribute of the ad itself, not of one inside it."""
        return re.compile(self.line % (name, value), re.MULTILINE)

    def any_job(self) -> re.Pattern[bytes]:
        """Return what finds an ad's numbers; with a newline before it, which is found fast."""
        line = self.line.removeprefix(b"^") % (b"(Cluster|Proc|EventTypeNumber)", rb"-?\d{1,10}")
        return re.compile(b"\n" + line, re.MULTILINE)


_XML = _Ads(
    b"<c>\n", b"\n</c>\n", rb'^    <a n="%s"><[a-z]+>(%s)</[a-z]+></a>$', b'"Cluster"><i>%d<'
)
_JSON = _Ads(b"{\n", b"\n}\n", rb'^  "%s": "?(%s)"?,?$', b'"Cluster": %d')
_ANY_AD = [(form, form.any_job()) for form in (_XML, _JSON)]


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
        if self._count > _MOST_EVENTS:
            return
        begin = self._open
        log = bytes(memoryview(self._log)[begin:])
        # A line that is not whole may become the first of an event.
        goes_on = log.rfind(b"\n") + 1
        found = []
        for job, start, end in (*_all_text(log), *_all_ads(log)):
            if end < 0:
                goes_on = min(goes_on, start)
            elif job is not None:
                found.append((start, end, job))
        for start, end, job in sorted(found):
            if start < goes_on:
                self._places.setdefault(job, array("q")).extend((begin + start, begin + end))
                self._count += 1
        self._open = begin + goes_on

    def ends_with(self, data: bytes) -> bool:
        """Tell whether these are the log's last bytes."""
        return self._log.endswith(data)

    def excerpt(self, cluster: int, proc: int) -> bytes:
        """Return the job's events, in their order, with what the log has not finished."""
        if self._count > _MOST_EVENTS:
            return bytes(self._log)
        pieces = bytearray()
        done = 0
        places = self._places.get((cluster, proc), array("q"))
        for start, end in (*zip(places[::2], places[1::2], strict=True), (self._open, len(self))):
            # An event may have been written into another one.
            pieces += self._log[max(start, done) : end]
            done = max(done, end)
        return bytes(pieces)


def _all_text(log: bytes) -> Iterator[tuple[tuple[int, int] | None, int, int]]:
    """Yield job, begin and end of each event; the last ones may have no end."""
    end = 0
    for found in _ANY_TEXT.finditer(b"\n" + log):
        start = found.start()
        # Events in an event that was torn end where that one does.
        if end >= 0 and start > end - len(_TEXT_END):
            at = log.find(_TEXT_END, start)
            end = at + len(_TEXT_END) if at >= 0 else -1
        yield (int(found[1]), int(found[2] + found[3])), start, end


def _all_ads(log: bytes) -> Iterator[tuple[tuple[int, int] | None, int, int]]:
    """Yield job, begin and end of each ad that begins at all."""
    for form, own in _ANY_AD:
        if not (log.startswith(form.first) or b"\n" + form.first in log):
            continue
        for start, end in _bodies(log, form):
            if not log.startswith(form.first, start):
                continue
            numbers: dict[bytes, int] = {}
            for found in own.finditer(log, start, end if end >= 0 else len(log)):
                numbers.setdefault(found[1], int(found[2]))
            whole = len(numbers) == 3
            yield (numbers[b"Cluster"], numbers[b"Proc"]) if whole else None, start, end


def heads_of(log: bytes, cluster: int, proc: int) -> list[Head]:
    """Return the events of a job in a log, in their order; `proc` -1 is the cluster itself."""
    # A cluster's own number is -01 in a text log.
    sign = b"-" if proc < 0 else b""
    found = [head for _, head in _text_heads(log, cluster, rb"%s0*%d" % (sign, abs(proc)))]
    found += [head for _, head in _ad_heads(log, cluster, b"%d" % proc)]
    return sorted(found, key=lambda head: head.start)


def heads_of_cluster(log: bytes, cluster: int) -> list[tuple[int, Head]]:
    """Return the events of a cluster's jobs in a log, with the number of each job."""
    found = [*_text_heads(log, cluster, rb"\d+"), *_ad_heads(log, cluster, rb"\d{1,10}")]
    return sorted(found, key=lambda one: one[1].start)


def _text_heads(log: bytes, cluster: int, proc: bytes) -> Iterator[tuple[int, Head]]:
    head = rb"^(\d{3}) \(0*%d\.(%s)\.\d+\) " % (cluster, proc)
    for found in re.finditer(head, log, re.MULTILINE):
        at = log.find(_TEXT_END, found.start())
        end = at + len(_TEXT_END) if at >= 0 else -1
        yield int(found[2]), Head(found[1], found.start(), end)


def _ad_heads(log: bytes, cluster: int, proc: bytes) -> Iterator[tuple[int, Head]]:
    for form in (_XML, _JSON):
        if not (log.startswith(form.first) or b"\n" + form.first in log):
            continue
        mark = form.mark % cluster
        names = ((b"Cluster", b"%d" % cluster), (b"Proc", proc), (b"EventTypeNumber", rb"\d{1,3}"))
        own = [form.attribute(*name) for name in names]
        for start, end in _bodies(log, form):
            body = log[start:end] if end >= 0 else log[start:]
            # Most are other jobs', which need not be looked at line by line.
            if mark not in body or not body.startswith(form.first):
                continue
            of_cluster, job, number = (pattern.search(body) for pattern in own)
            if of_cluster is not None and job is not None and number is not None:
                yield int(job[1]), Head(b"%03d" % int(number[1]), start, end)


def _bodies(log: bytes, form: _Ads) -> Iterator[tuple[int, int]]:
    """Yield where ads begin and end; the last may have no end. Each byte is looked at once."""
    place = 0
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
    text = _TEXT_HEAD.match(event)
    if text is not None:
        return text[1], int(text[2]), int(text[3] + text[4])
    for form in (_XML, _JSON):
        if event.startswith(form.first):
            own = event.partition(form.last)[0] + form.last
            names = (b"EventTypeNumber", b"Cluster", b"Proc")
            words = [form.attribute(name, rb"-?\d{1,10}").search(own) for name in names]
            number, cluster, proc = (None if word is None else int(word[1]) for word in words)
            if number is not None and cluster is not None and proc is not None:
                return b"%03d" % number, cluster, proc
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
