"""Ending everything that a dead process left, however it hides, and knowing when that is done.

A daemon is a subreaper: what the dead one had below it becomes our child, at the latest in the
moment in which it can be reaped. So whoever is neither known here nor exempt is hunted, and the
hunt is over when no such child is left, not even one that has ended and waits to be reaped: what
is dying shows neither its name nor its memory any more, but still has its children. Who is
hunted is the callers' choice (`SystemProcesses.orphans`, marks in environments).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Collection, Mapping

from kettle.octets import to_bytes
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.cgroups import thaw
from kettle.runtime.process.liveness import in_kernels_hands, is_zombie
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import descendants, kill_together, title_of
from kettle.runtime.storage.small_files import read_small

_ROUND_SECONDS = 0.001
_LONGEST_ROUND_SECONDS = 0.25
# Limit: how long the hunt goes on when all that is left will not run again, or is not ours to kill.
_HOPELESS_SECONDS = 60.0

_SCHEDD = "condor_schedd"
_OUTLIVE = ("condor_shadow", "condor_log_writer")

# Whom to end: pids, or None while that cannot be told.
Find = Callable[[], Collection[int] | None]


async def hunt(find: Find, privileges: Privileges) -> list[int]:
    """Kill what `find` finds, and all that is below it, until it finds nothing.

    However long that takes: under load the killed may need seconds to go. Returns what stays, when
    for a minute nothing was left but what the kernel holds, which never runs again, and what is
    not ours to kill.
    """
    loop = asyncio.get_running_loop()
    hopeless_since: float | None = None
    pause = _ROUND_SECONDS
    while (found := find()) is None or found:
        with privileges.as_root():
            hopeful = found is None or _strike(found)
        if hopeful:
            hopeless_since = None
        elif hopeless_since is None:
            hopeless_since = loop.time()
        elif loop.time() - hopeless_since > _HOPELESS_SECONDS:
            return sorted(found or ())
        await asyncio.sleep(pause)
        pause = min(_LONGEST_ROUND_SECONDS, pause * 2)
    return []


def _strike(found: Collection[int]) -> bool:
    """Kill these and all below them; whether one is left that may run on and that we may kill."""
    everyone = list(dict.fromkeys([*found, *(pid for one in found for pid in descendants(one))]))
    kill_together(everyone)
    # A frozen process dies when it is thawed.
    thaw(everyone)
    return any(_may_end(pid) for pid in everyone)


def _may_end(pid: int) -> bool:
    """Whether a process that was sent SIGKILL is still on its way out by itself."""
    if is_zombie(pid) or in_kernels_hands(pid):
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def has_mark(pid: int, *marks: str) -> bool:
    """Whether a process has a variable in its environment that begins as one of these."""
    try:
        environment = read_small(f"/proc/{pid}/environ")
    except OSError:
        return False
    environment = b"\0" + environment
    return any(b"\0" + to_bytes(mark) in environment for mark in marks)


def marked(privileges: Privileges, *marks: str) -> list[int]:
    """Return the living processes of the machine that have one of these marks."""
    with privileges.as_root():
        pids = map(int, filter(str.isdecimal, os.listdir("/proc")))
        return [pid for pid in pids if has_mark(pid, *marks) and not is_zombie(pid)]


def begun_by(privileges: Privileges, marks: Mapping[int, Collection[str]]) -> list[int]:
    """Return the living processes that have a mark of a schedd that is gone, by its number.

    Another one may have the number since, and give the same marks: what that began is younger. One
    that has ended, or is about to, has no title any more.
    """
    found = []
    for daemon, its_marks in marks.items():
        began = birth_of(daemon) if title_of(daemon).startswith(_SCHEDD) else 0
        living = marked(privileges, *its_marks) if its_marks else []
        found += [pid for pid in living if not began or birth_of(pid) < began]
    return found


def outlives_its_daemon(pid: int) -> bool:
    """Whether an orphan is one of ours that sees its daemon's end and finishes what it writes.

    A name alone would not do, a job may take any; but no job is in our session.
    """
    with contextlib.suppress(ProcessLookupError):
        ours = os.getsid(pid) == os.getsid(0)
        return ours and title_of(pid).startswith(_OUTLIVE) and not is_zombie(pid)
    return False
