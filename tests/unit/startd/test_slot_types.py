"""Which slot types a configuration makes."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.errors import ConfigError
from kettle.startd.machine import slot_types
from kettle.startd.slots import SlotType


def test_static_slots_without_arguments_are_even_parts() -> None:
    config = Config.from_text("NUM_CPUS = 4\nuse FEATURE : StaticSlots\n", subsystem="STARTD")
    assert slot_types(config) == [SlotType(1, "auto", 4, partitionable=False)]


def test_a_count_without_a_type_is_an_error() -> None:
    config = Config.from_text("NUM_SLOTS_TYPE_2 = 4\n", subsystem="STARTD")
    with pytest.raises(ConfigError, match="SLOT_TYPE_2 is not defined"):
        slot_types(config)
