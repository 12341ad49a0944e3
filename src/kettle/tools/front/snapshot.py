"""One look at a pool: its daemons, its queue, its slots, read once and given names.

What `kettle status` and `kettle watch` show; `--json` prints the same. Asking is here, drawing is
in `screen.py`.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.client.jobs import query_jobs
from kettle.client.pool import make_query
from kettle.errors import KettleError
from kettle.tools.front import place
from kettle.tools.reach import Reach
from kettle.wire.commands import Command

DAEMONS = {
    "DaemonMaster": "master",
    "Collector": "collector",
    "Negotiator": "negotiator",
    "Scheduler": "schedd",
    "StartD": "startd",
}
JOB_ATTRIBUTES = (
    "ClusterId", "ProcId", "Owner", "JobStatus", "Cmd", "Args", "Arguments", "QDate", "JobPrio",
    "JobCurrentStartDate", "HoldReason", "RemoteHost", "JobBatchName", "RemoteWallClockTime",
    "LastSuspensionTime", "EnteredCurrentStatus",
)  # fmt: skip
SLOT_ATTRIBUTES = (
    "Name", "MyType", "SlotType", "State", "Activity", "Cpus", "TotalSlotCpus", "Memory",
    "TotalSlotMemory", "Disk", "TotalSlotDisk", "LoadAvg", "JobId", "RemoteOwner", "Machine",
    "EnteredCurrentActivity", "PartitionableSlot",
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """A job of the queue, as it is shown."""

    id: str
    owner: str
    status: str
    command: str
    queued_at: int
    started_at: int | None
    where: str
    hold_reason: str


@dataclass(frozen=True)
class Slot:
    """A slot, as it is shown; memory in MB, disk in KB, free and in total."""

    name: str
    state: str
    activity: str
    kind: str
    cpus: int
    total_cpus: int
    memory: int
    total_memory: int
    load: float
    job: str
    owner: str


@dataclass(frozen=True)
class Snapshot:
    """A pool at one moment."""

    taken_at: float
    daemons: dict[str, list[str]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return how many jobs are in which state."""
        return dict(Counter(job.status for job in self.jobs))


def take_snapshot(reach: Reach, *, most_jobs: int = 0) -> Snapshot:
    """Ask the collector and the schedd; what does not answer is named in `troubles`."""
    troubles: list[str] = []
    daemons: dict[str, list[str]] = {}
    slots: list[Slot] = []
    jobs: list[Job] = []
    try:
        ads = reach.pool.query(Command.QUERY_ANY_ADS, make_query("Any", projection=SLOT_ATTRIBUTES))
        for ad in ads:
            kind = ad.string("MyType") or ""
            if kind in DAEMONS:
                daemons.setdefault(DAEMONS[kind], []).append(ad.string("Name") or "?")
            elif kind == "Machine":
                slots.append(read_slot(ad))
    except KettleError as error:
        troubles.append(f"the collector: {error}")
    try:
        if not place.has_queue(reach):
            return Snapshot(time.time(), daemons, [], sorted(slots, key=_by_name), troubles)
        address = reach.schedd().address
        found = query_jobs(reach.connector, address, projection=JOB_ATTRIBUTES, limit=most_jobs)
        jobs = [read_job(ad) for ad in found]
    except KettleError as error:
        troubles.append(f"the schedd: {error}")
    return Snapshot(time.time(), daemons, jobs, sorted(slots, key=_by_name), troubles)


def _by_name(slot: Slot) -> list[tuple[int, int, str]]:
    return natural_key(slot.name)


def read_job(ad: ClassAd) -> Job:
    """Return the facts of a job's ad that are shown."""
    status = ad.integer("JobStatus") or 0
    try:
        word = JobStatus(status).label.lower()
    except ValueError:
        word = f"status {status}"
    arguments = ad.string("Arguments") or ad.string("Args") or ""
    command = (ad.string("Cmd") or "").rsplit("/", 1)[-1]
    return Job(
        id=f"{ad.integer('ClusterId')}.{ad.integer('ProcId')}",
        owner=ad.string("Owner") or "",
        status=word,
        command=f"{command} {arguments}".strip(),
        queued_at=ad.integer("QDate") or 0,
        started_at=ad.integer("JobCurrentStartDate"),
        where=ad.string("RemoteHost") or "",
        hold_reason=ad.string("HoldReason") or "",
    )


def read_slot(ad: ClassAd) -> Slot:
    """Return the facts of a slot's ad that are shown."""
    cpus, memory = ad.integer("Cpus") or 0, ad.integer("Memory") or 0
    return Slot(
        name=ad.string("Name") or "?",
        state=ad.string("State") or "?",
        activity=ad.string("Activity") or "?",
        kind=ad.string("SlotType") or "",
        cpus=cpus,
        total_cpus=ad.integer("TotalSlotCpus") or cpus,
        memory=memory,
        total_memory=ad.integer("TotalSlotMemory") or memory,
        load=ad.real("LoadAvg") or 0.0,
        job=ad.string("JobId") or "",
        owner=ad.string("RemoteOwner") or "",
    )


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts slot2 before slot10."""
    import re

    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
    ]
