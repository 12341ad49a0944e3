"""The commands that give jobs to another manager and take them back; `exports` decides."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError
from kettle.runtime import tasks
from kettle.schedd.queue import exports
from kettle.schedd.services.export_folders import HANGING_SECONDS, ExportFolders, NotBegun
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    ExportJobs,
    ExportJobsReply,
    ImportJobs,
    UnexportJobs,
)

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.queue.actors import Actor
    from kettle.schedd.queue.job_queue import Job
    from kettle.schedd.queue.transaction import Transaction
    from kettle.schedd.services.parts import Schedd

# How much longer than its work a child may take to end.
_MORE_SECONDS = 2
# What the reference calls an export that failed.
EXPORT_FAILED = 4007
_UNKNOWN = (
    "Nobody knows whether the export job log came to be: its jobs are exported until its folder "
    "can be looked at"
)


class _NotThere(RefusedError):  # noqa: N818 - the name says what happened
    """An export without a log."""


class ExportCommands:
    """Handlers of the three commands."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        self._folders = ExportFolders(schedd.runtime)
        # One log that comes back is taken apart at a time.
        self._importing = asyncio.Lock()

    def register(self) -> None:
        """Answer the commands."""
        network = self._schedd.runtime.network
        network.register(Command.EXPORT_JOBS, self.on_export)
        network.register(Command.UNEXPORT_JOBS, self.on_unexport)
        network.register(Command.IMPORT_EXPORTED_JOB_RESULTS, self.on_import)

    def start(self) -> None:
        """End the exports that an earlier schedd began."""
        for (owner, log), jobs in exports.find_under_way(self._schedd.queue).items():
            tasks.spawn(self._settle(owner, log, jobs), f"an export to {log.path}")

    async def on_export(self, stream: Stream) -> None:
        """Mark the jobs, so that none begins meanwhile, and write them into a log of their own."""
        request = ExportJobs.read(await stream.receive()).request
        queue, actor = self._schedd.queue, self._schedd.actor(stream)
        try:
            chosen = exports.choose(queue, request, actor, "export")
            exports.check_exportable(chosen, self._schedd.scheduler.has_run)
            path = os.path.join(_folder(request), exports.LOG_NAME)
            spool = request.string("NewSpoolDir") or exports.NO_SPOOL
            text = exports.render_log(chosen, queue.next_cluster, self._schedd.now(), spool)
            data = text.encode("utf-8", "surrogateescape")
            log = exports.NewLog.of(path, data)
            await self._commit(exports.plan_export(queue, chosen, log))
            writing = tasks.spawn(self._write(actor.owner, log, data, chosen), f"a log {path}")
            await _within(writing, HANGING_SECONDS + _MORE_SECONDS)
        except (KettleError, OSError) as error:
            await stream.send(ExportJobsReply(_failure(error, EXPORT_FAILED)))
            return
        answer = _counts(chosen)
        answer["Log"], answer["User"] = path, chosen.user
        await stream.send(ExportJobsReply(answer))

    async def on_unexport(self, stream: Stream) -> None:
        """Forget that the jobs were given away."""
        request = UnexportJobs.read(await stream.receive()).request
        queue, actor = self._schedd.queue, self._schedd.actor(stream)
        try:
            chosen = exports.choose(queue, request, actor, "unexport")
            await self._commit(exports.plan_unexport(queue, chosen))
            for cluster in chosen.clusters:
                # Of those that were removed meanwhile nobody else brings the end any more.
                self._schedd.scheduler.see_out(list(cluster.procs.values()))
        except (KettleError, OSError) as error:
            await stream.send(ExportJobsReply(_failure(error)))
            return
        await stream.send(ExportJobsReply(_counts(chosen)))

    async def on_import(self, stream: Stream) -> None:
        """Take over what became of exported jobs."""
        request = ImportJobs.read(await stream.receive()).request
        actor = self._schedd.actor(stream)
        try:
            path = os.path.join(_folder(request), exports.LOG_NAME)
            async with self._folders.turn(actor.owner):
                brought = await self._read(actor, path)
                count = await self._take_over(brought)
        except (KettleError, OSError) as error:
            await stream.send(ExportJobsReply(_failure(error)))
            return
        await stream.send(ExportJobsReply(ClassAd({"ActionResult": 1, "TotalJobAds": count})))

    async def _commit(self, transaction: Transaction) -> None:
        if transaction:
            self._schedd.queue.commit(transaction, refusable=True)
            await self._schedd.journal.flush()

    async def _take_over(self, brought: exports.Brought) -> int:
        """Commit what came back in pieces; return of how many jobs."""
        count = 0
        queue = self._schedd.queue
        for transaction, jobs in exports.plan_import(queue, brought):
            await self._commit(transaction)
            count += jobs
        there = (exports.job_of(queue, key) for key in brought)
        self._schedd.scheduler.see_out([job for job in there if job is not None])
        return count

    async def _write(
        self, owner: str, log: exports.NewLog, data: bytes, chosen: exports.Chosen
    ) -> Exception | None:
        """Write the log and then what became of it; return why it did not come to be."""
        jobs = [job for cluster in chosen.clusters for job in cluster.procs.values()]
        # What is known is not looked for: the log may be on its way elsewhere.
        is_there: bool | None = True
        failure: Exception | None = None
        try:
            with self._opening("export"):
                await self._folders.create(owner, log.path, data)
        except _NotThere as error:
            is_there, failure = False, error
        except RefusedError as error:
            # Whoever was killed at the very end has written all of it.
            is_there, failure = None, error
        try:
            if is_there is None:
                is_there = await self._folders.has(owner, log)
            await self._end(log, jobs, is_there=is_there)
        except (KettleError, OSError) as error:
            self._schedd.runtime.log.problem(f"The export to {log.path}: {error}")
            tasks.spawn(self._settle(owner, log, jobs, is_there), f"an export to {log.path}")
            return error if is_there is not None else RefusedError(_UNKNOWN)
        return None if is_there else failure

    async def _end(self, log: exports.NewLog, jobs: list[Job], *, is_there: bool) -> None:
        plan = exports.plan_exported if is_there else exports.plan_not_exported
        await self._commit(plan(self._schedd.queue, jobs, log))

    async def _settle(
        self, owner: str, log: exports.NewLog, jobs: list[Job], is_there: bool | None = None
    ) -> None:
        """Write what became of an export; find out whether its log came to be where none knows.

        However long its folder hangs, until then its jobs are exported: another manager may have
        them.
        """
        while True:
            try:
                if is_there is None:
                    is_there = await self._folders.has(owner, log)
                await self._end(log, jobs, is_there=is_there)
            except (KettleError, OSError) as error:
                self._schedd.runtime.log.problem(f"The export to {log.path}: {error}")
            jobs = exports.under_way(self._schedd.queue, jobs, log)
            if not jobs:
                return
            await asyncio.sleep(HANGING_SECONDS)

    async def _read(self, actor: Actor, path: str) -> exports.Brought:
        """Read what comes back, and let others have their turn meanwhile."""
        schedd = self._schedd
        with self._folders.memory() as shared:
            with self._opening("import"):
                pieces = await self._folders.read(actor.owner, path, shared)
            steps = exports.read_log(schedd.queue, pieces, actor, schedd.queue_settings)
            # Not before: a folder that hangs keeps its user waiting, and nobody else.
            async with self._importing:
                while True:
                    try:
                        next(steps)
                    except StopIteration as over:
                        brought: exports.Brought = over.value
                        return brought
                    await asyncio.sleep(0)

    @contextmanager
    def _opening(self, what: str) -> Iterator[None]:
        """Say of a log that fails what the reference says; why, our own log says.

        Only of what the user can mend himself he is told: a log of an export before.
        """
        try:
            yield
        except (KettleError, OSError) as error:
            self._schedd.runtime.log.problem(f"The {what} log: {error}")
            said = f"Failed to initialize {what} job log"
            if isinstance(error, NotBegun):
                why = f": {exports.LOG_NAME} exists already" if error.was_there else ""
                raise _NotThere(said + why) from None
            raise RefusedError(said) from None


async def _within(writing: asyncio.Task[Exception | None], seconds: float) -> None:
    """Raise what a task returns; it goes on where it takes longer, or nobody waits any more."""
    await asyncio.wait({writing}, timeout=seconds)
    if not writing.done():
        raise RefusedError("The folder hangs: its jobs are exported until it can be looked at")
    failure = await writing
    if failure is not None:
        raise failure


def _folder(request: ClassAd) -> str:
    folder = request.string("ExportDir") or ""
    if not os.path.isabs(folder):
        raise KettleError(f"ExportDir is {folder!r}, which is no absolute path")
    if any(letter < " " or letter == "\x7f" for letter in folder):
        # What is noted of it in the queue log is one line.
        raise KettleError(f"ExportDir is {folder!r}, which holds a control character")
    return folder


def _counts(chosen: exports.Chosen) -> ClassAd:
    return ClassAd(
        {
            "ActionResult": 1,
            "TotalJobAds": chosen.jobs,
            "TotalClusterAds": len(chosen.clusters),
        }
    )


def _failure(error: Exception, code: int = 1) -> ClassAd:
    return ClassAd({"ActionResult": 0, "ErrorCode": code, "ErrorString": str(error)})
