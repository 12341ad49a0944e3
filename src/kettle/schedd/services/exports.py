"""The commands that give jobs to another manager and take them back; `exports` decides."""

from __future__ import annotations

import asyncio
import errno
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.schedd.queue import exports
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
    from kettle.schedd.queue.transaction import Transaction
    from kettle.schedd.services.parts import Schedd

# Limit: a queue log that comes back is no longer than this, and one is read at a time.
_LONGEST_LOG = 256 * 1024 * 1024
# What is read of it before others have their turn.
_PIECE_BYTES = 64 * 1024
# How long a folder may hang, and keep others from exporting.
_ASIDE_SECONDS = 60.0
# Where what was read ends, for the process that did not read it.
_END = struct.Struct("<Q")

_EXISTS = os.strerror(errno.EEXIST)

# What the reference calls an export that failed.
EXPORT_FAILED = 4007


class ExportCommands:
    """Handlers of the three commands."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        # One folder of a user's at a time, and one log that comes back.
        self._moving = asyncio.Lock()
        self._importing = asyncio.Lock()

    def register(self) -> None:
        """Answer the commands."""
        network = self._schedd.runtime.network
        network.register(Command.EXPORT_JOBS, self.on_export)
        network.register(Command.UNEXPORT_JOBS, self.on_unexport)
        network.register(Command.IMPORT_EXPORTED_JOB_RESULTS, self.on_import)

    async def on_export(self, stream: Stream) -> None:
        """Mark the jobs, so that none begins meanwhile, and write them into a log of their own."""
        request = ExportJobs.read(await stream.receive()).request
        queue, actor = self._schedd.queue, self._schedd.actor(stream)
        try:
            chosen = exports.choose(queue, request, actor, "export")
            exports.check_exportable(chosen)
            path = os.path.join(_folder(request), exports.LOG_NAME)
            text = exports.render_log(chosen, queue.next_cluster, self._schedd.now())
            await self._commit(exports.plan_export(queue, chosen))
            try:
                await self._write(actor, path, text.encode("utf-8", "surrogateescape"))
            except (KettleError, OSError):
                await self._commit(exports.plan_unexport(queue, chosen))
                raise
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
            async with self._importing:
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
        for transaction, jobs in exports.plan_import(self._schedd.queue, brought):
            await self._commit(transaction)
            count += jobs
        return count

    def _files(self, actor: Actor) -> OwnedFiles:
        return OwnedFiles.of(self._schedd.runtime.privileges, actor.owner)

    async def _write(self, actor: Actor, path: str, data: bytes) -> None:
        """Write the log of its own.

        Compat: the reference appends to a log that is there already; ours refuses it. Where the
        daemon cannot switch, that one may be the queue's
        (test_an_export_replaces_nothing_and_follows_no_link).
        """
        files = self._schedd.runtime.files

        def write() -> None:
            with self._files(actor).as_owner():
                files.create(path, data)

        await self._do_aside(write, "export")

    async def _read(self, actor: Actor, path: str) -> exports.Brought:
        """Read what comes back, and let others have their turn meanwhile."""
        schedd = self._schedd
        # Of both processes; a page of it costs memory when it is written.
        with mmap.mmap(-1, _LONGEST_LOG + _PIECE_BYTES) as shared:

            def read() -> None:
                with self._files(actor).as_owner():
                    file = schedd.runtime.files.open_to_read(path, limit=_LONGEST_LOG)
                with file:
                    shared.seek(_PIECE_BYTES)
                    # One that grows while it is read has an end, too.
                    pieces = iter(partial(file.read, _PIECE_BYTES), b"")
                    for piece in islice(pieces, _LONGEST_LOG // _PIECE_BYTES):
                        shared.write(piece)
                end = shared.tell()
                shared.seek(0)
                shared.write(_END.pack(end))

            await self._do_aside(read, "import")
            (end,) = _END.unpack_from(shared)
            pieces = (
                shared[at : min(end, at + _PIECE_BYTES)]
                for at in range(_PIECE_BYTES, end, _PIECE_BYTES)
            )
            steps = exports.read_log(schedd.queue, pieces, actor, schedd.queue_settings)
            while True:
                try:
                    next(steps)
                except StopIteration as over:
                    brought: exports.Brought = over.value
                    return brought
                await asyncio.sleep(0)

    async def _do_aside(self, work: Callable[[], None], what: str) -> None:
        """Work in a user's folder in a child of ours: it may lie where every look at it hangs."""
        async with self._moving:
            with self._opening(what):
                async with asyncio.timeout(_ASIDE_SECONDS):
                    await self._schedd.runtime.snapshots.run(lambda: work, f"an {what}")

    @contextmanager
    def _opening(self, what: str) -> Iterator[None]:
        """Say of a log that fails what the reference says; why, our own log says.

        Only of what the user can mend himself he is told: a log of an export before.
        """
        try:
            yield
        except (KettleError, OSError) as error:
            self._schedd.runtime.log.problem(f"The {what} log: {error}")
            # Of a child's error there are only the words.
            why = f": {exports.LOG_NAME} exists already" if _EXISTS in str(error) else ""
            raise RefusedError(f"Failed to initialize {what} job log{why}") from None


def _folder(request: ClassAd) -> str:
    folder = request.string("ExportDir") or ""
    if not os.path.isabs(folder):
        raise KettleError(f"ExportDir is {folder!r}, which is no absolute path")
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
