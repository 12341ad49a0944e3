"""What a job of several processes uses, as its ads and its log say it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.runtime.process.processes import descendants
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
    return JobUse(jobs, privileges)


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
