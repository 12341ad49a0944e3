"""A slot's control group serves one job of a claim after the other."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from kettle.runtime.process.cgroups import GroupV2, Hierarchy
from kettle.runtime.process.privileges import Account, Privileges
from kettle.starter.limits import OUT_OF_DISK, Allowance, Excess, LimitRules, Limits
from kettle.starter.services.watch import ResourceWatch, SlotGroup
from kettle.testing.virtual_loop import run_virtually


class KernelGroup(GroupV2):
    """A group whose files come and go with its folder, as the kernel's do."""

    def make(self) -> None:
        folder = Path(self._path(""))
        folder.mkdir(exist_ok=True)
        for name in ("cgroup.procs", "memory.peak"):
            (folder / name).write_text("")
        for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.weight"):
            (folder / name).write_text("max")

    def remove(self) -> None:
        shutil.rmtree(self._path(""))


def test_the_next_job_of_a_claim_has_the_same_limits_and_a_peak_of_its_own(tmp_path: Path) -> None:
    group = KernelGroup(Hierarchy(2, {"unified": str(tmp_path)}), "slot1")
    slot = SlotGroup(
        Privileges(Account("me", os.getuid(), os.getgid(), ()), can_switch=False), group
    )
    limits = Limits(memory=100, pids=7)
    for _ in range(3):
        assert slot.ready(limits) is group
        assert (tmp_path / "slot1" / "memory.max").read_text() == "100"
        assert (tmp_path / "slot1" / "pids.max").read_text().startswith("7")
        assert not (tmp_path / "slot1" / "memory.peak").read_text()
        (tmp_path / "slot1" / "memory.peak").write_text("99")


def test_a_group_with_somebody_inside_keeps_its_limits(tmp_path: Path) -> None:
    group = KernelGroup(Hierarchy(2, {"unified": str(tmp_path)}), "slot1")
    group.make()
    group.limit(Limits(memory=100))
    (tmp_path / "slot1" / "cgroup.procs").write_text("17\n")
    assert not group.forget_peaks()
    assert (tmp_path / "slot1" / "memory.max").read_text() == "100"


class Use:
    """What a job uses, none of which is asked for where its group counts it."""

    def resident_bytes(self, enough: int | None) -> int:
        raise AssertionError(enough)

    def saw(self, memory: int) -> None:
        del memory


def test_a_limit_that_the_kernel_does_not_take_is_told_once_and_judged_here(
    tmp_path: Path,
) -> None:
    """A file that cannot be opened to write: a folder, whoever we are."""

    class Stubborn(KernelGroup):
        def make(self) -> None:
            super().make()
            folder = Path(self._path(""))
            (folder / "memory.max").unlink()
            (folder / "memory.max").mkdir()
            (folder / "memory.swap.max").unlink()
            (folder / "memory.stat").write_text("anon 90000000\n")

    told: list[str] = []
    group = Stubborn(Hierarchy(2, {"unified": str(tmp_path)}), "slot1")
    privileges = Privileges(Account("me", os.getuid(), os.getgid(), ()), can_switch=False)
    slot = SlotGroup(privileges, group, told.append)
    for _ in range(2):
        assert slot.ready(Limits(memory=10_000_000, memory_and_swap=10_000_000)) is group
    assert not slot.holds_memory
    assert told == ["The kernel does not take the memory limit: Is a directory"]
    allowed = Allowance(10_000_000)
    trusting = ResourceWatch(LimitRules(), group, allowed, Allowance())
    assert trusting._look_at_memory(Use(), 1.0)[0] is None
    watch = ResourceWatch(LimitRules(), group, allowed, Allowance(), held=False)
    excess, _ = watch._look_at_memory(Use(), 1.0)
    assert excess is not None
    assert "Last measured usage: 85 megabytes" in excess.message
    # Where no limit is wanted none is refused.
    slot.ready(Limits())
    assert slot.holds_memory
    assert len(told) == 1


@pytest.mark.parametrize("made_before", [False, True])
def test_a_group_that_cannot_be_made_is_told_once_and_tried_again_for_the_next_job(
    tmp_path: Path, made_before: bool
) -> None:
    class Failing(KernelGroup):
        fails = 0

        def make(self) -> None:
            if self.fails:
                self.fails -= 1
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().make()

        def remove(self) -> None:
            if os.path.exists(self._path("")):
                super().remove()

    told: list[str] = []
    group = Failing(Hierarchy(2, {"unified": str(tmp_path)}), "slot1")
    privileges = Privileges(Account("me", os.getuid(), os.getgid(), ()), can_switch=False)
    slot = SlotGroup(privileges, group, told.append)
    if made_before:
        assert slot.ready(Limits(memory=100)) is group
    group.fails = 2
    assert [slot.ready(Limits(memory=100)) for _ in range(3)] == [None, None, group]
    assert (tmp_path / "slot1" / "memory.max").read_text() == "100"
    (line,) = told
    assert line.startswith("The control group of the slot cannot be made: No space left on device")
    slot.close()
    assert not os.path.exists(tmp_path / "slot1")


def test_what_is_left_on_disk_is_judged_once_more_at_the_end() -> None:
    watch = ResourceWatch(LimitRules(), None, Allowance(), Allowance(1024))
    assert watch.judge_end(1024) is None
    excess = watch.judge_end(1025)
    assert excess is not None
    assert excess.subcode == OUT_OF_DISK
    unlimited = ResourceWatch(LimitRules(), None, Allowance(), Allowance())
    assert unlimited.judge_end(1 << 40) is None


def test_the_log_tells_of_a_reserve_that_no_job_was_seen_to_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("kettle.starter.services.watch.tasks.report", said.append)
    rules = LimitRules(reserved_disk_kib=1 << 50)
    watch = ResourceWatch(rules, None, Allowance(), Allowance(1024), str(tmp_path))
    for now in (0.0, 10.0, 31.0, 62.0):
        assert watch._look_at_disk(lambda: (0, 0), 10.0, now)[0] is None
    (line,) = said
    assert line.startswith(f"The disk of {tmp_path} has ")
    # Whoever has more than he asked for goes, though he does not write now either.
    excess, _ = watch._look_at_disk(lambda: (1025, 1), 10.0, 63.0)
    assert excess is not None
    assert excess.subcode == OUT_OF_DISK


def test_what_is_tolerated_is_not_where_the_disk_has_no_room(tmp_path: Path) -> None:
    allowed = Allowance(1024, 1000)
    roomy = ResourceWatch(LimitRules(), None, Allowance(), allowed, str(tmp_path))
    assert roomy.judge_end(2024) is None
    for rules, more in ((LimitRules(reserved_disk_kib=1 << 50), 1000), (LimitRules(), 1 << 50)):
        full = ResourceWatch(rules, None, Allowance(), Allowance(1024, more), str(tmp_path))
        assert full.judge_end(1024) is None
        excess = full.judge_end(1025)
        assert excess is not None
        assert "disk limit of 1024 kilobytes. Last measured usage: 1025" in excess.message


def test_what_a_job_uses_is_noted_ever_more_rarely_and_its_group_s_memory_at_each_look() -> None:
    class Use:
        """What a job uses, with the number of each look."""

        looks = 0
        noted: list[int]
        seen: list[int]

        def __init__(self) -> None:
            self.noted, self.seen = [], []

        def resident_bytes(self, enough: int | None) -> int:
            raise AssertionError(enough)

        def saw(self, memory: int) -> None:
            self.seen.append(memory)

        def note(self) -> None:
            self.noted.append(len(self.seen))

    class Counted(GroupV2):
        """A group that has ever more."""

        count = 0

        def oom_kills(self) -> int:
            return int(self.count >= 9)

        def memory_bytes(self) -> tuple[int, int] | None:
            self.count += 1
            return self.count, self.count

    use, excesses = Use(), list[Excess]()
    group = Counted(Hierarchy(2, {"unified": "/nowhere"}), "slot1")
    watch = ResourceWatch(LimitRules(), group, Allowance(), Allowance())
    run_virtually(watch.watch(use, lambda: (0, 0), excesses.append, use.note))
    assert use.seen == [*range(1, 10)]
    assert use.noted == [1, 2, 4, 8]
    assert len(excesses) == 1
