"""The tables of `condor_q` and `condor_history`: which columns, how wide.

Only the lists of columns are here; what stands in a column is in `job_columns.py`, layout in
`printing/masks.py`. Compared with the reference's in tests/conformance/test_tool_output.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kettle.classad import UNDEFINED, ClassAd, Expr, parse_expression
from kettle.structs import Struct
from kettle.tools.printing.masks import Column, Mask
from kettle.tools.printing.times import as_whole, format_span
from kettle.tools.printing.values import Shown
from kettle.tools.printing.widths import length
from kettle.tools.queue import job_columns as jobs

OWNER_WIDTH = 14
_OWNER_WIDTH_IN_DAGS = 17
_SIZE_WIDTH = 4
# What a last column grows from where others are added behind it.
_LAST_WIDTH = 3
# The last numbers of a job beside which columns keep the widths that they begin with.
_LAST_CLUSTER = 9998
_LAST_PROC = 998
# What a row may take without any more for its owner.
_USUAL_ROW = 79


class Layout(Struct):
    """What a table needs to know: owner's width, the most a row may take (0: no limit).

    `shown` are all its jobs, by id. `all_runs`: the time of earlier runs counts, too. `fits`:
    sizes get the room that they need; else they are cut to that of usual ones. `of_cpu`: processor
    time is shown instead of the time of runs.
    """

    owner_width: int = OWNER_WIDTH
    most: int = 0
    shown: Mapping[tuple[int, int], ClassAd] = {}
    all_runs: bool = False
    fits: bool = False
    of_cpu: bool = False


def lay_out(
    ads: Sequence[ClassAd], *, most: int, in_dags: bool, all_runs: bool, of_cpu: bool = False
) -> Layout:
    """Return the layout for jobs; `in_dags` is one in which the names of nodes stand for owners.

    As the reference's: widths are fitted where an owner is longer than usual or a job's number is
    large, and only there (test_sizes_have_room_beside_long_owners_and_large_numbers_only).
    """
    # Late: condor_history has these tables, and no batches.
    from kettle.tools.queue.batches import job_id

    shown = {job_id(ad): ad for ad in ads} if in_dags else {}
    usual = _OWNER_WIDTH_IN_DAGS if in_dags else OWNER_WIDTH
    longest = max((_room_for_owner(ad, shown) for ad in ads), default=0)
    spare = max(0, most - _USUAL_ROW) if most else 0
    is_large = any(
        cluster > _LAST_CLUSTER or proc > _LAST_PROC for cluster, proc in map(job_id, ads)
    )
    return Layout(
        max(usual, min(longest, usual + spare)),
        most,
        shown,
        all_runs,
        of_cpu=of_cpu,
        fits=is_large or longest > OWNER_WIDTH,
    )


def _room_for_owner(ad: ClassAd, shown: Mapping[tuple[int, int], ClassAd]) -> int:
    """Return what the owner takes, or the name of a node, as if its DAG were shown."""
    if shown and ad.string("DAGNodeName"):
        from kettle.tools.queue.batches import find_depth

        return length(jobs.show_node_name(ad, find_depth(ad, shown) or 1) or "")
    return length(jobs.show_owner(ad) or "")


def _unknown(shown: Shown, width: int) -> Shown:
    """Return a way to show that fills in question marks for what is not known."""

    def show(ad: ClassAd) -> str | None:
        return shown(ad) or f"[{'?' * (width - 2)}]"

    return show


def _last(heading: str, shown: Shown | None = None, expression: Expr | None = None) -> Column:
    """Return the last column of a table, which has all the room there is and takes none unused."""
    return Column(heading, shown, expression, width=0, least=_LAST_WIDTH, truncate=False)


def _id_columns() -> list[Column]:
    return [
        Column(" ID", jobs.show_number("ClusterId"), left=False, least=4),
        Column("", lambda ad: f".{ad.integer('ProcId') or 0}", least=4, prefix=False),
    ]


def _owner(layout: Layout) -> Column:
    return Column("OWNER", jobs.show_owner, width=layout.owner_width, missing="??")


def _submitted() -> Column:
    return Column("  SUBMITTED", jobs.show_submitted, width=11, left=False)


def _run_time(layout: Layout) -> Column:
    if layout.of_cpu:
        return Column("    CPU_TIME", jobs.show_cpu_time, width=12, left=False)
    return Column("    RUN_TIME", _run_time_of(layout), width=12, left=False)


def _run_time_of(layout: Layout) -> Shown:
    return jobs.show_all_run_time if layout.all_runs else jobs.show_run_time


def _status() -> Column:
    return Column("ST", jobs.show_status, width=2)


def _rest_of_jobs(*, fits: bool) -> list[Column]:
    size_width = None if fits else _SIZE_WIDTH
    return [
        _status(),
        Column("PRI", expression=parse_expression("JobPrio")),
        Column("SIZE", jobs.show_memory, width=size_width, left=False),
        _last("CMD", jobs.show_description),
    ]


def queue_table(layout: Layout) -> Mask:
    """The table of `-nobatch`."""
    columns = [
        *_id_columns(),
        _owner(layout),
        _submitted(),
        _run_time(layout),
        *_rest_of_jobs(fits=layout.fits),
    ]
    return Mask(columns, fill_last=False, most=layout.most)


def cpu_time_table(layout: Layout) -> Mask:
    """The table of `-cputime`; its sizes do not grow.

    Compat: the reference cuts the proc's number off where a cluster's has more than four digits
    (test_a_job_has_its_whole_number_under_cputime).
    """
    ids, rest = _id_columns(), _rest_of_jobs(fits=False)
    for column in ids:
        column.width, column.truncate = 4, False
    return Mask(
        [*ids, _owner(layout), _submitted(), _run_time(layout), *rest],
        fill_last=False,
        most=layout.most,
    )


def dag_table(layout: Layout) -> Mask:
    """The table of `-dag -nobatch`: nodes under their DAG."""
    from kettle.tools.queue.batches import find_depth

    def show(ad: ClassAd) -> str | None:
        return jobs.show_node_name(ad, find_depth(ad, layout.shown))

    owner = Column("OWNER/NODENAME", show, width=layout.owner_width)
    return Mask(
        [*_id_columns(), owner, _submitted(), _run_time(layout), *_rest_of_jobs(fits=layout.fits)],
        fill_last=False,
        most=layout.most,
    )


def run_table(layout: Layout) -> Mask:
    """The table of `-run`."""
    run_time = _run_time(layout)
    assert run_time.shown is not None
    run_time.shown = _unknown(run_time.shown, 12)
    host = _last("HOST(S)", jobs.show_host)
    host.missing_within = "??"
    submitted = _submitted()
    submitted.missing = "??"
    return Mask(
        [*_id_columns(), _owner(layout), submitted, run_time, host],
        fill_last=False,
        most=layout.most,
    )


def _hold_codes() -> list[Column]:
    return [
        Column("CODE", jobs.show_number("HoldReasonCode"), left=False, missing="?"),
        Column("/SUB", jobs.show_hold_subcode, left=False, prefix=False),
    ]


def hold_table(layout: Layout) -> Mask:
    """The table of `-hold`, whose reasons are never cut."""
    since = _unknown(jobs.show_date("EnteredCurrentStatus"), 11)
    return Mask(
        [
            *_id_columns(),
            _owner(layout),
            Column("HELD_SINCE", since, width=11, left=False),
            *_hold_codes(),
            _last("HOLD_REASON", expression=parse_expression("HoldReason")),
        ],
        fill_last=False,
    )


def idle_table(layout: Layout) -> Mask:
    """The table of `-idle`."""
    number: Callable[[str], Shown] = jobs.show_number
    return Mask(
        [
            *_id_columns(),
            _owner(layout),
            Column("UNIVERSE ", jobs.show_universe, width=9),
            Column("CPUS", number("RequestCpus"), left=False),
            Column("MEMORY", number("RequestMemory"), left=False),
            Column("STARTS", lambda ad: str(ad.integer("NumShadowStarts") or 0), left=False),
            _last("LAST_HOST", expression=parse_expression("LastRemoteHost")),
        ],
        fill_last=False,
        most=layout.most,
    )


def transfer_table(layout: Layout) -> Mask:
    """The table of `-io`."""
    return Mask(
        [
            *_id_columns(),
            _owner(layout),
            Column("RUNS", _runs, left=False, missing="?"),
            _status(),
            Column(" INPUT", expression=_of_transfers("BytesRecvd", "FileReadBytes")),
            Column(" OUTPUT", expression=_of_transfers("BytesSent", "FileWriteBytes")),
            Column(
                " RATE",
                expression=_of_transfers(
                    "BytesRecvd + BytesSent", "FileReadBytes + FileWriteBytes"
                ),
                width=10,
                left=False,
            ),
            Column("MISC", expression=parse_expression("JobUniverse")),
        ],
        fill_last=False,
        fill_heading=True,
        most=layout.most,
    )


def _of_transfers(usual: str, standard: str) -> Expr:
    """Return what a job's transfers amount to; jobs of the standard universe counted their own.

    Undefined for a job that does not say its universe (test_tables_recordings).
    """
    return parse_expression(
        f"JobUniverse is undefined ? undefined : JobUniverse == 1 ? {standard} : {usual}"
    )


def _runs(ad: ClassAd) -> str | None:
    """Return how often a job has begun; those of the standard universe counted checkpoints."""
    universe = ad.real("JobUniverse")
    counted = "NumCkpts_RAW" if universe == 1 else "NumJobStarts"
    number = None if universe is None else ad.integer(counted)
    return None if number is None else str(number)


def ec2_table(layout: Layout) -> Mask:
    """The table of `-grid:ec2`."""
    return Mask(
        [
            *_id_columns(),
            _owner(layout),
            Column("STATUS", jobs.show_grid_status, width=10),
            Column("INSTANCE ID", jobs.show_grid_id),
            Column("CMD", lambda ad: ad.string("Cmd")),
        ],
        fill_last=False,
        fill_heading=True,
        most=layout.most,
    )


def grid_table(layout: Layout) -> Mask:
    """The table of `-grid`."""
    return Mask(
        [
            *_id_columns(),
            _owner(layout),
            Column("STATUS", jobs.show_grid_status, width=10),
            Column("GRID->MANAGER    HOST", jobs.show_grid_resource, width=27),
            _last("GRID_JOB_ID", jobs.show_grid_id),
        ],
        fill_last=False,
        most=layout.most,
    )


def history_table(layout: Layout) -> Mask:
    """The table of `condor_history`; it is printed row by row, so nothing in it grows."""
    submitted = _submitted()
    submitted.missing = "??"
    wall = Column("  RUN_TIME", _wall_time, width=12, left=False)
    return Mask(
        [
            Column(" ID", jobs.show_job_id, width=12, truncate=False),
            _owner(layout),
            submitted,
            wall,
            _status(),
            Column("  COMPLETED", jobs.show_date("CompletionDate"), width=11, left=False),
            # It takes no room where it is not known, and blanks before it stay.
            Column("CMD", jobs.show_description, width=0, truncate=False),
        ],
        most=layout.most,
    )


def schedd_history_table(layout: Layout) -> Mask:
    """The table of what a schedd recorded of itself (`condor_history -daemon`)."""

    def number(heading: str, attribute: str, width: int, form: str = "d") -> Column:
        def show(ad: ClassAd) -> str:
            value = ad.real(attribute) or 0.0
            return f"{value:.2f}" if form == "f" else str(as_whole(value))

        return Column(heading, show, width=width, left=False)

    def duty(ad: ClassAd) -> str:
        return f"{100 * (ad.real('RecentDaemonCoreDutyCycle') or 0.0):.2f}%"

    return Mask(
        [
            Column("TIMESTAMP  ", jobs.show_date("RecordWriteDate"), width=11, missing="??"),
            Column("DUTY_CYCLE", duty, width=10, left=False),
            number("RunningJobs", "TotalRunningJobs", 11),
            number("  IdleJobs", "TotalIdleJobs", 10),
            number("  HeldJobs", "TotalHeldJobs", 10),
            number("Download", "TransferQueueNumDownloading", 8),
            number("Waiting", "TransferQueueNumWaitingToDownload", 7),
            number("WaitingMB", "FileTransferMBWaitingToDownload", 9, "f"),
            number("  Upload", "TransferQueueNumUploading", 8),
            number("Waiting", "TransferQueueNumWaitingToUpload", 7),
            number("WaitingMB", "FileTransferMBWaitingToUpload", 9, "f"),
        ],
        fill_last=False,
        most=layout.most,
    )


def _wall_time(ad: ClassAd) -> str | None:
    value = ad.evaluate("RemoteWallClockTime")
    if value is UNDEFINED:
        return format_span(ad.real("RemoteUserCpu") or 0.0)
    return jobs.show_span("RemoteWallClockTime")(ad)


def hold_code_table(ads: Sequence[ClassAd]) -> tuple[Mask, list[ClassAd]]:
    """Return the table of `-hold-codes` and the jobs that it shows: the first for each code.

    A code that no subcode goes with is that of subcode 0; which job is shown is the one with the
    lowest number of those that say their subcode. A job without a code stands for itself. Rows are
    in the order of the codes' digits.

    Compat: of a job without a code the reference shows its status instead of 1 as the number of
    jobs (test_a_job_that_is_held_for_no_known_reason_counts_once).
    """
    groups: dict[str, list[ClassAd]] = {}
    codeless = []
    for ad in ads:
        code = ad.integer("HoldReasonCode")
        if code is None:
            codeless.append(ad)
        else:
            groups.setdefault(f"{code}/{ad.integer('HoldReasonSubCode') or 0}", []).append(ad)
    shown, counts = [], {}
    for _, held in sorted(groups.items()):
        told = next((ad for ad in held if ad.integer("HoldReasonSubCode") is not None), held[0])
        shown.append(told)
        counts[id(told)] = len(held)
    columns = [
        _owner(Layout()),
        *_hold_codes(),
        Column("   COUNT ", lambda ad: str(counts.get(id(ad), 1)), left=False),
        Column("OLDEST_JOB_ID", jobs.show_job_id),
        Column("HELD_SINCE", _unknown(jobs.show_date("EnteredCurrentStatus"), 11), width=11),
        _last("HOLD_REASON", expression=parse_expression("HoldReason")),
    ]
    return Mask(columns, fill_last=False), [*codeless, *shown]


def _show_mode(ad: ClassAd) -> str | None:
    own = ad.integer("JobMaterializePaused")
    paused = ad.integer("JobFactoryPaused") if own is None else own
    return None if paused is None else jobs.factory_mode(paused)


def factory_table() -> Mask:
    """The table of `-factory`: clusters that make their jobs later."""
    counts = (
        (" LIMIT", "JobMaterializeLimit"),
        ("PRESNT", "JobsPresent"),
        ("  RUN", "JobsRunning"),
        ("  IDLE", "JobsIdle"),
        ("  HOLD", "JobsHeld"),
        ("NEXTID", "JobMaterializeNextProcId"),
    )
    return Mask(
        [
            _id_columns()[0],
            Column("", lambda _: ".", width=4, prefix=False),
            _owner(Layout()),
            _submitted(),
            *(Column(said, jobs.show_number(name), width=6, left=False) for said, name in counts),
            Column("MODE", _show_mode, width=4),
            Column("DIGEST", jobs.show_text("JobMaterializeDigestFile")),
        ],
        fill_last=False,
        fill_heading=True,
    )


def autocluster_table() -> Mask:
    """The table of `-autocluster`: groups of jobs that are alike to the negotiator."""

    def number(heading: str, attribute: str, width: int, missing: str = "??") -> Column:
        return Column(
            heading, jobs.show_number(attribute), width=width, left=False, missing=missing
        )

    def universe(ad: ClassAd) -> str:
        return jobs.show_universe(ad) or "[??????]"

    return Mask(
        [
            number("   ID", "AutoClusterId", 5, ""),
            number("COUNT", "JobCount", 5, ""),
            Column("UNIVERSE", universe, width=8),
            number("CPUS", "RequestCPUs", 4),
            number("MEMORY", "RequestMemory", 6),
            number("    DISK", "RequestDisk", 8),
            Column("REQUIREMENTS", lambda ad: ad.text("Requirements") or "undefined"),
        ],
        field_prefix=" ",
        fill_last=False,
        fill_heading=True,
    )


TABLES: dict[str, Callable[[Layout], Mask]] = {
    "": queue_table,
    "cputime": cpu_time_table,
    "dag": dag_table,
    "ec2": ec2_table,
    "grid": grid_table,
    "hold": hold_table,
    "idle": idle_table,
    "io": transfer_table,
    "run": run_table,
}
