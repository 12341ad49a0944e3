"""Has the checkpoints deleted that jobs left at URLs, when they leave the queue.

A job's manifests are moved out of its folder before that is removed; the files themselves are
deleted beside the schedd, as the owner. How many jobs leave is the users' to say, and so is how
much each left: an owner has one process at a time, which deletes for many jobs, and there are
MAX_CHECKPOINT_CLEANUP_PROCS of them at most. Source: kettle.runtime.storage.checkpoint_cleanup.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import TYPE_CHECKING

from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import NotFoundError, RefusedError
from kettle.runtime import tasks
from kettle.runtime.storage import checkpoint_cleanup

if TYPE_CHECKING:
    from kettle.runtime.storage.checkpoint_cleanup import Unwanted
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd

# Limit: jobs whose checkpoints one process deletes, and the characters that name them to it.
MOST_JOBS = 100
_MOST_CHARACTERS = 64 * 1024


class CheckpointClearing:
    """The checkpoints of jobs that have left one schedd."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        # Each with the folder of what its runs left, where only that goes and the job stays.
        self._leaving: deque[tuple[Job, str]] = deque()
        self._setting: asyncio.Task[None] | None = None
        # What is to be deleted, by owner; who has waited longest is first.
        self._waiting: dict[str, deque[Unwanted]] = {}
        self._deleting: set[str] = set()

    def takes(self, job: Job) -> bool:
        """Have a job's checkpoints deleted and then its folder removed; False if it has none."""
        if job.ad.string("CheckpointDestination") is None:
            return False
        if not self._schedd.spool.manifest_folders(job):
            return False
        self._begin_setting(job)
        return True

    def takes_left(self, job: Job, folder: str) -> bool:
        """Do the same for a job that begins anew, with the `folder` of what its runs left."""
        if job.ad.string("CheckpointDestination") is None:
            return False
        self._begin_setting(job, folder)
        return True

    def _begin_setting(self, job: Job, folder: str = "") -> None:
        self._leaving.append((job, folder))
        if self._setting is None:
            self._setting = tasks.spawn(self._set_all_aside(), "manifests of checkpoints")

    async def settle(self) -> None:
        """Return when every manifest is out of the folder of its job."""
        while self._setting is not None:
            await asyncio.wait([self._setting])

    async def _set_all_aside(self) -> None:
        try:
            while self._leaving:
                job, left = self._leaving.popleft()
                spool = self._schedd.spool
                with tasks.reported("Setting aside the checkpoints of a job"):
                    await self._set_aside(job, [left] if left else spool.manifest_folders(job))
                if left:
                    spool.remove_aside(left)
                else:
                    spool.remove_job(job.id)
        finally:
            self._setting = None

    async def _set_aside(self, job: Job, folders: list[str]) -> None:
        """Move a job's manifests; a trouble with them keeps them, and nobody in the queue."""
        schedd, runtime = self._schedd, self._schedd.runtime
        try:
            account = schedd.accounts.of(job.user)
            # All of them come to one folder.
            folder = None
            for each in folders:
                moving = checkpoint_cleanup.set_aside(
                    runtime.privileges, account, schedd.spool.path, each, job.ad
                )
                folder = await tasks.in_turns(moving)
        except (OSError, RefusedError, NotFoundError) as error:
            spool = schedd.spool
            kept = " and ".join(map(spool.keep_aside, filter(spool.has_manifests, folders)))
            where = f". Their manifests are kept in {kept}" if kept else ""
            runtime.log.problem(f"Job {job.id} leaves checkpoints behind: {error}{where}")
            return
        found = checkpoint_cleanup.unwanted(job.ad, folder)
        if found is not None:
            self._waiting.setdefault(job.user, deque()).append(found)
            self._begin()

    def _begin(self) -> None:
        """Start a process for each owner whose turn it is, as far as there may be more of them."""
        config = self._schedd.runtime.config
        most = config.value(TransferKnobs.MAX_CHECKPOINT_CLEANUP_PROCS)
        for owner in [each for each in self._waiting if each not in self._deleting]:
            if len(self._deleting) >= most:
                return
            self._deleting.add(owner)
            tasks.spawn(self._delete_for(owner), "deletion of checkpoints")

    async def _delete_for(self, owner: str) -> None:
        waiting = self._waiting.pop(owner)
        with tasks.reported("Deleting the checkpoints of jobs"):
            left = await self._delete(owner, _take(waiting))
            waiting.extendleft(reversed(left))
        waiting.extend(self._waiting.pop(owner, ()))
        if waiting:
            self._waiting[owner] = waiting
        self._deleting.discard(owner)
        self._begin()

    async def _delete(self, owner: str, batch: list[Unwanted]) -> list[Unwanted]:
        """Delete checkpoints; return those that a process which was ended had not come to."""
        runtime = self._schedd.runtime
        limit = runtime.config.value(TransferKnobs.SCHEDD_CHECKPOINT_CLEANUP_TIMEOUT)
        command = checkpoint_cleanup.deletion_command(batch)
        try:
            account = self._schedd.accounts.of(owner)
            status = await checkpoint_cleanup.delete(runtime, account, command, limit)
        except (OSError, NotFoundError) as error:
            runtime.log.problem(f"Checkpoints of {owner}'s jobs are not deleted: {error}")
            return []
        left = _left(batch) if status else []
        again = left[1:] if os.WIFSIGNALED(status) else []
        for each in left[: len(left) - len(again)]:
            runtime.log(
                f"Not all checkpoints are deleted whose manifests are in {each.folder} "
                f"(status {status}): the rest is left to condor_preen -remove"
            )
        return again


def _take(waiting: deque[Unwanted]) -> list[Unwanted]:
    """Take what one process is to delete."""
    batch = [waiting.popleft()]
    characters = sum(map(len, batch[0]))
    while waiting and len(batch) < MOST_JOBS:
        characters += sum(map(len, waiting[0]))
        if characters > _MOST_CHARACTERS:
            break
        batch.append(waiting.popleft())
    return batch


def _left(batch: list[Unwanted]) -> list[Unwanted]:
    """Return those of a batch that have manifests yet: what is done has no folder."""
    return [each for each in batch if os.path.lexists(each.folder)]
