"""What the histories say of a job: its record when it leaves, and one for each of its runs.

Pure. Most of a job's ad is its cluster's, so the text between the job's own values is rendered once
and used for all jobs that have the same attributes. The form is `kettle.records.history`'s.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.named_tuples import NamedTuple
from kettle.records import history
from kettle.schedd.queue.jobs import Job
from kettle.wire.codec import is_private_attribute

# Limit: layouts that are remembered; the one that was not used for the longest time goes first.
MOST_LAYOUTS = 128

# What is recorded of the beginning of a run.
_NAMES = ("ClusterId", "ProcId", "Owner", "NumShadowStarts", "ShadowBday")
# What every record of a run's transfer names of its job.
_TRANSFER_NAMES = ("ClusterId", "ProcId", "Owner", "RemoteHost")


_Key = tuple[int, frozenset[str], tuple[str, ...]]


class _Layout(NamedTuple):
    """How the ads of like jobs are rendered."""

    # What the cluster's ad said.
    shared: Mapping[str, object]
    # The text before each of a job's own values, with that value's name in lower case.
    own: list[tuple[str, str]]
    end: str


# What a job has in the queue and not in its last record; those of its runs have it.
_OF_THE_QUEUE = frozenset(("autoclusterid", "autoclusterattrs", "provisionedresources"))


class JobRecords:
    """Renders records. `left_out` are attributes, in lower case, that no history is to keep."""

    def __init__(self, left_out: AbstractSet[str] = frozenset()) -> None:
        self._left_out = frozenset(left_out)
        self._left_out_at_last = self._left_out | _OF_THE_QUEUE
        # (cluster, what is left out, the job's own names) → how such jobs are rendered.
        self._layouts: OrderedDict[_Key, _Layout] = OrderedDict()

    def ad_lines(self, job: Job) -> str:
        """Return the lines of a job that leaves the queue."""
        return self._lines_of(job.id.cluster, job.ad, self._left_out_at_last)

    def _lines_of(self, cluster: int, ad: ClassAd, left_out: frozenset[str]) -> str:
        """Return the lines of a cluster's job without secrets, in the order of their names."""
        table = ad.table
        _, own, end = self._layout_of(cluster, ad, left_out)
        pieces: list[str] = []
        for before, name in own:
            text = table[name]
            pieces += (before, text if isinstance(text, str) else text.text(old=True))
        pieces.append(end)
        return "".join(pieces)

    def finished(self, job: Job, offset: int, now: int) -> bytes:
        """Return the record of a finished job for a history file that has `offset` bytes."""
        completed = job.ad.integer("CompletionDate") or 0
        banner = history.render_banner(
            offset=offset,
            cluster=job.id.cluster,
            proc=job.id.proc,
            owner=job.owner,
            completed=completed if completed > 0 else -1,
            now=now,
        )
        return (self.ad_lines(job) + banner).encode("utf-8", "surrogateescape")

    def run(
        self,
        kind: str,
        job: Job,
        now: int,
        more: Sequence[str] = (),
        was: Mapping[str, str | None] = MappingProxyType({}),
    ) -> bytes:
        """Return the record of a run: SPAWN when it begins, EPOCH when it has ended.

        Runs are counted from 0. Of a beginning only the names are recorded, and `more`; all of the
        job if that says `all`. `was` is what its ad said otherwise then, None for nothing.
        """
        whole = kind == "EPOCH" or [name.lower() for name in more] == ["all"]
        ad = _overlaid(job.ad, was) if was else job.ad
        if whole:
            lines = self._lines_of(job.id.cluster, ad, self._left_out)
        else:
            lines = _lines(ad, (*_NAMES, *more))
        return _epoch(kind, job, now, lines)

    def transfer(
        self, kind: str, job: Job, record: ClassAd, now: int, more: Sequence[str] = ()
    ) -> bytes:
        """Return the record of a run's transfer, with what it says of its job: `more`, too."""
        own = "".join(f"{line}\n" for line in record.lines())
        of_the_job = [name for name in (*_TRANSFER_NAMES, *more) if name not in record]
        return _epoch(kind, job, now, own + _lines(job.ad, of_the_job))

    def _layout_of(self, cluster: int, ad: ClassAd, left_out: frozenset[str]) -> _Layout:
        key = (cluster, left_out, tuple(ad.own_names()))
        layout = self._layouts.get(key)
        parent = ad.parent
        shared = {} if parent is None else parent.table
        if layout is not None and layout.shared == shared:
            self._layouts.move_to_end(key)
            return layout
        layout = self._layouts[key] = _make_layout(ad, dict(shared), left_out)
        if len(self._layouts) > MOST_LAYOUTS:
            self._layouts.popitem(last=False)
        return layout


def _make_layout(ad: ClassAd, shared: Mapping[str, object], left_out: frozenset[str]) -> _Layout:
    before = ""
    own: list[tuple[str, str]] = []
    for name in sorted(ad.names(), key=str.lower):
        lower = name.lower()
        if is_private_attribute(name) or lower in left_out:
            continue
        if lower in ad.table:
            own.append((f"{before}{name} = ", lower))
            before = "\n"
        else:
            before += f"{name} = {ad.text(name)}\n"
    return _Layout(shared, own, before)


def _overlaid(ad: ClassAd, was: Mapping[str, str | None]) -> ClassAd:
    """Return an ad with those attributes as they were."""
    other = ad.copy()
    for name, text in was.items():
        if text is None:
            other.discard(name)
        else:
            other.insert_text(name, text)
    return other


def _lines(ad: ClassAd, names: Iterable[str]) -> str:
    """Return the attributes of these names that there are, each once, without secrets."""
    wanted = {name.lower(): name for name in reversed(tuple(names))}
    present = [name for name in wanted.values() if name in ad and not is_private_attribute(name)]
    return "".join(f"{name} = {ad.text(name)}\n" for name in reversed(present))


def _epoch(kind: str, job: Job, now: int, lines: str) -> bytes:
    """Return a record of the epoch history."""
    run = max(0, (job.ad.integer("NumShadowStarts") or 0) - 1)
    banner = history.render_epoch_banner(
        kind, cluster=job.id.cluster, proc=job.id.proc, run=run, owner=job.owner, now=now
    )
    head = f"EpochAdType = {quote_line(kind)}\nRunInstanceID = {run}\nEpochWriteDate = {now}\n"
    return (head + lines + banner).encode("utf-8", "surrogateescape")
