"""How long nobody has typed, as each slot sees it (KeyboardIdle, ConsoleIdle).

Slots up to SLOTS_CONNECTED_TO_KEYBOARD and SLOTS_CONNECTED_TO_CONSOLE see what was measured of the
machine; to the others nobody ever comes: they count from DISCONNECTED_KEYBOARD_IDLE_BOOST seconds
before the startd began.
"""

from __future__ import annotations

from kettle.config import Config
from kettle.config.knobs.startd import StartdKnobs
from kettle.startd.machine import Machine, SlotRecord


def idle_times(record: SlotRecord, machine: Machine, config: Config, now: float) -> tuple[int, int]:
    """Return the seconds of a slot's keyboard and console; a dynamic slot has its parent's."""
    never = int(now - machine.began_at) + config.value(StartdKnobs.DISCONNECTED_KEYBOARD_IDLE_BOOST)
    at_keyboard = record.slot_id <= config.value(StartdKnobs.SLOTS_CONNECTED_TO_KEYBOARD)
    at_console = record.slot_id <= config.value(StartdKnobs.SLOTS_CONNECTED_TO_CONSOLE)
    return (
        machine.readings.keyboard_idle if at_keyboard else never,
        machine.readings.console_idle if at_console else never,
    )
