"""How a pool is shared: priorities that follow usage, and the slice of the pie for each submitter.

A user's real priority moves towards the weight of what the user holds, by half the distance in
each half-life, and never below 0.5; the effective one is that times the user's factor; smaller is
better, and the share of the pool is proportional to its inverse (R072, R079). Whose usage is what
is kept by `negotiator/accountant.py`; quotas of groups are in `groups.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MINIMUM_PRIORITY = 0.5

# Sums of weights are compared with this much tolerance.
EPSILON = 1e-6

# Effective priorities below this would divide by nearly nothing, those above it be divided to
# nothing.
_LEAST_EFFECTIVE = 1e-9
_MOST_EFFECTIVE = 1e100

NICE_USER_PREFIXES = ("nice-user.",)


@dataclass(frozen=True, slots=True)
class PrioritySettings:
    """What configuration says about priorities; the half-life in seconds."""

    half_life_seconds: float = 86400.0
    default_factor: float = 1000.0
    nice_user_factor: float = 1e10
    remote_factor: float = 1e7
    # Submitters of other domains count as remote; empty: nobody does.
    local_domain: str = ""


def decay(priority: float, weight_in_use: float, elapsed_seconds: float, half_life: float) -> float:
    """Return a real priority after some time during which the usage was constant."""
    if elapsed_seconds <= 0 or half_life <= 0:
        return max(priority, MINIMUM_PRIORITY)
    aging: float = 0.5 ** (elapsed_seconds / half_life)
    return max(priority * aging + weight_in_use * (1.0 - aging), MINIMUM_PRIORITY)


def default_factor(submitter: str, settings: PrioritySettings) -> float:
    """Return the factor of a submitter for whom none has been set (R060)."""
    if submitter.startswith(NICE_USER_PREFIXES):
        return settings.nice_user_factor
    _, _, domain = submitter.partition("@")
    if settings.local_domain and domain.lower() != settings.local_domain.lower():
        return settings.remote_factor
    return settings.default_factor


def effective_priority(real: float, factor: float) -> float:
    """Return the priority that shares are computed from; smaller is better."""
    return _bounded(max(real, MINIMUM_PRIORITY) * max(factor, 1.0))


def _bounded(effective: float) -> float:
    """Return a priority that can be divided by; what is no number is the worst."""
    # In this order: a comparison with what is no number is never true.
    return max(_LEAST_EFFECTIVE, min(_MOST_EFFECTIVE, effective))


def shares(priorities: Mapping[str, float]) -> dict[str, float]:
    """Return each submitter's part of the pie, in proportion to its inverse effective priority.

    The parts add up to 1, unless nobody is there.
    """
    inverses = {name: 1.0 / _bounded(value) for name, value in priorities.items()}
    # Rounded once, so that the order of the submitters is nowhere in the result.
    whole = math.fsum(inverses.values())
    return {name: inverse / whole for name, inverse in inverses.items()}


def limits(
    priorities: Mapping[str, float], usage: Mapping[str, float], pie: float
) -> dict[str, float]:
    """Return how much more weight each submitter may get in one turn of the pie.

    A submitter that already holds more than its part gets nothing for now.
    """
    return {
        name: max(0.0, share * pie - usage.get(name, 0.0))
        for name, share in shares(priorities).items()
    }


def order(submitters: Iterable[str], priorities: Mapping[str, float]) -> list[str]:
    """Return submitters in the order in which they choose: best priority first, then by name."""
    return sorted(submitters, key=lambda name: (priorities[name], name))


def divide(
    demands: Mapping[str, float], weights: Mapping[str, float], pie: float
) -> dict[str, float]:
    """Divide a pie in proportion to weights, nobody getting more than it asked for.

    What one does not want is divided among those who want more, in the same proportion. The parts
    add up to the pie, or to all demands if those are less.
    """
    parts = dict.fromkeys(demands, 0.0)
    hungry = sorted(
        name for name, demand in demands.items() if demand > 0 and weights.get(name, 0) > 0
    )
    left = pie
    while hungry and left > 1e-9:
        whole = sum(weights[name] for name in hungry)
        full = {
            name
            for name in hungry
            if demands[name] - parts[name] <= left * weights[name] / whole + 1e-12
        }
        if not full:
            for name in hungry:
                parts[name] += left * weights[name] / whole
            break
        for name in sorted(full):
            left -= demands[name] - parts[name]
            parts[name] = demands[name]
        hungry = [name for name in hungry if name not in full]
    return parts


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an administrator set for a submitter in slot weight; a negative ceiling is none."""

    ceiling: float = -1.0
    floor: float = 0.0


def apply_bounds(
    allowed: float, usage: float, bounds: Bounds | None, *, floors_only: bool = False
) -> float:
    """Cut or raise how much more a submitter may get to its ceiling and floor.

    In the turn for floors only, a submitter gets what its floor still lacks and no more.
    """
    if bounds is None:
        return 0.0 if floors_only else allowed
    lacking = max(0.0, bounds.floor - usage)
    result = lacking if floors_only else max(allowed, lacking)
    if bounds.ceiling >= 0:
        result = min(result, max(0.0, bounds.ceiling - usage))
    return result


def neediest(remainders: Sequence[tuple[str, float]], priorities: Mapping[str, float]) -> list[str]:
    """Order submitters for a slot that fits nobody's fraction: largest fraction, then priority."""
    return [
        name
        for name, _ in sorted(
            remainders, key=lambda item: (-round(item[1], 9), priorities[item[0]], item[0])
        )
    ]
