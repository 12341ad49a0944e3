"""A collector that was killed knows the pool again within moments of its restart."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import daemon_pid, run_tool, wait_until


def test_a_new_collector_is_told_everything(tmp_path: Path) -> None:
    with personal_pool(tmp_path, "MASTER_BACKOFF_CONSTANT = 0\n") as pool:
        kinds = ("-af", "MyType")
        before = run_tool(pool, "condor_status", "-any", *kinds)[1].split()
        os.kill(daemon_pid(pool, "condor_collector"), signal.SIGKILL)
        wait_until(
            lambda: set(run_tool(pool, "condor_status", "-any", *kinds)[1].split()) >= set(before),
            15,
        )
