"""A job's limits from its slot, and what is said of one that goes over them (E022, E025, E028)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.starter.limits import (
    EATEN_INODES,
    MIB,
    Allowance,
    LimitRules,
    ReserveWatch,
    allow_disk,
    allow_memory,
    judge_disk,
    judge_memory,
    judge_oom_kill,
    plan_limits,
    seconds_to_next_look,
)

RULES = LimitRules()
SLOT = ClassAd(
    {"Memory": 100, "TotalMemory": 8000, "Disk": 2048.0, "Cpus": 2, "VirtualMemory": 300_000}
)
JOB = ClassAd({"RequestMemory": 70})


def test_hard_is_the_slots_memory_and_softly_nine_tenths() -> None:
    limits = plan_limits(RULES, SLOT, JOB, 4000)
    assert (limits.memory, limits.soft_memory) == (104_857_600, 94_371_840)
    assert limits.memory_and_swap == limits.memory
    assert (limits.cpu_shares, limits.pids) == (200, 1000)


def test_swap_is_the_virtual_memory_that_is_not_memory() -> None:
    limits = plan_limits(replace(RULES, disable_swap=False), SLOT, JOB, 0)
    assert limits.memory_and_swap == 300_000 * 1024


def test_soft_is_the_machines_memory_and_softly_the_slots() -> None:
    limits = plan_limits(replace(RULES, memory_policy="soft"), SLOT, JOB, 0)
    assert (limits.memory, limits.soft_memory) == (8000 * MIB, 100 * MIB)


def test_custom_is_what_the_expressions_say_of_slot_and_job() -> None:
    rules = replace(
        RULES,
        memory_policy="custom",
        hard_expression="Memory * 2",
        soft_expression="TARGET.RequestMemory",
    )
    limits = plan_limits(rules, SLOT, JOB, 0)
    assert (limits.memory, limits.soft_memory) == (200 * MIB, 70 * MIB)


def test_none_limits_neither_memory_nor_swap() -> None:
    limits = plan_limits(replace(RULES, memory_policy="none"), SLOT, JOB, 0)
    assert (limits.memory, limits.soft_memory, limits.memory_and_swap) == (None, None, None)


def test_a_slot_of_unknown_size_limits_nothing() -> None:
    assert plan_limits(RULES, ClassAd(), JOB, 0).memory is None
    assert allow_disk(RULES, ClassAd()) == Allowance()
    assert allow_memory(RULES, SLOT, None) == Allowance()


def test_memory_over_the_limit_is_a_hold_with_the_references_codes() -> None:
    assert judge_memory(100 * MIB, 100 * MIB, 100 * MIB) is None
    assert judge_memory(1, None, None) is None
    assert judge_memory(150 * MIB, 100 * MIB, 200 * MIB) is None
    excess = judge_memory(150 * MIB, 100 * MIB, 149 * MIB)
    assert excess is not None
    assert (excess.code, excess.subcode) == (34, 102)
    assert "memory limit of 100 megabytes. Last measured usage: 150 megabytes." in excess.message


@pytest.mark.parametrize(
    ("peak", "always_hold", "code"), [(95, False, 34), (50, False, 0), (50, True, 34)]
)
def test_a_kill_by_the_kernel_below_the_limit_is_a_requeue_unless_told_otherwise(
    peak: int, always_hold: bool, code: int
) -> None:
    excess = judge_oom_kill(peak * MIB, 100 * MIB, always_hold=always_hold)
    assert excess.code == code
    assert ("cgroup memory limit of 100" in excess.message) == (code == 34)


def test_a_kill_by_the_kernel_without_a_limit_is_a_hold() -> None:
    assert judge_oom_kill(0, None, always_hold=False).code == 34


def test_disk_over_the_limit_is_a_hold_unless_the_policy_is_none() -> None:
    assert allow_disk(replace(RULES, disk_policy="None"), SLOT) == Allowance()
    assert judge_disk(2048, 2048, 2048) is None
    assert judge_disk(2049, 2048, 4096) is None
    excess = judge_disk(2049, 2048, 2048)
    assert excess is not None
    assert (excess.code, excess.subcode) == (34, 104)


def test_softly_a_job_may_use_a_bit_more_than_its_slot_while_others_do_not_need_it() -> None:
    slot = ClassAd({"TotalMemory": 1600, "Disk": 2048, "TotalDisk": 64_000})
    memory, disk = allow_memory(RULES, slot, 100 * MIB), allow_disk(RULES, slot)
    assert (memory.of_now(short=False), memory.of_now(short=True)) == (200 * MIB, 100 * MIB)
    assert (disk.of_now(short=False), disk.of_now(short=True)) == (3048, 2048)
    assert allow_disk(RULES, ClassAd({"Disk": 2048})).of_now(short=False) == 2048


def test_hard_is_the_slots_part_and_nothing_more() -> None:
    slot = ClassAd({"TotalMemory": 1600, "Disk": 2048, "TotalDisk": 64_000})
    rules = replace(RULES, watch_policy="Hard", disk_policy="hard")
    assert allow_memory(rules, slot, 100) == Allowance(100)
    assert allow_disk(rules, slot) == Allowance(2048)


def test_what_grows_is_looked_at_again_before_it_can_reach_the_limit() -> None:
    assert seconds_to_next_look(50, 0, 1.0, 100, 5.0) == pytest.approx(0.5)
    assert seconds_to_next_look(99, 0, 1.0, 100, 5.0) == 0.2
    assert seconds_to_next_look(50, 50, 1.0, 100, 5.0) == 5.0
    assert seconds_to_next_look(50, 0, 1.0, None, 5.0) == 5.0


def looks(*rows: tuple[float, int, int]) -> list[bool]:
    """Return whether a job with a share of 1000 goes, for each (now, used, room)."""
    watch = ReserveWatch()
    return [watch.judge(now, used, 1000, room) is not None for now, used, room in rows]


def test_while_the_reserve_is_whole_nobody_goes() -> None:
    assert looks((0, 10, 500), (1, 900, 0)) == [False, False]


def test_who_eats_of_the_reserve_goes_the_sooner_the_fuller_its_share() -> None:
    assert looks((0, 10, 5), (1, 1000, -1)) == [False, True]
    assert looks((0, 10, 5), (1, 500, -1), (3.4, 510, -9), (3.6, 520, -9)) == [
        False,
        False,
        False,
        True,
    ]


def test_who_writes_nothing_while_there_is_too_little_stays() -> None:
    assert looks((0, 900, 5), (1, 900, -1), (100, 900, -50)) == [False, False, False]


def test_what_was_too_little_once_is_forgotten_when_there_is_room_again() -> None:
    rows = ((0.0, 10, 5), (1.0, 100, -1), (3.0, 110, 5), (3.1, 120, -1), (5.0, 130, -1))
    assert not any(looks(*rows))


def test_of_a_reserve_that_nobody_here_has_taken_is_told_once_each_time() -> None:
    watch = ReserveWatch()
    told = []
    for now, room in ((0, 5), (1, -1), (30, -1), (31, -1), (60, -1), (61, 5), (70, -1), (100, -9)):
        assert watch.judge(now, 900, 1000, room) is None
        told.append(watch.is_to_be_told(now))
    assert told == [False, False, False, True, False, False, False, True]


def test_what_is_said_of_an_eaten_reserve_names_what_is_gone() -> None:
    watch = ReserveWatch()
    excess = watch.judge(0, 700, None, -40)
    assert excess is not None
    assert excess.subcode == 104
    assert "40 kilobytes of it are gone" in excess.message


def test_of_those_who_make_files_the_one_with_the_most_goes() -> None:
    many, few = ReserveWatch(EATEN_INODES), ReserveWatch(EATEN_INODES)
    for now, room in ((0.0, 100), (1.0, -3), (1.2, -4)):
        assert few.judge(now, 10 + int(now * 10), 4000, room) is None
        excess = many.judge(now, 3900 + int(now * 10), 4000, room)
    assert excess is not None
    assert excess.subcode == 104
    assert "inodes" in excess.message
    assert "4 of them are gone. Last measured usage: 3912 files." in excess.message
