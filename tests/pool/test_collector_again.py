"""A collector that was killed knows the pool again within moments of its restart."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from kettle.testing.pool_fixture import personal_pool, processes_of
from pool_jobs import run_tool, wait_until


def test_a_new_collector_is_told_everything(tmp_path: Path) -> None:
    with personal_pool(tmp_path, "MASTER_BACKOFF_CONSTANT = 0\n") as pool:
        kinds = ("-af", "MyType")
        before = run_tool(pool, "condor_status", "-any", *kinds)[1].split()
        for pid in processes_of(pool):
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
            if title.startswith(b"condor_collector") and b"zygote" not in title:
                os.kill(pid, signal.SIGKILL)
        wait_until(
            lambda: set(run_tool(pool, "condor_status", "-any", *kinds)[1].split()) >= set(before),
            15,
        )
