"""Manifests of checkpoints that nobody wants any more, on their way out of a job's folder."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage import checkpoint_cleanup
from kettle.transfer.checkpoints import manifest_name


def test_a_folder_that_a_deletion_removes_meanwhile_is_made_again_with_the_ad(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "1/0/cluster1.proc0.subproc0"
    folder.mkdir(parents=True)
    (folder / manifest_name(0)).touch()
    us = account_of(os.getuid())
    job = ClassAd({"Owner": "alice", "ClusterId": 1})
    steps = checkpoint_cleanup.set_aside(
        Privileges(us, can_switch=False), us, str(tmp_path), str(folder), job
    )
    next(steps)
    target = tmp_path / "checkpoint-cleanup/alice/cluster1.proc0.subproc0"
    (target / ".job.ad").unlink()
    target.rmdir()
    assert [*steps] == []
    assert set(os.listdir(target)) == {".job.ad", manifest_name(0)}
