"""Jobs whose starter dies while their output travels: what the next run begins with is whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, daemon_pids, run_tool, wait_until

pytestmark = pytest.mark.timeout(120)

LARGE = 500_000_000


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("torn"), "PERIODIC_EXPR_INTERVAL = 1\n") as pool:
        yield pool


@pytest.mark.parametrize("options", [(), ("-spool",)])
def test_a_starter_that_dies_while_output_travels_leaves_the_input_of_the_next_run(
    pool: PersonalPool, work: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """In the spool all of it, in the user's own folder each file."""
    script = work / "job.sh"
    script.write_text(
        f"#!/bin/sh\nhead -c 20 state early\n[ -e {work}/ran ] && exit 0\n"
        f"touch {work}/ran; truncate -s {LARGE} state; echo torn > early\n"
    )
    script.chmod(0o755)
    for name in ("state", "early"):
        (work / name).write_text("the input\n")
    (work / "job.sub").write_text(
        "executable = job.sh\nrequest_memory = 10MB\nrequest_disk = 1GB\noutput = out\n"
        "log = log\nshould_transfer_files = yes\ntransfer_input_files = state, early\n"
        f"transfer_output_files = {'early, ' if options else ''}state\nqueue\n"
    )
    monkeypatch.chdir(work)
    done = run_tool(pool, "condor_submit", "-terse", *options, "job.sub")
    assert done[0] == 0, done
    cluster = done[1].split(".")[0]
    top = Path(pool.folder) / "spool" / str(int(cluster) % 10_000) if options else work

    def parts() -> list[int]:
        files = [path for path in top.rglob("*") if path.is_file()]
        return [path.stat().st_size for path in files if path.stat().st_size > 1_000_000]

    wait_until(lambda: bool(parts()), 30)
    for pid in daemon_pids(pool, "condor_starter"):
        os.kill(pid, signal.SIGKILL)
    assert max(parts()) < LARGE
    rows: list[list[str]] = []

    def is_over() -> bool:
        rows[:] = ask_queue(pool, cluster, "JobStatus", "HoldReason")
        return not rows or rows[0][0] in {"4", "5"}

    wait_until(is_over, 40, lambda: f"{rows}")
    assert all(row[0] == "4" for row in rows), rows
    if options:
        assert run_tool(pool, "condor_transfer_data", cluster)[0] == 0
    text = "==> state <==\nthe input\n\n==> early <==\nthe input\n"
    assert (work / "out").read_text() == text
    assert (work / "state").read_text() == "the input\n"
    assert not [path for path in top.rglob("*") if path.name.startswith(".condor_")]
