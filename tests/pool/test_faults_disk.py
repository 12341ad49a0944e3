"""Disks that are full under a pool: refused or held with the reason, and on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import daemon_pid, run_tool, submit


@pytest.fixture
def small_disks(work: Path) -> Iterator[Path]:
    """A folder with a few small file systems in it: spool, execute and logs."""
    names = {"spool": "4m", "execute": "8m", "events": "64k"}
    for name, size in names.items():
        (work / name).mkdir()
        options = f"size={size},mode=0777"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", work / name], check=True)
    (work / "spool").chmod(0o755)
    (work / "execute").chmod(0o755)
    yield work
    for name in names:
        subprocess.run(["umount", "--lazy", work / name], check=True)


def fill(folder: Path) -> Path:
    """Fill a file system to its last byte; return the file that does."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            while True:
                try:
                    if file.write(bytes(size)) < size:
                        break
                except OSError:
                    break
    return path


@pytest.mark.root
def test_full_disks_refuse_or_hold_with_the_reason_and_the_pool_goes_on(
    tmp_path: Path, small_disks: Path
) -> None:
    work = small_disks
    config = f"SPOOL = {work}/spool\nEXECUTE = {work}/execute\nRESERVED_DISK = 0\n"
    true = "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 1MB\n"
    with personal_pool(tmp_path, config) as pool:
        schedd = daemon_pid(pool, "condor_schedd")

        filler = fill(work / "spool")
        (work / "true.sub").write_text(f"{true}queue 50\n")
        code, _, complaint = run_tool(pool, "condor_submit", str(work / "true.sub"))
        assert code != 0
        assert "No space left on device" in complaint
        filler.unlink()
        submit(pool, work / "after", f"{true}queue\n").wait_for(5, 30)

        (work / "large").mkdir()
        (work / "large" / "data").write_bytes(bytes(12 << 20))
        large = submit(
            pool,
            work / "large",
            f"{true}should_transfer_files = yes\ntransfer_input_files = data\nqueue\n",
        )
        code, reason = large.wait_for_status(5, "HoldReasonCode", "HoldReason")
        assert code in ("12", "13")
        assert "No space left on device" in reason

        filler = fill(work / "events")
        silent = submit(
            pool, work / "silent", f"{true}hold = true\nlog = {work}/events/log\nqueue\n"
        )
        assert run_tool(pool, "condor_release", str(silent.cluster))[0] == 0
        silent.wait_until_gone()
        filler.unlink()

        submit(pool, work / "last", f"{true}queue\n").wait_for(5, 30)
        assert daemon_pid(pool, "condor_schedd") == schedd


