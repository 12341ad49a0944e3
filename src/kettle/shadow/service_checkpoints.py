"""Where the files of an unfinished job wait for its next run: its directory in the spool.

A transfer that is not the final one (a checkpoint, or what an evicted job leaves) is received into
a directory beside it, which takes its place only when everything has arrived: a transfer that
breaks off leaves the older checkpoint as it was. The schedd removes the directory with the job.
Source: wire reference §2.4, §6.2, R056.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

from kettle.transfer.plan import spool_directory

if TYPE_CHECKING:
    from kettle.shadow.service_shadow import RunningShadow


class IntermediateStore:
    """One job's directory in the spool."""

    def __init__(self, shadow: RunningShadow) -> None:
        self._runtime = shadow.host.runtime
        spool = self._runtime.config.get("SPOOL") or ""
        self._path = spool_directory(spool, shadow.cluster, shadow.proc) if spool else ""
        self._begun = False
        # What a user spooled is the job's input itself, not left over from a run.
        self._is_input = shadow.job.integer("StageInStart") is not None

    def existing(self) -> str:
        """Return the directory, if an earlier run left files in it, else nothing."""
        if not self._path or self._is_input or not os.path.isdir(self._path):
            return ""
        return self._path

    def begin(self) -> str:
        """Make an empty directory for the files that come now; OSError if it cannot be."""
        if not self._path:
            raise OSError("there is no SPOOL to keep the job's files in")
        self._begun = True
        temporary = f"{self._path}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        owner = self._runtime.privileges.daemon
        # The spool is the schedd's; the job's directory in it is the owner's.
        with self._runtime.privileges.as_root():
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
        with self._runtime.privileges.as_root(), contextlib.suppress(OSError):
            if not keep:
                shutil.rmtree(temporary, ignore_errors=True)
                return
            shutil.rmtree(old, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                os.rename(self._path, old)
            os.rename(temporary, self._path)
            shutil.rmtree(old, ignore_errors=True)
