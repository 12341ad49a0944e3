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
