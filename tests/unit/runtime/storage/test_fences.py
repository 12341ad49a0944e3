"""What is opened for a job lies in no sandbox but its own, whatever leads there."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.runtime.storage.bounds import NOWHERE
from kettle.runtime.storage.fences import (
    IN_ANOTHER,
    Fence,
    open_regular,
    opened_folder,
    opener,
)
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.starter.sandbox import OF_A_STARTER

NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two sandboxes in a folder of sandboxes, and what is beside it."""
    for folder in ("execute/dir_1/in", "execute/dir_2", "execute/own", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("execute/dir_1/mine", "execute/dir_2/secret", "execute/own/f", "outside/f"):
        (tmp_path / file).write_text("text")
    (tmp_path / "same").symlink_to("execute")
    return tmp_path


@pytest.fixture
def fence(folders: Path) -> Fence:
    # By a name that is a link: places have none.
    return Fence((str(folders / "same"),), str(folders / "same/dir_1"), OF_A_STARTER)


def lead(folders: Path) -> list[str]:
    """Return names that lead to the other sandbox's file, and to one that is not there."""
    own, theirs = folders / "execute/dir_1", folders / "execute/dir_2"
    (own / "link").symlink_to(theirs / "secret")
    (own / "relative").symlink_to("../dir_2/secret")
    (own / "way").symlink_to(theirs)
    (folders / "outside/first").symlink_to(own / "link")
    (own / "dangling").symlink_to(theirs / "new")
    (own / "chain").symlink_to("dangling")
    names = ["dir_2/secret", "dir_1/../dir_2/secret", "dir_1/link", "dir_1/relative"]
    names += ["dir_1/way/secret", "dir_1/dangling", "dir_1/chain", "dir_1/way/new"]
    return [f"{folders}/execute/{name}" for name in names] + [f"{folders}/outside/first"]


def test_no_name_leads_to_another_sandbox(folders: Path, fence: Fence) -> None:
    files = LocalFiles(fence=fence)
    for name in lead(folders):
        if os.path.exists(name):
            with pytest.raises(PermissionError, match=re.escape(IN_ANOTHER)):
                files.open_source(name)
            look = files.look(name)
            assert look is not None
            assert (look.is_regular, look.size, look.mtime_ns) == (True, 0, 0)
        with pytest.raises(PermissionError, match=re.escape(IN_ANOTHER)):
            files.open_target(name, 0o644, 0)
        with pytest.raises(PermissionError, match=re.escape(IN_ANOTHER)):
            open(name, "w", opener=opener(fence)).close()
    assert os.listdir(folders / "execute/dir_2") == ["secret"]
    assert (folders / "execute/dir_2/secret").read_text() == "text"


def test_no_folder_is_listed_made_or_worked_in_there(folders: Path, fence: Fence) -> None:
    lead(folders)
    files, way = LocalFiles(fence=fence), f"{folders}/execute/dir_1/way"
    with pytest.raises(PermissionError, match=re.escape(IN_ANOTHER)):
        files.names(way)
    with pytest.raises(PermissionError):
        files.make_directory(f"{way}/d", 0o755)
    with pytest.raises(PermissionError):
        fence.make_directories(f"{way}/d/e")
    with pytest.raises(PermissionError), opened_folder(way, fence):
        pass
    with pytest.raises(PermissionError):
        fence.unlink(f"{way}/secret")
    with pytest.raises(PermissionError):
        fence.make_executable(f"{way}/secret")
    (secret,) = (folders / "execute/dir_2").iterdir()
    assert not os.access(secret, os.X_OK) or os.getuid() == 0
    assert stat.S_IMODE(secret.stat().st_mode) & 0o111 == 0


@pytest.mark.parametrize("calm", [False, True])
def test_all_else_is_opened_as_without(folders: Path, fence: Fence, *, calm: bool) -> None:
    fence.calm = calm
    files, own = LocalFiles(fence=fence), folders / "same/dir_1"
    (own / "inner").symlink_to("mine")
    (own / "later").symlink_to("in/made")
    (own / "out").symlink_to(folders / "outside/f")
    for name in ("mine", "inner", "out"):
        files.open_source(f"{own}/{name}").close()
        look = files.look(f"{own}/{name}")
        assert look == LocalFiles().look(f"{own}/{name}")
        assert look is not None
        assert (look.size, look.is_link) == (4, name != "mine")
    for path in (
        f"{folders}/outside/f",
        f"{folders}/execute/own/f",
        f"{own}/in/new",
        f"{own}/later",
    ):
        target = files.open_target(path, 0o640)
        target.write(b"written")
        target.close()
        assert Path(path).read_bytes() == b"written"
    assert sorted(files.names(str(own / "in"))) == ["made", "new"]
    files.make_directory(f"{own}/in/d", 0o755)
    files.make_directory(f"{own}/in/d", 0o755)
    fence.make_directories(f"{own}/in/d/e/f")
    files.open_target("/dev/null", 0).close()
    fence.make_executable(f"{own}/mine")
    assert os.access(own / "mine", os.X_OK)
    target = files.open_target(f"{own}/half", 0)
    target.discard()
    assert not (own / "half").exists()
    with pytest.raises(FileNotFoundError):
        files.open_target(f"{own}/none/f", 0)
    for name in (f"{own}/none", f"{own}/in", f"{folders}/outside", f"{own}", "/dev/null", "a\0"):
        assert files.look(name) == LocalFiles().look(name)
    with pytest.raises(FileNotFoundError):
        files.names(f"{own}/none")


def test_a_link_is_not_followed_where_none_is_to_be_and_a_ring_ends(
    folders: Path, fence: Fence
) -> None:
    own = folders / "execute/dir_1"
    (own / "link").symlink_to("mine")
    (own / "ring").symlink_to("ring")
    for name, flags in (("link", NEW | os.O_NOFOLLOW), ("ring", NEW)):
        with pytest.raises(OSError, match="Too many levels"):
            fence.make(str(own / name), flags, 0o644)


def test_what_has_no_name_in_this_machine_s_folders_is_not_opened(fence: Fence) -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(PermissionError, match=re.escape(NOWHERE)):
            fence.open(f"/proc/self/fd/{reading}", os.O_RDONLY | os.O_NONBLOCK)
    finally:
        os.close(reading)
        os.close(writing)


def test_who_changes_the_way_meanwhile_wins_nothing(
    folders: Path, fence: Fence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was looked at is worked in by its descriptor."""
    own, theirs = folders / "execute/dir_1", folders / "execute/dir_2"
    check: Callable[[int, str, str], str] = fence.check

    def swap(descriptor: int, path: str, name: str = "") -> str:
        place = check(descriptor, path, name)
        (own / "in").rename(own / "was")
        (own / "in").symlink_to(theirs)
        return place

    monkeypatch.setattr(fence, "check", swap)
    os.close(fence.make(f"{own}/in/new", NEW, 0o644))
    assert os.listdir(theirs) == ["secret"]
    assert (own / "was/new").exists()


def test_a_calm_sandbox_costs_no_look(
    folders: Path, fence: Fence, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(descriptor: int, path: str) -> str:
        raise AssertionError(path)

    monkeypatch.setattr(fence, "check", never)
    own = f"{folders}/same/dir_1"
    fence.calm = True
    os.close(fence.make(f"{own}/new", NEW, 0o644))
    os.close(fence.open(f"{own}/mine", os.O_RDONLY))
    assert fence.allows(f"{own}/mine")
    with pytest.raises(AssertionError):
        fence.open(f"{own}/../dir_2/secret", os.O_RDONLY)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("flags", [os.O_RDONLY, NEW])
@pytest.mark.parametrize("is_held", [False, True])
def test_a_pipe_is_refused_at_once_whether_or_not_it_has_another_end(
    folders: Path, fence: Fence, flags: int, is_held: bool
) -> None:
    pipe = folders / "execute/dir_1/pipe"
    os.mkfifo(pipe)
    other_end = os.open(pipe, os.O_RDWR) if is_held else -1
    before = os.listdir("/proc/self/fd")
    try:
        for around in (fence, None):
            with pytest.raises(OSError, match=r"no regular file|No such device or address"):
                open_regular(around, str(pipe), flags)
        assert len(os.listdir("/proc/self/fd")) == len(before)
    finally:
        if is_held:
            os.close(other_end)
