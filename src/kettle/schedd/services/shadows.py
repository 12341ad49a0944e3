"""Shadow hosts: one process per submitting user, in which all shadows of that user's jobs live.

The schedd forks a host when a user's job starts and talks to it over a socket pair in the words of
`wire.messages.shadow_host`. A host that has had nothing to do for a while ends, one that is old
(SHADOW_WORKLIFE) gets no further jobs, and one that dies is replaced by one that takes the running
jobs over. What a report means for a job is the scheduler's business.

A user who cannot be found on this machine has no host. A job that was to start is not started; one
that runs waits for its shadow as for a host that cannot be forked, with its claim, until its lease
is over: before that it may be running, and must not be started a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import traceback
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import ShadowExit, VacateReasonCode
from kettle.bounded_texts import bounded_reason
from kettle.classad.text import quote_line
from kettle.config.knobs.shadow import ShadowKnobs
from kettle.errors import ConnectionLost, KettleError, NotForked, RemoteProtocolError
from kettle.policy.lease import lease_of_run, longest_silence
from kettle.records import queue_log
from kettle.records.event_kinds import ShadowExceptionEvent
from kettle.records.unwritten_events import SHADOW_EVENTS
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.beside import NotStarted
from kettle.schedd.host_reports import Beliefs
from kettle.schedd.kept_ads import KeptAds
from kettle.schedd.queue.job_ids import JobId, parse_key
from kettle.schedd.run_records import SHADOW_ADDRESS
from kettle.schedd.services.refused_starts import report_refusal
from kettle.schedd.services.user_host import UserHost, job_of, pause_seconds
from kettle.wire.messages.shadow_host import (
    HostMessage,
    HostReady,
    HostTrouble,
    SetAttributes,
    ShadowExited,
    SignalShadow,
    StartShadow,
    StopHost,
    TransferRecord,
    UpdateJob,
    UpdateKept,
    read_host_message,
)

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child
    from kettle.schedd.claims import Claim
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.queue.transaction import Change
    from kettle.schedd.services.parts import Schedd
    from kettle.schedd.services.records import Records

_EDITS = frozenset((queue_log.SET_ATTRIBUTE, queue_log.DELETE_ATTRIBUTE))
# What a forked host runs.
HOST_ENTRY = "kettle.shadow.services.host:main"

# How soon is looked again for the user of a host whose jobs run.
_ACCOUNT_PAUSE_SECONDS = 5.0
# A host that lived this long counts as healthy.
_HEALTHY_SECONDS = 30.0
# How long one that has hung up is believed to be about to end.
_HANGS_UP_SECONDS = 0.1
# How long a host may take to stop before it is killed.
_STOP_SECONDS = 20.0
# How long a host without jobs waits for the next one; then its memory is worth more.
IDLE_SECONDS = 300.0
# A host that takes nothing off its socket for so long is stuck, and is replaced.
STUCK_SECONDS = 120.0
# Limit: attributes that a complaint names.
_MOST_NAMED = 10
# Limit: words that wait for a host that does not read; beyond that it is replaced too.
MAX_WAITING = 100_000


class ShadowHosts:
    """Every shadow host of the schedd."""

    def __init__(self, schedd: Schedd, records: Records) -> None:
        self._schedd = schedd
        self._records = records
        # The host that gets a user's next job; those that leave are only in `_all`.
        self._current: dict[str, UserHost] = {}
        self._all: set[UserHost] = set()
        self._by_job: dict[JobId, UserHost] = {}
        # By user, how many hosts died soon after they began, one after the other.
        self._deaths: dict[str, int] = {}
        self._stopping = False
        self._beliefs: Beliefs | None = None

    @property
    def running(self) -> int:
        """How many jobs have a shadow."""
        return len(self._by_job)

    @property
    def count(self) -> int:
        """How many hosts there are."""
        return len(self._all)

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        """Give a job to its user's host; one that runs waits for that if its user can have none.

        Another is held then, or waits again where the reason may pass.
        """
        try:
            host = self._by_job.get(job.id) or self._host_of(job, runs=reconnect)
        except (NotStarted, NotForked) as failure:
            refuse = partial(report_refusal, self._schedd, job.id, failure)
            asyncio.get_running_loop().call_soon(refuse)
            return
        if host.account is None:
            silence = longest_silence(lease_of_run(job.ad))
            host.leases[job.id] = self._schedd.runtime.clock.steady() + silence
        elif host.account.lent and not reconnect:
            self._let_transfer(job)
        host.jobs.add(job.id)
        host.stop_timer()
        self._by_job[job.id] = host
        if SHADOW_EVENTS in job.ad:
            host.unwritten.add(job.id)
        start = StartShadow(*job.id, claim.startd_address, job.ad, claim.slot, reconnect)
        self._send(host, start)

    def _let_transfer(self, job: Job) -> None:
        """Have the files of a guest's job travel, if that is to happen where it is needed.

        It always is: the job runs as somebody else, also on a machine that shares the folders of
        this one. What was made of IF_NEEDED is in the job's ad, for its user to see.
        """
        if (job.ad.string("ShouldTransferFiles") or "").upper() == "IF_NEEDED":
            self._schedd.queue.update(job.id, {"ShouldTransferFiles": '"YES"'})

    def signal_shadow(self, job: Job, signal: str, reason: str, code: int, subcode: int) -> None:
        """Pass a request on to a running job's shadow."""
        host = self._by_job.get(job.id)
        if host is None:
            return
        self._send(host, SignalShadow(*job.id, signal, reason, int(code), subcode))

    def tell_edits(self, changes: Iterable[Change]) -> None:
        """Tell the shadows of running jobs what a user changed in these: policy follows at once."""
        edits: dict[JobId, dict[str, str]] = {}
        for operation, key, name, text in changes:
            where = parse_key(key)
            if where is None or operation not in _EDITS:
                continue
            for job in self._with_shadow(*where):
                edits.setdefault(job, {})[name] = text or "undefined"
        for job, attributes in edits.items():
            self._send(self._by_job[job], SetAttributes(*job, attributes))

    def _with_shadow(self, cluster: int, proc: int) -> list[JobId]:
        """Return the job if it has a shadow; for a cluster's ad, all of its jobs that have."""
        if proc >= 0:
            return [job for job in (JobId(cluster, proc),) if job in self._by_job]
        return [job for job in self._by_job if job.cluster == cluster]

    def renew(self) -> None:
        """Let the next jobs have new hosts: the present ones have the old configuration."""
        for host in list(self._current.values()):
            self._retire(host)

    async def stop(self, how: str) -> None:
        """Have every host stop; those that do not are killed."""
        self._stopping = True
        hosts = list(self._all)
        for host in hosts:
            host.stop_timer()
            self._send(host, StopHost(how))
        waits = [host.child.wait() for host in hosts if host.child is not None]
        try:
            async with asyncio.timeout(_STOP_SECONDS if how != "peaceful" else None):
                await asyncio.gather(*waits)
        except TimeoutError:
            for host in hosts:
                if host.child is not None:
                    host.child.signal(9)
        self.forget()

    def forget(self) -> None:
        """Let go of every host without a word, as the schedd's own death does."""
        self._stopping = True
        for host in list(self._all):
            host.stop_timer()
            if host.stream is not None:
                host.stream.close()

    # -- which host -------------------------------------------------------------------------

    def _host_of(self, job: Job, *, runs: bool) -> UserHost:
        host = self._current.get(job.user)
        if host is not None and self._is_old(host):
            self._retire(host)
            host = None
        if host is not None and host.account is None and not runs:
            host.account = self._schedd.accounts.to_start(job.user)
        if host is None:
            runtime = self._schedd.runtime
            account = None if runs else self._schedd.accounts.to_start(job.user)
            life = runtime.config.value(ShadowKnobs.SHADOW_WORKLIFE)
            host = UserHost(job.user, account, old_at=runtime.clock.monotonic() + life)
            # A host that is known is one that lives: nothing may fail between these.
            self._current[job.user] = host
            self._all.add(host)
            tasks.spawn(self._serve(host), f"shadow host of {host.user}")
        return host

    def _is_old(self, host: UserHost) -> bool:
        return self._schedd.runtime.clock.monotonic() > host.old_at

    def _retire(self, host: UserHost) -> None:
        """Give a host no further jobs; without any it ends now, else with the last one."""
        host.stop_timer()
        host.leaving = True
        if self._current.get(host.user) is host:
            del self._current[host.user]
        if not host.jobs:
            self._send(host, StopHost("graceful"))

    def _note_idle(self, host: UserHost) -> None:
        if host.leaving:
            self._retire(host)
            return
        loop = asyncio.get_running_loop()
        host.idle_timer = loop.call_later(IDLE_SECONDS, self._retire, host)

    # -- words to a host ----------------------------------------------------------------------

    def _send(self, host: UserHost, message: HostMessage) -> None:
        """Send a word now, or when the host can take it."""
        stream = host.stream
        if stream is None or not host.ready or host.waiting or stream.congested:
            host.waiting.append(message)
            if len(host.waiting) > MAX_WAITING:
                self._give_up(host)
            self._pump(host)
            return
        # A host that has just died is noticed in a moment; then its jobs are asked for anew.
        with contextlib.suppress(ConnectionLost):
            for word in host.kept.words_for(message):
                stream.post(word)

    def _give_up(self, host: UserHost) -> None:
        """End a host that takes no words; its listener notices, and has its jobs taken over."""
        if host.child is not None:
            self._problem(host, f"takes no words, {len(host.waiting)} wait")
            host.child.signal(9)

    def _pump(self, host: UserHost) -> None:
        """See to it that what waits is sent as the host reads."""
        if host.stream is None or not host.ready or host.pump is not None:
            return
        host.pump = tasks.spawn(self._send_waiting(host, host.stream), f"words to {host.user}")

    async def _send_waiting(self, host: UserHost, stream: Stream) -> None:
        try:
            while host.waiting and host.stream is stream:
                host.begun = host.waiting[0]
                async with asyncio.timeout(STUCK_SECONDS):
                    for word in host.kept.words_for(host.waiting[0]):
                        await stream.send(word)
                if host.stream is stream:
                    host.waiting.popleft()
                    host.begun = None
        except (ConnectionLost, TimeoutError):
            if host.stream is stream:
                self._give_up(host)
        finally:
            if host.stream is stream:
                host.pump = None

    # -- one host's life ------------------------------------------------------------------------

    async def _serve(self, host: UserHost) -> None:
        """Keep one user's host alive for as long as there is work for it."""
        clock = self._schedd.runtime.clock
        try:
            while not self._stopping:
                if not await self._has_account(host):
                    return
                host.began = clock.monotonic()
                await self._live_once(host)
                self._take_events(host)
                if self._is_over(host):
                    return
                await self._replace(host)
                if not host.jobs:
                    return
        finally:
            host.stop_timer()
            self._all.discard(host)
            if self._current.get(host.user) is host:
                del self._current[host.user]

    async def _has_account(self, host: UserHost) -> bool:
        """Return when it is known as whom a host works; False if it has no job any more by then."""
        while host.account is None and not self._stopping:
            try:
                host.account = self._schedd.accounts.to_start(host.user)
            except Exception as error:  # noqa: BLE001 - a bug lets nobody's running jobs down
                failure = error if isinstance(error, NotStarted | NotForked) else _as_passing(error)
                if not host.waits:
                    self._problem(host, f"its running jobs wait: {failure}")
                host.waits = True
                self._give_up_ended(host, failure)
                if not host.jobs:
                    return False
                await asyncio.sleep(_ACCOUNT_PAUSE_SECONDS)
        host.leases.clear()
        return not self._stopping

    def _give_up_ended(self, host: UserHost, failure: NotStarted | NotForked) -> None:
        """Take it that jobs have ended whose lease is over, and which nobody could look for."""
        now = self._schedd.runtime.clock.steady()
        for job in [job for job in host.jobs if host.leases.get(job, now) <= now]:
            host.jobs.discard(job)
            host.leases.pop(job, None)
            self._by_job.pop(job, None)
            host.drop_words((job,))
            report_refusal(self._schedd, job, failure, ran=True)

    def _take_events(self, host: UserHost) -> None:
        """Have the events written that a host has left and no shadow after it will."""
        left, host.unwritten = host.unwritten - host.jobs, set()
        if left and not self._stopping:
            with tasks.reported("The events that a shadow host left"):
                self._schedd.scheduler.on_events_left(sorted(left))

    def _is_over(self, host: UserHost) -> bool:
        return self._stopping or (host.leaving and not host.jobs)

    async def _live_once(self, host: UserHost) -> None:
        """Have a host process and listen to it until its end, which leaves nothing open."""
        try:
            await self._spawn(host)
            await self._listen(host)
        except (KettleError, OSError) as error:
            if not host.leaving and not self._stopping:
                self._problem(host, str(error))
        except Exception as error:  # noqa: BLE001 - a bug met with one user's words is theirs alone
            self._problem(host, "".join(traceback.format_exception(error)).rstrip())
        if host.stream is not None:
            host.stream.close()
        if host.child is not None and not self._stopping:
            await self._await_end(host.child, patient=host.leaving)
        host.stream, host.child, host.ready, host.pump = None, None, False, None

    async def _await_end(self, child: Child, *, patient: bool) -> None:
        """Wait until a host that has hung up is gone: its shadows must not live beside others."""
        for seconds in (_STOP_SECONDS if patient else _HANGS_UP_SECONDS, _STOP_SECONDS):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await child.wait()
            if not child.signal(9):
                return

    async def _spawn(self, host: UserHost) -> None:
        assert host.account is not None
        host.forked, host.began_well, host.trouble = False, False, ""
        stream, theirs = Stream.pair()
        try:
            host.child = await self._schedd.runtime.processes.zygote.fork(
                HOST_ENTRY,
                host.account.pack(),
                fds=(theirs,),
                title=f"condor_shadow: host of {host.user}",
            )
        except BaseException:
            stream.close()
            raise
        finally:
            os.close(theirs)
        host.stream, host.kept = stream, KeptAds()
        host.forked = True

    async def _listen(self, host: UserHost) -> None:
        assert host.stream is not None
        while True:
            message = read_host_message(await host.stream.receive_forever())
            if isinstance(message, HostReady):
                host.ready = host.began_well = True
                host.address = message.address
                if host.waiting:
                    self._pump(host)
            elif isinstance(message, HostTrouble):
                host.trouble = bounded_reason(message.text)
                self._problem(host, host.trouble)
            elif isinstance(message, UpdateJob | ShadowExited | TransferRecord):
                # One job's trouble is no reason to give up a host that has many.
                with tasks.reported(f"{type(message).__name__} of a shadow host"):
                    self._on_news(host, message)
            else:
                raise RemoteProtocolError(f"a shadow host sent {type(message).__name__}")

    def _on_news(self, host: UserHost, message: UpdateJob | ShadowExited | TransferRecord) -> None:
        if isinstance(message, UpdateJob):
            self._on_update(host, message)
        elif isinstance(message, ShadowExited):
            self._on_exit(host, message)
        elif job_of(message) in host.jobs:
            self._records.transferred(job_of(message), message.kind, message.record)

    def _on_update(self, host: UserHost, message: UpdateJob) -> None:
        job = job_of(message)
        attributes = self._believed(host, job, message.attributes)
        host.note_unwritten(job, attributes)
        if attributes:
            self._schedd.scheduler.on_job_update(job, attributes)
        if message.answered:
            self._schedd.on_disk.then(partial(self._send, host, UpdateKept(*job)))

    def _believed(
        self, host: UserHost, job: JobId, attributes: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Return what a host may say of a job; what it may not is a line in the log."""
        runs = job in host.jobs
        queued = self._schedd.queue.jobs.get(job)
        if not runs and (queued is None or queued.user != host.user):
            kept: dict[str, str] = {}
            refused = list(attributes)
        else:
            if self._beliefs is None or self._beliefs.lists is not self._schedd.queue_settings:
                self._beliefs = Beliefs(self._schedd.queue_settings)
            kept, refused = self._beliefs.believed(attributes, running=runs)
        # Of a job that has left, the rest of its shadow's words means nothing.
        if refused and queued is not None:
            names = " ".join(refused[:_MOST_NAMED])
            self._problem(host, f"may not change {names} of {job}")
        return kept

    def _on_exit(self, host: UserHost, message: ShadowExited) -> None:
        job = job_of(message)
        if job not in host.jobs:
            self._problem(host, f"reports the end of {job}, which it does not run")
            return
        believed_of_it = self._believed(host, job, message.attributes)
        host.note_unwritten(job, believed_of_it)
        attributes = dict(believed_of_it)
        if host.address:
            attributes[SHADOW_ADDRESS] = quote_line(host.address)
        host.jobs.discard(job)
        if self._by_job.get(job) is host:
            del self._by_job[job]
        self._schedd.scheduler.on_shadow_exited(
            job, message.reason, attributes, reusable=message.reusable
        )
        # The scheduler may have started the claim's next job meanwhile.
        if not host.jobs:
            self._note_idle(host)

    async def _replace(self, host: UserHost) -> None:
        """After a host's death: have its jobs taken over, at once unless it dies all the time."""
        lived = self._schedd.runtime.clock.monotonic() - host.began
        deaths = 0 if lived > _HEALTHY_SECONDS else self._deaths.get(host.user, 0) + 1
        self._deaths[host.user] = deaths
        self._problem(host, f"died with {len(host.jobs)} jobs")
        if deaths > 1:
            await asyncio.sleep(pause_seconds(deaths))
        unsent = host.take_unsent()
        self._fail_starts(host, host.take_in_vain(deaths))
        lost = [job for job in host.jobs if job not in unsent]
        for job in lost:
            # Those that left the queue meanwhile have no shadow again.
            host.jobs.discard(job)
            self._by_job.pop(job, None)
        with tasks.reported("Taking over the jobs of a shadow host"):
            self._schedd.scheduler.on_host_lost(lost)

    def _fail_starts(self, host: UserHost, jobs: Iterable[JobId]) -> None:
        """End the runs of jobs whose shadow cannot begin: they go on when it can, and rest until.

        Compat: in the reference one that has no shadow is idle after its first one's death, and
        started again with the next match
        (test_jobs_whose_host_cannot_begin_are_told_why_and_rest).
        """
        for job in jobs:
            reason = f"The job has no shadow: {host.trouble or 'its process dies as it begins'}"
            host.jobs.discard(job)
            self._by_job.pop(job, None)
            with tasks.reported(f"The failed start of job {job}"):
                queued = self._schedd.queue.jobs.get(job)
                if queued is not None:
                    self._schedd.events.write(queued, ShadowExceptionEvent(message=reason))
                code = int(VacateReasonCode.ShadowException)
                report = {"VacateReason": quote_line(reason), "VacateReasonCode": str(code)}
                self._schedd.scheduler.on_shadow_exited(
                    job, int(ShadowExit.EXCEPTION), report, reusable=False
                )

    def _problem(self, host: UserHost, text: str) -> None:
        self._schedd.runtime.log.problem(f"The shadow host of {host.user}: {text}")


def _as_passing(error: Exception) -> NotForked:
    return NotForked(f"{type(error).__name__}: {error}")
