"""The batch table of `condor_q`: one row for each cluster, named batch or DAG.

Which jobs belong together, what is counted, how the rows are laid out. Counting rules are the
reference's, by experiment: what transfers its output runs, what is suspended is idle, and jobs of
the scheduler universe (DAGMan) stand for their batch but are not counted in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.structs import Struct, field
from kettle.tools.printing.times import format_moment
from kettle.tools.printing.widths import length

WANTED = (
    "ClusterId ProcId Owner QDate JobStatus JobUniverse JobBatchName DAGManJobId "
    "DAG_NodesTotal DAG_NodesDone TotalSubmitProcs"
)
_LEAST_OWNER, _LEAST_BATCH = 8, 10

Key = tuple[str, str]


class Batch(Struct):
    """One row: what is shown and what is counted."""

    owner: str
    name: str
    submitted: int | None
    total: int = 0
    # How many are finished, where a DAG says so itself, or where only some jobs are looked at.
    done_by_dag: int | None = None
    present: int = 0
    running: int = 0
    idle: int = 0
    held: int = 0
    clusters: set[int] = field(default_factory=set)
    first: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)

    @property
    def done(self) -> int:
        """How many have left the queue."""
        if self.done_by_dag is not None:
            return self.done_by_dag
        return max(0, self.total - self.present)

    @property
    def ids(self) -> str:
        """The first and the last job."""
        first, last = f"{self.first[0]}.{self.first[1]}", f"{self.last[0]}.{self.last[1]}"
        if self.first == self.last:
            return first
        same_cluster = self.first[0] == self.last[0]
        return f"{first}-{self.last[1]}" if same_cluster else f"{first} ... {last}"


def job_id(ad: ClassAd) -> tuple[int, int]:
    """Return the cluster and the number in it."""
    return ad.integer("ClusterId") or 0, ad.integer("ProcId") or 0


def is_dag(ad: ClassAd) -> bool:
    """Tell whether a job stands for a batch instead of being in one."""
    return ad.integer("JobUniverse") == JobUniverse.SCHEDULER


def find_batches(ads: Iterable[ClassAd], *, whole: bool = True) -> list[Batch]:
    """Return the rows, in the order of their first jobs.

    Not `whole`: only some of the batches' jobs were asked for, so that a job that is not there
    need not be done.
    """
    jobs = sorted(ads, key=job_id)
    dags = {job_id(ad)[0]: ad for ad in jobs if is_dag(ad)}
    rows: dict[Key, Batch] = {}
    keys: dict[int, Key] = {}
    for ad in jobs:
        top = find_top(ad, dags)
        # A cluster is in one row, the one of its first job, whatever else its jobs are called.
        key = keys.setdefault(job_id(top)[0], choose_key(top))
        batch = rows.setdefault(key, start_batch(top))
        if not whole and batch.done_by_dag is None:
            batch.done_by_dag = 0
        count_job(batch, ad, of_dag=is_dag(top))
    return list(rows.values())


def find_top(ad: ClassAd, dags: dict[int, ClassAd]) -> ClassAd:
    """Return the outermost DAG that a job is a node of, or the job itself."""
    for _ in range(64):  # Limit: DAGs nested deeper are shown as they stand.
        parent = ad.integer("DAGManJobId")
        if parent is None or parent not in dags or dags[parent] is ad:
            break
        ad = dags[parent]
    return ad


def find_depth(ad: ClassAd, shown: Mapping[tuple[int, int], ClassAd]) -> int:
    """Return how many graphs a node is under, of those that are shown; 0 for none.

    Compat: the reference dies of a job that names itself as its DAG; ours calls it a node of none
    (tests/cli/test_depth_of_nodes.py).
    """
    depth = 0
    while depth < len(shown):
        parent = shown.get((ad.integer("DAGManJobId") or 0, 0))
        if parent is None:
            return depth
        ad, depth = parent, depth + 1
    return 0


def sort_under_dags(ads: Iterable[ClassAd]) -> list[ClassAd]:
    """Return the jobs by id, the nodes of each DAG right below it."""
    jobs = sorted(ads, key=job_id)
    dags = {job_id(ad)[0]: ad for ad in jobs if is_dag(ad)}
    by_parent: dict[int, list[ClassAd]] = {}
    for ad in jobs:
        parent = ad.integer("DAGManJobId")
        known = parent is not None and parent in dags and dags[parent] is not ad
        by_parent.setdefault(parent if known and parent is not None else 0, []).append(ad)
    ordered: list[ClassAd] = []
    waiting = by_parent.pop(0, [])[::-1]
    while waiting:
        ad = waiting.pop()
        ordered.append(ad)
        if is_dag(ad):
            waiting += by_parent.pop(job_id(ad)[0], [])[::-1]
    # What is left points at itself in a circle.
    return ordered + [ad for rest in by_parent.values() for ad in rest]


def choose_key(ad: ClassAd) -> Key:
    """Return what jobs of one row have in common."""
    name = ad.string("JobBatchName")
    if name and not is_dag(ad):
        return ad.string("Owner") or "", name
    return "", str(job_id(ad)[0])


def start_batch(ad: ClassAd) -> Batch:
    """Return an empty row named after its first job."""
    cluster = job_id(ad)[0]
    name = ad.string("JobBatchName") or f"{'DAG' if is_dag(ad) else 'ID'}: {cluster}"
    batch = Batch(ad.string("Owner") or "???", name, ad.integer("QDate"))
    if is_dag(ad):
        batch.done_by_dag = 0
    return batch


def count_job(batch: Batch, ad: ClassAd, *, of_dag: bool) -> None:
    """Count a job in its row."""
    if is_dag(ad):
        # One that does not say how many nodes it has counts as what was submitted: itself.
        nodes = ad.integer("DAG_NodesTotal")
        batch.total += nodes if nodes is not None else ad.integer("TotalSubmitProcs") or 0
        batch.done_by_dag = (batch.done_by_dag or 0) + (ad.integer("DAG_NodesDone") or 0)
        return
    where = job_id(ad)
    batch.first = min(batch.first, where) if batch.present else where
    batch.last = max(batch.last, where)
    batch.present += 1
    if not of_dag and where[0] not in batch.clusters:
        batch.clusters.add(where[0])
        batch.total += ad.integer("TotalSubmitProcs") or 0
    match ad.integer("JobStatus"):
        case JobStatus.RUNNING | JobStatus.TRANSFERRING_OUTPUT:
            batch.running += 1
        case JobStatus.IDLE | JobStatus.SUSPENDED:
            batch.idle += 1
        case JobStatus.HELD:
            batch.held += 1


def render_batches(batches: list[Batch], most: int = 0) -> str:
    """Return headings and rows; with `most`, cut at that many characters."""
    owner_width, name_width = choose_widths(batches, most)
    hold = any(batch.held for batch in batches) or not batches
    heading = (
        f"{'OWNER':<{owner_width}} {'BATCH_NAME':<{name_width}}    SUBMITTED   DONE   RUN "
        f"   IDLE{'   HOLD' if hold else ''}  TOTAL JOB_IDS"
    )
    rows = [heading]
    for batch in batches:
        when = "" if batch.submitted is None else format_moment(batch.submitted)
        numbers = [batch.done, batch.running, batch.idle]
        numbers += [batch.held] if hold else []
        cells = "".join(f" {_count(number)}" for number in (*numbers, batch.total))
        rows.append(
            f"{_fit(batch.owner, owner_width)} {_fit(batch.name, name_width)} "
            f"{when:>12}{cells} {batch.ids}"
        )
    return "".join((row[:most] if most else row) + "\n" for row in rows)


def _count(number: int) -> str:
    return f"{number:6d}" if number else "     _"


def _fit(text: str, width: int) -> str:
    return text[:width] + " " * (width - length(text))


def choose_widths(batches: list[Batch], most: int) -> tuple[int, int]:
    """Return how wide owners and names are; a limit is shared between what needs more."""
    if not batches:
        return len("OWNER"), 12
    owner = max(length(batch.owner) for batch in batches)
    if owner < len("OWNER"):
        owner = _LEAST_OWNER
    name = max(_LEAST_BATCH, *(length(batch.name) for batch in batches))
    if not most:
        return owner, name
    hold = any(batch.held for batch in batches)
    taken = _LEAST_OWNER + _LEAST_BATCH + 49 + (7 if hold else 0)
    spare = max(0, most - taken)
    # Compat: found by trying; each gets a little less than half, job ids what is left.
    owner_needs, name_needs = max(0, owner - _LEAST_OWNER), name - _LEAST_BATCH
    owner_gets = min(owner_needs, round(spare * 0.45))
    name_gets = min(name_needs, math.ceil(spare * 0.45))
    if owner_gets == owner_needs:
        name_gets = min(name_needs, spare - owner_gets)
    elif name_gets == name_needs:
        owner_gets = min(owner_needs, spare - name_gets)
    return min(owner, _LEAST_OWNER + owner_gets), _LEAST_BATCH + name_gets
