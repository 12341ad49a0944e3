"""The named ways (PRINTAS) of print-format files that are about jobs.

What stands in the tools' own tables is in `job_columns.py`. Texts are the reference's (vectors
`output/cases.json`, tests/data/cli).
"""

from __future__ import annotations

from kettle.attributes.codes import JobUniverse
from kettle.classad import UNDEFINED, ClassAd, Value
from kettle.digits import MAX_INTEGER
from kettle.tools.printing.times import as_whole, format_moment, format_span, readable_amount
from kettle.tools.printing.values import as_number
from kettle.tools.printing.ways import (
    Way,
    Ways,
    text_of_ad,
    text_of_any,
    text_of_real,
    text_of_whole,
)
from kettle.tools.queue import job_columns as jobs

# As many characters of a grid resource as condor_q shows.
_GRID_WIDTH = 36


def _owner(ad: ClassAd) -> str | None:
    return ad.string("Owner")


def _dag_owner(ad: ClassAd) -> str | None:
    # Compat: the reference complains on stderr of each node without a name, whose owner is shown
    # (test_a_node_without_a_name_has_its_owner_and_no_complaint).
    node = ad.string("DAGNodeName") if "DAGManJobId" in ad else None
    return _owner(ad) if node is None else node


def _batch_name(ad: ClassAd) -> str | None:
    name = ad.string("JobBatchName")
    if name is not None:
        return name
    if ad.integer("JobUniverse") == JobUniverse.SCHEDULER:
        return f"DAG: {ad.integer('ClusterId') or 0}"
    node = ad.string("DAGNodeName") if "DAGManJobId" in ad else None
    return None if node is None else f"NODE: {node}"


def _job_id(ad: ClassAd) -> str | None:
    cluster, proc = ad.integer("ClusterId"), ad.integer("ProcId")
    if cluster is None:
        return ad.string("JobId")
    return f"{cluster}.{-1 if proc is None else proc}"


def _command(ad: ClassAd) -> str | None:
    command, arguments = ad.string("Cmd"), ad.string("Args")
    if arguments is None:
        arguments = ad.string("Arguments")
    return command if command is None or arguments is None else f"{command} {arguments}"


def _mode(value: Value) -> str:
    if value is UNDEFINED:
        return ""
    number = as_number(value)
    return "????" if number is None else jobs.factory_mode(as_whole(number))


def _memory(ad: ClassAd) -> float | None:
    used, size = ad.integer("MemoryUsage"), ad.integer("ImageSize")
    if used is not None:
        return float(used)
    return None if size is None else size / 1024


def _cut_grid_resource(ad: ClassAd) -> str | None:
    text = jobs.show_grid_resource(ad)
    return None if text is None else text[:_GRID_WIDTH]


def _moment(seconds: int) -> str:
    return format_moment(seconds)


def _span(seconds: float) -> str:
    return format_span(int(seconds)) if abs(seconds) <= MAX_INTEGER else format_span(seconds)


_DATE = text_of_whole("A moment in local time, without its year: ` 1/15 08:00`.", _moment)

# Those that each tool knows.
WAYS: Ways = {
    "BATCH_NAME": text_of_ad(
        "The name of the job's batch; else the DAG or the node that the job is.", _batch_name
    ),
    "BUFFER_IO_MISC": text_of_ad(
        "Which files of the job are on their way: ` transfer=in,queued`.", jobs.show_transfers
    ),
    "DAG_OWNER": text_of_ad(
        "The name of the DAG's node that the job is, else the job's owner.", _dag_owner
    ),
    "DATE": _DATE,
    "GRID_JOB_ID": text_of_ad("The name that a grid job has where it was sent.", jobs.show_grid_id),
    "GRID_RESOURCE": text_of_ad(
        "Where a grid job was sent: `type->manager host`.", jobs.show_grid_resource
    ),
    "GRID_STATUS": text_of_ad(
        "What the system that a grid job was sent to says of it.", jobs.show_grid_status
    ),
    "JOB_COMMAND": text_of_ad(
        "The job's command as it was submitted, with its path and arguments.", _command
    ),
    "JOB_DESCRIPTION": text_of_ad(
        "The job's description in parentheses, else its command without the path.",
        jobs.show_description,
    ),
    "JOB_FACTORY_MODE": text_of_any(
        "Whether a cluster that makes its jobs late does so: `Norm`, `Held`, `Done`.", _mode
    ),
    "JOB_ID": text_of_ad(
        "The job's number, `cluster.process`; of an ad without one what its `JobId` says.", _job_id
    ),
    "JOB_STATUS": text_of_ad(
        "The letters of the job's status, with `<`, `>` and `q` for files on their way.",
        jobs.show_status,
    ),
    "JOB_STATUS_RAW": text_of_whole(
        "The number of a status as a word of seven letters: `Running`.", jobs.status_word
    ),
    "JOB_UNIVERSE": text_of_whole("The number of a universe as its name.", jobs.universe_word),
    "MEMORY_USAGE": Way(
        "The job's memory in MB, `MemoryUsage`; until that is known its `ImageSize`.",
        "real",
        lambda _value, ad, _column: _memory(ad),
        "%.1f",
    ),
    "OWNER": text_of_ad("The job's owner.", _owner),
    "QDATE": Way("The same as `DATE`.", _DATE.kind, _DATE.make, "%Y", renders=False),
    "READABLE_BYTES": text_of_any("A number of bytes with its unit: `1.5 GB`.", readable_amount(1)),
    "READABLE_KB": text_of_any("A number of KiB with its unit.", readable_amount(1024)),
    "READABLE_MB": text_of_any("A number of MiB with its unit.", readable_amount(1024 * 1024)),
    "REMOTE_HOST": text_of_ad(
        "The slot that the job runs in; of a grid job where it was sent.", jobs.show_host
    ),
    "RUNTIME": text_of_real("A number of seconds as days and time: `  1+02:03:04`.", _span),
    "TIME": text_of_whole("A whole number of seconds as days and time: `  1+02:03:04`.", _span),
}

# Those that condor_q has beside them, or has its own of.
QUEUE_WAYS: Ways = {
    "CPU_TIME": Way(
        "How long the job has run: this time, or before it was put back or held.",
        "real",
        lambda _value, ad, _column: jobs.run_time(ad),
        "%T",
    ),
    # Of a node its DAG's owner, too, but where -dag puts jobs below their DAGs.
    "DAG_OWNER": text_of_ad("The job's owner.", _owner),
    "GRID_RESOURCE": text_of_ad(
        "Where a grid job was sent, its first 36 characters.", _cut_grid_resource
    ),
}
