"""One simulation from its seed to its verdict.

Everything that happens follows from the seed, so a failure is a number: run it again and read the
log. Run each simulation in a process of its own (`isolated`): the dead leave their objects behind.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from kettle.attributes.codes import JobStatus
from kettle.schedd.queue.factory import Paused
from kettle.schedd.queue.spooling import is_waiting_for_files
from kettle.testing.simulation import checks, faults
from kettle.testing.simulation.children import ChildFailed, run_in_children, warm
from kettle.testing.simulation.pool import SimulatedPool
from kettle.testing.simulation.processes import MortalLoop, watch_connections
from kettle.testing.simulation.shapes import LONGEST_LEASE, draw_wishes
from kettle.testing.simulation.users import CONTINUE, RELEASE, Wish

# Limit: virtual time in which a mended pool must have finished everything.
_PATIENCE_SECONDS = 6 * 3600.0
# How long a job may take in the mended pool: the keep-alive of connections, the intervals at which
# daemons look for each other, and its own time.
_LAST_SECONDS = 1200.0
# A slot whose job nobody claims any more is free when the leases of job and claim have run out,
# counted from the moment at which everything is mended.
_FREE_SECONDS = 2 * LONGEST_LEASE + 900.0
# When daemons have noticed at the latest that, say, a disk has room again.
_NOTICED_SECONDS = 30.0
# How often is looked whether a pool is done, and how often a user looks after jobs on hold.
_LOOK_SECONDS = 10.0
_RELEASE_SECONDS = 300.0
# What a user does about a job, by its status: held, suspended.
_WAITS_FOR_ITS_USER = {JobStatus.HELD: RELEASE, JobStatus.SUSPENDED: CONTINUE}
# A pool at rest is watched for so much longer.
_REST_SECONDS = 60.0


@dataclass
class Verdict:
    """What came of one seed."""

    seed: int
    violations: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    # The kinds of the troubles that happened, by the names of their rows.
    kinds: list[str] = field(default_factory=list)
    jobs: int = 0
    executions: int = 0
    virtual_seconds: float = 0.0
    cpu_seconds: float = 0.0
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
    verdict.jobs = len(list(pool.wishes()))
    verdict.executions = len(pool.witness.executions)
    verdict.virtual_seconds = loop.time()
    return verdict


async def _play(loop: MortalLoop, folder: Path, verdict: Verdict) -> SimulatedPool:
    pool = SimulatedPool(loop, folder, verdict.seed)
    loop.after_step = checks.Watch(pool).look
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
            verdict.kinds.append(trouble.name)
    await asyncio.sleep(faults.LAST_SECONDS)
    faults.end_all(pool)
    await wait_for_the_end(pool, verdict)
    await _run_the_last(pool, verdict)
    await _wait_for_rest(pool, verdict)
    return pool


def _submit(pool: SimulatedPool) -> None:
    source = pool.random
    for user in pool.users:
        for wish in draw_wishes(source, pool.shape, user.name):
            pool.later(source.choice((0.0, 0.0, 10.0, 200.0)), partial(user.submit, wish))


async def wait_for_the_end(pool: SimulatedPool, verdict: Verdict) -> None:
    """Let the pool finish; what it put on hold is released, as a user would.

    Nobody is done before all that was planned has happened: a user may be late with a job.
    """
    loop = pool.table.loop
    end = max(loop.time(), pool.quiet_from) + _PATIENCE_SECONDS
    mended_at = loop.time()
    look_after = loop.time() + _RELEASE_SECONDS
    while loop.time() < end:
        await asyncio.sleep(_LOOK_SECONDS)
        noticed_at = max(mended_at, pool.quiet_from) + _NOTICED_SECONDS
        if loop.time() >= noticed_at and checks.is_finished(pool):
            return
        if loop.time() >= look_after:
            look_after = loop.time() + _RELEASE_SECONDS
            _look_after_jobs(pool)
    verdict.violations.append("the pool did not finish in time")


def _look_after_jobs(pool: SimulatedPool) -> None:
    """Do what each user does about jobs that wait for him."""
    for user, wish in pool.wishes():
        schedd = user.machine.service("SCHEDD")
        if schedd is None or not wish.cluster:
            continue
        if wish.spools and (job := schedd.queue.job(wish.cluster, 0)) is not None:
            if is_waiting_for_files(job.ad):
                user.spool(wish)
                continue
            if job.status == JobStatus.COMPLETED:
                user.fetch(wish)
        jobs = [schedd.queue.job(wish.cluster, proc) for proc in range(wish.procs)]
        statuses = {job.ad.integer("JobStatus") for job in jobs if job is not None}
        cluster = schedd.queue.clusters.get(wish.cluster)
        if cluster is not None and cluster.ad.integer("JobMaterializePaused") == Paused.HELD:
            # Who holds a cluster holds the jobs, too, that it has not made.
            statuses.add(JobStatus.HELD)
        for status in statuses:
            if status in _WAITS_FOR_ITS_USER:
                user.act(_WAITS_FOR_ITS_USER[status], wish)


async def _run_the_last(pool: SimulatedPool, verdict: Verdict) -> None:
    """Have the mended pool run one more job of each user."""
    loop = pool.table.loop
    wishes = []
    for user in pool.users:
        wishes.append(Wish(f"{user.name}-last", seconds=1.0, code=0))
        user.submit(wishes[-1])
    end = loop.time() + _LAST_SECONDS
    while loop.time() < end:
        await asyncio.sleep(_LOOK_SECONDS)
        if all(wish.acknowledged for wish in wishes) and checks.is_finished(pool):
            return
    verdict.violations.append("the mended pool does not run a new job")


async def _wait_for_rest(pool: SimulatedPool, verdict: Verdict) -> None:
    """Wait until nothing runs and no slot is claimed, and see that it stays so."""
    loop = pool.table.loop
    end = max(loop.time(), pool.quiet_from + _FREE_SECONDS)
    quiet_since = loop.time()
    while loop.time() < end:
        await asyncio.sleep(_LOOK_SECONDS)
        if not checks.is_at_rest(pool):
            quiet_since = loop.time()
        elif loop.time() - quiet_since >= _REST_SECONDS:
            return
    verdict.violations += checks.find_unrest(pool)


def isolated(seed: int) -> Verdict:
    """Run one simulation in a forked child; a child that fails is a violation too."""
    return next(iter(campaign([seed])))


def campaign(
    seeds: Iterable[int], at_once: int = 1, *, with_log: bool = False
) -> Iterator[Verdict]:
    """Run seeds in forked children, so many at once; the log comes with those that failed."""
    with tempfile.TemporaryDirectory(prefix="kettle-simulation-", dir=_fast_folder()) as folder:
        calls = ((seed, partial(_report, seed, f"{folder}/{seed}", with_log)) for seed in seeds)
        for seed, outcome in run_in_children(calls, at_once):
            shutil.rmtree(f"{folder}/{seed}", ignore_errors=True)
            if isinstance(outcome, ChildFailed):
                yield Verdict(seed, [str(outcome)])
            else:
                yield Verdict(**json.loads(outcome))


def _report(seed: int, folder: str, with_log: bool) -> bytes:
    # What a simulation makes is gone with its process before collecting it would pay.
    gc.disable()
    began = time.process_time()
    verdict = simulate(seed, Path(folder))
    verdict.cpu_seconds = time.process_time() - began
    if not verdict.violations and not with_log:
        verdict.log.clear()
    return json.dumps(asdict(verdict)).encode("utf-8", "surrogateescape")


def load_everything() -> None:
    """Load what simulations need, so that children forked from here on need not."""
    with tempfile.TemporaryDirectory(prefix="kettle-simulation-", dir=_fast_folder()) as folder:
        warm(partial(simulate, 1, Path(folder) / "first"))


def _fast_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
