"""A job that fails is tried again as often as its owner said, and no more."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit


def test_max_retries_ends_after_so_many_tries(tmp_path: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="kettle-retries-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o755)
    with personal_pool(tmp_path, "") as pool:
        jobs = submit(
            pool,
            work / "jobs",
            "executable = /bin/false\ntransfer_executable = false\n"
            "should_transfer_files = YES\nmax_retries = 2\nqueue\n",
        )
        jobs.wait_for(5, 30)
        assert jobs.count_events(1) == {0: 3}
        assert jobs.count_events(4) == {0: 2}
        record = jobs.record()
        assert record.integer("NumJobCompletions") == 3
        assert record.integer("NumJobStarts") == 3
