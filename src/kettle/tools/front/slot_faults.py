"""What slot types say of each other, whatever machine they divide: `kettle config check`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from kettle.config.cross_check import make, settings
from kettle.config.finding import ERROR, NOTE, Finding
from kettle.errors import ConfigError
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro
    from kettle.startd.slots import Share

_TYPE = late_pattern(r"(NUM_SLOTS|SLOT)_TYPE_(\d+)")
# What is divided so finely that parts of more than the whole fit nowhere: of a few cores the parts
# of several slots may, as each is rounded down.
_FINE = "Memory"


def read_slot_type(config: Config, key: str) -> dict[str, Share]:
    """Return the shares that a slot type gives; ConfigError where it makes no sense."""
    from kettle.startd.slots import parse_slot_type

    return parse_slot_type(config.get(key) or "", _custom(config), key)


def odd_resources(config: Config, key: str) -> list[tuple[str, str]]:
    """Return the words of a slot type that are hardly meant as what they count as, and that."""
    from kettle.startd.slots import find_odd_resources

    return list(find_odd_resources(config.get(key) or "", _custom(config), key))


def _custom(config: Config) -> list[str]:
    custom = [
        name[len("MACHINE_RESOURCE_") :]
        for name in settings(config)
        if name.startswith("MACHINE_RESOURCE_") and "INVENTORY" not in name
    ]
    return [*custom, "GPUs"]


def find_slot_faults(config: Config) -> Iterator[Finding]:
    """Find types without slots, slots without a type, and shares that no machine can give."""
    counts: dict[str, Macro] = {}
    types: dict[str, Macro] = {}
    for key, macro in settings(config).items():
        match = _TYPE.fullmatch(key)
        if match is not None:
            (types if match[1] == "SLOT" else counts)[match[2]] = macro
    for number, macro in counts.items():
        count = config.integer(f"NUM_SLOTS_TYPE_{number}") or 0
        if count > 0 and config.find(f"SLOT_TYPE_{number}") is None:
            said = f"{macro.name} is {count}, and nothing sets SLOT_TYPE_{number}"
            yield make(macro, ERROR, "undefined", said, hint="such a startd does not start")
    for number, macro in types.items():
        if config.find(f"NUM_SLOTS_TYPE_{number}") is None:
            said = f"nothing sets NUM_SLOTS_TYPE_{number}: there are no slots of this type"
            yield make(macro, NOTE, "unused", said)
    yield from _find_too_much(config, types)


def _find_too_much(config: Config, types: dict[str, Macro]) -> Iterator[Finding]:
    """Find shares of more than everything, or less than nothing, of one slot or of all."""
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for number, macro in types.items():
        count = config.integer(f"NUM_SLOTS_TYPE_{number}") or 0
        try:
            shares = read_slot_type(config, f"SLOT_TYPE_{number}")
        except ConfigError:
            # That is told as it is.
            continue
        for name, share in shares.items():
            wrong = _why_senseless(share)
            if wrong:
                yield make(macro, ERROR, "range", f"{macro.name} gives a slot {wrong} {name}")
                break
        else:
            sums[_FINE] += (shares[_FINE].part or 0) * count
            if sums[_FINE] > 1:
                said = f"the slot types ask for {_percent(sums[_FINE])} of {_FINE}"
                yield make(macro, ERROR, "range", said)
                return


def _why_senseless(share: Share) -> str:
    if share.part is not None and not 0 <= share.part <= 1:
        return f"{_percent(share.part)} of the machine's"
    return f"{share.number:g}" if share.number is not None and share.number < 0 else ""


def _percent(part: Fraction) -> str:
    return f"{float(part * 100):g}%"
