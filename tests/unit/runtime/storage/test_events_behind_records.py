"""Events of what is not on disk yet: they wait, in the jobs' logs and in the pool's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.records.event_kinds import ExecuteEvent, SubmitEvent
from kettle.records.event_log import read_events
from kettle.runtime.storage.event_logs import EventLogs
from kettle.testing.virtual_loop import run_virtually

NOW = 1795262865.0


def numbers(path: Path) -> list[int]:
    return [event.number for event in read_events(path.read_bytes())]


class Records:
    """What events tell of, which has no room at first."""

    def __init__(self) -> None:
        self.room = asyncio.Event()

    @property
    def are_waiting(self) -> bool:
        return not self.room.is_set()

    async def written(self) -> None:
        await self.room.wait()


def test_neither_a_job_s_log_nor_the_pool_s_tells_of_what_is_not_written_yet(
    tmp_path: Path,
) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "ClusterId": 7, "ProcId": 1})

    async def main() -> None:
        records = Records()
        text = f"LOCK = {tmp_path}\nEVENT_LOG = {tmp_path}/all\n"
        writer = EventLogs(Config.from_text(text, subsystem="SCHEDD"), records=records)
        writer.write(job, SubmitEvent(cluster=7, proc=1, time=NOW))
        await asyncio.sleep(60)
        assert not (tmp_path / "j").exists()
        assert not (tmp_path / "all").exists()
        assert len(writer.unwritten((7, 1))) == 1
        records.room.set()
        await asyncio.sleep(60)
        writer.write(job, ExecuteEvent(cluster=7, proc=1, time=NOW))
        writer.close()

    run_virtually(main())
    assert numbers(tmp_path / "j") == [0, 1]
    assert numbers(tmp_path / "all")[1:] == [0, 1]
