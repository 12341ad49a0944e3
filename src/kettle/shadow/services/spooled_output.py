"""The final output of a spooled job, whose only copy lies in the spool.

It is gathered beside the job's own folder and comes into it when the run is over, as the job's log
says: a run whose end nobody was told of leaves the input of the next one as it was. From then on
it bears another name, by which whoever comes next brings in what a shadow that died did not.
"""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.runtime import tasks
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.folder_merge import merge_by_steps
from kettle.shadow.endings import Ending, has_ended
from kettle.shadow.services.checkpoints import GatheredFolder
from kettle.transfer.landing import own_logs
from kettle.transfer.spool_names import ENDED, OUTPUT, left_directory, spool_directory

if TYPE_CHECKING:
    from kettle.shadow.services.run import Run

# Names that are moved before others have their turn.
_MOVES_AT_ONCE = 64


def own_folder(spool: str, job: ClassAd, cluster: int, proc: int) -> str:
    """Return the folder in the spool that is a job's directory; nothing if it has another."""
    if not spool or "StageInStart" not in job:
        return ""
    own = spool_directory(spool, cluster, proc)
    return own if posixpath.normpath(job.string("Iwd") or "/") == own else ""


class OutputStore(GatheredFolder):
    """What one spooled job's runs send as they end; `own` is the job's folder."""

    def __init__(self, shadow: Run, own: str) -> None:
        super().__init__(shadow, own + OUTPUT)
        self._own = own
        self._ended = own + ENDED
        self._left = left_directory(shadow.job, own)
        self._logs = own_logs(shadow.job)

    async def begin(self) -> str:
        """Make an empty directory for the output that comes now; what came before is not used."""
        await self._remove(self._path)
        return await super().begin()

    async def begin_run(self) -> None:
        """Leave nothing of a run whose end was not told, and all of one that was; OSError."""
        for folder in (self._path, self._path + folder_swap.ARRIVING):
            await self._remove(folder)
        await self._bring_in()

    async def end_run(self) -> None:
        """Bring the output into the job's folder, as the run is over; OSError if it cannot be."""
        # What an earlier shadow of this run had begun with.
        await self._bring_in()
        if not self.existing():
            return
        runtime = self._runtime
        with runtime.privileges.as_root():
            os.rename(self._path, self._ended)
        await folder_swap.sync_folders(
            runtime.files, runtime.privileges, [os.path.dirname(self._own)]
        )
        await self._bring_in()

    def _has_ended(self) -> bool:
        return os.path.isdir(self._ended)

    async def _bring_in(self) -> None:
        if not self._has_ended():
            return
        runtime = self._runtime
        # Compat: the reference lets a file of that name take the place of the job's event log
        # (test_output_that_is_called_like_the_job_s_log_does_not_take_its_place).
        moves = merge_by_steps(self._ended, self._own, self._left, self._logs)
        changed = await tasks.in_turns(moves, _MOVES_AT_ONCE)
        await folder_swap.sync_folders(runtime.files, runtime.privileges, changed)
        await self._remove(self._ended)


async def begin_with_whole_output(run: Run) -> None:
    """See that a spooled job's new run finds all of what its last one ended with, or nothing.

    OSError if it cannot be.
    """
    own = own_folder(run.host.spool or "", run.job, run.cluster, run.proc)
    if own:
        await OutputStore(run, own).begin_run()


async def bring_output_in(run: Run, ending: Ending) -> None:
    """Let what a spooled job's run ended with be the job's; what cannot be is told in the log.

    It is fetched from where it is, then. A run that its machine lost, or had to give up, begins
    anew with what this one had.
    """
    own = own_folder(run.host.spool or "", run.job, run.cluster, run.proc)
    if not own or not _is_over(run, ending):
        return
    try:
        await OutputStore(run, own).end_run()
    except OSError as error:
        run.log(f"ERROR: The job's output stays beside {own}: {error}")


def _is_over(run: Run, ending: Ending) -> bool:
    """Whether the run's output counts: its program has ended, or the job is held or removed."""
    if ending.exit in {ShadowExit.SHOULD_HOLD, ShadowExit.SHOULD_REMOVE}:
        return True
    if run.told is not None:
        return True
    return run.report is not None and has_ended(run.report)
