"""The commands that give jobs to another manager and take them back; `exports` decides."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError
from kettle.runtime import tasks
from kettle.schedd.queue import exports, imports
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
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.queue.transaction import Transaction
    from kettle.schedd.services.parts import Schedd

# Ads that are rendered, and jobs that are seen out, before others have their turn.
_RENDERED_TOGETHER, _SEEN_OUT_TOGETHER = 100, 100
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
        self._folders = ExportFolders(schedd.runtime, schedd.accounts)
        # Nobody gives jobs away, or takes them back, while somebody marks his.
        self._marking = asyncio.Lock()
        self._last_birth = schedd.now()
        # No other schedd's exports are taken for ours, though they be born together.
        self._number = int.from_bytes(os.urandom(4), "little") * exports.SERIES + 1
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
        """Give jobs to another manager, in a log of their own."""
        request = ExportJobs.read(await stream.receive()).request
        actor = self._schedd.actor(stream)
        try:
            path = os.path.join(_folder(request), exports.LOG_NAME)
            spool = request.string("NewSpoolDir") or exports.NO_SPOOL
            steps = exports.choose(self._schedd.queue, request, actor, "export")
            chosen = await tasks.in_turns(steps)
            # It goes on where nobody waits for it any more: jobs are not left marked.
            log = exports.NewLog(path, self._birth(), self._number)
            writing = tasks.spawn(self._export(actor.user, log, spool, chosen), f"a log {path}")
            await _within(writing, HANGING_SECONDS + _MORE_SECONDS)
        except (KettleError, OSError) as error:
            await stream.send(ExportJobsReply(_failure(error, EXPORT_FAILED)))
            return
        answer = _counts(chosen)
        answer["Log"], answer["User"] = path, chosen.user
        await stream.send(ExportJobsReply(answer))

    def _birth(self) -> int:
        """Return when a log is born: later than all others, also than what a schedd before made."""
        self._last_birth = max(self._schedd.now(), self._last_birth + 1)
        return self._last_birth

    async def on_unexport(self, stream: Stream) -> None:
        """Forget that the jobs were given away."""
        request = UnexportJobs.read(await stream.receive()).request
        queue, actor = self._schedd.queue, self._schedd.actor(stream)
        try:
            chosen = await tasks.in_turns(exports.choose(queue, request, actor, "unexport"))
            async with self._marking:
                await self._commit_all(exports.unmark(queue, chosen))
            # Of those that were removed meanwhile nobody else brings the end any more.
            await self._see_out(_jobs_of(chosen))
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
            async with self._folders.turn(actor.user):
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

    async def _commit_all(self, transactions: Iterator[Transaction]) -> None:
        """Commit one after the other, with the others' turns in between; all are on disk then."""
        for transaction in transactions:
            if transaction:
                self._schedd.queue.commit(transaction, refusable=True)
            await asyncio.sleep(0)
        await self._schedd.journal.flush()

    async def _see_out(self, jobs: list[Job]) -> None:
        for start in range(0, len(jobs), _SEEN_OUT_TOGETHER):
            self._schedd.scheduler.policy.see_out(jobs[start : start + _SEEN_OUT_TOGETHER])
            await asyncio.sleep(0)

    async def _take_over(self, brought: imports.Brought) -> int:
        """Commit what came back in pieces; return of how many jobs."""
        count = 0
        queue = self._schedd.queue
        for transaction, jobs in imports.plan_import(queue, brought):
            await self._commit(transaction)
            await asyncio.sleep(0)
            count += jobs
        there = (exports.job_of(queue, key) for key in brought)
        await self._see_out([job for job in there if job is not None])
        return count

    async def _export(
        self, owner: str, log: exports.NewLog, spool: str, chosen: exports.Chosen
    ) -> Exception | None:
        """Mark the jobs, so that none begins meanwhile, and write their log; return what failed.

        No log is there before all of its jobs are marked on disk, and each mark names its log:
        whoever dies in between leaves jobs of which a look at that tells who has them.
        """
        queue, has_run = self._schedd.queue, self._schedd.scheduler.orders.has_run
        try:
            async with self._marking:
                await tasks.in_turns(exports.check_exportable(chosen, has_run))
                await self._commit_all(exports.mark(queue, chosen, log, has_run))
            pieces = await self._render(exports.render_log(queue, chosen, log, spool))
        except Exception as error:  # noqa: BLE001 - it is returned
            if not isinstance(error, KettleError | OSError):
                self._schedd.runtime.log.problem(f"The export to {log.path}: {error!r}")
            await self._know(owner, log, chosen, is_there=False)
            return error
        return await self._write(owner, log, pieces, chosen)

    async def _render(self, ads: Iterator[str]) -> list[bytes]:
        """Return the pieces of a log, with the others' turns in between."""
        pieces: list[bytes] = []
        while texts := list(islice(ads, _RENDERED_TOGETHER)):
            pieces.append("".join(texts).encode("utf-8", "surrogateescape"))
            await asyncio.sleep(0)
        return pieces

    async def _write(
        self, owner: str, log: exports.NewLog, pieces: list[bytes], chosen: exports.Chosen
    ) -> Exception | None:
        """Write the log and then what became of it; return why it did not come to be."""
        # What is known is not looked for: the log may be on its way elsewhere.
        is_there: bool | None = True
        failure: Exception | None = None
        try:
            with self._opening("export"):
                await self._folders.create(owner, log, pieces)
        except _NotThere as error:
            is_there, failure = False, error
        except RefusedError as error:
            # Whoever was killed at the very end has written all of it.
            is_there, failure = None, error
        pieces.clear()
        return await self._know(owner, log, chosen, is_there=is_there, failure=failure)

    async def _know(
        self,
        owner: str,
        log: exports.NewLog,
        chosen: exports.Chosen,
        *,
        is_there: bool | None,
        failure: Exception | None = None,
    ) -> Exception | None:
        """Note what became of an export, now or when it can be known; return what failed."""
        jobs = _jobs_of(chosen)
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
        await self._commit_all(plan(self._schedd.queue, jobs, log))

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

    async def _read(self, actor: Actor, path: str) -> imports.Brought:
        """Read what comes back, and let others have their turn meanwhile."""
        schedd = self._schedd
        with self._folders.memory() as shared:
            with self._opening("import"):
                pieces = await self._folders.read(actor.user, path, shared)
            steps = imports.read_log(schedd.queue, pieces, actor, schedd.queue_settings)
            # Not before: a folder that hangs keeps its user waiting, and nobody else.
            async with self._importing:
                brought: imports.Brought = await tasks.in_turns(steps)
                return brought

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


def _jobs_of(chosen: exports.Chosen) -> list[Job]:
    return [job for cluster in chosen.clusters for job in cluster.procs.values()]


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
