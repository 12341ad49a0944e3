"""condor_status -compact has a line for each type of a machine's slots, as 25.14.1 has."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.tools.status.compact import render_compact, roll_up

SIZES: dict[str, object] = {
    "Cpus": 2, "Memory": 1024, "TotalSlotCpus": 2, "TotalSlotMemory": 1024, "TotalCpus": 8,
    "TotalLoadAvg": 0.5, "State": "Unclaimed", "Activity": "Idle", "Arch": "X86_64",
    "OpSysAndVer": "Debian12", "OpSysShortName": "Debian", "OpSys": "LINUX",
}  # fmt: skip


def slots(*rows: tuple[str, int | None]) -> list[ClassAd]:
    made = []
    for name, kind in rows:
        ad = ClassAd({"Name": name, "Machine": name.partition("@")[2], **SIZES})
        if kind is not None:
            ad["SlotTypeID"] = kind
        made.append(ad)
    return made


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([("slot1@a", 1), ("slot2@a", 2), ("slot3@a", 2)], [("a", 1), ("   slot2", 2)]),
        (
            [("slot1@b", 2), ("slot2@b", 1), ("slot3@b", 3), ("slot1@c", 2)],
            [("b", 1), ("   slot1", 1), ("   slot3", 1), ("c", 1)],
        ),
        (
            [("slot1@a", None), ("slot2@a", 2), ("slot3@a", 4)],
            [("a", 1), ("a", 1), ("   slot3", 1)],
        ),
        ([("slot1@a", 1), ("slot1_1@a", -1), ("slot2@a", -2)], [("a", 2), ("   slot2", 1)]),
    ],
)
def test_each_type_has_a_line(
    rows: list[tuple[str, int | None]], lines: list[tuple[str, int]]
) -> None:
    assert [(line.label, line.slots) for line in roll_up(slots(*rows))] == lines


def test_the_column_is_as_wide_as_machines_and_slots_run_over() -> None:
    table = render_compact("state", slots(("slot1@a", 1), ("slot2@a", 2)))
    assert table[:4] == [
        "Machine Platform     Slots Cpus Gpus  TotalGb CpuLoad ST Jobs/Min",
        "",
        "a       x64/Debian12    1     2          1.00    0.06 Ui _       ",
        "   slot2 x64/Debian12    1     2          1.00    0.06 Ui _       ",
    ]
