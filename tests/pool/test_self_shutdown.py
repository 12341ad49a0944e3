"""A daemon whose own ad says that it is to end does, and its master leaves it off."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit_script, wait_until

pytestmark = pytest.mark.timeout(180)


def test_a_startd_that_is_idle_ends_and_stays_off_until_it_is_turned_on(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 1\n") as pool:

        def stands(name: str) -> str:
            lines = run_tool(pool, "condor_who", "-quick")[1].splitlines()
            return next(line for line in lines if line.startswith(f"{name} = "))

        submit_script(pool, work, "exit 0", "request_disk = 1MB\n").wait_for(5, 60)
        setting = Path(pool.folder, "config.d", "90ends")
        setting.write_text("STARTD.DAEMON_SHUTDOWN = TotalSlots > 0 && NumDynamicSlots =?= 0\n")
        assert run_tool(pool, "condor_reconfig", "-daemon", "startd")[0] == 0
        wait_until(lambda: stands("STARTD") == 'STARTD = "Hold"', 60)
        assert stands("SCHEDD") == 'SCHEDD = "Alive"'
        logs = {
            name: Path(pool.log_folder, f"{name}Log").read_text() for name in ("Start", "Master")
        }
        assert "DAEMON_SHUTDOWN is true of this daemon's ad" in logs["Start"]
        assert "exited with status 99 (daemon will not restart automatically)" in logs["Master"]
        setting.unlink()
        assert run_tool(pool, "condor_on", "-daemon", "startd")[0] == 0
        wait_until(lambda: stands("STARTD") == 'STARTD = "Alive"', 20)
