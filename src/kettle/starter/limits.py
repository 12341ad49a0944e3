"""What a job may use of its slot's memory and disk, and what happens when it uses more.

Pure. The kernel holds the memory limit where there are control groups
(`runtime/process/cgroups.py`), and says so by killing; elsewhere, and for the disk,
`services/watch.py` looks from time to time. Rules and names: manual, Limiting Resource Usage
Using Cgroups (E022, E025, E028, E029).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd

MIB = 1024 * 1024
# Subcodes of JobOutOfResources.
OUT_OF_MEMORY = 102
OUT_OF_DISK = 104
# The kernel may kill a little below the limit that we measure.
_NEAR_LIMIT = 0.9
EATEN_DISK = (
    "Job has eaten into the disk space that is kept free: {gone} kilobytes of it are gone. "
    "Last measured usage: {used} kilobytes."
)
EATEN_INODES = (
    "Job has eaten into the inodes of the disk that are kept free: {gone} of them are gone. "
    "Last measured usage: {used} files."
)
# How long a job that has used none of its share may go on to eat of the reserve of the disk.
_RESERVE_SECONDS = 5.0
# After how long it is told that the reserve is gone and that nobody was seen to take it.
_UNSEEN_SECONDS = 30.0
# Limit: what a job may use beyond its slot with policy soft, as one part in so many of all that
# the machine offers to jobs; while less than that part of its memory is left, nothing.
MEMORY_PART = 16
_DISK_PART = 64
# Limit: a job's share of the processes that the machine can have.
_PIDS_SHARE = 4


@dataclass(frozen=True)
class LimitRules:
    """What the configuration says.

    CGROUP_MEMORY_LIMIT_POLICY and its expressions, DISABLE_SWAP_FOR_JOB, JOB_MEMORY_LIMIT_POLICY
    (`watch_policy`, where no control group holds the limit), JOB_DISK_LIMIT_POLICY,
    STARTER_ALWAYS_HOLD_ON_OOM, CGROUP_POLLING_INTERVAL, BASE_CGROUP, RESERVED_DISK.
    """

    memory_policy: str = "hard"
    hard_expression: str = ""
    soft_expression: str = ""
    disable_swap: bool = True
    watch_policy: str = "soft"
    disk_policy: str = "soft"
    always_hold: bool = True
    polling_seconds: float = 5.0
    base_group: str = "htcondor"
    reserved_disk_kib: int = 0


@dataclass(frozen=True)
class Limits:
    """What a job's control group may use; None is no limit. Sizes in bytes."""

    memory: int | None = None
    soft_memory: int | None = None
    memory_and_swap: int | None = None
    cpu_shares: int | None = None
    pids: int | None = None


@dataclass(frozen=True)
class Excess:
    """Why a job cannot go on, most often that it used too much: the sentence and its codes.

    A code of VacateReasonCode, and 0, sends it back to the queue; others hold it.
    """

    message: str
    code: int = HoldReasonCode.JobOutOfResources
    subcode: int = 0


def plan_limits(rules: LimitRules, slot: ClassAd, job: ClassAd, machine_pids: int) -> Limits:
    """Return the limits of a job's control group.

    Hard: the slot's memory, softly nine tenths of it. Soft: the whole machine's, softly the slot's.
    Custom: what the expressions say in the slot's ad, with the job as TARGET, in MiB.
    """
    slot_memory = _mib(slot.real("Memory"))
    hard: int | None = None
    soft: int | None = None
    policy = rules.memory_policy.lower()
    if policy == "hard" and slot_memory is not None:
        hard, soft = slot_memory, int(slot_memory * _NEAR_LIMIT)
    elif policy == "soft":
        hard, soft = _mib(slot.real("TotalMemory")), slot_memory
    elif policy == "custom":
        hard = _evaluated(rules.hard_expression, slot, job)
        soft = _evaluated(rules.soft_expression, slot, job)
    cores = slot.real("Cpus") or 1
    both = None
    if hard is not None:
        virtual = slot.integer("VirtualMemory")
        spare = 0 if rules.disable_swap or virtual is None else virtual * 1024 - hard
        both = hard + max(0, spare)
    return Limits(
        memory=hard,
        soft_memory=soft,
        memory_and_swap=both,
        cpu_shares=max(2, round(100 * cores)) if 0 < cores < math.inf else 100,
        pids=max(64, machine_pids // _PIDS_SHARE) if machine_pids else None,
    )


@dataclass(frozen=True)
class Allowance:
    """What a job may use before it is held: its slot's part, and some more while nobody is hurt.

    Compat: where no control group holds the memory and no file system of its own the disk, the
    reference lets a job use all that there is (A015). Here a job that says little of what it
    needs, as most do, runs through as well, and one that goes on and on is held
    (tests/pool/test_limits.py).
    """

    # None for no limit.
    limit: int | None = None
    more: int = 0

    def of_now(self, *, short: bool) -> int | None:
        """Return what is allowed; `short` is whether others need what is left."""
        return self.limit if self.limit is None or short else self.limit + self.more


def _allow(policy: str, limit: int | None, total: float | None, part: int) -> Allowance:
    word = policy.lower()
    if word == "none" or limit is None:
        return Allowance()
    return Allowance(limit, int(total or 0) // part if word != "hard" else 0)


def allow_memory(rules: LimitRules, slot: ClassAd, limit: int | None) -> Allowance:
    """Return what a job's processes may use, in bytes, where they are only looked at."""
    return _allow(rules.watch_policy, limit, _mib(slot.real("TotalMemory")), MEMORY_PART)


def allow_disk(rules: LimitRules, slot: ClassAd) -> Allowance:
    """Return how much a job may keep in its sandbox, in KiB."""
    limit = slot.integer("Disk") or None
    return _allow(rules.disk_policy, limit, slot.integer("TotalDisk"), _DISK_PART)


def judge_memory(used: int, limit: int | None, allowed: int | None) -> Excess | None:
    """Judge what was measured, in bytes, where the kernel does not hold the limit itself."""
    if limit is None or allowed is None or used <= allowed:
        return None
    return Excess(_over("memory", limit, used), subcode=OUT_OF_MEMORY)


def judge_oom_kill(peak: int, limit: int | None, *, always_hold: bool) -> Excess:
    """Judge a kill by the kernel; sizes in bytes.

    A job that was below its limit was killed because the machine has no memory left: it may run
    better elsewhere, unless it is to be held all the same.
    """
    if limit is None:
        return Excess("Job has encountered an out-of-memory event.", subcode=OUT_OF_MEMORY)
    if peak < _NEAR_LIMIT * limit and not always_hold:
        return Excess("Worker node is out of memory", code=0)
    return Excess(_over("cgroup memory", limit, peak), subcode=OUT_OF_MEMORY)


def judge_disk(used_kib: int, limit_kib: int | None, allowed_kib: int | None) -> Excess | None:
    """Judge the size of a sandbox.

    Compat: the reference holds only where it makes a file system for each job, and with the same
    codes; ours looks at the folder (tests/pool/test_limits.py).
    """
    if limit_kib is None or allowed_kib is None or used_kib <= allowed_kib:
        return None
    text = (
        f"Job has gone over disk limit of {limit_kib} kilobytes. Last measured usage: {used_kib} "
        "kilobytes.  Consider resubmitting with a higher request_disk."
    )
    return Excess(text, subcode=OUT_OF_DISK)


class ReserveWatch:
    """Whether a job eats of the disk that is kept free for everybody else (RESERVED_DISK).

    One watch for its space, with the job's own limit as its share, and one for its inodes, where a
    share is all that are in use.

    Each starter judges its own job and nobody tells it of the others: the fuller a job's share, the
    sooner it goes, and with what it leaves behind the rest may stay. A job that writes nothing
    while there is too little is not to blame and stays, unless it has more than it asked for
    (`judge_disk`). What was written where no sandbox is, is told.
    """

    def __init__(self, sentence: str = EATEN_DISK) -> None:
        self._sentence = sentence
        self._since: float | None = None
        self._used_before = 0
        self._is_told = False

    def judge(self, now: float, used: int, limit: int | None, room: int) -> Excess | None:
        """Judge a look at the sandbox and at the disk; `room` is negative below the reserve.

        All in the one unit of the sentence: KiB, or files.
        """
        if room >= 0:
            self._since, self._used_before, self._is_told = None, used, False
            return None
        if self._since is None:
            self._since = now
        share = min(1.0, used / limit) if limit else 1.0
        if used <= self._used_before or now - self._since < (1 - share) * _RESERVE_SECONDS:
            return None
        return Excess(self._sentence.format(gone=-room, used=used), subcode=OUT_OF_DISK)

    def is_to_be_told(self, now: float) -> bool:
        """Tell, once, that the reserve is gone for long, and that this job does not take it."""
        if self._is_told or self._since is None or now - self._since < _UNSEEN_SECONDS:
            return False
        self._is_told = True
        return True


def seconds_to_next_look(
    used: int, before: int, passed: float, limit: int | None, most: float
) -> float:
    """Return when to look again: before it could reach the limit if it goes on growing like this.

    `used` now and `before`, `passed` seconds ago; never more often than five times a second.
    """
    grown = used - before
    if limit is None or grown <= 0 or passed <= 0:
        return most
    return min(most, max(0.2, (limit - used) / (grown / passed) / 2))


def _over(what: str, limit: int, used: int) -> str:
    return (
        f"Job has gone over {what} limit of {limit // MIB} megabytes. Last measured usage: "
        f"{used // MIB} megabytes.  Consider resubmitting with a higher request_memory."
    )


def _mib(value: float | None) -> int | None:
    return int(value * MIB) if value is not None and 0 < value < math.inf else None


def _evaluated(expression: str, slot: ClassAd, job: ClassAd) -> int | None:
    if not expression:
        return None
    probe = ClassAd(parent=slot)
    probe.insert_text("KettleLimit", expression)
    value = probe.evaluate("KettleLimit", job)
    return _mib(float(value)) if isinstance(value, (int, float)) else None
