"""What the schedd itself says in the ads of a submission.

The submitter's attributes arrive one by one; this adds whose the job is, its global name, what
makes sizes coarse, and at the commit what the whole submission has in common. Which attributes a
submitter may set is `attribute_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kettle.attributes.codes import JobStatus
from kettle.classad.text import quote_line, read_count
from kettle.policy.hold_reasons import reason_label
from kettle.schedd import tallies
from kettle.schedd.queue.job_ids import CLUSTER_PROC, JobId, key_of
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.settings import QueueSettings, round_up


def add_cluster(transaction: Transaction, cluster: int) -> None:
    """Make the ad that a cluster's jobs share."""
    transaction.new_ad(key_of(cluster, CLUSTER_PROC), "Job", "Machine")


def add_proc(transaction: Transaction, job: JobId, settings: QueueSettings, now: int) -> None:
    """Make a job's ad and give it its global name."""
    key = key_of(*job)
    transaction.new_ad(key, "Job", "Machine")
    name = f"{settings.schedd_name}#{job}"
    if settings.global_id_with_time:
        name += f"#{now}"
    transaction.set_attribute(key, "GlobalJobId", quote_line(name))


def set_rounded(
    transaction: Transaction, key: str, name: str, text: str, settings: QueueSettings
) -> bool:
    """Set an attribute that is kept coarse and exact; False if `name` is not such a one."""
    percent = settings.rounded.get(name.lower())
    if percent is None:
        return False
    try:
        exact = int(text)
    except ValueError:
        return False
    transaction.set_attribute(key, f"{name}_RAW", text)
    transaction.set_attribute(key, name, str(round_up(exact, percent)))
    return True


def complete(
    transaction: Transaction,
    clusters: Iterable[tuple[int, int]],
    settings: QueueSettings,
    now: int,
) -> None:
    """Add to each new cluster (number, count of its jobs) what is known only at the commit."""
    own = transaction.own_texts(_OWN | _BEGINNING)
    for cluster, count in clusters:
        key = key_of(cluster, CLUSTER_PROC)
        if not transaction.exists(key):
            continue
        if count:
            transaction.set_attribute(key, "TotalSubmitProcs", str(count))
            if transaction.text(cluster, CLUSTER_PROC, "JobMaterializeDigestFile") is not None:
                # It has its first jobs already: those that it makes come behind them.
                transaction.set_attribute(key, "JobMaterializeNextProcId", str(count))
        transaction.set_attribute(key, "CondorVersion", quote_line(settings.version))
        defaults = {"ClusterId": str(cluster), "QDate": str(now), **_DEFAULTS}
        defaults["EnteredCurrentStatus"] = str(now)
        for name, text in defaults.items():
            if transaction.text(cluster, CLUSTER_PROC, name) is None:
                transaction.set_attribute(key, name, text)
        _note_beginning(transaction, cluster, own.get(key_of(cluster, 0)) or {})
    for job_key, texts in own.items():
        proc = job_key.partition(".")[2]
        if "procid" not in texts:
            transaction.set_attribute(job_key, "ProcId", proc)
        if "jobstatus" not in texts:
            transaction.set_attribute(job_key, "JobStatus", "1")


# What every job has in its own ad.
_OWN = frozenset(("procid", "jobstatus"))
# What says how a job begins, in its own ad or its cluster's.
_BEGINNING = frozenset(("jobstatus", "holdreasoncode"))


def _note_beginning(transaction: Transaction, cluster: int, first: Mapping[str, str]) -> None:
    """Say that the jobs begin on hold, and count it; of others nothing is said.

    The first job, of which these are its own texts, speaks for all: a submission is held as a
    whole.
    """

    def read(name: str) -> str | None:
        return first.get(name.lower()) or transaction.text(cluster, CLUSTER_PROC, name)

    if read("JobStatus") != str(int(JobStatus.HELD)):
        return
    found = {
        "InitialJobStatus": str(int(JobStatus.HELD)),
        **count_first_hold(read("HoldReasonCode") or ""),
    }
    for name, text in found.items():
        transaction.set_attribute(key_of(cluster, CLUSTER_PROC), name, text)


def count_first_hold(code: str) -> dict[str, str]:
    """Return the attributes that count a hold, of this HoldReasonCode, that a job begins with."""
    label = reason_label(read_count(code) or 0)
    return {"NumHolds": "1", "NumHoldsByReason": tallies.render_counts({label: 1})}


# What a job must have to be run at all; condor_submit sends all of it, other clients may not.
_DEFAULTS = {
    "MyType": '"Job"',
    "TargetType": '"Machine"',
    "JobUniverse": "5",
    "JobPrio": "0",
    "Requirements": "true",
}
