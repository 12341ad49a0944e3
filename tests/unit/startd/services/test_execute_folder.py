"""An EXECUTE that cannot be written is told of once, and once when it can."""

from __future__ import annotations

from pathlib import Path

from kettle.startd.services.execute_folder import ExecuteFolder
from kettle.testing.world import World, run_in_world


def test_a_change_is_told_of_once(tmp_path: Path) -> None:
    folder = tmp_path / "sandboxes"

    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("STARTD", f"EXECUTE = {folder}\n")
        folder.mkdir()
        execute = ExecuteFolder(runtime)
        execute.look()
        assert not world.log
        # Root may write everywhere: for it the folder has to be gone.
        folder.rmdir()
        execute.look()
        execute.look()
        folder.mkdir()
        execute.look()
        execute.look()
        said = [line for line in world.log if "EXECUTE" in line]
        assert [line.partition("sandboxes, ")[2] for line in said] == [
            "cannot be written: no job can be started here",
            "can be written again",
        ]

    run_in_world(tmp_path, scenario)
