"""The schedd: the queue on disk, the commands, the scheduler, and everything it does outside.

Here the parts are put together: each is given the schedd as `services/parts.py` has it, and by
name what else it needs. What is decided, is decided elsewhere: see `scheduler.py`,
`queue/qmgmt.py`, `queue/actions.py`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kettle.config import Config
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ConfigError, StorageError
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.policy.system_policy import read_system_policy
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.job_tracing import trace
from kettle.runtime.self_monitor import read_window
from kettle.schedd.crontabs import CronTabs
from kettle.schedd.idle_jobs import IdleJobs
from kettle.schedd.job_counters import read_rules
from kettle.schedd.job_machine import FINISHED
from kettle.schedd.outside import Outside
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.schedd.recovery import Recovery
from kettle.schedd.scheduler import Scheduler
from kettle.schedd.services.ads import ScheddAds
from kettle.schedd.services.beside import BesideJobs
from kettle.schedd.services.claims import ClaimCommands
from kettle.schedd.services.connect import ConnectCommands
from kettle.schedd.services.dag_contacts import DagContacts
from kettle.schedd.services.departing import DepartingJobs
from kettle.schedd.services.desk import NegotiationDesk
from kettle.schedd.services.events import ScheddEvents
from kettle.schedd.services.exports import ExportCommands
from kettle.schedd.services.factories import Factories
from kettle.schedd.services.history import HistoryFiles
from kettle.schedd.services.journal import QueueJournal
from kettle.schedd.services.mail import Mailer
from kettle.schedd.services.on_disk import OnDisk
from kettle.schedd.services.owner_accounts import OwnerAccounts
from kettle.schedd.services.owners import Owners
from kettle.schedd.services.policy_rounds import PolicyRounds
from kettle.schedd.services.queue import QueueCommands
from kettle.schedd.services.records import Records
from kettle.schedd.services.runs import Runs
from kettle.schedd.services.shadows import ShadowHosts
from kettle.schedd.services.silent_owners import SilentOwners
from kettle.schedd.services.spool import SpoolFolder
from kettle.schedd.services.spooling import SpoolCommands
from kettle.schedd.services.transfer_queue import TransferQueueCommands, read_limits
from kettle.schedd.services.unwritten_events import UnwrittenEvents
from kettle.schedd.services.users import UserCommands
from kettle.schedd.settings import QueueSettings, read_queue_settings, read_service_settings
from kettle.schedd.statistics import Statistics, read_horizons

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.queue.actors import Actor

# How often the queue log's size is looked at.
_LOOKED_AT_SECONDS = 10.0

# Limit: jobs of one submission that the log tells of, each in a line; of others QDate says when.
_MOST_TRACED = 20

# How often finished jobs that could not leave are tried again where no policy is looked at.
_SEEN_OUT_SECONDS = 60.0

# How often jobs that run by the clock are looked at: one may have missed its time as it waited.
_CRON_SECONDS = 20.0

# Jobs that one pass of periodic policy looks at before others have their turn.
_POLICY_SLICE = 500


class ScheddService:
    """One schedd."""

    # A shadow host runs as its user, who may not be able to read what is imported later: connecting
    # looks host names up in this codec.
    preload = (
        "kettle.shadow.services.host",
        "kettle.shadow.services.warm",
        "kettle.runtime.storage.log_writer",
        "kettle.schedd.services.program",
        "encodings.idna",
    )

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._read_settings(runtime.config)
        window, quantum = read_window(runtime.config, "SCHEDD")
        self.statistics = Statistics(
            self.now(),
            window_seconds=window,
            quantum_seconds=quantum,
            horizons=read_horizons(runtime.config[TransferKnobs.TRANSFER_IO_REPORT_TIMESPANS]),
        )
        self.statistics.sets.set_rules(read_rules(runtime.config, runtime.log.problem))
        self.journal = QueueJournal(
            runtime, self.settings.queue_log, rotations=self.settings.queue_log_rotations
        )
        self.queue = JobQueue(self.journal, uid_domain=self.queue_settings.uid_domain)
        self.spool = SpoolFolder(runtime, self.settings.spool)
        self.accounts = OwnerAccounts(runtime, self.settings.spool, self.queue_settings.uid_domain)
        self.history = HistoryFiles(runtime, self.settings)
        self.unwritten = UnwrittenEvents(self)
        self.events = ScheddEvents(runtime, self.accounts.of, self.unwritten.keep, self.journal)
        self.on_disk = OnDisk(self.journal)
        mailer = Mailer(runtime, lambda: self.queue_settings.uid_domain)
        self.owners = Owners(self.events, mailer, self.unwritten)
        self.records = Records(self, mailer)
        self.departures = DepartingJobs(self)
        self.shadows = ShadowHosts(self, self.records)
        self.beside = BesideJobs(self, self.unwritten)
        self.accounts.on_silent = SilentOwners(self, self.beside.look_again).note
        self.factories = Factories(self, self._own_ad)
        self.transfers = TransferQueueCommands(runtime, self.actor)
        self.ads = ScheddAds(self, factories=self.factories, transfers=self.transfers)
        self.claims = ClaimCommands(self, NegotiationDesk(self, self.ads.flock))
        self.runs = Runs(
            self,
            claims=self.claims,
            records=self.records,
            shadows=self.shadows,
            beside=self.beside,
            unwritten=self.unwritten,
        )
        self.commands = QueueCommands(
            self,
            shadows=self.shadows,
            ads=self.ads,
            departures=self.departures,
            factories=self.factories,
        )
        self.spooling = SpoolCommands(self, self.departures, self.records.begin_anew)
        self.users = UserCommands(self, self.ads)
        self.exports = ExportCommands(self)
        self.connecting = ConnectCommands(self)
        self.dag_contacts = DagContacts(self, self.beside.secret_of)

    @property
    def name(self) -> str:
        """The schedd's name in the pool."""
        return self.runtime.identity.name

    def now(self) -> int:
        """Epoch seconds."""
        return int(self.runtime.clock.now())

    def actor(self, stream: Stream) -> Actor:
        """Return who is at the other end, as far as the queue is concerned."""
        return self.queue_settings.actors.actor(stream.peer.user)

    def want_matches(self) -> None:
        """Note that jobs wait and a negotiation would help."""
        self.ads.want_matches()

    def trace(self, job: Job, step: Step, detail: str = "", *, coming: bool = False) -> None:
        """Leave a line of a job's step in the log, where that is wanted."""
        trace(self.runtime.log, job.ad, step, detail, coming=coming)

    # -- life -------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the queue, take up what was running, answer commands."""
        runtime = self.runtime
        runtime.files.make_folder(self.settings.spool)
        await self.journal.lock()
        discarded = self.journal.open(self.queue, self.now())
        if discarded:
            runtime.log.problem(f"Cut off the queue log: {discarded}")
        self.accounts.open(self.queue)
        self.idle = IdleJobs(self.queue, AutoClusters())
        self.scheduler = self._make_scheduler()
        runtime.log(f"The queue has {len(self.queue.jobs)} jobs")
        # Before anybody can submit: files of a cluster come before the cluster.
        for name in await self.spool.remove_orphans(self.queue.knows):
            runtime.log(f"Removed {name} from the spool: its job is gone")
        for answering in (
            *(self.commands, self.claims, self.spooling, self.users, self.exports),
            *(self.transfers, self.connecting, self.dag_contacts),
        ):
            answering.register()
        await self.history.mend()
        with tasks.reported("Telling of what came just before the last schedd ended"):
            self.events.tell_what_a_crash_kept(reversed(self.queue.jobs.values()))
        with tasks.reported("Taking up what the last schedd left"):
            Recovery(self.scheduler).recover()
        self._start_parts()
        self._start_rounds()

    def _make_scheduler(self) -> Scheduler:
        scheduler = Scheduler(
            self.queue,
            self.idle,
            Outside(
                claims=self.claims,
                runs=self.runs,
                owners=self.owners,
                records=self.records,
                departures=self.departures,
                want_matches=self.want_matches,
                rest=self._rest,
                again=_again,
                trouble=self.runtime.log.problem,
            ),
            self.now,
            most_running=self.settings.most_running,
            statistics=self.statistics,
            system_policy=read_system_policy(self.runtime.config.get, self.runtime.log.problem),
        )
        scheduler.rounded = self.queue_settings.rounded
        return scheduler

    def _start_parts(self) -> None:
        """Have the parts follow the queue, and begin what they do by themselves."""
        self.queue.observe(self._on_changes)
        self.queue.observe(self.factories.on_changes)
        self.factories.start()
        self.queue.observe(self.beside.on_changes)
        # Last: these may commit something themselves.
        self.queue.observe(self._tell_submitted)
        hold = self.scheduler.orders.hold
        self.crontabs = CronTabs(self.queue, self.idle.autoclusters, hold, self.now)
        self.crontabs.renew_all()
        self.queue.observe(self.crontabs.on_changes)
        self.beside.start()
        self.exports.start()
        self.ads.start()
        self.ads.want_matches()
        self.runtime.network.on_moved(self.ads.on_moved)

    def _start_rounds(self) -> None:
        """Begin what is done again and again."""
        self._clean_at = self.runtime.clock.steady() + self.settings.clean_seconds
        self._policy_rounds = PolicyRounds(self.scheduler.policy.apply)
        tasks.repeat(self._apply_policy, "periodic policy")
        tasks.repeat(self._renew_crontabs, "jobs that run by the clock")
        tasks.repeat(self._clean, "cleaning the queue log")
        tasks.repeat(self.history.index, "indices of the history")

    def _rest(self, job_id: JobId, seconds: int, act: Callable[[], None]) -> None:
        self.runtime.log(f"Job {job_id} waits {seconds} s: its runs fail, one after the other")
        asyncio.get_running_loop().call_later(seconds, act)

    def check(self, config: Config) -> None:
        """Raise KettleError if `reconfigure` could not take all of a configuration over."""
        read_limits(config)
        read_service_settings(config)
        self._read_queue_settings(config)

    async def reconfigure(self, config: Config) -> None:
        """Take over a new configuration, all of it or, if a value is none, nothing."""
        log = self.runtime.log
        try:
            limits = read_limits(config)
            self._read_settings(config)
        except ConfigError as error:
            log.problem(f"The new configuration of the schedd is not used: {error}")
            return
        self.journal.rotations = self.settings.queue_log_rotations
        self.history.reconfigure(self.settings)
        self.accounts.reconfigure()
        self.events.logs.reconfigure(config)
        self.shadows.renew()
        self.transfers.reconfigure(limits)
        self.scheduler.most_running = self.settings.most_running
        self.scheduler.rounded = self.queue_settings.rounded
        self.scheduler.policy.system = read_system_policy(config.get, log.problem)
        self.statistics.sets.set_rules(read_rules(config, log.problem))
        self.beside.reconfigure()
        self.crontabs.renew_all()
        self.ads.reconfigure(config)

    async def shut_down(self, how: str) -> None:
        """Stop the shadows and withdraw the ads; the queue is on disk as it is."""
        await self.beside.stop(how)
        await self.shadows.stop(how)
        self.journal.wait_no_more()
        while self.on_disk.pending:
            await self.on_disk.settle()
        await self.departures.settle()
        await self.records.settle()
        self.on_disk.forget()
        self.departures.forget()
        await self.ads.stop()
        await self.events.stop()
        await self.journal.flush()
        self.journal.close()

    def _own_ad(self) -> ClassAd:
        return self.ads.own_ad()

    def _read_settings(self, config: Config) -> None:
        """Take over what is read once for the whole daemon, all of it or nothing."""
        settings = read_service_settings(config)
        self.queue_settings = self._read_queue_settings(config)
        for problem in self.queue_settings.rules.problems:
            self.runtime.log.problem(problem)
        self.settings = settings
        self.runtime.snapshots.most = settings.query_workers

    def _read_queue_settings(self, config: Config) -> QueueSettings:
        runtime = self.runtime
        account = runtime.privileges.daemon.name
        return read_queue_settings(
            config,
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
            self.want_matches()
        elif self.idle.was_edited(changes):
            self.ads.want_matches()
        if changes.new or changes.gone or changes.status_before:
            self.ads.on_change()

    def _tell_submitted(self, changes: Changes) -> None:
        """Write the events of what came into the queue: they may have to be kept there."""
        if changes.new:
            new = [job for job in changes.new if not is_waiting_for_files(job.ad)]
            self.events.all_submitted(new, self.factories.may_have_made)
        for cluster in changes.new_clusters:
            if "JobMaterializeDigestFile" in cluster.ad:
                self.events.cluster_submitted(cluster)

    # -- periodic work ----------------------------------------------------------------------

    async def _apply_policy(self) -> None:
        if self.settings.policy_seconds:
            await self._policy_rounds.go(self.queue, self.settings)
        else:
            await asyncio.sleep(_SEEN_OUT_SECONDS)
        await self._look_at(FINISHED, self.scheduler.policy.see_out)

    async def _look_at(self, statuses: Iterable[int], do: Callable[[list[Job]], None]) -> None:
        """Do something with all jobs in some statuses, in turns with others."""
        jobs = [job for status in statuses for job in self.queue.by_status[status].values()]

        def steps() -> Iterator[None]:
            for job in jobs:
                with tasks.reported("The policy of a job"):
                    do([job])
                yield

        await tasks.in_turns(steps(), _POLICY_SLICE)

    async def _renew_crontabs(self) -> None:
        await asyncio.sleep(_CRON_SECONDS)
        self.crontabs.renew_passed()

    async def _clean(self) -> None:
        """Write the queue log anew, after each QUEUE_CLEAN_INTERVAL and whenever it has grown."""
        clock = self.runtime.clock
        if self.journal.has_grown or clock.steady() >= self._clean_at:
            self._clean_at = clock.steady() + self.settings.clean_seconds
            try:
                await self.journal.compact(self.queue, self.now())
            except StorageError as error:
                self.runtime.log.problem(f"The queue log stays as it is: {error}")
        await asyncio.sleep(min(_LOOKED_AT_SECONDS, self.settings.clean_seconds))


def _again(seconds: int, act: Callable[[], None]) -> None:
    """Do what has failed once more, after so many seconds."""

    def do() -> None:
        with tasks.reported("What had failed before"):
            act()

    asyncio.get_running_loop().call_later(seconds, do)
