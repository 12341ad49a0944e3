"""What the job's processes use of the machine, measured while they live and when they have ended.

What the numbers become is `usage.py`'s.

The memory of a job is the highest of three: what its processes were seen to have together while it
ran; what the largest of those had that were waited for, or fell to us; and by how much the memory
of its control group has grown. That counts page cache, which is not the job's memory. What is left
of it at the end is taken off, and so is all that the job's processes have read from disks and
written, as no more can have been in the cache and have gone since. The rest is certain, and may be
nothing for a job with many files.

Limit: memory of a moment, between two looks, of several processes that have no group or many files;
or of one process that has less than we ourselves, without a group. What was read and written by one
that lost its parent in a PID namespace of the job's nobody tells.
"""

from __future__ import annotations

import os
import resource
from typing import Protocol

from kettle.runtime.process.cgroups import Group
from kettle.runtime.process.liveness import said
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import Child, SystemProcesses
from kettle.runtime.storage.small_files import read_small
from kettle.starter.services.held_memory import MemoryFiles, proportional_bytes
from kettle.starter.usage import Sample

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024
# Limit: growth that says nothing: the kernel charges a group some pages ahead on each core.
_NOISE_KIB = 1024


class Measured(Protocol):
    """The job's processes, as far as they are measured here."""

    group: Group | None
    child: Child | None

    def below(self) -> list[int]:
        """Return the pids of everything below us, but for the init of a PID namespace."""
        ...

    def living(self) -> list[int]:
        """Return the pids of everything of the job's that has not ended."""
        ...


class JobUse:
    """What one job uses."""

    def __init__(self, jobs: Measured, privileges: Privileges, processes: SystemProcesses) -> None:
        self._jobs = jobs
        self._privileges = privileges
        self._processes = processes
        # What the kernel said of its first process just after its start.
        self._first_status = b""
        self._own_peak_kib = 0
        self._seen_kib = 0
        # What our children before the job had read and written; None before the first program.
        self._moved_before: int | None = None
        self._memory_files = MemoryFiles()

    def prepare(self) -> None:
        """Note how things are before a program starts, as a copy of us."""
        self._own_peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if self._moved_before is None:
            self._moved_before = _moved_kib()
            self._processes.orphans_peak_kib = 0
            if self._jobs.group is not None:
                self._jobs.group.mark_memory()

    def begin(self, pid: int, folder: str) -> bytes:
        """Note how a program began that has this folder; return what the kernel says of it."""
        self._memory_files = MemoryFiles(folder)
        self._first_status = _read_status(pid)
        return self._first_status

    def sample(self) -> Sample:
        """Measure the living processes; those that ended count through `Child.usage`.

        What several share counts once in what is resident, as a control group counts it.

        Compat: without one, too, where the reference adds up what each process has
        (test_what_the_processes_of_a_job_share_counts_once).
        """
        found = self._summed()
        known = self._jobs.group.memory_bytes() if self._jobs.group is not None else None
        if known is not None:
            return found._replace(resident_kib=known[0] // 1024)
        if found.pids < 2:
            return found
        with self._privileges.as_root():
            own = sum(map(_proportional_bytes, self._jobs.below())) // 1024
        return found._replace(resident_kib=min(own, found.resident_kib))

    def _summed(self) -> Sample:
        """Measure the living processes, each by itself."""
        pids = image = resident = reads = writes = 0
        user = system = 0.0
        for pid in self._jobs.below():
            facts = _read_stat(pid)
            if facts is None:
                continue
            pids += 1
            user += facts[0]
            system += facts[1]
            image += facts[2]
            resident += facts[3]
            read_bytes, write_bytes = _read_io(pid)
            reads += read_bytes // 1024
            writes += write_bytes // 1024
        return Sample(pids, image, resident, user, system, reads, writes)

    def resident_bytes(self, enough: int | None) -> int:
        """Return the memory of all processes and of the files in memory that they have open.

        Each shared page once for each who has it; only where that could be more than `enough` are
        they divided among their users.
        """
        resident = self._summed().resident_kib * 1024
        if enough is None:
            return resident
        with self._privileges.as_root():
            living = self._jobs.living()
            files = self._memory_files.weigh(living)
            if resident + files <= enough:
                return resident + files
            own = sum(map(_proportional_bytes, living))
            return own + files - min(files, self._memory_files.mapped(living))

    def saw(self, memory: int) -> None:
        """Note the memory of all processes at some moment, in bytes."""
        self._seen_kib = max(self._seen_kib, memory // 1024)

    def first_sample(self) -> Sample:
        """Return the memory of the job's first process alone, as it was just after its start."""
        image, resident = (said(self._first_status, name) for name in (b"VmSize", b"VmRSS"))
        # One that has ended has none.
        return Sample(1, int(image[0]), int(resident[0])) if image and resident else Sample()

    def final_sample(self) -> Sample:
        """Return what the reaped job used, as the kernel counted."""
        usage = self._jobs.child.usage if self._jobs.child is not None else None
        if usage is None:
            return Sample()
        largest = max(usage.ru_maxrss, self._processes.orphans_peak_kib)
        # The kernel counts what the process was before it became the job, a copy of ourselves; a
        # smaller peak than our own says nothing about the job.
        if largest <= 1.25 * self._own_peak_kib:
            largest = 0
        peak = self._peak_kib(max(largest, self._seen_kib))
        return Sample(
            pids=0,
            image_kib=peak,
            resident_kib=peak,
            user_seconds=usage.ru_utime,
            system_seconds=usage.ru_stime,
            read_kib=usage.ru_inblock // 2,
            write_kib=usage.ru_oublock // 2,
        )

    def _peak_kib(self, known: int) -> int:
        """Return what all processes certainly had together once, which is `known` or more."""
        group = self._jobs.group
        if group is None or self._moved_before is None:
            return known
        least = known + _NOISE_KIB + _moved_kib() - self._moved_before
        # Most jobs have no more, and are not asked for their cache.
        if group.growth_bytes() // 1024 <= least:
            return known
        return max(known, known + group.growth_bytes(without_cache=True) // 1024 - least)


def _moved_kib() -> int:
    """Return what our children that have ended, and theirs, have read from disks and written."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_inblock + usage.ru_oublock) // 2


def _read_status(pid: int) -> bytes:
    try:
        return read_small(f"/proc/{pid}/status")
    except OSError:
        return b""


def _read_stat(pid: int) -> tuple[float, float, int, int] | None:
    """Return user and system seconds, image and resident KiB of a process."""
    try:
        words = read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return None
    if len(words) < 22:
        return None
    # Counted from the state, which is field 3 of proc(5).
    user = (int(words[11]) + int(words[13])) / _TICKS
    system = (int(words[12]) + int(words[14])) / _TICKS
    return user, system, int(words[20]) // 1024, int(words[21]) * _PAGE_KIB


def _proportional_bytes(pid: int) -> int:
    """Return a process's memory with its part of what it shares, else all it has resident."""
    known = proportional_bytes(pid)
    if known is not None:
        return known
    facts = _read_stat(pid)
    return facts[3] * 1024 if facts is not None else 0


def _read_io(pid: int) -> tuple[int, int]:
    try:
        lines = read_small(f"/proc/{pid}/io").splitlines()
        facts = dict(line.split(b": ") for line in lines)
    except (OSError, ValueError):
        return 0, 0
    return int(facts.get(b"read_bytes", 0)), int(facts.get(b"write_bytes", 0))
