"""What a starter made is removed with a few calls; what a job made of it, whatever it takes."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.runtime.privileges import Privileges, account_of
from kettle.starter.sandbox import Sandbox
from kettle.starter.service_sandbox import SandboxKeeper, SmallFile, ad_file


def keeper(folder: Path) -> SandboxKeeper:
    me = account_of(os.getuid())
    made = SandboxKeeper(Sandbox(str(folder / "dir_1")), Privileges(me, can_switch=False), me)
    box = made.sandbox
    made.make([ad_file(box.job_ad, ["A = 1"]), SmallFile(box.chirp_config, "cookie", 0o700)])
    return made


def test_an_untouched_sandbox_is_removed(tmp_path: Path) -> None:
    one = keeper(tmp_path)
    assert Path(one.sandbox.job_ad).read_text() == "A = 1\n"
    one.remove()
    assert list(tmp_path.iterdir()) == []
    one.remove()


def test_a_link_in_place_of_a_folder_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".job.ad").write_text("mine")
    inside = tmp_path / "execute"
    inside.mkdir()
    one = keeper(inside)
    scratch = Path(one.sandbox.scratch)
    (scratch / ".job.ad").unlink()
    scratch.rmdir()
    scratch.symlink_to(outside)
    (Path(one.sandbox.root) / "more").mkdir(mode=0o500)
    one.remove()
    assert list(inside.iterdir()) == []
    assert outside.is_dir()


def test_an_ad_for_the_job_has_no_secrets(tmp_path: Path) -> None:
    lines = ["Cmd = 1", "ClaimId = 2", "TransferKey = 3", "_condor_privX = 4", "Args = 5"]
    file = ad_file(str(tmp_path / "ad"), lines)
    assert file.text == "Cmd = 1\nArgs = 5\n"
