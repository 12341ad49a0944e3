"""What a job of several processes uses, as its ads and its log say it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.runtime.process.processes import SystemProcesses, descendants
from kettle.starter.services.use import JobUse

_MIB = 64
# Three forks of one process, which leave its memory as it is.
_FORKS = f"""
import os, sys
block = b"x" * ({_MIB} << 20)
for _ in range(3):
    if os.fork() == 0:
        sys.stdin.read()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""


def use(pids: list[int], group: Any = None) -> JobUse:
    jobs: Any = SimpleNamespace(below=lambda: pids, group=group)
    privileges: Any = SimpleNamespace(as_root=contextlib.nullcontext)
    return JobUse(jobs, privileges, SystemProcesses())


@pytest.mark.parametrize("grouped", [True, False])
def test_what_the_processes_of_a_job_share_counts_once(grouped: bool) -> None:
    """A job of four forks had four times its data: more than its slot, and the machine."""
    words = [sys.executable, "-c", _FORKS]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        try:
            assert job.stdout is not None
            assert job.stdout.readline() == b"ready\n"
            pids = [job.pid, *descendants(job.pid)]
            group = SimpleNamespace(memory_bytes=lambda: (70 << 20, 90 << 20)) if grouped else None
            found = use(pids, group).sample()
            summed = use(pids)._summed()
        finally:
            job.kill()
    assert found.pids == summed.pids == 4
    assert found.image_kib == summed.image_kib
    assert summed.resident_kib > 4 * _MIB * 1024 - 4096
    if grouped:
        assert found.resident_kib == 70 * 1024
    else:
        assert _MIB * 1024 - 4096 < found.resident_kib < 2 * _MIB * 1024


class Grown:
    """A group that grew by so many MiB, of which a part is cache still."""

    def __init__(self, grown: int, cache: int = 0) -> None:
        self._grown, self._cache = grown, cache

    def mark_memory(self) -> None:
        """Forget nothing."""

    def growth_bytes(self, *, without_cache: bool = False) -> int:
        """Return the growth."""
        return (self._grown - (self._cache if without_cache else 0)) << 20


def final_mib(
    group: Grown | None, monkeypatch: pytest.MonkeyPatch, *, largest: int = 0, moved: int = 0
) -> int:
    """Return what is said at the end of a job whose programs read and wrote so many MiB."""
    kib = [5]
    monkeypatch.setattr("kettle.starter.services.use._moved_kib", lambda: kib[0])
    found = ended(use([], group), largest)
    kib[0] += moved * 1024
    return found.final_sample().resident_kib // 1024


def ended(found: JobUse, largest: int = 0) -> JobUse:
    """Return it after a program whose largest process had so many MiB; we have 40 ourselves."""
    found.prepare()
    rusage = SimpleNamespace(
        ru_maxrss=largest * 1024, ru_utime=0.0, ru_stime=0.0, ru_inblock=0, ru_oublock=0
    )
    found._jobs.child = SimpleNamespace(usage=rusage)  # type: ignore[assignment]
    found._own_peak_kib = 40 * 1024
    return found


def test_what_several_processes_had_for_a_moment_is_how_far_their_group_grew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert final_mib(Grown(401), monkeypatch, largest=100) == 400
    # Of one process the kernel tells nothing that is less than ours; a group tells of it.
    assert final_mib(Grown(31), monkeypatch, largest=30) == 30
    assert final_mib(None, monkeypatch, largest=30) == 0
    assert final_mib(None, monkeypatch, largest=100) == 100


@pytest.mark.parametrize(("cache", "moved"), [(300, 0), (0, 300), (150, 150)])
def test_files_of_a_job_are_not_its_memory_whether_they_are_there_still_or_not(
    cache: int, moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert final_mib(Grown(401, cache), monkeypatch, largest=60, moved=moved) == 100
    assert final_mib(Grown(311, cache), monkeypatch, largest=60, moved=moved) == 60


def test_an_orphan_of_the_job_s_counts_as_its_first_process_does() -> None:
    found = ended(use([]))
    found._processes.orphans_peak_kib = 1 << 20
    assert found.final_sample().resident_kib == 1 << 20
    found.saw(2 << 30)
    assert found.final_sample().resident_kib == 2 << 20
