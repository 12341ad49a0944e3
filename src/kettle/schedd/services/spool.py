"""The schedd's spool folder: files of late materialization and of spooled jobs.

Layout: `SPOOL/<cluster mod 10000>/…`, as the reference has it. Source: wire notes, Late
materialization and SPOOL_JOB_FILES.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import KettleError
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.free_space import read_free_kib
from kettle.runtime.storage.removal import remove_by_steps, remove_tree
from kettle.schedd.queue.job_ids import JobId

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

_FAN = 10_000
# Files that are removed at once.
_AT_ONCE = 100
# Limit: the explanation of a schedd's own submit commands; it travels in one message.
_LONGEST_HELP = 64 * 1024
_CLUSTER_FILE = re.compile(r"condor_submit\.(\d{1,18})\.(?:items|digest)")
_JOB_FOLDER = re.compile(r"cluster(\d{1,18})\.proc(\d{1,18})\.subproc0(?:\.tmp|\.swap)?")


class SpoolFolder:
    """Names and files below SPOOL."""

    def __init__(self, runtime: Runtime, path: str) -> None:
        self._runtime = runtime
        self.path = path

    def cluster_file(self, cluster: int, suffix: str) -> str:
        """Return the name of a cluster's file (`items` or `digest`)."""
        return f"{self.path}/{cluster % _FAN}/condor_submit.{cluster}.{suffix}"

    def job_folder(self, job: JobId) -> str:
        """Return a spooled job's folder."""
        return (
            f"{self.path}/{job.cluster % _FAN}/{job.proc % _FAN}/"
            f"cluster{job.cluster}.proc{job.proc}.subproc0"
        )

    def write_items(self, cluster: int, data: bytes) -> str:
        """Keep the rows of a late materialized cluster; returns the file's name."""
        return self._write(self.cluster_file(cluster, "items"), data)

    def write_digest(self, cluster: int, text: str) -> str:
        """Keep the submit text that makes a cluster's jobs; returns the file's name."""
        data = text.encode("utf-8", "surrogateescape")
        return self._write(self.cluster_file(cluster, "digest"), data)

    def read_help(self, path: str) -> str:
        """Return the text of EXTENDED_SUBMIT_HELPFILE, empty where there is none to read."""
        try:
            return self._runtime.files.read_text(path, limit=_LONGEST_HELP)
        except KettleError:
            return ""

    def _write(self, path: str, data: bytes) -> str:
        self._runtime.files.make_folder(os.path.dirname(path))
        self._runtime.files.write_atomically(path, data, durable=True)
        return path

    def remove_job(self, job: JobId) -> None:
        """Remove a job's folder, if it has one, and the empty folders above it."""
        folder = self.job_folder(job)
        if not os.path.isdir(os.path.dirname(folder)):
            return
        for suffix in ("", folder_swap.ARRIVING, folder_swap.OLD):
            self.remove_folder(folder + suffix)
        _remove_if_empty(os.path.dirname(folder))
        _remove_if_empty(os.path.dirname(os.path.dirname(folder)))

    def remove_folder(self, folder: str) -> None:
        """Remove a folder that is a job's owner's, with what is in it."""
        with self._runtime.privileges.as_root():
            remove_tree(folder)

    def remove_by_steps(self, folder: str) -> Iterator[None]:
        """Do what `remove_folder` does some files at a time."""
        steps = remove_by_steps(folder)
        more = True
        while more:
            with self._runtime.privileges.as_root():
                more = sum(1 for _ in islice(steps, _AT_ONCE)) == _AT_ONCE
            yield

    def remove_orphans(self, knows: Callable[[int, int | None], bool]) -> list[str]:
        """Remove what belongs to jobs and clusters that `knows` does not; return what it was.

        A power cut between a job's last record and the removal of its folder leaves such things.
        What has no name of ours is left alone. One in the middle of a swap of folders is mended.
        """
        found = []
        for path, cluster, proc in _named_for_jobs(self.path):
            if knows(cluster, proc):
                if proc is not None:
                    folder = self.job_folder(JobId(cluster, proc))
                    folder_swap.settle(self._runtime.privileges, folder)
                continue
            found.append(os.path.relpath(path, self.path))
            if proc is None:
                self._runtime.files.remove(path)
            else:
                self.remove_folder(path)
            _remove_if_empty(os.path.dirname(path))
            if proc is not None:
                _remove_if_empty(os.path.dirname(os.path.dirname(path)))
        return found

    def room_kib(self) -> int | None:
        """Return what may be spooled without touching the reserve; None if it cannot be told."""
        free = read_free_kib(self.path)
        reserved = self._runtime.config.value(StartdKnobs.RESERVED_DISK) * 1024
        return None if free is None else max(0, free - reserved)

    def remove_cluster(self, cluster: int) -> None:
        """Remove a cluster's files."""
        for suffix in ("items", "digest"):
            self._runtime.files.remove(self.cluster_file(cluster, suffix))
        _remove_if_empty(os.path.dirname(self.cluster_file(cluster, "items")))


def _named_for_jobs(spool: str) -> Iterator[tuple[str, int, int | None]]:
    """Yield the folders of jobs and the files of clusters, with whose they are."""
    for outer in _numbers(spool):
        folder = os.path.join(spool, outer)
        for name in _names(folder):
            match = _CLUSTER_FILE.fullmatch(name)
            if match:
                yield os.path.join(folder, name), int(match[1]), None
        for inner in _numbers(folder):
            for name in _names(os.path.join(folder, inner)):
                match = _JOB_FOLDER.fullmatch(name)
                if match:
                    yield os.path.join(folder, inner, name), int(match[1]), int(match[2])


def _numbers(folder: str) -> list[str]:
    return [name for name in _names(folder) if name.isdecimal()]


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _remove_if_empty(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return
