"""What is sent back of a spooled job."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.classad import ClassAd
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.schedd.queue import spooling
from kettle.transfer.items import FileView, SendFile
from kettle.transfer.plan import Plan


def planned(ad: ClassAd, folder: str, view: FileView) -> Plan:
    """Plan it in one go."""
    steps = spooling.plan_output(ad, folder, view)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            plan: Plan = end.value
            return plan


def names(folder: Path, **job: object) -> list[str]:
    """What a user who fetches the folder's content gets."""
    return [item.name for item in planned(ClassAd(job), str(folder), LocalFiles()).items]


def test_links_to_folders_lead_nowhere(tmp_path: Path) -> None:
    # Followed, two of them would be 2^100 files.
    out = tmp_path / "out"
    out.mkdir()
    for folder in (tmp_path, out):
        for link in ("a", "b"):
            (folder / link).symlink_to(".")
    (out / "file").write_text("text")
    (out / "same").symlink_to("file")
    assert names(tmp_path) == ["out", "out/a", "out/b", "out/file", "out/same"]
    assert names(tmp_path, TransferOutput="out/a") == ["out/a"]
    plan = planned(ClassAd(), str(tmp_path), LocalFiles())
    links = [each.name for each in plan.items if getattr(each, "is_directory_link", False)]
    assert links == ["out/a", "out/b"]


def test_streams_travel_once_under_the_names_that_the_client_knows(tmp_path: Path) -> None:
    (tmp_path / "o").write_text("said")
    (tmp_path / "_condor_stderr").write_text("sorry")
    (tmp_path / "log").write_text("log")
    ad = ClassAd({"Out": "/home/o", "Err": "e", "UserLog": "log"})
    plan = planned(ad, str(tmp_path), LocalFiles())
    sent = {item.name: item.path for item in plan.items if isinstance(item, SendFile)}
    assert {name: os.path.basename(path) for name, path in sent.items()} == {
        "o": "o",
        "e": "_condor_stderr",
        "log": "log",
    }
    assert plan.sandbox_bytes == 4 + 5 + 3


def test_what_came_is_sent_under_the_names_it_came_under(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "y").write_text("y")
    ended = {"TransferOutput": "sub/x,deep/more", "SpooledOutputFiles": "x,more"}
    assert names(tmp_path, **ended) == ["x", "more", "more/y"]
    assert names(tmp_path, TransferOutput="x", SpooledOutputFiles="") == []


def test_what_is_named_and_not_there_is_sent_all_the_same(tmp_path: Path) -> None:
    # Its transfer fails, and whoever fetches hears that not all is there.
    (tmp_path / "there").write_text("x")
    assert names(tmp_path, TransferOutput="gone,there") == ["gone", "there"]
    assert names(tmp_path, TransferOutput="gone,there", OutputDestination="x://y") == ["there"]
    assert names(tmp_path, TransferOutput="") == []


def test_what_a_job_names_whose_input_has_not_come_is_missing(tmp_path: Path) -> None:
    # Observed of a real schedd: a job that names nothing has nothing, and nobody complains; for one
    # that does its streams are missing, too, but not its log.
    waiting = {"JobStatus": 5, "HoldReasonCode": 16, "UserLog": "log"}
    streams = {"Out": "o", "Err": "e"}
    folder = tmp_path / "none"
    assert spooling.has_folder(ClassAd(waiting))
    assert not spooling.has_folder(ClassAd({**waiting, "HoldReasonCode": 15}))
    assert names(folder, **waiting, **streams) == []
    assert names(folder, **waiting, TransferOutput="zz") == ["zz"]
    assert names(folder, **waiting, **streams, TransferOutput="zz,yy") == ["zz", "yy", "o", "e"]
