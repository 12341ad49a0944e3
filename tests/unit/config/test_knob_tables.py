"""Walks every row of the knob tables."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import kettle.config.knobs
from kettle.config import Config, Family, Knob
from kettle.config.default_texts import DEFAULTS
from kettle.config.knob import NumberKnob
from kettle.config.subsystem_defaults import OF_FACTS

TABLES = [
    item
    for info in pkgutil.iter_modules(kettle.config.knobs.__path__)
    for item in vars(importlib.import_module(f"kettle.config.knobs.{info.name}")).values()
    if isinstance(item, type) and item.__module__.startswith("kettle.config.knobs.")
]
ROWS = [(table, row) for table in TABLES for row in vars(table).values()]
KNOBS = [row for _, row in ROWS if isinstance(row, Knob)]
FACTS = {
    "DETECTED_CPUS": "4",
    "DETECTED_MEMORY": "4096",
    "FULL_HOSTNAME": "h",
    "TILDE": "/t",
    "CondorIsAdmin": "false",
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_rows_are_in_order_with_families_last(table: type) -> None:
    names = [row.name.upper() for row in vars(table).values() if isinstance(row, Knob)]
    assert names == sorted(names)


def test_no_knob_is_in_two_tables() -> None:
    names = [knob.name.upper() for knob in KNOBS]
    assert len(names) == len(set(names))
    of_knobs = {knob.name.upper() for knob in KNOBS if knob.default is not None}
    assert of_knobs | OF_FACTS.keys() == set(DEFAULTS)


def test_every_doc_is_a_sentence() -> None:
    for _, row in ROWS:
        if isinstance(row, Knob | Family):
            assert row.doc.endswith("."), row
            assert row.doc[0].isupper(), row
            assert " " in row.doc, row


def test_every_default_is_a_value_of_its_knob() -> None:
    config = Config.from_text("", facts=FACTS)
    for knob in KNOBS:
        _ = config[knob]


def test_a_family_makes_a_knob_for_each_of_its_members() -> None:
    from kettle.config.knobs.log import LogKnobs
    from kettle.config.knobs.startd import StartdKnobs

    config = Config.from_text("MASTER_LOG = /m\nSLOT_TYPE_2 = 50%\n", facts=FACTS)
    assert config[LogKnobs.SUBSYS_LOG["MASTER"]] == "/m"
    assert config[StartdKnobs.SLOT_TYPE["2"]] == "50%"
    assert config[StartdKnobs.NUM_SLOTS_TYPE["2"]] == 0


def test_every_number_that_is_read_has_a_settled_range() -> None:
    loose = [
        knob.name
        for knob in KNOBS
        if isinstance(knob, NumberKnob) and not knob.unread and not knob.is_settled
    ]
    numbers = [row for _, row in ROWS if isinstance(row, Family)]
    loose += [
        row.pattern
        for row in numbers
        if isinstance(row["1"], NumberKnob) and not {"within", "sense"} & row.ranges.keys()
    ]
    assert loose == []
