"""Where the events of one job begin and end in a log's bytes, whatever form the log has.

Pure, and without reading what is between: after a crash whole logs are looked through for a job.
Text events begin with number and id; those of XML and JSON logs are ads, one line an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TEXT_END = b"\n...\n"
_TEXT_HEAD = re.compile(rb"(\d{3}) \(0*(\d+)\.(-?)0*(\d+)\.\d+\) ")


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


_XML = _Ads(
    b"<c>\n", b"\n</c>\n", rb'^    <a n="%s"><[a-z]+>(%s)</[a-z]+></a>$', b'"Cluster"><i>%d<'
)
_JSON = _Ads(b"{\n", b"\n}\n", rb'^  "%s": "?(%s)"?,?$', b'"Cluster": %d')


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
