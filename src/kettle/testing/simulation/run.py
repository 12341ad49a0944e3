"""One simulation from its seed to its verdict.

Everything that happens follows from the seed, so a failure is a number: run it again and read the
log. Run each simulation in a process of its own (`isolated`): the dead leave their objects behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from kettle.testing.simulation import checks, faults
from kettle.testing.simulation.children import ChildFailed, run_in_child
from kettle.testing.simulation.pool import SimulatedPool
from kettle.testing.simulation.processes import MortalLoop, watch_connections
from kettle.testing.simulation.users import RELEASE, Wish

_LEASES = (2400, 2400, 600, 60)
# Limit: virtual time in which a mended pool must have finished everything.
_PATIENCE_SECONDS = 6 * 3600.0
# How long a job may take in the mended pool, and its slot to become free again.
_LAST_SECONDS = 600.0
# A slot whose job nobody claims any more is free when the leases of job and claim have run out,
# counted from the moment at which everything is mended.
_FREE_SECONDS = 2 * max(_LEASES) + 900.0
# How often a user looks after jobs that are on hold.
_LOOK_SECONDS = 300.0


@dataclass
class Verdict:
    """What came of one seed."""

    seed: int
    violations: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    jobs: int = 0
    executions: int = 0
    virtual_seconds: float = 0.0
    log: list[str] = field(default_factory=list)


def simulate(seed: int, folder: Path) -> Verdict:
    """Run one simulation in this process, which is of no other use afterwards."""
    watch_connections()
    loop = MortalLoop(limit_seconds=30 * 86400.0)
    asyncio.set_event_loop(loop)
    verdict = Verdict(seed)
    pool = loop.run_until_complete(_play(loop, folder, verdict))
    verdict.violations += checks.find_violations(pool)
    verdict.log = pool.log
    verdict.jobs = len(pool.user.wishes)
    verdict.executions = len(pool.witness.executions)
    verdict.virtual_seconds = loop.time()
    return verdict


async def _play(loop: MortalLoop, folder: Path, verdict: Verdict) -> SimulatedPool:
    pool = SimulatedPool(loop, folder, verdict.seed)
    pool.start()
    await asyncio.sleep(5)
    _submit(pool)
    await asyncio.sleep(pool.random.uniform(0.01, 20))
    began = loop.time()
    for moment, trouble in faults.draw(pool.random):
        await asyncio.sleep(max(0.0, began + moment - loop.time()))
        what = trouble.happen(pool, pool.random)
        if what:
            pool.note(what)
            verdict.troubles.append(what)
    await _wait_for_the_end(pool, verdict)
    # The keep-alive of connections, and the intervals at which daemons look for each other.
    await asyncio.sleep(max(0.0, pool.quiet_from - loop.time()) + _LAST_SECONDS)
    pool.user.submit(Wish("last", seconds=1.0, code=0))
    await asyncio.sleep(_LAST_SECONDS)
    if not checks.is_finished(pool):
        verdict.violations.append("the mended pool does not run a new job")
    await asyncio.sleep(max(0.0, _FREE_SECONDS - (loop.time() - pool.quiet_from)))
    verdict.violations += checks.find_stuck_slots(pool)
    return pool


def _submit(pool: SimulatedPool) -> None:
    source = pool.random
    for number in range(source.randint(1, 8)):
        wish = Wish(
            f"j{number}",
            seconds=source.choice((0.0, 0.5, 5.0, 60.0, 400.0)),
            code=source.choice((0, 0, 0, 3)),
            lease=source.choice(_LEASES),
        )
        pool.later(source.choice((0.0, 0.0, 10.0, 200.0)), partial(pool.user.submit, wish))


async def _wait_for_the_end(pool: SimulatedPool, verdict: Verdict) -> None:
    """Let the pool finish; what it put on hold is released, as a user would."""
    end = pool.table.loop.time() + _PATIENCE_SECONDS
    while pool.table.loop.time() < end:
        await asyncio.sleep(_LOOK_SECONDS)
        if checks.is_finished(pool):
            # What is late to be written, and programs that somebody ought to end.
            await asyncio.sleep(_LOOK_SECONDS)
            return
        schedd = pool.access_point.services.get("SCHEDD")
        for wish in pool.user.wishes:
            job = schedd.queue.job(wish.cluster, 0) if schedd and wish.cluster else None
            if job is not None and job.ad.integer("JobStatus") == 5:
                pool.user.act(RELEASE, wish)
    verdict.violations.append("the pool did not finish in time")


def isolated(seed: int) -> Verdict:
    """Run one simulation in a forked child; a child that fails is a violation too."""
    folder = tempfile.mkdtemp(prefix="kettle-simulation-", dir=_fast_folder())

    def call() -> bytes:
        verdict = simulate(seed, Path(folder))
        return json.dumps(asdict(verdict)).encode("utf-8", "surrogateescape")

    try:
        return Verdict(**json.loads(run_in_child(call)))
    except ChildFailed as failed:
        return Verdict(seed, [str(failed)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fast_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
