"""The schedd's spool folder: files of late materialization and of spooled jobs.

Layout: `SPOOL/<cluster mod 10000>/…`, as the reference has it, and beside a spooled job's folder
those for what its runs left, and ended with (`spool_names`). Source: wire notes, Late
materialization and SPOOL_JOB_FILES.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.bookings import Booking, Bookings
from kettle.runtime.storage.growing_file import GrowingFile
from kettle.runtime.storage.removal import remove_as_root
from kettle.runtime.storage.second_names import link_tree
from kettle.schedd.queue.job_ids import JobId, spool_folder
from kettle.steps import take_within
from kettle.transfer.checkpoints import was_checkpoint
from kettle.transfer.spool_names import ENDED, KINDS, LEFT, OUTPUT, SPOOL_FAN, left_directory

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.storage.owned_files import OwnedFiles
    from kettle.schedd.queue.jobs import Job

# How often a checkpoint may be followed by another while somebody begins to look at it.
_TRIES = 5
# Names that are looked at before others have their turn.
_AT_ONCE = 100
# What the name of a folder that is being removed ends with, before a number.
_GONE = ".gone"
# What the name of one ends with in which somebody looks at what a job has left so far.
_SEEN = ".seen"
# What the name of one ends with that stays for its manifests of checkpoints at a URL.
_KEPT = ".kept"
# Limit: names in a job's folder among which a manifest is looked for. Where there are manifests
# there is little else.
_MOST_NAMES = 1000
# Limit: the explanation of a schedd's own submit commands; it travels in one message.
_LONGEST_HELP = 64 * 1024
_CLUSTER_FILE = re.compile(r"condor_submit\.(\d{1,18})\.(?:items|digest)")
_GOING = re.compile(rf"(?:{re.escape(_GONE)}|{re.escape(_SEEN)})\d{{1,9}}$")
_JOB_FOLDER = re.compile(
    r"cluster(\d{1,18})\.proc(\d{1,18})\.subproc0"
    rf"(?:{'|'.join(map(re.escape, KINDS))})"
    rf"(?:{re.escape(folder_swap.ARRIVING)}|{re.escape(folder_swap.OLD)})?"
    rf"((?:{re.escape(_GONE)}|{re.escape(_SEEN)})\d{{1,9}})?"
)


class SpoolFolder:
    """Names and files below SPOOL."""

    def __init__(self, runtime: Runtime, path: str) -> None:
        self._runtime = runtime
        self.path = path
        self._bookings = Bookings(path)
        # Folders that are nobody's any more, and still there.
        self._going: deque[str] = deque()
        self._removing: asyncio.Task[None] | None = None
        self._numbers = count()

    def cluster_file(self, cluster: int, suffix: str) -> str:
        """Return the name of a cluster's file (`items` or `digest`)."""
        return f"{self.path}/{cluster % SPOOL_FAN}/condor_submit.{cluster}.{suffix}"

    def job_folder(self, job: JobId) -> str:
        """Return a spooled job's folder."""
        return f"{self.path}/{spool_folder(job)}"

    def left_folder(self, job: Job) -> str:
        """Return where a job's next run finds what the last one left."""
        return left_directory(job.ad, self.job_folder(job.id))

    def manifest_folders(self, job: Job) -> list[str]:
        """Return where manifests of a job's checkpoints are: what its runs left, if anything.

        Of a spooled job an earlier version's runs had them in the job's own folder.
        """
        folders = dict.fromkeys((self.job_folder(job.id), self.left_folder(job)))
        return [folder for folder in folders if os.path.isdir(folder)]

    @contextlib.asynccontextmanager
    async def output_folders(
        self, job: Job, files: OwnedFiles, *, runs: bool
    ) -> AsyncIterator[list[str]]:
        """Have at hand where a spooled job's output is: its folder, and what it left, if anything.

        Before its end that is what its last run left; of a job that `runs`, under second names, as
        a new checkpoint takes the other's place meanwhile. OSError if there is none to be had.
        """
        own, left = self.job_folder(job.id), self.left_folder(job)
        # What a shadow that could not finish has not brought in yet is the newest.
        newest = _folders(own + ENDED)
        if job.status == JobStatus.COMPLETED or left == own:
            yield [own, *newest]
        elif not runs:
            folder_swap.settle(self._runtime.privileges, left)
            yield [own, *_folders(left), *newest]
        elif not _folders(left):
            yield [own]
        else:
            seen = self._unused(own + _SEEN)
            try:
                await self._see(left, seen, files)
                yield [own, seen]
            finally:
                self.remove_aside(seen)

    async def _see(self, left: str, seen: str, files: OwnedFiles) -> None:
        """Give a whole checkpoint second names in a folder of its own."""
        for _ in range(_TRIES):
            before = _identity(left)
            os.mkdir(seen, 0o700)
            files.give(seen)
            links = take_within(files.as_owner, link_tree(left, seen), _AT_ONCE)
            await tasks.in_turns(links)
            if before is not None and _identity(left) == before:
                return
            await tasks.in_turns(remove_as_root(self._runtime.privileges, seen))
        raise OSError(errno.EBUSY, f"one checkpoint follows the other in {left}")

    def begin_items(self, cluster: int) -> GrowingFile:
        """Begin to keep the rows of a late materialized cluster."""
        path = self.cluster_file(cluster, "items")
        self._runtime.files.make_folder(os.path.dirname(path))
        # As private as the queue: what jobs are given may be in them.
        return GrowingFile(path, mode=0o600, room_kib=self.room_kib)

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
        self._runtime.files.write_atomically(path, data, mode=0o600, durable=True)
        return path

    def remove_job(self, job: JobId) -> None:
        """Have a job's folders removed, if it has any, and the empty folders above them.

        They lose their names at once; what is in them goes in turns with the schedd's other work.
        """
        folder = self.job_folder(job)
        above = os.path.dirname(folder)
        if not os.path.isdir(above):
            return
        there = [kind for kind in KINDS if self._remove_if_there(folder + kind)]
        if not there:
            _remove_with_parent(above)

    def keep_aside(self, folder: str) -> str:
        """Give a folder a name under which nobody takes it for a job's, or removes it; return it.

        For manifests of checkpoints at a URL that cannot be set aside (`checkpoint_cleanup`): an
        administrator finds them there. It is the folder's own name if it cannot be renamed.
        """
        kept = self._unused(folder + _KEPT)
        try:
            with self._runtime.privileges.as_root():
                os.rename(folder, kept)
        except OSError:
            return folder
        return kept

    def _unused(self, stem: str) -> str:
        """Return a name that nothing has."""
        names = (f"{stem}{number}" for number in self._numbers)
        return next(path for path in names if not os.path.lexists(path))

    def take_left(self, job: JobId) -> str:
        """Take what the runs of a spooled job left from it: its next one begins anew.

        Returns the folder where the checkpoints are now, which the caller removes; nothing if
        there are none.
        """
        folder = self.job_folder(job)
        for kind in (OUTPUT, ENDED):
            self._remove_if_there(folder + kind)
        left = folder + LEFT
        aside = self._unused(left + _GONE)
        try:
            with self._runtime.privileges.as_root():
                os.rename(left, aside)
        except FileNotFoundError:
            aside = ""
        self._remove_if_there(left)
        return aside

    def _remove_if_there(self, folder: str) -> bool:
        """Have a folder removed with those that a swap knows; False if there is none of them."""
        names = (folder + suffix for suffix in ("", folder_swap.ARRIVING, folder_swap.OLD))
        there = [name for name in names if os.path.lexists(name)]
        for path in there:
            self.remove_aside(path)
        return bool(there)

    def remove_aside(self, folder: str) -> None:
        """Take a folder's name from it, and have it removed.

        Who is killed meanwhile finds what is left by its new name. It stays in its parent: that is
        allowed for a folder that its owner closed, too.
        """
        aside = folder
        if _GOING.search(folder) is None:
            aside = self._unused(folder + _GONE)
            with self._runtime.privileges.as_root(), contextlib.suppress(OSError):
                os.rename(folder, aside)
        self._going.append(aside if os.path.lexists(aside) else folder)
        if self._removing is None:
            self._removing = tasks.spawn(self._remove_all(), "removal of spooled files")

    async def _remove_all(self) -> None:
        try:
            while self._going:
                folder = self._going.popleft()
                await tasks.in_turns(remove_as_root(self._runtime.privileges, folder))
                _remove_with_parent(os.path.dirname(folder))
        finally:
            self._removing = None

    async def settle(self) -> None:
        """Return when nothing is being removed any more."""
        while self._removing is not None:
            await asyncio.wait([self._removing])

    async def remove_orphans(self, knows: Callable[[int, int | None], bool]) -> list[str]:
        """Remove what belongs to jobs and clusters that `knows` does not; return what it was.

        A power cut between a job's last record and the removal of its folder leaves such things.
        What has no name of ours is left alone. One in the middle of a swap of folders is mended.
        Whole folders are on their way out when this returns. One with manifests of checkpoints at
        a URL is kept under another name, and told of.
        Limit: without the job's ad nobody can say where the URL is, so that an administrator has to
        delete what they list.
        """
        removed = []
        for looked_at, named in enumerate(_named_for_jobs(self.path), 1):
            if looked_at % _AT_ONCE == 0:
                await asyncio.sleep(0)
            if named is None:
                continue
            if named.is_going:
                self.remove_aside(named.path)
            elif not knows(named.cluster, named.proc):
                if named.proc is not None and self.has_manifests(named.path):
                    self._keep_orphan(named.path)
                    continue
                removed.append(self._remove_orphan(named))
            elif named.proc is not None:
                folder = self.job_folder(JobId(named.cluster, named.proc))
                for kind in KINDS:
                    folder_swap.settle(self._runtime.privileges, folder + kind)
                # Nobody sends a job's files yet; what its shadow gathers is beside it.
                for arriving in _folders(folder + folder_swap.ARRIVING):
                    self.remove_aside(arriving)
        return removed

    def has_manifests(self, folder: str) -> bool:
        """Whether there are manifests of checkpoints at a URL in a job's folder."""
        with (
            self._runtime.privileges.as_root(),
            contextlib.suppress(OSError),
            os.scandir(folder) as entries,
        ):
            return any(
                was_checkpoint(entry.name) is not None for entry in islice(entries, _MOST_NAMES)
            )
        return False

    def _keep_orphan(self, folder: str) -> None:
        self._runtime.log.problem(
            f"{folder} is of a job that is gone, and has the manifests of checkpoints at a URL: "
            f"it is kept as {self.keep_aside(folder)}"
        )

    def _remove_orphan(self, named: _Named) -> str:
        """Have it removed; return its name in the spool."""
        if named.proc is not None:
            self.remove_aside(named.path)
        else:
            self._runtime.files.remove(named.path)
            _remove_if_empty(os.path.dirname(named.path))
        return os.path.relpath(named.path, self.path)

    def room_kib(self) -> int | None:
        """Return what may be spooled without touching the reserve; None if it cannot be told.

        What is booked for files that arrive is not free any more.
        """
        return self._bookings.room_kib(self._reserved_kib())

    def booking(self) -> contextlib.AbstractContextManager[Booking]:
        """Return what keeps the reserve free, and what others have booked, while files arrive."""
        return self._bookings.begin(self._reserved_kib())

    def _reserved_kib(self) -> int:
        return self._runtime.config.value(StartdKnobs.RESERVED_DISK) * 1024

    def remove_cluster(self, cluster: int) -> None:
        """Remove a cluster's files."""
        for suffix in ("items", "digest"):
            self._runtime.files.remove(self.cluster_file(cluster, suffix))
        _remove_if_empty(os.path.dirname(self.cluster_file(cluster, "items")))


@dataclass(frozen=True, slots=True)
class _Named:
    """A folder of a job, or a file of a cluster: then without `proc`."""

    path: str
    cluster: int
    proc: int | None = None
    is_going: bool = False


def _named_for_jobs(spool: str) -> Iterator[_Named | None]:
    """Yield what is named for jobs and clusters; None for each folder looked into."""
    for outer in _numbers(spool):
        folder = os.path.join(spool, outer)
        yield None
        for name in _names(folder):
            match = _CLUSTER_FILE.fullmatch(name)
            if match:
                yield _Named(os.path.join(folder, name), int(match[1]))
        for inner in _numbers(folder):
            yield None
            for name in _names(os.path.join(folder, inner)):
                match = _JOB_FOLDER.fullmatch(name)
                if match:
                    path = os.path.join(folder, inner, name)
                    yield _Named(path, int(match[1]), int(match[2]), match[3] is not None)


def _folders(folder: str) -> list[str]:
    """Return the folder, if it is there."""
    return [folder] if os.path.isdir(folder) else []


def _identity(folder: str) -> tuple[int, int] | None:
    """Return what no folder of that name before or after has."""
    try:
        facts = os.stat(folder)
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_ctime_ns


def _numbers(folder: str) -> list[str]:
    return [name for name in _names(folder) if name.isdecimal()]


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _remove_with_parent(folder: str) -> None:
    _remove_if_empty(folder)
    _remove_if_empty(os.path.dirname(folder))


def _remove_if_empty(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return
