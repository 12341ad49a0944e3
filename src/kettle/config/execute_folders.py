"""Where sandboxes are: in EXECUTE, and those of slot N in SLOT<N>_EXECUTE (A030)."""

from __future__ import annotations

from kettle.config import Config
from kettle.config.knobs.startd import StartdKnobs
from kettle.patterns import late_pattern

_SLOT = late_pattern(r"slot(\d{1,9})(?!\d)")
_KNOB = late_pattern(r"(?i)SLOT(\d{1,9})_EXECUTE")


def own_folder(config: Config, slot_name: str) -> str:
    """Return the folder that a slot, slot1@host or slot1_2@host, has for itself; empty for none."""
    found = _SLOT.match(slot_name)
    return config.value(StartdKnobs.SLOT_EXECUTE[found[1]]).rstrip("/") if found else ""


def folder_of(config: Config, slot_name: str) -> str:
    """Return the folder of a slot's sandboxes, without a slash at its end."""
    return own_folder(config, slot_name) or config.value(StartdKnobs.EXECUTE).rstrip("/")


def own_folders(config: Config) -> dict[int, str]:
    """Return the folders that slots have for themselves, by the number of the slot."""
    names = (macro.name for macro in config.entries())
    numbers = [int(found[1]) for name in names if (found := _KNOB.fullmatch(name))]
    return {n: folder for n in numbers if (folder := own_folder(config, f"slot{n}"))}


def all_folders(config: Config) -> list[str]:
    """Return every folder in which this machine's daemons have sandboxes of jobs."""
    local = config.get("LOCAL_UNIV_EXECUTE") or ""
    return [config.value(StartdKnobs.EXECUTE), *own_folders(config).values(), local]
