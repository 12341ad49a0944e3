"""The ads of slots and of the startd."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.startd import ads, machine_ad
from kettle.startd.facts import MachineFacts, Readings, microarchitecture
from kettle.startd.machine import Machine, machine_resources, plan_layout
from kettle.startd.slots import Bundle

AROUND = machine_ad.Surroundings("<127.0.0.1:9>", "{}", "v", "p", 10.0, 0.0)


def make(text: str = "", cores: int = 4, memory: int = 4000) -> tuple[Machine, Config, ClassAd]:
    config = Config.from_text(f"NUM_CPUS = {cores}\n{text}", subsystem="STARTD")
    facts = MachineFacts(host="h", cores=cores, memory_mib=memory)
    machine = Machine(facts, "h")
    machine.readings = Readings(disk_kib=100000, virtual_memory_kib=5000)
    resources = machine_resources(config, facts, machine.readings)
    machine.divide(plan_layout(config, resources), resources, 100.0)
    machine.check()
    return machine, config, machine_ad.base_ad(config, facts, AROUND, resources)


def slot_ad(made: tuple[Machine, Config, ClassAd], name: str) -> ClassAd:
    machine, config, base = made
    record = machine.find(name)
    assert record is not None
    return ads.build_slot_ad(record, machine, config, base, 200.0)


@pytest.mark.shows("A006")
def test_out_of_the_box_there_is_one_partitionable_slot_with_everything() -> None:
    made = make()
    ad = slot_ad(made, "slot1")
    assert len(made[0].slots) == 1
    values = [ad.string("Name"), ad.string("SlotType"), ad.integer("Cpus"), ad.integer("Memory")]
    assert values == ["slot1@h", "Partitionable", 4, 4000]
    assert ad.boolean("PartitionableSlot") is True
    assert "PartionableSlot" not in ad


@pytest.mark.shows("A003", "A007", "A008", "A013")
def test_a_dynamic_slot_takes_its_part_and_says_so() -> None:
    made = make()
    machine = made[0]
    parent = machine.find("slot1")
    assert parent is not None
    wanted = Bundle({"Cpus": 3, "Memory": 1024, "Disk": 10240})
    child = machine.carve(parent, wanted, 150.0)
    machine.check()
    ad, left = slot_ad(made, child.short_name), slot_ad(made, "slot1")
    assert ad.string("Name") == "slot1_1@h"
    assert (ad.integer("SlotID"), ad.integer("DSlotId")) == (1, 1)
    assert (ad.boolean("DynamicSlot"), ad.string("SlotType")) == (True, "Dynamic")
    assert (ad.integer("Cpus"), ad.integer("Memory"), ad.integer("Disk")) == (3, 1024, 10240)
    assert (left.integer("Cpus"), left.integer("TotalSlotCpus")) == (1, 4)
    assert left["ChildName"] == ["slot1_1@h"]
    machine.destroy(child)
    machine.check()
    assert slot_ad(made, "slot1").integer("Cpus") == 4


@pytest.mark.shows("A038", "A046")
def test_custom_resources_have_four_attributes() -> None:
    ad = slot_ad(make("MACHINE_RESOURCE_Cogs = 16\n"), "slot1")
    names = ("Cogs", "TotalCogs", "DetectedCogs", "TotalSlotCogs")
    assert [ad.integer(name) for name in names] == [16, 16, 16, 16]


@pytest.mark.shows("A039")
def test_custom_resources_may_be_a_list_of_identifiers() -> None:
    ad = slot_ad(make("MACHINE_RESOURCE_Fpga = f0, f1\n"), "slot1")
    assert (ad.integer("Fpga"), ad.string("AssignedFpga")) == (2, "f0,f1")


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999"])
def test_what_is_no_finite_number_names_a_piece(text: str) -> None:
    ad = slot_ad(make(f"MACHINE_RESOURCE_Fpga = {text}\n"), "slot1")
    assert (ad.integer("Fpga"), ad.string("AssignedFpga")) == (1, text)


@pytest.mark.shows("A040")
def test_resource_names_enable_only_what_they_name() -> None:
    text = "MACHINE_RESOURCE_Cogs = 16\nMACHINE_RESOURCE_actuator = 8\n"
    assert "actuator" in slot_ad(make(text), "slot1")
    assert "actuator" not in slot_ad(make(text + "MACHINE_RESOURCE_NAMES = Cogs\n"), "slot1")


@pytest.mark.shows("A020")
def test_num_slots_cannot_exceed_the_cores() -> None:
    assert [r.total.amount("Cpus") for r in make("NUM_SLOTS = 2\n")[0]] == [2, 2]
    assert len(make("NUM_SLOTS = 8\n")[0].slots) == 4


@pytest.mark.shows("A057")
def test_the_four_line_form_gives_the_same_slot_as_no_lines() -> None:
    text = "NUM_SLOTS = 1\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\n"
    ad = slot_ad(make(text + "SLOT_TYPE_1_PARTITIONABLE = TRUE\n"), "slot1")
    assert (ad.string("SlotType"), ad.integer("Cpus"), ad.integer("Memory")) == (
        "Partitionable",
        4,
        4000,
    )


@pytest.mark.shows("A022")
def test_a_type_without_a_count_makes_no_slot() -> None:
    text = "SLOT_TYPE_1 = 25%\nSLOT_TYPE_2 = 25%\nNUM_SLOTS_TYPE_2 = 2\n"
    assert [record.type_id for record in make(text)[0]] == [2, 2]


@pytest.mark.shows("A088")
def test_memory_may_be_stated_or_reserved() -> None:
    assert slot_ad(make("MEMORY = 4096\n"), "slot1").integer("Memory") == 4096
    assert slot_ad(make("RESERVED_MEMORY = 1000\n"), "slot1").integer("Memory") == 3000


@pytest.mark.parametrize(
    ("request_", "fits"), [(4, True), (5, False)], ids=["as much as there is", "too much"]
)
def test_requirements_hold_for_jobs_that_fit(request_: int, fits: bool) -> None:
    from kettle.startd.slot_machine import Phase

    made = make()
    record = made[0].find("slot1")
    assert record is not None
    job = ClassAd({"RequestCpus": request_, "RequestMemory": 1, "RequestDisk": 1})
    assert slot_ad(made, "slot1").evaluate("Requirements", job) is False
    record.slot = record.slot._replace(phase=Phase.UNCLAIMED_IDLE)
    assert slot_ad(made, "slot1").evaluate("Requirements", job) is fits


@pytest.mark.shows("B176")
def test_configured_attributes_are_published_and_a_slot_may_have_its_own() -> None:
    text = "STARTD_ATTRS = IsDesktop\nIsDesktop = True\nSLOT1_IsDesktop = False\n"
    made = make(text + "NUM_SLOTS = 2\n")
    assert slot_ad(made, "slot1").boolean("IsDesktop") is False
    assert slot_ad(made, "slot2").boolean("IsDesktop") is True


@pytest.mark.shows("B191")
def test_slots_see_each_others_state() -> None:
    made = make("STARTD_SLOT_ATTRS = State\nNUM_SLOTS = 2\n")
    assert slot_ad(made, "slot1").string("slot2_State") == "Owner"


def test_processor_levels_include_the_ones_below() -> None:
    v2 = {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}
    v3 = v2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
    assert microarchitecture(frozenset(v2)) == "x86_64-v2"
    assert microarchitecture(frozenset(v3)) == "x86_64-v3"
    assert microarchitecture(frozenset(v3 - v2)) == "x86_64-v1"


# What fits takes jobs; what does not says so, as in 25.14.1.
TOO_MUCH = (
    "SLOT_TYPE_1 = cpus=8\nNUM_SLOTS_TYPE_1 = 2\nSLOT_TYPE_1_PARTITIONABLE = true\nMEMORY = 4096\n"
)


def test_a_slot_that_there_is_not_enough_for_takes_no_job_and_says_what_it_lacks() -> None:
    from kettle.startd.slot_machine import Phase

    made = make(TOO_MUCH)
    record = made[0].find("slot1")
    assert record is not None
    record.slot = record.slot._replace(phase=Phase.UNCLAIMED_IDLE)
    ad = slot_ad(made, "slot1")
    assert (ad.integer("Cpus"), ad.integer("Memory"), ad.integer("TotalSlotCpus")) == (0, 0, 4)
    reason = "there is not enough Cpus (4 short)"
    assert (ad.integer("SlotBrokenCode"), ad.string("SlotBrokenReason")) == (1, reason)
    assert ad.string("Requirements") == reason
    nothing = ClassAd({"RequestCpus": 0, "RequestMemory": 0, "RequestDisk": 0})
    assert ad.evaluate("Requirements", nothing) is not True


def test_the_daemons_ad_lists_what_is_not_as_configured() -> None:
    machine, _, base = make(TOO_MUCH)
    ad = ads.startd_ad(machine, base, 200.0, {})
    assert ad.text("BrokenReasons") == "{ slot1BrokenReason,slot_type1BrokenReason }"
    assert ad.string("slot1BrokenReason") == "there is not enough Cpus (4 short)"
    assert ad.string("slot_type1BrokenReason") == "fewer slots of type 1 fit than are configured"
    assert "BrokenReasons" not in ads.startd_ad(make()[0], base, 200.0, {})
