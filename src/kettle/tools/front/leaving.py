"""What becomes of running jobs when `kettle down` stops the pool.

Jobs on this machine's slots, those of the local and the scheduler universe and those without a
lease end with the pool; they stay in the queue as running, and the next schedd finds that nobody
has them any more and starts them again (event 024). Other jobs on other machines go on for their
lease, and the next schedd finds them again (event 022 and 023). Jobs of other access points end
here and are queued again by those. Who is which is decided here from ads; stopping the pool is
`kettle.pool`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.client.daemon import ping
from kettle.client.jobs import query_jobs
from kettle.client.pool import SCHEDD, STARTD, Kind, make_query, query_ads
from kettle.errors import KettleError
from kettle.policy.lease import RUN_LEASE, lease_of_run
from kettle.tools.front import place
from kettle.tools.reach import Reach
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

JOB_ATTRIBUTES = (
    "ClusterId", "ProcId", "GlobalJobId", "JobUniverse", "RemoteHost", "JobLeaseDuration",
    RUN_LEASE,
)  # fmt: skip
SLOT_ATTRIBUTES = ("Name", "JobId", "GlobalJobId")
RUNNING = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)
CONSTRAINT = " || ".join(f"JobStatus =?= {status:d}" for status in RUNNING)
BESIDE_THE_SCHEDD = (JobUniverse.SCHEDULER, JobUniverse.LOCAL)
OVER = (JobStatus.COMPLETED, JobStatus.REMOVED)
# Limit: so many job numbers are named in a sentence; --json names them all.
NAMED = 5


@dataclass
class Running:
    """The jobs that run when the pool is stopped, as `cluster.proc`.

    `here` end with the pool, `finished` are those of them that ended by themselves in the time
    they were given, `elsewhere` go on on other machines for `lease_seconds` at least, `guests`
    belong to other access points. `unknown` says why the jobs are not known, if they are not.
    `queue_log` is the file that holds the queue.
    """

    here: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    guests: list[str] = field(default_factory=list)
    lease_seconds: int = 0
    unknown: str = ""
    queue_log: str = ""

    def facts(self, *, purged: bool) -> dict[str, object]:
        """Return what `kettle down --json` says of running jobs."""
        return {
            "stopped": self.here,
            "finished": self.finished,
            "left_running": self.elsewhere,
            "lease_seconds": self.lease_seconds,
            "of_others": self.guests,
            "restarted_by_next_up": not purged,
            "unknown": self.unknown,
        }


def find_running(environment: Mapping[str, str]) -> Running:
    """Ask the schedd and the startd of the pool of this `environment` for what runs.

    Nothing that goes wrong keeps a pool from being stopped: it is named in `unknown`.
    """
    try:
        reach = Reach(environment)
        running = sort_running(*_fetch(reach))
    except KettleError as error:
        return Running(unknown=str(error))
    running.queue_log = reach.config.get("JOB_QUEUE_LOG") or ""
    return running


def _fetch(reach: Reach) -> tuple[list[ClassAd], list[ClassAd], str]:
    """Return the running jobs of the own schedd, the slots of the own startd, the schedd's name."""
    daemons = {word.upper() for word in reach.config.words("DAEMON_LIST")}
    jobs: list[ClassAd] = []
    slots: list[ClassAd] = []
    schedd = ""
    if "SCHEDD" in daemons:
        schedd = reach.locate(SCHEDD).name
        address = _find_answering(reach, SCHEDD)
        jobs += query_jobs(
            reach.connector, address, constraint=CONSTRAINT, projection=JOB_ATTRIBUTES
        )
    if "STARTD" in daemons:
        address = _find_answering(reach, STARTD)
        query = make_query("Machine", projection=SLOT_ATTRIBUTES)
        slots += query_ads(reach.connector, address, Command.QUERY_STARTD_ADS, query)
    return jobs, slots, schedd


def _find_answering(reach: Reach, kind: Kind) -> Sinful:
    """Return the address of a daemon; KettleError if it does not answer in ANSWER_SECONDS."""
    address = reach.locate(kind).address
    ping(reach.connector, address, Command.DC_NOP, timeout=place.ANSWER_SECONDS)
    return address


def sort_running(jobs: Sequence[ClassAd], slots: Iterable[ClassAd], schedd: str = "") -> Running:
    """Return which of the running `jobs` are on one of this machine's `slots`, and whose else is.

    A job of our own `schedd` on a slot that is not among them has been removed or held and is about
    to leave: nobody starts it again. The lease is the shortest of the jobs that go on.
    """
    own = {job.string("GlobalJobId") for job in jobs}
    names = set()
    running = Running()
    for slot in slots:
        names.add(slot.string("Name"))
        job_id = slot.string("JobId")
        known = slot.string("GlobalJobId") or ""
        if job_id and known not in own and (known.partition("#")[0] != schedd or not schedd):
            running.guests.append(job_id)
    leases = []
    for job in jobs:
        number = f"{job.integer('ClusterId')}.{job.integer('ProcId')}"
        universe, lease = job.integer("JobUniverse"), lease_of_run(job)
        if universe == JobUniverse.GRID:
            # It goes on without a lease: the other system has it.
            running.elsewhere.append(number)
        elif universe in BESIDE_THE_SCHEDD or job.string("RemoteHost") in names or lease is None:
            running.here.append(number)
        else:
            running.elsewhere.append(number)
            leases.append(lease)
    running.lease_seconds = min(leases, default=0)
    return running


def note_finished(running: Running, queue_log: Iterable[bytes]) -> None:
    """Tell those apart that ended by themselves while the pool stopped.

    `queue_log` are the lines of the queue's log after the stop (`records/queue_log.py`): a job is
    over that is destroyed, completed or removed there.
    """
    state: dict[str, int] = dict.fromkeys(running.here, JobStatus.RUNNING)
    for line in queue_log:
        op, _, rest = line.partition(b" ")
        if op not in (b"102", b"103"):
            continue
        words = rest.split(None, 2)
        key = words[0].decode("ascii", "replace") if words else ""
        if key not in state:
            continue
        if op == b"102":
            state[key] = JobStatus.REMOVED
        elif len(words) == 3 and words[1] == b"JobStatus" and words[2].strip().isdigit():
            state[key] = int(words[2])
    running.finished = [number for number in running.here if state[number] in OVER]
    running.here = [number for number in running.here if state[number] not in OVER]


def describe(running: Running, *, purged: bool) -> list[str]:
    """Return the sentences about running jobs, none where none ran."""
    if running.unknown:
        return [f"How many jobs were running is not known: {running.unknown}."]
    again = "They are gone with the queue." if purged else "The next 'kettle up' starts them again."
    minutes = max(1, running.lease_seconds // 60)
    found = f"A 'kettle up' within {minutes} min finds them again."
    rows = (
        ("Running jobs that ended by themselves meanwhile", running.finished, ""),
        ("Running jobs stopped", running.here, again),
        (
            "Running jobs left on other machines",
            running.elsewhere,
            "They end there when their leases have run out." if purged else found,
        ),
        (
            "Running jobs of other access points stopped",
            running.guests,
            "Those start them again.",
        ),
    )
    return [f"{what}: {_named(jobs)}. {then}".rstrip() for what, jobs, then in rows if jobs]


def describe_wait(running: Running, seconds: float, *, fast: bool) -> str:
    """Return what a pool that is not down yet waits for, and for how long at most.

    Each job may take what its own ad says, all of them `seconds`: by the knob of the pool, or, in a
    fast stop, until its master is killed.
    """
    if fast:
        return f"Waiting for the daemons to end; the master is killed after {seconds:.0f} s."
    if not running.here:
        return f"Waiting for the daemons to end; they are stopped fast after {seconds:.0f} s."
    return (
        f"Waiting for running jobs to leave: {_named(running.here)}. One that ignores its signal "
        f"is killed after its job_max_vacate_time, all of them after {seconds:.0f} s "
        "(SHUTDOWN_GRACEFUL_TIMEOUT); Ctrl-C leaves them to it, 'kettle down --fast' kills them "
        "at once."
    )


def _named(jobs: Sequence[str]) -> str:
    """Return how many jobs they are, and the first of them."""
    more = ", …" if len(jobs) > NAMED else ""
    return f"{len(jobs)} ({', '.join(jobs[:NAMED])}{more})"
