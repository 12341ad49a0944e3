"""The commands about the queue: queue management, queries, history, actions.

Each handler takes its requests from the stream, asks the pure rooms (`qmgmt`, `queries`,
`history_query`, `actions`) and sends what they say; who may change what is decided in `actions`,
and behind `qmgmt` in `qmgmt_changes`. What was acknowledged is on disk: a reply that promises
something waits for the journal.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobAction
from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError, StorageError
from kettle.records import history_query
from kettle.runtime import tasks
from kettle.runtime.storage.record_files import send_history
from kettle.schedd.queue import actions, qmgmt_answers, queries
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.qmgmt import Connection
from kettle.schedd.queue.query_answers import Answer
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.messages.qmgmt import begins_item_data
from kettle.wire.messages.queue_queries import ActOnJobsTrouble, ClearDirtyJobAttributes

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.ads import ScheddAds
    from kettle.schedd.services.departing import DepartingJobs
    from kettle.schedd.services.factories import Factories
    from kettle.schedd.services.parts import Schedd
    from kettle.schedd.services.shadows import ShadowHosts

# How long a client may think between two requests of one connection.
IDLE_SECONDS = 1200.0
# The same while a transaction is open, which takes memory.
OPEN_SECONDS = 300.0

# Limit: requests of one connection that are served before the others have their turn.
_REQUESTS_AT_A_TIME = 256
# Steps of one request that are done before others have their turn.
_STEPS_AT_A_TIME = 100

# An action on so many jobs is confirmed when those that it removed are out of the queue; one on
# more, when it is on disk.
_SEEN_TO_LEAVE = 1000

# Jobs that are looked at before others have their turn.
_JOBS_AT_A_TIME = 1000


class QueueCommands:
    """Handlers that need the queue and nothing of the execute side."""

    def __init__(
        self,
        schedd: Schedd,
        *,
        shadows: ShadowHosts,
        ads: ScheddAds,
        departures: DepartingJobs,
        factories: Factories,
    ) -> None:
        self._schedd = schedd
        self._shadows = shadows
        self._ads = ads
        self._departures = departures
        self._factories = factories

    def register(self) -> None:
        """Answer the commands."""
        network = self._schedd.runtime.network
        network.register(Command.QMGMT_WRITE_CMD, self.on_queue_management)
        network.register(Command.QMGMT_READ_CMD, self.on_queue_management)
        network.register(Command.QUERY_JOB_ADS, self.on_query, again=True)
        network.register(Command.QUERY_JOB_ADS_WITH_AUTH, self.on_query, again=True)
        network.register(Command.QUERY_SCHEDD_HISTORY, self.on_history, again=True)
        network.register(Command.ACT_ON_JOBS, self.on_action)
        network.register(Command.QUERY_SCHEDD_ADS, self.on_query_ads, again=True)
        network.register(Command.QUERY_SUBMITTOR_ADS, self.on_query_ads, again=True)
        network.register(Command.QUERY_STARTD_ADS, self.on_query_ads, again=True)
        network.register(Command.CLEAR_DIRTY_JOB_ATTRS, self.on_clear_dirty, again=True)

    async def on_queue_management(self, stream: Stream) -> None:
        """Serve one connection of queue management to its end."""
        schedd = self._schedd
        connection = Connection(
            schedd.queue,
            self._schedd.actor(stream),
            schedd.queue_settings,
            writable=stream.command == Command.QMGMT_WRITE_CMD,
            now=schedd.now,
            spool=schedd.spool,
            edited=self._shadows.tell_edits,
            slot_of=self._slot_of,
            own_ad=self._ads.own_ad,
            tell=schedd.runtime.log,
            monotonic=schedd.runtime.clock.monotonic,
        )
        try:
            await self._serve_queue(stream, connection)
        finally:
            # Of what was not committed nothing stays.
            for cluster in connection.spooled - schedd.queue.clusters.keys():
                schedd.spool.remove_cluster(cluster)

    async def _serve_queue(self, stream: Stream, connection: Connection) -> None:
        schedd = self._schedd
        monotonic = schedd.runtime.clock.monotonic
        turn_ends = monotonic() + tasks.TURN_SECONDS
        for number in itertools.count(1):
            stream.timeout = OPEN_SECONDS if connection.has_uncommitted else IDLE_SECONDS
            request = await stream.receive_or_begin(begins_item_data)
            if number % _REQUESTS_AT_A_TIME == 0 or monotonic() >= turn_ends:
                # Requests that came in one piece are received without a wait: a client that sends
                # a million attributes would otherwise be the only one that is served.
                await asyncio.sleep(0)
                turn_ends = monotonic() + tasks.TURN_SECONDS
            try:
                if request is None:
                    answer = await self._take_items(stream, connection)
                else:
                    answer = await self._finish(connection.handle(request))
            except StorageError as error:
                # Nothing was promised yet, and the disk may take it another time.
                schedd.runtime.log.problem(str(error))
                return
            if answer.durable:
                await schedd.journal.flush()
            if answer.logged:
                await tasks.in_turns(self._log(answer.logged), tasks.MOST_IN_A_TURN)
            if answer.parts is not None:
                await schedd.runtime.snapshots.answer(stream, answer.parts, ads=0)
            if answer.reply is not None:
                stream.hold(answer.reply)
            if answer.close:
                return

    @staticmethod
    async def _take_items(stream: Stream, connection: Connection) -> qmgmt_answers.Answer:
        """Take item rows as they come, and let others have their turn meanwhile."""
        part, is_last = await stream.receive_part()
        intake = connection.begin_items(Reader(part, stream.encrypted))
        try:
            while not is_last:
                await asyncio.sleep(0)
                part, is_last = await stream.receive_part()
                intake.take(part)
            return intake.end()
        finally:
            intake.drop()

    def _log(self, changes: Sequence[qmgmt_answers.LoggedChange]) -> Iterator[None]:
        """Write events 033, into the logs of the jobs that are still queued."""
        for change in changes:
            job = self._schedd.queue.jobs.get(change.job)
            if job is not None:
                self._schedd.events.changed(job, change.name, change.value, change.old)
            yield

    @staticmethod
    async def _finish(answer: qmgmt_answers.Answer) -> qmgmt_answers.Answer:
        """Let others have their turn while an answer is worked on."""
        while answer.steps is not None:
            answer = await tasks.in_turns(answer.steps, _STEPS_AT_A_TIME)
        return answer

    def _slot_of(self, job: JobId) -> ClassAd | None:
        claim = self._schedd.scheduler.claims.by_job.get(job)
        return None if claim is None else claim.slot

    # -- queries ----------------------------------------------------------------------------

    async def on_query(self, stream: Stream) -> None:
        """Answer QUERY_JOB_ADS: ads, each in its message, and the summary."""
        schedd = self._schedd
        request = (await stream.receive()).ad()
        now = schedd.now()
        try:
            query = queries.parse(
                request, self._schedd.actor(stream), only_my_jobs=schedd.settings.only_my_jobs
            )
        except RefusedError as refusal:
            await stream.send(Words(queries.failure(refusal.code, refusal.message, now)))
            return
        answer = Answer(schedd.queue, query, now, self._signature)
        if query.default_autoclusters:
            # Autoclusters are given numbers as they are asked for, and a child's would be lost.
            await self._number_autoclusters()
        ads = queries.extent(schedd.queue, query)
        await schedd.runtime.snapshots.answer(stream, answer.parts, ads=ads)

    def _signature(self, job: Job) -> tuple[int, tuple[str, ...]]:
        """Return a job's autocluster and the attributes that are significant."""
        idle = self._schedd.idle
        return idle.autocluster_of(job), idle.autoclusters.attributes

    async def _number_autoclusters(self) -> None:
        for number, job in enumerate(list(self._schedd.queue.jobs.values())):
            self._signature(job)
            if number % _JOBS_AT_A_TIME == 0:
                await asyncio.sleep(0)

    async def on_history(self, stream: Stream) -> None:
        """Answer QUERY_SCHEDD_HISTORY: ads of finished jobs, one by one or all in one message."""
        request = (await stream.receive()).ad()
        try:
            query = history_query.parse(request)
            file = self._schedd.history.file(query)
        except RefusedError as refusal:
            await stream.send(Words(history_query.failure(refusal.code, refusal.message)))
            return
        await send_history(self._schedd.runtime, stream, file, query)

    async def on_query_ads(self, stream: Stream) -> None:
        """Answer with ads of ours what a collector would be asked: schedd, submitters, slots.

        The slots are those that we hold a claim on.
        """
        query = Query.read(await stream.receive()).query
        match stream.command:
            case Command.QUERY_SCHEDD_ADS:
                found = [self._ads.own_ad(query.string("STATISTICS_TO_PUBLISH") or "")]
            case Command.QUERY_SUBMITTOR_ADS:
                found = self._ads.submitter_ads()
            case _:
                claims = self._schedd.scheduler.claims.by_id.values()
                found = [claim.slot for claim in claims]
        constraint = query.lookup("Requirements")
        shown = list(found)
        if constraint is not None:
            shown = await tasks.choose_in_turns(shown, partial(query.satisfies, constraint))
        await stream.send(QueryReply(shown))

    async def on_clear_dirty(self, stream: Stream) -> None:
        """Take note that changed attributes were seen, by somebody who may change the job."""
        message = ClearDirtyJobAttributes.read(await stream.receive())
        job = self._schedd.queue.job(message.cluster, message.proc)
        if job is not None and self._schedd.actor(stream).may_change(job.user):
            self._schedd.queue.clear_dirty(job.id)

    # -- actions ----------------------------------------------------------------------------

    async def on_action(self, stream: Stream) -> None:
        """Serve ACT_ON_JOBS: answer, wait for the client's word, commit, confirm.

        Both the look and the commits go slice by slice: 100,000 jobs take seconds. A crash in
        between leaves some of the jobs acted on, and the client without its confirmation.
        """
        schedd, actor = self._schedd, self._schedd.actor(stream)
        try:
            request = actions.parse((await stream.receive()).ad(), schedd.settings.most_releases)
            survey = actions.Survey(schedd.queue, request, actor)
            await tasks.in_turns(survey.look(), tasks.MOST_IN_A_TURN)
        except RemoteProtocolError as error:
            schedd.runtime.log(f"Refusing an action of {actor.user or 'nobody'}: {error}")
            await stream.send(Words(0))
            return
        await stream.send(Words(survey.answer))
        if not survey.succeeded or (await stream.receive()).integer() != 1:
            return
        plans: list[actions.Plan] = []
        try:
            await self._act(survey, request, actor, plans)
            if len(survey.jobs) <= _SEEN_TO_LEAVE:
                # Who asks for the queue right after a removal expects the jobs to be out of it.
                await self._follow(plans)
                await schedd.on_disk.settle()
                await self._departures.settle()
            await stream.send(Words(1))
        except StorageError as error:
            # Who wanted it is told that it has not happened to all; to the jobs of earlier slices
            # it has.
            schedd.runtime.log.problem(
                f"An action of {actor.user} cannot be committed for all of its "
                f"{len(survey.jobs)} jobs: {error}"
            )
            stream.hold(Words(0))
            await stream.send(ActOnJobsTrouble(error.message))
        finally:
            # What is committed is done, whether or not there was room for the rest.
            await self._follow(plans)

    async def _follow(self, plans: list[actions.Plan]) -> None:
        """Carry out what was committed, and take it off the list."""
        while plans:
            plan = plans.pop(0)
            for cluster, paused in plan.factories:
                with tasks.reported("What follows an action on a cluster"):
                    self._factories.on_paused(cluster, paused, plan.reason)
            with tasks.reported("What follows an action on jobs"):
                self._schedd.scheduler.orders.on_action(plan)
            await asyncio.sleep(0)

    async def _act(
        self,
        survey: actions.Survey,
        request: actions.Request,
        actor: Actor,
        plans: list[actions.Plan],
    ) -> None:
        """Commit an action and return when it is on disk; `plans` are what is still to follow."""
        schedd, clusters = self._schedd, survey.clusters
        releases = request.action is JobAction.RELEASE
        for start in range(0, max(1, len(survey.jobs)), actions.SLICE):
            jobs = survey.jobs[start : start + actions.SLICE]
            plan = actions.plan(schedd.queue, request, actor, schedd.now(), jobs, clusters)
            clusters = []
            try:
                schedd.queue.commit_asked(plan.transaction, schedd.runtime.log.problem)
            finally:
                # Also where the schedd is about to end: it is carried out.
                if plan.transaction.taken:
                    plans.append(plan)
            await asyncio.sleep(0)
            if releases:
                # Each may begin at once, and by then its log is to tell of its release.
                await schedd.journal.flush()
                await self._follow(plans)
        if not releases:
            await schedd.journal.flush()
