"""What a starter's reports change in the job's ad in the queue.

Pure: an ad in, attributes as texts out. The starter is not trusted with the whole ad: only what it
measures, what it was given, and what the job itself may set come through. Sources: wire notes,
Life of a vanilla job (register_job_info, job_exit), recorded histories of a real pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kettle.classad import ClassAd
from kettle.classad.text import render_real, without_line_ends
from kettle.policy.attribute_protection import (
    MAX_EXPRESSION,
    Protection,
    is_attribute_name,
    may_set,
    may_set_delayed,
)
from kettle.policy.job_words import is_of_a_resource
from kettle.remembered import Answers

# Limit: attributes taken over from one report; none is longer than what a job may set of its own.
MAX_ATTRIBUTES = 1000
# Limit: protocols that are told apart in a transfer's statistics.
MAX_PROTOCOLS = 50
_MEASURED = frozenset(
    name.lower()
    for name in (
        "BlockReadKbytes", "BlockReads", "BlockWriteKbytes", "BlockWrites", "CpusUsage",
        "DiskUsage", "ExecuteDirWasEncrypted", "ExitBySignal", "ExitCode", "ExitReason",
        "ExitSignal", "ExitStatus", "ImageSize", "IOWait", "JobCoreDumped", "MemoryUsage",
        "NetworkInputMb", "NetworkOutputMb", "NumCheckpoints", "PreExitCode", "PostExitCode",
        "ProportionalSetSize", "RecentBlockReadKbytes", "RecentBlockReads",
        "RecentBlockWriteKbytes", "RecentBlockWrites", "RemoteSysCpu", "RemoteUserCpu",
        "ResidentSetSize", "ScratchDirFileCount", "SpooledOutputFiles", "StderrMtime",
        "StdoutMtime", "DockerContainerId", "ContainerImageSource", "ContainerDuration",
        "NewestCheckpoint", "CheckpointNumber", "JobVMCpuUtilization", "ProvisionedResources",
    )
)  # fmt: skip
NOTHING_MOVED = "[  ]"
"""The statistics of transfers before any file moved."""
_RENAMED = {
    "statslifetime": "StatsLifetimeStarter",
    "recentstatslifetime": "RecentStatsLifetimeStarter",
}


def from_report(report: ClassAd) -> dict[str, str]:
    """Return the attributes of a register_job_info or job_exit ad that the queue keeps.

    The ad comes from another machine: each is one name and one line, whatever it says.
    """
    updates: dict[str, str] = {}
    for name, text in report.own_texts():
        kept = _kept_name[name]
        if kept and len(updates) < MAX_ATTRIBUTES and len(text) <= MAX_EXPRESSION:
            updates[kept] = without_line_ends(text)
    return updates


def _find_kept_name(name: str) -> str:
    """Return the name under which the queue keeps what a starter reports; empty if it does not."""
    if not is_attribute_name(name):
        return ""
    lower = name.lower()
    measured = lower in _MEASURED or is_of_a_resource(lower)
    return _RENAMED.get(lower, name if measured else "")


# Limit: the bytes of the names that are remembered; starters say the same few about every job.
_kept_name: Final = Answers(_find_kept_name, 256 * 1024)


def delayed_chirp(report: ClassAd, patterns: str, lists: Protection) -> dict[str, str]:
    """Return what the job set with delayed chirp updates (ChirpDelayedAttrs).

    `patterns` is CHIRP_DELAYED_UPDATE_PREFIX; wide as it may be, what a job may not set at once
    (`may_set`) it may not set with delay either.
    """
    if "ChirpDelayedAttrs" not in report:
        return {}
    delayed = report.evaluate("ChirpDelayedAttrs")
    if not isinstance(delayed, ClassAd):
        return {}
    return {
        name: without_line_ends(text)
        for name in delayed.own_names()[:MAX_ATTRIBUTES]
        if may_set_delayed(name, patterns)
        and may_set(name, lists)
        and (text := delayed.text(name)) is not None
        and len(text) <= MAX_EXPRESSION
    }


def checkpoint_times(job: ClassAd, now: int) -> dict[str, object]:
    """Return what a checkpoint that arrived says: the run time up to it is not lost any more."""
    since = max(job.integer("ShadowBday") or now, job.integer("LastCkptTime") or 0)
    seconds = max(0, now - since)
    weight = job.real("MachineAttrSlotWeight0") or 1.0
    return {
        "LastCkptTime": now,
        "CommittedTime": (job.integer("CommittedTime") or 0) + seconds,
        "CommittedSlotTime": (job.real("CommittedSlotTime") or 0.0) + seconds * weight,
    }


def transfer_stats(
    before: ClassAd | None, size: int, files: int, peer_ack: ClassAd | None = None
) -> str:
    """Return TransferInputStats or TransferOutputStats after one more transfer, as text.

    `peer_ack` is what the other side said at the end: what its plug-ins moved is counted too.
    """
    if before is None and not files and peer_ack is None:
        return NOTHING_MOVED
    last = {"CedarSizeBytes": size} if files and size else {}
    if files:
        last["CedarFilesCount"] = files
    last |= _moved_by_plugins(peer_ack)
    totals = _added({f"{name}Total": count for name, count in last.items()}, before)
    runs = {f"{name}LastRun": count for name, count in last.items()}
    return f"[ {'; '.join(f'{name} = {count}' for name, count in (totals | runs).items())} ]"


def _added(totals: dict[str, int], before: ClassAd | None) -> dict[str, int]:
    """Return totals with those of the transfers before, whatever the case they were written in."""
    if before is None:
        return totals
    known = {name.lower(): name for name in totals}
    for own in before.own_names():
        if own.endswith("Total") and is_attribute_name(own):
            name = known.get(own.lower(), own)
            totals[name] = totals.get(name, 0) + (before.integer(own) or 0)
    return totals


def _moved_by_plugins(peer_ack: ClassAd | None) -> dict[str, int]:
    """Return how many files, and bytes, the other side's plug-ins moved, by protocol."""
    stats = peer_ack.evaluate("TransferStats") if peer_ack is not None else None
    if not isinstance(stats, ClassAd):
        return {}
    counts = {name: stats.integer(name) or 0 for name in stats.own_names()[:MAX_PROTOCOLS]}
    # A quoted name may be any text, and these become part of an expression.
    return {
        name: count
        for name, count in counts.items()
        if name.endswith(("FilesCount", "SizeBytes"))
        and is_attribute_name(name)
        and not name.startswith("Cedar")
        and count > 0
    }


def texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return Python values as the expression texts that the queue stores."""
    return {name: _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    """Return a value as an expression; the commonest kinds without the language's help."""
    if type(value) is int:
        return str(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return render_real(value, old=True)
    return ClassAd({"V": value}).text("V") or "undefined"
