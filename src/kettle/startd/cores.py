"""Which cores of the machine a slot's jobs are bound to, where ASSIGN_CPU_AFFINITY has them bound.

Arithmetic only. Cores are counted from 0, in the order in which the operating system has them; what
binds a process is the starter's (`starter/affinity.py`). Source: the reference's startd, which
gives each new slot the cores that the fewest slots have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kettle.config import Config
from kettle.config.knob import parse_boolean


def are_assigned(config: Config) -> bool:
    """Tell whether ASSIGN_CPU_AFFINITY has any job bound, whatever job it is."""
    text = config.get("ASSIGN_CPU_AFFINITY")
    # An expression that looks at the job may have one bound; what is false in any way has none.
    return text is not None and parse_boolean(text) is not False


def choose_cores(slots: Iterable[Iterable[int]], wanted: float, cores: int) -> tuple[int, ...]:
    """Return the cores of a new slot, given those of each slot that is there, the lowest first.

    A slot with more cores than the machine has gets each of them.
    """
    used = Counter(core for slot in slots for core in slot)
    order = sorted(range(cores), key=lambda core: (used[core], core))
    return tuple(sorted(order[: max(0, int(wanted))]))
