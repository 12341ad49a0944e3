"""What programs say of a machine's resources."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.startd.facts import MachineFacts, Readings
from kettle.startd.machine import Found, inventories, machine_resources, parse_inventory


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('DetectedSquids="a, b"\nOther = 3\n', Found(2, ("a", "b"))),
        ("detectedSQUIDS = 4\n", Found(4, ())),
        ("nonsense\nDetectedOther=7\n", Found(0, ())),
        ("DetectedSquids = -2", Found(0, ())),
        ("DetectedSquids = )(", Found(0, ())),
        ("", Found(0, ())),
    ],
)
def test_an_answer_names_the_pieces_or_counts_them(answer: str, found: Found) -> None:
    assert parse_inventory("Squids", answer) == found


def test_what_programs_find_is_divided_like_what_is_configured() -> None:
    text = "MACHINE_RESOURCE_INVENTORY_Squids = /bin/look -all\nMACHINE_RESOURCE_Tako = 3\n"
    config = Config.from_text(text, subsystem="STARTD")
    assert inventories(config) == [("Squids", "/bin/look -all")]
    found = {"Squids": Found(2, ("a", "b"))}
    bundle = machine_resources(config, MachineFacts(), Readings(), found)
    assert (bundle.amount("Squids"), bundle.amount("Tako")) == (2, 3)
    named = Config.from_text(f"{text}MACHINE_RESOURCE_NAMES = Tako\n", subsystem="STARTD")
    bundle = machine_resources(named, MachineFacts(), Readings(), found)
    assert (bundle.amount("Squids"), bundle.amount("Tako")) == (0, 3)
