"""The messages that answer QUERY_JOB_ADS, composed one after the other from the queue.

Pure: `parts` is run by the daemon in slices, or by a forked child over the queue of one moment (see
`runtime.process.snapshot`). What a query means is `queries`'. A cluster's jobs share most of their
attributes, so what is shared is encoded once; 100,000 jobs are 500 MB on the wire.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.named_tuples import NamedTuple
from kettle.schedd.queue import queries
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.match_news import MatchNews
from kettle.schedd.queue.queries import Query
from kettle.wire.codec import (
    Writer,
    asked_names,
    expand_projection,
    is_plain_value,
    is_private_attribute,
)

Signature = Callable[[Job], tuple[int, tuple[str, ...]]]

# Limit: texts remembered as plain values, and blocks of shared attributes, within one answer.
_MOST_PLAIN = 10_000
_MOST_BLOCKS = 10_000

_count = struct.Struct(">q").pack
_SIZES = tuple(map(_count, range(1024)))


@dataclass(slots=True)
class Answer:
    """One answer: to which query, over which queue, at what time."""

    queue: JobQueue
    query: Query
    now: int
    # A job's autocluster and the attributes that make it up.
    signature: Signature

    def parts(self, encrypted: bool) -> Iterator[tuple[bytes, bool]]:
        """Yield the body of each message; an empty part means that none is found yet."""
        query = self.query
        if query.group_by or query.default_autoclusters:
            for ad in queries.aggregate(self.queue, query, self.signature):
                yield Writer(encrypted).ad(ad).getvalue(), True
            end = ClassAd({"Owner": 0, "ErrorCode": 0, "ServerTime": self.now})
            yield Writer(encrypted).ad(end).getvalue(), True
        elif query.with_clusters and query.without_procs:
            # The jobs of clusters that make theirs later are counted all the same.
            jobs = queries.matching(self.queue, query)
            end = queries.summary(self.queue, query, queries.count(jobs), self.now)
            for ad in () if query.summary_only else queries.clusters(self.queue, query):
                yield self._message(ad, encrypted), True
            yield Writer(encrypted).ad(end).getvalue(), True
        else:
            yield from self._jobs(encrypted)

    def _jobs(self, encrypted: bool) -> Iterator[tuple[bytes, bool]]:
        query, queue = self.query, self.queue
        news = MatchNews() if query.for_analysis else None
        if query.summary_only:
            found = queries.counted(queue, query)
        else:
            found = queries.Counts()
            ads = self._ads(found, encrypted, news)
            # Ads of clusters count as much as jobs'.
            yield from ads if not query.with_clusters else _at_most(query.limit, ads)
        end = queries.summary(queue, query, found, self.now)
        told = None if news is None else news.tell(queue.jobs.values())
        if told is not None:
            end["Analyze"] = told
        yield Writer(encrypted).ad(end).getvalue(), True

    def _ads(
        self, found: queries.Counts, encrypted: bool, news: MatchNews | None
    ) -> Iterator[tuple[bytes, bool]]:
        """Yield the bodies of jobs, and of their clusters where wanted; count the jobs."""
        query, queue = self.query, self.queue
        bodies = JobBodies(query.projection, self._server_time, encrypted=encrypted)
        clusters: set[int] = set()
        # A cluster that makes its jobs later is meant by itself, whether it has any or not.
        for ad in queries.clusters(queue, query) if query.with_clusters else ():
            clusters.add(ad.integer("ClusterId") or 0)
            yield self._message(ad, encrypted), True
        body_of, with_clusters = bodies.of, query.with_clusters
        for job in queries.look(queue, query):
            if job is None:
                yield b"", False
                continue
            number = job.id.cluster
            if with_clusters and number not in clusters and number in queue.clusters:
                clusters.add(number)
                yield self._message(queue.clusters[number].ad, encrypted), True
            found.add(job.status, job.universe)
            if news is not None:
                news.see(job)
            yield body_of(job), True

    @property
    def _server_time(self) -> int | None:
        return self.now if self.query.server_time else None

    def _message(self, ad: ClassAd, encrypted: bool) -> bytes:
        writer = Writer(encrypted)
        writer.ad(ad, server_time=self._server_time, projection=self.query.projection)
        return writer.getvalue()


def _at_most(limit: int, ads: Iterator[tuple[bytes, bool]]) -> Iterator[tuple[bytes, bool]]:
    """Yield bodies up to so many, negative for all; what is empty does not count."""
    for body in ads:
        if limit == 0:
            return
        limit -= bool(body[0])
        yield body


class _Block(NamedTuple):
    """What the messages of a cluster's jobs have in common if their own names are the same.

    The own attributes that are shown, each with the beginning of its line; how many attributes
    there are in all; the cluster's lines with what ends an ad, None where some of them are
    computed: look closer.
    """

    own: list[tuple[str, bytes]]
    number: bytes
    rest: bytes | None


class JobBodies:
    """Job ads as message bodies for one answer; what a cluster's jobs share is encoded once.

    `projection` None shows everything but secrets. A wanted attribute that is computed brings
    along what it is computed from, as the reference's answers do.
    """

    def __init__(
        self, projection: tuple[str, ...] | None, server_time: int | None, *, encrypted: bool
    ) -> None:
        self._projection = projection
        # Lower case → name as it was asked for, which is how it is answered.
        self._wanted = None if projection is None else asked_names(projection)
        # A secret is never shown, but what it is computed from is, as of any wanted attribute.
        self._asks_secrets = any(map(is_private_attribute, projection or ()))
        self._encrypted = encrypted
        self._end_lines = 0 if server_time is None else 1
        end = b"" if server_time is None else self._string(b"ServerTime = %d" % server_time)
        # Two empty strings end an ad: its types, which nobody reads any more.
        self._end = end + self._string(b"") * 2
        # Cluster → (key, encoded attribute) of what its ad shows, None if some of it is computed.
        self._shared: dict[int, list[tuple[str, bytes]] | None] = {}
        # By cluster and the job's own names.
        self._blocks: dict[tuple[int, tuple[str, ...]], _Block] = {}
        self._plain: set[str] = set()

    def _string(self, data: bytes) -> bytes:
        return (_count(len(data) + 1) if self._encrypted else b"") + data + b"\0"

    def of(self, job: Job) -> bytes:
        """Return the body of one job's message."""
        if self._asks_secrets:
            return self._expanded(job)
        ad = job.ad
        # The keys are cheaper to come by than the names, and say the same mostly. Names that are
        # spelled like keys are no keys, so something stands before them.
        names = tuple(ad.table) if ad.spelled_as_usual else ("", *ad.own_names())
        key = (job.id.cluster, names)
        block = self._blocks.get(key)
        if block is None:
            block = self._make_block(job, key)
        mine = self._own(ad, block.own) if block.rest is not None else None
        if mine is None:
            return self._expanded(job)
        return b"".join((block.number, *mine, block.rest or b""))

    def _make_block(self, job: Job, key: tuple[int, tuple[str, ...]]) -> _Block:
        """Encode what a cluster's ad adds to jobs with these own attributes."""
        cluster, _ = key
        own = [
            (name.lower(), f"{self._spelled(name)} = ".encode("utf-8", "surrogateescape"))
            for name in job.ad.own_names()
            if self._is_shown(name.lower(), name)
        ]
        if cluster not in self._shared:
            self._shared[cluster] = self._encode_shared(job.ad.parent)
        shared = self._shared[cluster]
        block = _Block(own, b"", None)
        if shared is not None:
            lines = [line for name, line in shared if name not in job.ad.table]
            count = _count(len(own) + len(lines) + self._end_lines)
            block = _Block(own, count, b"".join((*lines, self._end)))
        if len(self._blocks) < _MOST_BLOCKS:
            self._blocks[key] = block
        return block

    def _encode_shared(self, parent: ClassAd | None) -> list[tuple[str, bytes]] | None:
        if parent is None:
            return []
        lines = []
        for key, name in zip(parent.table, parent.own_names(), strict=True):
            if self._is_shown(key, name):
                text = parent.text(name) or "undefined"
                if not (self._wanted is None or text in self._plain or self._is_plain(text)):
                    return None
                lines.append((key, self._line(self._spelled(name), text)))
        return lines

    def _own(self, ad: ClassAd, names: list[tuple[str, bytes]]) -> list[bytes] | None:
        """Return the job's own attributes, encoded; None if a wanted one is computed."""
        lines = []
        table, all_wanted, plain = ad.table, self._wanted is None, self._plain
        for key, beginning in names:
            raw = table[key]
            text = raw if type(raw) is str else raw.text(old=True)  # type: ignore[union-attr]
            # Most are numbers, all different.
            if not (all_wanted or text.isdecimal() or text in plain or self._is_plain(text)):
                return None
            line = b"%b%b\0" % (beginning, text.encode("utf-8", "surrogateescape"))
            if self._encrypted:
                size = len(line)
                lines.append(_SIZES[size] if size < 1024 else _count(size))
            lines.append(line)
        return lines

    def _line(self, name: str, text: str) -> bytes:
        return self._string(f"{name} = {text}".encode("utf-8", "surrogateescape"))

    def _is_shown(self, key: str, name: str) -> bool:
        wanted = self._wanted
        return (wanted is None or key in wanted) and not is_private_attribute(name)

    def _spelled(self, name: str) -> str:
        return self._wanted.get(name.lower(), name) if self._wanted else name

    def _is_plain(self, text: str) -> bool:
        """Tell whether a text is a value, which needs no other attribute."""
        if not is_plain_value(text):
            return False
        if len(self._plain) < _MOST_PLAIN:
            self._plain.add(text)
        return True

    def _expanded(self, job: Job) -> bytes:
        assert self._projection is not None
        names = asked_names(expand_projection(job.ad, self._projection))
        lines = [
            self._line(names[name.lower()], job.ad.text(name) or "undefined")
            for name in job.ad
            if name.lower() in names and not is_private_attribute(name)
        ]
        return b"".join((_count(len(lines) + self._end_lines), *lines, self._end))
