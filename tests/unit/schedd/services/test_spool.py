"""What is left in the spool of jobs that are gone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from kettle.runtime.context import Runtime
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.spool import SpoolFolder


def make_spool(path: Path) -> SpoolFolder:
    privileges = SimpleNamespace(as_root=contextlib.nullcontext)
    runtime = cast(Runtime, SimpleNamespace(files=Files(), privileges=privileges))
    return SpoolFolder(runtime, str(path))


def test_what_belongs_to_jobs_that_are_gone_is_removed_and_nothing_else(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    for cluster in (7, 8, 10_007):
        folder = Path(spool.job_folder(JobId(cluster, 0)))
        folder.mkdir(parents=True)
        (folder / "input").write_text("x")
        Path(spool.cluster_file(cluster, "items")).write_text("x")
    (tmp_path / "history").write_text("x")
    (tmp_path / "7" / "somebody else's").write_text("x")
    known = {(7, None), (7, 0)}
    removed = spool.remove_orphans(lambda cluster, proc: (cluster, proc) in known)
    assert removed == [
        "7/condor_submit.10007.items",
        "7/0/cluster10007.proc0.subproc0",
        "8/condor_submit.8.items",
        "8/0/cluster8.proc0.subproc0",
    ]
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == [
        "7/0/cluster7.proc0.subproc0/input",
        "7/condor_submit.7.items",
        "7/somebody else's",
        "history",
    ]
    assert not (tmp_path / "8").exists()


def test_a_job_s_folder_that_a_crash_left_between_two_names_is_given_its_own_back(
    tmp_path: Path,
) -> None:
    spool = make_spool(tmp_path)
    folder = Path(spool.job_folder(JobId(7, 0)))
    older = folder.with_name(f"{folder.name}.swap")
    older.mkdir(parents=True)
    (older / "input").write_text("x")
    assert spool.remove_orphans(lambda *_: True) == []
    assert (folder / "input").read_text() == "x"
    assert not older.exists()


def test_with_a_job_goes_what_was_just_arriving_for_it(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    folder = Path(spool.job_folder(JobId(7, 0)))
    for suffix in ("", ".tmp", ".swap"):
        folder.with_name(folder.name + suffix).mkdir(parents=True)
    spool.remove_job(JobId(7, 0))
    assert list(tmp_path.iterdir()) == []
