"""What the folders of jobs are called in a spool."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.classad import ClassAd

# Into so many folders a spool divides its clusters, and each of these its jobs.
SPOOL_FAN = 10_000
# What the name of a folder ends with that holds what a run of a spooled job left.
LEFT = ".left"
# Of one with its final output, all of it, of a run whose end nobody was told of yet.
OUTPUT = ".output"
# Of one with that of a run that is over, on its way into the job's own folder.
ENDED = ".ended"
# What the folders of one job are called, beyond its name; each may be about to be swapped.
KINDS = ("", LEFT, OUTPUT, ENDED)


def folder_name(cluster: int, proc: int) -> str:
    """Return the name of a job's own folder below a spool: `C/P/clusterC.procP.subproc0`."""
    return f"{cluster % SPOOL_FAN}/{proc % SPOOL_FAN}/cluster{cluster}.proc{proc}.subproc0"


def spool_directory(spool: str, cluster: int, proc: int) -> str:
    """Return where a job's spooled files are."""
    return posixpath.join(spool, folder_name(cluster, proc))


def own_name(name: str) -> str:
    """Return what a job's own folder is called, of which one beside it is called `name`."""
    return ".".join(name.split(".")[:3])


def left_directory(job: ClassAd, spooled: str) -> str:
    """Return where files wait that a run left before the job's end, for its next run.

    `spooled` is the job's folder in the spool. Where that holds what the user sent, and the event
    log, it is one beside it, which can take another's place whole.

    Compat: the reference has both in one folder, and begins anew such a job whose spool it takes
    over (test_what_a_spooled_job_left_lies_beside_its_input). What it left itself is gone on from
    (test_what_another_version_left_among_a_job_s_input_is_gone_on_from).
    """
    return spooled + LEFT if "StageInStart" in job else spooled
