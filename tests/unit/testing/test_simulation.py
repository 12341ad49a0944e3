"""The simulation itself: its dead stay dead, its cables lose things, its witness sees double."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kettle.errors import ConnectionLost, StorageError
from kettle.runtime.sockets.transport import SocketTransport
from kettle.testing.simulation.cables import Cable, SimulatedHub
from kettle.testing.simulation.children import run_in_child
from kettle.testing.simulation.disk import PLENTY, SimulatedDisk, SimulatedFiles
from kettle.testing.simulation.jobs import Witness
from kettle.testing.simulation.processes import (
    MortalLoop,
    ProcessTable,
    SimulatedProcess,
    outside,
)

HERE, THERE = "10.0.0.1", "10.0.0.2"


def run(scenario: Callable[[], Coroutine[Any, Any, object]]) -> bytes:
    """Play a scenario in a child, as the dead leave their objects behind; what it returns."""

    def call() -> bytes:
        loop = MortalLoop()
        asyncio.set_event_loop(loop)
        return str(loop.run_until_complete(scenario()) or "").encode()

    return run_in_child(call)


def table() -> ProcessTable:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MortalLoop)
    return ProcessTable(loop)


def test_who_is_killed_does_nothing_more_not_even_its_clean_up() -> None:
    story: list[str] = []

    async def life(process: SimulatedProcess) -> int:
        try:
            story.append("lives")
            await asyncio.sleep(10)
            story.append("lives on")
        finally:
            story.append("cleans up")
        return 0

    async def main() -> None:
        process = table().start("daemon", "here", life)
        await asyncio.sleep(1)
        process.kill()
        await asyncio.sleep(100)
        assert story == ["lives"]
        assert process.child.status == 9

    run(main)


def test_a_parent_hears_of_its_child_and_the_dead_hear_nothing() -> None:
    story: list[str] = []

    async def child(process: SimulatedProcess) -> int:
        await asyncio.sleep(5)
        return 3

    async def main() -> None:
        processes = table()

        async def parent(process: SimulatedProcess) -> int:
            born = processes.start("child", "here", child, process)
            story.append(f"{process.name} heard {await born.child.wait()}")
            return 0

        processes.start("first", "here", parent)
        second = processes.start("second", "here", parent)
        await asyncio.sleep(1)
        second.kill()
        await asyncio.sleep(20)
        assert story == ["first heard 768"]

    run(main)


def _cable(hub: SimulatedHub) -> tuple[Cable, SocketTransport, SocketTransport]:
    cable: Cable = outside(Cable, hub, (HERE, THERE))
    hub.cables.add(cable)
    return cable, SocketTransport(cable.near), SocketTransport(cable.far)


def test_a_cable_keeps_bytes_in_order_and_ends_after_them() -> None:
    async def main() -> None:
        hub = SimulatedHub(1)
        hub.weather.latency = (0.0, 5.0)
        _, near, far = _cable(hub)
        for number in range(50):
            near.write(b"%02d" % number)
            await asyncio.sleep(0.1)
        near.close()
        got = b""
        while len(got) < 100:
            got += await far.read(100)
        with pytest.raises(ConnectionLost, match="closed"):
            await far.read(100)
        assert got == b"".join(b"%02d" % number for number in range(50))

    run(main)


def test_what_two_parted_machines_say_arrives_when_they_hear_each_other_again() -> None:
    async def main() -> None:
        hub = SimulatedHub(1)
        _, near, far = _cable(hub)
        ways = {(HERE, THERE), (THERE, HERE)}
        hub.weather.lost |= ways
        near.write(b"hello")
        with pytest.raises(ConnectionLost, match="said nothing"):
            await far.read(100)
        hub.mend(ways)
        assert await far.read(1) == b"hello"

    run(main)


def test_a_machine_may_be_heard_that_hears_nothing() -> None:
    async def main() -> None:
        hub = SimulatedHub(1)
        _, near, far = _cable(hub)
        hub.weather.lost.add((THERE, HERE))
        near.write(b"hello")
        assert await far.read(10) == b"hello"
        far.write(b"you too")
        with pytest.raises(ConnectionLost, match="said nothing"):
            await near.read(100)

    run(main)


def test_a_connection_is_cut_at_the_message_that_was_chosen() -> None:
    async def main() -> None:
        hub = SimulatedHub(1)
        _, near, far = _cable(hub)
        hub.weather.pieces_to_cut = 2
        near.write(b"one")
        assert await far.read(10) == b"one"
        far.write(b"two")
        with pytest.raises(ConnectionLost):
            await near.read(10)

    run(main)


def test_who_is_doomed_dies_before_the_act_that_was_chosen(tmp_path: Path) -> None:
    story: list[str] = []

    async def life(process: SimulatedProcess) -> int:
        files = SimulatedFiles(SimulatedDisk(random.Random(1)))
        try:
            for number in range(9):
                files.append(str(tmp_path / "log"), b"%d" % number)
                story.append(str(number))
        finally:
            with contextlib.suppress(StorageError):
                files.append(str(tmp_path / "log"), b"cleaned up")
        return 0

    async def main() -> None:
        processes = table()
        processes.doom_next("daemon", 3, SimulatedProcess.kill)
        processes.start("tool", "here", life)
        await asyncio.sleep(1)
        assert (tmp_path / "log").read_bytes() == b"012345678cleaned up"
        process = processes.start("daemon", "here", life)
        await asyncio.sleep(1)
        assert (tmp_path / "log").read_bytes() == b"012345678cleaned up012"
        assert process.child.status == 9

    run(main)


def test_a_disk_takes_what_it_has_room_for(tmp_path: Path) -> None:
    async def main() -> None:
        disk = SimulatedDisk(random.Random(1))
        files = SimulatedFiles(disk)
        disk.room = 5
        file = files.open_durable(str(tmp_path / "log"))
        with pytest.raises(StorageError, match="No space left"):
            file.append(b"too much")
        assert file.size == 0
        with pytest.raises(StorageError, match="No space left"):
            files.append(str(tmp_path / "other"), b"more")
        disk.room = PLENTY
        file.append(b"enough")
        disk.sync_error = errno.EIO
        with pytest.raises(StorageError, match="Input/output error"):
            await file.commit()
        file.close()

    run(main)


def test_a_connection_to_a_machine_that_lost_its_power_is_given_up_in_the_end() -> None:
    async def main() -> None:
        hub = SimulatedHub(1)
        cable, near, far = _cable(hub)
        hub.weather.dark.add(THERE)
        far.close()
        cable.lose_an_end()
        began = asyncio.get_running_loop().time()
        with pytest.raises(ConnectionLost):
            await near.read(None)
        assert 300 < asyncio.get_running_loop().time() - began < 600

    run(main)


def test_a_power_cut_leaves_what_was_synced_and_a_part_of_the_rest(tmp_path: Path) -> None:
    lengths = set()

    async def main() -> None:
        for seed in range(20):
            disk = SimulatedDisk(random.Random(seed))
            path = tmp_path / f"log{seed}"
            file = SimulatedFiles(disk).open_durable(str(path))
            file.append(b"kept ")
            await file.commit()
            file.append(b"at risk")
            disk.lose_power()
            assert b"kept at risk".startswith(path.read_bytes())
            lengths.add(path.stat().st_size)
            file.close()
        assert min(lengths) >= len(b"kept ")
        assert len(lengths) > 3

    run(main)


def test_the_witness_sees_a_job_that_lives_twice() -> None:
    witness = Witness()
    first = witness.begin("j1", "ep1", 1.0)
    first.ended = 2.0
    witness.begin("j1", "ep2", 3.0)
    witness.begin("j2", "ep2", 3.5)
    assert witness.violations == []
    witness.begin("j1", "ep1", 4.0)
    assert "j1 starts on ep1 at 4.000 while it runs on ep2" in witness.violations[0]
