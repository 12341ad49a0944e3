"""Which cores a new slot's jobs are bound to."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.startd.cores import are_assigned, choose_cores
from kettle.startd.facts import MachineFacts
from kettle.startd.machine import Machine, machine_resources, plan_layout


@pytest.mark.parametrize(
    ("slots", "wanted", "cores", "chosen"),
    [
        ([], 2, 4, (0, 1)),
        ([(0, 1)], 2, 4, (2, 3)),
        # A partitionable slot has all of them once, its dynamic slots some of them twice.
        ([(0, 1, 2, 3)], 1, 4, (0,)),
        ([(0, 1, 2, 3), (0,)], 1, 4, (1,)),
        ([(0, 1, 2, 3), (0,), (1, 2, 3)], 2, 4, (0, 1)),
        ([(0, 1, 2, 3), (1,)], 4, 4, (0, 1, 2, 3)),
        # More slots or larger ones than cores.
        ([], 8, 2, (0, 1)),
        ([(0,), (1,), (0,)], 1, 2, (1,)),
        ([], 0.5, 2, ()),
        ([], 2, 0, ()),
    ],
)
def test_a_slot_gets_the_cores_that_fewest_have(
    slots: list[tuple[int, ...]], wanted: float, cores: int, chosen: tuple[int, ...]
) -> None:
    assert choose_cores(slots, wanted, cores) == chosen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False), (" False ", False), ("0", False), ("no", False), ("1 > 2", False),
        ("WantsCores", True), ("true", True), ("1", True), ("yes", True),
    ],
)  # fmt: skip
def test_cores_are_assigned_where_a_job_may_be_bound(text: str, expected: bool) -> None:
    assert are_assigned(Config.from_text(f"ASSIGN_CPU_AFFINITY = {text}")) is expected


def test_slots_get_their_cores_when_one_is_first_asked_for_in_the_order_they_were_made() -> None:
    config = Config.from_text("NUM_CPUS = 2\nNUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1 = 50%\n")
    facts = MachineFacts(host="h", cores=2, memory_mib=4000)
    machine = Machine(facts, "h")
    resources = machine_resources(config, facts, machine.readings)
    machine.divide(plan_layout(config, resources), resources, 100.0)
    first, second = machine.slots.values()
    assert (first.cores, second.cores) == (None, None)
    assert machine.cores_of(second) == (1,)
    assert machine.cores_of(first) == (0,)
