"""Where the kernel refuses jobs views of their own, they run without and the log says so once.

What fails for another reason is not a refusal: the job does not run there, and the next one may.
"""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.runtime.process import kernel, namespaces
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.removal import remove_tree
from kettle.starter.launch import CannotLaunch
from kettle.starter.place import Place
from kettle.starter.services import view
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.view import JobView
from kettle.starter.services.world import StarterWorld


class Switching(Privileges):
    """Says that it can switch, and does not."""

    def __init__(self) -> None:
        super().__init__(account_of(os.getuid()), can_switch=True)

    @contextlib.contextmanager
    def as_root(self) -> Iterator[None]:
        yield


class Mounts(namespaces.MountNamespace):
    """A view that is everybody's."""

    def __init__(self) -> None:
        super().__init__(-1, -1)

    @classmethod
    def make(cls, base: namespaces.MountNamespace | None = None) -> Mounts:
        del base
        return cls()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        yield

    def close(self) -> None:
        pass


def refuse(*_: object) -> namespaces.PidNamespace:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("mounts", [True, False], ids=["has mounts", "has none"])
def test_what_the_kernel_refuses_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, mounts: bool
) -> None:
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(namespaces.PidNamespace, "make", refuse)
    if not mounts:
        monkeypatch.setattr(Mounts, "make", refuse)
    told: list[str] = []
    found = JobView(Switching(), f"{tmp_path}/view", own_pids=True, tell=told.append)
    for folders in ((), ("/no/such/folder",)):
        if found.possible:
            found.prepare(folders, account_of(os.getuid()), shared_memory=False)
        assert found.init == 0
        assert found.possible is mounts
    # Where nobody may make IPC namespaces either, that is told beside it.
    assert len(set(told)) == len(told)
    *lines, line = [line for line in told if "IPC" not in line]
    assert line.startswith("USE_PID_NAMESPACES: the kernel refuses them (Operation not permitted)")
    begin = "The kernel refuses jobs a view of their own (Operation not permitted)"
    assert [said.partition(";")[0] for said in lines] == ([] if mounts else [begin])
    found.close()


def test_who_does_not_want_pid_namespaces_is_not_told_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(namespaces.PidNamespace, "make", refuse)
    told: list[str] = []
    found = JobView(Switching(), f"{tmp_path}/view", tell=told.append)
    found.prepare((), account_of(os.getuid()), shared_memory=False)
    assert found.possible
    assert told == []
    found.close()


@pytest.mark.parametrize("fails_at", [0, 1, 2])
def test_where_sandboxes_cannot_be_hidden_all_is_as_before_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    mounted: list[str] = []

    def mount(_source: str, target: str, *_: object, **__: object) -> None:
        if len(mounted) == fails_at:
            refuse()
        mounted.append(target)
        # As if something empty were above it.
        os.rename(target, f"{target}.below")
        os.mkdir(target)

    def unmount(target: str) -> None:
        mounted.remove(target)
        remove_tree(target)
        os.rename(f"{target}.below", target)

    for name in ("own/dir_1", "other/dir_2"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(kernel, "mount", mount)
    monkeypatch.setattr(kernel, "unmount", unmount)
    told: list[str] = []
    found, here = JobView(Switching(), f"{tmp_path}/view", tell=told.append), os.getcwd()
    hidden, sandbox = (f"{tmp_path}/own", f"{tmp_path}/other"), f"{tmp_path}/own/dir_1"
    for _ in range(2):
        found.prepare(
            (), account_of(os.getuid()), shared_memory=False, hidden=hidden, sandbox=sandbox
        )
    os.chdir(here)
    assert found.possible
    assert mounted == []
    assert told == [
        "The sandboxes of other jobs cannot be hidden from this one: Operation not permitted"
    ]
    assert sorted(os.listdir(tmp_path)) == ["other", "own", "view"]
    found.close()


def fail_once(error: int, then: Callable[..., object]) -> Callable[..., object]:
    """Return what fails so at its first call."""
    errors = [error]

    def call(*args: object, **more: object) -> object:
        if errors:
            raise OSError(error := errors.pop(), os.strerror(error))
        return then(*args, **more)

    return call


class Ipc:
    """An IPC namespace that is everybody's."""

    is_empty = False

    def close(self) -> None:
        pass


class Pids(Ipc):
    """A PID namespace that is everybody's."""

    init, lives = 7, True


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EAGAIN, errno.EMFILE, errno.ENOMEM])
@pytest.mark.parametrize("what", ["mkdir", "mounts", "pids", "ipc", "mount"])
def test_what_fails_for_a_moment_is_the_fault_of_that_job_s_view_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, error: int
) -> None:
    (tmp_path / "target").mkdir()
    pids, ipc, mount = (lambda *_, **__: Pids()), (lambda: Ipc()), (lambda *_, **__: None)
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    for name, place, attribute, works in (
        ("pids", namespaces.PidNamespace, "make", pids),
        ("ipc", namespaces.IpcNamespace, "make", ipc),
        ("mount", kernel, "mount", mount),
        ("mounts", Mounts, "make", Mounts.make),
        ("mkdir", os, "mkdir", os.mkdir),
    ):
        made = fail_once(error, works) if name == what else works
        monkeypatch.setattr(place, attribute, made)
    monkeypatch.setattr(view, "shows_queues", lambda _: False)
    told: list[str] = []
    found = JobView(Switching(), f"{tmp_path}/view", own_pids=True, tell=told.append)

    def prepare() -> None:
        account = account_of(os.getuid())
        found.prepare((f"{tmp_path}/target",), account, shared_memory=False)

    with pytest.raises(OSError, match=os.strerror(error)):
        prepare()
    assert not os.path.exists(f"{tmp_path}/view")
    for _ in range(2):
        assert found.possible
        prepare()
        assert found.init == 7
    assert told == []
    found.close()


def test_where_sandboxes_cannot_be_hidden_for_a_moment_the_job_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own/dir_1").mkdir(parents=True)
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(kernel, "mount", fail_once(errno.ENOSPC, kernel.mount))
    told: list[str] = []
    found, hidden = JobView(Switching(), f"{tmp_path}/view", tell=told.append), f"{tmp_path}/own"
    with pytest.raises(OSError, match="No space"):
        found.prepare(
            (), account_of(0), shared_memory=False, hidden=(hidden,), sandbox=f"{hidden}/dir_1"
        )
    assert found.possible
    assert told == []


def test_what_an_earlier_process_left_is_removed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "view/0").mkdir(parents=True)
    (tmp_path / "view/0/left").touch()
    (tmp_path / "target").mkdir()
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(kernel, "mount", lambda *_, **__: None)
    found = JobView(Switching(), f"{tmp_path}/view")
    found.prepare((f"{tmp_path}/target",), account_of(os.getuid()), shared_memory=False)
    assert found.possible
    assert os.listdir(tmp_path / "view") == ["0"]
    assert os.listdir(tmp_path / "view/0") == []
    found.close()
    assert not os.path.exists(f"{tmp_path}/view")


def test_what_was_there_once_is_not_refused_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose view cannot be made now must not run in the view of everybody."""
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    found, account = JobView(Switching(), f"{tmp_path}/view"), account_of(os.getuid())
    found.prepare((), account, shared_memory=False)
    monkeypatch.setattr(Mounts, "make", refuse)
    with pytest.raises(PermissionError):
        found.prepare(("/no/such/folder",), account, shared_memory=False)
    assert found.possible


def test_a_job_whose_view_cannot_be_made_now_goes_back_to_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "MountNamespace", Mounts)
    monkeypatch.setattr(Mounts, "make", fail_once(errno.ENOSPC, Mounts.make))
    found = JobView(Switching(), f"{tmp_path}/view")
    place = SimpleNamespace(
        private_folders=lambda *_: (),
        private_shared_memory=lambda _: False,
        shown_folders=lambda _: (),
        hidden_folders=(),
        sandbox=SimpleNamespace(root=""),
    )
    jobs = SimpleNamespace(account=account_of(os.getuid()), view=None)

    def give() -> None:
        StarterWorld._give_view(
            found, cast(JobProcesses, jobs), cast(Place, place), ClassAd(), ClassAd(), None
        )

    with pytest.raises(CannotLaunch, match="view of the machine: No space left on device") as said:
        give()
    assert said.value.code == 0
    assert jobs.view is None
    give()
    assert jobs.view is found
    found.close()


def test_a_machine_that_allows_no_namespaces_refuses_and_a_full_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    most = {
        "/proc/sys/user/max_mnt_namespaces": b"0\n",
        "/proc/sys/user/max_pid_namespaces": b"9\n",
    }
    monkeypatch.setattr(namespaces, "read_small", most.__getitem__)
    assert namespaces.is_refusal(full)
    assert not namespaces.is_refusal(full, "pid")


# What two jobs of a claim list in EXECUTE: of the first the folder has no inode left for a moment.
_FULL = """\
import os, sys
from kettle.runtime.process import kernel
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.starter.services.view import JobView

execute = sys.argv[1]
kernel.unshare_mounts()
kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
kernel.mount("tmpfs", execute, "tmpfs", data="nr_inodes=20")
for name in ("dir_1", "dir_2", "target"):
    os.mkdir(f"{execute}/{name}")
found = JobView(Privileges(account_of(0), can_switch=True), f"{execute}/.private_1", own_pids=True)
def prepare(folders):
    try:
        found.prepare(
            folders, account_of(65534), shared_memory=True, hidden=(execute,),
            sandbox=f"{execute}/dir_1",
        )
        with found.entered():
            return os.listdir(execute)
    except OSError as error:
        return error.strerror
used = []
while len(used) < 30:
    try:
        os.mkdir(f"{execute}/x{len(used)}")
        used.append(f"{execute}/x{len(used)}")
    except OSError:
        break
print(prepare((f"{execute}/target",)), found.possible)
for path in used:
    os.rmdir(path)
os.mkdir(f"{execute}/.private_1")
print(prepare(()), found.possible)
os.rmdir(f"{execute}/dir_1")
os.mkdir(f"{execute}/dir_1")
print(prepare(()), found.possible)
found.close()
"""


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_where_sandboxes_have_no_room_for_a_moment_no_job_sees_another_s(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if "Operation not permitted" in done.stdout + done.stderr:
        pytest.skip("this machine lets root mount nothing")
    own = "['dir_1'] True"
    assert done.stdout.splitlines() == ["No space left on device True", own, own], done.stderr
