"""The jobs of a late cluster are told of once, though a crash may come between log and queue."""

from __future__ import annotations

import getpass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.schedd.services.events import ScheddEvents
from kettle.testing.world import World, run_in_world
from unit.schedd.queue_fixture import Schedd


@pytest.mark.parametrize(("may_be_told", "told"), [(False, "0 1 2 0 1 2"), (True, "0 1 2")])
def test_what_the_log_tells_already_is_not_told_again(
    tmp_path: Path, *, may_be_told: bool, told: str
) -> None:
    log = tmp_path / "events"

    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("SCHEDD", "")
        records = SimpleNamespace(are_waiting=False)
        events = ScheddEvents(
            runtime, lambda _: runtime.privileges.daemon, lambda _: None, cast(Any, records)
        )
        jobs = Schedd().submit(3, UserLog=f'"{log}"', Iwd=f'"{tmp_path}"')
        for job in jobs:
            job.owner = getpass.getuser()
        events.all_submitted(jobs[:2])
        events.all_submitted(jobs[2:], lambda _: True)
        events.all_submitted(jobs, lambda _: may_be_told)
        await events.stop()

    run_in_world(tmp_path, scenario)
    lines = [line for line in log.read_text().splitlines() if line.startswith("000 (")]
    assert " ".join(str(int(line.split(".")[1])) for line in lines) == told
