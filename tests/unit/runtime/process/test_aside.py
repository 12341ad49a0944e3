"""A file that hangs stops whoever waits for it, and nobody else."""

from __future__ import annotations

import asyncio
import ctypes
import os
import threading
from functools import partial
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import StorageError
from kettle.records.event_kinds import GenericEvent, SubmitEvent
from kettle.records.event_log import read_events
from kettle.runtime.process import kernel
from kettle.runtime.process.aside import InlineAside, ThreadedAside
from kettle.runtime.storage.aside_files import AsideFiles, AsideSource
from kettle.runtime.storage.event_logs import EventLogs
from kettle.runtime.storage.mounts import Mounts, far_places
from kettle.runtime.storage.transfer_files import LocalSource

MOUNTINFO = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:41 / /home rw - nfs4 server:/home rw
41 40 8:2 / /home/local rw - xfs /dev/sdb1 rw
42 22 0:50 / /run/user/7/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw
43 22 0:51 / /with\\040blank rw - cifs //server/x rw
44 22 0:52 / /was rw - nfs server:/was rw
45 44 8:3 / /was rw - ext4 /dev/sdc1 rw
"""


def test_places_that_may_hang_are_known_from_the_list_of_mounts(tmp_path: Path) -> None:
    assert set(far_places(MOUNTINFO)) == {"/home", "/run/user/7/gvfs", "/with blank"}
    (tmp_path / "mounts").write_text(MOUNTINFO)
    mounts = Mounts(str(tmp_path / "mounts"))
    assert mounts.is_far("/home/alice/x")
    assert mounts.is_far("/tmp/../home")
    assert not mounts.is_far("/homework")
    assert not mounts.is_far("/was/there")
    mounts.close()
    assert not Mounts(str(tmp_path / "none")).any_far()


def test_a_link_that_leads_far_is_far_and_no_link_is_followed_there(tmp_path: Path) -> None:
    line = f"30 1 0:30 / {tmp_path}/nfs rw - nfs4 server:/x rw"
    (tmp_path / "mounts").write_text(line + "\n")
    (tmp_path / "nfs").mkdir()
    (tmp_path / "nfs" / "back").symlink_to(tmp_path)
    (tmp_path / "execute").symlink_to("nfs/exe")
    (tmp_path / "again").symlink_to(tmp_path / "execute")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "near").symlink_to(".")
    mounts = Mounts(str(tmp_path / "mounts"))
    for name in ("execute", "execute/x", "again/x", "near/near/again", "nfs/back/near"):
        assert mounts.is_far(f"{tmp_path}/{name}"), name
    for name in ("near", "near/x/../y", "round/x", "execute2"):
        assert not mounts.is_far(f"{tmp_path}/{name}"), name
    mounts.close()


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_a_place_that_is_mounted_meanwhile_is_known_at_once(tmp_path: Path) -> None:
    mounts = Mounts()
    assert not mounts.is_far(f"{tmp_path}/x")
    server = os.open("/dev/fuse", os.O_RDWR)
    try:
        options = f"fd={server},rootmode=40000,user_id=0,group_id=0"
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.mount(b"x", os.fsencode(tmp_path), b"fuse", 0, options.encode()) == 0
        assert mounts.is_far(f"{tmp_path}/x")
        assert libc.umount2(os.fsencode(tmp_path), 2) == 0
        assert not mounts.is_far(f"{tmp_path}/x")
    finally:
        os.close(server)
        mounts.close()


def test_while_one_action_hangs_the_loop_and_other_actions_go_on() -> None:
    async def main() -> None:
        aside = ThreadedAside()
        gate = threading.Event()
        hanging = aside.run(gate.wait)
        assert [await aside.run(partial(abs, n)) for n in range(5)] == list(range(5))
        assert not hanging.done()
        gate.set()
        assert await hanging is True

    asyncio.run(main())


@pytest.mark.parametrize("aside", [InlineAside(), ThreadedAside(1)])
def test_a_failure_is_its_waiters(aside: InlineAside | ThreadedAside) -> None:
    async def main() -> None:
        with pytest.raises(FileNotFoundError):
            await aside.run(lambda: os.open("/no/such/file", os.O_RDONLY))
        assert await aside.run(lambda: 7) == 7

    asyncio.run(main())


def test_small_files_here_are_read_at_once_and_large_or_far_ones_aside(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "small").write_bytes(b"s")
        (tmp_path / "large").write_bytes(bytes(1 << 20))
        files = AsideFiles(ThreadedAside(), lambda path: path.endswith("far"))
        small = files.open_source(str(tmp_path / "small"))
        assert isinstance(small, LocalSource)
        small.close()
        large = files.open_source(str(tmp_path / "large"))
        assert isinstance(large, AsideSource)
        assert len(await large.read(70_000)) == 70_000
        large.close()
        opening = files.open_target(str(tmp_path / "far"), 0o600)
        assert not isinstance(opening, LocalSource)
        target = await opening  # type: ignore[misc]
        await target.write(b"one")
        await target.write(b"two")
        await target.close()
        assert (tmp_path / "far").read_bytes() == b"onetwo"

    asyncio.run(main())


def test_events_of_a_far_log_come_in_order_and_its_check_is_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        logs = EventLogs(
            Config.from_text("", subsystem="SHADOW"),
            aside=ThreadedAside(),
            is_far=lambda path: "far" in path,
        )
        job = ClassAd({"Iwd": str(tmp_path), "UserLog": "far.log"})
        await logs.check(job)
        logs.write(job, SubmitEvent())
        for number in range(20):
            logs.write(job, GenericEvent(info=str(number)))
        await logs.settle(10)
        events = read_events((tmp_path / "far.log").read_bytes())
        assert [each.info for each in events if isinstance(each, GenericEvent)] == [
            str(number) for number in range(20)
        ]
        (tmp_path / "far").touch()
        with pytest.raises(StorageError, match="far/x"):
            await logs.check(ClassAd({"Iwd": str(tmp_path), "UserLog": "far/x"}))

    asyncio.run(main())


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_a_thread_s_switch_to_root_is_its_own() -> None:
    """Work beside the loop must never borrow the rights of a moment in the loop."""
    seen: list[int] = []
    begin, end = threading.Event(), threading.Event()

    def other() -> None:
        begin.wait()
        seen.append(os.geteuid())
        end.set()

    thread = threading.Thread(target=other)
    thread.start()
    kernel.set_thread_euid(65534)
    try:
        begin.set()
        end.wait()
        assert os.geteuid() == 65534
    finally:
        kernel.set_thread_euid(0)
    thread.join()
    assert seen == [0]
