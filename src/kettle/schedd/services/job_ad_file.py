"""The file with a scheduler-universe job's ad, which `_CONDOR_JOB_AD` in its environment names.

A folder of the schedd's own beside those of the local jobs (`LOCAL_UNIV_EXECUTE`), `dir_C_P` for
job C.P, is there for as long as the job runs. Source: observed of a real schedd.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.runtime.storage.removal import remove_tree
from kettle.schedd.services.local import execute_folder
from kettle.wire.codec import is_private_attribute

if TYPE_CHECKING:
    from kettle.schedd.queue.job_ids import JobId
    from kettle.schedd.services.parts import Schedd


def text_of(ad: ClassAd) -> str:
    """Return what the file holds: all lines of a job's ad but its secrets, as anybody may read."""
    public = (line for line in ad.lines() if not is_private_attribute(line.partition(" ")[0]))
    return "\n".join([*public, ""])


def write_job_ad(schedd: Schedd, job: JobId, text: str) -> str:
    """Write a job's file; return its path, or "" where it cannot be: the job starts without it."""
    files, folder = schedd.runtime.files, _folder(schedd, job)
    path = os.path.join(folder, ".job.ad")
    try:
        files.make_folder(folder)
        files.write_atomically(path, text)
    except StorageError as error:
        schedd.runtime.log.problem(f"Job {job} has no file with its ad: {error}")
        return ""
    return path


def remove_job_ad(schedd: Schedd, job: JobId) -> None:
    """Remove a job's file and its folder, if they are there."""
    remove_tree(_folder(schedd, job))


def _folder(schedd: Schedd, job: JobId) -> str:
    return os.path.join(execute_folder(schedd), f"dir_{job.cluster}_{job.proc}")
