"""What an unfinished job left, between its runs."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import RefusedError
from kettle.runtime import tasks
from kettle.runtime.process.privileges import Account, Privileges, account_of
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.spool import SpoolFolder
from kettle.shadow.services.checkpoints import IntermediateStore
from kettle.shadow.services.url_checkpoints import UrlCheckpoints
from kettle.steps import take_all
from kettle.transfer.checkpoints import Entry, failure_name, manifest_name, render_manifest
from kettle.transfer.items import SendFile, SendUrl


def run_of(spool: Path | None, privileges: Privileges | None = None, **job: object) -> Any:
    """A new run of job 1.0."""
    runtime = SimpleNamespace(
        privileges=privileges or Privileges(account_of(os.getuid()), can_switch=False),
        files=Files(InlineSynchronizer()),
    )
    return SimpleNamespace(
        host=SimpleNamespace(runtime=runtime, spool=str(spool or "")),
        job=ClassAd({"GlobalJobId": "ap#1.0#7", **job}),
        cluster=1,
        proc=0,
    )


def store(
    spool: Path | None, privileges: Privileges | None = None, **job: object
) -> IntermediateStore:
    """The store of job 1.0 as a new run finds it."""
    return IntermediateStore(run_of(spool, privileges, **job))


def receive(
    spool: Path,
    files: dict[str, str],
    *,
    keep: bool = True,
    privileges: Privileges | None = None,
    **job: object,
) -> None:
    """Let a transfer bring files."""
    each = store(spool, privileges, **job)
    folder = Path(asyncio.run(each.begin()))
    for name, text in files.items():
        (folder / name).write_text(text)
    if keep:
        asyncio.run(each.keep())
    asyncio.run(each.forget())


def found(spool: Path, **job: object) -> dict[str, str]:
    folder = store(spool, **job).existing()
    return {path.name: path.read_text() for path in Path(folder).iterdir()} if folder else {}


def test_what_changed_is_put_beside_what_did_not(tmp_path: Path) -> None:
    receive(tmp_path, {"one": "1", "two": "2"})
    receive(tmp_path, {"two": "22", "three": "3"})
    assert found(tmp_path) == {"one": "1", "two": "22", "three": "3"}
    (place,) = (tmp_path / "1/0").iterdir()
    assert place.name == "cluster1.proc0.subproc0"


def test_what_did_not_change_is_kept_also_where_no_file_has_a_second_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    receive(tmp_path, {"one": "1", "two": "2"})
    receive(tmp_path, {"two": "22", "three": "3"})
    assert found(tmp_path) == {"one": "1", "two": "22", "three": "3"}


def test_a_transfer_that_broke_off_changes_nothing(tmp_path: Path) -> None:
    receive(tmp_path, {"one": "1"})
    receive(tmp_path, {"one": "half"}, keep=False)
    assert found(tmp_path) == {"one": "1"}


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_the_folders_above_a_checkpoint_are_the_spool_s_and_the_checkpoint_its_owner_s(
    open_place: Path,
) -> None:
    condor, alice = (Account(name, uid, uid, ()) for name, uid in (("c", 54321), ("a", 54322)))
    os.chown(open_place, condor.uid, condor.gid)
    privileges = Privileges(alice, can_switch=True)
    with privileges.as_account(alice):
        receive(open_place, {"state": "1"}, privileges=privileges)
    owners = {
        str(path.relative_to(open_place)): path.stat().st_uid for path in open_place.rglob("*")
    }
    # Here the test is the starter, and writes as root.
    assert owners.pop("1/0/cluster1.proc0.subproc0/state", None) is not None
    assert owners == {"1": 54321, "1/0": 54321, "1/0/cluster1.proc0.subproc0": 54322}
    schedd = Privileges(condor, can_switch=True)
    with schedd.as_account(condor):
        runtime: Any = SimpleNamespace(privileges=schedd)

        async def remove() -> None:
            SpoolFolder(runtime, str(open_place)).remove_job(JobId(1, 0))
            await asyncio.gather(*tasks.running())

        asyncio.run(remove())
    assert list(open_place.iterdir()) == []


def test_what_a_spooled_job_left_lies_beside_its_input(tmp_path: Path) -> None:
    own = tmp_path / "1/0/cluster1.proc0.subproc0"
    own.mkdir(parents=True)
    (own / "state").write_text("the user's")
    assert store(tmp_path, StageInStart=5).existing() == ""
    receive(tmp_path, {"state": "1", "more": "1"}, StageInStart=5)
    receive(tmp_path, {"state": "half"}, keep=False, StageInStart=5)
    assert store(tmp_path, StageInStart=5).existing() == f"{own}.left"
    assert found(tmp_path, StageInStart=5) == {"state": "1", "more": "1"}
    assert [path.read_text() for path in own.iterdir()] == ["the user's"]


def test_a_folder_that_the_schedd_took_away_as_it_was_empty_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir, calls = os.mkdir, 0

    def racing(path: str, mode: int) -> None:
        nonlocal calls
        calls += 1
        if path.endswith(".tmp") and calls == 3:
            os.rmdir(os.path.dirname(path))
        mkdir(path, mode)

    monkeypatch.setattr(os, "mkdir", racing)
    receive(tmp_path, {"one": "1"})
    assert found(tmp_path) == {"one": "1"}
    assert calls > 3


def test_without_a_spool_there_is_no_place() -> None:
    with pytest.raises(OSError, match="SPOOL"):
        asyncio.run(store(None).begin())


def test_the_newest_whole_checkpoint_is_restored(tmp_path: Path) -> None:
    good = render_manifest(1, [Entry("a" * 64, "state")])
    receive(tmp_path, {manifest_name(0): render_manifest(0, []), manifest_name(1): good})
    receive(tmp_path, {manifest_name(2): good[:-3]})
    destination = "file:///ck"
    each = UrlCheckpoints(run_of(tmp_path, CheckpointDestination=destination))
    manifest, url = take_all(each.restored())
    assert isinstance(manifest, SendFile)
    assert manifest.path.endswith(manifest_name(1))
    assert url == SendUrl("file:///ck/ap_1.0_7/0001/state", "state")
    assert list(take_all(UrlCheckpoints(run_of(tmp_path)).restored())) == []


def restored(spool: Path) -> list[str]:
    """What the next run is brought of a checkpoint at a URL."""
    each = UrlCheckpoints(run_of(spool, CheckpointDestination="file:///ck"))
    return [item.name for item in take_all(each.restored())]


@pytest.mark.parametrize("what", ["pipe", "link", "folder", "huge"])
def test_what_is_no_file_of_ours_is_no_manifest_and_keeps_nobody_waiting(
    tmp_path: Path, what: str
) -> None:
    receive(tmp_path, {manifest_name(0): render_manifest(0, [])})
    folder = Path(store(tmp_path).existing())
    strange = folder / manifest_name(1)
    if what == "pipe":
        os.mkfifo(strange)
    elif what == "link":
        strange.symlink_to("/dev/zero")
    elif what == "folder":
        strange.mkdir()
    else:
        strange.touch()
        os.truncate(strange, 1 << 40)
    before = os.listdir("/proc/self/fd")
    assert restored(tmp_path) == [manifest_name(0)]
    assert os.listdir("/proc/self/fd") == before


def test_of_manifests_that_are_none_only_the_newest_are_looked_at(tmp_path: Path) -> None:
    receive(tmp_path, {manifest_name(0): render_manifest(0, [])})
    receive(tmp_path, {manifest_name(1): "", manifest_name(2): ""})
    assert restored(tmp_path) == [manifest_name(0)]
    receive(tmp_path, {manifest_name(3): ""})
    assert restored(tmp_path) == []


def aside(spool: Path) -> set[str]:
    folder = spool / "checkpoint-cleanup/alice/cluster1.proc0.subproc0"
    return set(os.listdir(folder)) if folder.exists() else set()


@pytest.mark.parametrize("spooled", [{}, {"StageInStart": 5}])
def test_manifests_of_older_checkpoints_and_of_failed_ones_are_set_aside_to_be_deleted(
    tmp_path: Path, spooled: dict[str, object]
) -> None:
    receive(tmp_path, {manifest_name(number): "" for number in range(4)}, **spooled)
    started: list[list[str]] = []

    async def clear(count: int) -> None:
        job = {"CheckpointDestination": "file:///ck/", "Owner": "alice", "ClusterId": 1}
        each = UrlCheckpoints(run_of(tmp_path, **job, **spooled))
        each.discard(1)
        runtime: Any = each._runtime
        runtime.config = Config.from_text("")
        runtime.processes = SimpleNamespace(
            spawn=lambda argv, **_more: started.append(argv) or DeadChild()
        )
        each.clear(count)
        await asyncio.gather(*tasks.running())

    asyncio.run(clear(0))
    assert aside(tmp_path) == {".job.ad", failure_name(1)}
    asyncio.run(clear(2))
    assert aside(tmp_path) == {".job.ad", failure_name(1), manifest_name(0)}
    assert set(found(tmp_path, **spooled)) == {manifest_name(2), manifest_name(3)}
    folder = tmp_path / "checkpoint-cleanup/alice/cluster1.proc0.subproc0"
    assert "ClusterId = 1\n" in (folder / ".job.ad").read_text()
    command = ["deleteFilesListedIn", "file:///ck/ap_1.0_7", str(folder)]
    assert [argv[-3:] for argv in started] == [command, command]


class DeadChild:
    """A process that has ended."""

    pid = 2**31 - 2

    async def wait(self) -> int:
        return 0


@pytest.mark.parametrize("owner", ["../alice", "a/b", "..", ""])
def test_an_owner_that_is_no_name_has_nothing_set_aside(tmp_path: Path, owner: str) -> None:
    receive(tmp_path, {manifest_name(0): ""})
    each = UrlCheckpoints(run_of(tmp_path, CheckpointDestination="file:///ck", Owner=owner))
    with pytest.raises(RefusedError):
        each.clear(1)
    assert not (tmp_path / "checkpoint-cleanup").exists()


def test_a_host_that_died_in_the_middle_costs_no_checkpoint(tmp_path: Path) -> None:
    receive(tmp_path, {"one": "1"})
    (place,) = (tmp_path / "1/0").iterdir()
    # While files came: what is there stays, and the next ones find room.
    half = place.with_name(f"{place.name}.tmp")
    half.mkdir()
    (half / "one").write_text("half")
    assert found(tmp_path) == {"one": "1"}
    receive(tmp_path, {"two": "2"})
    assert found(tmp_path) == {"one": "1", "two": "2"}
    # Between the two renames.
    place.rename(place.with_name(f"{place.name}.swap"))
    assert found(tmp_path) == {"one": "1", "two": "2"}


@pytest.mark.parametrize("what", ["begin", "keep", "forget"])
def test_very_many_files_are_in_no_other_job_s_way(tmp_path: Path, what: str) -> None:
    each, many = store(tmp_path), [f"{number}" for number in range(300)]
    receive(tmp_path, dict.fromkeys(many, ""))
    arriving = Path(asyncio.run(each.begin()))
    for name in many if what != "keep" else ():
        (arriving / name).touch()

    async def do() -> int:
        turns = 0

        async def neighbour() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        other = asyncio.ensure_future(neighbour())
        await getattr(each, what)()
        other.cancel()
        return turns

    assert asyncio.run(do()) >= 300 // 64
