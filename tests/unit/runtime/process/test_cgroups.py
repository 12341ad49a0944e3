"""Where control groups can be made, what they are called, and what is written into them."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from kettle.runtime.process.cgroups import Hierarchy, find_hierarchy, group_name, leftovers
from kettle.starter.limits import Limits


def tree(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in ("cgroup.procs", *names):
        (folder / name).write_text("")
    return folder


def found(tmp_path: Path, mounts: str, own: str) -> Hierarchy | None:
    (tmp_path / "mounts").write_text(mounts)
    (tmp_path / "own").write_text(own)
    return find_hierarchy(str(tmp_path / "mounts"), str(tmp_path / "own"))


def test_version_one_is_a_tree_for_each_controller_below_our_own_group(tmp_path: Path) -> None:
    freezer, memory = tree(tmp_path / "freezer"), tree(tmp_path / "memory")
    inside = tree(memory / "box")
    mounts = (
        f"cgroup {freezer} cgroup rw,freezer 0 0\ncgroup {memory} cgroup rw,relatime,memory 0 0\n"
        "tmpfs /sys tmpfs rw 0 0\nnonsense\n"
    )
    hierarchy = found(tmp_path, mounts, "6:freezer:/\n4:memory:/box\n")
    assert hierarchy == Hierarchy(1, {"freezer": str(freezer), "memory": str(inside)})


def test_version_two_is_taken_where_it_counts_memory(tmp_path: Path) -> None:
    freezer, unified = tree(tmp_path / "freezer"), tree(tmp_path / "unified", "cgroup.controllers")
    mounts = f"c {unified} cgroup2 rw 0 0\ncgroup {freezer} cgroup rw,freezer 0 0\n"
    first = found(tmp_path, mounts, "6:freezer:/\n0::/\n")
    assert first is not None
    assert first.version == 1
    (unified / "cgroup.controllers").write_text("cpu memory pids\n")
    second = found(tmp_path, mounts, "6:freezer:/\n0::/\n")
    assert second == Hierarchy(2, {"unified": str(unified)})


def test_nothing_writable_is_no_hierarchy(tmp_path: Path) -> None:
    assert found(tmp_path, "c /nowhere/at/all cgroup2 rw 0 0\n", "0::/\n") is None


def test_a_group_is_called_after_its_execute_folder_and_slot() -> None:
    assert group_name("/var/lib/condor/execute", "slot1@host") == (
        "condor_var_lib_condor_execute_slot1"
    )


def test_only_groups_of_the_same_execute_folder_are_leftovers(tmp_path: Path) -> None:
    folder = tree(tmp_path / "freezer")
    for name in ("condor_a_slot1_2", "condor_a_slot3", "condor_a_b_slot1", "condor_a_slotx"):
        tree(folder / "htcondor" / name)
    groups = leftovers(Hierarchy(1, {"freezer": str(folder)}), "htcondor", "/a")
    assert len(groups) == 2
    assert all(group.pids() == [] for group in groups)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (1, {"memory.limit_in_bytes": "100", "memory.memsw.limit_in_bytes": "150"}),
        (2, {"memory.max": "100", "memory.swap.max": "50", "pids.max": "max"}),
    ],
)
def test_limits_are_written_as_the_version_has_them(
    tmp_path: Path, version: int, expected: dict[str, str]
) -> None:
    files = [*expected, "memory.soft_limit_in_bytes"]
    tree(tmp_path / "tree" / "one", *files)
    key = "memory" if version == 1 else "unified"
    group = Hierarchy(version, {key: str(tmp_path / "tree")}).group("one")
    refused = group.limit(Limits(memory=100, memory_and_swap=150, cpu_shares=7))
    # There is no such controller.
    assert {name: error.errno for name, error in refused.items()} == {"cpu": errno.ENOENT}
    for name, value in expected.items():
        assert (tmp_path / "tree" / "one" / name).read_text().startswith(value)


def test_what_the_kernel_counts_is_read_as_the_version_says_it(tmp_path: Path) -> None:
    one = tree(tmp_path / "memory" / "one")
    (one / "memory.stat").write_text("total_rss 10\ntotal_shmem 5\ncache 100\n")
    (one / "memory.max_usage_in_bytes").write_text("77\n")
    (one / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    first = Hierarchy(1, {"memory": str(tmp_path / "memory")}).group("one")
    assert (first.memory_bytes(), first.oom_kills()) == ((15, 77), 2)
    two = tree(tmp_path / "unified" / "one")
    (two / "memory.stat").write_text("anon 10\nshmem 5\nfile 100\n")
    (two / "memory.peak").write_text("77\n")
    (two / "memory.events").write_text("oom 3\noom_kill 2\n")
    second = Hierarchy(2, {"unified": str(tmp_path / "unified")}).group("one")
    assert (second.memory_bytes(), second.oom_kills()) == ((15, 77), 2)


def test_growth_is_what_the_kernel_counted_since_the_mark_without_what_is_its_own(
    tmp_path: Path,
) -> None:
    names = ("memory.max_usage_in_bytes", "memory.kmem.max_usage_in_bytes", "memory.stat")
    one = tree(tmp_path / "memory" / "one", *names)
    group = Hierarchy(1, {"memory": str(tmp_path / "memory")}).group("one")
    assert group.growth_bytes() == 0
    group.mark_memory()
    assert [(one / name).read_text() for name in names] == ["0", "0", ""]
    (one / names[0]).write_text("1000\n")
    (one / names[1]).write_text("300\n")
    (one / names[2]).write_text("cache 1\ntotal_cache 600\n")
    assert (group.growth_bytes(), group.growth_bytes(without_cache=True)) == (700, 100)
    # One whose counts cannot be set back tells nothing.
    (one / names[1]).unlink()
    group.remove()
    group.mark_memory()
    assert group.growth_bytes() == 0


def test_growth_in_version_two_is_only_known_beyond_the_peak_before_the_mark(
    tmp_path: Path,
) -> None:
    one = tree(tmp_path / "unified" / "one", "memory.stat")
    group = Hierarchy(2, {"unified": str(tmp_path / "unified")}).group("one")
    group.mark_memory()
    assert group.growth_bytes() == 0
    (one / "memory.peak").write_text("500\n")
    group.mark_memory()
    assert group.growth_bytes(without_cache=True) == 0
    (one / "memory.peak").write_text("1700\n")
    assert (group.growth_bytes(), group.growth_bytes(without_cache=True)) == (1200, 1200)
    (one / "memory.stat").write_text("anon 10\nfile 800\nkernel 100\n")
    assert group.growth_bytes(without_cache=True) == 800


def two_controllers(tmp_path: Path) -> Hierarchy:
    for name in ("freezer", "memory"):
        tree(tmp_path / name, "tasks")
        tree(tmp_path / name / "one", "tasks")
    return Hierarchy(1, {name: str(tmp_path / name) for name in ("freezer", "memory")})


def test_who_cannot_go_back_in_one_controller_goes_back_in_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = two_controllers(tmp_path).group("one")
    back: list[str] = []

    def write(descriptor: int, data: bytes, offset: int) -> int:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if "/one/" not in path:
            back.append(path.removeprefix(f"{tmp_path}/"))
            if len(back) == 1:
                raise OSError("the kernel says no")
        return len(data)

    monkeypatch.setattr("kettle.runtime.process.cgroups.os.pwrite", write)
    with pytest.raises(OSError, match="the kernel says no"), group.entered():
        pass
    assert sorted(back) == ["freezer/tasks", "memory/tasks"]


@pytest.mark.parametrize("version", [1, 2])
def test_killing_a_group_never_waits_and_spares_the_killer(tmp_path: Path, version: int) -> None:
    key = "freezer" if version == 1 else "unified"
    folder = tree(tmp_path / key / "one", "freezer.state", "cgroup.kill")
    group = Hierarchy(version, {key: str(tmp_path / key)}).group("one")
    assert group.kill()
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        (folder / "cgroup.procs").write_text(f"{os.getpid()}\n{sleeper.pid}\n")
        # One that does not end, as far as this kernel says, is asked for one round only.
        assert not group.kill()
        assert sleeper.wait() == -9
    # With ourselves inside nothing is frozen, and nothing killed as a whole.
    assert (folder / "freezer.state").read_text() == ""
    assert (folder / "cgroup.kill").read_text() == ""


def test_a_group_that_somebody_froze_and_died_is_thawed_when_it_is_taken_over(
    tmp_path: Path,
) -> None:
    group = tree(tmp_path / "tree" / "one", "freezer.state")
    (group / "freezer.state").write_text("FROZEN")
    Hierarchy(1, {"freezer": str(tmp_path / "tree")}).group("one").make()
    assert (group / "freezer.state").read_text() == "THAWED"
