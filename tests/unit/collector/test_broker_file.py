"""The broker's ids on a disk that fails: what is told to be there is there."""

from __future__ import annotations

import asyncio
import errno
import os
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kettle.collector.broker_ids import KeptId, decode_ids
from kettle.collector.services.broker import IdFile
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.virtual_loop import run_virtually


def test_an_id_behind_one_that_was_lost_is_on_disk_when_that_is_told(tmp_path: Path) -> None:
    ids = [KeptId(f"10.0.0.{number}", number, str(number)) for number in range(4)]
    disk = SimulatedDisk(random.Random(1))
    said: list[str] = []
    runtime: Any = SimpleNamespace(
        files=SimulatedFiles(disk), log=SimpleNamespace(problem=said.append)
    )
    broker: Any = SimpleNamespace(listeners={})
    file = IdFile(runtime, broker)
    path = str(tmp_path / "ids")
    file.load(path, 0.0)

    async def add(number: int) -> None:
        broker.listeners[number] = SimpleNamespace(kept=ids[number])
        await file.add(ids[number])

    async def main() -> None:
        await add(0)
        disk.sync_seconds = (0.01, 0.01)
        first = asyncio.ensure_future(add(1))
        await asyncio.sleep(0.005)
        second = asyncio.ensure_future(add(2))
        disk.sync_error = errno.EIO
        await first
        disk.sync_error = 0
        await second
        disk.lose_power()
        assert ids[2] in decode_ids(runtime.files.read(path))
        # Whoever has gone has not heard what the disk said.
        third = asyncio.ensure_future(add(3))
        await asyncio.sleep(0.005)
        third.cancel()
        await asyncio.wait([third])
        assert file._lines is None

    run_virtually(main())
    assert len(said) == 1
    assert os.listdir(tmp_path) == ["ids"]
