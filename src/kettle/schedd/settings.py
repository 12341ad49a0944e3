"""What the schedd's pure parts take from the configuration, frozen at each (re)configuration."""

from __future__ import annotations

from dataclasses import dataclass

from kettle.schedd.actors import ActorRules

# Attributes whose values are rounded up when set, the exact one kept beside them as `_RAW`.
ROUNDED = ("ResidentSetSize", "ProportionalSetSizeKb", "ImageSize", "DiskUsage", "ExecutableSize")


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Rules of the queue itself."""

    actors: ActorRules
    uid_domain: str
    schedd_name: str
    version: str
    platform: str
    # Attribute names in lower case.
    immutable: frozenset[str]
    protected: frozenset[str]
    secure: frozenset[str]
    # Lower-case name → percent it is rounded up by (SCHEDD_ROUND_ATTR_<name>).
    rounded: dict[str, int]
    most_jobs: int
    most_jobs_of_owner: int
    most_jobs_of_submission: int
    late_materialize: bool
    root_may_own: bool
    global_id_with_time: bool = True


def round_up(value: int, percent: int) -> int:
    """Round up to a multiple of `percent` of the value's nearest power of ten.

    So that autoclusters and event logs do not change with every page of memory: 127 becomes 150,
    43 becomes 45, 2600 becomes 2750, 5100 becomes 7500 (all observed).
    """
    if value <= 0 or percent <= 0:
        return value
    magnitude = 1
    while value * 2 >= magnitude * 10:
        magnitude *= 10
    step = magnitude * percent
    return -(-value * 100 // step) * step // 100
