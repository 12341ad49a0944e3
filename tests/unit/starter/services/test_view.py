"""Where the kernel refuses a job its own view, the job runs without it and the log says so once."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.process import kernel, namespaces
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.removal import remove_tree
from kettle.starter.services import view
from kettle.starter.services.view import JobView


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
    (line,) = [line for line in told if "IPC" not in line]
    assert line.startswith("USE_PID_NAMESPACES: the kernel refuses them (Operation not permitted)")
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
