"""Which processes a real pool has: its daemons by name, and who descends from whom.

Read from /proc, for tests that kill or count them. What works in a pool's folder, jobs too, is
`pool_fixture.processes_of`.
"""

from __future__ import annotations

import os
from pathlib import Path

from kettle.pool.personal import PersonalPool


def title_of(pid: int) -> str:
    """Return a process's title, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    """Return the pid of a process's parent, 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def family_of(master: int) -> list[int]:
    """Return a process and all that descend from it."""
    family = {master}
    everyone = {pid: parent_of(pid) for pid in map(int, filter(str.isdecimal, os.listdir("/proc")))}
    for _ in range(8):
        family |= {pid for pid, parent in everyone.items() if parent in family}
    return sorted(family)


def daemon_pids(pool: PersonalPool, name: str) -> list[int]:
    """Return the processes of a pool whose title begins with a daemon's name, zygotes apart."""
    master = pool.master_pid()
    if master is None:
        return []
    return [
        pid
        for pid in family_of(master)
        if title_of(pid).split(" ")[0].rstrip(":") == name and "zygote" not in title_of(pid)
    ]
