"""What is killed, and how often next to the rest: a table, and one function for each way."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_processes import daemon_pids, family_of, title_of

# Which processes of a pool's are to be killed, with their titles.
Find = Callable[[PersonalPool, random.Random], dict[int, str]]


# A daemon that has just been started is not called by its name yet.
_DAEMON_TITLES = ("condor_", "kettle", f"{sys.executable} -P -m kettle.")


@dataclass(frozen=True)
class Trouble:
    """One thing that is done to a pool; `find` chooses the processes that are killed at once."""

    name: str
    weight: int
    find: Find


def _one_of(name: str) -> Find:
    def find(pool: PersonalPool, source: random.Random) -> dict[int, str]:
        found = daemon_pids(pool, name)
        return _titled([source.choice(found)] if found else [])

    return find


def _all_of(*names: str) -> Find:
    def find(pool: PersonalPool, source: random.Random) -> dict[int, str]:
        del source
        return _titled(pid for name in names for pid in daemon_pids(pool, name))

    return find


def _a_zygote(pool: PersonalPool, source: random.Random) -> dict[int, str]:
    found = [pid for pid in _family(pool) if "zygote" in title_of(pid)]
    return _titled([source.choice(found)] if found else [])


def _daemons(pool: PersonalPool, source: random.Random) -> dict[int, str]:
    """Every process of the pool itself: what runs the jobs, and not the jobs."""
    del source
    family = _titled(_family(pool))
    return {pid: title for pid, title in family.items() if title.startswith(_DAEMON_TITLES)}


def _master(pool: PersonalPool, source: random.Random) -> dict[int, str]:
    del source
    master = pool.master_pid()
    return {} if master is None else _titled([master])


def _family(pool: PersonalPool) -> list[int]:
    master = pool.master_pid()
    return [] if master is None else family_of(master)


def _titled(pids: Iterable[int]) -> dict[int, str]:
    return {pid: title_of(pid) for pid in pids}


TROUBLES = (
    Trouble("schedd", 5, _one_of("condor_schedd")),
    Trouble("startd", 4, _one_of("condor_startd")),
    Trouble("collector", 2, _one_of("condor_collector")),
    Trouble("negotiator", 2, _one_of("condor_negotiator")),
    Trouble("shadow host", 5, _one_of("condor_shadow")),
    Trouble("starter", 8, _one_of("condor_starter")),
    Trouble("zygote", 3, _a_zygote),
    Trouble("startd and starters", 3, _all_of("condor_startd", "condor_starter")),
    Trouble("schedd and shadow hosts", 3, _all_of("condor_schedd", "condor_shadow")),
    Trouble("schedd and startd", 2, _all_of("condor_schedd", "condor_startd")),
    Trouble("master", 2, _master),
    Trouble("every daemon", 1, _daemons),
)


def draw(source: random.Random) -> Trouble:
    """Draw one of the table."""
    return source.choices(TROUBLES, [trouble.weight for trouble in TROUBLES])[0]


def kill(pids: Collection[int]) -> None:
    """Kill processes at one instant: none of them sees another one die."""
    numbers = (signal.SIGSTOP, signal.SIGKILL) if len(pids) > 1 else (signal.SIGKILL,)
    for number in numbers:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
