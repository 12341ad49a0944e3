"""Numbers and truth values that are known by name alone have their default as knobs have."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.config.declared import declared_knobs
from kettle.config.knob import BooleanKnob, IntegerKnob, Knob, RealKnob

FACTS = {"DETECTED_CPUS": "3", "DETECTED_MEMORY": "512"}


def read(config: Config, knob: Knob[object]) -> object:
    if isinstance(knob, BooleanKnob):
        return config.boolean(knob.name)
    return (config.integer if isinstance(knob, IntegerKnob) else config.real)(knob.name)


def test_what_is_set_to_nothing_is_as_what_is_not_set_and_as_the_knob_says() -> None:
    kinds = (BooleanKnob, IntegerKnob, RealKnob)
    knobs = [knob for knob in declared_knobs().values() if isinstance(knob, kinds)]
    unset = Config.from_text("", facts=FACTS)
    for knob in knobs:
        # One by one: the default of a knob may be the value of another.
        empty = Config.from_text(f"{knob.name} =\n", facts=FACTS)
        value = read(unset, knob)
        assert read(empty, knob) == value, knob
        if value is not None:
            assert empty[knob] == value, knob


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 9618),
        ("COLLECTOR_PORT =", 9618),
        ("COLLECTOR_PORT = $(NOPE)", 9618),
        ("COLLECTOR_PORT = a port", 9618),
        ("COLLECTOR_PORT = 7", 7),
    ],
)
def test_what_is_no_number_has_the_default(text: str, value: int) -> None:
    assert Config.from_text(f"{text}\n").integer("COLLECTOR_PORT") == value


def test_a_name_without_a_default_has_none() -> None:
    config = Config.from_text("MINE = a\nGROUP_QUOTA_A =\n")
    assert config.integer("MINE") is None
    assert config.real("GROUP_QUOTA_A") is None
    assert config.boolean("NOPE") is None


def test_a_default_in_a_circle_is_none() -> None:
    config = Config.from_text("COLLECTOR_PORT =\nMAX_DEFAULT_LOG = $(MAX_DEFAULT_LOG_)\n")
    assert config.default_text("MAX_SCHEDD_LOG") is None
    ring = Config.from_text("SPOOL = $(X)\nX = $(SPOOL)\n")
    assert ring.default_text("JOB_QUEUE_LOG") is None
