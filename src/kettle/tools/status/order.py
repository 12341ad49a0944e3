"""The order in which condor_status shows ads that were not asked for in another one."""

from __future__ import annotations

from kettle.patterns import late_pattern

# Limit: a run of digits that is longer counts as several.
_DIGITS = late_pattern(r"([0-9]{1,300})")
_NONE = "undefined"
_ZERO = ord("0")


def natural_key(machine: str | None, name: str | None) -> tuple[str, list[tuple[int, int, str]]]:
    """Order by machine, then by name with numbers as numbers: slot2 before slot10.

    An ad of no machine stands where one called `undefined` would: that is its key in the reference.
    """
    return (_NONE if machine is None else machine, natural_parts(_NONE if name is None else name))


def natural_order(machines: list[str | None], names: list[str | None]) -> list[int]:
    """Return the places of ads, given by machine and name, in their order."""
    # As `natural_key` does it, but names are taken apart where machines are the same.
    first = [_NONE if machine is None else machine for machine in machines]
    order = sorted(range(len(first)), key=first.__getitem__)
    if len(set(first)) == len(first):
        return order
    keys = [natural_key(machine, name) for machine, name in zip(machines, names, strict=True)]
    return sorted(order, key=keys.__getitem__)


def natural_parts(text: str) -> list[tuple[int, int, str]]:
    """Return what orders texts, numbers in them as numbers.

    One with a zero before it stands before all others, and is compared as letters are.
    """
    parts: list[tuple[int, int, str]] = []
    for part in _DIGITS.split(text):
        if not part.isdecimal():
            parts += [(ord(letter), 0, "") for letter in part]
        elif part[0] == "0":
            parts.append((_ZERO, 0, part))
        else:
            parts.append((_ZERO + 1, int(part), ""))
    return parts
