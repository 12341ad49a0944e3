"""Where files of a job land at the access point, which of them stay what they are.

Choices only, as in `plan.py`. Rules: wire notes, Names and lists.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.transfer.plan import (
    STDERR_NAME,
    STDOUT_NAME,
    check_name,
    is_standard_stream,
    is_url,
)
from kettle.transfer.remaps import parse_remaps, remap


@dataclass(frozen=True, slots=True)
class Landing:
    """Where received files go: the directory, the names of the streams, the remaps."""

    directory: str
    # Received name -> path, for the standard streams.
    streams: Mapping[str, str]
    remaps: Mapping[str, str] = field(default_factory=dict)
    # Remaps are left for later where the files only pass through a spool directory.
    code: int = 12

    def path_for(self, name: str) -> str:
        """Return the path a received file is written to; RefusedError if it may not be."""
        name = check_name(name, code=self.code)
        target = remap(name, self.remaps)
        if (stream := self.streams.get(name)) is not None:
            # A rule may name a stream by its special name, or else as the job's user does.
            special = target if name in {STDOUT_NAME, STDERR_NAME} else None
            target = special or remap(stream, self.remaps) or stream
        if target is not None and is_url(target):
            message = f"Remap of output file resulted in a URL: {target}"
            raise RefusedError(message, code=self.code)
        return posixpath.join(self.directory, name if target is None else target)


def plan_landing(job: ClassAd, directory: str, *, spooled: bool = False) -> Landing:
    """Return where the access point puts a job's output (wire notes, Names and lists).

    With `spooled` everything stays in the spool directory under its sandbox name, and the user's
    own names are used when it is fetched (`condor_transfer_data`).
    """
    if spooled:
        return Landing(directory, {})
    streams: dict[str, str] = {}
    for which, special in (("Out", STDOUT_NAME), ("Err", STDERR_NAME)):
        target = job.string(which)
        if target and is_standard_stream(job, which):
            streams[special] = target
            streams.setdefault(posixpath.basename(target), target)
    return Landing(directory, streams, parse_remaps(job.string("TransferOutputRemaps")))


def own_logs(job: ClassAd) -> list[str]:
    """Return the names that the event logs of a spooled job have in its folder."""
    paths = [job.string(name) for name in ("UserLog", "DAGManNodesLog")]
    return [path for path in paths if path and not is_url(path) and not {"/", "\0"} & set(path)]


def only_folder(job: ClassAd, landing: Landing) -> str | None:
    """Return the folder that all that lands lies in; None if some of it may go elsewhere."""
    if landing.remaps or job.string("OutputDestination"):
        return None
    if any(target.startswith("/") for target in landing.streams.values()):
        return None
    return landing.directory
