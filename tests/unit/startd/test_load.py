"""Whose load is whose: the numbers are those of a 25.14.1 startd that ran a busy job."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.load import SlotLoad
from kettle.startd.load_shares import deal_out
from kettle.startd.machine import Machine, machine_resources, plan_layout
from kettle.startd.slot_machine import Phase
from kettle.startd.slots import Bundle

PARTITIONABLE = "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\nSLOT_TYPE_1_PARTITIONABLE = true\n"


def make_machine(text: str) -> Machine:
    config = Config.from_text(f"NUM_CPUS = 4\n{text}", subsystem="STARTD")
    facts = MachineFacts(host="h", cores=2, memory_mib=4000)
    machine = Machine(facts, "h")
    machine.readings = Readings(disk_kib=100000)
    resources = machine_resources(config, facts, machine.readings)
    machine.divide(plan_layout(config, resources), resources, 100.0)
    return machine


def shares(machine: Machine) -> dict[str, float]:
    return {record.short_name: record.load.of_owner for record in machine}


def busy(load: SlotLoad, seconds: int, cores: float) -> None:
    """Let a job work for so long; it is looked at every five seconds."""
    load.observe(7, 0.0, 0.0, 5.0)
    for passed in range(5, seconds + 1, 5):
        load.observe(7, cores * passed, float(passed), 5.0)


def test_a_minute_is_averaged() -> None:
    load = SlotLoad()
    busy(load, 30, 1.0)
    load.settle(real_cores=4, machine_load=3.0)
    assert load.of_job == pytest.approx(0.5)
    busy(load, 60, 1.0)
    load.settle(real_cores=4, machine_load=3.0)
    # What was found when the job began counts for nothing.
    assert load.of_job == pytest.approx(1.0, abs=0.1)


def test_a_job_that_ends_fades_away_and_the_next_one_s_work_is_its_own() -> None:
    load = SlotLoad()
    busy(load, 60, 1.0)
    load.observe(0, 0.0, 65.0, 5.0)
    load.observe(8, 500.0, 70.0, 5.0)
    load.settle(real_cores=4, machine_load=4.0)
    assert load.of_job == pytest.approx(50 / 60)
    for passed in range(75, 135, 5):
        load.observe(0, 0.0, float(passed), 5.0)
    load.settle(real_cores=4, machine_load=4.0)
    assert load.of_job == 0.0


def test_where_more_waits_than_there_are_cores_a_job_has_its_part_of_that() -> None:
    load = SlotLoad()
    busy(load, 60, 0.304)
    load.settle(real_cores=2, machine_load=14.0)
    assert load.of_job == pytest.approx(0.304 * 7, abs=0.01)


def test_no_job_makes_more_load_than_there_is() -> None:
    load = SlotLoad()
    busy(load, 60, 1.0)
    load.settle(real_cores=2, machine_load=0.3)
    assert load.of_job == 0.3


def test_what_is_left_of_a_slot_has_the_owner_s_load_first() -> None:
    machine = make_machine(PARTITIONABLE)
    parent = machine.find("slot1")
    assert parent is not None
    machine.carve(parent, Bundle({"Cpus": 1, "Memory": 100, "Disk": 100}), 150.0)
    deal_out(machine, 21.52 - 0.41)
    assert shares(machine) == {"slot1": 3.0, "slot1_1": 1.0}
    deal_out(machine, 2.5)
    assert shares(machine) == {"slot1": 2.5, "slot1_1": 0.0}
    deal_out(machine, -1.0)
    assert shares(machine) == {"slot1": 0.0, "slot1_1": 0.0}


def test_slots_of_the_owner_s_and_unclaimed_ones_come_before_claimed_ones() -> None:
    machine = make_machine("NUM_SLOTS = 4\n")
    phases = (Phase.CLAIMED_BUSY, Phase.UNCLAIMED_IDLE, Phase.OWNER_IDLE, Phase.UNCLAIMED_IDLE)
    for record, phase in zip(machine, phases, strict=True):
        record.slot = record.slot._replace(phase=phase)
    deal_out(machine, 1.3)
    assert shares(machine) == {"slot1": 0.0, "slot2": pytest.approx(0.3), "slot3": 1.0, "slot4": 0}


def test_a_slot_that_was_just_cut_has_its_parent_s_load() -> None:
    machine = make_machine(PARTITIONABLE)
    parent = machine.find("slot1")
    assert parent is not None
    deal_out(machine, 0.7)
    record = machine.carve(parent, Bundle({"Cpus": 1, "Memory": 100, "Disk": 100}), 150.0)
    assert record.load.of_owner == 0.7
    assert parent.divided_at == 150.0
