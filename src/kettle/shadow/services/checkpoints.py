"""Where the files of an unfinished job wait for its next run: its directory in the spool.

A transfer that is not the final one (a checkpoint, or what an evicted job leaves) is received into
a directory beside it, which takes its place only when everything has arrived: a transfer that
breaks off leaves the older checkpoint as it was. The schedd removes the directory with the job.
Source: wire notes, SPOOL_JOB_FILES, File transfer, R056.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from kettle.errors import RefusedError
from kettle.runtime.storage.removal import remove_tree
from kettle.transfer.checkpoints import (
    MAX_MANIFEST,
    manifest_name,
    number_of,
    parse_manifest,
    place_of,
    plan_restore,
)
from kettle.transfer.items import Item
from kettle.transfer.plan import spool_directory

if TYPE_CHECKING:
    from kettle.shadow.services.run import Run


class IntermediateStore:
    """One job's directory in the spool."""

    def __init__(self, shadow: Run) -> None:
        self._runtime = shadow.host.runtime
        self._job = shadow.job
        spool = shadow.host.spool
        self._path = spool_directory(spool, shadow.cluster, shadow.proc) if spool else ""
        self._begun = False
        # What a user spooled is the job's input itself, not left over from a run.
        self._is_input = shadow.job.integer("StageInStart") is not None

    def existing(self) -> str:
        """Return the directory, if an earlier run left files in it, else nothing."""
        if not self._path or self._is_input:
            return ""
        if not os.path.isdir(self._path):
            # A host died between the two renames of `end`: the older files are still there.
            with self._runtime.privileges.as_root(), contextlib.suppress(OSError):
                os.rename(f"{self._path}.swap", self._path)
        return self._path if os.path.isdir(self._path) else ""

    def restored(self) -> list[Item]:
        """Return what brings back a checkpoint that lies at a URL: the newest whole one."""
        destination = self._job.string("CheckpointDestination")
        folder = self.existing()
        if not destination or not folder:
            return []
        numbers = (number_of(name) for name in os.listdir(folder))
        for number in sorted((one for one in numbers if one is not None), reverse=True):
            path = os.path.join(folder, manifest_name(number))
            try:
                with open(path, encoding="utf-8") as file:
                    entries = parse_manifest(file.read(MAX_MANIFEST))
            except (OSError, ValueError, RefusedError):
                # An older one may be whole.
                continue
            place = place_of(destination, self._job.string("GlobalJobId") or "", number)
            return plan_restore(place, path, entries)
        return []

    def begin(self) -> str:
        """Make an empty directory for the files that come now; OSError if it cannot be."""
        if not self._path:
            raise OSError("there is no SPOOL to keep the job's files in")
        self._begun = True
        temporary = f"{self._path}.tmp"
        owner = self._runtime.privileges.daemon
        # The spool is the schedd's; the job's directory in it is the owner's.
        with self._runtime.privileges.as_root():
            # What a host that died in the middle left.
            remove_tree(temporary)
            os.makedirs(os.path.dirname(self._path), mode=0o755, exist_ok=True)
            os.mkdir(temporary, 0o700)
            if self._runtime.privileges.can_switch:
                os.chown(temporary, owner.uid, owner.gid)
        return temporary

    def end(self, *, keep: bool) -> None:
        """Put what came in place of the older files, or forget it."""
        if not self._begun:
            return
        temporary, old = f"{self._path}.tmp", f"{self._path}.swap"
        if keep:
            self._keep_older(temporary)
        with self._runtime.privileges.as_root(), contextlib.suppress(OSError):
            if not keep:
                remove_tree(temporary)
                return
            remove_tree(old)
            with contextlib.suppress(FileNotFoundError):
                os.rename(self._path, old)
            os.rename(temporary, self._path)
            remove_tree(old)

    def _keep_older(self, temporary: str) -> None:
        """Take over what an earlier run left and this one did not change: only changes travel.

        Done with the owner's rights, whose directories these are.
        """
        for folder, _, names in os.walk(self._path):
            into = os.path.join(temporary, os.path.relpath(folder, self._path))
            with contextlib.suppress(OSError):
                os.makedirs(into, exist_ok=True)
                for name in names:
                    with contextlib.suppress(FileExistsError):
                        os.link(os.path.join(folder, name), os.path.join(into, name))
