"""How long nobody has typed: of the machine, and as its slots see it."""

from __future__ import annotations

import os

import pytest

from kettle.config import Config
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.idle import idle_times
from kettle.startd.machine import Machine, machine_resources, plan_layout
from kettle.startd.services.facts import read_readings
from kettle.startd.slots import Bundle

# What the reference publishes with these settings: three slots, the second without console.
TWO_AND_ONE = "SLOTS_CONNECTED_TO_KEYBOARD = 2\nSLOTS_CONNECTED_TO_CONSOLE = 1\n"
PARTITIONABLE = "NUM_SLOTS_TYPE_1 = 3\nSLOT_TYPE_1 = 25%\nSLOT_TYPE_1_PARTITIONABLE = true\n"


def times(text: str, name: str) -> tuple[int, int]:
    config = Config.from_text(f"NUM_CPUS = 4\n{PARTITIONABLE}{text}", subsystem="STARTD")
    facts = MachineFacts(host="h", cores=4, memory_mib=4000)
    machine = Machine(facts, "h")
    machine.readings = Readings(disk_kib=100000, keyboard_idle=7, console_idle=9)
    resources = machine_resources(config, facts, machine.readings)
    machine.divide(plan_layout(config, resources), resources, 100.0)
    parent = machine.find("slot2")
    assert parent is not None
    machine.carve(parent, Bundle({"Cpus": 1, "Memory": 100, "Disk": 100}), 150.0)
    record = machine.find(name)
    assert record is not None
    return idle_times(record, machine, config, 118.0)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("", "slot1", (1218, 1218)),
        ("DISCONNECTED_KEYBOARD_IDLE_BOOST = 5\n", "slot3", (23, 23)),
        (TWO_AND_ONE, "slot1", (7, 9)),
        (TWO_AND_ONE, "slot2", (7, 1218)),
        (TWO_AND_ONE, "slot2_1", (7, 1218)),
        (TWO_AND_ONE, "slot3", (1218, 1218)),
        ("SLOTS_CONNECTED_TO_KEYBOARD = 1024*1024\n", "slot3", (7, 1218)),
        ("use POLICY:Desktop\n", "slot3", (7, 9)),
    ],
)
def test_a_slot_sees_the_keyboard_it_is_connected_to(
    text: str, name: str, expected: tuple[int, int]
) -> None:
    assert times(text, name) == expected


def test_where_nobody_can_sit_all_of_time_is_idle() -> None:
    config = Config.from_text("EXECUTE = /\nCONSOLE_DEVICES = nosuch, null\n", subsystem="STARTD")
    assert read_readings(config, 5000.0).console_idle == 5000


def test_a_console_that_was_read_is_idle_since_then() -> None:
    config = Config.from_text("EXECUTE = /\nCONSOLE_DEVICES = nosuch, ptmx\n", subsystem="STARTD")
    now = os.stat("/dev/ptmx").st_atime + 11
    found = read_readings(config, now)
    assert found.console_idle == 11
    assert found.keyboard_idle <= 11
