"""A job's checkpoints at a URL, whose manifests are what its directory in the spool has of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING

from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import RefusedError
from kettle.runtime import tasks
from kettle.runtime.storage import checkpoint_cleanup
from kettle.runtime.storage.small_files import AT_EASE, read_regular
from kettle.shadow.services.checkpoints import IntermediateStore
from kettle.steps import take_all
from kettle.transfer.checkpoints import (
    MAX_MANIFEST,
    failure_name,
    manifest_name,
    newest,
    parse_by_steps,
    place_of,
    plan_restore,
)
from kettle.transfer.items import Item

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.shadow.services.run import Run

# Limit: manifests that are read before a job begins anew.
_TRIED = 3


class UrlCheckpoints:
    """The checkpoints of one job."""

    def __init__(self, shadow: Run) -> None:
        self._runtime = shadow.host.runtime
        self._job = shadow.job
        self._store = IntermediateStore(shadow)

    def restored(self) -> Generator[None, None, Iterable[Item]]:
        """Return what brings back a checkpoint that lies at a URL: the newest whole one.

        A manifest may be any file that a user made, also none that has an end: it is read by steps.
        """
        destination = self._job.string("CheckpointDestination")
        folder = self._store.existing()
        if not destination or not folder:
            return ()
        for number in sorted(newest(os.listdir(folder), _TRIED), reverse=True):
            path = os.path.join(folder, manifest_name(number))
            try:
                opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | AT_EASE)
                entries = yield from parse_by_steps(read_regular(opened, MAX_MANIFEST))
            except (OSError, RefusedError):
                # An older one may be whole.
                continue
            place = place_of(destination, self._job.string("GlobalJobId") or "", number)
            return plan_restore(place, path, number, entries)
        return ()

    def discard(self, number: int) -> None:
        """Have a checkpoint that lies at a URL, and is damaged there, not used again."""
        folder = self._store.existing()
        if folder:
            with contextlib.suppress(FileNotFoundError):
                os.rename(
                    os.path.join(folder, manifest_name(number)),
                    os.path.join(folder, failure_name(number)),
                )

    def clear(self, count: int = 0) -> None:
        """Have checkpoints at a URL deleted: those that failed, and all but the last `count`.

        With none all that did not fail stay. It goes on beside the shadow, and what cannot be
        deleted now waits in the spool.
        """
        folder = self._store.existing()
        if not folder or not self._job.string("CheckpointDestination"):
            return
        names = os.listdir(folder)
        keep = newest(names, count or len(names))
        runtime, owner = self._runtime, self._runtime.privileges.daemon
        spool = folder.rsplit("/", 3)[0]
        moving = checkpoint_cleanup.set_aside(
            runtime.privileges, owner, spool, folder, self._job, keep
        )
        found = checkpoint_cleanup.unwanted(self._job, take_all(moving))
        if found is not None:
            command = checkpoint_cleanup.deletion_command([found])
            tasks.spawn(_delete(runtime, command), "deletion of checkpoints")


async def _delete(runtime: Runtime, command: Sequence[str]) -> None:
    """Delete checkpoints as the owner that this process is."""
    limit = runtime.config.value(TransferKnobs.SHADOW_CHECKPOINT_CLEANUP_TIMEOUT)
    try:
        await checkpoint_cleanup.delete(runtime, runtime.privileges.daemon, command, limit)
    except OSError as error:
        runtime.log.problem(f"Old checkpoints are not deleted: {error}")
