"""The batch table of `condor_q`: one row for each cluster, named batch or DAG.

Which jobs belong together, what is counted, how the rows are laid out. The rules are the
reference's: what transfers its output runs, what is suspended is idle, jobs of the scheduler
universe (DAGMan) stand for their batch but are not counted in it, and any job that is shown may
be the DAG of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.digits import whole
from kettle.structs import Struct
from kettle.tools.printing.times import format_moment
from kettle.tools.printing.widths import cut, length

WANTED = (
    "ClusterId ProcId Owner QDate JobStatus JobUniverse JobBatchName DAGManJobId "
    "DAG_NodesTotal DAG_NodesDone DAGNodeName TotalSubmitProcs JobMaterializeNextProcId"
)
_LEAST_OWNER, _LEAST_BATCH, _LEAST_IDS = 8, 10, 9
# The columns whose width the jobs do not change, with what is between all of them.
_FIXED = 50


class Batch(Struct):
    """One row: what is shown and what is counted."""

    # None: nobody told.
    owner: str | None
    name: str
    submitted: int | None
    total: int = 0
    done: int = 0
    # Whether a cluster of it does not say how many jobs it began with.
    is_open: bool = False
    present: int = 0
    running: int = 0
    idle: int = 0
    held: int = 0
    first: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)

    @property
    def ids(self) -> str:
        """The first and the last job."""
        first, last = f"{self.first[0]}.{self.first[1]}", f"{self.last[0]}.{self.last[1]}"
        if self.first == self.last:
            return first
        same_cluster = self.first[0] == self.last[0]
        return f"{first}-{self.last[1]}" if same_cluster else f"{first} ... {last}"

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """The numbers in the order of their columns."""
        done, total = (0, 0) if self.is_open else (self.done, self.total)
        return done, self.running, self.idle, self.held, total


def job_id(ad: ClassAd) -> tuple[int, int]:
    """Return the cluster and the number in it."""
    return ad.integer("ClusterId") or 0, ad.integer("ProcId") or 0


def is_dag(ad: ClassAd) -> bool:
    """Tell whether a job stands for a batch instead of being in one."""
    return ad.integer("JobUniverse") == JobUniverse.SCHEDULER


def find_batches(
    ads: Iterable[ClassAd], *, has_all: bool = True, guess: bool = False, by_node: bool = False
) -> list[Batch]:
    """Return the rows, in the order of their first jobs.

    Not `has_all`: only some of the batches' jobs were asked for, so that a job that is not there
    need not be done. With `guess` a cluster that does not say how many jobs it began with began
    with as many as its last job's number tells. `by_node`: a row that a node of a DAG begins has
    the node's name as its owner.
    """
    clusters: dict[int, list[ClassAd]] = {}
    for ad in sorted(ads, key=job_id):
        clusters.setdefault(job_id(ad)[0], []).append(ad)
    leaders = find_leaders(clusters)
    rows: dict[int, Batch] = {}

    def row_of(leader: int) -> Batch:
        if leader not in rows:
            rows[leader] = start_batch(clusters[leader][0], by_node=by_node)
        return rows[leader]

    for number, jobs in clusters.items():
        batch = row_of(leaders[number])
        count_cluster(batch, jobs, has_all=has_all, guess=guess)
        for ad in jobs[is_dag(jobs[0]) :]:
            # A node of another DAG than its cluster's first job is in the row of its own.
            # Compat: the reference dies of such nodes where the second DAG is the later one, and
            # has a job that is of none in the row of the job before it
            # (test_nodes_of_several_graphs_in_one_cluster_are_in_the_rows_of_theirs).
            dag = find_dag(ad)
            count_job(row_of(leaders[dag]) if dag in leaders else batch, ad)
    return list(rows.values())


def find_leaders(clusters: Mapping[int, Sequence[ClassAd]]) -> dict[int, int]:
    """Return for each cluster the one whose row it is in.

    Its first job decides for all that name no other DAG: the outermost DAG that is shown, else the
    first cluster of the same owner and batch name, or name of a node that does not say of which
    DAG, else it has a row of its own.
    """
    above: dict[int, int] = {}
    named: dict[tuple[str, str], int] = {}
    for number, jobs in clusters.items():
        dag = find_dag(jobs[0])
        if dag:
            above[number] = dag if dag in clusters else number
            continue
        name = _given_name(jobs[0])
        first = named.setdefault((name, jobs[0].string("Owner") or ""), number) if name else number
        above[number] = number if is_dag(jobs[0]) else first
    return {number: _top(number, above) for number in clusters}


def _top(number: int, above: Mapping[int, int]) -> int:
    """Follow what is above a cluster; in a circle the smallest is the top.

    Compat: the reference dies of many a circle
    (test_a_job_that_names_itself_or_a_circle_is_in_one_row).
    """
    passed = [number]
    while above[passed[-1]] not in passed:
        passed.append(above[passed[-1]])
    return min(passed[passed.index(above[passed[-1]]) :])


def find_dag(ad: ClassAd) -> int:
    """Return the cluster of the DAG that a job is a node of; 0 if it is a node of none.

    Old DAGMans wrote it as a string, with or without a proc. No other value names a DAG, a number
    with a fraction neither, as in the reference.
    """
    named = ad.evaluate("DAGManJobId")
    if isinstance(named, str):
        word = named.partition(".")[0]
        return whole(word) if word.isascii() and word.isdecimal() else 0
    if isinstance(named, bool) or not isinstance(named, int):
        return 0
    return max(0, named)


def node_name(ad: ClassAd) -> str | None:
    """Return the name of a DAG's node; None for a job without one, or that says nothing of a DAG.

    It may be empty, and what a job says of its DAG need not name one.
    """
    return ad.string("DAGNodeName") if "DAGManJobId" in ad else None


def find_depth(ad: ClassAd, shown: Mapping[tuple[int, int], ClassAd]) -> int:
    """Return how many graphs a node is under, of those that are shown; 0 for none.

    Compat: the reference dies of a job that names itself as its DAG; ours calls it a node of none
    (tests/cli/test_depth_of_nodes.py).
    """
    depth = 0
    while depth < len(shown):
        parent = shown.get((find_dag(ad), 0))
        if parent is None:
            return depth
        ad, depth = parent, depth + 1
    return 0


def sort_under_dags(ads: Iterable[ClassAd]) -> list[ClassAd]:
    """Return the jobs by id, the nodes of each DAG right below it.

    As in the reference the first job of a cluster that is shown is the node; its other jobs keep
    the places of their ids, below the DAG with all its nodes.
    """
    jobs = sorted(ads, key=job_id)
    dags = {job_id(ad)[0]: ad for ad in jobs if job_id(ad)[1] == 0}
    nodes: dict[int, list[ClassAd]] = {}
    others: list[ClassAd] = []
    before = None
    for ad in jobs:
        cluster, dag = job_id(ad)[0], find_dag(ad)
        is_node = cluster != before and dag in dags and dag != cluster
        (nodes.setdefault(dag, []) if is_node else others).append(ad)
        before = cluster
    ordered: list[ClassAd] = []
    waiting = others[::-1]
    while waiting:
        ad = waiting.pop()
        ordered.append(ad)
        if dags.get(job_id(ad)[0]) is ad:
            waiting += nodes.pop(job_id(ad)[0], [])[::-1]
    # What is left points at itself in a circle.
    return ordered + [ad for rest in nodes.values() for ad in rest]


def name_batch(ad: ClassAd) -> str:
    """Return what a row is called whose first job is `ad`."""
    name, cluster = _given_name(ad), job_id(ad)[0]
    return name or (f"DAG: {cluster}" if is_dag(ad) else f"ID: {cluster}")


def _given_name(ad: ClassAd) -> str:
    """Return the name that somebody gave a job's batch; empty if nobody did."""
    name = ad.string("JobBatchName")
    if name or is_dag(ad):
        return name or ""
    node = node_name(ad)
    return "" if node is None else f"NODE: {node}"


def start_batch(ad: ClassAd, *, by_node: bool) -> Batch:
    """Return an empty row named after its first job; `by_node`: a node's owner is its name."""
    node = node_name(ad) if by_node else None
    owner = ad.string("Owner") or None if node is None else node
    return Batch(owner, name_batch(ad), ad.integer("QDate"))


def count_cluster(batch: Batch, jobs: Sequence[ClassAd], *, has_all: bool, guess: bool) -> None:
    """Count in its row how many jobs a cluster has altogether, and how many are done."""
    first, total = jobs[0], jobs[0].integer("TotalSubmitProcs") or 0
    if is_dag(first):
        # One that does not say how many nodes it has counts as what was submitted: itself.
        nodes = first.integer("DAG_NodesTotal")
        batch.total += total if nodes is None else nodes
        batch.done += first.integer("DAG_NodesDone") or 0
        return
    total = total or (job_id(jobs[-1])[1] + 1 if guess else 0)
    if find_dag(first):
        # A node is its DAG's to count.
        pass
    elif total:
        made = first.integer("JobMaterializeNextProcId")
        batch.total += total
        batch.done += (total if made is None else made) - len(jobs) if has_all else 0
    else:
        batch.is_open = True


def count_job(batch: Batch, ad: ClassAd) -> None:
    """Count a job that is in the queue; the ids are those of jobs that are no DAGs."""
    where = job_id(ad)
    if not is_dag(ad):
        batch.first = min(batch.first, where) if batch.present else where
        batch.last = max(batch.last, where)
        batch.present += 1
    match ad.integer("JobStatus"):
        case JobStatus.RUNNING | JobStatus.TRANSFERRING_OUTPUT:
            batch.running += 1
        case JobStatus.IDLE | JobStatus.SUSPENDED:
            batch.idle += 1
        case JobStatus.HELD:
            batch.held += 1


def render_batches(
    batches: list[Batch], most: int = 0, *, held: bool = False, none: str = "_"
) -> str:
    """Return headings and rows; with `most`, cut at that many characters.

    `held`: the column of held jobs is there even if no job is. `none` stands where no job is.
    """
    owner_width, name_width = choose_widths(batches, most)
    shown = [0, 1, 2, 3, 4]
    if batches and not held and not any(batch.held for batch in batches):
        shown.remove(3)
    widths = [max(6, *(len(str(batch.counts[n])) for batch in batches), 0) for n in range(5)]
    words = ("  DONE", "  RUN ", "  IDLE", "  HOLD", " TOTAL")
    headings = "".join(f" {words[n]:<{widths[n]}}" for n in shown)
    rows = [f"{'OWNER':<{owner_width}} {'BATCH_NAME':<{name_width}}    SUBMITTED{headings} JOB_IDS"]
    for batch in batches:
        when = "" if batch.submitted is None else format_moment(batch.submitted)
        owner = _unknown(owner_width) if batch.owner is None else batch.owner
        cells = "".join(f" {batch.counts[n] or none!s:>{widths[n]}}" for n in shown)
        rows.append(
            f"{_fit(owner, owner_width)} {_fit(batch.name, name_width)} "
            f"{when:>12}{cells} {batch.ids}"
        )
    return "".join((cut(row, most) if most else row) + "\n" for row in rows)


def _fit(text: str, width: int) -> str:
    return cut(text, width) + " " * (width - length(text))


def choose_widths(batches: list[Batch], most: int) -> tuple[int, int]:
    """Return how wide owners and names are; a limit is shared between what needs more."""
    if not batches:
        return len("OWNER"), 12
    owner = max(length(batch.owner or "") for batch in batches)
    name = max(length(batch.name) for batch in batches)
    ids = max(length(batch.ids) for batch in batches)
    spare = most + 1 - _FIXED
    if not most or owner + name + ids <= spare:
        return owner if owner >= len("OWNER") else _LEAST_OWNER, max(_LEAST_BATCH, name)
    owner, name = _share(owner, name, ids, spare)
    return max(_LEAST_OWNER, owner), max(_LEAST_BATCH, name)


def _unknown(width: int) -> str:
    """Return what stands for an owner that nobody told."""
    return f"[{'?' * (width - 2)}]"


def _share(owner: int, name: int, ids: int, room: int) -> tuple[int, int]:
    """Return the widths of owners and names in `room` for both and the job ids.

    Each gets a third of what the least widths leave, and of what another does not need; where
    there is little, of the job ids the first has to do.
    """
    third = int((room - _LEAST_OWNER - _LEAST_BATCH - _LEAST_IDS) / 3)
    for_owner = for_name = third
    if third < ids:
        needed = name + owner - (2 * third + _LEAST_BATCH + _LEAST_OWNER)
        if needed > 7 and third < _LEAST_BATCH:
            ids //= 2
    left = third + _LEAST_IDS - ids
    if left > 0:
        for_owner += left // 2
        for_name += left - left // 2
    left = for_name + _LEAST_BATCH - name
    if left > 0:
        for_owner = min(_LEAST_OWNER + for_owner + left, owner) - _LEAST_OWNER
    left = for_owner + _LEAST_OWNER - owner
    if left > 0:
        for_name = min(_LEAST_BATCH + for_name + left, name) - _LEAST_BATCH
    return min(owner, for_owner + _LEAST_OWNER), min(name, for_name + _LEAST_BATCH)
