"""Jobs' files at the access point, in and out: SPOOL_JOB_FILES and TRANSFER_DATA.

What is sent and what changes in the ads is `spooling`'s and `transfer`'s; here are the
connection, the folders and the owners. Files arrive in a folder beside the final one, which takes
its place when all are there and on disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.errors import KettleError, NotFoundError, RefusedError
from kettle.runtime import tasks
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.mounts import machine_mounts
from kettle.runtime.storage.owned_files import NearFiles
from kettle.runtime.storage.removal import remove_as_root
from kettle.runtime.storage.second_names import take_over
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.schedd.job_machine import FINISHED
from kettle.schedd.queue import spooling
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.selection import look, parse_constraint
from kettle.transfer.go_ahead import Terms
from kettle.transfer.landing import own_logs, plan_landing
from kettle.transfer.outcome import Failure
from kettle.transfer.plan import Plan, executable_name, plan_in_place
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    SpoolJobFiles,
    SpoolJobFilesPlain,
    SpoolJobIds,
    SpoolReply,
    TransferData,
    TransferDataCount,
    TransferDataJob,
    TransferDataPlain,
)

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.runtime.storage.bookings import Booking
    from kettle.schedd.services.departing import DepartingJobs
    from kettle.schedd.services.parts import Schedd

TRANSFER_SECONDS = 600.0
# Files that are looked at before others have their turn.
_LOOKS_AT_A_TIME = 100
# What the other side is told where files could not be moved.
_INPUT = int(HoldReasonCode.TransferInputError)
_OUTPUT = int(HoldReasonCode.TransferOutputError)


class SpoolCommands:
    """Handlers of the two commands and their plain forms."""

    def __init__(
        self, schedd: Schedd, departures: DepartingJobs, begin_anew: Callable[[Job], object]
    ) -> None:
        self._schedd = schedd
        # Takes from a job what its runs left.
        self._begin_anew = begin_anew
        self._departures = departures
        self._arriving: set[JobId] = set()

    def register(self) -> None:
        """Answer the commands."""
        network = self._schedd.runtime.network
        network.register(Command.SPOOL_JOB_FILES_WITH_PERMS, self.on_spool)
        network.register(Command.SPOOL_JOB_FILES, self.on_spool)
        network.register(Command.TRANSFER_DATA_WITH_PERMS, self.on_fetch)
        network.register(Command.TRANSFER_DATA, self.on_fetch)
        network.register(Command.DELEGATE_GSI_CRED_SCHEDD, self.on_proxy)

    async def on_proxy(self, stream: Stream) -> None:
        """Take no proxy certificate, which nothing here would use.

        Compat: that the command is known lets a client without a certificate find that out, in its
        own words (test_a_proxy_that_is_not_there_is_the_client_s_complaint).
        """
        await stream.receive()
        self._schedd.runtime.log("No proxy certificate is taken for a job")

    # -- in ---------------------------------------------------------------------------------

    async def on_spool(self, stream: Stream) -> None:
        """Take the input files of submitted jobs and release these."""
        schedd = self._schedd
        actor = schedd.actor(stream)
        first = await stream.receive()
        if stream.command == Command.SPOOL_JOB_FILES:
            count = SpoolJobFilesPlain.read(first).jobs
        else:
            count = SpoolJobFiles.read(first).jobs
        ids = SpoolJobIds.read(await stream.receive()).ids
        stream.timeout = TRANSFER_SECONDS
        try:
            jobs = self._jobs_of(ids, count, actor)
            for job in jobs:
                await self._take(stream, job)
        except (KettleError, OSError) as error:
            schedd.runtime.log(f"Spooling for {actor.user} failed: {error}")
            await stream.send(SpoolReply(0))
            return
        await schedd.journal.flush()
        await stream.send(SpoolReply(1))
        schedd.want_matches()

    def _jobs_of(self, ids: Sequence[tuple[int, int]], count: int, actor: Actor) -> list[Job]:
        if len(ids) != count:
            raise RefusedError(f"{count} jobs were announced and {len(ids)} named")
        jobs = []
        for cluster, proc in ids:
            job = self._schedd.queue.job(cluster, proc)
            if job is None:
                raise NotFoundError(f"there is no job {cluster}.{proc}")
            if not actor.may_change(job.user):
                raise RefusedError(f"{actor.user} may not change job {job.id}")
            self._check_waits(job)
            jobs.append(job)
        return jobs

    def _check_waits(self, job: Job) -> None:
        """Raise RefusedError for a job of which something runs, or is over.

        Compat: the reference changes the folder under a job that runs, whose log and output are
        gone then (test_files_are_not_spooled_for_a_job_that_runs).
        """
        if job.status not in {JobStatus.IDLE, JobStatus.HELD}:
            raise RefusedError(f"job {job.id} is neither idle nor held: its files stay as they are")
        if self._schedd.scheduler.orders.has_run(job):
            raise RefusedError(f"a run of job {job.id} is not over yet: its files stay as they are")

    def _check_still_waits(self, job: Job) -> None:
        """Raise the same as `_check_waits`, of a job that has not left meanwhile."""
        if job.id in self._schedd.queue.jobs:
            self._check_waits(job)

    async def _take(self, stream: Stream, job: Job) -> None:
        if job.id in self._arriving:
            raise RefusedError(f"files of job {job.id} are just arriving")
        folder = self._schedd.spool.job_folder(job.id)
        self._arriving.add(job.id)
        try:
            with self._schedd.spool.booking() as booking:
                await self._receive(stream, job, folder, booking)
        finally:
            try:
                privileges = self._schedd.runtime.privileges
                await tasks.in_turns(remove_as_root(privileges, folder + folder_swap.ARRIVING))
            finally:
                self._arriving.discard(job.id)

    async def _receive(self, stream: Stream, job: Job, folder: str, booking: Booking) -> None:
        """Receive a job's files into its folder, have them on disk, and say so in its ad."""
        schedd = self._schedd
        runtime = schedd.runtime
        started = schedd.now()
        files = schedd.accounts.files_of(job.user, booking)
        arriving = folder + folder_swap.ARRIVING
        await tasks.in_turns(remove_as_root(runtime.privileges, arriving))
        # The folder above goes with the last one in it: nothing may be waited for in between.
        runtime.files.make_folder(os.path.dirname(folder))
        os.mkdir(arriving, 0o700)
        files.give(arriving)
        landing = plan_landing(job.ad, arriving, spooled=True)
        terms = Terms("SCHEDD", peer=f"<{stream.remote_name}>", code=_INPUT)
        begun = partial(self._begun, job, booking)
        outcome = await stream.run(download(landing.path_for, files, terms, begun=begun))
        if outcome.failure is not None:
            raise RefusedError(outcome.failure.reason)
        # Where nothing travels further the program is executed right here.
        files.make_executable(os.path.join(arriving, executable_name(job.ad)))
        finished = schedd.now()
        # What the job leaves as it is must not look like its output, nor a quick job's output like
        # input: the time to compare with has whole seconds.
        await tasks.in_turns(files.date_back(arriving, finished))
        # Its log has what happened to it so far, also where a file of that name was sent.
        with files.as_owner():
            for name in own_logs(job.ad):
                take_over(os.path.join(folder, name), os.path.join(arriving, name))
        # Who sends his files once more wants them used, and not what was made of the former ones: a
        # run that begins as soon as they are there finds nothing else.
        await folder_swap.put_in_place(
            runtime.files,
            runtime.privileges,
            folder,
            check=partial(self._check_still_waits, job),
            swapped=partial(self._begin_anew, job),
        )
        if job.id not in schedd.queue.jobs:
            schedd.spool.remove_job(job.id)
            raise NotFoundError(f"job {job.id} left while its files arrived")
        if "StageInStart" not in job.ad:
            # It had no folder here: where it began meanwhile its run is elsewhere, and so its files
            # come home.
            try:
                self._check_waits(job)
            except RefusedError:
                # Its next run would find them there.
                schedd.spool.remove_job(job.id)
                raise
        was_new = spooling.is_waiting_for_files(job.ad) and "StageInFinish" not in job.ad
        changes = spooling.finished(job.ad, folder, started, finished)
        schedd.queue.update(job.id, changes)
        if was_new:
            # Its log is in the spool, so only now there is a place for its first event.
            schedd.events.submitted(job)

    def _begun(self, job: Job, booking: Booking, final: bool, size: int) -> Failure | None:
        """Book room for what is about to come; say why it cannot be had, None if it may come.

        Compat: the reference takes what its disk takes; ours keeps RESERVED_DISK free for the
        queue log (tests/pool/test_reserve.py).
        """
        del final
        room = self._schedd.spool.room_kib()
        # Whole megabytes, rounded up: it is at least one less, and what comes is counted anyway.
        announced = max(0, (job.ad.integer("TransferInputSizeMB") or 0) - 1) << 20
        announced = max(announced, size)
        if room is not None and (room == 0 or announced > room << 10):
            text = f"the spool has room for {room} KiB only; try again later"
            return Failure(text, _INPUT, errno.ENOSPC)
        booking.left = announced
        return None

    # -- out --------------------------------------------------------------------------------

    async def on_fetch(self, stream: Stream) -> None:
        """Send back the output files of the jobs that a constraint means."""
        schedd = self._schedd
        actor = schedd.actor(stream)
        first = await stream.receive()
        if stream.command == Command.TRANSFER_DATA:
            constraint = TransferDataPlain.read(first).constraint
        else:
            constraint = TransferData.read(first).constraint
        try:
            meant = parse_constraint(constraint)
            found = await tasks.choose_in_turns(look(schedd.queue, meant), bool)
        except RefusedError as error:
            schedd.runtime.log(f"{actor.user} asked for files: {error}")
            return
        jobs = [
            job
            for job in found
            if job is not None
            and job.id in schedd.queue.jobs
            and actor.may_change(job.user)
            and job.id not in self._departures.leaving
            and (spooling.has_folder(job.ad) or not self._is_far(job))
        ]
        stream.timeout = TRANSFER_SECONDS
        ended = self._note_beginning(jobs)
        await stream.send(TransferDataCount(len(jobs)))
        # What one side could not read or write is still here only: such a job stays.
        given = [job.id for job in jobs if await self._give(stream, job)]
        reader = await stream.receive()
        if reader.remaining and reader.integer() == 1:
            self._note_fetched(ended.intersection(given))

    def _is_far(self, job: Job) -> bool:
        """Whether what a job that was not spooled has is on a server that may hang.

        Limit: nothing is fetched of it, as nobody else would be served as long as it hangs; its
        user has it there (test_what_may_hang_is_not_fetched).
        """
        return machine_mounts().is_far(job.ad.string("Iwd") or "/")

    def _limits(self, job: Job) -> AccessLimits | None:
        """Return where a job's files may be fetched from: where its shadow may read them.

        Compat: the reference's schedd looks at no limit there
        (test_what_a_shadow_may_not_read_is_not_fetched).
        """
        schedd = self._schedd
        fence = job.ad.string("LimitDirectoryAccess") or ""
        spooled = schedd.spool.job_folder(job.id)
        return AccessLimits.of(schedd.settings.limited_to, fence, spooled)

    async def _give(self, stream: Stream, job: Job) -> bool:
        """Send a job's output; False if not all of it arrived."""
        await stream.send(TransferDataJob(job.ad))
        async with contextlib.AsyncExitStack() as stack:
            plan, files = Plan((), 0), LocalFiles()
            objection: Failure | None = None
            try:
                plan, files = await self._plan_output(job, stack)
            except (RefusedError, NotFoundError, OSError) as error:
                # One job whose files cannot be sent keeps nobody from the next one's.
                objection = Failure(str(error), _OUTPUT)
            terms = Terms("SCHEDD", peer=f"<{stream.remote_name}>", code=_OUTPUT)
            size = plan.sandbox_bytes
            dialog = upload(
                plan.items, files, terms, final=True, sandbox_bytes=size, objection=objection
            )
            sent = await stream.run(dialog)
        if sent.failure is not None:
            reason = sent.failure.reason
            self._schedd.runtime.log(f"The output of {job.id} was not fetched: {reason}")
        return sent.success

    async def _plan_output(
        self, job: Job, stack: contextlib.AsyncExitStack
    ) -> tuple[Plan, LocalFiles]:
        """Return what is sent of a job, and who reads it, as long as the stack is open."""
        schedd = self._schedd
        if spooling.has_folder(job.ad):
            owned = schedd.accounts.files_of(job.user)
            runs = schedd.scheduler.orders.has_run(job)
            folders = await stack.enter_async_context(
                schedd.spool.output_folders(job, owned, runs=runs)
            )
            steps = spooling.plan_output(job.ad, folders, owned)
        else:
            account = schedd.accounts.of(job.user)
            owned = NearFiles(schedd.runtime.privileges, account, self._limits(job))
            steps = plan_in_place(job.ad, owned)
        return await tasks.in_turns(steps, _LOOKS_AT_A_TIME), owned

    def _note_beginning(self, jobs: Sequence[Job]) -> frozenset[JobId]:
        """Note that output is being fetched; return of which jobs, those that are over.

        Who looks at what any other has left so far has not fetched its output.
        """
        ended = frozenset(job.id for job in jobs if job.status in FINISHED)
        for job_id in ended:
            self._schedd.queue.update(job_id, {"StageOutStart": str(self._schedd.now())})
        return ended

    def _note_fetched(self, jobs: Collection[JobId]) -> None:
        schedd = self._schedd
        for job_id in jobs:
            if job_id in schedd.queue.jobs:
                schedd.queue.update(job_id, {"StageOutFinish": str(schedd.now())})
        present = [schedd.queue.jobs[job] for job in jobs if job in schedd.queue.jobs]
        # Compat: a job that only waited for its output to be fetched leaves now, the reference's at
        # its next periodic look (test_spooled_output_is_fetched).
        schedd.scheduler.policy.see_out(present)
