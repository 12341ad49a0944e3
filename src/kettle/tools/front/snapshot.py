"""One look at a pool: its daemons, its queue, its slots, read once and given names.

What `kettle status` and `kettle watch` show; `--json` prints the same. Asking is here, drawing is
in `screen.py`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.client.daemon import ping
from kettle.client.jobs import query_jobs
from kettle.client.pool import make_query
from kettle.digits import whole
from kettle.errors import KettleError
from kettle.tools.front import place
from kettle.tools.reach import Reach
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

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
    "EnteredCurrentActivity", "PartitionableSlot", "MyAddress",
)  # fmt: skip
# A daemon gets this long at least, however many before it stood still.
_LEAST_SECONDS = 1.0


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
    """A pool at one moment. `silent` are the daemons that were asked and did not answer."""

    taken_at: float
    daemons: dict[str, list[str]] = field(default_factory=dict)
    silent: dict[str, list[str]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return how many jobs are in which state."""
        return dict(Counter(job.status for job in self.jobs))


def take_snapshot(reach: Reach, *, most_jobs: int = 0, asks_each: bool = False) -> Snapshot:
    """Ask the collector and the schedd; what does not answer is named in `troubles`.

    With `asks_each`, each daemon of this machine, and the negotiator, is asked whether it answers.
    """
    found = Snapshot(time.time())
    daemons: list[ClassAd] = []
    try:
        if asks_each and len(collectors := reach.pool.collectors()) == 1:
            ping(reach.connector, collectors[0], Command.DC_NOP, timeout=place.ANSWER_SECONDS)
        ads = reach.pool.query(Command.QUERY_ANY_ADS, make_query("Any", projection=SLOT_ATTRIBUTES))
        for ad in ads:
            kind = ad.string("MyType") or ""
            if kind in DAEMONS:
                found.daemons.setdefault(DAEMONS[kind], []).append(ad.string("Name") or "?")
                daemons.append(ad)
            elif kind == "Machine":
                found.slots.append(read_slot(ad))
        found.slots.sort(key=_by_name)
    except KettleError as error:
        found.troubles.append(f"the collector: {error}")
    silent = find_silent(reach, daemons, found) if asks_each else set()
    try:
        if place.has_queue(reach) and str(address := reach.schedd().address) not in silent:
            jobs = query_jobs(reach.connector, address, projection=JOB_ATTRIBUTES, limit=most_jobs)
            found.jobs.extend(read_job(ad) for ad in jobs)
    except KettleError as error:
        found.troubles.append(f"the schedd: {error}")
    return found


def find_silent(reach: Reach, daemons: Iterable[ClassAd], found: Snapshot) -> set[str]:
    """Note in `found` which daemons do not answer in ANSWER_SECONDS; return their addresses.

    Limit: those of other machines are the collector's to know. They may be many, and are asked
    where they are.
    """
    host = (reach.config.get("FULL_HOSTNAME") or "").lower()
    deadline = time.monotonic() + place.ANSWER_SECONDS
    silent = set()
    for ad in daemons:
        kind, name = DAEMONS[ad.string("MyType") or ""], ad.string("Name") or "?"
        address = ad.string("MyAddress") or ""
        if kind == "collector" or (
            kind != "negotiator" and (ad.string("Machine") or "").lower() != host
        ):
            continue
        try:
            timeout = max(_LEAST_SECONDS, deadline - time.monotonic())
            ping(reach.connector, Sinful.parse(address), Command.DC_NOP, timeout=timeout)
        except KettleError as error:
            found.silent.setdefault(kind, []).append(name)
            found.troubles.append(f"the {kind} {name} does not answer ({error})")
            silent.add(address)
    return silent


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
        (0, whole(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
    ]
