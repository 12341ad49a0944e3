"""Nothing outside of what is allowed is touched, also where names are exchanged behind the look."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.runtime.process.aside import InlineAside
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.aside_files import AsideFiles
from kettle.runtime.storage.mounts import machine_mounts
from kettle.runtime.storage.owned_files import NearFiles
from kettle.runtime.storage.transfer_files import LocalTarget
from kettle.shadow.services.files import FILE_CALLS, RemoteFiles, remove_all
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

WRITE, NEW, EMPTIED = 0x0001, 0x0001 | 0x0100, 0x0001 | 0x0200


class Exchanging(AccessLimits):
    """Limits whose look at a name is over when another job exchanges what is there."""

    def __init__(self, folder: Path) -> None:
        super().__init__([str(folder)])
        self.exchange: Callable[[], None] | None = None

    def look_at(self, path: str) -> None:
        """Look, and then have it exchanged, once."""
        super().look_at(path)
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            exchange()


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """What is allowed; beside it lies what is not, under the same names."""
    for folder in ("box/in", "out"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("file", "other"):
            (tmp_path / folder / name).write_text(folder)
        (tmp_path / folder / "link").symlink_to(folder)
        (tmp_path / folder / "folder").mkdir()
        (tmp_path / folder / "empty").mkdir()
        (tmp_path / folder / "folder" / "deep").touch()
    return tmp_path / "box"


@pytest.fixture
def limits(box: Path) -> Exchanging:
    return Exchanging(box)


@pytest.fixture
def outside(box: Path) -> Iterator[Path]:
    """What is outside: nobody changes it, or learns of it, and no descriptor is lost."""
    out = box.parent / "out"

    def everything() -> list[object]:
        found: list[object] = []
        for path in sorted(out.rglob("*")):
            data = path.read_bytes() if path.is_file() else b""
            facts = path.lstat()
            found.append((str(path), facts[:7], facts.st_mtime_ns, facts.st_ctime_ns, data))
        return found

    # Which keeps the kernel's list open.
    machine_mounts().any_far()
    before, descriptors = everything(), os.listdir("/proc/self/fd")
    yield out
    assert everything() == before
    assert os.listdir("/proc/self/fd") == descriptors


def folder_led_outside(box: Path) -> None:
    (box / "in").rename(box / "was")
    (box / "in").symlink_to("../out")


def file_led_outside(box: Path) -> None:
    (box / "in" / "file").unlink()
    (box / "in" / "file").symlink_to("../../out/file")


def do(files: RemoteFiles, call: Call) -> Reply:
    if isinstance(call, calls.Rmall):
        return asyncio.run(remove_all(files, call, InlineAside()))
    return FILE_CALLS[type(call)](files, call)


FOLLOWING = [
    calls.Open(0, 0, "in/file"),
    calls.Open(WRITE, 0, "in/file"),
    calls.Open(NEW, 0o600, "in/file"),
    calls.Open(EMPTIED, 0, "in/file"),
    calls.GetFile("in/file"),
    calls.PutFile("in/file", 0o600, 3),
    calls.PutFile("in/file", 0o600, 0),
    calls.Stat("in/file"),
    calls.Statfs("in/file"),
    calls.Access("in/file", 4),
    calls.Chmod("in/file", 0o777),
    calls.Chown("in/file", os.getuid(), os.getgid()),
    calls.Truncate("in/file", 0),
    calls.Utime("in/file", 1, 1),
]
PLAIN = [
    calls.Open(NEW, 0o600, "in/new"),
    calls.PutFile("in/new", 0o600, 0),
    calls.Lstat("in/file"),
    calls.Readlink("in/link", 100),
    calls.GetDir("in"),
    calls.GetLongDir("in"),
    calls.Unlink("in/file"),
    calls.Rename("in/file", "moved"),
    calls.Rename("mine", "in/file"),
    calls.Mkdir("in/new", 0o700),
    calls.Rmdir("in/empty"),
    calls.Lchown("in/file", os.getuid(), os.getgid()),
    calls.Link("in/file", "mine"),
    calls.Link("mine", "in/new"),
    calls.Symlink("x", "in/new"),
    calls.Rmall("in/folder"),
    calls.Rmall("in/file"),
]


@pytest.mark.parametrize("call", FOLLOWING, ids=str)
def test_a_file_that_leads_outside_behind_the_look_is_not_touched(
    box: Path, limits: Exchanging, outside: Path, call: Call
) -> None:
    files = RemoteFiles(str(box), limits)
    limits.exchange = lambda: file_led_outside(box)
    reply = do(files, call)
    assert (reply.value, reply.errno) == (-1, errno.EACCES)
    files.close()


@pytest.mark.parametrize("call", [*FOLLOWING, *PLAIN], ids=str)
def test_a_folder_that_leads_outside_behind_the_look_is_not_touched(
    box: Path, limits: Exchanging, outside: Path, call: Call
) -> None:
    (box / "mine").touch()
    files = RemoteFiles(str(box), limits)

    limits.exchange = lambda: folder_led_outside(box)
    if isinstance(call, calls.Rename | calls.Link) and call.path == "mine":
        # The second name is the one that is meant.
        exchange = limits.exchange
        limits.exchange = lambda: setattr(limits, "exchange", exchange)
    reply = do(files, call)
    assert (reply.value, reply.errno) == (-1, errno.EACCES)
    files.close()


@pytest.mark.parametrize("call", [*FOLLOWING, *PLAIN], ids=str)
def test_what_is_inside_is_served_within_limits(box: Path, call: Call) -> None:
    if isinstance(call, calls.Link) and call.new_path == "mine":
        call = calls.Link("in/file", "in/new")
    (box / "mine").touch()
    files = RemoteFiles(str(box), AccessLimits([str(box)]))
    assert do(files, call).value >= 0
    files.close()
    assert (box.parent / "out" / "file").read_text() == "out"


def test_a_listing_tells_nothing_of_what_links_in_it_lead_to_outside(box: Path) -> None:
    (box / "way").symlink_to("../out/file")
    (box / "near").symlink_to("in/file")
    files = RemoteFiles(str(box), AccessLimits([str(box)]))
    lines = do(files, calls.GetLongDir(".")).result.splitlines()
    facts = dict(zip(lines[::2], lines[1::2], strict=False))
    assert facts["way"].split()[1] == str((box / "way").lstat().st_ino)
    assert facts["near"].split()[1] == str((box / "in" / "file").stat().st_ino)


def test_a_file_that_is_replaced_meanwhile_is_the_new_one(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, real = AccessLimits([str(box)]), os.readlink

    def replace_before(path: str) -> str:
        if (box / "fresh").exists():
            (box / "fresh").rename(box / "in" / "file")
        return real(path)

    (box / "fresh").write_text("fresh")
    files = RemoteFiles(str(box), limits)
    monkeypatch.setattr(limits, "look_at", lambda _: None)
    monkeypatch.setattr(os, "readlink", replace_before)
    assert do(files, calls.GetFile("in/file")).result == b"fresh"


@pytest.mark.parametrize("exchange", [file_led_outside, folder_led_outside])
@pytest.mark.parametrize("is_far", [True, False])
def test_what_a_transfer_opens_is_inside_when_it_is_open(
    box: Path,
    limits: Exchanging,
    outside: Path,
    exchange: Callable[[Path], None],
    is_far: bool,
) -> None:
    files = AsideFiles(InlineAside(), lambda _: is_far, limits=limits)

    async def act(action: Callable[[], object]) -> None:
        result = action()
        if result is not None:
            await result  # type: ignore[misc]

    actions: list[Callable[[], object]] = [
        lambda: files.open_source(str(box / "in" / "file")),
        lambda: files.open_target(str(box / "in" / "file"), 0o644, 3),
    ]
    if exchange is folder_led_outside:
        actions += [
            lambda: files.open_target(str(box / "in" / "new"), 0o644, 3),
            lambda: files.make_directory(str(box / "in" / "new"), 0o755),
        ]
    for action in actions:
        limits.exchange = lambda: exchange(box)
        with pytest.raises(PermissionError):
            asyncio.run(act(action))
        _put_back(box)


def _put_back(box: Path) -> None:
    if (box / "was").exists():
        (box / "in").unlink()
        (box / "was").rename(box / "in")
    elif (box / "in" / "file").is_symlink():
        (box / "in" / "file").unlink()
        (box / "in" / "file").write_text("in")


def test_what_is_received_takes_its_place_in_the_folder_that_was_opened(
    box: Path, limits: Exchanging, outside: Path
) -> None:
    files = AsideFiles(InlineAside(), lambda _: False, limits=limits)
    for end in ("close", "discard"):
        target = files.open_target(str(box / "in" / "file"), 0o644, 3)
        assert isinstance(target, LocalTarget)
        target.write(b"new")
        folder_led_outside(box)
        getattr(target, end)()
        assert (box / "was" / "file").read_text() == "new"
        _put_back(box)
        assert sorted(os.listdir(box / "in")) == ["empty", "file", "folder", "link", "other"]


def test_a_folder_is_made_anew_only_inside(box: Path, outside: Path) -> None:
    inside = AccessLimits([f"{box}/gone/iwd"])
    files = AsideFiles(InlineAside(), lambda _: False, f"{box}/gone/iwd", inside)
    with pytest.raises(PermissionError):
        files.open_target(f"{box}/gone/iwd/out", 0o644)
    (box / "gone").mkdir()
    target = files.open_target(f"{box}/gone/iwd/out", 0o644)
    assert isinstance(target, LocalTarget)
    target.close()
    assert (box / "gone" / "iwd" / "out").exists()


@pytest.mark.parametrize("exchange", [file_led_outside, folder_led_outside])
def test_what_is_fetched_from_a_schedd_is_inside_when_it_is_open(
    box: Path, limits: Exchanging, outside: Path, exchange: Callable[[Path], None]
) -> None:
    me = Account("me", os.getuid(), os.getgid(), ())
    files = NearFiles(Privileges(me, can_switch=False), me, limits)
    files.open_source(str(box / "in" / "file")).close()
    limits.exchange = lambda: exchange(box)
    with pytest.raises(PermissionError):
        files.open_source(str(box / "in" / "file"))
