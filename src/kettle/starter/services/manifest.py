"""Lists of a job's sandbox that come back with its output (`manifest`, `manifest_dir`).

`in` has the files that were there when the job began, `out` those that it leaves, `environment`
what it was started with. They are the job's own files, written with its rights.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.runtime.storage.fences import opened_folder
from kettle.starter.services.parts import Starter
from kettle.transfer.plan import check_name

# Limit: files that a list names; a sandbox may have more.
MAX_NAMES = 1_000_000


def folder_of(job: ClassAd) -> str:
    """Return the name of the folder of the lists; empty for a job that wants none.

    RefusedError for one outside of the sandbox.
    """
    named = job.string("ManifestDir")
    if named:
        return check_name(named, code=12)
    if job.boolean("ManifestDesired") is True:
        return f"{job.integer('ClusterId') or 0}_{job.integer('ProcId') or 0}_manifest"
    return ""


class Manifest:
    """The lists of one job."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        # Its folder in the sandbox, once there is one.
        self.folder = ""

    def begin(self, environment: Mapping[str, str]) -> None:
        """Write what the job finds, if it wants that written."""
        starter = self._starter
        try:
            folder = folder_of(starter.job)
            if not folder:
                return
            names = self._names()
            starter.keeper.files.make_directory(self._path(folder), 0o700)
            self._write(folder, "in", names)
            pairs = (f"{name}={value}" for name, value in environment.items())
            self._write(folder, "environment", " ".join(pairs) + "\n")
        except (RefusedError, OSError) as error:
            starter.log(f"The sandbox is not listed: {error}")
            return
        self.folder = folder

    def end(self) -> None:
        """Write what the job leaves."""
        if not self.folder:
            return
        try:
            self._write(self.folder, "out", self._names())
        except OSError as error:
            self._starter.log(f"The sandbox is not listed: {error}")

    def _path(self, folder: str) -> str:
        return os.path.join(self._starter.sandbox.scratch, folder)

    def _write(self, folder: str, name: str, text: str) -> None:
        self._starter.keeper.write(os.path.join(self._path(folder), name), text, 0o600)

    def _names(self) -> str:
        scratch, keeper = self._starter.sandbox.scratch, self._starter.keeper
        with keeper.files.as_owner(), opened_folder(scratch, keeper.fence) as folder:
            return "".join(f"{name}\n" for name in _files(f"/proc/self/fd/{folder}/."))


def _files(scratch: str) -> Iterator[str]:
    """Return the sandbox's files, as `./folder/name`; links to folders are not followed."""
    left = MAX_NAMES
    for folder, folders, names in os.walk(scratch):
        folders.sort()
        relative = os.path.relpath(folder, scratch)
        prefix = "." if relative == "." else f"./{relative}"
        for name in sorted(names)[:left]:
            yield f"{prefix}/{name}"
        left = max(0, left - len(names))
