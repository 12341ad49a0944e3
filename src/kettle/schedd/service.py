"""The schedd: the queue on disk, the commands, the scheduler, and everything it does outside.

Here the parts are put together and the scheduler's wishes (`Hands`) are handed to the shells that
fulfil them. What is decided, is decided elsewhere: see `scheduler.py`, `queue/qmgmt.py`,
`queue/actions.py`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import StorageError
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.policy.system_policy import read_system_policy
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.job_tracing import trace
from kettle.runtime.self_monitor import read_window
from kettle.schedd.claims import Claim
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.negotiation import Refusal, note_autocluster
from kettle.schedd.queue.actions import Plan
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import Changes, Job, JobQueue
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.schedd.scheduler import Scheduler
from kettle.schedd.services.ads import ScheddAds
from kettle.schedd.services.beside import BesideJobs, end_leftover
from kettle.schedd.services.claims import ClaimCommands
from kettle.schedd.services.connect import ConnectCommands
from kettle.schedd.services.departing import Departures
from kettle.schedd.services.events import ScheddEvents
from kettle.schedd.services.exports import ExportCommands
from kettle.schedd.services.factories import Factories
from kettle.schedd.services.history import HistoryFiles
from kettle.schedd.services.journal import QueueJournal
from kettle.schedd.services.mail import Mailer
from kettle.schedd.services.on_disk import OnDisk
from kettle.schedd.services.queue import QueueCommands
from kettle.schedd.services.shadows import ShadowHosts
from kettle.schedd.services.spool import SpoolFolder
from kettle.schedd.services.spooling import SpoolCommands
from kettle.schedd.services.transfer_queue import TransferQueueCommands
from kettle.schedd.services.users import UserCommands
from kettle.schedd.settings import read_queue_settings, read_service_settings
from kettle.schedd.statistics import Statistics

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# How often the queue log's size is looked at.
_LOOKED_AT_SECONDS = 10.0

# Limit: jobs of one submission that the log tells of, each in a line; of others QDate says when.
_MOST_TRACED = 20

# Jobs that one pass of periodic policy looks at before others have their turn.
_POLICY_SLICE = 500


class ScheddService:
    """One schedd."""

    # A shadow host runs as its user, who may not be able to read what is imported later: connecting
    # looks host names up in this codec.
    preload = (
        "kettle.shadow.services.host",
        "kettle.runtime.storage.log_writer",
        "kettle.schedd.services.program",
        "encodings.idna",
    )

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._read_settings()
        window, quantum = read_window(runtime.config, "SCHEDD")
        self.statistics = Statistics(self.now(), window_seconds=window, quantum_seconds=quantum)
        self.journal = QueueJournal(
            runtime, self.settings.queue_log, rotations=self.settings.queue_log_rotations
        )
        self.queue = JobQueue(self.journal, uid_domain=self.queue_settings.uid_domain)
        self.spool = SpoolFolder(runtime, self.settings.spool)
        self.history = HistoryFiles(runtime, self.settings)
        self.events = ScheddEvents(runtime)
        self.shadows = ShadowHosts(self)
        self.claims = ClaimCommands(self)
        self.ads = ScheddAds(self)
        self.commands = QueueCommands(self)
        self.factories = Factories(self)
        self.spooling = SpoolCommands(self)
        self.users = UserCommands(runtime.network, self.queue, self.journal)
        self.exports = ExportCommands(self)
        self.beside = BesideJobs(self)
        self.connecting = ConnectCommands(self)
        self.transfers = TransferQueueCommands(self)
        self.mailer = Mailer(runtime, lambda: self.queue_settings.uid_domain)
        self.on_disk = OnDisk(self.journal)
        self.departures = Departures(self)

    @property
    def name(self) -> str:
        """The schedd's name in the pool."""
        return self.runtime.identity.name

    def now(self) -> int:
        """Epoch seconds."""
        return int(self.runtime.clock.now())

    # -- life -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the queue, take up what was running, answer commands."""
        runtime = self.runtime
        runtime.files.make_folder(self.settings.spool)
        await self.journal.lock()
        discarded = self.journal.open(self.queue, self.now())
        if discarded:
            runtime.log.problem(f"Cut off the queue log: {discarded}")
        self.idle = IdleJobs(self.queue, AutoClusters())
        self.scheduler = Scheduler(
            self.queue,
            self.idle,
            self,
            self.now,
            most_running=self.settings.most_running,
            statistics=self.statistics,
            system_policy=read_system_policy(runtime.config.get),
        )
        runtime.log(f"The queue has {len(self.queue.jobs)} jobs")
        # Before anybody can submit: files of a cluster come before the cluster.
        for name in self.spool.remove_orphans(self.queue.knows):
            runtime.log(f"Removed {name} from the spool: its job is gone")
        self.commands.register()
        self.claims.register()
        self.spooling.register()
        self.users.register()
        self.exports.register()
        self.transfers.register()
        self.connecting.register()
        await self.history.mend()
        self.scheduler.recover()
        self.queue.observe(self._on_changes)
        self.queue.observe(self.factories.on_changes)
        self.factories.start()
        self.queue.observe(self.beside.on_changes)
        self.beside.start()
        self.ads.start()
        self.ads.want_matches()
        tasks.spawn(self._serve_policy(), "periodic policy")
        tasks.spawn(self._serve_cleaning(), "cleaning the queue log")
        tasks.spawn(self.history.serve_indices(), "indices of the history")

    async def reconfigure(self, config: Config) -> None:
        """Take over a new configuration."""
        self._read_settings()
        self.journal.rotations = self.settings.queue_log_rotations
        self.history.reconfigure(self.settings)
        self.events.logs.reconfigure(config)
        self.shadows.renew()
        self.transfers.reconfigure(config)
        self.scheduler.most_running = self.settings.most_running
        self.scheduler.system_policy = read_system_policy(config.get)
        self.ads.flock.configure()
        self.ads.on_change()

    async def shut_down(self, how: str) -> None:
        """Stop the shadows and withdraw the ads; the queue is on disk as it is."""
        await self.beside.stop(how)
        await self.shadows.stop(how)
        self.journal.wait_no_more()
        await self.on_disk.settle()
        await self.departures.settle()
        self.on_disk.forget()
        self.departures.forget()
        await self.ads.stop()
        await self.events.stop()
        await self.journal.flush()
        self.journal.close()

    def _read_settings(self) -> None:
        runtime = self.runtime
        account = runtime.privileges.daemon.name
        self.settings = read_service_settings(runtime.config)
        runtime.snapshots.most = self.settings.query_workers
        self.queue_settings = read_queue_settings(
            runtime.config,
            schedd_name=runtime.identity.name,
            version=runtime.identity.version,
            platform=runtime.identity.platform,
            own_user=account,
            # A pool that root starts for itself has no other account to own jobs.
            root_may_own=os.getuid() == 0 and account == "root",
        )

    def _on_changes(self, changes: Changes) -> None:
        """Follow every commit: events of new jobs, and whether anybody must hear of it."""
        self.on_disk.soon()
        if changes.new:
            self.statistics.on_submitted(changes, self.now())
            for job in changes.new[:_MOST_TRACED]:
                self.trace(job, Step.SUBMITTED)
            self.events.all_submitted(
                [job for job in changes.new if not is_waiting_for_files(job.ad)]
            )
            self.ads.want_matches()
        elif self.idle.was_edited(changes):
            self.ads.want_matches()
        for cluster in changes.new_clusters:
            if "JobMaterializeDigestFile" in cluster.ad:
                self.events.cluster_submitted(cluster)
        if changes.new or changes.gone or changes.status_before:
            self.ads.on_change()

    def signature(self, job: Job) -> tuple[int, tuple[str, ...]]:
        """Return a job's autocluster and the attributes that are significant."""
        number = self.idle.autocluster_of(job)
        return number, self.idle.autoclusters.attributes

    # -- periodic work ----------------------------------------------------------------------

    async def _serve_policy(self) -> None:
        while True:
            await asyncio.sleep(self.settings.policy_seconds)
            statuses = (JobStatus.IDLE, JobStatus.HELD, JobStatus.COMPLETED, JobStatus.REMOVED)
            jobs = [job for status in statuses for job in self.queue.by_status[status].values()]
            for start in range(0, len(jobs), _POLICY_SLICE):
                self.scheduler.apply_policy(jobs[start : start + _POLICY_SLICE])
                await asyncio.sleep(0)

    async def _serve_cleaning(self) -> None:
        """Write the queue log anew, after each QUEUE_CLEAN_INTERVAL and whenever it has grown."""
        clock = self.runtime.clock
        due = clock.steady() + self.settings.clean_seconds
        while True:
            if self.journal.has_grown or clock.steady() >= due:
                due = clock.steady() + self.settings.clean_seconds
                try:
                    await self.journal.compact(self.queue, self.now())
                except StorageError as error:
                    self.runtime.log.problem(f"The queue log stays as it is: {error}")
            await asyncio.sleep(min(_LOOKED_AT_SECONDS, self.settings.clean_seconds))

    # -- the desk of the negotiation ----------------------------------------------------------

    def on_match(self, submitter: str, claim_ids: str, slot: ClassAd) -> bool:
        """Take a match."""
        return self.scheduler.on_match(submitter, claim_ids, slot)

    def on_rejected(self, refusal: Refusal) -> None:
        """Note why an autocluster found no machine, in the ad of the job that spoke for it."""
        submitter = refusal.submitter
        if self.ads.flock.levels.on_rejected(submitter, refusal.pool):
            self.runtime.log(f"The jobs of {submitter} are offered to a further pool")
            self.ads.want_matches()
        for bucket in self.idle.buckets(submitter):
            job = bucket.first()
            if bucket.autocluster == refusal.autocluster and job is not None:
                attributes = self.idle.autoclusters.attributes_text
                note_autocluster(job.ad, bucket.autocluster, attributes)
                job.ad["LastRejMatchTime"] = self.now()
                job.ad["LastRejMatchReason"] = refusal.reason
                job.ad["LastRejMatchNegotiator"] = refusal.negotiator
                return

    def on_action(self, plan: Plan) -> None:
        """Carry out an action that was committed."""
        self.scheduler.on_action(plan)
        for cluster, paused in plan.factories:
            self.factories.on_paused(cluster, paused)

    # -- the scheduler's hands ----------------------------------------------------------------

    def request_claim(self, claim: Claim, job: Job) -> None:
        """Send REQUEST_CLAIM."""
        self.trace(job, Step.REQUESTED, claim.slot.string("Name") or "", coming=True)
        self.claims.request(claim, job)

    def release_claim(self, claim_id: str, startd_address: str) -> None:
        """Send RELEASE_CLAIM."""
        self.claims.release(claim_id, startd_address)

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        """Give a job to its user's shadow host."""
        self.claims.know(claim.id)
        self.on_disk.then(partial(self._start_shadow, job, claim, reconnect=reconnect))

    def trace(self, job: Job, step: Step, detail: str = "", *, coming: bool = False) -> None:
        """Leave a line of a job's step in the log, where that is wanted."""
        trace(self.runtime.log, job.ad, step, detail, coming=coming)

    def _start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        self.trace(job, Step.HANDED_OVER, "it is looked for" if reconnect else "")
        self.shadows.start_shadow(job, claim, reconnect=reconnect)
        if not reconnect:
            self.history.append_epoch("SPAWN", job, self.now())

    def signal_shadow(self, job: Job, signal: str, reason: str, code: int, subcode: int) -> None:
        """Tell a running job's shadow, which may only be about to be started."""
        if self.on_disk.pending:
            self.on_disk.then(partial(self._signal, job, signal, reason, code, subcode))
        else:
            self._signal(job, signal, reason, code, subcode)

    def _signal(self, job: Job, signal: str, reason: str, code: int, subcode: int) -> None:
        if not self.beside.signal(job, signal, reason, code, subcode):
            self.shadows.signal_shadow(job, signal, reason, code, subcode)

    def runs_beside(self, job: Job) -> bool:
        """Tell whether a job of the local or scheduler universe has a process."""
        return job.id in self.beside.runs

    def end_leftover(self, job: Job) -> None:
        """End the process that an earlier schedd left of a job beside it."""
        end_leftover(job.ad)

    def log_submitted(self, job: Job) -> None:
        """Write event 000."""
        self.events.submitted(job)

    def log_held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Write event 012."""
        self.mailer.notify(job)
        self.events.held(job, reason, code, subcode)

    def mail_held(self, job: Job) -> None:
        """Mail the owner of a job that its shadow held."""
        self.mailer.notify(job)

    def log_released(self, job: Job, reason: str) -> None:
        """Write event 013."""
        self.events.released(job, reason)

    def log_aborted(self, jobs: Sequence[Job]) -> None:
        """Write events 009."""
        self.events.all_aborted(jobs)

    def record_run(self, job: Job) -> None:
        """Append an ended run to the epoch history."""
        self.trace(job, Step.SETTLED)
        self.history.append_epoch("EPOCH", job, self.now())

    def record_transfer(self, job_id: JobId, kind: str, record: ClassAd) -> None:
        """Append what URL plug-ins did in a run to the epoch history."""
        job = self.queue.jobs.get(job_id)
        if job is not None and kind in self.settings.epoch_attributes:
            self.history.append_transfer(kind, job, record, self.now())

    def depart(self, job: Job) -> None:
        """Take a finished job out, with those that end at the same time."""
        self.departures.begin(job)

    def record_history(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Append finished jobs to the history; return those that it has taken."""
        recorded = self.history.append(jobs, self.now())
        for job in recorded:
            self.trace(job, Step.LEFT)
        return recorded

    def was_recorded(self, job: Job) -> bool:
        """Tell whether the history has a job that a crash left in the queue."""
        return self.history.has(job)

    def was_told(self, job: Job) -> bool:
        """Tell whether the log has the end of a job that a crash left in the queue."""
        return self.events.tell_of_end(job)

    def clean_up(self, job: Job) -> None:
        """Remove what a finished job left in the spool; mail its owner."""
        self.mailer.notify(job)
        self.spool.remove_job(job.id)

    def want_matches(self) -> None:
        """Tell the negotiator that jobs wait."""
        self.ads.want_matches()
