"""Every knob that is declared, found by walking the tables: for checks of a whole configuration.

Daemons and tools never need this; they name the knobs they read.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kettle.config import knobs
from kettle.config.knob import Family, Knob
from kettle.config.knobs.history import HISTORIES

if TYPE_CHECKING:
    from kettle.config.store import Config


# What stands for {level} and {context} in the names of knobs: authorization levels, and directions.
_CONTEXTS = [
    "READ",
    "WRITE",
    "ADMINISTRATOR",
    "CONFIG",
    "DAEMON",
    "NEGOTIATOR",
    "ADVERTISE_MASTER",
    "ADVERTISE_STARTD",
    "ADVERTISE_SCHEDD",
    "OWNER",
    "SOAP",
    "CLIENT",
    "DEFAULT",
]


def declared_knobs() -> dict[str, Knob[Any]]:
    """Return all knobs by upper-case name."""
    return {row.name.upper(): row for row in _rows() if isinstance(row, Knob)}


def _names_of_levels() -> set[str]:
    """Return the names of the knobs that there are for each level or direction."""
    patterns = [row.pattern for row in _rows() if isinstance(row, Family)]
    return {
        pattern.replace(field, context)
        for pattern in patterns
        for field in ("{level}", "{context}")
        if field in pattern
        for context in _CONTEXTS
    }


def _rows() -> list[object]:
    """Return everything that the tables of knobs hold."""
    modules = [
        importlib.import_module(f"{knobs.__name__}.{module.name}")
        for module in pkgutil.iter_modules(knobs.__path__)
    ]
    groups = [group for module in modules for group in vars(module).values()]
    return [row for group in groups if isinstance(group, type) for row in vars(group).values()]


def check_values(config: Config) -> None:
    """Raise ConfigError, naming the place, for the first value that its knob does not take."""
    declared = declared_knobs()
    for macro in config.entries():
        knob = declared.get(macro.name.upper())
        if knob is not None:
            config[knob]


def find_slips(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (name, where, nearest knob) of settings that look like misspelt knobs.

    Any name may be set, so only one that nothing mentions and that is very near to a knob's is
    reported.
    """
    declared = declared_knobs()
    # They have no default, so no row of their own.
    unset = {f"MAX_{which}_{word}" for which in HISTORIES for word in ("LOG", "ROTATIONS")}
    unset |= _names_of_levels()
    texts = " ".join(macro.text for macro in config.entries()).upper()
    for macro in config.entries():
        name = macro.name.upper()
        if (
            name in declared
            or name in unset
            or "." in name
            or f"$({name}" in texts
            or config.find_default(name)
        ):
            continue
        near = config.nearest(name)
        if near and abs(len(near) - len(name)) <= 1:
            yield macro.name, str(macro.origin), near
