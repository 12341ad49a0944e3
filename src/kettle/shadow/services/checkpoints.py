"""Where the files of an unfinished job wait for its next run: a directory of its own in the spool.

A transfer that is not the final one (a checkpoint, or what an evicted job leaves) is received into
a directory beside it, which takes its place only when everything has arrived and is on disk: a
transfer that breaks off leaves the older checkpoint as it was. The schedd removes the directory
with the job: the folders above it are whose the spool is, not root's. Source: wire notes,
SPOOL_JOB_FILES, File transfer, R056.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.runtime import tasks
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.removal import remove_as_root
from kettle.runtime.storage.second_names import link_tree
from kettle.transfer.spool_names import left_directory, spool_directory

if TYPE_CHECKING:
    from kettle.runtime.process.privileges import Privileges
    from kettle.shadow.services.run import Run

# Files that are taken over before the others have their turn.
_LINKS_AT_ONCE = 64


class GatheredFolder:
    """A directory in the spool that files come into all together, or not at all.

    `path` is nothing where there is no spool.
    """

    def __init__(self, shadow: Run, path: str) -> None:
        self._runtime = shadow.host.runtime
        self._path = path
        # Whether files are coming, or came, that are neither kept nor forgotten yet.
        self.is_begun = False

    def existing(self) -> str:
        """Return the directory, if there are files in it, else nothing."""
        if not self._path:
            return ""
        # A host may have died in the middle of `keep`: the older files are still there.
        folder_swap.settle(self._runtime.privileges, self._path)
        return self._path if os.path.isdir(self._path) else ""

    async def begin(self) -> str:
        """Make an empty directory for the files that come now; OSError if it cannot be."""
        if not self._path:
            raise OSError("there is no SPOOL to keep the job's files in")
        self.is_begun = True
        temporary = self._path + folder_swap.ARRIVING
        owner = self._runtime.privileges.daemon
        # What a host that died in the middle left.
        await self._remove_arriving()
        with self._runtime.privileges.as_root():
            try:
                self._make(temporary)
            except FileNotFoundError:
                # The schedd removes folders that are empty, as the one above may just have been.
                self._make(temporary)
            if self._runtime.privileges.can_switch:
                os.chown(temporary, owner.uid, owner.gid)
        return temporary

    def _make(self, temporary: str) -> None:
        _make_folders(os.path.dirname(self._path), self._runtime.privileges)
        os.mkdir(temporary, 0o700)

    async def keep(self) -> None:
        """Put what came in place of the older files, which go when it is on disk.

        StorageError if it cannot be: then the older ones are left.
        """
        self.is_begun = False
        folder_swap.settle(self._runtime.privileges, self._path)
        try:
            older = self._take_over(self._path + folder_swap.ARRIVING)
            await tasks.in_turns(older, _LINKS_AT_ONCE)
            await folder_swap.put_in_place(
                self._runtime.files, self._runtime.privileges, self._path
            )
        finally:
            await self._remove_arriving()

    async def forget(self) -> None:
        """Remove what came, unless it is, or is being, kept."""
        if self.is_begun:
            self.is_begun = False
            await self._remove_arriving()

    async def _remove_arriving(self) -> None:
        await self._remove(self._path + folder_swap.ARRIVING)

    async def _remove(self, folder: str) -> None:
        await tasks.in_turns(remove_as_root(self._runtime.privileges, folder))

    def _take_over(self, arrived: str) -> Iterator[None]:
        """Give what arrived what it goes on from: nothing."""
        del arrived
        return iter(())


class IntermediateStore(GatheredFolder):
    """One job's directory in the spool."""

    def __init__(self, shadow: Run) -> None:
        spool = shadow.host.spool
        self._own = spool_directory(spool, shadow.cluster, shadow.proc) if spool else ""
        super().__init__(shadow, left_directory(shadow.job, self._own) if self._own else "")

    def to_send(self) -> str:
        """Return the directory whose files go on top of the input; nothing if there is none.

        Of a spooled job that ran under HTCondor, or a version before, it is the input's: there a
        part of the checkpoint has taken the place of what the user sent.
        """
        return self.existing() or (self._own if self._own != self._path else "")

    def _take_over(self, arrived: str) -> Iterator[None]:
        """Take over what an earlier run left and this one did not change: only changes travel.

        Done with the owner's rights, whose directories these are.
        """
        return link_tree(self._path, arrived)


def _make_folders(path: str, privileges: Privileges) -> None:
    """Make what is missing of a folder in the spool; it is whose the one above is."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    _make_folders(above, privileges)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o755)
        if privileges.can_switch:
            facts = os.stat(above)
            os.chown(path, facts.st_uid, facts.st_gid)
