"""What an earlier daemon left is ended in a time that does not grow with how much it is."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from kettle.config import Config
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.privileges import Privileges
from kettle.testing.virtual_loop import run_virtually


def test_starters_that_do_not_end_are_waited_for_together(tmp_path: Path) -> None:
    config = Config.from_text("BASE_CGROUP =\n")
    runtime = SimpleNamespace(config=config, privileges=Privileges.find(), log=lambda _: None)
    started = [
        subprocess.Popen(["condor_starter", "60"], executable="/bin/sleep") for _ in range(3)
    ]
    for child in started:
        (tmp_path / f"dir_{child.pid}" / "scratch").mkdir(parents=True)

    async def main() -> float:
        began = asyncio.get_running_loop().time()
        await Leftovers(cast(Any, runtime), str(tmp_path)).end_all()
        return asyncio.get_running_loop().time() - began

    try:
        assert 10 <= run_virtually(main()) < 20
        assert all(child.wait() < 0 for child in started)
        assert list(tmp_path.iterdir()) == []
    finally:
        for child in started:
            child.kill()
            child.wait()
