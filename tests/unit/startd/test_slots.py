"""Dividing a machine into slots and carving dynamic ones."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.config import Config
from kettle.errors import ConfigError
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.machine import Machine, machine_resources, plan_layout
from kettle.startd.slots import (
    NO_FOLDER,
    Bundle,
    Flaw,
    Layout,
    Pool,
    SlotDisk,
    SlotFailure,
    SlotType,
    choose_request,
    parse_slot_type,
    plan_request,
    plan_slots,
)


def machine(cpus: float = 4, memory: float = 256, disk: float = 1000, swap: float = 400) -> Bundle:
    return Bundle({"Cpus": cpus, "Memory": memory, "Disk": disk, "Swap": swap})


def plan(text: str, count: int = 1, on: Bundle | None = None) -> list[dict[str, float]]:
    layout = plan_slots(on or machine(), [SlotType(1, text, count, partitionable=False)])
    return [dict(spec.total.amounts) for spec in layout.slots]


@pytest.mark.parametrize("text", ["1/4", "25%"])
@pytest.mark.shows("A023", "A024")
def test_a_single_share_is_taken_of_every_resource(text: str) -> None:
    assert (
        plan(text, 4, machine(8, 8000))
        == [{"Cpus": 2, "Memory": 2000, "Disk": 250, "Swap": 100}] * 4
    )


@pytest.mark.parametrize("text", ["mem=64", "mem=1/2", "mem=50%", "mem=auto"])
@pytest.mark.shows("A027")
def test_four_spellings_of_half_the_memory_are_equal(text: str) -> None:
    assert [slot["Memory"] for slot in plan(text, 2, machine(memory=128))] == [64, 64]


def test_auto_of_a_single_slot_is_everything() -> None:
    assert plan("mem=auto", 1, machine(memory=128))[0]["Memory"] == 128


@pytest.mark.shows("A033")
def test_the_types_of_the_manual_are_equivalent() -> None:
    first = [
        "cpus=2, ram=128, swap=25%, disk=1/2",
        "cpus=1/2, memory=128, virt=25%, disk=50%",
        "c=1/2, m=50%, v=1/4, disk=1/2",
    ]
    assert {tuple(plan(text)[0].values()) for text in first} == {(2, 128, 500, 100)}
    second = ["c=25%, m=64, v=1/4, d=25%", "25%", "1/4"]
    assert {tuple(plan(text)[0].values()) for text in second} == {(1, 64, 250, 100)}


@pytest.mark.shows("A035")
def test_what_explicit_shares_leave_is_split_evenly_among_auto() -> None:
    types = [SlotType(1, "mem=10%", 1, False), SlotType(2, "cpus=1", 3, False)]
    specs = plan_slots(machine(memory=1000), types).slots
    assert [spec.total.amount("Memory") for spec in specs] == [100, 300, 300, 300]


@pytest.mark.shows("A026", "A036")
def test_a_bare_value_is_the_default_for_the_unnamed() -> None:
    assert plan("cpus=1, ram=1/2, swap=50%") == plan("cpus=1, disk=auto, 50%")


@pytest.mark.shows("A043")
def test_custom_resources_share_the_syntax_and_the_example_of_the_manual_works() -> None:
    on = Bundle({**machine(4, 1000).amounts, "Cogs": 16, "actuator": 8})
    types = [
        SlotType(1, "cogs=50%,actuator=6,50%", 1, True),
        SlotType(2, "cogs=25%,actuator=1,25%", 2, False),
    ]
    specs = plan_slots(on, types).slots
    assert [(s.total.amount("Cogs"), s.total.amount("actuator")) for s in specs] == [
        (8, 6),
        (4, 1),
        (4, 1),
    ]
    assert [s.partitionable for s in specs] == [True, False, False]


def test_identifiers_are_dealt_out_in_order() -> None:
    on = Bundle({**machine().amounts, "Fpga": 3}, {"Fpga": ("f0", "f1", "f2")})
    types = [SlotType(1, "fpga=2", 1, True), SlotType(2, "fpga=1,1/8", 1, False)]
    slots = plan_slots(on, types).slots
    assert [s.total.assigned["Fpga"] for s in slots] == [("f0", "f1"), ("f2",)]


def layout_of(config: str) -> Layout:
    made = Config.from_text(f"{config}\nNUM_CPUS = 4\nMEMORY = 4096", subsystem="STARTD")
    facts = MachineFacts(host="h", cores=4, memory_mib=4096)
    return plan_layout(made, machine_resources(made, facts, Readings(disk_kib=1000)))


def shown(layout: Layout) -> list[tuple[int, float, float, str]]:
    return [
        (
            slot.type_id,
            slot.total.amount("Cpus"),
            slot.total.amount("Memory"),
            str(slot.flaw or ""),
        )
        for slot in layout.slots
    ]


EIGHT_CORES = "SLOT_TYPE_1 = cpus=8\nNUM_SLOTS_TYPE_1 = 2"


@pytest.mark.shows("A037")
def test_a_startd_that_is_to_end_for_such_slots_names_the_resource() -> None:
    with pytest.raises(ConfigError, match="16 Cpus, the machine has 4"):
        layout_of(f"{EIGHT_CORES}\nSLOT_CONFIG_FAILURE_MODE = Abort")


def test_a_startd_goes_on_with_the_slots_that_fit() -> None:
    """Sizes as 25.14.1 has them, here and below."""
    halves = "use FEATURE : PartitionableSlot(1,50%)\nuse FEATURE : StaticSlots(2,2,40%)"
    layout = layout_of(halves)
    assert shown(layout) == [(1, 2, 2048, ""), (2, 1, 1638, "")]
    assert layout.short_types == (2,)


def test_the_first_slot_of_a_type_is_made_of_what_is_left_and_says_what_it_lacks() -> None:
    layout = layout_of(f"{EIGHT_CORES}\nSLOT_TYPE_2 = cpus=1,mem=10\nNUM_SLOTS_TYPE_2 = 1")
    assert shown(layout) == [
        (1, 4, 4086, "there is not enough Cpus (4 short)"),
        (2, 0, 10, "there is not enough Cpus (1 short)"),
    ]
    assert layout.short_types == (1,)


HALVES = SlotType(1, "disk=50%,cpus=1", 2, partitionable=False)


@pytest.mark.shows("A030")
def test_a_slots_disk_is_a_share_of_the_one_that_its_folder_is_on() -> None:
    layout = plan_slots(machine(disk=1000), [HALVES], disks={2: SlotDisk("9", 70)})
    assert [slot.total.amount("Disk") for slot in layout.slots] == [500, 35]
    autos = SlotType(1, "cpus=1", 3, partitionable=False)
    layout = plan_slots(machine(disk=1000), [autos], disks={2: SlotDisk("9", 70)})
    assert [slot.total.amount("Disk") for slot in layout.slots] == [500, 70, 500]
    # A folder of its own on the same disk is none of its own.
    layout = plan_slots(machine(disk=1000), [autos], disks={2: SlotDisk("", 70)})
    assert [slot.total.amount("Disk") for slot in layout.slots] == [333] * 3


@pytest.mark.shows("A031")
@pytest.mark.parametrize("failure", SlotFailure)
def test_slots_share_no_more_than_a_disk_but_may_have_all_of_each(failure: SlotFailure) -> None:
    types = [SlotType(n, "disk=80%,cpus=1", 1, partitionable=False) for n in (1, 2, 3)]
    everywhere = {1: SlotDisk("8", 100), 2: SlotDisk("9", 70)}
    layout = plan_slots(machine(disk=1000), types, failure, everywhere)
    assert [slot.total.amount("Disk") for slot in layout.slots] == [80, 56, 800]
    assert {slot.flaw for slot in layout.slots} == {None}
    same = {1: SlotDisk("9", 70), 2: SlotDisk("9", 70)}
    if failure is SlotFailure.ABORT:
        with pytest.raises(ConfigError, match="ask for 112 Disk, the machine has 70"):
            plan_slots(machine(disk=1000), types, failure, same)
    elif failure is SlotFailure.CLEAR:
        assert plan_slots(machine(disk=1000), types, failure, same).slots == ()
    else:
        layout = plan_slots(machine(disk=1000), types, failure, same)
        assert [slot.total.amount("Disk") for slot in layout.slots] == [56, 14, 800]
        assert [slot.flaw is None for slot in layout.slots] == [True, False, True]


def test_a_slot_whose_folder_cannot_be_used_takes_no_job_and_the_others_do() -> None:
    gone = {1: SlotDisk("0", 0, "SLOT1_EXECUTE, /gone, cannot be written")}
    layout = plan_slots(machine(), [HALVES], SlotFailure.CONTINUE, gone)
    assert [slot.flaw for slot in layout.slots] == [Flaw(NO_FOLDER, gone[1].trouble), None]
    with pytest.raises(ConfigError, match="/gone, cannot be written"):
        plan_slots(machine(), [HALVES], SlotFailure.ABORT, gone)


def test_a_slot_whose_even_share_of_the_cores_is_none_lacks_them() -> None:
    layout = layout_of(
        "SLOT_TYPE_1 = cpus=4\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_2 = mem=500\nNUM_SLOTS_TYPE_2 = 2"
    )
    assert shown(layout) == [
        (1, 4, 3096, ""),
        (2, 0, 500, "no Cpus are left for it"),
        (2, 0, 500, "no Cpus are left for it"),
    ]
    assert layout.short_types == ()


@pytest.mark.parametrize("slots", [EIGHT_CORES, "SLOT_TYPE_1 = cpus=3\nNUM_SLOTS_TYPE_1 = 2"])
def test_a_startd_can_be_told_to_have_no_slots_then(slots: str) -> None:
    assert layout_of(f"{slots}\nSLOT_CONFIG_FAILURE_MODE = CLEAR") == Layout((), (1,))


WISH = st.tuples(st.integers(0, 9), st.integers(0, 9000), st.integers(1, 3))


@given(st.lists(WISH, min_size=1, max_size=4))
def test_slots_never_have_more_than_the_machine(wishes: list[tuple[int, int, int]]) -> None:
    types = [
        SlotType(number, f"cpus={cpus},mem={memory}", count, partitionable=False)
        for number, (cpus, memory, count) in enumerate(wishes, start=1)
    ]
    on = machine(4, 4096)
    layout = plan_slots(on, types, SlotFailure.CONTINUE)
    for name in on.amounts:
        assert sum(slot.total.amount(name) for slot in layout.slots) <= on.amount(name)
    made = {number: 0 for number, _ in enumerate(wishes, start=1)}
    for slot in layout.slots:
        made[slot.type_id] += 1
    assert {n for n, wish in enumerate(wishes, start=1) if made[n] < wish[2]} == set(
        layout.short_types
    )


@pytest.mark.parametrize("text", ["disk=100", "swap=7", "wheels=3", "mem=lots", "1/0"])
def test_nonsense_in_a_type_is_an_error_that_names_the_type(text: str) -> None:
    with pytest.raises(ConfigError, match="SLOT_TYPE_1"):
        plan(text)


@pytest.mark.parametrize(
    ("word", "name"),
    [(w, "Cpus") for w in ("Cpus", "C", "c", "cpu")]
    + [(w, "Memory") for w in ("ram", "RAM", "MEMORY", "Mem", "R", "m", "M")]
    + [(w, "Disk") for w in ("disk", "Disk", "D", "d")]
    + [(w, "Swap") for w in ("swap", "SWAP", "S", "VirtualMemory", "V", "virt")],
)
@pytest.mark.shows("A032")
def test_resources_are_known_by_their_first_letter(word: str, name: str) -> None:
    assert parse_slot_type(f"{word}=10%", [], "SLOT_TYPE_1")[name].part is not None


@pytest.mark.parametrize(
    "text",
    ["SQUIDs=2 TAKOs=1/4 CPUS=2", "squids = 2, takos=1/4\ncpus=2", "SQUIDs=2\tTAKOs=25% c=2"],
)
def test_a_type_lists_its_shares_between_commas_lines_or_blanks(text: str) -> None:
    shares = parse_slot_type(text, ["SQUIDs", "TAKOs"], "SLOT_TYPE_1")
    assert [shares[name].number for name in ("SQUIDs", "Cpus")] == [2, 2]
    assert shares["TAKOs"].part == Fraction(1, 4)


def test_a_value_with_a_blank_in_it_is_one() -> None:
    assert parse_slot_type("cpus = 3", [], "SLOT_TYPE_1")["Cpus"].number == 3
    assert parse_slot_type("1 / 4", [], "SLOT_TYPE_1")["Memory"].part == Fraction(1, 4)
    with pytest.raises(ConfigError, match="is not a share"):
        parse_slot_type("cpus=3 lots", [], "SLOT_TYPE_1")


@pytest.mark.shows("A010")
def test_carving_leaves_the_manuals_numbers() -> None:
    pool = Pool.of(Bundle({"Cpus": 3, "Memory": 10240, "Disk": 100 << 20}))
    pool, number = pool.carve(Bundle({"Cpus": 1, "Memory": 2048, "Disk": 20 << 20}))
    assert number == 1
    assert dict(pool.free.amounts) == {"Cpus": 2, "Memory": 8192, "Disk": 80 << 20}
    assert dict(pool.children[1].amounts) == {"Cpus": 1, "Memory": 2048, "Disk": 20 << 20}
    assert pool.join(1) == Pool.of(pool.total)


@pytest.mark.shows("A076", "A077")
def test_a_request_is_rounded_only_where_that_fits() -> None:
    asked, rounded = Bundle({"Cpus": 1, "Memory": 130}), Bundle({"Cpus": 1, "Memory": 256})
    small = Bundle({"Cpus": 4, "Memory": 200})
    assert choose_request(small, asked, rounded, must_round=False).amount("Memory") == 130
    assert choose_request(small, asked, rounded, must_round=True).amount("Memory") == 256
    big = Bundle({"Cpus": 4, "Memory": 2000})
    assert choose_request(big, asked, rounded, must_round=False).amount("Memory") == 256


@pytest.mark.shows("A052")
def test_a_rounding_rule_never_gives_less_than_asked() -> None:
    asked, halved = Bundle({"Memory": 100}), Bundle({"Memory": 50})
    assert choose_request(machine(), asked, halved, must_round=False).amount("Memory") == 100


def test_no_request_is_one_core_and_nothing_else() -> None:
    request = plan_request(["Cpus", "Memory", "Disk"], lambda _name: None)
    assert dict(request.amounts) == {"Cpus": 1, "Memory": 0, "Disk": 0}


REQUESTS = st.fixed_dictionaries(
    {
        "Cpus": st.integers(0, 6),
        "Memory": st.integers(0, 4000),
        "Disk": st.integers(0, 9000),
        "Fpga": st.integers(0, 4),
    }
)


@given(st.lists(st.tuples(st.booleans(), REQUESTS, st.integers(0, 20)), max_size=40))
def test_whatever_is_carved_and_joined_nothing_is_lost_or_invented(
    moves: list[tuple[bool, dict[str, float], int]],
) -> None:
    total = Bundle(
        {"Cpus": 8, "Memory": 8000, "Disk": 20000, "Fpga": 4},
        {"Fpga": ("f0", "f1", "f2", "f3")},
    )
    pool = Pool.of(total)
    for carve, request, which in moves:
        wanted = Bundle(request)
        if carve and pool.free.fits(wanted):
            pool, number = pool.carve(wanted)
            assert dict(pool.children[number].amounts) == request
        elif pool.children:
            pool = pool.join(sorted(pool.children)[which % len(pool.children)])
        pool.check()
    for number in list(pool.children):
        pool = pool.join(number)
    assert pool == Pool.of(total)


def test_a_startd_that_began_on_a_full_disk_offers_what_is_freed() -> None:
    config = Config.from_text(
        "NUM_CPUS = 4\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = 100%\n"
        "SLOT_TYPE_1_PARTITIONABLE = true\n",
        subsystem="STARTD",
    )
    whole = Machine(MachineFacts(host="h", cores=4, memory_mib=4000), "h")
    whole.readings = Readings(disk_kib=0)
    resources = machine_resources(config, whole.facts, whole.readings)
    whole.divide(plan_layout(config, resources), resources, 100.0)

    def offered() -> float:
        [record] = whole
        assert record.pool is not None
        assert record.pool.free.amount("Disk") == record.pool.total.amount("Disk")
        return record.pool.free.amount("Disk")

    assert not whole.follow_disk(always=False)
    assert offered() == 0
    whole.readings = Readings(disk_kib=5000)
    assert whole.follow_disk(always=False)
    assert offered() == 5000
    # What goes on after that is only followed where the site wants it.
    whole.readings = Readings(disk_kib=7000)
    assert not whole.follow_disk(always=False)
    assert offered() == 5000
    assert not whole.follow_disk(always=True)
    assert offered() == 7000


@pytest.mark.parametrize("share", ["1e99999999999%", "1e-9_9_9_9_9_9_9_9/1", "1" * 5_000 + "%"])
def test_a_share_of_endless_digits_is_none(share: str) -> None:
    with pytest.raises(ConfigError, match="is not a share"):
        parse_slot_type(f"cpus=2, memory={share}", [], "SLOT_TYPE_1")
