"""Whenever the power goes, each job that was acknowledged is in the queue or in the history."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

from kettle.records.history import read_forwards
from kettle.records.queue_log import replay
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.world import World, run_in_world
from scenario.access_point import AccessPoint

JOBS = {f"1.{proc}" for proc in range(4)}


@dataclass
class Keys:
    """The keys of the ads in a queue log."""

    found: set[str] = field(default_factory=set)

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        del my_type, target_type
        self.found.add(key)

    def destroy_ad(self, key: str) -> None:
        self.found.discard(key)

    def set_attribute(self, key: str, name: str, text: str) -> None: ...

    def delete_attribute(self, key: str, name: str) -> None: ...


def kept(disk: SimulatedDisk, path: Path) -> bytes:
    """What a power cut leaves of a file at least."""
    return path.read_bytes()[: disk.kept_bytes(str(path))] if path.exists() else b""


def queued(data: bytes) -> set[str]:
    """The jobs that a queue log holds."""
    keys = Keys()
    replay(data, keys)
    return {key for key in keys.found if key in JOBS}


def recorded(data: bytes) -> set[str]:
    """The jobs that a history tells of."""
    return {
        f"{record.fields['ClusterId']}.{record.fields['ProcId']}" for record in read_forwards(data)
    }


def test_a_job_is_in_the_queue_or_in_the_history_whenever_the_power_goes(tmp_path: Path) -> None:
    """The disk may have written as much more of one file as it likes, and nothing of the other."""
    log, history = tmp_path / "spool" / "job_queue.log", tmp_path / "spool" / "history"

    async def scenario(world: World) -> None:
        disk = SimulatedDisk(random.Random(1))
        here = AccessPoint(world, run_seconds=1.0, files=SimulatedFiles(disk))
        await here.start()
        await here.submit(len(JOBS))
        assert queued(kept(disk, log)) == JOBS
        await here.negotiate()
        moments = 0
        while here.schedd.queue.jobs:
            await asyncio.sleep(0.001)
            for queue in (log.read_bytes(), kept(disk, log)):
                assert queued(queue) | recorded(kept(disk, history)) == JOBS
            moments += 1
        assert moments > 1000
        assert recorded(history.read_bytes()) == JOBS
        await here.daemon.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_job_s_own_history_file_is_on_disk_before_the_job_leaves(tmp_path: Path) -> None:
    log, folder = tmp_path / "spool" / "job_queue.log", tmp_path / "each"
    folder.mkdir()

    async def scenario(world: World) -> None:
        disk = SimulatedDisk(random.Random(1))
        more = f"PER_JOB_HISTORY_DIR = {folder}\n"
        here = AccessPoint(world, more, run_seconds=1.0, files=SimulatedFiles(disk))
        await here.start()
        await here.submit(len(JOBS))
        await here.negotiate()
        while here.schedd.queue.jobs:
            await asyncio.sleep(0.001)
            for job in JOBS - queued(log.read_bytes()):
                path = folder / f"history.{job}"
                assert kept(disk, path) == path.read_bytes() != b""
        assert len(list(folder.iterdir())) == len(JOBS)
        await here.daemon.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_torn_record_of_the_history_is_cut_off_and_its_job_recorded_again(
    tmp_path: Path,
) -> None:
    history = tmp_path / "spool" / "history"

    async def scenario(world: World) -> None:
        disk = SimulatedDisk(random.Random(1))
        here = AccessPoint(world, run_seconds=1.0, files=SimulatedFiles(disk))
        await here.start()
        await here.submit(len(JOBS))
        await here.negotiate()
        for _ in range(10_000):
            await asyncio.sleep(0.001)
            if history.exists() and recorded(history.read_bytes()):
                break
        assert here.schedd.queue.jobs
        await here.crash_schedd()
        disk.lose_power()
        # All but the last line's end of the last record came to the disk.
        whole = history.read_bytes()
        history.write_bytes(whole[:-1] if whole else b"Cmd = ")
        await here.start_schedd()
        await here.negotiate()
        await asyncio.sleep(20)
        found = [f"{job['ClusterId']}.{job['ProcId']}" for job in here.history()]
        assert sorted(found) == sorted(JOBS)
        await here.daemon.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_record_that_a_killed_schedd_left_unsynced_is_synced_before_its_job_goes(
    tmp_path: Path,
) -> None:
    log, history = tmp_path / "spool" / "job_queue.log", tmp_path / "spool" / "history"

    async def scenario(world: World) -> None:
        disk = SimulatedDisk(random.Random(1))
        here = AccessPoint(world, run_seconds=1.0, files=SimulatedFiles(disk))
        await here.start()
        await here.submit(len(JOBS))
        await here.negotiate()
        for _ in range(10_000):
            await asyncio.sleep(0.001)
            if history.exists() and len(recorded(history.read_bytes())) == 2:
                break
        assert recorded(kept(disk, history)) == set()
        await here.crash_schedd()
        await here.start_schedd()
        for _ in range(1000):
            assert queued(log.read_bytes()) | recorded(kept(disk, history)) == JOBS
            await asyncio.sleep(0.001)
        assert len(queued(log.read_bytes())) == 2
        await here.daemon.stop("fast")

    run_in_world(tmp_path, scenario)
