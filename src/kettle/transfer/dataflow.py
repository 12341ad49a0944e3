"""Whether a job is a dataflow job whose outputs are there already: skip_if_dataflow.

Looks at the file system in, one answer out; what follows from it is the shadow's. A job is spared
its run when everything that it lists as output exists and is newer than everything that it reads:
its input files, its program, its standard input. URLs have no time and say nothing.
Source: the manual's skip_if_dataflow.
"""

from __future__ import annotations

import posixpath

from kettle.classad import ClassAd
from kettle.transfer.items import FileView
from kettle.transfer.plan import is_url, split_at_commas


def is_dataflow_job(job: ClassAd, view: FileView) -> bool:
    """Tell whether the job's outputs are newer than all that it would make them from."""
    outputs = _listed_times(job, "TransferOutput", view)
    if not outputs or None in outputs:
        return False
    # A listed input that is missing is the transfer's to report; program and standard input count.
    inputs = _listed_times(job, "TransferInput", view)
    needed = [_time(job, job.string("Cmd") or "", view)]
    stdin = job.string("In")
    if stdin and stdin != "/dev/null":
        needed.append(_time(job, stdin, view))
    if None in needed:
        return False
    newest = max(time for time in (*inputs, *needed) if time is not None)
    return min(time for time in outputs if time is not None) > newest


def _listed_times(job: ClassAd, attribute: str, view: FileView) -> list[int | None]:
    names = split_at_commas(job.string(attribute))
    return [_time(job, name, view) for name in names if not is_url(name)]


def _time(job: ClassAd, name: str, view: FileView) -> int | None:
    """Return when a file was last changed, in nanoseconds; None if it is not there."""
    look = view.look(posixpath.join(job.string("Iwd") or "/", name))
    return look.mtime_ns if look is not None else None
