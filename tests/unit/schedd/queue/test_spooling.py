"""What is sent back of a spooled job."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage import owned_files
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.mounts import Mounts
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.schedd.queue import spooling
from kettle.transfer.items import FileView, SendFile
from kettle.transfer.plan import Plan, plan_in_place


def planned(ad: ClassAd, folder: str, view: FileView, *left: str) -> Plan:
    """Plan it in one go."""
    steps = spooling.plan_output(ad, [folder, *left], view)
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


@pytest.mark.parametrize("listed", [None, "state,made,data"])
def test_of_two_files_that_of_a_run_is_sent_and_folders_become_one(
    tmp_path: Path, listed: str | None
) -> None:
    own, left = tmp_path / "job", tmp_path / "job.left"
    for folder, files in (
        (own, ("state", "made", "data/input", "data/both", "condor_exec.exe", "_condor_stdout")),
        (left, ("state", "data/both", "data/new", "_condor_stdout")),
    ):
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    named = {} if listed is None else {"TransferOutput": listed}
    ad = ClassAd({"Out": "said", **named})
    plan = planned(ad, str(own), LocalFiles(), str(left))
    sent = [item for item in plan.items if isinstance(item, SendFile)]
    assert {item.name: os.path.relpath(item.path, tmp_path) for item in sent} == {
        "state": "job.left/state",
        "made": "job/made",
        "data/input": "job/data/input",
        "data/both": "job.left/data/both",
        "data/new": "job.left/data/new",
        "said": "job.left/_condor_stdout",
    }


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


def in_place(view: FileView, **job: object) -> list[tuple[str, str]]:
    """What is sent of a job that was not spooled: (name, path) of each."""
    steps = plan_in_place(ClassAd(job), view)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return [(item.name, getattr(item, "path", "")) for item in end.value.items]


def test_a_job_that_was_not_spooled_is_fetched_from_where_its_output_is(tmp_path: Path) -> None:
    # Observed of a real schedd, case by case.
    home = str(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("f")
    base = {"Iwd": home, "Out": "sub/o", "Err": "e", "StreamOut": False, "StreamErr": False}
    streams = [("o", f"{home}/sub/o"), ("e", f"{home}/e")]
    view = LocalFiles()
    # Nothing is listed: it has not ended yet, or nothing was transferred.
    assert in_place(view, **base) == []
    assert in_place(view, **base, SpooledOutputFiles="") == streams
    # What is not there is sent, so that its transfer fails.
    listed = {"TransferOutput": "gone"}
    assert in_place(view, **base, **listed) == [("gone", f"{home}/gone"), *streams]
    # What came counts once the job has ended.
    came = {"TransferOutput": "d/", "SpooledOutputFiles": "d"}
    whole = [("d", ""), ("d/f", f"{home}/d/f")]
    assert in_place(view, **base, **came) == [*whole, *streams]
    assert in_place(view, **base, TransferOutput="d/") == [("f", f"{home}/d/f"), *streams]
    changed = base | {"StreamOut": True, "Err": "/dev/null"}
    assert in_place(view, **changed, **came) == whole
    absolute = base | {"Out": f"{home}/d/f", "Err": "/dev/null"}
    assert in_place(view, **absolute, SpooledOutputFiles="") == [("f", f"{home}/d/f")]
    kept = base | {"PreserveRelativePaths": True, "TransferOutput": "d/f", "Err": "/dev/null"}
    assert in_place(view, **kept) == [*whole, ("sub", ""), ("sub/o", f"{home}/sub/o")]
    away = base | {"OutputDestination": "x://y", "TransferOutput": "gone", "Err": "/dev/null"}
    assert in_place(view, **away) == []


def test_what_may_hang_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "x").write_text("x")
    (tmp_path / "way").symlink_to("far/x")
    (tmp_path / "near").write_text("n")
    far = Mounts()
    monkeypatch.setattr(far, "any_far", lambda: True)
    monkeypatch.setattr(far, "_far", (str(tmp_path / "far"),))
    monkeypatch.setattr(owned_files, "machine_mounts", lambda: far)
    me = Account("me", os.getuid(), os.getgid(), ())
    files = owned_files.NearFiles(Privileges(me, can_switch=False), me)
    assert files.look(str(tmp_path / "near")) is not None
    for name in ("way", "far/x", "far"):
        assert files.look(str(tmp_path / name)) is None
        with pytest.raises(OSError, match="remote"):
            files.names(str(tmp_path / name))
        with pytest.raises(OSError, match="remote"):
            files.open_source(str(tmp_path / name))


def test_what_a_shadow_may_not_read_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "f").write_text("f")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "in" / "way").symlink_to("../secret")
    me = Account("me", os.getuid(), os.getgid(), ())
    rights = Privileges(me, can_switch=False)
    limits = AccessLimits.of((), f"{tmp_path}/in", "")
    files = owned_files.NearFiles(rights, me, limits)
    files.open_source(f"{tmp_path}/in/f").close()
    for name in ("secret", "in/../secret", "in/way"):
        with pytest.raises(OSError, match="Permission denied"):
            files.open_source(f"{tmp_path}/{name}")
