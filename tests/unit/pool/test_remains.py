"""Whom `kettle down` ends of a pool that is down: whom its queue names, and nobody else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from kettle.pool import remains
from kettle.pool.remains import Remains, end_remains
from kettle.records.queue_log import encode_new_ad, encode_set_attribute, encode_transaction
from kettle.runtime.process.census import birth_of
from kettle.schedd.job_processes import JobProcess

AS_ROOT = os.geteuid() == 0
# No process has it.
NOBODY = 2**22 + 1


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process of an account that jobs run as."""
    account = {"user": 65534} if AS_ROOT else {}
    process = subprocess.Popen(["/bin/sleep", "600"], cwd="/", env={}, **cast(Any, account))
    yield process
    process.kill()
    process.wait()


class Pool:
    """As much of a pool's folder as is asked for; its queue has one job, with this process."""

    def __init__(self, folder: Path, process: JobProcess, *, up: bool = False) -> None:
        self.folder = self.log_folder = str(folder)
        self._up = up
        log = folder / "job_queue.log"
        records = [encode_new_ad("1.0")]
        records += [
            encode_set_attribute("1.0", *each) for each in process.note().items() if each[1]
        ]
        log.write_text(f"107 1 CreationTimestamp 1\n{encode_transaction(records)}")
        (folder / "condor_config").write_text(
            f"SPOOL = {folder}\nEXECUTE = {folder}/execute\nJOB_QUEUE_LOG = {log}\nBASE_CGROUP =\n"
        )

    def environment(self) -> dict[str, str]:
        return {"CONDOR_CONFIG": f"{self.folder}/condor_config", "PATH": os.defpath}

    def is_up(self) -> bool:
        return self._up


def end(pool: Pool) -> Remains:
    return end_remains(cast(Any, pool))


def noted(child: subprocess.Popen[bytes]) -> JobProcess:
    return JobProcess(child.pid, birth_of(child.pid), NOBODY)


def test_the_process_that_the_queue_names_is_ended(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    assert end(Pool(tmp_path, noted(child))) == Remains(1)
    assert child.wait() < 0


def test_who_has_its_number_since_is_somebody_else(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    process = noted(child)
    assert end(Pool(tmp_path, process._replace(birth=process.birth - 1))) == Remains()
    assert child.poll() is None


def test_a_pool_that_is_up_or_whose_daemons_stay_has_its_jobs(
    tmp_path: Path, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert end(Pool(tmp_path, noted(child), up=True)) == Remains()
    monkeypatch.setattr(remains, "have_left", lambda _folders: False)
    assert end(Pool(tmp_path, noted(child))) == Remains()
    assert child.poll() is None


def test_another_account_s_folder_is_no_witness(
    tmp_path: Path, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(tmp_path, noted(child))
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert end(pool) == Remains()
    assert child.poll() is None


@pytest.mark.skipif(not AS_ROOT, reason="for root alone")
def test_no_process_of_root_s_is_a_job_s(tmp_path: Path) -> None:
    roots = subprocess.Popen(["/bin/sleep", "600"], env={})
    try:
        assert end(Pool(tmp_path, noted(roots))) == Remains()
        assert roots.poll() is None
    finally:
        roots.kill()
        roots.wait()


def test_what_it_began_is_known_by_its_mark(tmp_path: Path) -> None:
    account = {"user": 65534} if AS_ROOT else {}
    mark = {f"_CONDOR_ANCESTOR_{NOBODY}": f"{NOBODY}:1.0:"}
    begun = subprocess.Popen(["/bin/sleep", "600"], env=mark, **cast(Any, account))
    try:
        assert end(Pool(tmp_path, JobProcess(NOBODY + 1, 1, NOBODY))) == Remains(1)
        assert begun.wait() < 0
    finally:
        begun.kill()
        begun.wait()


def test_a_pool_whose_configuration_is_broken_is_left_alone(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    pool = Pool(tmp_path, noted(child))
    Path(tmp_path, "condor_config").write_text("what is this\n")
    assert end(pool) == Remains()
    assert child.poll() is None


def test_a_schedd_that_nobody_has_reaped_is_gone(tmp_path: Path) -> None:
    schedd = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, schedd.pid, os.WEXITED | os.WNOWAIT)
    account = {"user": 65534} if AS_ROOT else {}
    mark = {f"_CONDOR_ANCESTOR_{schedd.pid}": f"{schedd.pid}:1.0:"}
    begun = subprocess.Popen(["/bin/sleep", "600"], env=mark, **cast(Any, account))
    try:
        assert end(Pool(tmp_path, JobProcess(NOBODY, 1, schedd.pid))) == Remains(1)
    finally:
        schedd.wait()
        begun.kill()
        begun.wait()
