"""Jobs whose run would be in vain: held before any machine is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.testing.world import World
from scenario.execution_point import ExecutionPoint, ScheddEnd
from scenario.shadow_stage import play


@pytest.mark.parametrize(("is_file", "why", "number"), [(False, "No such", 2), (True, "Not a", 20)])
def test_a_directory_that_is_gone_holds_its_job_before_it_runs(
    tmp_path: Path, why: str, number: int, *, is_file: bool
) -> None:
    """In the words and with the codes of the reference, and as no run that ended early."""
    gone = tmp_path / "gone"
    if is_file:
        gone.touch()

    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> None:
        await here.run(there, Iwd=str(gone), UserLog=str(here.log))
        assert (await here.ended()).reason == 112
        assert there.story == []
        assert here.numbers() == ["012"]
        assert here.updates["HoldReasonCode"] == "14"
        assert here.updates["HoldReasonSubCode"] == str(number)
        begins = f'"Cannot access initial working directory {gone}: {why}'
        assert here.updates["HoldReason"].startswith(begins)
        assert "VacateReasonCode" not in here.updates

    play(tmp_path, scenario)
