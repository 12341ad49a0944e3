"""Has the checkpoints deleted that a job left at a URL, when it leaves the queue.

Their manifests are moved out of the job's folder before that is removed; the files themselves are
deleted beside the schedd, as the owner. Source: kettle.runtime.storage.checkpoint_cleanup.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import NotFoundError, RefusedError
from kettle.runtime import tasks
from kettle.runtime.storage import checkpoint_cleanup
from kettle.runtime.storage.owned_files import account_of_owner

if TYPE_CHECKING:
    from kettle.runtime.process.privileges import Account
    from kettle.schedd.queue.job_queue import Job
    from kettle.schedd.services.parts import Schedd


def clear_checkpoints(schedd: Schedd, job: Job) -> None:
    """Have a job's checkpoints deleted; a trouble with them keeps nobody in the queue."""
    folder = schedd.spool.job_folder(job.id)
    if job.ad.string("CheckpointDestination") is None or not os.path.isdir(folder):
        return
    runtime = schedd.runtime
    try:
        account = account_of_owner(runtime.privileges, job.owner)
        waiting = checkpoint_cleanup.set_aside(
            runtime.privileges, account, schedd.spool.path, folder, job.ad
        )
    except (OSError, RefusedError, NotFoundError) as error:
        runtime.log.problem(f"Job {job.id} leaves checkpoints behind: {error}")
        return
    command = checkpoint_cleanup.deletion_command(job.ad, waiting)
    if command:
        tasks.spawn(_delete(schedd, job, account, command), "deletion of checkpoints")


async def _delete(schedd: Schedd, job: Job, account: Account, command: Sequence[str]) -> None:
    runtime = schedd.runtime
    limit = runtime.config.value(TransferKnobs.SCHEDD_CHECKPOINT_CLEANUP_TIMEOUT)
    try:
        status = await checkpoint_cleanup.delete(runtime, account, command, limit)
    except OSError as error:
        runtime.log.problem(f"The checkpoints of job {job.id} are not deleted: {error}")
        return
    if status:
        runtime.log(
            f"Not all checkpoints of job {job.id} are deleted (status {status}): the rest is left "
            "to condor_preen"
        )
