"""What takes another file's place: when it does, what it keeps of it, and what breaks off."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kettle.runtime.process.aside import InlineAside
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.aside_files import AsideFiles, AsideSource
from kettle.runtime.storage.beside_files import BesideFiles, BesideTarget
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.transfer_files import LocalSource, LocalTarget


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    path.write_text("before")
    path.chmod(0o640)
    return path


def half(path: Path, mode: int = 0o644, reserve: Reserve | None = None) -> BesideTarget:
    """Begin a file and have a part of it come."""
    target = BesideTarget(str(path), mode, reserve, 8)
    target.write(b"come")
    return target


def stays(target: LocalTarget, path: Path) -> bool:
    """Tell whether what was there is there as long as the new file is not whole; finish it."""
    stayed = path.read_text() == "before"
    target.write(b"!")
    target.close()
    return stayed


def test_what_was_there_stays_until_all_has_come(state: Path) -> None:
    target = half(state)
    others = [path for path in state.parent.iterdir() if path != state]
    assert [path.stat().st_mode & 0o777 for path in others] == [0o644]
    assert stays(target, state)
    target.close()
    assert state.read_text() == "come!"
    assert os.listdir(state.parent) == ["state"]


def test_a_transfer_that_breaks_off_leaves_what_was_there(state: Path) -> None:
    target = half(state)
    target.discard()
    target.discard()
    target.close()
    assert state.read_text() == "before"
    assert os.listdir(state.parent) == ["state"]


def test_an_empty_file_is_filled_where_it_is_and_is_empty_again(tmp_path: Path) -> None:
    """Whoever follows a job's output from its submission on sees it come."""
    out = tmp_path / "out"
    out.touch()
    number = out.stat().st_ino
    target = half(out)
    assert out.read_text() == "come"
    target.discard()
    assert out.read_text() == ""
    half(out).close()
    assert (out.read_text(), out.stat().st_ino) == ("come", number)


def test_a_new_file_that_breaks_off_is_taken_away(tmp_path: Path) -> None:
    half(tmp_path / "new").discard()
    assert os.listdir(tmp_path) == []
    (tmp_path / "way").symlink_to("new")
    half(tmp_path / "way").close()
    assert (tmp_path / "new").read_text() == "come"


@pytest.mark.parametrize(("sent", "kept"), [(0o755, 0o755), (0, 0o640)])
def test_the_mode_is_that_which_comes_or_else_that_which_was(
    state: Path, sent: int, kept: int
) -> None:
    half(state, sent).close()
    assert stat.S_IMODE(state.stat().st_mode) == kept


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root's right to give files away")
def test_what_is_replaced_stays_its_owner_s_and_its_group_s(state: Path) -> None:
    os.chown(state, 1234, 4321)
    assert stays(half(state), state)
    facts = state.stat()
    assert (facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode)) == (1234, 4321, 0o640)


@pytest.mark.parametrize("kind", ["link", "second name", "no room", "closed folder", "foreign"])
def test_what_cannot_be_replaced_is_written_over(
    state: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reserve = state, None
    if kind == "link":
        path = state.parent / "way"
        path.symlink_to("state")
    elif kind == "second name":
        os.link(state, state.parent / "other")
    elif kind == "no room":
        # The reserve has room for what comes only in the place of what goes.
        reserve = Reserve(str(state.parent), 1)
        monkeypatch.setattr(Reserve, "check_new", lambda _, path, __: os.stat(path))
    elif kind == "closed folder":
        if os.geteuid() == 0:
            pytest.skip("modes do not bind root")
        state.parent.chmod(0o500)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    number = state.stat().st_ino
    assert not stays(half(path, reserve=reserve), state)
    assert (state.read_text(), state.stat().st_ino) == ("come!", number)
    state.parent.chmod(0o700)


def test_what_may_not_be_written_is_not_replaced_either(state: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("modes do not bind root")
    state.chmod(0o400)
    with pytest.raises(PermissionError):
        half(state)
    assert os.listdir(state.parent) == ["state"]


def test_a_name_may_be_as_long_as_names_are(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    path.write_text("before")
    assert stays(half(path), path)


def test_a_file_that_cannot_take_its_place_leaves_nothing(state: Path) -> None:
    target = half(state)
    state.unlink()
    state.mkdir()
    with pytest.raises(OSError, match="directory"):
        target.close()
    assert os.listdir(state.parent) == ["state"]


def test_devices_and_pipes_take_what_comes(tmp_path: Path) -> None:
    half(Path(os.devnull)).close()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    half(pipe).discard()
    assert os.read(reader, 9) == b"come"
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(("limit", "stayed"), [("{}", True), ("{}/sta*", False)])
def test_nothing_lies_beside_a_file_where_limits_have_only_its_name(
    state: Path, limit: str, stayed: bool
) -> None:
    limits = AccessLimits((limit.format(state.parent),))
    files = AsideFiles(InlineAside(), lambda _: False, limits=limits)
    target = files.open_target(str(state), 0)
    assert isinstance(target, LocalTarget)
    assert stays(target, state) is stayed


class Later:
    """Does nothing until it is told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[asyncio.Future[Any], Callable[[], Any]]] = []

    def run(self, action: Callable[[], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting.append((future, action))
        return future

    async def act(self) -> None:
        """Do what waits."""
        waiting, self.waiting = self.waiting, []
        for future, action in waiting:
            future.set_result(action())
        await asyncio.sleep(0)


def test_what_a_slow_disk_begins_after_a_transfer_was_given_up_is_taken_away(state: Path) -> None:
    async def give_up() -> list[str]:
        later = Later()
        files = AsideFiles(later, lambda _: True)

        async def open_it() -> None:
            opening = files.open_target(str(state), 0o644, 1)
            assert not isinstance(opening, LocalTarget)
            await opening

        task = asyncio.create_task(open_it())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        await later.act()
        between = os.listdir(state.parent)
        await later.act()
        return between

    assert len(asyncio.run(give_up())) == 2
    assert os.listdir(state.parent) == ["state"]
    assert state.read_text() == "before"


def test_what_a_slow_disk_opens_after_a_transfer_was_given_up_does_not_stay_open(
    state: Path,
) -> None:
    async def give_up() -> tuple[int, int, int]:
        later = Later()
        files = AsideFiles(later, lambda _: True)

        async def open_it() -> None:
            opening = files.open_source(str(state))
            assert not isinstance(opening, LocalSource | AsideSource)
            await opening

        before = len(os.listdir("/proc/self/fd"))
        task = asyncio.create_task(open_it())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        await later.act()
        between = len(os.listdir("/proc/self/fd"))
        await later.act()
        return before, between, len(os.listdir("/proc/self/fd"))

    before, between, after = asyncio.run(give_up())
    assert (between, after) == (before + 1, before)


def test_files_that_are_fetched_take_the_place_of_others_whole(state: Path) -> None:
    assert stays(BesideFiles().open_target(str(state), 0o644, 1), state)


@pytest.mark.parametrize("kind", [LocalTarget, BesideTarget])
def test_a_file_whose_disk_does_not_answer_does_not_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[LocalTarget]
) -> None:
    def fail(_: int) -> os.statvfs_result:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    reserve, before = Reserve(str(tmp_path), 40), os.listdir("/proc/self/fd")
    monkeypatch.setattr(os, "fstatvfs", fail)
    for _ in range(2):
        # At first it is new, then it is there.
        with pytest.raises(OSError, match="Input/output error"):
            kind(str(tmp_path / "f"), 0o600, reserve)
    assert os.listdir("/proc/self/fd") == before
