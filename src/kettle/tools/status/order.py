"""The order in which condor_status shows ads that were not asked for in another one."""

from __future__ import annotations

from kettle.patterns import late_pattern

_DIGITS = late_pattern(r"(\d+)")
_NONE = "undefined"


def natural_key(machine: str | None, name: str | None) -> tuple[str, list[tuple[int, int, str]]]:
    """Order by machine, then by name with numbers as numbers: slot2 before slot10.

    An ad of no machine stands where one called `undefined` would: that is its key in the reference.
    """
    return (_NONE if machine is None else machine, _parts(_NONE if name is None else name))


def natural_order(machines: list[str | None], names: list[str | None]) -> list[int]:
    """Return the places of ads, given by machine and name, in their order."""
    # As `natural_key` does it, but names are taken apart where machines are the same.
    first = [_NONE if machine is None else machine for machine in machines]
    order = sorted(range(len(first)), key=first.__getitem__)
    if len(set(first)) == len(first):
        return order
    keys = [natural_key(machine, name) for machine, name in zip(machines, names, strict=True)]
    return sorted(order, key=keys.__getitem__)


def _parts(name: str) -> list[tuple[int, int, str]]:
    return [
        (1, int(part), "") if part.isdecimal() else (0, 0, part)
        for part in _DIGITS.split(name)
        if part
    ]
