"""What modes keep from a transfer is an error, and never an empty folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.fences import Fence
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.starter.sandbox import OF_A_STARTER
from kettle.transfer.items import Unlisted
from kettle.transfer.plan import plan_input, plan_output

bound = pytest.mark.skipif(os.geteuid() == 0, reason="modes do not bind root")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "dir_1/out"
    made.mkdir(parents=True)
    (made / "f").write_text("data")
    yield made
    made.chmod(0o700)


def views(folder: Path) -> list[LocalFiles]:
    me = account_of(os.getuid())
    return [
        LocalFiles(),
        LocalFiles(fence=Fence([str(folder.parents[1])], str(folder.parent), OF_A_STARTER)),
        OwnedFiles(Privileges(me, can_switch=False), me),
    ]


@bound
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o300, 0o400, 0o600])
def test_a_folder_that_nobody_may_look_into_is_not_an_empty_one(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    for files in views(folder):
        with pytest.raises(PermissionError):
            files.names(str(folder))
        box, name = os.path.split(folder)
        refused = Unlisted(str(folder), errno.EACCES)
        assert refused in plan_input(ClassAd({"Iwd": box, "TransferInput": name}), files).items
        assert refused in plan_output(ClassAd({"TransferOutput": name}), files, box, {}).items


@pytest.mark.parametrize("mode", [0o400, 0o500, 0o700])
def test_of_an_empty_folder_its_names_are_enough(folder: Path, mode: int) -> None:
    (folder / "f").unlink()
    folder.chmod(mode)
    for files in views(folder):
        assert files.names(str(folder)) == []


def test_a_folder_that_is_gone_is_not_an_empty_one_either(folder: Path) -> None:
    for files in views(folder):
        assert files.names(str(folder)) == ["f"]
        for name in (f"{folder}/none", f"{folder}/f"):
            with pytest.raises((FileNotFoundError, NotADirectoryError)):
                files.names(name)
