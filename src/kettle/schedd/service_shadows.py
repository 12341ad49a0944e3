"""Shadow hosts: one process per submitting user, in which all shadows of that user's jobs live.

The schedd forks a host when a user's first job starts and talks to it over a socket pair in the
words of `wire.messages.shadow_host`. A host that dies is replaced, and the new one takes the
running jobs over. What a report means for a job is the scheduler's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, KettleError, RemoteProtocolError
from kettle.runtime import tasks
from kettle.runtime.stream import Stream
from kettle.schedd.claims import Claim
from kettle.schedd.job_ids import JobId
from kettle.schedd.job_queue import Job
from kettle.wire.messages.shadow_host import (
    HostMessage,
    HostReady,
    ShadowExited,
    SignalShadow,
    StartShadow,
    StopHost,
    UpdateJob,
    read_host_message,
)

if TYPE_CHECKING:
    from kettle.runtime.processes import Child
    from kettle.schedd.service import ScheddService

# What a forked host runs.
HOST_ENTRY = "kettle.shadow.service_host:main"

# A host that dies again and again is not replaced at once.
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 60.0
# A host that lived this long counts as healthy.
_HEALTHY_SECONDS = 30.0
# How long a host may take to stop before it is killed.
_STOP_SECONDS = 20.0


@dataclass(slots=True, eq=False)
class _Host:
    """One user's host; messages wait until it is ready."""

    user: str
    owner: str
    stream: Stream | None = None
    child: Child | None = None
    ready: bool = False
    waiting: list[HostMessage] = field(default_factory=list)
    jobs: set[JobId] = field(default_factory=set)
    began: float = 0.0
    deaths: int = 0


class ShadowHosts:
    """Every shadow host of the schedd."""

    def __init__(self, service: ScheddService) -> None:
        self._service = service
        self._hosts: dict[str, _Host] = {}
        self._stopping = False

    @property
    def running(self) -> int:
        """How many jobs have a shadow."""
        return sum(len(host.jobs) for host in self._hosts.values())

    def start_shadow(self, job: Job, claim: Claim, *, reconnect: bool) -> None:
        """Give a job to its user's host."""
        host = self._host_of(job)
        host.jobs.add(job.id)
        content = ClassAd(
            {
                "ClusterId": job.id.cluster,
                "ProcId": job.id.proc,
                "StartdAddress": claim.startd_address,
                "Reconnect": reconnect,
            }
        )
        self._send(host, StartShadow(content, job.ad, claim.slot))

    def signal_shadow(self, job: Job, signal: str, reason: str, code: int, subcode: int) -> None:
        """Pass a request on to a running job's shadow."""
        host = self._hosts.get(job.user)
        if host is None or job.id not in host.jobs:
            return
        content = ClassAd(
            {
                "ClusterId": job.id.cluster,
                "ProcId": job.id.proc,
                "Signal": signal,
                "Reason": reason,
                "ReasonCode": code,
                "ReasonSubCode": subcode,
            }
        )
        self._send(host, SignalShadow(content))

    async def stop(self, how: str) -> None:
        """Have every host stop; those that do not are killed."""
        self._stopping = True
        hosts = list(self._hosts.values())
        for host in hosts:
            self._send(host, StopHost(ClassAd({"How": how})))
        waits = [host.child.wait() for host in hosts if host.child is not None]
        try:
            async with asyncio.timeout(_STOP_SECONDS if how != "peaceful" else None):
                await asyncio.gather(*waits)
        except TimeoutError:
            for host in hosts:
                if host.child is not None:
                    host.child.signal(9)
        for host in hosts:
            if host.stream is not None:
                host.stream.close()

    # -- one host ---------------------------------------------------------------------------

    def _host_of(self, job: Job) -> _Host:
        host = self._hosts.get(job.user)
        if host is None:
            host = self._hosts[job.user] = _Host(job.user, job.owner)
            tasks.spawn(self._serve(host), f"shadow host of {host.user}")
        return host

    def _send(self, host: _Host, message: HostMessage) -> None:
        if host.stream is None or not host.ready:
            host.waiting.append(message)
            return
        # A host that has just died is noticed in a moment; then its jobs are asked for anew.
        with contextlib.suppress(ConnectionLost):
            host.stream.post(message)

    async def _serve(self, host: _Host) -> None:
        """Keep one user's host alive for as long as there is work for it."""
        service = self._service
        while not self._stopping:
            host.began = service.runtime.clock.monotonic()
            try:
                await self._spawn(host)
                await self._listen(host)
            except (KettleError, OSError) as error:
                service.runtime.log.problem(f"The shadow host of {host.user}: {error}")
            if host.stream is not None:
                host.stream.close()
            if self._stopping:
                return
            await self._on_death(host)

    async def _spawn(self, host: _Host) -> None:
        runtime = self._service.runtime
        stream, theirs = Stream.pair()
        try:
            host.child = await runtime.processes.zygote.fork(
                HOST_ENTRY,
                host.owner.encode(),
                fds=(theirs,),
                title=f"condor_shadow: host of {host.user}",
            )
        finally:
            os.close(theirs)
        host.stream = stream

    async def _listen(self, host: _Host) -> None:
        assert host.stream is not None
        while True:
            message = read_host_message(await host.stream.receive_forever())
            if isinstance(message, HostReady):
                host.ready = True
                waiting, host.waiting = host.waiting, []
                for each in waiting:
                    host.stream.post(each)
            elif isinstance(message, UpdateJob):
                self._service.scheduler.on_job_update(_job_of(message.content), message.attributes)
            elif isinstance(message, ShadowExited):
                self._on_exit(host, message)
            else:
                raise RemoteProtocolError(f"a shadow host sent {type(message).__name__}")

    def _on_exit(self, host: _Host, message: ShadowExited) -> None:
        job, content = _job_of(message.content), message.content
        host.jobs.discard(job)
        self._service.scheduler.on_shadow_exited(
            job,
            content.integer("ExitReason") or 0,
            message.attributes,
            reusable=bool(content.boolean("ClaimReusable")),
        )

    async def _on_death(self, host: _Host) -> None:
        runtime = self._service.runtime
        if host.child is not None:
            host.child.signal(9)
        host.stream, host.child, host.ready = None, None, False
        lived = runtime.clock.monotonic() - host.began
        host.deaths = 0 if lived > _HEALTHY_SECONDS else host.deaths + 1
        runtime.log.problem(f"The shadow host of {host.user} died with {len(host.jobs)} jobs")
        if host.deaths > 1:
            pause = _FIRST_PAUSE_SECONDS * 2**host.deaths
            await asyncio.sleep(min(pause, _LONGEST_PAUSE_SECONDS))
        # What waited is asked for anew: starts as take-overs, requests from the jobs' status.
        host.waiting.clear()
        self._service.scheduler.on_host_lost(list(host.jobs))


def _job_of(content: ClassAd) -> JobId:
    cluster, proc = content.integer("ClusterId"), content.integer("ProcId")
    if cluster is None or proc is None:
        raise RemoteProtocolError("a shadow host named no job")
    return JobId(cluster, proc)
